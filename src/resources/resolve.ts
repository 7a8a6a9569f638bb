import type { Diagnostic } from '../core/diagnostics.ts'
import type { Directory, Lookup, Noun } from './directory.ts'
import type { Body, DeclaredObject, Section } from './resource-type.ts'

export const nameRules = {
  'unknown-name': 'A reference names something that the service does not have.',
} as const

/** An id that is known only when another object has been written. */
export class PendingId {
  readonly section: Section
  readonly key: string
  /** Of a tile by its name, where it is not the id of the object itself. */
  readonly tile: string | undefined

  constructor(section: Section, key: string, tile?: string) {
    this.section = section
    this.key = key
    this.tile = tile
  }
}

/** Looks up the references of one declared object, and collects a diagnostic for each that cannot be resolved. */
export interface Resolver {
  /** The id of what is meant; undefined when there is no such object. */
  byName(noun: Noun, name: string, path: readonly PropertyKey[]): string | undefined
  byId(noun: Noun, id: string, path: readonly PropertyKey[]): string | undefined
  report(path: readonly PropertyKey[], message: string): undefined
  /** Whether webhooks can be listed, so that an id that is not among them is wrong. */
  readonly listsWebhooks: boolean
  readonly diagnostics: readonly Diagnostic[]
}

export function createResolver(declared: DeclaredObject, directory: Directory): Resolver {
  const diagnostics: Diagnostic[] = []
  const report = (path: readonly PropertyKey[], message: string): undefined => {
    const where = `${declared.section}.${declared.key}${path.map((key) => `.${String(key)}`).join('')}`
    diagnostics.push({ rule: 'unknown-name', severity: 'error', location: declared.locationOf(path), message: `${where}: ${message}` })
  }
  const idOf = (found: Lookup, path: readonly PropertyKey[]): string | undefined => ('id' in found ? found.id : report(path, found.message))
  return {
    byName: (noun, name, path) => idOf(directory.byName(noun, name), path),
    byId: (noun, id, path) => idOf(directory.byId(noun, id), path),
    report,
    listsWebhooks: directory.listsWebhooks,
    diagnostics,
  }
}

/** The fields with ids for all sources that they name. What is `raw` is passed on as it is. */
export const resolveSources = (fields: Body, resolver: Resolver): Body => resolveFields(fields, [], resolver)

const sourceFields: readonly PropertyKey[] = ['sourceId', 'appliesToSourceIds']

function resolveFields(fields: object, path: readonly PropertyKey[], resolver: Resolver): Body {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([key, value]) => [key, resolveValue(value, [...path, key], resolver)]))
}

function resolveValue(value: unknown, path: readonly PropertyKey[], resolver: Resolver): unknown {
  if (Array.isArray(value)) return value.map((item, i) => resolveValue(item, [...path, i], resolver))
  if (typeof value !== 'object' || value === null || path.at(-1) === 'raw') return value
  const isSource = sourceFields.includes(path.at(-1) ?? '') || sourceFields.includes(path.at(-2) ?? '')
  return isSource && 'source' in value ? resolver.byName('source', String(value.source), path) : resolveFields(value, path, resolver)
}
