// What is stored as declared can still fail: only running a query shows whether the server can run it.

import { type AlertInterval, alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import { type Body, listOf, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { createKinds } from '../../kinds/kinds.ts'
import { type PendingId, replacePending } from '../../kinds/name-index.ts'
import { sourceSchema } from '../../kinds/source/source-wire.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import { maxQueryMs, type SqlQuery } from '../../platform/api/sql-query.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import { type Diagnostic, diagnosticOf, type Location } from '../../platform/core/diagnostics.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { causeOf, toFailure } from '../../platform/core/errors.ts'
import { getById } from '../../platform/core/keys.ts'
import { namesAtMost } from '../../platform/core/text.ts'
import { type EstimateOptions, type Estimates, estimateAlerts } from '../../signals/backtest/estimate.ts'
import { judgeEstimates } from '../../signals/backtest/evidence.ts'
import { type Judgement, showNumber } from '../../signals/backtest/judge.ts'
import {
  columnsOfSearch,
  type LookUp,
  lookUpColumns,
  lookUpSeries,
  lookUpSource,
  type Probe,
  type SingleQuery,
  toProbe,
} from '../../signals/backtest/probe.ts'
import type { BacktestQuery, Watched } from '../../signals/backtest/query.ts'
import { toRefusal, valueOfNumber, whyNeverEvaluated } from '../../signals/backtest/read-windows.ts'
import { maxSeries, type Refusal, type SeriesItem, shareRequests } from '../../signals/backtest/series-api.ts'
import { withoutVariables } from '../../signals/backtest/terms.ts'
import type { SqlShape } from '../../signals/backtest/window-sql.ts'
import {
  type Change,
  changesOf,
  countRequests,
  type Delete,
  declaredBy,
  isDelete,
  isDifference,
  isHeld,
  isPlanned,
  type Outcome,
} from '../../sync/decide/change.ts'
import type { PlanningResult } from '../../sync/plan/make-plan.ts'
import type { StoredObjects } from '../../sync/plan/stored-objects.ts'
import {
  type BacktestComparison,
  compareAlerts,
  desiredBody,
  type ServerPlan,
  seriesReader,
  whyNoBacktest,
} from '../backtest/backtest-plan.ts'
import {
  evaluationRules,
  isTemporary,
  makerOf,
  nameOfAlert,
  refuseNeverEvaluated,
  toFindings,
  warnFailing,
  withoutQuery,
  withRemedy,
} from '../plan/evaluations.ts'
import type { ReviewContext } from '../review.ts'

const budgetMs = 60_000

const maxConcurrent = 4

/** A plan with the sources as they are after it, and access to its server. */
interface Asking extends ReviewContext {
  readonly planned: ServerPlan
  readonly changedSources: ReadonlyMap<string, Exclude<Change, Delete>>
  readonly isApplied: boolean
  /** Of the values that it asks for. */
  readonly options: EstimateOptions
  readonly readRows: Estimates['readRows']
  readonly nowMs: number
  reserved: number
  isLate(): boolean
  /** Alerts that an answer of the server is about. */
  readonly answered: Set<Change>
}

interface Subject {
  readonly name: string
  readonly location: Location
  readonly interval?: AlertInterval
  /** The alert that the query is of. */
  readonly alert?: Change
  /** Gets the words of the server. */
  readonly explain: (error: string) => readonly Diagnostic[]
}

/** What the server answers; `value` is that of a number tile in the last window. */
type CheckAnswer = { readonly value?: number | undefined } | Refusal

interface Check {
  /** Checks with the same key ask once. */
  readonly key: string
  readonly subject: Subject
  readonly answer: Refusal | (() => Promise<CheckAnswer>)
  /** What is not run, where it is not the whole query. */
  readonly part?: string
  readonly isOfValues?: true
}

/**
 * Looks up what changed sources name, asks for the values of each alert that the plan creates or changes, and then runs the queries of changed
 * tiles and saved searches. An alert whose values charts cannot have is only run. The server runs queries on the sources as they are stored:
 * of alerts and tiles on a changed one, the columns are looked up. `tested` are the keys of the alerts whose queries a backtest has run.
 */
export async function findQueryProblems(context: ReviewContext, planned: PlanningResult, tested: ReadonlySet<string>) {
  const { plan, storedObjects } = planned
  const nothing = { diagnostics: [], alertCount: 0, checkedCount: 0, facts: [] as const }
  if (storedObjects === undefined) return nothing
  const asking = await openQueries(context, { ...planned, storedObjects })
  const alerts = await changedAlerts(asking)
  const keys = new Set(alerts.flatMap(({ checks }) => checks.map(({ key }) => key)))
  const others = [...tileChecks(asking), ...searchChecks(asking)].filter(({ key }) => !keys.has(key))
  const untested = alerts.filter(({ change }) => !tested.has(change.key))
  const refusal = await whyNotRun(context)
  if (refusal !== undefined)
    return {
      ...nothing,
      diagnostics: noteUnrun(
        [...sourceChecks(asking), ...untested.flatMap(({ checks }) => checks), ...others].map(({ subject }) => subject),
        refusal,
      ),
    }
  const found: Diagnostic[] = []
  try {
    const ofSources = await runChecks(sourceChecks(asking), asking)
    found.push(...ofSources.diagnostics)
    const evidence = await gatherEvidence(untested, asking)
    const rest = untested.flatMap(({ change, checks }) => checks.filter(({ isOfValues }) => !isOfValues || evidence.unknown.has(change)))
    const asked = await runChecks(rest, asking)
    found.push(...foldQuiet([...evidence.diagnostics, ...asked.diagnostics]))
    const late = alerts.filter(({ change, checks }) => evidence.late.has(change) || checks.some(({ key }) => asked.unrun.has(key)))
    const checked = alerts.filter(({ change }) => tested.has(change.key) || asking.answered.has(change))
    asking.reserved = requestsOfApply(context, plan.changes)
    const ofOthers = await runChecks(others, asking)
    const unrun = [...late.map(({ change }) => subjectOfAlert(change)), ...ofSources.unrun.values(), ...ofOthers.unrun.values()]
    found.push(...ofOthers.diagnostics, ...noteUnrun(unrun, whyUnrun))
    return {
      diagnostics: withoutRepeats(found),
      alertCount: alerts.length,
      checkedCount: checked.length,
      facts: [...evidence.facts, ...asked.facts],
    }
  } catch (thrown) {
    return { ...nothing, alertCount: alerts.length, diagnostics: withoutRepeats([...found, ...explainUnchecked('alerts', thrown)]) }
  }
}

async function whyNotRun(context: ReviewContext) {
  if (!context.api.hasSql) return 'set sql-key-id and sql-key-secret to see whether their columns exist'
  return whyNoBacktest(context)
}

const whyUnrun = `a plan asks for at most ${budgetMs / 1000} s, and leaves the rate limit to apply`

function noteUnrun(subjects: readonly Subject[], reason: string) {
  const [first] = subjects
  if (first === undefined) return []
  const names = namesAtMost(5, [...new Set(subjects.map(({ name }) => name))])
  return [toNote(first.location, `The queries of what the plan changes were not run (${names}): ${reason}`)]
}

/** Runs the queries of all alerts on the sources that a run has written. */
export async function findBrokenAlerts(
  context: ReviewContext,
  planned: PlanningResult,
  outcomes: readonly Outcome[],
): Promise<readonly Diagnostic[]> {
  const { storedObjects } = planned
  if (storedObjects === undefined || (await whyNotRun(context)) !== undefined) return []
  const asking = await openQueries(context, { ...planned, storedObjects }, outcomes)
  try {
    const alerts = await changedAlerts(asking)
    const { diagnostics, unrun } = await runChecks(
      alerts.flatMap(({ checks }) => checks),
      asking,
    )
    return withoutRepeats([...diagnostics, ...noteUnrun([...unrun.values()], whyUnrun)])
  } catch (thrown) {
    return explainUnchecked('alerts', thrown)
  }
}

/** The values of stored alerts, and what they prove. */
export async function judgeStoredAlerts(context: ReviewContext, storedObjects: StoredObjects, alerts: readonly StoredObject[]) {
  const kinds = createKinds(context.profile, context.clock.now())
  const asking = await openQueries(context, { kinds, storedObjects, plan: { changes: [] }, found: { objects: [], slos: [] } })
  const plan = { changes: alerts.map((alert) => toChange(alert, asking)) }
  const range = { fromMs: asking.nowMs, untilMs: asking.nowMs }
  const compared = await compareAlerts({ ...asking.planned, plan }, context.api, range, false)
  const asked = compared.flatMap(({ change, next }) => (next === undefined ? [] : [{ change, next, isOnChanged: false, checks: [] }]))
  return { ...(await gatherEvidence(asked, asking)), answeredCount: asking.answered.size }
}

/** `outcomes` are there after an apply, and have the ids of the sources that it created. */
async function openQueries(context: ReviewContext, planned: ServerPlan, outcomes?: readonly Outcome[]): Promise<Asking> {
  const { storedObjects, plan, kinds } = planned
  const idOf = (key: string): string =>
    outcomes === undefined ? `sources.${key}` : (outcomes.find(({ change }) => change.kind === 'source' && change.key === key)?.id ?? '')
  const changedSources = new Map(
    changesOf(plan.changes, 'source').flatMap((change) =>
      isDifference(change) && !isDelete(change) && !isHeld(change) ? [[change.id ?? idOf(change.key), change] as const] : [],
    ),
  )
  const written = [...changedSources].map(([id, change]) => sourceSchema.parse({ ...desiredBody(change, kinds.source), id }))
  const source = [...storedObjects.source.filter(({ id }) => !changedSources.has(id)), ...written]
  const withId = (pending: PendingId): unknown => (pending.kind === 'source' ? idOf(pending.key) : pending)
  const changes = plan.changes.map((change) =>
    change.desired === undefined ? change : { ...change, desired: replacePending(change.desired, withId) },
  )
  const after = { ...storedObjects, source }
  const { api, profile, clock } = context
  const [nowMs, startMs] = [clock.now(), api.remainingMs()]
  const leftMs = (): number => Math.min(api.remainingMs(), budgetMs - (startMs - api.remainingMs()))
  const asking = { reserved: 0, answered: new Set<Change>() }
  const isLate = (): boolean => leftMs() <= 0 || (profile.isSelfHosted && (api.rateLimit()?.remaining ?? 1) < 1 + asking.reserved)
  const readSeries = shareRequests(seriesReader(context, after), {
    // A query of ClickHouse has room for more series than a request for values of charts.
    maxItems: profile.isSelfHosted ? maxSeries : 20,
    hasOneSource: !profile.isSelfHosted,
    refuse: () => (isLate() ? { reason: 'there was no time, or no request, left', isLate: true } : undefined),
  })
  const limited = { ...context, api: { ...api, remainingMs: leftMs } }
  const options: EstimateOptions = {
    ...{ api: limited.api, service: context.service, readSeries, isShared: true, maxSqlWindows: 49 },
    maxRequests: Number.MAX_SAFE_INTEGER,
    onProgress: async () => {},
  }
  const { readRows } = await estimateAlerts([], { fromMs: nowMs, untilMs: nowMs }, options)
  const isApplied = outcomes !== undefined
  return Object.assign(asking, {
    ...{ ...limited, planned: { ...planned, storedObjects: after, plan: { ...plan, changes } } },
    ...{ changedSources, isApplied, options, readRows, nowMs, isLate },
  })
}

const sourceChecks = (asking: Asking): readonly Check[] =>
  asking.planned.storedObjects.source.flatMap((source) => {
    const change = asking.changedSources.get(source.id)
    if (change === undefined) return []
    const explain = (error: string) => `the server cannot read what it names: ${withRemedy(error, 'Correct its table or its expressions')}`
    const subject = toSubject(addressOf(change), change.location ?? { file: 'sources' }, explain)
    return lookUpSource(source).map((one) => toLookUpCheck(one, subject, asking))
  })

const toSubject = (name: string, location: Location, explain: (error: string) => string): Subject => ({
  name,
  location,
  explain: (error) => [diagnosticOf(evaluationRules, 'failing-query', location, `${name}: ${explain(error)}`)],
})

function toLookUpCheck(one: LookUp | Refusal, subject: Subject, asking: Asking, areValues = false): Check {
  const { nowMs } = asking
  const query = 'reason' in one ? one : { ...one, startMs: nowMs - dayMs, endMs: nowMs }
  const answer = 'reason' in query ? query : () => askSql(query, asking, areValues ? 'number' : undefined)
  return { key: JSON.stringify([one, areValues]), subject, answer }
}

/** `shape` is that of the answer that an alert compares. */
async function askSql(query: SqlQuery, { api, service }: Asking, shape: SqlShape | undefined): Promise<CheckAnswer> {
  try {
    const answer = await api.runSql(service, query)
    const queryError = `it took longer than ${maxQueryMs / 1000} s, the limit of the server`
    if (answer.kind === 'too-slow' && shape !== undefined) return { reason: queryError, queryError }
    // Every answer without all of its rows has run.
    if (answer.kind !== 'rows' && answer.kind !== 'too-large') return toRefusal(answer)
    const never = shape && answer.columns.length > 0 ? whyNeverEvaluated(answer.columns, shape) : undefined
    if (never !== undefined) return { reason: never, never }
    return { value: answer.kind === 'rows' && shape === 'number' ? valueOfNumber(answer) : undefined }
  } catch (thrown) {
    const failure = toFailure(thrown)
    if (failure.kind === 'authentication' || failure.kind === 'permission' || failure.kind === 'canceled') throw failure
    return { reason: causeOf(failure) }
  }
}

/** What it means that a query has no answer. What no alert compares needs no number. */
function explainRefusal({ name, location, alert, explain }: Subject, { reason, queryError, never }: Refusal, part = 'query') {
  if (never !== undefined) return alert === undefined ? [] : [refuseNeverEvaluated(alert, never)]
  if (queryError !== undefined && !isTemporary(queryError)) return explain(queryError)
  return [toNote(location, `${name}: its ${part} was not run: ${queryError ?? reason}`)]
}

interface ChangedAlert {
  readonly change: Change
  readonly next: BacktestQuery | Refusal
  /** What runs its query where there are no values, or looks up its columns. */
  readonly checks: readonly Check[]
  /** Whether the server still has another source. */
  readonly isOnChanged: boolean
}

/**
 * Alerts in the order of the plan, those that no file declares last; after an apply, those on changed sources. Queries of SLOs have a check
 * of their own, which sees no rows.
 */
async function changedAlerts(asking: Asking): Promise<readonly ChangedAlert[]> {
  const { planned, changedSources, api, nowMs, isApplied } = asking
  const known = new Set(changesOf(planned.plan.changes, 'alert').map(({ id }) => id))
  const others = planned.storedObjects.alert.flatMap((alert): readonly Change[] =>
    known.has(alert.id) || changedSources.size === 0 ? [] : [toChange(alert, asking)],
  )
  const plan = { ...planned.plan, changes: [...planned.plan.changes, ...others] }
  const compared = await compareAlerts({ ...planned, plan }, api, { fromMs: nowMs, untilMs: nowMs }, false)
  return compared.flatMap((one) => {
    const { change, next, watched } = one
    if (next === undefined || isHeld(change)) return []
    const probe = probeWatched(watched.next, change, asking)
    const isOnChanged = sourceIdsOf(probe).some((id) => changedSources.has(id))
    if (!isOnChanged && (isApplied || !hasOtherQuery(one, asking))) return []
    if (isOfSlo(change)) return isOnChanged ? [] : [{ change, next, isOnChanged, checks: [] }]
    // The sources are the same in all checks of a run, and can be many.
    const key = JSON.stringify({ ...(watched.next ?? { id: change.id ?? change.key }), sources: undefined })
    return [{ change, next, isOnChanged, checks: toChecks(probe, subjectOfAlert(change), key, asking) }]
  })
}

/** More days for an alert with few windows in one. The last window is the last one that is over. */
function rangeBefore(nowMs: number, interval: AlertInterval) {
  const lengthMs = intervalMs[interval]
  const untilMs = Math.floor(nowMs / lengthMs) * lengthMs
  return { fromMs: untilMs - (lengthMs >= dayMs / 4 ? 7 : 1) * dayMs, untilMs }
}

/** The values of alerts, and what they prove. `unknown` are those whose values nothing gives, `late` those that were not asked for. */
async function gatherEvidence(alerts: readonly ChangedAlert[], asking: Asking) {
  const found = new Map<Change, { readonly problems: readonly Diagnostic[]; readonly judgement: Judgement | undefined }>()
  const [late, unknown] = [new Set<Change>(), new Set(alerts.map(({ change }) => change))]
  const reasons = new Set(alerts.flatMap(({ next }) => ('reason' in next ? next.reason : [])))
  const conclude = (change: Change, query: BacktestQuery, refusal: Refusal) => {
    const { reason, queryError, never, isLate, bounds } = refusal
    if (isLate) {
      late.add(change)
      return []
    }
    if (queryError !== undefined || never !== undefined || 'series' in query) return explainRefusal(subjectOfAlert(change), refusal)
    // A query that takes too long for many windows may run in one.
    unknown.add(change)
    // A line is compared only where its rows begin with a window, so that its values are right, and it only reads too much.
    const severity = bounds === 'open' && query.sql.shape === 'number' ? 'warning' : 'note'
    return bounds === undefined ? [] : toFindings(change, { fact: '', findings: [{ severity, message: reason }] })
  }
  // Raw SQL can be slow, and is last.
  for (const kind of ['series', 'sql']) {
    const ofKind = alerts.flatMap(({ change, next, isOnChanged }) =>
      isOnChanged || !(kind in next) || 'reason' in next ? [] : [{ change, next }],
    )
    await Promise.all(
      [...Map.groupBy(ofKind, ({ next }) => next.condition.interval)].map(async ([interval, asked]) => {
        const range = rangeBefore(asking.nowMs, interval)
        const queries = asked.map(({ next }) => next)
        const { estimates } = await estimateAlerts(queries, range, asking.options)
        const estimated = queries.map((query, i) => [query, estimates[i]] as const)
        const judged = await judgeEstimates(estimated, range, { ...asking, sources: asking.planned.storedObjects.source })
        for (const [i, { change, next }] of asked.entries()) {
          const estimate = estimates[i]
          unknown.delete(change)
          const problems = estimate?.verdict === 'not-estimable' ? conclude(change, next, estimate) : []
          found.set(change, { problems, judgement: judged[i] })
          const isOpen = late.has(change) || unknown.has(change) || problems.some(({ severity }) => severity === 'note')
          if (!isOpen) asking.answered.add(change)
          else if (estimate?.verdict === 'not-estimable') reasons.add(estimate.reason)
        }
      }),
    )
  }
  const reportedMakers = new Set<string>()
  const diagnostics = alerts.flatMap(({ change }) => {
    const { problems = [], judgement } = found.get(change) ?? {}
    // The alerts of an SLO count the same events.
    const maker = isOfSlo(change) ? makerOf(change) : ''
    const findings = reportedMakers.has(maker) ? [] : toFindings(change, judgement)
    if (maker !== '' && findings.length > 0) reportedMakers.add(maker)
    return [...problems, ...findings]
  })
  const facts = alerts.flatMap(({ change }) => toFacts(change, found.get(change)?.judgement?.fact))
  return { facts, diagnostics, late, unknown, reasons }
}

const toFacts = ({ key, name }: Change, fact: string | undefined) => (fact === undefined ? [] : [{ key, name, fact }])

const subjectOfAlert = (change: Change): Subject => ({
  name: nameOfAlert(change),
  location: change.location ?? { file: 'alerts' },
  alert: change,
  interval: intervalOf(change),
  explain: (error) => (isOfSlo(change) ? [] : [warnFailing(change, error)]),
})

function hasOtherQuery({ change, isChanged, now, next, watched }: BacktestComparison, asking: Asking) {
  const isComparable = now !== undefined && next !== undefined && !('reason' in now) && !('reason' in next)
  if (isComparable || now === undefined) return isChanged
  const [before, after] = [watched.now, watched.next].map((one) => JSON.stringify(probeWatched(one, change, asking)))
  return before !== after
}

const intervalOf = ({ desired }: Change) => alertIntervals.find((one) => one === desired?.interval) ?? '1h'

const probeWatched = (watched: Watched | undefined, change: Change, { planned }: Asking) =>
  watched === undefined
    ? { reason: 'the API does not show what the alert watches' }
    : toProbe(watched, { interval: intervalOf(change), sources: planned.storedObjects.source, alert: { groupBy: change.desired?.groupBy } })

const isOfSlo = (change: Change) => makerOf(change).startsWith('slos.')

const toChange = (stored: StoredObject, { planned }: Asking): Change => ({
  kind: 'alert',
  key: '',
  name: storedLabelOf(stored),
  action: 'unchanged',
  id: stored.id,
  notes: [],
  fields: [],
  stored,
  desired: planned.kinds.alert.toBody(stored),
})

function sourceIdsOf(probe: Probe | Refusal | undefined) {
  if (probe === undefined || 'reason' in probe) return []
  const { sql, series, columns } = probe
  return [...(series ?? []), ...columns, ...(sql ? [sql] : [])].flatMap(({ sourceId }) => sourceId ?? [])
}

function toChecks(probe: Probe | Refusal | undefined, subject: Subject, key: string, asking: Asking): readonly Check[] {
  if (probe === undefined) return []
  if ('reason' in probe) return [{ key, subject, answer: probe }]
  const { sql, series, columns, left } = probe
  const sources = asking.planned.storedObjects.source
  return [
    ...(sql === undefined ? [] : [toSqlCheck(sql, subject, asking)]),
    ...(series === undefined ? [] : toSeriesChecks(series, subject, asking)),
    ...columns.map((one) => toLookUpCheck(lookUpColumns(one, sources), subject, asking, one.areValues)),
    ...left.map(([part]) => ({ key: `${key} ${part}`, subject, answer: { reason: 'values of charts have none' }, part })),
  ]
}

function toSqlCheck({ text, template, connectionId, shape }: SingleQuery, subject: Subject, asking: Asking): Check {
  const { fromMs, untilMs } = lastWindow(subject, asking)
  const query = { sql: text, connectionId, startMs: fromMs, endMs: untilMs }
  return { key: JSON.stringify([template, connectionId]), subject, answer: () => askSql(query, asking, shape), isOfValues: true }
}

/** Charts of the server use its stored sources, and ClickHouse Cloud has no charts. */
function toSeriesChecks(series: readonly SeriesItem[], subject: Subject, asking: Asking): readonly Check[] {
  const { changedSources, isApplied, profile, planned, readRows } = asking
  const lookUps = () => lookUpSeries(series, planned.storedObjects.source).map((one) => toLookUpCheck(one, subject, asking))
  const key = JSON.stringify(series)
  if (!isApplied && profile.isSelfHosted && series.some(({ sourceId }) => changedSources.has(sourceId))) return lookUps()
  const isCounted = series.every(({ aggFn, where, whereLanguage }) => aggFn === 'count' && (whereLanguage === 'sql' || where.trim() === ''))
  if (!profile.isSelfHosted && !isCounted)
    return [
      ...lookUps(),
      { key, subject, answer: { reason: 'ClickHouse Cloud has no values of charts, so only its columns were looked up' } },
    ]
  const answer = async (): Promise<CheckAnswer> => {
    const read = await readRows(series, subject.interval ?? '1h', lastWindow(subject, asking))
    return 'reason' in read ? read : {}
  }
  return [{ key, subject, answer, isOfValues: true }]
}

function lastWindow({ interval = '1h' }: Subject, { nowMs }: Asking) {
  const { untilMs } = rangeBefore(nowMs, interval)
  return { fromMs: untilMs - intervalMs[interval], untilMs }
}

const writtenOf = ({ planned }: Asking, kind: 'dashboard' | 'savedSearch') =>
  changesOf(planned.plan.changes, kind).flatMap((change) => {
    const body = isPlanned(change) && isDifference(change) ? desiredBody(change, planned.kinds[kind]) : undefined
    return body === undefined ? [] : [{ change, body }]
  })

const tileChecks = (asking: Asking): readonly Check[] =>
  writtenOf(asking, 'dashboard').flatMap(({ change, body: { tiles, filters } }) => {
    if (isOfSlo(change)) return []
    const { source: sources } = asking.planned.storedObjects
    const probeOf = (tile: Body, of: unknown) => toProbe({ tile: withoutVariables(tile, of) }, { interval: '1h', sources })
    const storedProbes = new Set(listOf(change.stored?.tiles).map((tile) => JSON.stringify(probeOf(tile, change.stored?.filters))))
    return listOf(tiles).flatMap((tile, i) => {
      const probe = probeOf(tile, filters)
      if (storedProbes.has(JSON.stringify(probe))) return []
      return toChecks(probe, subjectOfTile(change, i, asking), JSON.stringify({ tile }), asking)
    })
  })

function subjectOfTile(change: Change, index: number, { planned }: Asking): Subject {
  const declared = declaredBy(change, planned.found.objects)
  const path = ['tiles', index]
  const location = declared?.locationOf(path) ?? change.location ?? { file: 'dashboards' }
  return toShown(declared?.pathOf(path) ?? addressOf(change), location)
}

const toShown = (name: string, location: Location): Subject =>
  toSubject(name, location, (error) => `it would show an error, because the server cannot run its query: ${withoutQuery(error)}`)

const searchChecks = (asking: Asking): readonly Check[] =>
  writtenOf(asking, 'savedSearch').flatMap(({ change, body }) => {
    const { source: sources } = asking.planned.storedObjects
    const probeOf = (savedSearch: Body): Probe | Refusal | undefined => {
      const probe = toProbe({ savedSearch, source: getById(sources, savedSearch.sourceId) }, { interval: '1h', sources })
      return probe === undefined || 'reason' in probe ? probe : { ...probe, columns: columnsOfSearch(savedSearch) }
    }
    const probe = probeOf(body)
    if (change.stored !== undefined && JSON.stringify(probeOf(change.stored)) === JSON.stringify(probe)) return []
    const subject = toShown(addressOf(change), change.location ?? { file: 'saved searches' })
    return toChecks(probe, subject, JSON.stringify(body), asking)
  })

/** The requests of apply in this window of the rate limit, if it reads again what the plan has read. */
function requestsOfApply({ api }: ReviewContext, changes: readonly Change[]) {
  const quota = api.rateLimit()
  return quota === undefined ? 0 : quota.limit - quota.remaining + countRequests(changes)
}

/** `unrun` are the queries that were not sent, by their keys. */
async function runChecks(checks: readonly Check[], asking: Asking) {
  const answers = new Map<string, CheckAnswer>()
  const unrun = new Map<string, Subject>()
  await forEachConcurrently(
    [...Map.groupBy(checks, ({ key }) => key).values()].flatMap(([first]) => first ?? []),
    () => maxConcurrent,
    async ({ key, answer, subject }) => {
      if (typeof answer !== 'function') answers.set(key, answer)
      else if (asking.isLate()) unrun.set(key, subject)
      else answers.set(key, await answer())
    },
  )
  const noted = new Set<string>()
  const diagnostics = checks.flatMap(({ key, subject, part }) => {
    const answer = answers.get(key) ?? {}
    const found = 'reason' in answer ? explainRefusal(subject, answer, part) : []
    // Where a look-up failed, it does not matter that the cloud has look-ups only.
    const what = `${subject.name} ${part}`
    if (found.every(({ severity }) => severity !== 'note')) {
      if (subject.alert && answers.has(key)) asking.answered.add(subject.alert)
      return found
    }
    return noted.has(what) ? [] : noted.add(what) && found
  })
  const facts = checks.flatMap(({ key, subject: { alert } }) => {
    const answer = answers.get(key)
    if (alert === undefined || answer === undefined || !('value' in answer) || answer.value === undefined) return []
    return toFacts(alert, `now ${showNumber(answer.value)}; its past is unknown`)
  })
  return { diagnostics, unrun, facts }
}

/** More than three alerts without rows are one note, because rare rows are healthy. */
function foldQuiet(diagnostics: readonly Diagnostic[]) {
  const quiet = diagnostics.filter(({ rule }) => rule === ('quiet-alert' satisfies keyof typeof evaluationRules))
  const [first] = quiet
  if (first === undefined || quiet.length <= 3) return diagnostics
  const names = [...new Set(quiet.map(({ message }) => message.slice(0, message.indexOf(': '))))]
  const message = `${names.length} alerts have seen no row in 7 days, which is right if such rows are rare: ${namesAtMost(5, names)}`
  return [...diagnostics.filter((one) => !quiet.includes(one)), { ...first, message }]
}

const withoutRepeats = (diagnostics: readonly Diagnostic[]) => [...new Map(diagnostics.map((one) => [one.message, one])).values()]

export const toNote = (location: Location, message: string): Diagnostic =>
  diagnosticOf(evaluationRules, 'unchecked-query', location, message)

/** A plan does not depend on its queries. Throws what the server did not answer. */
export function explainUnchecked(what: 'alerts' | 'SLOs', thrown: unknown): readonly Diagnostic[] {
  const failure = toFailure(thrown)
  if (!(failure instanceof ApiError) && failure.kind !== 'not-served') throw failure
  return [toNote({ file: what }, `The queries of ${what} were not run: ${causeOf(failure)}`)]
}
