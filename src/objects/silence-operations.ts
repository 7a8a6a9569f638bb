import * as z from 'zod'
import { type Alert, alertCollection, unknownFormOf } from '../kinds/alert/alert.ts'
import { borderAfter, borderBefore, hasOffset, intervalMsOf, maxAheadMs, startMsOf, toStart } from '../kinds/alert/schedule.ts'
import { readWatchedNames } from '../kinds/collections.ts'
import { type Body, storedLabelOf } from '../kinds/kind.ts'
import { alertMarkers } from '../kinds/marker.ts'
import { ApiError } from '../platform/api/api-error.ts'
import { countConcurrentWrites, type Reading } from '../platform/api/collection.ts'
import { forEachConcurrently } from '../platform/core/concurrency.ts'
import { formatMoment } from '../platform/core/dates.ts'
import { inputDiagnostic } from '../platform/core/diagnostics.ts'
import { hourMs } from '../platform/core/durations.ts'
import { causeOf, errorKinds, WatchkeeperError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { counted, type Inline, join, joinAtMost, type Line, say, trusted, untrusted, untrustedSentence } from '../platform/core/line.ts'
import { plural } from '../platform/core/text.ts'
import { duration, durationMsOf } from '../platform/operation/inputs.ts'
import { type Confirmation, type Context, defineOperation } from '../platform/operation/operation.ts'
import { type Condition, describeUnmet, isSelected } from '../platform/operation/select.ts'
import type { Block } from '../platform/report/blocks.ts'
import { pass, type Verdict } from '../platform/report/report.ts'
import { table } from '../platform/report/table.ts'
import { changeAlert, selectAlerts, selectableAlert } from './alerts.ts'

const outcomes = [
  'silenced',
  'already-silenced',
  'left-out',
  'ended',
  'not-silenced',
  // `refused`: the windows of the alert are shifted, so that another start would change them.
  'refused',
  // `unknown`: the request was sent, and the server may have carried it out.
  'unknown',
  'failed',
  'skipped',
] as const

const decided = z.object({
  outcome: z.enum(outcomes),
  silencedUntil: z.string().optional().describe('End of the silence.'),
  firstEvaluation: z.string().optional().describe('Time of the first evaluation after the silence, of the data of one interval.'),
  reason: z.string().optional().describe('Why the alert was not changed.'),
})

const reachedAlert = z.object({
  id: z.string(),
  name: z.string(),
  project: z.string().optional().describe('The project in the ownership marker of the alert.'),
  key: z.string().optional().describe('The key of the alert in the files of the project.'),
  ...decided.shape,
})

type ReachedAlert = z.output<typeof reachedAlert>

type Decided = z.output<typeof decided>

/** `startMs` is the start to write, with the outcome of that. */
type Decision = Decided & { readonly startMs?: number }

export const silenceAlerts = defineOperation({
  summary: 'Silences alerts for a time, such as during a deploy. The silence ends by itself, or with `for: 0m`.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  input: z.strictObject({
    select: selectAlerts('One of them must be about name, key or project.'),
    for: duration(
      'Sets how long the alerts are silenced. The end is rounded up to the next evaluation of each alert. `0m` ends the silence.',
      '0m',
    ),
  }),
  output: z.object({
    count: z.int().describe('Number of alerts that are silenced now. With `for: 0m`, of those whose silence this run ended.'),
    ids: z.array(z.string()).describe('Their ids, as a JSON array.'),
    changed: z.boolean().describe('Whether this run changed anything.'),
  }),
  details: z.object({
    silencedUntil: z.string().describe('The latest end of their silences. Empty without any.'),
    isEnd: z.boolean().describe('Whether this run ended silences, with `for: 0m`.'),
    alerts: z.array(reachedAlert).describe('All alerts that match, each with its outcome.'),
  }),
  example: { select: ['name~checkout'], for: '30m' },
  // Without one of these fields, a silence could include more alerts than were meant.
  check: ({ values: { select } }) =>
    select === undefined || select.some(({ field }) => ['name', 'key', 'project'].includes(field))
      ? []
      : [inputDiagnostic('select', 'needs a condition on name, key or project, so that it is clear which alerts are meant')],
  async run(context, { for: length, select }) {
    const isEnd = length === '0m'
    const durationMs = durationMsOf(length)
    const alerts = await changeStarts(context, select, {
      decide: isEnd ? endSilence : (alert, nowMs) => startSilence(alert, nowMs, durationMs),
      reviewOf: (reviewed, count) => ({
        blocks: silenceBlocks(reviewed, isEnd),
        question: isEnd ? `End the silence of ${plural(count, 'alert')}?` : `Silence ${plural(count, 'alert')} for ${length}?`,
      }),
    })
    const reached = alerts.filter(isEnd ? isEnded : isSilenced)
    return {
      count: reached.length,
      ids: reached.map(({ id }) => id),
      changed: alerts.some(({ outcome }) => outcome === 'silenced' || outcome === 'ended'),
      silencedUntil: reached.map(({ silencedUntil = '' }) => silencedUntil).reduce((a, b) => (a > b ? a : b), ''),
      isEnd,
      alerts,
    }
  },
  judge: ({ count, alerts, isEnd }) =>
    count === 0 && !isEnd && alerts.every(({ outcome }) => outcome === 'left-out')
      ? { status: 'fail', reasons: [say`the silence is shorter than the interval of every alert that matches`] }
      : judgeAlerts(alerts),
  report: ({ alerts, isEnd }) => ({ headline: headlineOf(alerts, isEnd), blocks: silenceBlocks(alerts, isEnd) }),
})

function headlineOf(alerts: readonly ReachedAlert[], isEnd: boolean): Line {
  const countOf = (wanted: ReachedAlert['outcome']): number => alerts.filter(({ outcome }) => outcome === wanted).length
  const [silenced, already, ended] = [countOf('silenced'), countOf('already-silenced'), countOf('ended')]
  if (isEnd) return ended === 0 ? say`No silence ended` : say`Silence of ${counted(ended, 'alert')} ended`
  const lines = [
    ...(silenced > 0 || already === 0 ? [say`${counted(silenced, 'alert')} silenced`] : []),
    ...(already > 0 ? [say`${counted(already, 'alert')} silenced already`] : []),
  ]
  return join(lines, ', ')
}

function startSilence(alert: Alert, nowMs: number, durationMs: number): Decision {
  const decided = decideSilence(alert, { nowMs, durationMs })
  if (!('startMs' in decided)) return { outcome: decided.decision, reason: decided.reason }
  const times = { silencedUntil: toStart(decided.startMs), firstEvaluation: toStart(decided.firstEvaluationMs) }
  return decided.decision === 'silence'
    ? { outcome: 'silenced', ...times, startMs: decided.startMs }
    : { outcome: 'already-silenced', ...times }
}

function endSilence(alert: Alert, nowMs: number): Decision {
  const decided = decideEnd(alert, nowMs)
  if (decided.decision === 'refused') return { outcome: 'refused', reason: decided.reason }
  if (decided.decision === 'not-silenced') return { outcome: 'not-silenced', reason: 'it is not silenced' }
  return { outcome: 'ended', firstEvaluation: toStart(decided.firstEvaluationMs), startMs: decided.startMs }
}

const silenceBlocks = (alerts: readonly ReachedAlert[], isEnd: boolean): readonly Block[] => [
  table(undefined, alerts.filter(isEnd ? isEnded : isSilenced), {
    Alert: ({ name }) => untrusted(name),
    Owner: ownerOf,
    ...(!isEnd && { 'Silenced until': ({ silencedUntil }: ReachedAlert) => moment(silencedUntil) }),
    'First evaluation': ({ firstEvaluation }) => moment(firstEvaluation),
  }),
  ...silencedForLonger(alerts),
  ...reasonTables(isEnd ? 'Not changed' : 'Not silenced', alerts),
]

/** A second silence does not shorten the first one. */
function silencedForLonger(alerts: readonly ReachedAlert[]): readonly Block[] {
  const longer = alerts.filter(({ outcome }) => outcome === 'already-silenced')
  if (longer.length === 0) return []
  const line = say`Already silenced for at least as long, and not changed: ${namesOf(longer)}. To end a silence early, set ${trusted(spellInput('for', '0m'))}`
  return [{ kind: 'paragraph', line }]
}

const ownerOf = ({ project, key }: ReachedAlert): Line =>
  project === undefined || key === undefined ? [trusted('–')] : say`${untrusted(project)} ${untrusted(key)}`

const isSilenced = ({ outcome }: ReachedAlert): boolean => outcome === 'silenced' || outcome === 'already-silenced'

const isEnded = ({ outcome }: ReachedAlert): boolean => outcome === 'ended'

type AlertContext = Context<'write', 'service-or-server'>

interface StartChange {
  decide(alert: Alert, nowMs: number): Decision
  /** `count` of the alerts would be written. */
  reviewOf(alerts: readonly ReachedAlert[], count: number): Confirmation
}

/**
 * Times count from the answer of the person who was asked. After an error of the API, no other alert is written. Throws the error where no alert
 * can have been written, and where no alert matches.
 */
async function changeStarts(
  context: AlertContext,
  select: readonly Condition[],
  { decide: decideKnown, reviewOf }: StartChange,
): Promise<ReachedAlert[]> {
  const decide = (alert: Alert, nowMs: number): Decision => {
    const form = unknownFormOf(alert)
    if (form === undefined) return decideKnown(alert, nowMs)
    return { outcome: 'refused', reason: `it has ${form}, which this version does not know` }
  }
  const { items, readAtMs } = await alertCollection.list(context.api, context.service)
  const alerts = await readWatchedNames(context.api, context.service, items)
  const wanted = alerts.filter((alert) => isSelected(select, selectableAlert(alert)))
  if (wanted.length === 0)
    throw new WatchkeeperError(
      'not-found',
      `None of the alerts that list-alerts shows has ${describeUnmet(alerts.map(selectableAlert), select)}`,
    )
  const named = (alert: Alert) => {
    const { projectName: project, key } = alertMarkers.readMarker(alert) ?? {}
    return { id: alert.id, name: storedLabelOf(alert) || alert.id, project, key }
  }
  const planned = wanted.map((alert) => ({ ...named(alert), ...decide(alert, context.clock.now()) }))
  const count = planned.filter(({ startMs }) => startMs !== undefined).length
  if (count > 0) await context.confirm?.(reviewOf(planned, count))
  const nowMs = context.clock.now()
  // Each alert is read again where the window of the rate limit has room for that.
  const usesList = 2 * count > (context.api.rateLimit()?.remaining ?? Number.POSITIVE_INFINITY)
  const reached = new Map<Alert, Decided>()
  let hasWritten = false
  let failure: WatchkeeperError | undefined
  // The first write runs by itself, because the key might not be allowed to write.
  const limit = (): number => (hasWritten ? countConcurrentWrites(context.api) : 1)
  await forEachConcurrently(wanted, limit, async (alert) => {
    const { startMs, ...decided } = decide(alert, nowMs)
    reached.set(alert, startMs === undefined ? decided : await write(alert))
  })
  return wanted.map((alert) => ({ ...named(alert), ...(reached.get(alert) ?? { outcome: 'skipped' }) }))

  async function write(alert: Alert): Promise<Decided> {
    if (failure !== undefined)
      return { outcome: 'skipped', reason: `an earlier alert failed${errorKinds[failure.kind].cure === 'time' ? '; run it again' : ''}` }
    try {
      const { startMs, ...decided } = await writeStart(context, usesList ? { object: alert, readAtMs } : alert.id, (current) =>
        decide(current, nowMs),
      )
      hasWritten ||= startMs !== undefined
      return decided
    } catch (thrown) {
      const isUnknown = thrown instanceof ApiError && thrown.outcomeUnknown
      // The error explains itself as long as there is nothing else to report.
      if (!(thrown instanceof WatchkeeperError) || !(hasWritten || isUnknown)) throw thrown
      failure ??= thrown
      return { outcome: isUnknown ? 'unknown' : 'failed', reason: causeOf(thrown) }
    }
  }
}

/** What counts is the decision for the alert that the write replaces: another user may have changed it since it was listed. */
async function writeStart(
  { confirm: _, ...context }: AlertContext,
  alert: string | Reading<Alert>,
  decide: (alert: Alert) => Decision,
): Promise<Decision> {
  let decision: Decision = { outcome: 'skipped' }
  const { object: stored } = await changeAlert(context, alert, (current) => {
    decision = decide(current)
    return decision.startMs === undefined ? undefined : { scheduleStartAt: toStart(decision.startMs) }
  })
  if (decision.startMs !== undefined && startMsOf(stored) !== decision.startMs)
    throw new WatchkeeperError('refused', 'The service did not store the start of the alert. Its version might not have this field yet.')
  return decision
}

function judgeAlerts(alerts: readonly ReachedAlert[]): Verdict {
  const unknown = alerts.filter(isUnknown).length
  const failed = alerts.find(({ outcome }) => outcome === 'failed')
  if (unknown > 0 || failed !== undefined) {
    const skipped = alerts.filter(({ outcome }) => outcome === 'skipped')
    const reasons = [
      ...(unknown > 0 ? [say`${counted(unknown, 'alert')} may have been changed, because the server did not answer; run it again`] : []),
      ...(failed === undefined ? [] : [say`alert ${failed.name} failed: ${untrustedSentence(failed.reason ?? '')}`]),
      ...skipped
        .slice(0, 1)
        .map(({ reason = '' }) => say`${counted(skipped.length, 'alert')} skipped, because ${untrustedSentence(reason)}`),
    ]
    return { status: 'error', reasons, exit: 'partlyApplied' }
  }
  const refused = alerts.filter(({ outcome }) => outcome === 'refused')
  return refused.length === 0 ? pass : { status: 'fail', reasons: [say`${counted(refused.length, 'alert')} refused: ${namesOf(refused)}`] }
}

const namesOf = (alerts: readonly ReachedAlert[]): Line =>
  joinAtMost(
    5,
    alerts.map(({ name }) => [untrusted(name)]),
  )

const moment = (iso: string | undefined): Inline => trusted(iso === undefined ? '–' : formatMoment(iso))

const reasonTables = (title: string, alerts: readonly ReachedAlert[]): readonly Block[] =>
  [true, false].flatMap((wanted) => {
    const rows = alerts.filter((alert) => isUnknown(alert) === wanted && alert.reason !== undefined)
    if (rows.length === 0) return []
    const byReason = table(wanted ? 'Outcome unknown' : title, [...Map.groupBy(rows, ({ reason = '' }) => reason)], {
      Alerts: ([, same]) => (same.length > 1 ? say`${counted(same.length, 'alert')}: ${namesOf(same)}` : namesOf(same)),
      Reason: ([reason]) => untrustedSentence(reason),
    })
    return [byReason]
  })

const isUnknown = ({ outcome }: ReachedAlert): boolean => outcome === 'unknown'

// Silences an alert with a start in the future: the server skips it until then, so that the silence ends by itself. docs/command-line.md
// describes what the server does.

/** The server evaluates an alert for the first time one interval after the start. */
interface SilenceEnd {
  readonly startMs: number
  readonly firstEvaluationMs: number
}

interface Refusal {
  readonly decision: 'refused'
  readonly reason: string
}

type SilenceDecision =
  | (SilenceEnd & { readonly decision: 'silence' | 'already-silenced' })
  | { readonly decision: 'left-out'; readonly reason: string }
  | Refusal

/** A silence that ends later stays. */
export function decideSilence(alert: Body, { nowMs, durationMs }: Readonly<Record<'nowMs' | 'durationMs', number>>): SilenceDecision {
  const schedule = readSchedule(alert)
  if ('decision' in schedule) return schedule
  const { intervalMs, startMs = nowMs } = schedule
  // Of an alert with a longer interval, a silence can swallow two evaluations of a day.
  if (intervalMs > Math.max(hourMs, durationMs))
    return { decision: 'left-out', reason: `its interval is ${String(alert.interval)}; to include it, silence it for at least that long` }
  // A start between two borders would shift all later windows.
  const endMs = Math.min(borderAfter(nowMs + durationMs, intervalMs), borderBefore(nowMs + maxAheadMs, intervalMs))
  return startMs >= endMs
    ? { decision: 'already-silenced', ...endAt(startMs, intervalMs) }
    : { decision: 'silence', ...endAt(endMs, intervalMs) }
}

type EndDecision = (SilenceEnd & { readonly decision: 'end' }) | { readonly decision: 'not-silenced' } | Refusal

/** The start is the latest border. Without a start, the server would evaluate the silenced windows and notify about them. */
export function decideEnd(alert: Body, nowMs: number): EndDecision {
  const startMs = startMsOf(alert)
  if (startMs === undefined || startMs <= nowMs) return { decision: 'not-silenced' }
  // An offset has no effect while there is a start.
  const schedule = readSchedule({ ...alert, scheduleOffsetMinutes: undefined })
  if ('decision' in schedule) return schedule
  const { intervalMs } = schedule
  return { decision: 'end', ...endAt(borderBefore(nowMs, intervalMs), intervalMs) }
}

const endAt = (startMs: number, intervalMs: number): SilenceEnd => ({ startMs, firstEvaluationMs: startMs + intervalMs })

/** Only for windows that begin at the borders of intervals. */
function readSchedule(alert: Body) {
  const [intervalMs, startMs] = [intervalMsOf(alert.interval), startMsOf(alert)]
  if (intervalMs === undefined) return refuse('its interval is unknown to this version')
  if (hasOffset(alert)) return refuse('it has a schedule offset, which the server resets when a start is set')
  if (startMs !== undefined && startMs % intervalMs !== 0)
    return refuse('its schedule start is not at a border of its intervals, so another start would shift its windows')
  return { intervalMs, startMs }
}

const refuse = (reason: string): Refusal => ({ decision: 'refused', reason })
