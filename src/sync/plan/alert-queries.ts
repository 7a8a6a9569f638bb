// An alert whose query the server cannot run never fires, although it is stored as declared. Only running the query shows it.
import { ApiError } from '../../api/api-error.ts'
import { estimateAlerts, requestOf } from '../../backtest/estimate.ts'
import type { TimeRange } from '../../backtest/evaluate.ts'
import type { AlertQuery } from '../../backtest/query.ts'
import { forEachConcurrently } from '../../core/concurrency.ts'
import { type Diagnostic, diagnosticOf } from '../../core/diagnostics.ts'
import { causeOf, toFailure } from '../../core/errors.ts'
import { clip } from '../../core/text.ts'
import type { Context } from '../../operation/operation.ts'
import { intervalMs } from '../../resources/alerts/schedule.ts'
import { compareAlerts, seriesReader } from '../backtest/backtest-plan.ts'
import { type Change, isDifference } from './change.ts'
import { evaluationRules } from './evaluations.ts'
import type { PlanningResult } from './make-plan.ts'

/** Few plans change more alerts. Each query takes a request of the rate limit. */
const maxQueries = 40

const maxConcurrent = 4

type PlanContext = Pick<Context<'read', 'service-or-server'>, 'api' | 'service' | 'profile' | 'clock' | 'debug' | 'files'>

interface ChangedAlert {
  readonly change: Change
  readonly query: AlertQuery
}

/** Runs the query of each alert that the plan creates or changes, in its last window. Alerts of SLOs have a check of their own. */
export async function findAlertQueryProblems(context: PlanContext, planned: PlanningResult): Promise<readonly Diagnostic[]> {
  const { plan, found, remote } = planned
  if (remote === undefined || (await context.files.mayBeFromFork())) return []
  const nowMs = context.clock.now()
  const changed = await changedAlerts({ plan, found, remote }, { profile: context.profile, nowMs })
  if (changed.length === 0) return []
  const distinct = [...Map.groupBy(changed, ({ query }) => JSON.stringify([requestOf(query), query.step])).values()]
  const wanted = distinct.slice(0, maxQueries)
  const { readRows } = await estimateAlerts([], {
    api: context.api,
    service: context.service,
    readSeries: await seriesReader(context, remote),
    range: { fromMs: nowMs, untilMs: nowMs },
    maxRequests: Number.MAX_SAFE_INTEGER,
    onProgress: async () => {},
  })
  const errors = new Map<ChangedAlert, string>()
  let unchecked = describeUnrun(distinct.length - wanted.length)
  try {
    await forEachConcurrently(
      wanted,
      () => maxConcurrent,
      async (alerts) => {
        const [first] = alerts
        const read = first && (await readRows(first.query, lastWindow(first.query, nowMs)))
        if (read !== undefined && 'reason' in read && read.queryError !== undefined && !isTemporary(read.queryError))
          for (const alert of alerts) errors.set(alert, read.queryError)
      },
    )
  } catch (thrown) {
    unchecked = explainUnchecked('alerts', thrown, context)
  }
  const problems = changed.flatMap((alert) => {
    const error = errors.get(alert)
    return error === undefined ? [] : [toProblem(alert.change, error)]
  })
  return [...problems, ...unchecked]
}

/** In the order of the plan. Without those on a source that the plan changes: the server would run their queries on it as it was. */
async function changedAlerts(
  planned: Parameters<typeof compareAlerts>[0],
  context: Parameters<typeof compareAlerts>[1],
): Promise<readonly ChangedAlert[]> {
  const ofSlos = new Set(
    planned.found.objects.flatMap(({ section, key, madeFrom }) => (madeFrom?.startsWith('slos.') ? [`${section}.${key}`] : [])),
  )
  const changedSources = new Set(
    planned.plan.changes.flatMap((one) => (one.section === 'sources' && isDifference(one) ? (one.id ?? []) : [])),
  )
  const compared = await compareAlerts(planned, context, { fromMs: context.nowMs, untilMs: context.nowMs })
  return compared.flatMap(({ change, isChanged, next }) =>
    !isChanged ||
    next === undefined ||
    'reason' in next ||
    ofSlos.has(`${change.section}.${change.key}`) ||
    sourceIdsOf(next).some((id) => changedSources.has(id))
      ? []
      : [{ change, query: next }],
  )
}

const sourceIdsOf = (query: AlertQuery): readonly string[] =>
  'series' in query ? query.series.map(({ sourceId }) => sourceId) : query.sql.sourceId === undefined ? [] : [query.sql.sourceId]

/** The last whole window. */
function lastWindow({ step }: AlertQuery, nowMs: number): TimeRange {
  const lengthMs = intervalMs[step]
  const untilMs = Math.floor(nowMs / lengthMs) * lengthMs
  return { fromMs: untilMs - lengthMs, untilMs }
}

/** The server passes on as errors of a query that its database is down or busy, too. The same query may run later. */
export const isTemporary = (error: string): boolean =>
  /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)\b/.test(error) ||
  /(?:^|: )(?:socket hang up|timeout (?:error|exceeded)|(?:\(\w+\) |\w+ )?memory limit|too many simultaneous queries)\b/i.test(error)

/** ClickHouse ends its message with the query, which the reader knows, or with everything that may come next. */
export const withoutQuery = (error: string): string => clip((error.split(/\. In scope /)[0] ?? '').trim().replace(/\.$/, ''), 300)

const toProblem = ({ key, location }: Change, error: string): Diagnostic =>
  diagnosticOf(
    evaluationRules,
    'failing-query',
    location ?? { file: 'alerts' },
    `alerts.${key}: it would never fire, because the server cannot run its query: ${withoutQuery(error)}. Correct the conditions and expressions of what it watches`,
  )

const describeUnrun = (count: number): readonly Diagnostic[] =>
  count === 0
    ? []
    : [
        toNote(
          'alerts',
          `${count} queries of new and changed alerts were not run, because a plan runs at most ${maxQueries}. backtest runs all of them`,
        ),
      ]

const toNote = (file: string, message: string): Diagnostic => diagnosticOf(evaluationRules, 'unchecked-query', { file }, message)

const nouns = { alerts: 'alerts', slos: 'SLOs' } as const

/** A plan does not depend on its queries. A refused key is a note, because the user set it. Throws what the server did not answer. */
export function explainUnchecked(what: keyof typeof nouns, thrown: unknown, { debug }: Pick<PlanContext, 'debug'>): readonly Diagnostic[] {
  const failure = toFailure(thrown)
  if (!(failure instanceof ApiError) && failure.kind !== 'not-served') throw failure
  const message = `The queries of ${nouns[what]} were not run: ${causeOf(failure)}`
  if (failure.kind === 'authentication' || failure.kind === 'permission') return [toNote(what, message)]
  debug(message)
  return []
}
