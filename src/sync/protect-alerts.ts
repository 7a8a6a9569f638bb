import type { List } from '../api/collection.ts'
import type { Diagnostic, Location } from '../core/diagnostics.ts'
import { quote } from '../core/text.ts'
import type { Alert } from '../resources/alerts/alert-wire.ts'
import { composeUpdate } from '../resources/compare.ts'
import { tilesLosingAlerts } from '../resources/lost-alerts.ts'
import { listOf, type ResourceType } from '../resources/resource-type.ts'
import type { Change } from './change.ts'

// Owns the alerts that came onto something that is about to go: the server would delete them with it, without a word.

const unseen = 'there may be alerts that nobody sees, because their list is as long as a page can be'

/** Who would go with the tiles that an update takes away, although the plan did not see them there. */
export function guestOnTiles({ takes }: Change, { items, mayBeCut }: List<Alert>): string | undefined {
  if (mayBeCut) return unseen
  const guest = items.find(({ id, tileId }) => takes?.tiles.includes(tileId ?? '') && !takes.alerts.includes(id))
  return guest && `the alert ${wordsFor(guest)} was put onto a tile that would go, and would go with it`
}

/** Who would go with a dashboard or saved search. */
export function guestOn({ section, id }: Change, { items, mayBeCut }: List<Alert>): string | undefined {
  if (section === 'alerts') return undefined
  if (mayBeCut) return unseen
  const guest = items.find((alert) => alert.dashboardId === id || alert.savedSearchId === id)
  return guest && `the alert ${wordsFor(guest)} hangs on it and would go with it`
}

const wordsFor = ({ id, name }: Alert): string => `"${quote(name ?? '', 60)}" (${id})`

// The alerts that the server deletes without a word: those on tiles that go, on tiles that can carry none, and on tiles that the API
// does not list, which every update deletes. None may go that is not ours to delete.

export const lossRules = {
  'would-lose-alert': 'A tile or saved search would go, and with it an alert that these files do not hold.',
  'hidden-tile': 'An alert is on a tile that the API does not list. The API shows no PromQL tiles, and an update deletes them.',
} as const

export interface Losses {
  /** The changes, with alerts that must be created anew as such. */
  readonly changes: readonly Change[]
  readonly diagnostics: readonly Diagnostic[]
}

interface Gone {
  /** `tile "Error rate" of dashboard "Checkout" goes`. */
  readonly words: string
  readonly location: Location
  /** What takes it away. */
  readonly by: Change
}

/** Deletes come last: until then, an alert can have moved elsewhere. */
const goesBeforeAlerts = ({ by }: Gone): boolean => by.action !== 'delete'

export function accountForLosses(changes: readonly Change[], alerts: readonly Alert[], kinds: readonly ResourceType[]): Losses {
  const hidden = hiddenTiles(changes, alerts)
  const gone = new Map([...changes.flatMap((change) => goneWith(change, kinds)), ...hidden.flatMap(goneWithUpdate)])
  const warnings = hidden.filter(({ change }) => !isWritten(change)).map(warningFor)
  if (gone.size === 0) return { changes, diagnostics: warnings }
  const lost = new Map(
    alerts.flatMap((alert) => {
      const cause = gone.get(alert.tileId ?? '') ?? gone.get(alert.savedSearchId as string)
      return cause === undefined || isElsewhere(alert, cause) ? [] : [[alert.id, { alert, cause }] as const]
    }),
  )
  const planned = new Map(changes.filter(({ section }) => section === 'alerts').flatMap((one) => (one.id ? [[one.id, one] as const] : [])))
  const diagnostics = [...lost.values()].flatMap(({ alert, cause }) => {
    const change = planned.get(alert.id)
    if (change !== undefined && (change.action === 'delete' || !staysOn(change, gone))) return []
    return [diagnosticFor(alert, cause, change)]
  })
  const known = Map.groupBy(lost.values(), ({ cause }) => cause.by)
  const counted = changes.map((change) => withGone(replaced(change, lost.get(change.id ?? '')?.cause), gone, known.get(change)))
  return { changes: counted, diagnostics: [...diagnostics, ...warnings] }
}

/** On a tile with the same id of another dashboard, such as a copy. */
const isElsewhere = ({ dashboardId, tileId }: Alert, { by }: Gone): boolean =>
  by.section === 'dashboards' && Boolean(tileId) && typeof dashboardId === 'string' && dashboardId !== by.id

/** Whether something is sent for it that replaces the object. */
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

const hiddenWords = ({ name }: Change): string => `a tile of dashboard "${quote(name, 60)}" that the API does not list`

/** A delete takes all tiles, listed or not; everything else that is written replaces the tiles by those that are listed. */
function goneWithUpdate({ alert, change }: HiddenTile): readonly (readonly [string, Gone])[] {
  if (!isWritten(change)) return []
  return [
    [alert.tileId ?? '', { words: `${hiddenWords(change)} goes with every update`, location: change.location ?? nowhere, by: change }],
  ]
}

const warningFor = ({ alert, change }: HiddenTile): Diagnostic => ({
  rule: 'hidden-tile',
  severity: 'warning',
  location: change.location ?? nowhere,
  message: `dashboards.${change.key}: the alert ${nameOf(alert)} is on ${hiddenWords(change)}: it may have more such tiles, and an update would delete them`,
})

const nameOf = ({ id, name }: Alert): string => `"${quote(name ?? '', 60)}" (${id})`

/** The tiles that an update takes away, and which alerts were seen on them: one that comes later must not go with them. */
function withGone(change: Change, gone: ReadonlyMap<string, Gone>, known: readonly { readonly alert: Alert }[] = []): Change {
  if (change.section !== 'dashboards' || change.action === 'delete') return change
  const tiles = listOf(change.actual?.tiles).flatMap(({ id }) => (typeof id === 'string' && gone.has(id) ? [id] : []))
  return tiles.length === 0 ? change : { ...change, takes: { tiles, alerts: known.map(({ alert }) => alert.id) } }
}

const staysOn = ({ desired }: Change, gone: ReadonlyMap<string, Gone>): boolean =>
  gone.has(desired?.tileId as string) || gone.has(desired?.savedSearchId as string)

function replaced(change: Change, cause: Gone | undefined): Change {
  if (cause === undefined || change.section !== 'alerts' || change.action === 'delete' || !goesBeforeAlerts(cause)) return change
  return {
    ...change,
    action: 'replace',
    notes: [...change.notes, `${cause.words}, and the server deletes the alert with it: it is created again`],
  }
}

function diagnosticFor(alert: Alert, { words, location }: Gone, change: Change | undefined): Diagnostic {
  const advice = change === undefined ? 'declare it, or move or delete it first' : 'put it on another tile'
  return {
    rule: 'would-lose-alert',
    severity: 'error',
    location: change?.location ?? location,
    message: `${words}, and with it the alert ${nameOf(alert)}: ${advice}`,
  }
}

/** Deletes stand in no file. */
const nowhere: Location = { file: 'prune' }

function goneWith(change: Change, kinds: readonly ResourceType[]): readonly (readonly [string, Gone])[] {
  const { section, action, actual, desired, name, id, location = nowhere } = change
  if (section === 'savedSearches' && action === 'delete' && id !== undefined)
    return [[id, { words: `saved search "${quote(name, 60)}" goes`, location, by: change }]]
  if (section !== 'dashboards' || actual === undefined || !isWritten(change)) return []
  const kind = kinds.find((one) => one.section === section)
  const after = desired === undefined || kind === undefined ? [] : listOf(composeUpdate(kind, desired, actual).tiles)
  return tilesLosingAlerts(listOf(actual.tiles), after).map(({ tile, reason }) => {
    const words = `tile "${quote(String(tile.name), 60)}" of dashboard "${quote(name, 60)}" ${reason}`
    return [String(tile.id), { words, location, by: change }] as const
  })
}
