import * as z from 'zod'
import type { Day } from '../../platform/core/dates.ts'
import { integer } from '../../platform/operation/inputs.ts'
import { creditPriceInput, creditPriceSchema, estimate, exactAmount } from './amounts.ts'
import { balanceSchema } from './credit-balances.ts'
import { type CreditForecast, creditForecastSchema, horizonDays } from './credit-forecast.ts'
import { dayOn } from './periods.ts'

export const creditsInput = z.strictObject({
  minDaysLeft: integer('Fails when the prepaid credits are expected to last for fewer days than this.', 1, horizonDays).optional(),
  creditPrice: creditPriceInput,
})

export type CreditsInput = z.output<typeof creditsInput>

export const creditsOutput = z.object({
  remainingCredits: exactAmount('Prepaid credits that remain and can be used now. Absent without prepaid credits.').optional(),
  daysLeft: z
    .int()
    .optional()
    .describe('Whole days after today that the prepaid credits are expected to last. Absent without an estimate.'),
})

export const creditsDetails = () =>
  z.object({
    trialCredits: exactAmount('Trial credits that remain and can be used now. Absent without trial credits.').optional(),
    creditsPerDay: estimate('Mean use of a day, from final days.').optional(),
    creditsRunOutOn: dayOn('The first day without enough prepaid credits, an estimate. Absent without one.').optional(),
    expiringCredits: estimate('Prepaid credits that are expected to expire unused.').optional(),
    checkedAt: z.string().describe('The time of the check, ISO 8601 in UTC.'),
    creditUnit: z.string().describe('Unit of all amounts.'),
    today: dayOn('The day of the check.'),
    balances: z.array(balanceSchema()).describe('All balances of the answer.'),
    apiTotal: exactAmount("The API's own total of all balances that can be used, where it differs from their sum.").optional(),
    forecast: creditForecastSchema().optional().describe('Absent without prepaid credits.'),
    creditPrice: creditPriceSchema().optional().describe('The price of one credit, as given.'),
  })

export type Credits = z.output<typeof creditsOutput> & z.output<ReturnType<typeof creditsDetails>>

/** Undefined for credits that last for longer than any estimate makes sense. */
export const creditsRunOutDay = ({ daysLeft, course }: Estimated): Day | undefined =>
  daysLeft.expected >= horizonDays ? undefined : course.at(-1)?.date

export type Estimated = Extract<CreditForecast, { status: 'estimated' }>
