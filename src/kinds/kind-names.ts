/** The kinds of objects that files declare, in the order of a file. */
export const kindNames = ['dashboard', 'savedSearch', 'alert', 'webhook', 'source'] as const

export type KindName = (typeof kindNames)[number]

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
