import * as z from 'zod'
import { addDays, type Day, dayOf, formatMoment, plainDay } from '../../platform/core/dates.ts'
import { type Decimal, sum } from '../../platform/core/decimal.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { toFailure } from '../../platform/core/errors.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { plural } from '../../platform/core/text.ts'
import { type Context, defineOperation } from '../../platform/operation/operation.ts'
import type { Part } from '../../platform/report/blocks.ts'
import { formatMoney, formatMoneyPair, formatRange, formatShortDay } from '../../platform/report/format.ts'
import { type Reason, type Verdict, verdictOf } from '../../platform/report/report.ts'
import { facts, shown, table } from '../../platform/report/table.ts'
import {
  type CreditBalance,
  type CreditBalances,
  type CreditForecast,
  type Credits,
  type CreditsInput,
  creditsDetails,
  creditsInput,
  creditsOutput,
  creditsRunOutDay,
  forecastCredits,
  horizonDays,
  latestFinalDays,
  readCreditBalances,
  totalOfBalances,
  usableBalances,
} from './credits.ts'
import { amountWords, unitWords, whyNotTrusted, withPrice } from './phrases.ts'
import { isRounding } from './records.ts'
import { maxWindowDays, readUsageCost } from './usage-api.ts'

export const checkCredits = defineOperation({
  title: 'Credits',
  summary: 'Checks how many prepaid credits remain, how long they last, and how many expire unused.',
  effect: 'read',
  scope: 'organization',
  input: creditsInput,
  output: creditsOutput,
  get details() {
    return creditsDetails()
  },
  example: { minDaysLeft: 30 },
  async run(context, { creditPrice }) {
    const { api, organizationId, clock } = context
    const nowMs = clock.now()
    const today = dayOf(nowMs)
    const [found, usage] = await Promise.all([readCreditBalances(api, organizationId, nowMs), readFinalUsage(context, today)])
    const { balances } = found
    const prepaid = usableBalances(balances, 'prepaid')
    const trial = usableBalances(balances, 'trial')
    const forecast = prepaid.length === 0 ? undefined : forecastFrom(prepaid, usage, nowMs)
    const estimated = forecast?.status === 'estimated' ? forecast : undefined
    return {
      remainingCredits: prepaid.length === 0 ? undefined : totalOfBalances(prepaid),
      trialCredits: trial.length === 0 ? undefined : totalOfBalances(trial),
      creditsPerDay: estimated?.perDay.expected,
      daysLeft: estimated?.daysLeft.expected,
      creditsRunOutOn: estimated && creditsRunOutDay(estimated),
      expiringCredits: estimated?.expiring.expected,
      checkedAt: new Date(nowMs).toISOString(),
      creditUnit: 'failure' in usage ? 'credits' : usage.unit,
      today,
      balances: [...balances],
      apiTotal: differentTotal(found),
      forecast,
      creditPrice,
    }
  },
  judge: judgeCredits,
  report: (result) => ({
    headline: creditHeadline(result),
    blocks: [creditFacts(result), creditNotices(result), courseChart(result), balanceTable(result)],
  }),
  toDocument: (result) => z.encode(z.object({ ...creditsOutput.shape, ...creditsDetails().shape }), result),
})

/** Undefined where the total is that of the balances, or where the answer has none. */
function differentTotal({ balances, total }: CreditBalances) {
  if (total === undefined) return undefined
  const own = totalOfBalances(balances.filter(({ state }) => state === 'active'))
  return isRounding(own.minus(total), total) ? undefined : total
}

type FinalUsage = { readonly unit: string; readonly days: ReturnType<typeof latestFinalDays> } | { readonly failure: string }

/** The balances are the subject of the run, so that unreadable usage only prevents the estimate. */
async function readFinalUsage({ api, organizationId }: Context<'read', 'organization'>, today: Day): Promise<FinalUsage> {
  const period = { from: addDays(today, 1 - maxWindowDays), to: today }
  try {
    const { unit, grandTotal, records } = await readUsageCost(api, organizationId, period, [])
    const failure = whyNotTrusted({ period, grandTotal, records }, unit, today)
    if (failure !== undefined) return { failure }
    return { unit, days: latestFinalDays(records, today) }
  } catch (thrown) {
    const [cause = '', advice = ''] = toFailure(thrown).message.split('\n')
    return { failure: `the usage could not be read: ${cause}. ${advice}` }
  }
}

function forecastFrom(prepaid: readonly CreditBalance[], usage: FinalUsage, nowMs: number): CreditForecast {
  if ('failure' in usage) return { status: 'not-estimable', reason: usage.failure }
  const today = dayOf(nowMs)
  return forecastCredits(prepaid, usage.days, today, (Date.parse(addDays(today, 1)) - nowMs) / dayMs)
}

interface CreditReason extends Reason {
  readonly isShort?: true
}

function judgeCredits(result: Credits, given: CreditsInput): Verdict {
  const all = [...availabilityReasons(result, given), ...forecastReasons(result, given), ...totalReasons(result, given)]
  const verdict = verdictOf(all)
  return all.some(({ isShort }) => isShort)
    ? {
        ...verdict,
        reasons: [
          ...verdict.reasons,
          say`Buy credits, or lower the use: ${'watchkeeper usage-cost'} shows what costs most. If less is enough, lower ${trusted(spellInput('min-days-left'))}.`,
        ],
      }
    : verdict
}

/** An organization that pays afterwards has no credits, which is not the same as none left. */
function availabilityReasons({ remainingCredits, balances }: Credits, { minDaysLeft }: CreditsInput): readonly CreditReason[] {
  if (remainingCredits !== undefined || minDaysLeft === undefined) return []
  const future = balances.find(({ type, state }) => type === 'prepaid' && state === 'not-started')
  const next = future?.startsAt === undefined ? '' : ` The next ones start on ${plainDay(dayOf(Date.parse(future.startsAt)))}.`
  const line = trusted(`No prepaid credits: none were granted, or all are used up or expired.${next}`)
  return [{ level: 'fail', line: [line], isShort: true }]
}

function forecastReasons(result: Credits, { minDaysLeft }: CreditsInput): readonly CreditReason[] {
  const { forecast } = result
  if (forecast === undefined || minDaysLeft === undefined) return []
  if (forecast.status === 'not-estimable') {
    const line = say`min-days-left was not checked, because ${untrustedSentence(forecast.reason.replace(/\.$/, ''))}.`
    return [{ level: 'fail', line }]
  }
  const { expected } = forecast.daysLeft
  if (expected >= minDaysLeft) return []
  const line = trusted(
    `Prepaid credits last for less than the minimum of ${plural(minDaysLeft, 'day')}: for ${durationWords(expected, result)}.`,
  )
  return [{ level: 'fail', line: [line], cause: say`prepaid credits run out too soon`, isShort: true }]
}

/** The list may be incomplete, or have a balance that cannot be used. */
function totalReasons({ apiTotal, balances, creditUnit }: Credits, { minDaysLeft }: CreditsInput): readonly CreditReason[] {
  const level = minDaysLeft === undefined ? 'warn' : 'fail'
  const others = balances.filter(({ type, state }) => type === 'other' && state === 'active')
  const unknown = say`${trusted(plural(others.length, 'balance'))} of an unknown type with ${trusted(amountWords(totalOfBalances(others), creditUnit))} did not count.`
  const active = totalOfBalances(balances.filter(({ state }) => state === 'active'))
  const [own, total] = apiTotal === undefined ? [] : formatMoneyPair(active, apiTotal)
  const mismatch = trusted(`The balances add up to ${own} ${creditUnit}, but the API's total is ${total} ${creditUnit}.`)
  return [
    ...(apiTotal === undefined
      ? []
      : [{ level, line: [mismatch], cause: say`the balances do not add up to the total of the API` } as const]),
    ...(others.length === 0 ? [] : [{ level: 'warn', line: unknown } as const]),
  ]
}

function creditHeadline(result: Credits) {
  const { remainingCredits, trialCredits, daysLeft, creditUnit } = result
  if (remainingCredits === undefined)
    return [trusted(trialCredits === undefined ? 'No prepaid credits' : `No prepaid credits, ${formatMoney(trialCredits)} trial credits`)]
  const lasting = daysLeft === undefined ? '' : `, for ${durationWords(daysLeft, result)}`
  return [trusted(`${amountWords(remainingCredits, creditUnit)} of prepaid credits remain${lasting}`)]
}

function durationWords(daysLeft: number, { creditsRunOutOn, today }: Credits) {
  if (daysLeft >= horizonDays) return 'more than 10 years'
  if (daysLeft === 0) return creditsRunOutOn === today ? 'less than the rest of today' : 'only the rest of today'
  return `${plural(daysLeft, 'more day')} (until ${plainDay(addDays(today, daysLeft))})`
}

function creditFacts(result: Credits): Part {
  const { remainingCredits, trialCredits, creditUnit, forecast, creditPrice, creditsRunOutOn, today, checkedAt } = result
  const withMoney = (value: Decimal) => withPrice(value, creditUnit, creditPrice)
  const estimated = forecast?.status === 'estimated' ? forecast : undefined
  return facts({
    'Prepaid credits': shown(remainingCredits, withMoney) ?? trusted('none'),
    'Trial credits': shown(trialCredits, (value) => amountWords(value, creditUnit)),
    'Use per day': shown(
      estimated,
      (one) =>
        `${amountWords(one.perDay.expected, creditUnit)}${rangeWords(one.perDay)}, mean of ${plural(one.days, 'final day')} from ${plainDay(one.fromDate)} to ${plainDay(one.toDate)}`,
    ),
    'Days left': shown(estimated, ({ daysLeft: { expected, low, high } }) =>
      low === high ? daysText(expected) : `${daysText(expected)} (80% range ${daysText(low)}–${daysText(high)})`,
    ),
    'Not enough credits on': shown(creditsRunOutOn, (on) => formatShortDay(on, today)),
    'Expire unused': shown(estimated, ({ expiring }) => `${withMoney(expiring.expected)}${rangeWords(expiring)}`),
    Estimate: forecast?.status === 'not-estimable' ? trusted('not estimable') : undefined,
    Checked: trusted(formatMoment(checkedAt)),
    Unit: shown(unitWords(creditUnit, creditPrice)),
  })
}

/** ` (80% range 12–15)`. Empty for a range of one value. */
const rangeWords = ({ low, high }: { readonly low: Decimal; readonly high: Decimal }) =>
  low.eq(high) ? '' : ` (80% range ${formatRange(low, high)})`

const daysText = (days: number) => (days >= horizonDays ? 'more than 10 years' : String(days))

function creditNotices({ forecast, balances, trialCredits }: Credits): Part {
  const waiting = balances.filter(({ state }) => state === 'not-started')
  return [
    forecast?.status === 'not-estimable' && say`How long the credits last is not estimable: ${untrustedSentence(forecast.reason)}`,
    forecast?.status === 'estimated' &&
      say`The estimate assumes that balances are used in the order of their expiry, and that the use per day stays as it is. The vendor does not document the order.`,
    waiting.length > 0 && [trusted(`Credits that start later do not count: ${plural(waiting.length, 'balance')}.`)],
    trialCredits !== undefined && say`Trial credits do not count for limits and estimates.`,
  ]
}

/** The expected course, for credits that last for at most two years. A longer course says nothing. */
function courseChart({ forecast, remainingCredits, creditUnit, today }: Credits): Part {
  if (forecast?.status !== 'estimated' || remainingCredits === undefined || forecast.course.length < 3 || forecast.course.length > 800)
    return undefined
  // At most 40 bars.
  const step = Math.max(1, Math.ceil(forecast.course.length / 40))
  return {
    kind: 'chart',
    title: `Expected ${creditUnit} at the end of ${step === 1 ? 'the day' : `every ${step} days`}`,
    unit: creditUnit,
    valueName: 'Expected',
    points: forecast.course
      .filter((_, i) => i % step === 0)
      .map(({ date, remaining }) => ({ label: formatShortDay(date, today), value: Number(remaining) })),
  }
}

function balanceTable({ balances, forecast, creditUnit, today }: Credits): Part {
  const losses = forecast?.status === 'estimated' ? forecast.losses : []
  const prepaid = usableBalances(balances, 'prepaid')
  const lostOf = (balance: CreditBalance): Decimal =>
    sum(losses.filter((one) => prepaid[one.balance] === balance).map(({ expected }) => expected))
  const dayOfIso = (iso: string) => formatShortDay(dayOf(Date.parse(iso)), today)
  return table('Balances', balances, {
    Type: ({ type }) => trusted(type),
    State: ({ state }) => trusted(({ active: 'in use', 'not-started': 'not started', expired: 'expired' } as const)[state]),
    [`>Remaining (${creditUnit})`]: ({ remaining }) => remaining,
    [`>Granted (${creditUnit})`]: ({ granted }) => granted,
    Starts: ({ startsAt }) => shown(startsAt, dayOfIso),
    Expires: ({ expiresAt }) => shown(expiresAt, dayOfIso),
    [`>Expires unused (${creditUnit})`]: (balance) =>
      forecast?.status === 'estimated' && prepaid.includes(balance) ? lostOf(balance) : undefined,
  })
}
