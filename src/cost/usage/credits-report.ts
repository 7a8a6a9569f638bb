import { addDays, dayOf, formatMoment, plainDay } from '../../platform/core/dates.ts'
import { type Decimal, sum } from '../../platform/core/decimal.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { plural } from '../../platform/core/text.ts'
import type { Part } from '../../platform/report/blocks.ts'
import { formatMoney, formatMoneyPair, formatRange, formatShortDay } from '../../platform/report/format.ts'
import { type Reason, type Report, type Verdict, verdictOf } from '../../platform/report/report.ts'
import { facts, shown, table } from '../../platform/report/table.ts'
import {
  type CreditBalance,
  type Credits,
  type CreditsInput,
  type Estimated,
  horizonDays,
  totalOfBalances,
  usableBalances,
} from './credits.ts'
import { amountWords, unitWords, withPrice } from './phrases.ts'

/** Whether more credits or a lower use would help. */
interface CreditReason extends Reason {
  readonly isShort?: true
}

export function judgeCredits(result: Credits, given: CreditsInput): Verdict {
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
  const line = trusted(`Prepaid credits last for ${durationWords(expected, result)}. The minimum is ${plural(minDaysLeft, 'day')}.`)
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

export const reportCredits = (result: Credits): Report => ({
  headline: creditHeadline(result),
  blocks: [creditFacts(result), creditNotices(result), courseChart(result), balanceTable(result)],
})

function creditHeadline(result: Credits) {
  const { remainingCredits, trialCredits, daysLeft, creditUnit } = result
  if (remainingCredits === undefined)
    return [trusted(trialCredits === undefined ? 'No prepaid credits' : `No prepaid credits, ${formatMoney(trialCredits)} trial credits`)]
  const lasting = daysLeft === undefined ? '' : `, enough for ${durationWords(daysLeft, result)}`
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
    'Days left': shown(estimated, daysWords),
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

function daysWords({ daysLeft: { expected, low, high } }: Estimated) {
  return low === high ? daysText(expected) : `${daysText(expected)} (80% range ${daysText(low)}–${daysText(high)})`
}

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

const maxCourseBars = 40

/** The expected course, for credits that last for at most two years. A longer course says nothing. */
function courseChart({ forecast, remainingCredits, creditUnit, today }: Credits): Part {
  if (forecast?.status !== 'estimated' || remainingCredits === undefined || forecast.course.length < 3 || forecast.course.length > 800)
    return undefined
  const step = Math.max(1, Math.ceil(forecast.course.length / maxCourseBars))
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
