// Owns the cost gate: reads the usage of a period, compares it with a budget, and says how far the figure can be trusted.
import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import type { UsageAnswer } from '../api/usage.ts'
import { dayOf } from '../kernel/days.ts'
import { sum } from '../kernel/decimal.ts'
import { WatchkeeperError } from '../kernel/errors.ts'
import { judgeBudget } from '../rules/budget.ts'
import { cutIntoWindows, daysIn, type Period } from '../rules/period.ts'
import { toSpend } from '../rules/spend.ts'
import { amount, choice, lines } from './fields.ts'
import { defineOperation } from './operation.ts'
import { checkPeriod, choosePeriod, periodInput } from './period-input.ts'
import { reportUsage } from './usage-report.ts'
import { toUsageResult, usageDetails, usageOutput } from './usage-result.ts'
import { judgeUsage } from './usage-verdict.ts'

const tagFilter = z.string().regex(/^tag:[^\s=]{1,128}(?:=[^\r\n]{0,256})?$/)

export const usageCost = defineOperation({
  summary: "Reports the organization's usage cost over a period, and fails when it is above a budget.",
  effect: 'read',
  scope: 'organization',
  input: z.strictObject({
    ...periodInput,
    budget: amount('Most that may be used, in usage credits. The gate fails above it; equal passes.').optional(),
    warnBudget: amount('The gate warns above this amount.').optional(),
    filter: lines(
      'Only usage that bears these tags; passed on to the API. One filter a line.',
      'tag:Key=Value or tag:Key, one a line',
      tagFilter,
    ).optional(),
    onMissing: choice(
      ['fail', 'warn', 'ignore'],
      'What to do when the figures are doubtful: no records at all, days without records, records that do not add up to the total.',
    ).default('fail'),
  }),
  output: usageOutput,
  details: usageDetails,
  example: { period: 'last-7-days', budget: '200' },
  check: checkPeriod,
  async run({ api, organizationId, clock }, input) {
    const today = dayOf(clock.now())
    const { period, clipped } = choosePeriod(input, today)
    const { unit, grandTotal, records } = await readPeriod(api, organizationId, period, input.filter ?? [])
    const spend = toSpend({ period, today, grandTotal, records })
    const limits = { budget: input.budget, warnBudget: input.warnBudget }
    return toUsageResult({
      unit,
      spend,
      records,
      limits,
      judgement: judgeBudget(grandTotal, limits),
      days: daysIn(period),
      clipped,
      onMissing: input.onMissing,
    })
  },
  judge: judgeUsage,
  report: reportUsage,
})

/** All of the period or an error: a total of some windows would be a wrong total. */
async function readPeriod(api: ReadApi, organizationId: string, period: Period, filters: readonly string[]): Promise<UsageAnswer> {
  const answers = await Promise.all(cutIntoWindows(period).map((window) => api.usage.read(organizationId, window, filters)))
  const [unit, second] = new Set(answers.map((answer) => answer.unit))
  if (unit === undefined || second !== undefined) {
    throw new WatchkeeperError('bad-answer', `The API counts in ${unit} for one part of the period and in ${second} for another.`)
  }
  return { unit, grandTotal: sum(answers.map(({ grandTotal }) => grandTotal)), records: answers.flatMap(({ records }) => records) }
}
