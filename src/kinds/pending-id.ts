import { mapItems } from '../platform/core/keys.ts'
import type { KindName } from './kind-names.ts'

/** The id of an object that is not created yet. apply replaces it. */
export class PendingId {
  readonly kind: KindName
  readonly key: string
  /** The name of a tile, if the id is that of a tile and not of the object itself. */
  readonly tile: string | undefined

  constructor(kind: KindName, key: string, tile?: string) {
    this.kind = kind
    this.key = key
    this.tile = tile
  }
}

/** Whether a value refers to an object that is not created yet, at any depth. */
export function hasPendingId(value: unknown): boolean {
  if (value instanceof PendingId) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasPendingId)
}

/** The fields with something in place of the ids of objects that are not created yet, at any depth. */
export function replacePending(
  fields: Readonly<Record<string, unknown>>,
  replace: (pending: PendingId) => unknown,
): Readonly<Record<string, unknown>> {
  const replaceIn = (value: unknown): unknown => (value instanceof PendingId ? replace(value) : mapItems(value, replaceIn))
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, replaceIn(value)]))
}
