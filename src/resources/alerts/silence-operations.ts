import * as z from 'zod'
import type { WriteApi } from '../../api/client.ts'
import { WatchkeeperError } from '../../core/errors.ts'
import { counted, type Inline, join, type Line, say, sentence, trusted, untrusted } from '../../core/line.ts'
import { quote } from '../../core/text.ts'
import { duration, durationMsOf, flag, text } from '../../operation/inputs.ts'
import { nameMatches } from '../../operation/listing.ts'
import { type Context, defineOperation, pass, type Verdict } from '../../operation/operation.ts'
import type { Block } from '../../report/blocks.ts'
import { formatMoment } from '../../report/format.ts'
import { type Alert, alertCollection } from './alert.ts'
import { changeAlert } from './alert-operations.ts'
import { startMsOf, toStart } from './schedule.ts'
import { decideSilence, decideUnsilence } from './silence.ts'

const outcomes = [
  'silenced',
  'already-silenced',
  'left-out',
  'unsilenced',
  'not-silenced',
  // Its windows are shifted, so that another start would change them.
  'refused',
  'failed',
  'skipped',
] as const

const reachedAlert = z.object({
  id: z.string(),
  name: z.string(),
  outcome: z.enum(outcomes),
  silencedUntil: z.string().optional().describe('End of the silence.'),
  firstEvaluation: z.string().optional().describe('Time of the first evaluation after the silence, of the data of one interval.'),
  reason: z.string().optional().describe('Why the alert was not changed.'),
})

type ReachedAlert = z.output<typeof reachedAlert>

const details = z.object({ alerts: z.array(reachedAlert).describe('All alerts whose name matches, each with its outcome.') })

export const silenceAlerts = defineOperation({
  summary: 'Silences alerts for a time, such as during a deploy. The silence ends by itself.',
  effect: 'write',
  scope: 'service-or-server',
  profiles: ['clickhouse-cloud', 'hyperdx'],
  input: z.strictObject({
    nameContains: text('Silences the alerts whose name contains this text. Case does not matter.', 256),
    for: duration('How long the alerts are silenced. The end is rounded up to the next evaluation of each alert.'),
    includeLongIntervals: flag(
      'Also silences alerts with an interval of 6h or more, although even a short silence can make them miss two evaluations.',
    ).default(false),
  }),
  output: z.object({
    count: z.int().describe('Number of alerts that are silenced now.'),
    ids: z.array(z.string()).describe('Their ids, as a JSON array.'),
    changed: z.boolean().describe('Whether this run changed anything.'),
    silencedUntil: z.string().describe('The latest end of their silences. Empty without any.'),
  }),
  details,
  example: { nameContains: 'checkout', for: '30m' },
  async run(context, { nameContains, for: length, includeLongIntervals }) {
    const request = { nowMs: context.clock.now(), durationMs: durationMsOf(length), includeLongIntervals }
    const alerts = await changeStarts(context, nameContains, (alert) => {
      const decided = decideSilence(alert, request)
      if (!('startMs' in decided)) return { outcome: decided.decision, reason: decided.reason }
      const times = { silencedUntil: toStart(decided.startMs), firstEvaluation: toStart(decided.firstEvaluationMs) }
      return decided.decision === 'silence'
        ? { outcome: 'silenced', ...times, startMs: decided.startMs }
        : { outcome: 'already-silenced', ...times }
    })
    const silenced = alerts.filter(isSilenced)
    return {
      count: silenced.length,
      ids: silenced.map(({ id }) => id),
      changed: alerts.some(({ outcome }) => outcome === 'silenced'),
      silencedUntil: silenced.map(({ silencedUntil = '' }) => silencedUntil).reduce((a, b) => (a > b ? a : b), ''),
      alerts,
    }
  },
  judge: ({ count, alerts }) =>
    count === 0 && alerts.every(({ outcome }) => outcome === 'left-out')
      ? { status: 'fail', reasons: [say`every alert whose name matches has an interval of 6h or more; set include-long-intervals`] }
      : judgeAlerts(alerts),
  report: ({ count, alerts }) => ({
    headline: say`${counted(count, 'alert')} silenced`,
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Alert' }, { title: 'Silenced until' }, { title: 'First evaluation' }],
        rows: alerts
          .filter(isSilenced)
          .map(({ name, silencedUntil, firstEvaluation }) => [[untrusted(name)], [moment(silencedUntil)], [moment(firstEvaluation)]]),
      },
      reasonTable('Not silenced', alerts),
    ],
  }),
})

const isSilenced = ({ outcome }: ReachedAlert): boolean => outcome === 'silenced' || outcome === 'already-silenced'

export const unsilenceAlerts = defineOperation({
  summary: 'Ends the silence of alerts before its time. Succeeds if they are not silenced.',
  effect: 'write',
  scope: 'service-or-server',
  profiles: ['clickhouse-cloud', 'hyperdx'],
  input: z.strictObject({
    nameContains: text('Ends the silence of the alerts whose name contains this text. Case does not matter.', 256),
  }),
  output: z.object({
    count: z.int().describe('Number of alerts whose silence this run ended.'),
    ids: z.array(z.string()).describe('Their ids, as a JSON array.'),
    changed: z.boolean().describe('Whether this run changed anything.'),
  }),
  details,
  example: { nameContains: 'checkout' },
  async run(context, { nameContains }) {
    const nowMs = context.clock.now()
    const alerts = await changeStarts(context, nameContains, (alert) => {
      const decided = decideUnsilence(alert, nowMs)
      if (decided.decision === 'refused') return { outcome: 'refused', reason: decided.reason }
      if (decided.decision === 'not-silenced') return { outcome: 'not-silenced', reason: 'it is not silenced' }
      return { outcome: 'unsilenced', firstEvaluation: toStart(decided.firstEvaluationMs), startMs: decided.startMs }
    })
    const ended = alerts.filter(isUnsilenced)
    return { count: ended.length, ids: ended.map(({ id }) => id), changed: ended.length > 0, alerts }
  },
  judge: ({ alerts }) => judgeAlerts(alerts),
  report: ({ count, alerts }) => ({
    headline: count === 0 ? say`No silence ended` : say`Silence of ${counted(count, 'alert')} ended`,
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Alert' }, { title: 'First evaluation' }],
        rows: alerts.filter(isUnsilenced).map(({ name, firstEvaluation }) => [[untrusted(name)], [moment(firstEvaluation)]]),
      },
      reasonTable('Not changed', alerts),
    ],
  }),
})

const isUnsilenced = ({ outcome }: ReachedAlert): boolean => outcome === 'unsilenced'

type AlertContext = Pick<Context<'write', 'service-or-server'>, 'service' | 'profile' | 'clock'> & { readonly api: WriteApi }

/** The outcome for an alert; with a start, it is the outcome of writing this start. */
type Decision = Omit<ReachedAlert, 'id' | 'name'> & { readonly startMs?: number }

/**
 * Decides for each alert whose name matches, and writes its start where the decision has one. After an error of the API, no other is
 * written: it would fail in the same way, and a second run continues. Throws the error where no alert was written before it, and where no
 * name matches.
 */
async function changeStarts(context: AlertContext, namePart: string, decide: (alert: Alert) => Decision): Promise<ReachedAlert[]> {
  const { items } = await alertCollection.list(context.api, context.service)
  const wanted = items.filter(nameMatches(namePart))
  if (wanted.length === 0)
    throw new WatchkeeperError('not-found', `No alert has a name that contains "${quote(namePart, 80)}". list-alerts shows their names.`)
  const reached: ReachedAlert[] = []
  let hasWritten = false
  let hasFailed = false
  for (const alert of wanted) {
    const { startMs, ...decided } = decide(alert)
    reached.push({ id: alert.id, name: alert.name || alert.id, ...(startMs === undefined ? decided : await write(alert.id)) })
  }
  return reached

  async function write(id: string): Promise<Omit<Decision, 'startMs'>> {
    if (hasFailed) return { outcome: 'skipped', reason: 'an earlier alert failed' }
    try {
      // Another user may have changed the alert since it was listed.
      const fresh = await alertCollection.get(context.api, context.service, id)
      const { startMs, ...decided } = decide(fresh)
      if (startMs !== undefined) await writeStart(context, fresh, startMs)
      hasWritten ||= startMs !== undefined
      return decided
    } catch (thrown) {
      // The error explains itself as long as there is nothing else to report.
      if (!(thrown instanceof WatchkeeperError) || !hasWritten) throw thrown
      hasFailed = true
      return { outcome: 'failed', reason: thrown.message.split('\n', 1)[0] ?? '' }
    }
  }
}

async function writeStart(context: AlertContext, alert: Alert, startMs: number): Promise<void> {
  const { alert: stored } = await changeAlert(context, alert, { scheduleStartAt: toStart(startMs) })
  if (startMsOf(stored) !== startMs)
    throw new WatchkeeperError('refused', 'The service did not store the start of the alert. Its version may not have this field yet.')
}

function judgeAlerts(alerts: readonly ReachedAlert[]): Verdict {
  const failed = alerts.find(({ outcome }) => outcome === 'failed')
  if (failed !== undefined) {
    const skipped = alerts.filter(({ outcome }) => outcome === 'skipped').length
    const reasons = [
      say`alert ${failed.name} failed: ${sentence(failed.reason ?? '')}`,
      ...(skipped > 0 ? [say`${counted(skipped, 'alert')} skipped; run it again`] : []),
    ]
    return { status: 'error', reasons, exit: 'partlyApplied' }
  }
  const refused = alerts.filter(({ outcome }) => outcome === 'refused')
  return refused.length === 0 ? pass : { status: 'fail', reasons: [say`${counted(refused.length, 'alert')} refused: ${namesOf(refused)}`] }
}

/** The most alerts that one sentence names. */
const mostNamed = 5

function namesOf(alerts: readonly ReachedAlert[]): Line {
  const more = alerts.length > mostNamed ? [say`${alerts.length - mostNamed} more`] : []
  return join([...alerts.slice(0, mostNamed).map(({ name }): Line => [untrusted(name)]), ...more], ', ')
}

const moment = (iso: string | undefined): Inline => trusted(iso === undefined ? '–' : formatMoment(Date.parse(iso)))

const reasonTable = (title: string, alerts: readonly ReachedAlert[]): Block => ({
  kind: 'table',
  title,
  columns: [{ title: 'Alert' }, { title: 'Reason' }],
  rows: alerts.flatMap(({ name, reason }) => (reason === undefined ? [] : [[[untrusted(name)], [sentence(reason)]]])),
})
