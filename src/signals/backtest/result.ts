import * as z from 'zod'
import { minuteMs } from '../../platform/core/durations.ts'
import type { Coverage } from './coverage.ts'
import type { Estimate } from './estimate.ts'
import type { Judgement } from './judge.ts'
import { drawWindows } from './summary.ts'

const count = (what: string) => z.int().optional().describe(what)

/** What an alert would have done, as a result document has it. An alert without an estimate has no numbers. */
export const estimateSchema = z.object({
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
      'The value now and in the range, and how often it reached the threshold: `now 2; 7 days: 0 … 9 in 168 of 168 windows; ≥ 5: reached in 3`.',
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

const maxTimes = 100

export function toAlertEstimate(estimate: Estimate, { fact, findings }: Partial<Judgement> = {}): AlertEstimate {
  const judged = { ...(fact !== undefined && { fact }), ...(findings !== undefined && findings.length > 0 && { findings: [...findings] }) }
  if (estimate.verdict === 'no-data') return { verdict: 'no-data', coverage: describeCoverage(estimate.coverage), ...judged }
  if (estimate.verdict === 'not-estimable') return { verdict: 'not-estimable', reason: estimate.reason }
  const { longestEpisodeMs, shareOfTime, notifiedAtMs, ...counts } = estimate.summary
  return {
    verdict: estimate.verdict,
    ...counts,
    notifiedAt: notifiedAtMs.slice(0, maxTimes).map(toTime),
    longestEpisodeMinutes: longestEpisodeMs / minuteMs,
    shareOfTime: Math.round(shareOfTime * 1e6) / 1e6,
    sparkline: drawWindows(estimate.windows),
    ...(estimate.coverage && { coverage: describeCoverage(estimate.coverage) }),
    ...judged,
  }
}

const toTime = (ms: number): string => new Date(ms).toISOString()

const describeCoverage = ({ windows, windowsWithData, firstMs, lastMs }: Coverage): AlertEstimate['coverage'] => ({
  windowsWithData,
  share: windows === 0 ? 0 : Math.round((windowsWithData / windows) * 1e6) / 1e6,
  ...(firstMs !== undefined && { first: toTime(firstMs) }),
  ...(lastMs !== undefined && { last: toTime(lastMs) }),
})
