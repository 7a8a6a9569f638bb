import type { Directory } from '../../kinds/directory.ts'
import { type AlertTarget, type Body, listOf, type ResolveContext } from '../../kinds/kind.ts'
import { isOf, type Kinds } from '../../kinds/kinds.ts'
import { PendingId } from '../../kinds/pending-id.ts'
import { digestOfText } from '../../platform/core/digest.ts'
import { type BacktestQuery, type FindSqlValues, toAlertQuery, type Watched, type WindowsQuery } from '../../signals/backtest/query.ts'
import type { Refusal } from '../../signals/backtest/read-rows.ts'
import { type FoundDeclarations, withSources } from '../../sync/declarations/find-declarations.ts'

// What declared alerts compare, from the files only: a recording belongs to such a query, and a replay evaluates it without a server.

export interface DeclaredQuery {
  readonly query: BacktestQuery
  /** Changes with everything that a recording depends on: source, conditions, groups and aggregations. */
  readonly digest: string
}

/** Replaces the objects of a service: the id of everything is its name. */
const namesAsIds: Directory = {
  byName: (kind, name) => ({ id: `${kind}:${name}` }),
  byId: (_kind, id) => ({ id }),
  nameOf: () => undefined,
  all: (kind) => (kind === 'connection' ? [{ id: 'connection', name: 'connection' }] : []),
  withPlanned: () => namesAsIds,
  withoutNames: () => namesAsIds,
}

/** Queries by the keys of alerts. */
export async function declaredQueries(
  found: Pick<FoundDeclarations, 'objects' | 'slos'>,
  kinds: Kinds,
): Promise<ReadonlyMap<string, DeclaredQuery | Refusal>> {
  const { slos } = found
  // After a plan, the queries of SLOs have the sources of the service.
  const { objects } = (await withSources(found, [])).found
  const [dashboards, savedSearches] = [new Map<string, AlertTarget>(), new Map<string, AlertTarget>()]
  const searches = new Map<string, Body>()
  const context: ResolveContext = {
    secret: () => undefined,
    directory: namesAsIds,
    sources: [],
    dashboards,
    savedSearches,
    tilesOf: () => [],
  }
  for (const one of objects.filter(isOf('dashboard')))
    dashboards.set(one.key, { id: undefined, tiles: listOf(kinds.dashboard.resolve(one, context).body.tiles) })
  for (const one of objects.filter(isOf('savedSearch'))) {
    savedSearches.set(one.key, { id: undefined, tiles: [] })
    searches.set(one.key, kinds.savedSearch.resolve(one, context).body)
  }
  const sqlValues = await declaredSqlValues(slos)
  return new Map(
    objects.filter(isOf('alert')).map((alert) => {
      const { body, diagnostics } = kinds.alert.resolve(alert, context)
      const watched = diagnostics.length === 0 ? watchedBy(body, dashboards, searches) : undefined
      if (watched === undefined) return [alert.key, { reason: notInFiles }] as const
      // The start of an alert says when it might notify, and not what it detects.
      const { scheduleStartAt: _, ...condition } = body
      return [alert.key, toDeclaredQuery(toAlertQuery(condition, watched, sqlValues))] as const
    }),
  )
}

const notInFiles = 'the files do not declare the dashboard or saved search that it watches; pull it into them'

function watchedBy(
  { source, dashboardId, tileId, savedSearchId }: Body,
  dashboards: ReadonlyMap<string, AlertTarget>,
  searches: ReadonlyMap<string, Body>,
): Watched | undefined {
  if (source === 'saved_search') {
    const savedSearch = savedSearchId instanceof PendingId ? searches.get(savedSearchId.key) : undefined
    return savedSearch && { savedSearch, source: undefined }
  }
  if (!(dashboardId instanceof PendingId) || !(tileId instanceof PendingId)) return undefined
  const tile = dashboards.get(dashboardId.key)?.tiles.find(({ name }) => name === tileId.tile)
  return tile && { tile }
}

const toDeclaredQuery = (query: BacktestQuery | Refusal): DeclaredQuery | Refusal =>
  'reason' in query ? query : { query, digest: digestOfText(JSON.stringify('series' in query ? query.series : declaredSql(query)), 16) }

/** Ids of connections differ between environments. */
const declaredSql = ({ sql: { template, shape, sourceId } }: WindowsQuery) => ({ template, shape, sourceId })

/** The alerts of SLOs. The name of a source is the id of its series. */
async function declaredSqlValues(slos: FoundDeclarations['slos']): Promise<FindSqlValues> {
  if (slos.length === 0) return () => undefined
  const [{ findSloAlert }, { unknownSource }] = await Promise.all([
    import('../../signals/slos/slo-alerts.ts'),
    import('../../signals/slos/expand-slos.ts'),
  ])
  return findSloAlert(slos.map(({ value }) => ({ slo: value, source: { ...unknownSource, id: `source:${value.source}` } })))
}
