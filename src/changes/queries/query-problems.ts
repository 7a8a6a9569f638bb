// What is stored as declared can still fail: an alert whose query the server cannot run never fires. Only running the query shows it.

import { type AlertInterval, alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import { type PendingId, replacePending } from '../../kinds/directory.ts'
import { type Body, listOf, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { sourceSchema } from '../../kinds/source/source-wire.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import { maxQueryMs, type SqlQuery } from '../../platform/api/sql.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import { type Diagnostic, diagnosticOf, type Location } from '../../platform/core/diagnostics.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { causeOf, toFailure } from '../../platform/core/errors.ts'
import { getById } from '../../platform/core/keys.ts'
import { firstOf } from '../../platform/core/text.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { type Estimates, estimateAlerts, type ReadSeries } from '../../signals/backtest/estimate.ts'
import type { TimeRange } from '../../signals/backtest/evaluate.ts'
import { judgeEstimates } from '../../signals/backtest/evidence.ts'
import { type Judgement, showNumber } from '../../signals/backtest/judge.ts'
import { columnsOfSearch, type Probe, type SingleQuery, toProbe } from '../../signals/backtest/probe.ts'
import type { BacktestQuery, Watched } from '../../signals/backtest/query.ts'
import type { Refusal } from '../../signals/backtest/read-rows.ts'
import { toRefusal, valueOfNumber, whyNeverEvaluated } from '../../signals/backtest/read-windows.ts'
import { maxSeries } from '../../signals/backtest/series-api.ts'
import { shareRequests } from '../../signals/backtest/share.ts'
import { withoutVariables } from '../../signals/backtest/variables.ts'
import type { SqlShape } from '../../signals/backtest/window-sql.ts'
import { type Change, changesOf, countRequests, type Delete, declaredBy, isDelete, isDifference, isHeld } from '../../sync/decide/change.ts'
import type { PlanningResult } from '../../sync/plan/make-plan.ts'
import type { Outcome } from '../../sync/plan/outcome.ts'
import type { StoredObjects } from '../../sync/plan/stored-objects.ts'
import { compareAlerts, desiredBody, seriesReader, whyNoBacktest } from '../backtest/backtest-plan.ts'
import {
  evaluationRules,
  isTemporary,
  nameOfAlert,
  refuseNeverEvaluated,
  toFindings,
  warnFailing,
  withoutQuery,
  withRemedy,
} from '../plan/evaluations.ts'
import { type LookUp, lookUpColumns, lookUpSeries, lookUpSource } from './source-columns.ts'

/** A plan waits no longer for the queries of what it changes. */
const budgetMs = 60_000

/** Windows of raw SQL that are asked for, spread over a day. */
const maxSqlWindows = 49

/** A query of ClickHouse has room for more series than a request for values of charts. */
const maxSeriesInSql = 20

const maxConcurrent = 4

type QueryContext = Pick<Context<'read', 'service-or-server'>, 'api' | 'service' | 'profile' | 'clock' | 'files'>

/** A plan with the sources as they are after it, and access to its server. */
interface Asking extends QueryContext {
  readonly planned: PlanningResult & { readonly storedObjects: StoredObjects }
  readonly kinds: Kinds
  readonly changedSources: ReadonlyMap<string, Exclude<Change, Delete>>
  /** Whether the server has the changed sources already. */
  readonly isApplied: boolean
  readonly readSeries: ReadSeries
  readonly readRows: Estimates['readRows']
  readonly nowMs: number
  /** The requests of the rate limit that must be left. */
  reserved: number
  /** Whether there is no time, or no request, left. */
  isLate(): boolean
}

/** What the server says, or why it was not asked. */
interface QueryOutcome {
  /** The words of the server, if it cannot run the query. */
  readonly error?: string | undefined
  /** Why the query was not run, or a part of it. */
  readonly unrun?: string
  readonly part?: string
  /** Why the server would never evaluate the alert. */
  readonly never?: string | undefined
  /** The value of a number tile in the last window. */
  readonly value?: number | undefined
}

/** What diagnostics on a query are about. */
interface Subject {
  readonly name: string
  readonly location: Location
  readonly explain: (error: string) => Diagnostic
}

/** Something that at most one query checks. */
interface Check {
  /** Checks with the same key ask once. */
  readonly key: string
  /** A function asks the server. */
  readonly outcome: QueryOutcome | (() => Promise<QueryOutcome>)
  readonly subject: Subject
  /** The alert that the query is of. */
  readonly alert?: Change | undefined
  /** Whether the values of the alert show the same. */
  readonly isOfValues?: true
}

/** An alert that the plan creates or changes, and what its values say. */
export interface AlertFact {
  readonly key: string
  readonly name: string
  readonly fact: string
}

interface QueryReview {
  readonly diagnostics: readonly Diagnostic[]
  /** The alerts whose query the plan creates or changes, and those whose query was run. */
  readonly alertCount: number
  readonly checkedCount: number
  readonly facts: readonly AlertFact[]
}

/**
 * Looks up what changed sources name, asks for the values of each alert that the plan creates or changes, and then runs the queries of changed
 * tiles and saved searches. An alert whose values charts cannot have is only run. What cannot be run has a note. The server runs queries on
 * the sources as they are stored: of alerts and tiles on a changed one, the columns are looked up. `tested` are the keys of the alerts whose
 * queries a backtest has run.
 */
export async function findQueryProblems(context: QueryContext, planned: PlanningResult, tested: ReadonlySet<string>): Promise<QueryReview> {
  const { plan, storedObjects } = planned
  const nothing = { diagnostics: [], alertCount: 0, checkedCount: 0, facts: [] }
  if (storedObjects === undefined) return nothing
  const asking = await openQueries(context, { ...planned, storedObjects }, { isApplied: false, idOf: (key) => `sources.${key}` })
  const alerts = await changedAlerts(asking, false)
  const ofAlerts = alerts.flatMap(({ checks }) => checks)
  const keys = new Set(ofAlerts.map(({ key }) => key))
  const others = [...tileChecks(asking), ...searchChecks(asking)].filter(({ key }) => !keys.has(key))
  const untested = alerts.filter(({ change }) => !tested.has(change.key))
  const refusal = await whyNotRun(context)
  if (refusal !== undefined)
    return { ...nothing, diagnostics: noteAll([...sourceChecks(asking), ...untested.flatMap(({ checks }) => checks), ...others], refusal) }
  const found: Diagnostic[] = []
  try {
    const ofSources = await runChecks(sourceChecks(asking), asking)
    found.push(...ofSources.diagnostics)
    const evidence = await gatherEvidence(untested, asking)
    const rest = untested.flatMap(({ change, checks }) => checks.filter(({ isOfValues }) => !isOfValues || evidence.unknown.has(change)))
    const asked = await runChecks(rest, asking)
    const diagnostics = withoutRepeats(foldQuiet([...evidence.diagnostics, ...asked.diagnostics]))
    found.push(...diagnostics)
    const lateAlerts = alerts.filter(({ change, checks }) => evidence.late.has(change) || checks.some(({ key }) => asked.unrun.has(key)))
    asking.reserved = requestsOfApply(context, plan.changes)
    const ofOthers = await runChecks(others, asking)
    return {
      diagnostics: [...found, ...ofOthers.diagnostics, ...describeUnrun(lateAlerts.length + ofSources.unrun.size + ofOthers.unrun.size)],
      alertCount: alerts.length,
      checkedCount: alerts.length - lateAlerts.length,
      facts: [...evidence.facts, ...asked.facts],
    }
  } catch (thrown) {
    return { ...nothing, alertCount: alerts.length, diagnostics: [...found, ...explainUnchecked('alerts', thrown)] }
  }
}

/** Why no query of these files is run; undefined where they are. */
async function whyNotRun({ api, files }: QueryContext): Promise<string | undefined> {
  if (!api.hasSql) return 'set sql-key-id and sql-key-secret to see whether the service can run them'
  return whyNoBacktest({ files })
}

function noteAll(checks: readonly Check[], reason: string): readonly Diagnostic[] {
  const [first] = checks
  if (first === undefined) return []
  const names = firstOf(5, [...new Set(checks.map(({ subject }) => subject.name))])
  return [toNote(first.subject.location, `The queries of what the plan changes were not run (${names}): ${reason}`)]
}

/** Runs the queries of all alerts on the sources that a run has written. */
export async function findBrokenAlerts(
  context: QueryContext,
  planned: PlanningResult,
  outcomes: readonly Outcome[],
): Promise<readonly Diagnostic[]> {
  const { storedObjects } = planned
  if (storedObjects === undefined || (await whyNotRun(context)) !== undefined) return []
  const idOf = (key: string): string => outcomes.find(({ change }) => change.kind === 'source' && change.key === key)?.id ?? ''
  const asking = await openQueries(context, { ...planned, storedObjects }, { isApplied: true, idOf })
  try {
    const { diagnostics, unrun } = await runChecks(
      (await changedAlerts(asking, true)).flatMap(({ checks }) => checks),
      asking,
    )
    return [...diagnostics, ...describeUnrun(unrun.size)]
  } catch (thrown) {
    return explainUnchecked('alerts', thrown)
  }
}

/** `idOf` gives the id of a source that the plan creates, by its key. */
async function openQueries(
  context: QueryContext,
  { storedObjects, plan, kinds, ...rest }: PlanningResult & { readonly storedObjects: StoredObjects },
  { isApplied, idOf }: Pick<Asking, 'isApplied'> & { readonly idOf: (key: string) => string },
): Promise<Asking> {
  const nowMs = context.clock.now()
  const changedSources = new Map(
    changesOf(plan, 'source').flatMap((change) =>
      isDifference(change) && !isDelete(change) ? [[change.id ?? idOf(change.key), change] as const] : [],
    ),
  )
  const written = [...changedSources].map(([id, change]) => sourceSchema.parse({ ...desiredBody(change, kinds.source), id }))
  const sources = [...storedObjects.source.filter(({ id }) => !changedSources.has(id)), ...written]
  const withId = (pending: PendingId): unknown => (pending.kind === 'source' ? idOf(pending.key) : pending)
  const changes = plan.changes.map((change) =>
    changedSources.size === 0 || change.desired === undefined ? change : { ...change, desired: replacePending(change.desired, withId) },
  )
  const after = { ...storedObjects, source: sources }
  const { api, profile } = context
  const startMs = api.remainingMs()
  const leftMs = (): number => Math.min(api.remainingMs(), budgetMs - (startMs - api.remainingMs()))
  const asking = { reserved: 0 }
  const isLate = (): boolean => leftMs() <= 0 || (profile.isSelfHosted && (api.rateLimit()?.remaining ?? 1) < 1 + asking.reserved)
  const readSeries = shareRequests(await seriesReader(context, after), {
    maxItems: profile.isSelfHosted ? maxSeries : maxSeriesInSql,
    hasOneSource: !profile.isSelfHosted,
    refuse: () => (isLate() ? { reason: 'there was no time, or no request, left', isLate: true } : undefined),
  })
  const limited = { ...context, api: { ...api, remainingMs: leftMs } }
  const { readRows } = await estimateAlerts([], toOptions({ ...limited, readSeries }, { fromMs: nowMs, untilMs: nowMs }))
  const planned = { ...rest, kinds, storedObjects: after, plan: { ...plan, changes } }
  return Object.assign(asking, { ...limited, planned, kinds, changedSources, isApplied, readSeries, readRows, nowMs, isLate })
}

const toOptions = ({ api, service, readSeries }: QueryContext & Pick<Asking, 'readSeries'>, range: TimeRange) => ({
  ...{ api, service, readSeries, range, isShared: true as const, maxSqlWindows },
  maxRequests: Number.MAX_SAFE_INTEGER,
  onProgress: async () => {},
})

const sourceChecks = (asking: Asking): readonly Check[] =>
  asking.planned.storedObjects.source.flatMap((source) => {
    const change = asking.changedSources.get(source.id)
    if (change === undefined) return []
    const name = addressOf(change)
    const location = change.location ?? { file: 'sources' }
    const explain = (error: string): Diagnostic =>
      diagnosticOf(
        evaluationRules,
        'failing-query',
        location,
        `${name}: the server cannot read what it names: ${withRemedy(error, 'Correct its table or its expressions')}`,
      )
    return lookUpSource(source).map((one) => toLookUpCheck(one, { name, location, explain }, asking))
  })

function toLookUpCheck(one: LookUp | Refusal, subject: Subject, asking: Asking, areValues = false): Check {
  const key = JSON.stringify([one, areValues])
  if ('reason' in one) return { key, subject, outcome: { unrun: one.reason } }
  const { nowMs } = asking
  const outcome = () => askSql({ ...one, startMs: nowMs - dayMs, endMs: nowMs }, asking, areValues ? 'number' : undefined)
  return { key, subject, outcome }
}

/** Runs one query. `shape` is that of the answer that an alert compares. */
async function askSql(query: SqlQuery, { api, service }: Asking, shape: SqlShape | undefined): Promise<QueryOutcome> {
  try {
    const answer = await api.runSql(service, query)
    // Every answer without all of its rows has run.
    if (answer.kind === 'rows' || answer.kind === 'too-large') {
      const never = shape && answer.columns.length > 0 ? whyNeverEvaluated(answer.columns, shape) : undefined
      return { never, value: answer.kind === 'rows' && shape === 'number' && never === undefined ? valueOfNumber(answer) : undefined }
    }
    if (answer.kind === 'too-slow' && shape !== undefined)
      return { error: `it took longer than ${maxQueryMs / 1000} s, the limit of the server` }
    return toOutcome(toRefusal(answer))
  } catch (thrown) {
    const failure = toFailure(thrown)
    if (failure.kind === 'authentication' || failure.kind === 'permission' || failure.kind === 'canceled') throw failure
    return { unrun: causeOf(failure) }
  }
}

const toOutcome = ({ reason, queryError }: Refusal): QueryOutcome =>
  queryError === undefined ? { unrun: reason } : isTemporary(queryError) ? { unrun: queryError } : { error: queryError }

type ComparedAlert = Awaited<ReturnType<typeof compareAlerts>>[number]

/** An alert whose query, or whose source, the plan changes. */
interface ChangedAlert extends Pick<ComparedAlert, 'change' | 'next'> {
  /** What runs its query where there are no values, or looks up its columns. */
  readonly checks: readonly Check[]
  /** Whether the server still has another source. */
  readonly isOnChanged: boolean
}

/** Alerts in the order of the plan, those that no file declares last. Queries of SLOs have a check of their own, which sees no rows. */
async function changedAlerts(asking: Asking, isOnlyOnChanged: boolean): Promise<readonly ChangedAlert[]> {
  const { planned, changedSources, profile, nowMs } = asking
  const { changes } = planned.plan
  const known = new Set(changesOf(planned.plan, 'alert').map(({ id }) => id))
  const others = planned.storedObjects.alert.flatMap((alert): readonly Change[] =>
    known.has(alert.id) || changedSources.size === 0 ? [] : [toChange(alert, asking)],
  )
  const plan = { ...planned.plan, changes: [...changes, ...others] }
  const compared = await compareAlerts({ ...planned, plan }, { profile, isExact: false }, { fromMs: nowMs, untilMs: nowMs })
  return compared.flatMap((one) => {
    const { change, next, watched } = one
    if (next === undefined || isHeld(change)) return []
    const probe = probeWatched(watched.next, change, asking)
    const isOnChanged = sourceIdsOf(probe).some((id) => changedSources.has(id))
    if (!isOnChanged && (isOnlyOnChanged || !hasOtherQuery(one, asking))) return []
    const about = {
      subject: subjectOfAlert(change),
      interval: intervalOf(change),
      // The sources are the same in all checks of a run, and can be many.
      key: JSON.stringify({ ...(watched.next ?? { id: change.id ?? change.key }), sources: undefined }),
    }
    const checks = isOfSlo(change) ? [] : toChecks(probe, about, asking).map((check) => ({ ...check, alert: change }))
    return isOfSlo(change) && isOnChanged ? [] : [{ change, next, isOnChanged, checks }]
  })
}

/** The days before a plan whose values it shows: more for an alert with few windows in one. The last window is the last one that is over. */
function rangeBefore(nowMs: number, interval: AlertInterval): TimeRange {
  const lengthMs = intervalMs[interval]
  const untilMs = Math.floor(nowMs / lengthMs) * lengthMs
  return { fromMs: untilMs - (lengthMs >= dayMs / 4 ? 7 : 1) * dayMs, untilMs }
}

/** The values of alerts, and what they prove. `unknown` are those whose values nothing gives, and `late` those that were not asked for. */
async function gatherEvidence(alerts: readonly ChangedAlert[], asking: Asking) {
  const found = new Map<Change, { readonly problems: readonly Diagnostic[]; readonly judgement: Judgement | undefined }>()
  const [late, unknown] = [new Set<Change>(), new Set<Change>()]
  const askable = alerts.flatMap(({ change, next, isOnChanged }) => {
    if (!isOnChanged && next !== undefined && !('reason' in next)) return [{ change, next }]
    unknown.add(change)
    return []
  })
  const conclude = (change: Change, query: BacktestQuery, refusal: Refusal): readonly Diagnostic[] => {
    const { reason, queryError, never, isLate, bounds } = refusal
    if (isLate) late.add(change)
    // A query that takes too long for many windows may run in one.
    else if ('sql' in query && queryError === undefined && never === undefined) {
      unknown.add(change)
      // A line is compared only where its rows begin with a window, so that its values are right, and it only reads too much.
      const severity = bounds === 'open' && query.sql.shape === 'number' ? 'warning' : 'note'
      return bounds === undefined ? [] : toFindings(change, { fact: '', findings: [{ severity, message: reason }] })
    } else if (never !== undefined) return [refuseNeverEvaluated(change, never)]
    else if (queryError === undefined || isTemporary(queryError))
      return [toNote(subjectOfAlert(change).location, `${nameOfAlert(change)}: its query was not run: ${queryError ?? reason}`)]
    else if (!isOfSlo(change)) return [warnFailing(change, queryError)]
    return []
  }
  // Raw SQL can be slow, and is last.
  for (const isSql of [false, true])
    await Promise.all(
      [
        ...Map.groupBy(
          askable.filter(({ next }) => 'sql' in next === isSql),
          ({ next }) => next.condition.interval,
        ),
      ].map(async ([interval, asked]) => {
        const range = rangeBefore(asking.nowMs, interval)
        const queries = asked.map(({ next }) => next)
        const { estimates } = await estimateAlerts(queries, toOptions(asking, range))
        const estimated = queries.map((query, i) => [query, estimates[i]] as const)
        const judged = await judgeEstimates(estimated, range, { ...asking, sources: asking.planned.storedObjects.source })
        for (const [i, { change, next }] of asked.entries()) {
          const estimate = estimates[i]
          found.set(change, {
            problems: estimate?.verdict === 'not-estimable' ? conclude(change, next, estimate) : [],
            judgement: judged[i],
          })
        }
      }),
    )
  const reportedMakers = new Set<string>()
  const diagnostics = alerts.flatMap(({ change }) => {
    const { problems = [], judgement } = found.get(change) ?? {}
    // The alerts of an SLO count the same events.
    const maker = isOfSlo(change) ? (makerOf(change) ?? '') : ''
    const findings = reportedMakers.has(maker) ? [] : toFindings(change, judgement)
    if (maker !== '' && findings.length > 0) reportedMakers.add(maker)
    return [...problems, ...findings]
  })
  const facts = alerts.flatMap(({ change: { key, name }, change }): readonly AlertFact[] => {
    const fact = found.get(change)?.judgement?.fact
    return fact === undefined ? [] : [{ key, name, fact }]
  })
  return { facts, diagnostics, late, unknown }
}

const subjectOfAlert = (change: Change): Subject => ({
  name: nameOfAlert(change),
  location: change.location ?? { file: 'alerts' },
  explain: (error) => warnFailing(change, error),
})

/** Whether the plan changes what the server runs for an alert. */
function hasOtherQuery({ change, isChanged, now, next, watched }: ComparedAlert, asking: Asking): boolean {
  const isComparable = now !== undefined && next !== undefined && !('reason' in now) && !('reason' in next)
  if (isComparable || now === undefined) return isChanged
  const [before, after] = [watched.now, watched.next].map((one) => JSON.stringify(probeWatched(one, change, asking)))
  return before !== after
}

const intervalOf = ({ desired }: Change): AlertInterval => alertIntervals.find((one) => one === desired?.interval) ?? '1h'

const probeWatched = (watched: Watched | undefined, change: Change, { planned }: Asking) =>
  watched === undefined
    ? { reason: 'the API does not show what the alert watches' }
    : toProbe(watched, { interval: intervalOf(change), sources: planned.storedObjects.source, alert: { groupBy: change.desired?.groupBy } })

const makerOf = (change: Change): string | undefined => ('madeFrom' in change ? change.madeFrom : undefined)

const isOfSlo = (change: Change): boolean => makerOf(change)?.startsWith('slos.') ?? false

const toChange = (stored: StoredObject, { kinds }: Asking): Change => ({
  kind: 'alert',
  key: '',
  name: storedLabelOf(stored),
  action: 'unchanged',
  id: stored.id,
  notes: [],
  fields: [],
  stored,
  desired: kinds.alert.toBody(stored),
})

function sourceIdsOf(probe: Probe | Refusal | undefined): readonly string[] {
  if (probe === undefined || 'reason' in probe) return []
  const { sql, series, columns } = probe
  return [...(series?.series ?? []), ...columns, ...(sql === undefined ? [] : [sql])].flatMap(({ sourceId }) => sourceId ?? [])
}

interface About {
  readonly subject: Subject
  readonly interval: AlertInterval
  /** Differs for everything that can have another reason for no query. */
  readonly key: string
}

/** Undefined is what has no query. */
function toChecks(probe: Probe | Refusal | undefined, { subject, interval, key }: About, asking: Asking): readonly Check[] {
  if (probe === undefined) return []
  if ('reason' in probe) return [{ key, subject, outcome: toOutcome(probe) }]
  const { sql, series, columns, left } = probe
  const { storedObjects } = asking.planned
  return [
    ...(sql === undefined ? [] : [toSqlCheck(sql, { subject, interval }, asking)]),
    ...(series === undefined ? [] : toSeriesChecks(series, { subject, interval }, asking)),
    ...columns.map((one) => toLookUpCheck(lookUpColumns(one, storedObjects.source), subject, asking, one.areValues)),
    ...left.map(([part]) => ({ key: `${key} ${part}`, subject, outcome: { unrun: 'values of charts have none', part } })),
  ]
}

function toSqlCheck(
  { text, template, connectionId, shape }: SingleQuery,
  { subject, interval }: Omit<About, 'key'>,
  asking: Asking,
): Check {
  const { fromMs, untilMs } = lastWindow(interval, asking.nowMs)
  const query = { sql: text, connectionId, startMs: fromMs, endMs: untilMs }
  return { key: JSON.stringify([template, connectionId]), subject, outcome: () => askSql(query, asking, shape), isOfValues: true }
}

/** Charts of the server use its stored sources, and ClickHouse Cloud has no charts. */
function toSeriesChecks(
  { series, comparesLast }: NonNullable<Probe['series']>,
  { subject, interval }: Omit<About, 'key'>,
  asking: Asking,
): readonly Check[] {
  const { changedSources, isApplied, profile, planned, readRows, nowMs } = asking
  const lookUps = () => lookUpSeries(series, planned.storedObjects.source).map((one) => toLookUpCheck(one, subject, asking))
  const key = JSON.stringify(series)
  if (!isApplied && profile.isSelfHosted && series.some(({ sourceId }) => changedSources.has(sourceId))) return lookUps()
  const isCounted = series.every(({ aggFn, where, whereLanguage }) => aggFn === 'count' && (whereLanguage === 'sql' || where.trim() === ''))
  if (!profile.isSelfHosted && !isCounted)
    return [
      ...lookUps(),
      { key, subject, outcome: { unrun: 'ClickHouse Cloud has no values of charts, so only its columns were looked up' } },
    ]
  const outcome = async (): Promise<QueryOutcome> => {
    const query = { series, step: interval, hasTextGroups: true as const, ...(comparesLast !== undefined && { comparesLast }) }
    const read = await readRows(query, lastWindow(interval, nowMs))
    return 'reason' in read ? toOutcome(read) : {}
  }
  return [{ key, subject, outcome, isOfValues: true }]
}

function lastWindow(interval: AlertInterval, nowMs: number): TimeRange {
  const { untilMs } = rangeBefore(nowMs, interval)
  return { fromMs: untilMs - intervalMs[interval], untilMs }
}

/** The tiles whose query the plan creates or changes, without those of SLOs. */
const tileChecks = (asking: Asking): readonly Check[] =>
  changesOf(asking.planned.plan, 'dashboard').flatMap((change) => {
    if (isDelete(change) || isHeld(change) || !isDifference(change) || isOfSlo(change)) return []
    const { source: sources } = asking.planned.storedObjects
    const probeOf = (tile: Body, filters: unknown) => toProbe({ tile: withoutVariables(tile, filters) }, { interval: '1h', sources })
    const storedProbes = new Set(listOf(change.stored?.tiles).map((tile) => JSON.stringify(probeOf(tile, change.stored?.filters))))
    const { tiles, filters } = desiredBody(change, asking.kinds.dashboard) ?? {}
    return listOf(tiles).flatMap((tile, i) => {
      const probe = probeOf(tile, filters)
      if (storedProbes.has(JSON.stringify(probe))) return []
      return toChecks(probe, { subject: subjectOfTile(change, i, asking), interval: '1h', key: JSON.stringify({ tile }) }, asking)
    })
  })

function subjectOfTile(change: Change, index: number, { planned }: Asking): Subject {
  const declared = declaredBy(change, planned.found.objects)
  const path = ['tiles', index]
  const location = declared?.locationOf(path) ?? change.location ?? { file: 'dashboards' }
  return toShown(declared?.pathOf(path) ?? addressOf(change), location)
}

/** What shows rows to people. */
const toShown = (name: string, location: Location): Subject => ({
  name,
  location,
  explain: (error) =>
    diagnosticOf(
      evaluationRules,
      'failing-query',
      location,
      `${name}: it would show an error, because the server cannot run its query: ${withoutQuery(error)}`,
    ),
})

/** The saved searches whose query the plan creates or changes. */
const searchChecks = (asking: Asking): readonly Check[] =>
  changesOf(asking.planned.plan, 'savedSearch').flatMap((change) => {
    if (isDelete(change) || isHeld(change) || !isDifference(change)) return []
    const { source: sources } = asking.planned.storedObjects
    const probeOf = (savedSearch: Body): Probe | Refusal | undefined => {
      const source = getById(sources, savedSearch.sourceId)
      const probe = toProbe({ savedSearch, source }, { interval: '1h', sources })
      return probe === undefined || 'reason' in probe ? probe : { ...probe, columns: columnsOfSearch(savedSearch) }
    }
    const savedSearch = desiredBody(change, asking.kinds.savedSearch) ?? {}
    const probe = probeOf(savedSearch)
    if (change.stored !== undefined && JSON.stringify(probeOf(change.stored)) === JSON.stringify(probe)) return []
    const subject = toShown(addressOf(change), change.location ?? { file: 'saved searches' })
    return toChecks(probe, { subject, interval: '1h', key: JSON.stringify(savedSearch) }, asking)
  })

/** The requests of apply in this window of the rate limit, if it reads again what the plan has read. */
function requestsOfApply({ api }: QueryContext, changes: readonly Change[]): number {
  const quota = api.rateLimit()
  return quota === undefined ? 0 : quota.limit - quota.remaining + countRequests(changes, false)
}

/** `unrun` are the keys of the queries that were not sent. */
async function runChecks(checks: readonly Check[], asking: Asking) {
  const distinct = [...Map.groupBy(checks, ({ key }) => key).values()].flatMap(([first]) => first ?? [])
  const answers = new Map<string, QueryOutcome>()
  const unrun = new Set<string>()
  await forEachConcurrently(
    distinct,
    () => maxConcurrent,
    async ({ key, outcome }) => {
      if (typeof outcome !== 'function') answers.set(key, outcome)
      else if (asking.isLate()) unrun.add(key)
      else answers.set(key, await outcome())
    },
  )
  const noted = new Set<string>()
  const diagnostics = checks.flatMap(({ key, subject, alert }) => {
    const { error, unrun: whyNot, part = 'query', never } = answers.get(key) ?? {}
    if (error !== undefined) return [subject.explain(error)]
    if (whyNot !== undefined) {
      const what = `${subject.name}: its ${part} was not run`
      // Where a look-up failed, it does not matter that the cloud has look-ups only.
      if (noted.has(what)) return []
      noted.add(what)
      return [toNote(subject.location, `${what}: ${whyNot}`)]
    }
    return alert !== undefined && never !== undefined ? [refuseNeverEvaluated(alert, never)] : []
  })
  const facts = checks.flatMap(({ key, alert }): readonly AlertFact[] => {
    const { value } = answers.get(key) ?? {}
    if (alert === undefined || value === undefined) return []
    return [{ key: alert.key, name: alert.name, fact: `now ${showNumber(value)}; its past is unknown` }]
  })
  return { diagnostics: withoutRepeats(diagnostics), unrun, facts }
}

/** The most alerts whose missing rows are named each: more of them are one note, because rare rows are healthy. */
const maxQuiet = 3

function foldQuiet(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const quiet = diagnostics.filter(({ rule }) => rule === ('quiet-alert' satisfies keyof typeof evaluationRules))
  const [first] = quiet
  if (first === undefined || quiet.length <= maxQuiet) return diagnostics
  const names = [...new Set(quiet.map(subjectOf))]
  const message = `${names.length} alerts have seen no row in 7 days, which is right if such rows are rare: ${firstOf(5, names)}`
  return [...diagnostics.filter((one) => !quiet.includes(one)), { ...first, message }]
}

const subjectOf = ({ message }: Diagnostic): string => message.slice(0, message.indexOf(': '))

const withoutRepeats = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] => [
  ...new Map(diagnostics.map((one) => [one.message, one])).values(),
]

const describeUnrun = (count: number): readonly Diagnostic[] =>
  count === 0
    ? []
    : [
        toNote(
          { file: 'alerts' },
          `${count} queries of what the plan changes were not run: a plan asks for at most ${budgetMs / 1000} s, and leaves the rate limit to apply. backtest runs those of alerts`,
        ),
      ]

const toNote = (location: Location, message: string): Diagnostic => diagnosticOf(evaluationRules, 'unchecked-query', location, message)

/** A plan does not depend on its queries. Throws what the server did not answer. */
export function explainUnchecked(what: 'alerts' | 'SLOs', thrown: unknown): readonly Diagnostic[] {
  const failure = toFailure(thrown)
  if (!(failure instanceof ApiError) && failure.kind !== 'not-served') throw failure
  return [toNote({ file: what.toLowerCase() }, `The queries of ${what} were not run: ${causeOf(failure)}`)]
}
