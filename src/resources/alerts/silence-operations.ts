import * as z from 'zod'
import type { WriteApi } from '../../api/client.ts'
import type { Target } from '../../api/path.ts'
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
import { decideSilence, decideUnsilence, type SilenceEnd } from './silence.ts'

const time = (description: string) => z.string().optional().describe(description)

const reached = {
  id: z.string(),
  name: z.string(),
  reason: z.string().optional().describe('Why the alert was not changed.'),
}

const silenceOutcomes = ['silenced', 'already-silenced', 'left-out', 'refused', 'failed', 'skipped'] as const

export const silenceAlerts = defineOperation({
  summary: 'Silences alerts for a time, such as during a deploy. The silence ends by itself.',
  effect: 'write',
  scope: 'service-or-server',
  needsProfile: true,
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
  details: z.object({
    alerts: z
      .array(
        z.object({
          ...reached,
          outcome: z.enum(silenceOutcomes),
          silencedUntil: time('End of the silence.'),
          firstEvaluation: time('Time of the first evaluation afterwards. It covers the data since the end of the silence.'),
        }),
      )
      .describe('All alerts whose name matches.'),
  }),
  example: { nameContains: 'checkout', for: '30m' },
  async run(context, { nameContains, for: length, includeLongIntervals }) {
    const nowMs = context.clock.now()
    const request = { nowMs, durationMs: durationMsOf(length), includeLongIntervals }
    const alerts = await forEachMatch(context, nameContains, async (alert, write) => {
      const decided = decideSilence(alert, request)
      switch (decided.decision) {
        case 'silence':
          await write(decided.startMs)
          return { outcome: 'silenced' as const, ...silenceTimes(decided) }
        case 'already-silenced':
          return { outcome: 'already-silenced' as const, ...silenceTimes(decided) }
        default:
          return { outcome: decided.decision, reason: decided.reason }
      }
    })
    const silenced = alerts.filter(isSilenced)
    return {
      count: silenced.length,
      ids: silenced.map(({ id }) => id),
      changed: alerts.some(({ outcome }) => outcome === 'silenced'),
      silencedUntil: silenced.map((one) => ('silencedUntil' in one ? one.silencedUntil : '')).reduce((a, b) => (a > b ? a : b), ''),
      alerts,
    }
  },
  judge: ({ count, alerts }) => {
    const verdict = judgeReached(alerts)
    return verdict.status === 'pass' && count === 0 && alerts.some(({ outcome }) => outcome === 'left-out')
      ? { status: 'fail', reasons: [say`every alert whose name matches has an interval of 6h or more; set include-long-intervals`] }
      : verdict
  },
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
      unchangedTable(
        'Not silenced',
        alerts.filter((one) => !isSilenced(one)),
      ),
    ],
  }),
})

const isSilenced = ({ outcome }: { readonly outcome: string }): boolean => outcome === 'silenced' || outcome === 'already-silenced'

const silenceTimes = ({ startMs, firstEvaluationMs }: SilenceEnd) => ({
  silencedUntil: toStart(startMs),
  firstEvaluation: toStart(firstEvaluationMs),
})

const unsilenceOutcomes = ['unsilenced', 'not-silenced', 'refused', 'failed', 'skipped'] as const

export const unsilenceAlerts = defineOperation({
  summary: 'Ends the silence of alerts before its time. Succeeds if they are not silenced.',
  effect: 'write',
  scope: 'service-or-server',
  needsProfile: true,
  input: z.strictObject({
    nameContains: text('Ends the silence of the alerts whose name contains this text. Case does not matter.', 256),
  }),
  output: z.object({
    count: z.int().describe('Number of alerts whose silence this run ended.'),
    ids: z.array(z.string()).describe('Their ids, as a JSON array.'),
    changed: z.boolean().describe('Whether this run changed anything.'),
  }),
  details: z.object({
    alerts: z
      .array(
        z.object({
          ...reached,
          outcome: z.enum(unsilenceOutcomes),
          firstEvaluation: time('Time of the next evaluation. It covers the data of one interval.'),
        }),
      )
      .describe('All alerts whose name matches.'),
  }),
  example: { nameContains: 'checkout' },
  async run(context, { nameContains }) {
    const alerts = await forEachMatch(context, nameContains, async (alert, write) => {
      const decided = decideUnsilence(alert, context.clock.now())
      if (decided.decision === 'refused') return { outcome: 'refused' as const, reason: decided.reason }
      if (decided.decision === 'not-silenced') return { outcome: 'not-silenced' as const, reason: 'it is not silenced' }
      await write(decided.startMs)
      return { outcome: 'unsilenced' as const, firstEvaluation: toStart(decided.firstEvaluationMs) }
    })
    const ended = alerts.filter(({ outcome }) => outcome === 'unsilenced')
    return { count: ended.length, ids: ended.map(({ id }) => id), changed: ended.length > 0, alerts }
  },
  judge: ({ alerts }) => judgeReached(alerts),
  report: ({ count, alerts }) => ({
    headline: count === 0 ? say`No silence ended` : say`Silence of ${counted(count, 'alert')} ended`,
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Alert' }, { title: 'First evaluation' }],
        rows: alerts
          .filter(({ outcome }) => outcome === 'unsilenced')
          .map(({ name, firstEvaluation }) => [[untrusted(name)], [moment(firstEvaluation)]]),
      },
      unchangedTable(
        'Not changed',
        alerts.filter(({ outcome }) => outcome !== 'unsilenced'),
      ),
    ],
  }),
})

/** An alert with the outcome of the operation for it. */
interface Reached {
  readonly id: string
  readonly name: string
  readonly outcome: string
  readonly reason?: string | undefined
}

type Failed = { readonly outcome: 'failed' | 'skipped'; readonly reason: string }

/** Sets the start of the alert, and keeps everything else. */
type WriteStart = (startMs: number) => Promise<void>

type AlertContext = Pick<Context<'write', 'service-or-server'>, 'service' | 'profile' | 'clock'> & { readonly api: WriteApi }

/**
 * Works on each alert whose name matches. After an error of the API, the others are skipped: they would fail in the same way, and a
 * second run continues. Throws the error where no alert was changed before it, and where no name matches.
 */
async function forEachMatch<Outcome extends { readonly outcome: string }>(
  context: AlertContext,
  namePart: string,
  work: (alert: Alert, write: WriteStart) => Promise<Outcome>,
) {
  const matches = nameMatches(namePart)
  const listing = createListing(context)
  const wanted = [...(await listing.read()).values()].filter(matches)
  if (wanted.length === 0)
    throw new WatchkeeperError('not-found', `No alert has a name that contains "${quote(namePart, 80)}". list-alerts shows their names.`)
  const reached: ({ readonly id: string; readonly name: string } & (Outcome | Failed))[] = []
  let failure: string | undefined
  for (const { id, name } of wanted) {
    const done = failure === undefined ? await attempt(id) : { outcome: 'skipped' as const, reason: 'an earlier alert failed' }
    if (done.outcome === 'failed') failure = id
    reached.push({ id, name: name || id, ...done })
  }
  return reached

  async function attempt(id: string): Promise<Outcome | Failed> {
    try {
      const alert = (await listing.read()).get(id)
      if (alert === undefined) return { outcome: 'skipped', reason: 'it was deleted in the meantime' }
      return await work(alert, (startMs) => writeStart(context, alert, startMs))
    } catch (thrown) {
      // The error explains itself, as long as there is nothing else to report.
      if (!(thrown instanceof WatchkeeperError) || !reached.some(isChanged)) throw thrown
      return { outcome: 'failed', reason: thrown.message.split('\n', 1)[0] ?? '' }
    }
  }
}

const isChanged = ({ outcome }: { readonly outcome: string }): boolean => outcome === 'silenced' || outcome === 'unsilenced'

/** An update sends the whole alert. A change that another user made after this time would be lost. */
const maxListAgeMs = 10_000

/** The alerts by id, read again when the last list is too old to write by. */
function createListing({ api, service, clock }: AlertContext) {
  let last: { readonly atMs: number; readonly alerts: ReadonlyMap<string, Alert> } | undefined
  return {
    async read(): Promise<ReadonlyMap<string, Alert>> {
      if (last === undefined || clock.monotonicMs() - last.atMs > maxListAgeMs)
        last = { alerts: await listAlerts(api, service), atMs: clock.monotonicMs() }
      return last.alerts
    },
  }
}

async function listAlerts(api: WriteApi, service: Target): Promise<ReadonlyMap<string, Alert>> {
  const { items } = await alertCollection.list(api, service)
  return new Map(items.map((alert) => [alert.id, alert]))
}

async function writeStart(context: AlertContext, alert: Alert, startMs: number): Promise<void> {
  const { alert: stored } = await changeAlert(context, alert, { scheduleStartAt: toStart(startMs) })
  if (startMsOf(stored) !== startMs)
    throw new WatchkeeperError('refused', 'The service did not store the start of the alert. Its version may not have this field yet.')
}

function judgeReached(alerts: readonly Reached[]): Verdict {
  const named = (outcome: string): readonly Reached[] => alerts.filter((one) => one.outcome === outcome)
  const [failure] = named('failed')
  if (failure !== undefined) {
    const rest = named('skipped').length
    const reasons = [
      say`alert ${failure.name} failed: ${sentence(failure.reason ?? '')}`,
      ...(rest > 0 ? [say`${counted(rest, 'alert')} skipped; run it again`] : []),
    ]
    return { status: 'error', reasons, exit: 'partlyApplied' }
  }
  const refused = named('refused')
  return refused.length === 0 ? pass : { status: 'fail', reasons: [say`${counted(refused.length, 'alert')} refused: ${namesOf(refused)}`] }
}

/** The most alerts that one sentence names. */
const mostNamed = 5

function namesOf(alerts: readonly Reached[]): Line {
  const more = alerts.length > mostNamed ? [say`${alerts.length - mostNamed} more`] : []
  return join([...alerts.slice(0, mostNamed).map(({ name }): Line => [untrusted(name)]), ...more], ', ')
}

const moment = (iso: string | undefined): Inline => trusted(iso === undefined ? '–' : formatMoment(Date.parse(iso)))

const unchangedTable = (title: string, alerts: readonly Reached[]): Block => ({
  kind: 'table',
  title,
  columns: [{ title: 'Alert' }, { title: 'Reason' }],
  rows: alerts.map(({ name, reason = '' }) => [[untrusted(name)], [sentence(reason)]]),
})
