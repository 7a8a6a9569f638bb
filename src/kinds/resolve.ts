import { type Diagnostic, diagnosticOf, type Rules } from '../core/diagnostics.ts'
import { quote } from '../core/text.ts'
import type { Directory, Lookup, Named, Noun } from './directory.ts'
import type { Body, DeclaredObject } from './kind.ts'
import type { PendingId } from './kind-names.ts'

export const nameRules = {
  'unknown-name': { severity: 'error', description: 'A reference names an object that the service does not have.' },
} as const satisfies Rules

/** Looks up the references of one declared object, and collects a diagnostic for each that cannot be resolved. */
export interface Resolver {
  /**
   * The id of the object with this name, of those that fit. Reports a diagnostic and returns undefined when it is missing or ambiguous.
   */
  byName(noun: Noun, name: string, path: readonly PropertyKey[], fits?: (one: Named) => boolean): string | PendingId | undefined
  byId(noun: Noun, id: string, path: readonly PropertyKey[]): string | PendingId | undefined
  /** Reports a diagnostic for an id that is the name of a source. Other unknown ids are left to the server. */
  sourceId(id: string, path: readonly PropertyKey[]): string | undefined
  report(path: readonly PropertyKey[], message: string): undefined
  /** Whether webhooks can be listed, so that an id that is not among them is wrong. */
  readonly listsWebhooks: boolean
  readonly diagnostics: readonly Diagnostic[]
}

/** A resolver for one declared object. */
export function createResolver(declared: DeclaredObject, directory: Directory): Resolver {
  const diagnostics: Diagnostic[] = []
  const report = (path: readonly PropertyKey[], message: string): undefined => {
    diagnostics.push(diagnosticOf(nameRules, 'unknown-name', declared.locationOf(path), `${declared.pathOf(path)}: ${message}`))
  }
  const idOf = (found: Lookup, path: readonly PropertyKey[]) => ('id' in found ? found.id : report(path, found.message))
  return {
    byName: (noun, name, path, fits) => idOf(directory.byName(noun, name, fits), path),
    byId: (noun, id, path) => idOf(directory.byId(noun, id), path),
    sourceId(id, path) {
      const isName = 'message' in directory.byId('source', id) && 'id' in directory.byName('source', id)
      return isName ? report(path, `"${quote(id, 60)}" is a name and not an id; write source: ${quote(id, 60)}`) : id
    },
    report,
    listsWebhooks: directory.listsWebhooks,
    diagnostics,
  }
}

/** Replaces `{ source: name }` by the id of the source, at any depth. The fields of `raw` are not changed. */
export const resolveSources = (fields: Body, resolver: Resolver): Body => resolveFields(fields, [], resolver)

const sourceFields: readonly PropertyKey[] = ['sourceId', 'appliesToSourceIds']

function resolveFields(fields: object, path: readonly PropertyKey[], resolver: Resolver): Body {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([key, value]) => [key, resolveValue(value, [...path, key], resolver)]))
}

function resolveValue(value: unknown, path: readonly PropertyKey[], resolver: Resolver): unknown {
  if (Array.isArray(value)) return value.map((item, i) => resolveValue(item, [...path, i], resolver))
  const isSource = sourceFields.includes(path.at(-1) ?? '') || sourceFields.includes(path.at(-2) ?? '')
  if (isSource && typeof value === 'string') return resolver.sourceId(value, path)
  if (typeof value !== 'object' || value === null || path.at(-1) === 'raw') return value
  return isSource && 'source' in value ? resolver.byName('source', String(value.source), path) : resolveFields(value, path, resolver)
}
