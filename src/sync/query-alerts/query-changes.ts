// What differs in the tile of an alert's query is a difference of the alert: a file has no tile for it.

import { type AlertQuery, queryDashboardKey, toQueryPath, toTileConfig } from '../../kinds/alert-query/alert-query.ts'
import type { FieldChange } from '../../kinds/compare.ts'
import { declaresNoTiles } from '../../kinds/dashboard/dashboard-file.ts'
import { displayTypeOf } from '../../kinds/dashboard/dashboard-wire.ts'
import { withoutKept } from '../../kinds/dashboard/tiles.ts'
import { type Body, type FileContext, listOf } from '../../kinds/kind.ts'
import { type Declared, isOf, type Kinds } from '../../kinds/kinds.ts'
import { type Change, changesOf, type Delete, type Held, isDelete, isDifference, isHeld, type Origin } from '../decide/change.ts'
import type { NewObject } from '../pull/select.ts'
import { isMadeForQueries, queriedKeys } from './query-alerts.ts'

/** A dashboard that only queries of alerts need has none. */
export function changesInFiles(changes: readonly Change[], objects: readonly Declared[]): ReadonlyMap<Change, Change> {
  const queried = queriedKeys(objects)
  const dashboards = new Map(objects.filter(isOf('dashboard')).map((one) => [one.key, one]))
  const ofAlerts = new Map<string, FieldChange[]>()
  const left = new Map<Change, readonly FieldChange[]>()
  const notes = new Map<string, string>()
  const origins = new Map<string, Origin | undefined>()
  for (const change of changesOf(changes, 'dashboard')) {
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
      origins.set(key, 'origin' in change ? change.origin : undefined)
      return false
    })
    if (others.length < change.fields.length) left.set(change, others)
  }
  const show = (change: Change): Change | undefined => {
    if (isDelete(change) || isHeld(change)) return change
    if (isMachinery(change, left.get(change))) return undefined
    if (change.kind === 'alert' && queried.has(change.key)) {
      const note = notes.get(change.key) ?? []
      return withQuery({ ...change, notes: change.notes.concat(note) }, ofAlerts.get(change.key) ?? [], origins.get(change.key))
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

/** Unless somebody changed it apart from the tiles. */
const isMachinery = (change: Exclude<Change, Delete | Held>, left = change.fields): boolean =>
  'madeFrom' in change && isMadeForQueries(change) && (change.action === 'create' || left.length === 0)

/** By the paths of their tiles: with the stored name, or for a new tile the name in the file. */
export function labelsOf(
  { desired, stored, keptTiles }: Pick<Change, 'desired' | 'stored' | 'keptTiles'>,
  queries: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const before = new Map(listOf(stored?.tiles).map(({ id, name }) => [id, name]))
  const tiles = withoutKept(listOf(desired?.tiles), keptTiles).flatMap(({ id, name }) => {
    const key = queries.get(String(name))
    return key === undefined ? [] : [{ key, name, old: before.get(id) }]
  })
  const labels = [...tiles.map(({ key, name }) => [name, key] as const), ...tiles.map(({ key, name, old = name }) => [old, key] as const)]
  return new Map(labels.map(([name, key]) => [`tiles[${JSON.stringify(name)}]`, key]))
}

/** Undefined for the place of a tile, and the type of a new one. */
function pathInAlert(path: string, isAdded: boolean): string | undefined {
  const [field = '', first, ...rest] = path.split('.')
  if (field === 'name') return tileName
  if (field !== 'config' || first === undefined) return undefined
  const type = first === 'displayType' && !isAdded ? ['displayType'] : toQueryPath([first])
  return type.length === 0 ? undefined : ['query', ...type, ...rest].join('.')
}

/** The file has no tile. */
const tileName = 'tile.name'

/** What changed in an alert of the files, by what changed in its dashboard. If both sides did, a person may have changed another tile. */
const besideDashboard = {
  files: 'files',
  service: 'both',
  both: 'unknown',
  references: 'files',
  decided: 'files',
  unknown: 'files',
} as const satisfies Record<Origin, Origin>

/** `ofDashboard`: what changed in any of its tiles. */
function withQuery(change: Exclude<Change, Delete | Held>, query: readonly FieldChange[], ofDashboard: Origin | undefined): Change {
  // A new dashboard and tile are made for the query.
  const isMade = (path: string): boolean => change.action === 'create' && ['source', 'dashboard', 'tile'].includes(path)
  const own = change.fields.filter(({ path }) => !isMade(path))
  const isRenamed = own.some(({ path }) => path === 'name')
  const fields = [...query.filter(({ path }) => !isRenamed || path !== tileName), ...own]
  if (query.length === 0 || change.action === 'create' || change.action === 'release') return { ...change, fields }
  const isMarked = change.action === 'unchanged' || change.action === 'mark' || change.action === 'adopt'
  const ofAlert: Origin | undefined =
    change.action === 'unchanged' ? 'service' : isMarked ? 'files' : 'origin' in change ? change.origin : undefined
  const origin = ofAlert === 'files' && ofDashboard !== undefined ? besideDashboard[ofDashboard] : ofAlert
  return { ...change, fields, ...(isMarked && { action: 'update' as const }), ...(origin !== undefined && { origin }) }
}

// What `pull` writes of alerts that were applied with a query: files have the query, and not its tile.

export interface QueriesInFiles {
  isForQueries(dashboardId: unknown, tileId?: unknown): boolean
  isQueryTile(tile: Body): boolean
}

/** All tiles of dashboards that leave them to alerts, and the tiles of new alerts. */
export function queriesInFiles(
  objects: readonly Declared[],
  keyOf: FileContext['keyOf'],
  queryTiles: ReadonlySet<unknown>,
): QueriesInFiles {
  const withoutTiles = objects.filter(({ kind, spelled }) => kind === 'dashboard' && declaresNoTiles(spelled))
  const keys = new Set([queryDashboardKey, ...withoutTiles.map(({ key }) => key)])
  return {
    isForQueries: (id, tileId) => keys.has(keyOf('dashboard', id) ?? '') || queryTiles.has(tileId),
    isQueryTile: ({ id }) => queryTiles.has(id),
  }
}

/** `spell` gives the fields that a file can have. */
export function findQueryTiles(
  added: readonly NewObject[],
  kinds: Kinds,
  tilesOf: FileContext['tilesOf'],
  spell: (one: NewObject) => Body | undefined,
): ReadonlySet<unknown> {
  // A person who renames the tile, or makes it another chart, means it as a tile.
  const isQuery = (one: NewObject): boolean => {
    const { kind, key, stored } = one
    const { queryTile } = kinds[kind].readMarker(kinds[kind].toBody(stored)) ?? {}
    const tile = tilesOf(stored.dashboardId).find(({ id }) => id === queryTile && id === stored.tileId)
    const name = stored.name || key
    if (tile === undefined || ![name, `${name} (${key})`].includes(String(tile.name))) return false
    const { query, dashboard = '' } = spell(one) ?? {}
    // The fields are those of a file.
    return query !== undefined && typeof dashboard === 'string' && toTileConfig(query as AlertQuery).displayType === displayTypeOf(tile)
  }
  return new Set(added.filter(isQuery).map(({ stored }) => stored.tileId))
}

export function withoutQueries(
  stored: Body,
  declared: Body,
  { queries, spelled }: Declared,
  isQueryTile: QueriesInFiles['isQueryTile'],
): readonly [Body, Body] {
  if (queries === undefined && !listOf(stored.tiles).some(isQueryTile)) return [stored, declared]
  const isQuery = ({ name }: Body): boolean => queries?.has(String(name)) ?? false
  const ids = new Set(listOf(declared.tiles).flatMap((tile) => (isQuery(tile) ? [tile.id] : [])))
  const isInFile = (tile: Body): boolean =>
    !declaresNoTiles(spelled) && !ids.has(tile.id) && !isQueryTile(tile) && !(tile.id === undefined && isQuery(tile))
  const [before, after] = [stored, declared].map((one) => ({ ...one, tiles: listOf(one.tiles).filter(isInFile) }))
  return [before ?? stored, after ?? declared]
}
