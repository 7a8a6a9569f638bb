import * as z from 'zod'
import { formatMoment } from '../../platform/core/dates.ts'
import { minuteMs } from '../../platform/core/durations.ts'
import { type Line, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import type { Part } from '../../platform/report/blocks.ts'
import { formatDuration, formatTimes } from '../../platform/report/format.ts'
import { type Cell, shown, table } from '../../platform/report/table.ts'
import { formatCoverage, minCoverage } from '../../signals/backtest/coverage.ts'
import { type AlertEstimate, estimateSchema } from '../../signals/backtest/result.ts'

export const backtestedAlert = z.object({
  key: z.string().describe('The key in the files.'),
  name: z.string(),
  changed: z.boolean().describe('Whether the plan changes the alert, or what it compares.'),
  now: estimateSchema.optional().describe('The alert as the service has it. Absent for a new alert.'),
  next: estimateSchema.optional().describe('The alert as the files declare it. Absent for one that is deleted.'),
})

export type BacktestedAlert = z.output<typeof backtestedAlert>

interface Backtested {
  readonly alerts: readonly BacktestedAlert[]
}

const verdictWords: Readonly<Record<AlertEstimate['verdict'], string>> = {
  fires: 'fires',
  quiet: 'quiet',
  'no-data': 'no data',
  'not-estimable': 'not estimable',
}

/** Shown for a raw SQL tile whose source is unknown. */
const unknownData = 'data unknown: the tile names no source'

/** Shown for an alert that the server would have evaluated in no window of the range. */
export const notEvaluated = 'not evaluated before its start'

/** `fires 12`, `quiet`, `no data`, `not estimable (the tile is raw SQL, …)`. */
function describeEstimate(estimate: AlertEstimate | undefined): Line {
  if (estimate === undefined) return [trusted('–')]
  const { verdict, notifications, reason, windows } = estimate
  if (verdict === 'not-estimable') return say`not estimable (${untrustedSentence(reason ?? '')})`
  if (windows === 0) return [trusted(notEvaluated)]
  const counted = verdict === 'fires' ? say`fires ${notifications ?? 0}` : [trusted(verdictWords[verdict])]
  const doubt = estimate.findings?.find(({ severity }) => severity === 'warning')
  const outcome = doubt === undefined ? counted : say`${counted} (${untrustedSentence(doubt.message)})`
  if (estimate.coverage === undefined) return say`${outcome} (${trusted(unknownData)})`
  const { share } = estimate.coverage
  // An empty source has its own verdict.
  return verdict === 'no-data' || share * 100 >= minCoverage
    ? outcome
    : say`${outcome} (data in ${trusted(formatCoverage(share))} of the time)`
}

/** What every estimate leaves out. */
const omissions =
  'Estimated from the stored values of today: an estimate leaves out data that arrived late or is past its TTL, silences, and settings of a tile that the API does not show. It begins without a history, and counts one notification for each breaching window and group.'

/** The alerts before and after the plan, for a review. */
export function reviewBlocks({ alerts }: Backtested, days: number): Part {
  if (alerts.length === 0) return undefined
  return [
    table('Backtest', alerts, {
      Alert: ({ name }) => name,
      [`Last ${days} days: now → with this change`]: ({ now, next }) => [
        ...describeEstimate(now),
        trusted(' → '),
        ...describeEstimate(next),
      ],
      'Notifies at': ({ next }) => describeTimes(next),
      'Values (█ breaches)': ({ next }) => trusted(next?.sparkline ?? ''),
      '> Values': ({ next }) => next?.fact,
    }),
    [trusted(omissions)],
  ]
}

export function backtestBlocks({ alerts }: Backtested): Part {
  if (alerts.length === 0) return undefined
  return [
    table(undefined, alerts, {
      Alert: ({ key }) => key,
      Now: ({ now }) => describeEstimate(now),
      'With the files': ({ next }) => describeEstimate(next),
      '> Breaching windows': ({ next }) => (next?.windows === undefined ? [] : trusted(`${next.breachingWindows ?? 0} of ${next.windows}`)),
      '> Longest': ({ next }) => describeLongest(next),
      '> Data': ({ next }) => describeCoverage(next),
      'Notifies at': ({ next }) => describeTimes(next),
      'Values (█ breaches)': ({ next }) => trusted(next?.sparkline ?? ''),
      '> Values': ({ next }) => next?.fact,
    }),
    suggestionTable(alerts),
    [trusted(omissions)],
  ]
}

function describeLongest(estimate: AlertEstimate | undefined): Cell {
  if (estimate?.windows === undefined) return []
  return shown(estimate.longestEpisodeMinutes || undefined, (minutes) => formatDuration(minutes * minuteMs))
}

function describeTimes(estimate: AlertEstimate | undefined): Line {
  if (estimate?.windows === undefined) return []
  const { episodes = 0, notifiedAt = [] } = estimate
  return [trusted(episodes === 0 ? '–' : formatTimes(notifiedAt, episodes))]
}

/** `100%`, or `4.1% (15 Nov 2026 17:00 to 16 Nov 2026 00:00 UTC)`. */
function describeCoverage(estimate: AlertEstimate | undefined): Line {
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
