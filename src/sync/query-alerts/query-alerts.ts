// The product has no other form for an alert with a query of its own than a tile.

import { queryDashboardKey, toQueryPath, toTileConfig } from '../../kinds/alert-query/alert-query.ts'
import { declaresNoTiles, placeTiles } from '../../kinds/dashboard/dashboard-file.ts'
import { queryTileSize } from '../../kinds/dashboard/tiles.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { type Declared, isOf, parseObject } from '../../kinds/kinds.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Location, type Rules } from '../../platform/core/diagnostics.ts'
import { plural } from '../../platform/core/text.ts'
import type { DeclaredObjects } from '../declarations/declarations.ts'

export const queryRules = {
  'crowded-dashboard': {
    severity: 'warning',
    exception: 'error',
    description: 'A dashboard has more than 60 tiles for the queries of alerts. More than 500 tiles are an error.',
  },
  'no-tiles': { severity: 'error', description: 'A dashboard declares no tiles, and no alert with a query names it.' },
} as const satisfies Rules

/** More charts load slowly, and cannot be read at a glance. */
const maxReadable = 60

const maxTiles = 500

/** On the dashboards that the alerts name, or on one for the project. */
export function expandQueries<D extends DeclaredObjects>(read: D, project: string | undefined): D {
  const { objects } = read
  const dashboards = new Map(objects.filter(isOf('dashboard')).map((one) => [one.key, one]))
  const alerts = objects.filter(isOf('alert')).filter((one) => isExpandable(one, dashboards))
  const groups = Map.groupBy(alerts, ({ value }) => (typeof value.dashboard === 'string' ? value.dashboard : queryDashboardKey))
  const parts = [...groups].map(([key, group]) => expandGroup(key, group, dashboards.get(key) ?? dashboardOfProject(group, project)))
  const expanded = new Map(parts.flatMap((part) => part.expanded))
  const added = parts.flatMap(({ dashboard }) => (dashboard !== undefined && isMadeForQueries(dashboard) ? [dashboard] : []))
  return {
    ...read,
    objects: [...objects.map((one) => expanded.get(one) ?? one), ...added],
    diagnostics: [...read.diagnostics, ...parts.flatMap(({ diagnostics }) => diagnostics), ...findWithoutTiles(read)],
  }
}

/** Another alert with a query has an error, which the check of references reports. */
function isExpandable({ value }: Declared<'alert'>, dashboards: ReadonlyMap<string, Declared<'dashboard'>>): boolean {
  const { query, tile, savedSearch, dashboard } = value
  if (query === undefined || tile !== undefined || savedSearch !== undefined) return false
  if (dashboard === undefined) return true
  const target = typeof dashboard === 'string' ? dashboards.get(dashboard) : undefined
  return target !== undefined && target.madeFrom === undefined
}

interface Expanded {
  readonly expanded: readonly (readonly [Declared, Declared])[]
  /** Undefined where the tiles are too many. */
  readonly dashboard?: Declared<'dashboard'>
  readonly diagnostics: readonly Diagnostic[]
}

function expandGroup(key: string, alerts: readonly Declared<'alert'>[], target: Declared<'dashboard'>): Expanded {
  const size = `dashboards.${key} has ${plural(alerts.length, 'tile')} for the queries of alerts`
  const advice = 'name several dashboards in the field dashboard of the alerts'
  const report = (isError: boolean, message: string): readonly Diagnostic[] => {
    const { location } = alerts[maxReadable] ?? target
    return [(isError ? exceptionalDiagnostic : diagnosticOf)(queryRules, 'crowded-dashboard', location, `${size}, ${message}; ${advice}`)]
  }
  if (alerts.length + target.value.tiles.length > maxTiles)
    return { expanded: [], diagnostics: report(true, `and may have ${maxTiles} tiles in all`) }
  const names = nameTiles(alerts, target)
  const dashboard = withTiles(target, alerts, names)
  return {
    expanded: [[target, dashboard], ...alerts.map((alert) => [alert, onTile(alert, key, names.get(alert) ?? '')] as const)],
    dashboard,
    diagnostics: alerts.length > maxReadable ? report(false, 'which load slowly') : [],
  }
}

const nameOf = ({ key, value }: Declared<'alert'>): string => value.name ?? key

/** Alerts find their tiles by name, so a name that several would have gets the key. */
function nameTiles(alerts: readonly Declared<'alert'>[], target: Declared<'dashboard'>): ReadonlyMap<Declared, string> {
  const others = new Set(target.value.tiles.map(({ name }) => name))
  const byName = Map.groupBy(alerts, nameOf)
  const withKey = (name: string, key: string): string => {
    const longer = `${name} (${key})`
    return others.has(longer) || byName.has(longer) ? withKey(longer, key) : longer
  }
  return new Map(
    alerts.map((alert) => {
      const name = nameOf(alert)
      const isUnique = byName.get(name)?.length === 1 && !others.has(name)
      return [alert, isUnique ? name : withKey(name, alert.key)] as const
    }),
  )
}

function onTile(alert: Declared<'alert'>, dashboard: string, tile: string): Declared<'alert'> {
  // The tile has the name of the alert.
  const toSpelled = ([field, ...rest]: readonly PropertyKey[]): readonly PropertyKey[] =>
    field === undefined ? [] : field === 'tile' ? ['query'] : [field, ...rest]
  return {
    ...alert,
    value: { ...alert.value, dashboard, tile },
    locationOf: (path) => alert.locationOf(toSpelled(path)),
    pathOf: (path) => alert.pathOf(toSpelled(path)),
  }
}

function dashboardOfProject([first]: readonly Declared<'alert'>[], project: string | undefined): Declared<'dashboard'> {
  const name = project === undefined ? 'Alerts' : `Alerts: ${project}`
  return makeProjectDashboard(name, first?.location ?? { file: 'files' })
}

export const isMadeForQueries = ({ madeFrom }: { readonly madeFrom?: string | undefined }): boolean => madeFrom === 'alerts'

export const queriedKeys = (objects: readonly Declared[]): ReadonlySet<string> =>
  new Set(objects.filter(isOf('alert')).flatMap(({ key, value }) => (value.query === undefined ? [] : [key])))

/** Of alerts that name no dashboard. */
export function makeProjectDashboard(name: string, location: Location): Declared<'dashboard'> {
  const spelled = { name, tags: ['alerts'] }
  return {
    kind: 'dashboard',
    key: queryDashboardKey,
    location,
    spelled,
    value: { ...spelled, tiles: [] },
    madeFrom: 'alerts',
    queries: new Map(),
    locationOf: () => location,
    pathOf: () => addressOf({ kind: 'dashboard', key: queryDashboardKey }),
  }
}

function withTiles(
  dashboard: Declared<'dashboard'>,
  alerts: readonly Declared<'alert'>[],
  names: ReadonlyMap<Declared, string>,
): Declared<'dashboard'> {
  const own = dashboard.value.tiles
  const tiles = alerts.flatMap((alert) => {
    const { query } = alert.value
    return query === undefined ? [] : [{ name: names.get(alert), ...queryTileSize, config: toTileConfig(query) }]
  })
  const places = placeTiles([...own.filter(({ containerId }) => containerId === undefined), ...tiles]).slice(-tiles.length)
  const parsed = parseObject('dashboard', { name: 'any', tiles: tiles.map((tile, i) => ({ ...tile, ...places[i] })) })
  if ('error' in parsed) throw parsed.error
  const { value } = parsed.parsed as { readonly value: Declared<'dashboard'>['value'] } // It is a dashboard.
  const ownerOf = ([field, i, ...rest]: readonly PropertyKey[]) => {
    const alert = field === 'tiles' && typeof i === 'number' ? alerts[i - own.length] : undefined
    const [part, ...inner] = rest
    return alert && { alert, path: part === 'config' ? ['query', ...toQueryPath(inner)] : part === 'name' ? ['name'] : ['query'] }
  }
  return {
    ...dashboard,
    value: { ...dashboard.value, tiles: [...own, ...value.tiles] },
    queries: new Map(alerts.map((alert) => [names.get(alert) ?? '', alert.key])),
    locationOf(path) {
      const owner = ownerOf(path)
      return owner === undefined ? dashboard.locationOf(path) : owner.alert.locationOf(owner.path)
    },
    pathOf(path) {
      const owner = ownerOf(path)
      return owner === undefined ? dashboard.pathOf(path) : owner.alert.pathOf(owner.path)
    },
  }
}

/** An alert with errors may still name a dashboard, and so may one in a file that cannot be read. */
function findWithoutTiles({ objects, broken, unread }: DeclaredObjects): readonly Diagnostic[] {
  if (unread.length > 0) return []
  const named = new Set<unknown>([
    ...objects.filter(isOf('alert')).flatMap(({ value }) => (value.query === undefined ? [] : [value.dashboard ?? queryDashboardKey])),
    ...broken.flatMap(({ kind, fields, wrongFields }) =>
      kind === 'alert' && (fields.query !== undefined || wrongFields.has('query')) ? [fields.dashboard] : [],
    ),
  ])
  return objects
    .filter(isOf('dashboard'))
    .filter(({ key, spelled, madeFrom }) => madeFrom === undefined && declaresNoTiles(spelled) && !named.has(key))
    .map(({ key, location }) =>
      diagnosticOf(queryRules, 'no-tiles', location, `dashboards.${key}: give tiles, rows with tiles, or alerts with a query that name it`),
    )
}
