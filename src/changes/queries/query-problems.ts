// What is stored as declared can still fail: an alert whose query the server cannot run never fires. Only running the query shows it.

import { type AlertInterval, alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import { type Body, listOf, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { type PendingId, replacePending } from '../../kinds/pending-id.ts'
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
import { type Estimates, estimateAlerts, findUnmatched } from '../../signals/backtest/estimate.ts'
import type { TimeRange } from '../../signals/backtest/evaluate.ts'
import { columnsOfSearch, type Probe, type SingleQuery, toProbe } from '../../signals/backtest/probe.ts'
import type { Watched } from '../../signals/backtest/query.ts'
import type { Refusal } from '../../signals/backtest/read-rows.ts'
import { toRefusal, whyNeverEvaluated } from '../../signals/backtest/read-windows.ts'
import type { SeriesItem } from '../../signals/backtest/series-api.ts'
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
  warnFailing,
  warnUnmatched,
  withoutQuery,
  withRemedy,
} from '../plan/evaluations.ts'
import { type LookUp, lookUpColumns, lookUpSeries, lookUpSource } from './source-columns.ts'

/** Few plans change more. Each query takes a request of a rate limit. */
const maxQueries = 40

const maxConcurrent = 4

type QueryContext = Pick<Context<'read', 'service-or-server'>, 'api' | 'service' | 'profile' | 'clock' | 'files'>

/** A plan with the sources as they are after it, and access to its server. */
interface Asking extends QueryContext {
  readonly planned: PlanningResult & { readonly storedObjects: StoredObjects }
  readonly kinds: Kinds
  readonly changedSources: ReadonlyMap<string, Exclude<Change, Delete>>
  /** Whether the server has the changed sources already. */
  readonly isApplied: boolean
  readonly readRows: Estimates['readRows']
  readonly nowMs: number
  left: number
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
  /** A series of an alert without a row in its last window. */
  readonly unmatched?: SeriesItem | undefined
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
  /** The alert, where it matters whether rows match its condition. */
  readonly alert?: Change | undefined
}

/**
 * Looks up what changed sources name, runs the query of each alert that the plan creates or changes in its last window, and then those of
 * changed tiles and saved searches. What cannot be run has a note. The server runs queries on the sources as they are stored: of alerts and
 * tiles on a changed one, the columns are looked up. `tested` are the keys of the alerts whose queries a backtest has run.
 */
export async function findQueryProblems(
  context: QueryContext,
  planned: PlanningResult,
  tested: ReadonlySet<string>,
): Promise<readonly Diagnostic[]> {
  const { plan, storedObjects } = planned
  if (storedObjects === undefined) return []
  const asking = await openQueries(context, { ...planned, storedObjects }, { isApplied: false, idOf: (key) => `sources.${key}` })
  const ofAlerts = [...sourceChecks(asking), ...(await alertChecks(asking, false))]
  const keys = new Set(ofAlerts.map(({ key }) => key))
  const first = ofAlerts.filter(({ alert }) => alert === undefined || !tested.has(alert.key))
  const others = [...tileChecks(asking), ...searchChecks(asking)].filter(({ key }) => !keys.has(key))
  const refusal = await whyNotRun(context)
  if (refusal !== undefined) return noteAll([...first, ...others], refusal)
  const found: Diagnostic[] = []
  try {
    const asked = await runChecks(first, asking)
    found.push(...asked.diagnostics)
    asking.left = Math.max(0, Math.min(asking.left, spareRequests(context, plan.changes)))
    const ofOthers = await runChecks(others, asking)
    return [...found, ...ofOthers.diagnostics, ...describeUnrun(asked.unrun + ofOthers.unrun)]
  } catch (thrown) {
    return [...found, ...explainUnchecked('alerts', thrown)]
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
  asking.left = Math.min(asking.left, context.api.rateLimit()?.remaining ?? maxQueries)
  try {
    const { diagnostics, unrun } = await runChecks(await alertChecks(asking, true), asking)
    return [...diagnostics, ...describeUnrun(unrun)]
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
  const { readRows } = await estimateAlerts([], {
    api: context.api,
    service: context.service,
    readSeries: await seriesReader(context, after),
    range: { fromMs: nowMs, untilMs: nowMs },
    maxRequests: Number.MAX_SAFE_INTEGER,
    onProgress: async () => {},
  })
  const planned = { ...rest, kinds, storedObjects: after, plan: { ...plan, changes } }
  return { ...context, planned, kinds, changedSources, isApplied, readRows, nowMs, left: maxQueries }
}

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
    if (answer.kind === 'rows' || answer.kind === 'too-large')
      return { never: shape && answer.columns.length > 0 ? whyNeverEvaluated(answer.columns, shape) : undefined }
    if (answer.kind === 'too-slow' && shape !== undefined)
      return { error: `it takes more than ${maxQueryMs / 1000} s, the limit of the server` }
    return toOutcome(toRefusal(answer))
  } catch (thrown) {
    const failure = toFailure(thrown)
    if (failure.kind === 'authentication' || failure.kind === 'permission' || failure.kind === 'canceled') throw failure
    return { unrun: causeOf(failure) }
  }
}

const toOutcome = ({ reason, queryError }: Refusal): QueryOutcome =>
  queryError === undefined ? { unrun: reason } : isTemporary(queryError) ? { unrun: queryError } : { error: queryError }

/** Checks in the order of the plan, alerts that no file declares last. Queries of SLOs have a check of their own, which sees no rows. */
async function alertChecks(asking: Asking, isOnlyOnChanged: boolean): Promise<readonly Check[]> {
  const { planned, changedSources, profile, nowMs } = asking
  const { changes } = planned.plan
  const known = new Set(changesOf(planned.plan, 'alert').map(({ id }) => id))
  const others = planned.storedObjects.alert.flatMap((alert): readonly Change[] =>
    known.has(alert.id) || changedSources.size === 0 ? [] : [toChange(alert, asking)],
  )
  const plan = { ...planned.plan, changes: [...changes, ...others] }
  const compared = await compareAlerts({ ...planned, plan }, { profile }, { fromMs: nowMs, untilMs: nowMs })
  const firstOfMakers = new Map(compared.toReversed().map(({ change }) => [makerOf(change), change]))
  /** The alerts of an SLO count the same events. */
  const isRepeated = ({ change }: ComparedAlert): boolean => isOfSlo(change) && firstOfMakers.get(makerOf(change)) !== change
  return compared.flatMap((one) =>
    one.next === undefined || isHeld(one.change) || isRepeated(one) ? [] : checksOfAlert(one, asking, isOnlyOnChanged),
  )
}

type ComparedAlert = Awaited<ReturnType<typeof compareAlerts>>[number]

function checksOfAlert(compared: ComparedAlert, asking: Asking, isOnlyOnChanged: boolean): readonly Check[] {
  const { change, next, watched } = compared
  const about = {
    subject: subjectOfAlert(change),
    interval: intervalOf(change),
    // The sources are the same in all checks of a run, and can be many.
    key: JSON.stringify({ ...(watched.next ?? { id: change.id ?? change.key }), sources: undefined }),
  }
  const isSlo = isOfSlo(change)
  const probe = isSlo ? probeOfSlo(next) : probeWatched(watched.next, change, asking)
  if (sourceIdsOf(probe).some((id) => asking.changedSources.has(id))) return isSlo ? [] : toChecks(probe, about, asking)
  if (isOnlyOnChanged || !hasOtherQuery(compared, asking)) return []
  return toChecks(probe, about, asking).map((check) => ({ ...(isSlo ? withoutErrors(check) : check), alert: change }))
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

const probeOfSlo = (next: ComparedAlert['next']): Probe | undefined =>
  next !== undefined && 'series' in next ? { series: next, columns: [], left: [] } : undefined

const probeWatched = (watched: Watched | undefined, change: Change, { planned }: Asking) =>
  watched === undefined
    ? { reason: 'the API does not show what the alert watches' }
    : toProbe(watched, { interval: intervalOf(change), sources: planned.storedObjects.source, alert: { groupBy: change.desired?.groupBy } })

const makerOf = (change: Change): string | undefined => ('madeFrom' in change ? change.madeFrom : undefined)

const isOfSlo = (change: Change): boolean => makerOf(change)?.startsWith('slos.') ?? false

const withoutErrors = (check: Check): Check => ({
  ...check,
  outcome: async () => ({ unmatched: (await answerOf(check)).unmatched }),
})

const answerOf = async ({ outcome }: Check): Promise<QueryOutcome> => (typeof outcome === 'function' ? outcome() : outcome)

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
  return { key: JSON.stringify([template, connectionId]), subject, outcome: () => askSql(query, asking, shape) }
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
    return 'reason' in read ? toOutcome(read) : { unmatched: findUnmatched(query, read.rows) }
  }
  return [{ key, subject, outcome }]
}

function lastWindow(interval: AlertInterval, nowMs: number): TimeRange {
  const lengthMs = intervalMs[interval]
  const untilMs = Math.floor(nowMs / lengthMs) * lengthMs
  return { fromMs: untilMs - lengthMs, untilMs }
}

/** The tiles whose query the plan creates or changes, without those of SLOs. */
const tileChecks = (asking: Asking): readonly Check[] =>
  changesOf(asking.planned.plan, 'dashboard').flatMap((change) => {
    if (isDelete(change) || isHeld(change) || !isDifference(change) || isOfSlo(change)) return []
    const { source: sources } = asking.planned.storedObjects
    const probeOf = (tile: Body) => toProbe({ tile }, { interval: '1h', sources })
    const storedProbes = new Set(listOf(change.stored?.tiles).map((tile) => JSON.stringify(probeOf(tile))))
    return listOf(desiredBody(change, asking.kinds.dashboard)?.tiles).flatMap((tile, i) => {
      const probe = probeOf(tile)
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

/** The requests that apply leaves unused in this window of the rate limit, if it reads again what the plan has read. */
function spareRequests({ api }: QueryContext, changes: readonly Change[]): number {
  const quota = api.rateLimit()
  if (quota === undefined) return maxQueries
  return quota.remaining - (quota.limit - quota.remaining) - countRequests(changes, false)
}

/** The most that `explainUnmatched` sends. */
const perUnmatched = 3

/** `unrun` are the queries that were not sent. */
async function runChecks(checks: readonly Check[], asking: Asking) {
  const distinct = [...Map.groupBy(checks, ({ key }) => key).values()].flatMap(([first]) => first ?? [])
  const [free, costly] = [false, true].map((isAsked) => distinct.filter(({ outcome }) => (typeof outcome === 'function') === isAsked))
  const wanted = (costly ?? []).slice(0, asking.left)
  asking.left -= wanted.length
  const answers = new Map<string, QueryOutcome>()
  await forEachConcurrently(
    [...(free ?? []), ...wanted],
    () => maxConcurrent,
    async (check) => {
      answers.set(check.key, await answerOf(check))
    },
  )
  const reasons = new Map<string, string | undefined>()
  let unrun = distinct.length - answers.size
  for (const { key, alert } of checks) {
    const { unmatched } = answers.get(key) ?? {}
    if (alert === undefined || unmatched === undefined || reasons.has(key)) continue
    if (asking.left < perUnmatched) {
      unrun++
      continue
    }
    asking.left -= perUnmatched
    const { explainUnmatched } = await import('../../signals/backtest/unmatched.ts')
    const range = { fromMs: asking.nowMs - dayMs, untilMs: asking.nowMs }
    reasons.set(key, await explainUnmatched(unmatched, { ...asking, sources: asking.planned.storedObjects.source, range }))
  }
  const noted = new Set<string>()
  const diagnostics = checks.flatMap(({ key, subject, alert }) => {
    const [{ error, unrun: whyNot, part = 'query', never } = {}, reason] = [answers.get(key), reasons.get(key)]
    if (error !== undefined) return [subject.explain(error)]
    if (whyNot !== undefined) {
      const what = `${subject.name}: its ${part} was not run`
      // Where a look-up failed, it does not matter that the cloud has look-ups only.
      if (noted.has(what)) return []
      noted.add(what)
      return [toNote(subject.location, `${what}: ${whyNot}`)]
    }
    if (alert === undefined) return []
    if (never !== undefined) return [refuseNeverEvaluated(alert, never)]
    return reason === undefined ? [] : [warnUnmatched(alert, 'the last 24 hours', reason)]
  })
  return { diagnostics: [...new Map(diagnostics.map((one) => [one.message, one])).values()], unrun }
}

const describeUnrun = (count: number): readonly Diagnostic[] =>
  count === 0
    ? []
    : [
        toNote(
          { file: 'alerts' },
          `${count} queries of what the plan changes were not run: a plan runs at most ${maxQueries}, and leaves the rate limit to apply. backtest runs those of alerts`,
        ),
      ]

const toNote = (location: Location, message: string): Diagnostic => diagnosticOf(evaluationRules, 'unchecked-query', location, message)

/** A plan does not depend on its queries. Throws what the server did not answer. */
export function explainUnchecked(what: 'alerts' | 'SLOs', thrown: unknown): readonly Diagnostic[] {
  const failure = toFailure(thrown)
  if (!(failure instanceof ApiError) && failure.kind !== 'not-served') throw failure
  return [toNote({ file: what.toLowerCase() }, `The queries of ${what} were not run: ${causeOf(failure)}`)]
}
