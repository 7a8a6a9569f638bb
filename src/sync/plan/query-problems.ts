// What is stored as declared can still fail: an alert whose query the server cannot run never fires. Only running the query shows it.
import { ApiError } from '../../api/api-error.ts'
import { type Estimates, estimateAlerts, findUnmatched, requestOf } from '../../backtest/estimate.ts'
import type { TimeRange } from '../../backtest/evaluate.ts'
import { type AlertQuery, toTileQuery } from '../../backtest/query.ts'
import { type SeriesItem, toUnsent } from '../../backtest/series-api.ts'
import { forEachConcurrently } from '../../core/concurrency.ts'
import { type Diagnostic, diagnosticOf } from '../../core/diagnostics.ts'
import { dayMs } from '../../core/durations.ts'
import { causeOf, toFailure } from '../../core/errors.ts'
import { nameFirst } from '../../core/text.ts'
import { intervalMs } from '../../kinds/alert/schedule.ts'
import { type Body, listOf, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import { addressOf, type PendingId, replacePending } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { sourceSchema } from '../../kinds/source/source-wire.ts'
import type { Context } from '../../operation/operation.ts'
import type { Outcome } from '../apply/apply-state.ts'
import { compareAlerts, desiredBody, seriesReader } from '../backtest/backtest-plan.ts'
import { type Change, changesOf, type Delete, isDelete, isDifference } from './change.ts'
import { evaluationRules, isTemporary, warnFailing, warnUnmatched, withoutQuery, withRemedy } from './evaluations.ts'
import { countRequests, declaredBy, type PlanningResult } from './make-plan.ts'
import { type LookUp, lookUpQuery, lookUpSource } from './source-columns.ts'
import type { StoredObjects } from './stored-objects.ts'

/** Few plans change more. Each query takes a request of a rate limit. */
const maxQueries = 40

const maxConcurrent = 4

type QueryContext = Pick<Context<'read', 'service-or-server'>, 'api' | 'service' | 'profile' | 'clock' | 'debug' | 'files'>

/** A plan with the sources as they are after it, and access to its server. */
interface Asking extends QueryContext {
  readonly planned: PlanningResult & { readonly storedObjects: StoredObjects }
  readonly kinds: Kinds
  readonly changedSources: ReadonlyMap<string, Exclude<Change, Delete>>
  /** Whether the server has the changed sources already. */
  readonly isApplied: boolean
  readonly readRows: Estimates['readRows']
  readonly nowMs: number
  /** How many more queries may be sent. */
  left: number
}

/** Something that one query checks. */
interface Check {
  /** Checks with the same key ask once. */
  readonly key: string
  readonly ask: () => Promise<QueryOutcome>
  readonly explain: (error: string) => Diagnostic
  /** The alert, where it matters whether rows match its condition. */
  readonly alert?: Change | undefined
}

interface QueryOutcome {
  /** The words of the server, if it cannot run the query. */
  readonly error?: string | undefined
  /** Why the query was not sent. */
  readonly unsent?: string
  /** A series of an alert without a row in its last window. */
  readonly unmatched?: SeriesItem | undefined
}

/**
 * Looks up what changed sources name, runs the query of each alert that the plan creates or changes in its last window, and then those of
 * changed tiles. The server runs queries on the sources as they are stored: of alerts and tiles on a changed one, the columns are looked up.
 * A backtest has run the queries of the other alerts.
 */
export async function findQueryProblems(
  context: QueryContext,
  planned: PlanningResult,
  hasBacktest: boolean,
): Promise<readonly Diagnostic[]> {
  const { plan, storedObjects } = planned
  if (storedObjects === undefined || (await context.files.mayBeFromFork())) return []
  const asking = await openQueries(context, { ...planned, storedObjects }, { isApplied: false, idOf: (key) => `sources.${key}` })
  const first = [...sourceChecks(asking), ...(await alertChecks(asking, hasBacktest))]
  const found: Diagnostic[] = []
  try {
    const asked = await runChecks(first, asking)
    found.push(...asked.diagnostics)
    const keys = new Set(first.map(({ key }) => key))
    const tiles = tileChecks(asking).filter(({ key }) => !keys.has(key))
    asking.left = Math.max(0, Math.min(asking.left, spareRequests(context, plan.changes)))
    const ofTiles = await runChecks(tiles, asking)
    return [...found, ...ofTiles.diagnostics, ...describeUnrun(asked.unrun + ofTiles.unrun)]
  } catch (thrown) {
    return [...found, ...explainUnchecked('alerts', thrown, context)]
  }
}

/** Runs the queries of all alerts on the sources that a run has written. */
export async function findBrokenAlerts(
  context: QueryContext,
  planned: PlanningResult,
  outcomes: readonly Outcome[],
): Promise<readonly Diagnostic[]> {
  const { storedObjects } = planned
  if (storedObjects === undefined || (await context.files.mayBeFromFork())) return []
  const idOf = (key: string): string => outcomes.find(({ change }) => change.kind === 'source' && change.key === key)?.id ?? ''
  const asking = await openQueries(context, { ...planned, storedObjects }, { isApplied: true, idOf })
  asking.left = Math.min(asking.left, context.api.rateLimit()?.remaining ?? maxQueries)
  try {
    const { diagnostics, unrun } = await runChecks(await alertChecks(asking, true), asking)
    return [...diagnostics, ...describeUnrun(unrun)]
  } catch (thrown) {
    return explainUnchecked('alerts', thrown, context)
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
    const explain = (error: string): Diagnostic =>
      diagnosticOf(
        evaluationRules,
        'failing-query',
        change?.location ?? { file: 'sources' },
        `sources.${change?.key}: the server cannot read what it names: ${withRemedy(error, 'Correct its table or its expressions')}`,
      )
    return change === undefined ? [] : lookUpSource(source).map((one) => toLookUpCheck(one, explain, asking))
  })

const toLookUpCheck = (one: LookUp, explain: Check['explain'], { api, service, nowMs, debug }: Asking): Check => ({
  key: JSON.stringify(one),
  explain,
  async ask() {
    try {
      const answer = await api.runSql(service, { ...one, startMs: nowMs - dayMs, endMs: nowMs })
      if (answer.kind === 'unsent') return { unsent: toUnsent(answer.reason).reason }
      return { error: answer.kind === 'refused' && !isTemporary(answer.reason) ? answer.reason : undefined }
    } catch (thrown) {
      const failure = toFailure(thrown)
      if (failure.kind === 'authentication' || failure.kind === 'permission' || failure.kind === 'canceled') throw failure
      debug(`not looked up: ${causeOf(failure)}`)
      return {}
    }
  },
})

/** Checks in the order of the plan, alerts that no file declares last. Queries of SLOs have a check of their own, which sees no rows. */
async function alertChecks(asking: Asking, isOnlyOnChanged: boolean): Promise<readonly Check[]> {
  const { planned, changedSources, profile, nowMs } = asking
  const { changes } = planned.plan
  const known = new Set(changesOf(planned.plan, 'alert').map(({ id }) => id))
  const others = planned.storedObjects.alert.flatMap((alert): readonly Change[] =>
    known.has(alert.id) || changedSources.size === 0 ? [] : [toChange(alert, asking)],
  )
  const plan = { ...planned.plan, changes: [...changes, ...others] }
  const compared = await compareAlerts({ ...planned, plan }, { profile, nowMs }, { fromMs: nowMs, untilMs: nowMs })
  return compared.flatMap(({ change, isChanged, next }) => {
    if (next === undefined || 'reason' in next) return []
    const isOnChanged = sourceIdsOf(next).some((id) => changedSources.has(id))
    const isWanted = isOnChanged ? !isOfSlo(change) : isChanged && !isOnlyOnChanged
    // The alerts of an SLO count the same events.
    if (!isWanted || (isOfSlo(change) && compared.find((one) => makerOf(one.change) === makerOf(change))?.change !== change)) return []
    const checks = toQueryChecks(next, asking, (error) => warnFailing(change, error))
    return isOnChanged ? checks : checks.map((check) => ({ ...(isOfSlo(change) ? withoutErrors(check) : check), alert: change }))
  })
}

const makerOf = (change: Change): string | undefined => ('madeFrom' in change ? change.madeFrom : undefined)

const isOfSlo = (change: Change): boolean => makerOf(change)?.startsWith('slos.') ?? false

const withoutErrors = (check: Check): Check => ({ ...check, ask: async () => ({ unmatched: (await check.ask()).unmatched }) })

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

const sourceIdsOf = (query: AlertQuery): readonly string[] =>
  'series' in query ? query.series.map(({ sourceId }) => sourceId) : query.sql.sourceId === undefined ? [] : [query.sql.sourceId]

/** Charts of the server use its stored sources. SQL names tables. */
function toQueryChecks(query: AlertQuery, asking: Asking, explain: Check['explain']): readonly Check[] {
  const { changedSources, isApplied, profile, planned, readRows, nowMs } = asking
  if ('series' in query && !isApplied && profile.isSelfHosted && sourceIdsOf(query).some((id) => changedSources.has(id)))
    return lookUpQuery(query.series, planned.storedObjects.source).map((one) => toLookUpCheck(one, explain, asking))
  const ask = async (): Promise<QueryOutcome> => {
    const read = await readRows(query, lastWindow(query, nowMs))
    if ('reason' in read && read.isUnsent) return { unsent: read.reason }
    if ('reason' in read) return { error: read.queryError === undefined || isTemporary(read.queryError) ? undefined : read.queryError }
    const unmatched = findUnmatched(query, read.rows)
    // One window of raw SQL says too little.
    return { unmatched: unmatched === 'query' ? undefined : unmatched }
  }
  return [{ key: JSON.stringify(requestOf(query)), ask, explain }]
}

/** The last whole window. */
function lastWindow({ step }: AlertQuery, nowMs: number): TimeRange {
  const lengthMs = intervalMs[step]
  const untilMs = Math.floor(nowMs / lengthMs) * lengthMs
  return { fromMs: untilMs - lengthMs, untilMs }
}

/** The tiles whose query the plan creates or changes, without those of SLOs. */
const tileChecks = (asking: Asking): readonly Check[] =>
  changesOf(asking.planned.plan, 'dashboard').flatMap((change) => {
    if (isDelete(change) || !isDifference(change) || isOfSlo(change)) return []
    const { source: sources } = asking.planned.storedObjects
    const storedQueries = new Set(listOf(change.stored?.tiles).map((tile) => JSON.stringify(queryOf(tile, sources))))
    return listOf(desiredBody(change, asking.kinds.dashboard)?.tiles).flatMap((tile, i) => {
      const query = toTileQuery(tile, sources)
      if ('reason' in query || storedQueries.has(JSON.stringify(queryOf(tile, sources)))) return []
      return toQueryChecks(query, asking, (error) => warnTile(change, i, error, asking))
    })
  })

function queryOf(tile: Body, sources: StoredObjects['source']): unknown {
  const query = toTileQuery(tile, sources)
  return 'reason' in query ? query : requestOf(query)
}

function warnTile(change: Change, index: number, error: string, { planned }: Asking): Diagnostic {
  const declared = declaredBy(change, planned.found.objects)
  const path = ['tiles', index]
  return diagnosticOf(
    evaluationRules,
    'failing-query',
    declared?.locationOf(path) ?? change.location ?? { file: 'dashboards' },
    `${declared?.pathOf(path) ?? addressOf(change)}: it would show an error, because the server cannot run its query: ${withoutQuery(error)}`,
  )
}

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
  const distinct = [...Map.groupBy(checks, ({ key }) => key)].map(([key, [first]]) => [key, first] as const)
  const wanted = distinct.slice(0, asking.left)
  asking.left -= wanted.length
  const answers = new Map<string, QueryOutcome>()
  await forEachConcurrently(
    wanted,
    () => maxConcurrent,
    async ([key, check]) => {
      if (check !== undefined) answers.set(key, await check.ask())
    },
  )
  const reasons = new Map<string, string | undefined>()
  let unrun = distinct.length - wanted.length
  for (const { key, alert } of checks) {
    const { unmatched } = answers.get(key) ?? {}
    if (alert === undefined || unmatched === undefined || reasons.has(key)) continue
    if (asking.left < perUnmatched) {
      unrun++
      continue
    }
    asking.left -= perUnmatched
    const { explainUnmatched } = await import('../../backtest/unmatched.ts')
    const range = { fromMs: asking.nowMs - dayMs, untilMs: asking.nowMs }
    reasons.set(key, await explainUnmatched(unmatched, { ...asking, sources: asking.planned.storedObjects.source, range }))
  }
  const diagnostics = checks.flatMap(({ key, explain, alert }) => {
    const [{ error, unsent } = {}, reason] = [answers.get(key), reasons.get(key)]
    if (error !== undefined) return [explain(error)]
    if (unsent !== undefined) return [noteUnsent(explain(unsent), unsent)]
    return alert === undefined || reason === undefined ? [] : [warnUnmatched(alert, 'the last 24 hours', reason)]
  })
  return { diagnostics: joinEqual(diagnostics), unrun }
}

const subjectOf = ({ message }: Diagnostic): string => message.slice(0, message.indexOf(': '))

const noteUnsent = (problem: Diagnostic, reason: string): Diagnostic =>
  diagnosticOf(evaluationRules, 'unchecked-query', problem.location, `${subjectOf(problem)}: its query was not run: ${reason}`)

/** The fewest alerts or tiles with the same words of the server that become one diagnostic: a missing table breaks them all. */
const minEqual = 3

function joinEqual(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const distinct = new Map(diagnostics.map((one) => [one.message, one])).values()
  const groups = Map.groupBy(distinct, (one) => `${one.rule} ${one.message.slice(subjectOf(one).length)}`)
  return [...groups.values()].flatMap((alike) => {
    const [first, ...others] = alike
    if (first === undefined || alike.length < minEqual) return alike
    return [{ ...first, message: `${first.message} (also ${nameFirst(others.map(subjectOf), maxNamed)})` }]
  })
}

const maxNamed = 5

const describeUnrun = (count: number): readonly Diagnostic[] =>
  count === 0
    ? []
    : [
        toNote(
          'alerts',
          `${count} queries of changed alerts, tiles and sources were not run: a plan runs at most ${maxQueries}, and leaves the rate limit to apply. backtest runs those of alerts`,
        ),
      ]

const toNote = (file: string, message: string): Diagnostic => diagnosticOf(evaluationRules, 'unchecked-query', { file }, message)

/** A plan does not depend on its queries. A refused key is a note, because the user set it. Throws what the server did not answer. */
export function explainUnchecked(what: 'alerts' | 'SLOs', thrown: unknown, { debug }: Pick<QueryContext, 'debug'>): readonly Diagnostic[] {
  const failure = toFailure(thrown)
  if (!(failure instanceof ApiError) && failure.kind !== 'not-served') throw failure
  const message = `The queries of ${what} were not run: ${causeOf(failure)}`
  if (failure.kind === 'authentication' || failure.kind === 'permission') return [toNote(what.toLowerCase(), message)]
  debug(message)
  return []
}
