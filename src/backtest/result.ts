import * as z from 'zod'
import { minuteMs } from '../core/durations.ts'
import type { Estimate } from './estimate.ts'
import { drawWindows, percentiles } from './summary.ts'

const count = (what: string) => z.int().optional().describe(what)

/** What an alert would have done, as a result document has it. An alert without an estimate has no numbers. */
export const estimateSchema = z.object({
  verdict: z.enum(['fires', 'quiet', 'no-data', 'not-estimable']),
  reason: z.string().optional().describe('Why it is not estimable.'),
  windows: count('Evaluated windows.'),
  breachingWindows: count('Windows in which a value violates the threshold.'),
  episodes: count('Times that the alert began to fire.'),
  notifications: count('One for each breaching window and group, as the server sends them.'),
  notificationsOnBusiestDay: count('The most notifications on one UTC day.'),
  longestEpisodeMinutes: z.number().optional().describe('Length of the longest episode.'),
  shareOfTime: z.number().optional().describe('The part of the windows in which the alert fires, from 0 to 1.'),
  sparkline: z.string().optional().describe('The values over time. █ marks breaching windows.'),
  suggestions: z
    .array(z.object({ percentile: z.literal([...percentiles]), threshold: z.number(), notifications: z.int() }))
    .optional()
    .describe('With `suggest`: the notifications with percentiles of the window values as thresholds.'),
})

export type AlertEstimate = z.output<typeof estimateSchema>

export function toAlertEstimate(estimate: Estimate): AlertEstimate {
  if (estimate.verdict === 'no-data') return { verdict: 'no-data' }
  if (estimate.verdict === 'not-estimable') return { verdict: 'not-estimable', reason: estimate.reason }
  const { longestEpisodeMs, shareOfTime, ...counts } = estimate.summary
  return {
    verdict: estimate.verdict,
    ...counts,
    longestEpisodeMinutes: longestEpisodeMs / minuteMs,
    shareOfTime: Math.round(shareOfTime * 1e6) / 1e6,
    sparkline: drawWindows(estimate.windows),
    ...(estimate.suggestions.length > 0 && { suggestions: estimate.suggestions.map((one) => ({ ...one })) }),
  }
}
