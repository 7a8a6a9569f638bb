import { isMapping } from '../platform/core/keys.ts'

/** The kinds of objects that files declare, in the order of a file. */
export const kindNames = ['dashboard', 'savedSearch', 'alert', 'webhook', 'source'] as const

export type KindName = (typeof kindNames)[number]

/** A value for each kind. */
export const mapKinds = <T>(toValue: (name: KindName) => T): Readonly<Record<KindName, T>> =>
  Object.fromEntries(kindNames.map((name) => [name, toValue(name)])) as Record<KindName, T> // The loop is over all names.

/** The part of a file that has the objects of a kind, by key. */
export const sections = {
  dashboard: 'dashboards',
  savedSearch: 'savedSearches',
  alert: 'alerts',
  webhook: 'webhooks',
  source: 'sources',
} as const satisfies Record<KindName, string>

export type Section = (typeof sections)[KindName]

export const sectionNames: readonly Section[] = kindNames.map((name) => sections[name])

/** A kind as people call it. */
export const kindLabels: Readonly<Record<KindName, string>> = {
  dashboard: 'dashboard',
  savedSearch: 'saved search',
  alert: 'alert',
  webhook: 'webhook',
  source: 'source',
}

/** Identifies a tile of the service: dashboards that were copied or imported have tiles with the same ids. */
export const placeOfTile = (dashboardId: string, tileId: unknown): string => `${dashboardId}/${String(tileId)}`

/** The place of an object in the files, for messages: `alerts.checkout-errors`. */
export const addressOf = ({ kind, key }: { readonly kind: KindName; readonly key: string }): string => `${sections[kind]}.${key}`

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
  const replaceIn = (value: unknown): unknown => {
    if (value instanceof PendingId) return replace(value)
    if (Array.isArray(value)) return value.map(replaceIn)
    return isMapping(value) ? replacePending(value, replace) : value
  }
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, replaceIn(value)]))
}
