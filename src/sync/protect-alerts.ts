import type { List } from '../api/collection.ts'
import type { Diagnostic, Location } from '../core/diagnostics.ts'
import { quote } from '../core/text.ts'
import type { Alert } from '../resources/alerts/alert-wire.ts'
import { composeUpdate } from '../resources/compare.ts'
import { tilesLosingAlerts } from '../resources/lost-alerts.ts'
import { listOf, type ResourceType } from '../resources/resource-type.ts'
import type { Change } from './change.ts'

// The server deletes the alerts of a tile, dashboard or saved search together with it, without a warning. Alerts that the files do not
// declare must not be lost that way.

const incompleteList = 'the list of alerts may be incomplete, because it is as long as a page can be'

/** Why an update must not remove its tiles: an alert that was not there when the plan was made. */
export function findNewAlertOnTiles({ removes: takes }: Change, { items, mayBeCut }: List<Alert>): string | undefined {
  if (mayBeCut) return incompleteList
  const alert = items.find(({ id, tileId }) => takes?.tiles.includes(tileId ?? '') && !takes.alerts.includes(id))
  return alert && `the alert ${describeAlert(alert)} was added to a tile that would be deleted, and would be deleted with it`
}

/** Why a dashboard or saved search must not be deleted: an alert on it. */
export function findAlertOn({ section, id }: Change, { items, mayBeCut }: List<Alert>): string | undefined {
  if (section === 'alerts') return undefined
  if (mayBeCut) return incompleteList
  const alert = items.find((alert) => alert.dashboardId === id || alert.savedSearchId === id)
  return alert && `the alert ${describeAlert(alert)} is on it and would be deleted with it`
}

const describeAlert = ({ id, name }: Alert): string => `"${quote(name ?? '', 60)}" (${id})`

export const alertProtectionRules = {
  'would-lose-alert': 'A tile or saved search would be deleted, and with it an alert that the files do not declare.',
  'hidden-tile': 'An alert is on a tile that the API does not list. The API shows no PromQL tiles, and an update deletes them.',
} as const

export interface ProtectedPlan {
  /** The changes; alerts that the server deletes and that must be created again are replacements. */
  readonly changes: readonly Change[]
  readonly diagnostics: readonly Diagnostic[]
}

interface Removal {
  /** `tile "Error rate" of dashboard "Checkout" is deleted`. */
  readonly description: string
  readonly location: Location
  /** The change that removes it. */
  readonly change: Change
}

/** Deletes come last: until then, an alert may have moved elsewhere. */
const happensBeforeAlerts = ({ change: by }: Removal): boolean => by.action !== 'delete'

export function protectAlerts(changes: readonly Change[], alerts: readonly Alert[], kinds: readonly ResourceType[]): ProtectedPlan {
  const hidden = hiddenTiles(changes, alerts)
  const removed = new Map([...changes.flatMap((change) => removalsBy(change, kinds)), ...hidden.flatMap(removalByUpdate)])
  const warnings = hidden.filter(({ change }) => !isWritten(change)).map(warningFor)
  if (removed.size === 0) return { changes, diagnostics: warnings }
  const lost = new Map(
    alerts.flatMap((alert) => {
      const cause = removed.get(alert.tileId ?? '') ?? removed.get(alert.savedSearchId as string)
      return cause === undefined || isElsewhere(alert, cause) ? [] : [[alert.id, { alert, cause }] as const]
    }),
  )
  const planned = new Map(changes.filter(({ section }) => section === 'alerts').flatMap((one) => (one.id ? [[one.id, one] as const] : [])))
  const diagnostics = [...lost.values()].flatMap(({ alert, cause }) => {
    const change = planned.get(alert.id)
    if (change !== undefined && (change.action === 'delete' || !staysOnRemoved(change, removed))) return []
    return [diagnosticFor(alert, cause, change)]
  })
  const known = Map.groupBy(lost.values(), ({ cause }) => cause.change)
  const counted = changes.map((change) =>
    withRemovedTiles(asReplacement(change, lost.get(change.id ?? '')?.cause), removed, known.get(change)),
  )
  return { changes: counted, diagnostics: [...diagnostics, ...warnings] }
}

/** The alert is on a tile of another dashboard with the same tile id, such as a copy. */
const isElsewhere = ({ dashboardId, tileId }: Alert, { change: by }: Removal): boolean =>
  by.section === 'dashboards' && Boolean(tileId) && typeof dashboardId === 'string' && dashboardId !== by.id

/** Whether a request replaces the object. */
const isWritten = ({ action }: Change): boolean => action !== 'unchanged'

/** An alert on a tile that its dashboard does not list. */
interface HiddenTile {
  readonly alert: Alert
  readonly change: Change
}

function hiddenTiles(changes: readonly Change[], alerts: readonly Alert[]): readonly HiddenTile[] {
  const dashboards = new Map(
    changes.flatMap((change) => {
      if (change.section !== 'dashboards' || change.actual === undefined) return []
      return [[change.actual.id, { change, tiles: new Set(listOf(change.actual.tiles).map(({ id }) => id)) }] as const]
    }),
  )
  return alerts.flatMap((alert) => {
    const found = dashboards.get(alert.dashboardId ?? '')
    return found === undefined || !alert.tileId || found.tiles.has(alert.tileId) ? [] : [{ alert, change: found.change }]
  })
}

const describeHiddenTile = ({ name }: Change): string => `a tile of dashboard "${quote(name, 60)}" that the API does not list`

/** A delete removes all tiles; every other write replaces them by the tiles that the API lists. */
function removalByUpdate({ alert, change }: HiddenTile): readonly (readonly [string, Removal])[] {
  if (!isWritten(change)) return []
  return [
    [
      alert.tileId ?? '',
      { description: `${describeHiddenTile(change)} is deleted by every update`, location: change.location ?? nowhere, change: change },
    ],
  ]
}

const warningFor = ({ alert, change }: HiddenTile): Diagnostic => ({
  rule: 'hidden-tile',
  severity: 'warning',
  location: change.location ?? nowhere,
  message: `dashboards.${change.key}: the alert ${describeAlertName(alert)} is on ${describeHiddenTile(change)}: it may have more such tiles, and an update would delete them`,
})

const describeAlertName = ({ id, name }: Alert): string => `"${quote(name ?? '', 60)}" (${id})`

/** Records the tiles that an update removes and the known alerts on them, so that apply notices a new one. */
function withRemovedTiles(change: Change, removed: ReadonlyMap<string, Removal>, known: readonly { readonly alert: Alert }[] = []): Change {
  if (change.section !== 'dashboards' || change.action === 'delete') return change
  const tiles = listOf(change.actual?.tiles).flatMap(({ id }) => (typeof id === 'string' && removed.has(id) ? [id] : []))
  return tiles.length === 0 ? change : { ...change, removes: { tiles, alerts: known.map(({ alert }) => alert.id) } }
}

const staysOnRemoved = ({ desired }: Change, removed: ReadonlyMap<string, Removal>): boolean =>
  removed.has(desired?.tileId as string) || removed.has(desired?.savedSearchId as string)

function asReplacement(change: Change, cause: Removal | undefined): Change {
  if (cause === undefined || change.section !== 'alerts' || change.action === 'delete' || !happensBeforeAlerts(cause)) return change
  return {
    ...change,
    action: 'replace',
    notes: [...change.notes, `${cause.description}, and the server deletes the alert with it: it is created again`],
  }
}

function diagnosticFor(alert: Alert, { description: words, location }: Removal, change: Change | undefined): Diagnostic {
  const advice = change === undefined ? 'declare it, or move or delete it first' : 'put it on another tile'
  return {
    rule: 'would-lose-alert',
    severity: 'error',
    location: change?.location ?? location,
    message: `${words}, and with it the alert ${describeAlertName(alert)}: ${advice}`,
  }
}

/** Deletes have no location in a file. */
const nowhere: Location = { file: 'prune' }

function removalsBy(change: Change, kinds: readonly ResourceType[]): readonly (readonly [string, Removal])[] {
  const { section, action, actual, desired, name, id, location = nowhere } = change
  if (section === 'savedSearches' && action === 'delete' && id !== undefined)
    return [[id, { description: `saved search "${quote(name, 60)}" is deleted`, location, change: change }]]
  if (section !== 'dashboards' || actual === undefined || !isWritten(change)) return []
  const kind = kinds.find((one) => one.section === section)
  const after = desired === undefined || kind === undefined ? [] : listOf(composeUpdate(kind, desired, actual).tiles)
  return tilesLosingAlerts(listOf(actual.tiles), after).map(({ tile, reason }) => {
    const description = `tile "${quote(String(tile.name), 60)}" of dashboard "${quote(name, 60)}" ${reason}`
    return [String(tile.id), { description, location, change }] as const
  })
}
