// Owns the alerts that the server deletes without a word, because what they watch goes. None may go that is not ours to delete.
import type { Alert } from '../api/alerts.ts'
import { quote } from '../kernel/text.ts'
import type { Change } from './change.ts'
import { composeUpdate } from './compose.ts'
import type { Finding } from './finding.ts'
import { listOf } from './kinds/dashboard-kind.ts'
import type { Body, Kind } from './kinds/kind.ts'
import { alertableTypes } from './kinds/tile-config.ts'
import type { Place } from './place.ts'

export const lossRules = {
  'would-lose-alert': 'A tile or saved search would go, and with it an alert that these files do not hold.',
} as const

export interface Losses {
  /** The changes, with alerts that must be created anew as such. */
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
}

interface Gone {
  /** `tile "Error rate" of dashboard "Checkout"`. */
  readonly words: string
  readonly place: Place
  /** What takes it away. */
  readonly by: Change
}

/** Deletes come last: until then, an alert can have moved elsewhere. */
const goesBeforeAlerts = ({ by }: Gone): boolean => by.action !== 'delete'

export function accountForLosses(changes: readonly Change[], alerts: readonly Alert[], kinds: readonly Kind[]): Losses {
  const gone = new Map(changes.flatMap((change) => goneWith(change, kinds)))
  if (gone.size === 0) return { changes, findings: [] }
  const lost = new Map(
    alerts.flatMap((alert) => {
      const cause = gone.get(alert.tileId ?? '') ?? gone.get(alert.savedSearchId as string)
      return cause === undefined ? [] : [[alert.id, { alert, cause }] as const]
    }),
  )
  const planned = new Map(changes.filter(({ section }) => section === 'alerts').flatMap((one) => (one.id ? [[one.id, one] as const] : [])))
  const findings = [...lost.values()].flatMap(({ alert, cause }) => {
    const change = planned.get(alert.id)
    if (change !== undefined && (change.action === 'delete' || !staysOn(change, gone))) return []
    return [findingFor(alert, cause, change)]
  })
  const known = Map.groupBy(lost.values(), ({ cause }) => cause.by)
  const counted = changes.map((change) => withGone(replaced(change, lost.get(change.id ?? '')?.cause), gone, known.get(change)))
  return { changes: counted, findings }
}

/** The tiles that an update takes away, and which alerts were seen on them: one that comes later must not go with them. */
function withGone(change: Change, gone: ReadonlyMap<string, Gone>, known: readonly { readonly alert: Alert }[] = []): Change {
  if (change.section !== 'dashboards' || change.action !== 'update') return change
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
    notes: [...change.notes, `${cause.words} goes, and the server deletes the alert with it: it is created anew`],
  }
}

function findingFor({ id, name }: Alert, { words, place }: Gone, change: Change | undefined): Finding {
  const advice = change === undefined ? 'declare it, or move or delete it first' : 'put it on another tile'
  return {
    rule: 'would-lose-alert',
    severity: 'error',
    place: change?.place ?? place,
    message: `${words} goes, and with it the alert "${quote(name ?? '', 60)}" (${id}): ${advice}`,
  }
}

/** Deletes stand in no file. */
const nowhere: Place = { file: 'prune' }

function goneWith(change: Change, kinds: readonly Kind[]): readonly (readonly [string, Gone])[] {
  const { section, action, actual, desired, name, id, place = nowhere } = change
  if (section === 'savedSearches' && action === 'delete' && id !== undefined)
    return [[id, { words: `saved search "${quote(name, 60)}"`, place, by: change }]]
  if (section !== 'dashboards' || actual === undefined || action === 'unchanged' || action === 'adopt') return []
  const kind = kinds.find((one) => one.section === section)
  const after = desired === undefined || kind === undefined ? [] : listOf(composeUpdate(kind, desired, actual).tiles)
  const carriers = new Set(after.filter(mayCarryAlerts).map((tile) => tile.id))
  return listOf(actual.tiles)
    .filter((tile) => !carriers.has(tile.id))
    .map(
      (tile) =>
        [
          String(tile.id),
          { words: `tile "${quote(String(tile.name), 60)}" of dashboard "${quote(name, 60)}"`, place, by: change },
        ] as const,
    )
}

/** What we cannot read is believed to carry alerts, as it does now. */
function mayCarryAlerts({ config }: Body): boolean {
  const type = (config as Body | undefined)?.displayType
  return typeof type !== 'string' || alertableTypes.includes(type)
}
