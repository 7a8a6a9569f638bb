import type { Diagnostic } from '../core/diagnostics.ts'
import type { DeclaredObject } from './declaration-fields.ts'
import type { Directory, Noun } from './directory.ts'
import type { Body, Section } from './resource-type.ts'

export interface ResolvedDeclaration {
  readonly body: Body
  readonly diagnostics: readonly Diagnostic[]
}

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

/** A collector of complaints about references of one declared object. */
export interface Resolver {
  /** The id of what is meant; undefined after a complaint. */
  byName(noun: Noun, name: string, path: readonly PropertyKey[]): string | undefined
  byId(noun: Noun, id: string, path: readonly PropertyKey[]): string | undefined
  complain(path: readonly PropertyKey[], message: string): undefined
  /** Whether webhooks can be listed, so that an id that is not among them is wrong. */
  readonly listsWebhooks: boolean
  readonly diagnostics: readonly Diagnostic[]
}

export function createResolver(declared: DeclaredObject, directory: Directory): Resolver {
  const diagnostics: Diagnostic[] = []
  const complain = (path: readonly PropertyKey[], message: string): undefined => {
    const where = `${declared.section}.${declared.key}${path.map((key) => `.${String(key)}`).join('')}`
    diagnostics.push({ rule: 'unknown-name', severity: 'error', location: declared.locationOf(path), message: `${where}: ${message}` })
  }
  const settle = (found: ReturnType<Directory['byId']>, path: readonly PropertyKey[]): string | undefined =>
    'id' in found ? found.id : complain(path, found.complaint)
  return {
    byName: (noun, name, path) => settle(directory.byName(noun, name), path),
    byId: (noun, id, path) => settle(directory.byId(noun, id), path),
    complain,
    listsWebhooks: directory.listsWebhooks,
    diagnostics,
  }
}

/** Fields that hold a source, wherever they stand; what is raw is nobody's business. */
const sourceFields: readonly PropertyKey[] = ['sourceId', 'appliesToSourceIds']

export function resolveSources(value: unknown, path: readonly PropertyKey[], resolver: Resolver): unknown {
  const isSource = sourceFields.includes(path.at(-1) ?? '') || sourceFields.includes(path.at(-2) ?? '')
  if (Array.isArray(value)) return value.map((item, i) => resolveSources(item, [...path, i], resolver))
  if (typeof value !== 'object' || value === null || path.at(-1) === 'raw') return value
  if (isSource && 'source' in value) return resolver.byName('source', String(value.source), path)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, resolveSources(item, [...path, key], resolver)]))
}
