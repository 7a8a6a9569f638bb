import * as z from 'zod'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { path } from '../../platform/api/path.ts'
import { readOne } from '../../platform/api/wire.ts'
import { addDays, type Day } from '../../platform/core/dates.ts'
import { type Decimal, fromEstimate, parseAmount, sum, toDecimal } from '../../platform/core/decimal.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { mean } from '../../platform/core/statistics.ts'
import { integer } from '../../platform/operation/inputs.ts'
import { amount, creditPriceInput, creditPriceSchema, estimate, exactAmount } from './amounts.ts'
import { eightyPercent, learnRhythm } from './forecast.ts'
import { date, dayOn } from './periods.ts'
import { type DayTotal, lastCompleteDay } from './readings.ts'
import { totalOf, type UsageRecord } from './records.ts'

/** `other`: a type that this version does not know. */
const creditTypes = ['prepaid', 'trial', 'other'] as const

const balanceSchema = () =>
  z.object({
    id: z.string().optional(),
    type: z.enum(creditTypes),
    state: z.enum(['active', 'not-started', 'expired'] as const),
    remaining: amount.describe('Remaining credits.'),
    granted: amount.optional().describe('Credits at the start, where the API has them.'),
    startsAt: z.string().optional().describe('ISO 8601 in UTC.'),
    expiresAt: z.string().optional().describe('ISO 8601 in UTC. Absent for credits that never expire.'),
  })

export type CreditBalance = z.output<ReturnType<typeof balanceSchema>>

export interface CreditBalances {
  readonly balances: readonly CreditBalance[]
  /** The API's own total of all balances that can be used, of every type. */
  readonly total: Decimal | undefined
}

export const credits = z.unknown().transform((value, context): Decimal => {
  // The document has numbers. Other figures of money in the API are texts.
  const decimal = typeof value === 'string' ? parseAmount(value) : toDecimal(value)
  if (decimal !== undefined) return decimal
  context.addIssue({ code: 'custom', message: value === undefined ? 'is missing' : 'is not a finite number' })
  return z.NEVER
})

/** A day is midnight UTC. Without a zone, a time is in UTC. */
const creditInstant = z.string().transform((text, context) => {
  const isWithoutZone = text.includes('T') && !/(?:[zZ]|[+-]\d{2}:?\d{2})$/.test(text)
  const ms = Date.parse(isWithoutZone ? `${text}Z` : text)
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  context.addIssue({ code: 'custom', message: 'is not a date and time' })
  return z.NEVER
})

// The endpoint is beta. Only what a figure depends on is required: a wrong amount or date would be a wrong figure.
export const balance = z.object({
  id: z.string().optional().catch(undefined),
  type: z
    .string()
    .transform((type) => creditTypes.find((known) => known === type.toLowerCase()) ?? 'other')
    .catch('other'),
  remainingCredits: credits.refine((amount) => !amount.lt(0), 'is negative'),
  totalAmount: credits.optional().catch(undefined),
  startDate: creditInstant.nullish(),
  expirationDate: creditInstant.nullish(),
})

const answer = z.object({ totalRemainingCredits: credits.optional().catch(undefined), balances: z.array(balance) })

/**
 * The credit balances of the organization, in the order of the answer. Source: the vendor's API reference, "Get organization active credit
 * balances". Throws an ApiError of kind `permission` that names the missing permission.
 */
export async function readCreditBalances(api: ReadApi, organizationId: string, nowMs: number): Promise<CreditBalances> {
  try {
    const { balances, totalRemainingCredits } = await api.read({
      request: { method: 'GET', path: path`/v1/organizations/${organizationId}/creditBalances` },
      read: readOne(answer),
      about: { noun: 'credit balances', permission: 'credits' },
    })
    return {
      total: totalRemainingCredits,
      balances: balances.map(({ id, type, remainingCredits, totalAmount, startDate, expirationDate }) => ({
        id,
        type,
        state: stateAt(nowMs, startDate, expirationDate),
        remaining: remainingCredits,
        granted: totalAmount,
        startsAt: startDate ?? undefined,
        expiresAt: expirationDate ?? undefined,
      })),
    }
  } catch (thrown) {
    throw explainAbsence(thrown)
  }
}

function stateAt(nowMs: number, start: string | null | undefined, expiration: string | null | undefined): CreditBalance['state'] {
  if (start && Date.parse(start) > nowMs) return 'not-started'
  return expiration && Date.parse(expiration) <= nowMs ? 'expired' : 'active'
}

/** A server without the endpoint answers 404. The advice for other paths is to check the address, which would be wrong here. */
function explainAbsence(thrown: unknown): unknown {
  if (!(thrown instanceof ApiError) || thrown.status !== 404 || thrown.missing === 'organization') return thrown
  const request = thrown.message.split('\n').at(-1) ?? ''
  return new WatchkeeperError(
    'not-served',
    `The API has no credit balances at this address. The endpoint is beta, so it may be absent or have moved. Check api-url, and look for a newer version of Watchkeeper.\n${request}`,
  )
}

export const totalOfBalances = (balances: readonly CreditBalance[]): Decimal => sum(balances.map(({ remaining }) => remaining))

export const usableBalances = (balances: readonly CreditBalance[], type: CreditBalance['type']): readonly CreditBalance[] =>
  balances.filter((balance) => balance.type === type && balance.state === 'active' && balance.remaining.gt(0))

/** `not-estimable`: too few final days, or records that cannot be trusted. */
function creditForecastSchema() {
  const range = (what: string) => ({
    low: estimate(`Lower end of the 80% range of ${what}.`),
    high: estimate(`Upper end of the 80% range of ${what}.`),
  })
  return z.discriminatedUnion('status', [
    z.object({ status: z.literal('not-estimable'), reason: z.string() }),
    z.object({
      status: z.literal('estimated'),
      fromDate: dayOn('First final day that the use per day is based on.'),
      toDate: dayOn('Last final day that the use per day is based on.'),
      days: z.int().describe('Number of these days.'),
      perDay: z.object({ expected: estimate('Mean use per day.'), ...range('the mean use per day') }),
      daysLeft: z
        .object({ expected: z.int(), low: z.int(), high: z.int() })
        .describe(`Whole days after today that the credits last, at most ${horizonDays}.`),
      expiring: z.object({ expected: estimate('Credits that are lost when they expire.'), ...range('these credits') }),
      losses: z.array(
        z.object({
          balance: z.int().describe('Position among the prepaid balances that can be used.'),
          expected: estimate('Lost credits.'),
        }),
      ),
      course: z
        .array(z.object({ date, remaining: estimate('Credits at the end of the day.') }))
        .describe('The expected course from today to the first day without enough credits.'),
    }),
  ])
}

export type CreditForecast = z.output<ReturnType<typeof creditForecastSchema>>

/** Ten years. Credits that last longer are as good as unlimited. */
export const horizonDays = 3650

/** A week has every weekday once. */
const minFinalDays = 7

/** Records are final when the API has locked them. The latest days without a gap, in whole weeks, so that each weekday has the same weight. */
export function latestFinalDays(records: readonly UsageRecord[], today: Day): readonly DayTotal[] {
  const byDay = Map.groupBy(records, (record) => record.date)
  const isFinal = (day: Day) => byDay.get(day)?.every(({ locked }) => locked) === true
  const last = [...byDay.keys()]
    .filter((day) => day <= lastCompleteDay(today) && isFinal(day))
    .toSorted()
    .at(-1)
  const days: Day[] = []
  // The usage of more days ago can differ from that of today.
  for (let day = last; day !== undefined && isFinal(day) && days.length < 28; day = addDays(day, -1)) days.unshift(day)
  return days.slice(days.length % minFinalDays).map((date) => ({ date, total: totalOf(byDay.get(date) ?? []) }))
}

/**
 * Balances are used in the order of their expiry. That is an assumption, because the vendor does not document the order. The credits in
 * `balances` can all be used now. `restOfToday` is the share of today that is still ahead, from 0 to 1.
 */
export function forecastCredits(
  balances: readonly CreditBalance[],
  finalDays: readonly DayTotal[],
  today: Day,
  restOfToday: number,
): CreditForecast {
  const [first, last] = [finalDays[0], finalDays.at(-1)]
  if (first === undefined || last === undefined || finalDays.length < minFinalDays) {
    const count = finalDays.length === 1 ? 'is 1 final day' : `are ${finalDays.length} final days`
    return { status: 'not-estimable', reason: `there ${count} of usage in a row, and an estimate needs ${minFinalDays}` }
  }
  const use = learnUse(finalDays)
  const simulateSide = (side: RangeSide) => simulate(balances, (days) => use.total(days, side), today, restOfToday)
  const [expected, low, high] = [simulateSide(0), simulateSide(-1), simulateSide(1)]
  const spent = (side: RangeSide) => fromEstimate(use.perDay(side))
  return {
    status: 'estimated',
    fromDate: first.date,
    toDate: last.date,
    days: finalDays.length,
    perDay: { expected: spent(0), low: spent(-1), high: spent(1) },
    daysLeft: { expected: expected.daysLeft, low: high.daysLeft, high: low.daysLeft },
    expiring: { expected: fromEstimate(expected.lost), low: fromEstimate(high.lost), high: fromEstimate(low.lost) },
    losses: expected.losses.flatMap((lost, i) => (lost > 0 ? [{ balance: i, expected: fromEstimate(lost) }] : [])),
    course: expected.course.map((remaining, i) => ({ date: addDays(today, i), remaining: fromEstimate(remaining) })),
  }
}

/** -1 is the lower end of the 80% range, 1 the upper end. */
type RangeSide = -1 | 0 | 1

/** An error of the mean affects all days. The range is at least 1/n of the use for n known days. */
function learnUse(days: readonly DayTotal[]) {
  const values = days.map(({ total }) => Number(total))
  const level = mean(values)
  const { inflation } = learnRhythm(days.map(({ date }, i) => ({ day: date, value: values[i] ?? 0 })))
  const variance = (inflation * values.reduce((all, value) => all + (value - level) ** 2, 0)) / Math.max(1, values.length - 1)
  const marginOf = (days: number) =>
    Math.max(eightyPercent * Math.sqrt(variance * days + (variance / values.length) * days ** 2), (level * days) / values.length)
  const levelMargin = Math.max(eightyPercent * Math.sqrt(variance / values.length), level / values.length)
  return {
    /** Total use of the next days. */
    total: (days: number, side: RangeSide) => (days === 0 ? 0 : Math.max(0, level * days + side * marginOf(days))),
    perDay: (side: RangeSide) => Math.max(0, level + side * levelMargin),
  }
}

/** `losses`: the lost credits of each balance. `course`: the credits at the end of today, tomorrow, and so on, until none are left. */
function simulate(balances: readonly CreditBalance[], totalUse: (days: number) => number, today: Day, restOfToday: number) {
  const left = balances
    .map((balance, index) => ({
      index,
      expiresMs: balance.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(balance.expiresAt),
      credits: Math.max(0, Number(balance.remaining)),
    }))
    .toSorted((a, b) => a.expiresMs - b.expiresMs)
  const losses = balances.map(() => 0)
  const remaining = () => left.reduce((all, { credits }) => all + credits, 0)
  const course: number[] = []
  const end = (daysLeft: number) => ({ daysLeft, losses, lost: losses.reduce((all, one) => all + one, 0), course })
  for (let [ahead, used] = [0, 0]; ahead <= horizonDays; ahead++) {
    // A balance that expires during a day does not count on that day.
    const endOfDay = Date.parse(addDays(today, ahead + 1))
    for (const balance of left.filter(({ expiresMs }) => expiresMs < endOfDay)) {
      losses[balance.index] = (losses[balance.index] ?? 0) + balance.credits
      balance.credits = 0
    }
    const isEmpty = remaining() <= tiny
    const use = totalUse(restOfToday + ahead)
    let wanted = Math.max(0, use - used)
    used = use
    for (const balance of left) {
      const taken = Math.min(wanted, balance.credits)
      balance.credits -= taken
      wanted -= taken
    }
    course.push(remaining())
    if (isEmpty || wanted > tiny) return end(Math.max(0, ahead - 1))
  }
  return end(horizonDays)
}

/** Rounding of floating point numbers is not a lack of credits. */
const tiny = 1e-9

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

type Estimated = Extract<CreditForecast, { status: 'estimated' }>
