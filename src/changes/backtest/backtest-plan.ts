import { intervalMs, isAtBorder, omitStart } from '../../kinds/alert/schedule.ts'
import { composeUpdate } from '../../kinds/compare.ts'
import { PendingId } from '../../kinds/directory.ts'
import { type Body, type KindWire, listOf, type StoredObject } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { missingSqlKey } from '../../platform/api/api-error.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { createKeyIndex, getById } from '../../platform/core/keys.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { type Estimate, type EstimateOptions, estimateAlerts, requestOf } from '../../signals/backtest/estimate.ts'
import { type AlertCondition, evaluate, evaluatedPart, type TimeRange } from '../../signals/backtest/evaluate.ts'
import { judgeEstimates } from '../../signals/backtest/evidence.ts'
import { type BacktestQuery, type FindSqlValues, refuseWithoutCharts, toAlertQuery, type Watched } from '../../signals/backtest/query.ts'
import { type ReadSeries, type Refusal, requestSeries } from '../../signals/backtest/series-api.ts'
import { type Suggestion, suggestCondition } from '../../signals/backtest/suggest.ts'
import { withoutVariables } from '../../signals/backtest/terms.ts'
import { type Change, changesOf, isDifference } from '../../sync/decide/change.ts'
import type { Incident } from '../../sync/declarations/incidents.ts'
import type { PlanningResult } from '../../sync/plan/make-plan.ts'
import type { StoredObjects } from '../../sync/plan/stored-objects.ts'
import { isTemporary, toFindings, warnFailing } from '../plan/evaluations.ts'
import { type AlertEstimate, type BacktestedAlert, toAlertEstimate } from './backtest-report.ts'
import { type AroundIncident, isDetected, isQuietOutside, readAroundIncidents } from './incidents.ts'

// Estimates the alerts of a plan twice: as the service has them now, and as they are after the plan.

interface BacktestRequest {
  readonly range: TimeRange
  /** The keys of the alerts that may be estimated. Absent: all. */
  readonly selected?: ReadonlySet<string>
  readonly only: 'changed' | 'all'
  readonly maxRequests: number
  /** Limit above which conditions are suggested for an alert. */
  readonly maxNotifications?: number | undefined
  /** The incidents that alerts must notice. */
  readonly incidents?: readonly Incident[]
}

interface Backtest {
  readonly alerts: readonly BacktestedAlert[]
  readonly around: readonly AroundIncident[]
  readonly requestCount: number
  /** Keys of the alerts whose query the server ran, or refused to run. */
  readonly run: ReadonlySet<string>
  /** Warnings on queries that the server cannot run, and on conditions that no row matches. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Throws an InputError where nothing gives values of the past. */
export function demandValues({ api }: Pick<Context<'read', 'service-or-server'>, 'api'>): void {
  if (!api.hasSql)
    throw missingSqlKey('in ClickHouse Cloud, a backtest counts with SQL, by a key that the query endpoint of the service lists')
}

/** Why the alerts of these files must not be backtested; undefined where they may. */
export const whyNoBacktest = async ({ files }: Pick<Context<'read', 'service-or-server'>, 'files'>): Promise<string | undefined> =>
  (await files.mayBeFromFork()) ? 'the files may be those of a pull request from a fork, and the server would run their SQL' : undefined

interface BacktestContext extends Pick<EstimateOptions, 'api' | 'service' | 'onProgress'> {
  readonly profile: Context<'read', 'service-or-server'>['profile']
  readonly nowMs: number
}

type Query = BacktestQuery | Refusal | undefined

interface BacktestComparison {
  readonly change: Change
  readonly isChanged: boolean
  readonly now: Query
  readonly next: Query
  /** What the alert watches before and after the plan; undefined where the API does not show it. */
  readonly watched: { readonly now: Watched | undefined; readonly next: Watched | undefined }
}

/** Estimates the alerts of a plan. Throws an ApiError only where it concerns the whole run. */
export async function backtestPlan(
  { plan, found, kinds, storedObjects }: PlanningResult,
  context: BacktestContext,
  request: BacktestRequest,
): Promise<Backtest> {
  if (storedObjects === undefined) return { alerts: [], around: [], requestCount: 0, run: new Set(), diagnostics: [] }
  const { range } = request
  const compared = await compareAlerts({ plan, found, kinds, storedObjects }, context, range)
  const wanted = compared.filter(
    ({ isChanged, change }) => (request.selected?.has(change.key) ?? true) && (request.only === 'all' || isChanged),
  )
  // The queries of the state after the plan are first, because the budget of requests might not last for all.
  const queries = [...wanted.map(({ next }) => next), ...wanted.map(({ now }) => now)].filter((query) => query !== undefined)
  const options = { ...context, maxRequests: request.maxRequests, readSeries: await seriesReader(context, storedObjects) }
  const { estimates, requests, readRows } = await estimateAlerts(queries, { ...options, range })
  const byQuery = new Map(queries.map((query, i) => [query, estimates[i]] as const))
  const { around, requestCount } = await readAroundIncidents(request.incidents ?? [], {
    ...options,
    maxRequests: request.maxRequests - requests(),
    queries: new Map(compared.map(({ change, next }) => [change.key, next])),
  })
  const suggest = (key: string, query: Query): Suggestion | undefined => {
    const estimate = query && byQuery.get(query)
    const { maxNotifications } = request
    if (maxNotifications === undefined || query === undefined || 'reason' in query || estimate === undefined) return undefined
    // The limits of the alerts of SLOs are fixed.
    if (!('values' in estimate) || estimate.summary.notificationsOnBusiestDay <= maxNotifications || query.hasTextGroups === true)
      return undefined
    const ofAlert = around.filter(({ alert, evaluated }) => alert === key && !('isTooOld' in evaluated))
    const spans = ofAlert.map(({ incident }) => incident)
    const lengthMs = intervalMs[query.condition.interval]
    const evaluateWith = (condition: AlertCondition, { values, range: span }: AroundIncident) =>
      values && { windows: evaluate({ ...condition, startMs: undefined }, values, span), lengthMs }
    return suggestCondition(query.condition, estimate.values, range, {
      maxNotifications,
      detectsAll: (condition) => ofAlert.every((one) => isDetected(one.incident, evaluateWith(condition, one))),
      isQuietOutside: (condition) => ofAlert.every((one) => isQuietOutside(one.incident, spans, evaluateWith(condition, one))),
    })
  }

  // A second look is last, because the budget of requests might not last for all.
  const looked = { ...context, sources: storedObjects.source, readRows, nowMs: range.untilMs }
  const judged = await judgeEstimates([...byQuery], range, looked)
  const judgements = new Map([...byQuery.keys()].map((query, i) => [query, judged[i]] as const))
  const estimateOf = (query: Query): AlertEstimate | undefined => {
    const estimate = query && byQuery.get(query)
    return estimate && toAlertEstimate(estimate, query && judgements.get(query))
  }
  const alerts = wanted.map(({ change: { key, name }, isChanged, now, next }): BacktestedAlert => {
    const [before, estimated] = [estimateOf(now), estimateOf(next)]
    const suggestion = suggest(key, next)
    const after = estimated && { ...estimated, ...(suggestion && { suggestion }) }
    return { key, name, changed: isChanged, ...(before && { now: before }), ...(after && { next: after }) }
  })
  const diagnostics = wanted.flatMap(({ change, next }) => {
    const [estimate, judgement] = [next && byQuery.get(next), next && judgements.get(next)]
    const error = estimate?.verdict === 'not-estimable' ? estimate.queryError : undefined
    if (error !== undefined && !isTemporary(error)) return [warnFailing(change, error)]
    return toFindings(change, judgement)
  })
  const isRun = (estimate: Estimate | undefined): boolean =>
    estimate !== undefined && (estimate.verdict !== 'not-estimable' || estimate.queryError !== undefined)
  const run = new Set(wanted.flatMap(({ change, next }) => (isRun(next && byQuery.get(next)) ? [change.key] : [])))
  return { alerts, around, requestCount: requests() + requestCount, run, diagnostics }
}

/** Rounded, for people. */
export const daysOf = ({ fromMs, untilMs }: TimeRange): number => Math.max(1, Math.round((untilMs - fromMs) / dayMs))

type ComparedPlan = Pick<PlanningResult, 'plan' | 'found' | 'kinds'> & { readonly storedObjects: StoredObjects }

/** The alerts of a plan, with their queries before and after it. */
export async function compareAlerts(
  { plan, found, kinds, storedObjects }: ComparedPlan,
  { profile, isExact = true }: Pick<BacktestContext, 'profile'> & { readonly isExact?: boolean },
  range: TimeRange,
): Promise<readonly BacktestComparison[]> {
  const findSqlValues = await sloValues(found, storedObjects)
  return changesOf(plan, 'alert').map((change) =>
    compare(change, { kinds, plan, storedObjects, range, findSqlValues, isExact, hasCharts: profile.isSelfHosted }),
  )
}

/** The cloud has no values of charts. Its counts are those of SQL. */
export async function seriesReader(
  { api, service, profile }: Pick<BacktestContext, 'api' | 'service' | 'profile'>,
  { source: sources }: StoredObjects,
): Promise<ReadSeries> {
  if (profile.isSelfHosted) return (request) => requestSeries(api, service, request)
  const { countWithSql } = await import('../../signals/backtest/count-with-sql.ts')
  return (request) => countWithSql({ api, service, sources }, request)
}

/** The alerts of the SLOs in the files, by the queries that they have with the sources of the service. */
async function sloValues({ slos }: PlanningResult['found'], { source: sources }: StoredObjects): Promise<FindSqlValues> {
  if (slos.length === 0) return () => undefined
  const [{ findSloAlert }, { sourceOf }] = await Promise.all([
    import('../../signals/slos/slo-alerts.ts'),
    import('../../signals/slos/expand-slos.ts'),
  ])
  return findSloAlert(
    slos.flatMap((slo) => {
      const source = sourceOf(slo, sources)
      return 'diagnostic' in source ? [] : [{ slo: slo.value, source }]
    }),
  )
}

interface ComparisonContext {
  readonly kinds: Kinds
  readonly plan: PlanningResult['plan']
  readonly storedObjects: StoredObjects
  readonly range: TimeRange
  readonly findSqlValues: FindSqlValues
  /** Whether values that differ from those of the server are refused. */
  readonly isExact: boolean
  readonly hasCharts: boolean
}

function compare(change: Change, context: ComparisonContext): BacktestComparison {
  const [stored, desired] = [change.stored, desiredBody(change, context.kinds.alert)].map((body) => body && withoutSilence(change, body))
  const watched = {
    now: stored && watchedBy(stored, (kind, id) => getById<StoredObject>(context.storedObjects[kind], id), context),
    next: desired && watchedBy(desired, (kind, id) => findDesired(context, kind, id), context),
  }
  const now = stored && queryOf(stored, watched.now, context)
  const next = desired && queryOf(desired, watched.next, context)
  const isEstimated = now !== undefined && next !== undefined && !('reason' in now) && !('reason' in next)
  const isChanged = isEstimated ? fingerprint(now, context) !== fingerprint(next, context) : isTouched(change, context.plan.changes)
  return { change, isChanged, now, next, watched }
}

/** A start that no file declares is, or was, the end of a silence. Estimates leave out silences. */
const withoutSilence = ({ desired }: Change, body: Body): Body =>
  desired?.scheduleStartAt == null && isAtBorder(body) ? omitStart(body) : body

/** Changes with everything that a backtest depends on. A text in a note makes no difference, and neither does a start before the range. */
const fingerprint = (query: BacktestQuery, { range }: Pick<ComparisonContext, 'range'>): string =>
  JSON.stringify([requestOf(query), { ...query.condition, startMs: evaluatedPart(query.condition, range).fromMs }])

/** Whether the plan writes the alert, or the dashboard or saved search that it watches. */
const isTouched = (change: Change, changes: readonly Change[]): boolean =>
  [
    change,
    findChange(changes, `dashboard ${change.desired?.dashboardId}`),
    findChange(changes, `savedSearch ${change.desired?.savedSearchId}`),
  ].some((one) => one && isDifference(one))

/** The whole body after the plan; undefined for a delete. */
export function desiredBody({ desired, stored, action }: Change, kind: KindWire): Body | undefined {
  if (desired === undefined || stored === undefined || action === 'replace') return desired
  return composeUpdate(kind, desired, stored)
}

type Find = (kind: 'dashboard' | 'savedSearch', id: unknown) => Body | undefined

const findChange = createKeyIndex<Change>((change) => [
  addressOf(change),
  ...(change.id === undefined ? [] : [`${change.kind} ${change.id}`]),
])

function findDesired({ kinds, plan, storedObjects }: ComparisonContext, kind: 'dashboard' | 'savedSearch', id: unknown): Body | undefined {
  const change = findChange(plan.changes, id instanceof PendingId ? addressOf({ kind, key: id.key }) : `${kind} ${id}`)
  return change === undefined ? getById<StoredObject>(storedObjects[kind], id) : desiredBody(change, kinds[kind])
}

const watchedBy = (alert: Body, find: Find, { storedObjects }: ComparisonContext): Watched | undefined =>
  alert.source === 'saved_search' ? watchedSearch(alert, find, storedObjects) : watchedTile(alert, find, storedObjects)

function queryOf(
  alert: Body,
  watched: Watched | undefined,
  { findSqlValues, hasCharts, isExact }: ComparisonContext,
): BacktestQuery | Refusal {
  if (watched === undefined) return { reason: 'the API does not show what the alert watches' }
  const query = toAlertQuery(alert, watched, findSqlValues, isExact)
  return 'reason' in query || hasCharts ? query : (refuseWithoutCharts(query, watched) ?? query)
}

function watchedSearch({ savedSearchId }: Body, find: Find, { source: sources }: StoredObjects): Watched | undefined {
  const savedSearch = find('savedSearch', savedSearchId)
  return savedSearch && { savedSearch, source: getById(sources, savedSearch.sourceId) }
}

function watchedTile({ dashboardId, tileId }: Body, find: Find, { source: sources }: StoredObjects): Watched | undefined {
  const { tiles, filters } = find('dashboard', dashboardId) ?? {}
  const tile = listOf(tiles).find(({ id, name }) => (tileId instanceof PendingId ? name === tileId.tile : id === tileId))
  return tile && { tile: withoutVariables(tile, filters), sources }
}
