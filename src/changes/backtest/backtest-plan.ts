import { intervalMs, isAtBorder, omitStart } from '../../kinds/alert/schedule.ts'
import { composeUpdate } from '../../kinds/compare.ts'
import { type Body, type KindWire, listOf, type StoredObject } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { PendingId } from '../../kinds/name-index.ts'
import { missingSqlKey } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { createKeyIndex, getById } from '../../platform/core/keys.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { countWithSql } from '../../signals/backtest/count-with-sql.ts'
import { type EstimateOptions, estimateAlerts, requestOf } from '../../signals/backtest/estimate.ts'
import { type AlertCondition, evaluate, evaluatedPart, type TimeRange } from '../../signals/backtest/evaluate.ts'
import { judgeEstimates } from '../../signals/backtest/evidence.ts'
import { type BacktestQuery, type FindSqlValues, refuseWithoutCharts, toAlertQuery, type Watched } from '../../signals/backtest/query.ts'
import { type ReadSeries, type Refusal, requestSeries, type ServerAccess } from '../../signals/backtest/series-api.ts'
import { type Suggestion, suggestCondition } from '../../signals/backtest/suggest.ts'
import { withoutVariables } from '../../signals/backtest/terms.ts'
import { type Change, changesOf, isDifference, isHeld, type Plan } from '../../sync/decide/change.ts'
import type { Incident } from '../../sync/declarations/incidents.ts'
import type { PlanningResult } from '../../sync/plan/make-plan.ts'
import type { StoredObjects } from '../../sync/plan/stored-objects.ts'
import { isTemporary, toFindings, warnFailing } from '../plan/evaluations.ts'
import { type AlertEstimate, type BacktestedAlert, toAlertEstimate } from './backtest-report.ts'
import { type AroundIncident, isDetected, isQuietOutside, readAroundIncidents } from './incidents.ts'

// Estimates the alerts of a plan as the service has them now, and as they are after the plan.

interface BacktestRequest {
  readonly range: TimeRange
  readonly selected?: ReadonlySet<string>
  readonly only: 'changed' | 'all'
  readonly maxRequests: number
  readonly maxNotifications?: number | undefined
  readonly incidents?: readonly Incident[]
}

export function demandValues({ api }: Context<'read', 'service-or-server'>): void {
  if (!api.hasSql)
    throw missingSqlKey('in ClickHouse Cloud, a backtest counts with SQL, by a key that the query endpoint of the service lists')
}

export const whyNoBacktest = async ({ files }: Context<'read', 'service-or-server'>): Promise<string | undefined> =>
  (await files.mayBeFromFork()) ? 'the files may be those of a pull request from a fork, and the server would run their SQL' : undefined

interface BacktestContext extends ServerAccess {
  readonly nowMs: number
  readonly onProgress: EstimateOptions['onProgress']
}

type Query = BacktestQuery | Refusal | undefined

export interface BacktestComparison {
  readonly change: Change
  readonly isChanged: boolean
  readonly now: Query
  readonly next: Query
  /** Undefined where the API does not show it. */
  readonly watched: { readonly now: Watched | undefined; readonly next: Watched | undefined }
}

/** Throws an ApiError only where it concerns the whole run. */
export async function backtestPlan(planned: PlanningResult, context: BacktestContext, request: BacktestRequest) {
  const { storedObjects } = planned
  if (storedObjects === undefined) return { alerts: [], around: [], requestCount: 0, run: new Set<string>(), diagnostics: [] }
  const { range, selected, only, maxNotifications, incidents = [], maxRequests } = request
  const compared = await compareAlerts({ ...planned, storedObjects }, context.api, range)
  const wanted = compared.filter(({ isChanged, change }) => (selected?.has(change.key) ?? true) && (only === 'all' || isChanged))
  // The limit of requests might not last for all, so those after the plan come first.
  const queries = [...wanted.map(({ next }) => next), ...wanted.map(({ now }) => now)].filter((query) => query !== undefined)
  const options = { ...context, maxRequests, readSeries: seriesReader(context, storedObjects) }
  const { estimates, requests, readRows } = await estimateAlerts(queries, range, options)
  const queryOf = new Map(compared.map(({ change, next }) => [change.key, next]))
  const left = { ...options, maxRequests: maxRequests - requests() }
  const { around, requestCount } = await readAroundIncidents(incidents, queryOf, context.nowMs, left)
  // Last, because the budget of requests might not last for all.
  const judged = await judgeEstimates(
    queries.map((query, i) => [query, estimates[i]]),
    range,
    { ...context, sources: storedObjects.source, readRows, nowMs: range.untilMs },
  )
  const results = new Map(queries.map((query, i) => [query, { estimate: estimates[i], judgement: judged[i] }]))
  const resultOf = (query: Query) => (query && results.get(query)) ?? { estimate: undefined, judgement: undefined }
  const suggest = (key: string, query: Query): Suggestion | undefined => {
    const { estimate } = resultOf(query)
    // The limits of the alerts of SLOs are fixed.
    if (maxNotifications === undefined || query === undefined || 'reason' in query || query.hasTextGroups === true) return undefined
    if (estimate === undefined || !('values' in estimate) || estimate.summary.notificationsOnBusiestDay <= maxNotifications)
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
  const describe = (query: Query): AlertEstimate | undefined => {
    const { estimate, judgement } = resultOf(query)
    return estimate && toAlertEstimate(estimate, judgement)
  }
  const alerts = wanted.map(({ change: { key, name }, isChanged, now, next }): BacktestedAlert => {
    const [before, after, suggestion] = [describe(now), describe(next), suggest(key, next)]
    const suggested = after && { ...after, ...(suggestion && { suggestion }) }
    return { key, name, changed: isChanged, ...(before && { now: before }), ...(suggested && { next: suggested }) }
  })
  // Alerts whose query the server ran or refused.
  const run = new Set<string>()
  const diagnostics = wanted.flatMap(({ change, next }) => {
    const { estimate, judgement } = resultOf(next)
    const error = estimate?.verdict === 'not-estimable' ? estimate.queryError : undefined
    if (error !== undefined || (estimate !== undefined && estimate.verdict !== 'not-estimable')) run.add(change.key)
    return error !== undefined && !isTemporary(error) ? [warnFailing(change, error)] : toFindings(change, judgement)
  })
  return { alerts, around, requestCount: requests() + requestCount, run, diagnostics }
}

export const daysOf = ({ fromMs, untilMs }: TimeRange): number => Math.ceil((untilMs - fromMs) / dayMs)

/** What the queries of alerts are read from: a plan of files without errors, or the objects as they are. */
export interface ServerPlan {
  readonly plan: Pick<Plan, 'changes'>
  readonly kinds: Kinds
  readonly storedObjects: StoredObjects
  readonly found: Pick<PlanningResult['found'], 'objects' | 'slos'>
}

interface ComparisonContext extends ServerPlan {
  readonly range: TimeRange
  readonly findSqlValues: FindSqlValues
  readonly isExact: boolean
  readonly hasCharts: boolean
}

/** Without `isExact`, values may differ from the server's. */
export async function compareAlerts(
  planned: ServerPlan,
  { profile }: ReadApi,
  range: TimeRange,
  isExact = true,
): Promise<readonly BacktestComparison[]> {
  const findSqlValues = await sloValues(planned)
  const context = { ...planned, range, findSqlValues, isExact, hasCharts: profile.isSelfHosted }
  // One that is not created has neither.
  return changesOf(planned.plan.changes, 'alert').flatMap((change) => {
    const compared = compare(change, context)
    return compared.now === undefined && compared.next === undefined ? [] : [compared]
  })
}

/** The cloud has no values of charts. Its counts are those of SQL. */
export function seriesReader(access: ServerAccess, { source }: StoredObjects): ReadSeries {
  if (access.api.profile.isSelfHosted) return (request) => requestSeries(access.api, access.service, request)
  return (request) => countWithSql(access, source, request)
}

async function sloValues({ found: { slos }, storedObjects }: ServerPlan): Promise<FindSqlValues> {
  if (slos.length === 0) return () => undefined
  const [{ findSloAlert }, { sourceOf }] = await Promise.all([
    import('../../signals/slos/slo-alerts.ts'),
    import('../../signals/slos/expand-slos.ts'),
  ])
  return findSloAlert(
    slos.flatMap((slo) => {
      const source = sourceOf(slo, storedObjects.source)
      return 'diagnostic' in source ? [] : [{ slo: slo.value, source }]
    }),
  )
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
  const { range, plan } = context
  const isChanged = isEstimated ? fingerprint(now, range) !== fingerprint(next, range) : isTouched(change, plan.changes)
  return { change, isChanged, now, next, watched }
}

/** A start that no file declares is, or was, the end of a silence. Estimates leave out silences. */
const withoutSilence = ({ desired }: Change, body: Body): Body =>
  desired?.scheduleStartAt == null && isAtBorder(body) ? omitStart(body) : body

/** Changes with everything that a backtest depends on. A text in a note makes no difference, and neither does a start before the range. */
const fingerprint = (query: BacktestQuery, range: TimeRange) =>
  JSON.stringify([requestOf(query), { ...query.condition, startMs: evaluatedPart(query.condition, range).fromMs }])

const isTouched = (change: Change, changes: readonly Change[]) =>
  [
    change,
    findChange(changes, `dashboard ${change.desired?.dashboardId}`),
    findChange(changes, `savedSearch ${change.desired?.savedSearchId}`),
  ].some((one) => one && isDifference(one) && !isHeld(one))

/** After the plan, which leaves what is held as it is; undefined for a delete. */
export function desiredBody({ desired, stored, action }: Change, kind: KindWire): Body | undefined {
  if (action === 'held') return stored
  if (desired === undefined || stored === undefined || action === 'replace') return desired
  return composeUpdate(kind, desired, stored)
}

const findChange = createKeyIndex<Change>((change) => [
  addressOf(change),
  ...(change.id === undefined ? [] : [`${change.kind} ${change.id}`]),
])

function findDesired({ kinds, plan, storedObjects }: ComparisonContext, kind: 'dashboard' | 'savedSearch', id: unknown) {
  const change = findChange(plan.changes, id instanceof PendingId ? addressOf({ kind, key: id.key }) : `${kind} ${id}`)
  return change === undefined ? getById<StoredObject>(storedObjects[kind], id) : desiredBody(change, kinds[kind])
}

function watchedBy(
  alert: Body,
  find: (kind: 'dashboard' | 'savedSearch', id: unknown) => Body | undefined,
  { storedObjects }: ComparisonContext,
): Watched | undefined {
  const { source: sources } = storedObjects
  const { dashboardId, tileId, savedSearchId } = alert
  if (alert.source === 'saved_search') {
    const savedSearch = find('savedSearch', savedSearchId)
    return savedSearch && { savedSearch, source: getById(sources, savedSearch.sourceId) }
  }
  const { tiles, filters } = find('dashboard', dashboardId) ?? {}
  const tile = listOf(tiles).find(({ id, name }) => (tileId instanceof PendingId ? name === tileId.tile : id === tileId))
  return tile && { tile: withoutVariables(tile, filters), sources }
}

function queryOf(
  alert: Body,
  watched: Watched | undefined,
  { findSqlValues, hasCharts, isExact }: ComparisonContext,
): BacktestQuery | Refusal {
  if (watched === undefined) return { reason: 'the API does not show what the alert watches' }
  const query = toAlertQuery(alert, watched, findSqlValues, isExact)
  return 'reason' in query || hasCharts ? query : (refuseWithoutCharts(query, watched) ?? query)
}
