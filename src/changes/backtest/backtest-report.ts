import * as z from 'zod'
import { formatMoment } from '../../platform/core/dates.ts'
import { minuteMs } from '../../platform/core/durations.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { counted, join, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { integer, noted, onMissingInput } from '../../platform/operation/inputs.ts'
import type { Part } from '../../platform/report/blocks.ts'
import { formatDuration, formatTimes } from '../../platform/report/format.ts'
import { pass, type Verdict } from '../../platform/report/report.ts'
import { type Cell, shown, table } from '../../platform/report/table.ts'
import type { Estimate } from '../../signals/backtest/estimate.ts'
import { drawWindows } from '../../signals/backtest/evaluate.ts'
import type { Judgement } from '../../signals/backtest/judge.ts'
import type { Coverage } from '../../signals/backtest/series-api.ts'

const count = (what: string) => z.int().optional().describe(what)

/** An alert without an estimate has no numbers. */
const estimateSchema = z.object({
  verdict: z.enum(['fires', 'quiet', 'no-data', 'not-estimable']),
  reason: z.string().optional().describe('Why it is not estimable.'),
  windows: count('Evaluated windows.'),
  breachingWindows: count('Windows in which a value violates the threshold.'),
  episodes: count('Times that the alert began to fire.'),
  notifiedAt: z.array(z.string()).optional().describe('Time of the first notification of each episode, at most 100.'),
  notifications: count('One for each breaching window and group, as the server sends them.'),
  notificationsOnBusiestDay: count('The most notifications on one UTC day.'),
  longestEpisodeMinutes: z.number().optional().describe('Length of the longest episode.'),
  shareOfTime: z.number().optional().describe('The part of the windows in which the alert fires, from 0 to 1.'),
  sparkline: z.string().optional().describe('The values over time. █ marks breaching windows.'),
  coverage: z
    .object({
      windowsWithData: z.int().describe('Windows in which the source has rows, with or without the condition of the alert.'),
      share: z.number().describe('The part of the evaluated windows, from 0 to 1.'),
      first: z.string().optional().describe('Start of the first window with data.'),
      last: z.string().optional().describe('End of the last one.'),
    })
    .optional()
    .describe('How much of the backtest has data. Absent where the source of a raw SQL tile is unknown.'),
  fact: z
    .string()
    .optional()
    .describe(
      'The value at the end of the range and in it, and how often it reached the threshold: `last window 2; 7 days: 0 … 9 in 168 of 168 windows; ≥ 5: reached in 3`.',
    ),
  findings: z
    .array(z.object({ severity: z.enum(['warning', 'note']), message: z.string() }))
    .optional()
    .describe('What the values prove against the alert, such as a condition that no row can match.'),
  suggestion: z
    .union([
      z.object({
        threshold: z.number(),
        windows: z.int().describe('Windows in a row: `numConsecutiveWindows`.'),
        notificationsOnBusiestDay: z.int(),
      }),
      z.object({ reason: z.string().describe('Why there is none.') }),
    ])
    .optional()
    .describe('Where the alert is above `max-notifications`: the condition that keeps it and detects all incidents of the alert.'),
})

export type AlertEstimate = z.output<typeof estimateSchema>

export function toAlertEstimate(estimate: Estimate, judgement: Judgement | undefined): AlertEstimate {
  const findings = judgement?.findings ?? []
  const judged = { ...(judgement && { fact: judgement.fact }), ...(findings.length > 0 && { findings: [...findings] }) }
  if (estimate.verdict === 'no-data') return { verdict: 'no-data', coverage: toCoverageResult(estimate.coverage), ...judged }
  if (estimate.verdict === 'not-estimable') return { verdict: 'not-estimable', reason: estimate.reason }
  const { longestEpisodeMs, shareOfTime, notifiedAtMs, ...counts } = estimate.summary
  return {
    verdict: estimate.verdict,
    ...counts,
    notifiedAt: notifiedAtMs.slice(0, 100).map(toTime),
    longestEpisodeMinutes: longestEpisodeMs / minuteMs,
    shareOfTime: Math.round(shareOfTime * 1e6) / 1e6,
    sparkline: drawWindows(estimate.windows),
    ...(estimate.coverage && { coverage: toCoverageResult(estimate.coverage) }),
    ...judged,
  }
}

const toTime = (ms: number) => new Date(ms).toISOString()

const toCoverageResult = ({ windows, windowsWithData, firstMs, lastMs }: Coverage): AlertEstimate['coverage'] => ({
  windowsWithData,
  share: windows === 0 ? 0 : Math.round((windowsWithData / windows) * 1e6) / 1e6,
  ...(firstMs !== undefined && { first: toTime(firstMs) }),
  ...(lastMs !== undefined && { last: toTime(lastMs) }),
})

export const backtestedAlert = z.object({
  key: z.string().describe('The key in the files.'),
  name: z.string(),
  changed: z.boolean().describe('Whether the plan changes the alert, or what it compares.'),
  now: estimateSchema.optional().describe('The alert as the service has it. Absent for a new alert.'),
  next: estimateSchema
    .optional()
    .describe('The alert after the plan, which leaves a held one as it is. Absent for one that is deleted or not created.'),
})

export type BacktestedAlert = z.output<typeof backtestedAlert>

/** `fires 12`, `quiet`, `no data`, `not estimable (the tile is raw SQL, …)`. */
function describeEstimate(estimate: AlertEstimate | undefined) {
  if (estimate === undefined) return [trusted('–')]
  const { verdict, notifications, reason, windows } = estimate
  if (verdict === 'not-estimable') return say`not estimable (${untrustedSentence(reason ?? '')})`
  if (windows === 0) return say`not evaluated before its start`
  const counted = verdict === 'fires' ? say`fires ${notifications ?? 0}` : [trusted(verdict.replace('-', ' '))]
  const doubt = estimate.findings?.find(({ severity }) => severity === 'warning')
  const outcome = doubt === undefined ? counted : say`${counted} (${untrustedSentence(doubt.message)})`
  if (estimate.coverage === undefined) return say`${outcome} (data unknown: the tile names no source)`
  const { share } = estimate.coverage
  return verdict === 'no-data' || share * 100 >= minCoverage
    ? outcome
    : say`${outcome} (data in ${trusted(formatCoverage(share))} of the time)`
}

const omissions =
  'Estimated from the stored values of today: an estimate leaves out data that arrived late or is past its TTL, silences, and settings of a tile that the API does not show. It begins without a history, and counts one notification for each breaching window and group.'

const valueColumns = {
  'Notifies at': ({ next }: BacktestedAlert) => describeTimes(next),
  'Windows (█ breaches)': ({ next }: BacktestedAlert) => trusted(next?.sparkline ?? ''),
  Values: ({ next }: BacktestedAlert) => next?.fact,
}

export function reviewBlocks(alerts: readonly BacktestedAlert[], days: number): Part {
  if (alerts.length === 0) return undefined
  return [
    table('Backtest', alerts, {
      Alert: ({ name }) => name,
      [`Last ${days} days: now → with this change`]: ({ now, next }) => [
        ...describeEstimate(now),
        trusted(' → '),
        ...describeEstimate(next),
      ],
      ...valueColumns,
    }),
    [trusted(omissions)],
  ]
}

export function backtestBlocks(alerts: readonly BacktestedAlert[]): Part {
  if (alerts.length === 0) return undefined
  return [
    table('Alerts', alerts, {
      Alert: ({ key }) => key,
      Now: ({ now }) => describeEstimate(now),
      'After the plan': ({ next }) => describeEstimate(next),
      '> Breaching windows': ({ next }) => (next?.windows === undefined ? [] : trusted(`${next.breachingWindows ?? 0} of ${next.windows}`)),
      '> Longest': ({ next }) => describeLongest(next),
      '> Data': ({ next }) => describeCoverage(next),
      ...valueColumns,
    }),
    suggestionTable(alerts),
    [trusted(omissions)],
  ]
}

function describeLongest(estimate: AlertEstimate | undefined): Cell {
  if (estimate?.windows === undefined) return []
  return shown(estimate.longestEpisodeMinutes || undefined, (minutes) => formatDuration(minutes * minuteMs))
}

function describeTimes(estimate: AlertEstimate | undefined) {
  if (estimate?.windows === undefined) return []
  const { episodes = 0, notifiedAt = [] } = estimate
  return [trusted(episodes === 0 ? '–' : formatTimes(notifiedAt, episodes))]
}

/** `100%`, or `4.1% (15 Nov 2026 17:00 to 16 Nov 2026 00:00 UTC)`. */
function describeCoverage(estimate: AlertEstimate | undefined) {
  if (estimate?.windows === 0) return []
  if (estimate?.coverage === undefined) return estimate?.windows === undefined ? [] : [trusted('unknown')]
  const { share, first, last } = estimate.coverage
  if (share * 100 >= minCoverage || first === undefined || last === undefined) return [trusted(formatCoverage(share))]
  return [trusted(`${formatCoverage(share)} (${formatMoment(first).replace(/ UTC$/, '')} to ${formatMoment(last)})`)]
}

const suggestionTable = (alerts: readonly BacktestedAlert[]): Part =>
  table(
    'Suggested conditions',
    alerts.flatMap(({ key, next }) => (next?.suggestion === undefined ? [] : [{ key, suggestion: next.suggestion }])),
    {
      Alert: ({ key }) => key,
      Threshold: ({ suggestion: one }) => ('reason' in one ? say`none: ${untrustedSentence(one.reason)}` : one.threshold),
      'Windows in a row': ({ suggestion: one }) => ('reason' in one ? [] : one.windows),
      'Notifications on the busiest day': ({ suggestion: one }) => ('reason' in one ? [] : one.notificationsOnBusiestDay),
    },
  )

/** Percentage of the windows. */
const minCoverage = 90

/** `100%`, `4.2%`. Never rounds to 100%. */
const formatCoverage = (share: number) => `${Math.floor(share * 1000) / 10}%`

export const gateInput = {
  maxNotifications: integer(
    'Fails if an alert would have notified more often than this on a day; plan needs `backtest`. The days are those of UTC.',
    0,
    100_000,
  ).optional(),
  onMissing: noted(onMissingInput.optional(), `An alert needs an estimate, and data in ${minCoverage}% of its windows.`),
}

export interface Gates {
  readonly maxNotifications?: number | undefined
  readonly onMissing?: 'fail' | 'warn' | 'ignore' | undefined
}

/** An alert without an estimate passes only where `onMissing` accepts it. */
export function judgeBacktest(alerts: readonly BacktestedAlert[], { maxNotifications, onMissing = 'fail' }: Gates): Verdict {
  if (maxNotifications === undefined) return pass
  const noisy = alerts.filter(({ next }) => (next?.notificationsOnBusiestDay ?? 0) > maxNotifications)
  const failures = noisy.map(
    ({ key, next }) =>
      say`alert ${key} sends ${counted(next?.notificationsOnBusiestDay ?? 0, 'notification')} on one day, above ${maxNotifications}`,
  )
  const [first] = noisy
  const missing = onMissing === 'ignore' ? [] : findUnchecked(alerts)
  if (failures.length > 0 || (missing.length > 0 && onMissing === 'fail'))
    return {
      status: 'fail',
      ...(first && { cause: say`alert ${first.key} notifies too often` }),
      reasons: [...failures, ...(onMissing === 'fail' ? missing : [])],
    }
  return missing.length === 0 ? pass : { status: 'warn', reasons: missing }
}

function findUnchecked(alerts: readonly BacktestedAlert[]) {
  const unknown = alerts.filter(({ next }) => next !== undefined && next.notificationsOnBusiestDay === undefined)
  const names = join(
    unknown.map(({ key }) => say`${key}`),
    ', ',
  )
  const sparse = alerts.filter(({ next }) => next?.notificationsOnBusiestDay !== undefined && isSparse(next))
  return [
    ...(unknown.length === 0
      ? []
      : [
          say`max-notifications could not be checked for ${names}; ${trusted(spellInput('on-missing', 'warn'))} accepts alerts without an estimate`,
        ]),
    ...sparse.map(({ key, next }) => say`max-notifications was checked for alert ${key} with ${describeSparse(next)}`),
  ]
}

/** An unknown share of data is sparse, too. Without an evaluated window, there is nothing to cover. */
const isSparse = (estimate: AlertEstimate) =>
  estimate.verdict !== 'not-estimable' && estimate.windows !== 0 && (estimate.coverage?.share ?? 0) * 100 < minCoverage

const describeSparse = (estimate: AlertEstimate | undefined) =>
  estimate?.coverage === undefined
    ? say`an unknown share of windows with data: set the source of its tile, or ${trusted(spellInput('on-missing', 'warn'))}`
    : say`data in only ${trusted(formatCoverage(estimate.coverage.share))} of its windows, below ${trusted(`${minCoverage}%`)}`
