// What differs in the tile of an alert's query is a difference of the alert: a file has no tile for it.
import { toQueryPath } from '../../kinds/alert-query/alert-query.ts'
import { withoutKept } from '../../kinds/dashboard/tiles.ts'
import type { FieldChange } from '../../kinds/compare.ts'
import { declaresNoTiles } from '../../kinds/dashboard/dashboard-file.ts'
import { listOf } from '../../kinds/kind.ts'
import { type Declared, isOf } from '../../kinds/kinds.ts'
import { type Change, changesOf, type Delete, type Held, isDelete, isDifference, isHeld, type Plan } from '../decide/change.ts'
import { isMadeForQueries, queriedKeys } from './query-alerts.ts'

/** The changes as the files have the objects, by the planned ones. A dashboard that only queries of alerts need has none. */
export function changesInFiles({ changes }: Pick<Plan, 'changes'>, objects: readonly Declared[]): ReadonlyMap<Change, Change> {
  const queried = queriedKeys(objects)
  const dashboards = new Map(objects.filter(isOf('dashboard')).map((one) => [one.key, one]))
  const ofAlerts = new Map<string, FieldChange[]>()
  const left = new Map<Change, readonly FieldChange[]>()
  const notes = new Map<string, string>()
  for (const change of changesOf({ changes }, 'dashboard')) {
    const declared = dashboards.get(change.key)
    if (isDelete(change) || isHeld(change) || declared?.queries === undefined) continue
    const [first = ''] = declared.queries.values()
    if (change.action === 'create' && isMadeForQueries(declared))
      notes.set(first, `creates the dashboard ${JSON.stringify(change.name)} for the queries of alerts`)
    const labels = labelsOf(change, declared.queries)
    const others = change.fields.filter((field) => {
      const [label, key] = [...labels].find(([one]) => field.path.startsWith(`${one}.`)) ?? []
      if (label === undefined || key === undefined) return !(declaresNoTiles(declared.spelled) && field.path.startsWith('tiles'))
      const path = pathInAlert(field.path.slice(label.length + 1), field.before === undefined)
      if (path !== undefined) ofAlerts.set(key, [...(ofAlerts.get(key) ?? []), { ...field, path }])
      return false
    })
    if (others.length < change.fields.length) left.set(change, others)
  }
  const show = (change: Change): Change | undefined => {
    if (isDelete(change) || isHeld(change)) return change
    if (isMachinery(change, left.get(change))) return undefined
    if (change.kind === 'alert' && queried.has(change.key)) {
      const note = notes.get(change.key) ?? []
      return withQuery({ ...change, notes: change.notes.concat(note) }, ofAlerts.get(change.key) ?? [])
    }
    const fields = left.get(change)
    if (fields === undefined) return change
    return change.action === 'update' && fields.length === 0 ? { ...change, fields, action: 'unchanged' } : { ...change, fields }
  }
  const pairs = changes.map((change) => [change, show(change)] as const)
  // A plan with differences must show one, also where only the tile of a query was moved onto a tile of the file.
  const isHidden = !pairs.some(([, shown]) => shown !== undefined && isDifference(shown))
  return new Map(
    pairs.flatMap(([change, shown]) => {
      if (isHidden && isDifference(change)) return [[change, change] as const]
      return shown === undefined ? [] : [[change, shown] as const]
    }),
  )
}

/** A dashboard that only queries of alerts need, unless somebody changed it apart from their tiles. */
const isMachinery = (change: Exclude<Change, Delete | Held>, left = change.fields): boolean =>
  'madeFrom' in change && isMadeForQueries(change) && (change.action === 'create' || left.length === 0)

/** The keys of alerts, by the paths of their tiles. A path has the stored name of a tile, or for a new tile the name in the file. */
function labelsOf({ desired, stored, keptTiles }: Change, queries: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const before = new Map(listOf(stored?.tiles).map(({ id, name }) => [id, name]))
  const tiles = withoutKept(listOf(desired?.tiles), keptTiles).flatMap(({ id, name }) => {
    const key = queries.get(String(name))
    return key === undefined ? [] : [{ key, name, old: before.get(id) }]
  })
  const labels = [...tiles.map(({ key, name }) => [name, key] as const), ...tiles.map(({ key, name, old = name }) => [old, key] as const)]
  return new Map(labels.map(([name, key]) => [`tiles[${JSON.stringify(name)}]`, key]))
}

/** Undefined for what no file has: the place of a tile, and the type of a new one. */
function pathInAlert(path: string, isAdded: boolean): string | undefined {
  const [field = '', first, ...rest] = path.split('.')
  if (field === 'name') return tileName
  if (field !== 'config' || first === undefined) return undefined
  const type = first === 'displayType' && !isAdded ? ['displayType'] : toQueryPath([first])
  return type.length === 0 ? undefined : ['query', ...type, ...rest].join('.')
}

/** The fields of a new alert that its query replaces in the report: its dashboard and tile are made for the query. */
const watchedFields = ['source', 'dashboard', 'tile']

/** The path in the alert for a tile that a person renamed, because the file has no tile. */
const tileName = 'tile.name'

/** The alert may be as declared, with another query on its tile. */
function withQuery(change: Exclude<Change, Delete | Held>, query: readonly FieldChange[]): Change {
  const own = change.action === 'create' ? change.fields.filter(({ path }) => !watchedFields.includes(path)) : change.fields
  const isRenamed = own.some(({ path }) => path === 'name')
  const fields = [...query.filter(({ path }) => !isRenamed || path !== tileName), ...own]
  if (query.length === 0 || change.action === 'create' || change.action === 'release') return { ...change, fields }
  const isMarked = change.action === 'unchanged' || change.action === 'mark'
  return {
    ...change,
    fields,
    ...(isMarked && { action: 'update' as const, origin: change.action === 'unchanged' ? ('service' as const) : ('files' as const) }),
  }
}
