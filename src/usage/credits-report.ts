import { addDays, dayOf, formatMoment, plainDay } from '../core/dates.ts'
import { type Decimal, sum } from '../core/decimal.ts'
import { type Line, say, sentence, trusted } from '../core/line.ts'
import { plural } from '../core/text.ts'
import type { Report } from '../operation/operation.ts'
import { alignRight, type Block, factOf } from '../report/blocks.ts'
import { formatMoney, formatRange, formatShortDay } from '../report/format.ts'
import { type CreditBalance, usableBalances } from './credit-balances.ts'
import { horizonDays } from './credit-forecast.ts'
import type { Credits, Estimated } from './credits-schemas.ts'
import { unitWords } from './phrases.ts'

export function reportCredits(result: Credits): Report {
  return {
    headline: headlineOf(result),
    blocks: [
      { kind: 'facts', facts: factsOf(result) },
      ...notices(result).map((line): Block => ({ kind: 'paragraph', line })),
      ...chart(result),
      balanceTable(result),
    ],
  }
}

/** For a run that passes. */
function headlineOf(result: Credits): Line {
  const { remainingCredits, trialCredits, daysLeft, creditUnit } = result
  if (remainingCredits === undefined)
    return [trusted(trialCredits === undefined ? 'No prepaid credits' : `No prepaid credits, ${formatMoney(trialCredits)} trial credits`)]
  const lasting = daysLeft === undefined ? '' : `, enough for ${durationWords(daysLeft, result)}`
  return [trusted(`${formatMoney(remainingCredits)} ${creditUnit} of prepaid credits remain${lasting}`)]
}

export function durationWords(daysLeft: number, { creditsRunOutOn, today }: Credits): string {
  if (daysLeft >= horizonDays) return 'more than 10 years'
  if (daysLeft === 0) return creditsRunOutOn === today ? 'less than the rest of today' : 'only the rest of today'
  return `${plural(daysLeft, 'more day')} (until ${plainDay(addDays(today, daysLeft))})`
}

function factsOf(result: Credits) {
  const { remainingCredits, trialCredits, creditUnit, forecast, creditPrice, creditsRunOutOn, today, checkedAt } = result
  const fact = (label: string, value: string | undefined) => factOf(label, value === undefined ? undefined : [trusted(value)])
  const amount = (value: Decimal): string => `${formatMoney(value)} ${creditUnit}`
  const withMoney = (value: Decimal): string =>
    creditPrice === undefined ? amount(value) : `${amount(value)} (${formatMoney(value.times(creditPrice.amount))} ${creditPrice.currency})`
  const words = unitWords(creditUnit)
  const price = creditPrice && `${words ?? creditUnit}, ${creditPrice.amount.toFixed()} ${creditPrice.currency} each`
  const estimated = forecast?.status === 'estimated' ? forecast : undefined
  return [
    ...fact('Prepaid credits', remainingCredits === undefined ? 'none' : withMoney(remainingCredits)),
    ...fact('Trial credits', trialCredits && amount(trialCredits)),
    ...fact('Use per day', estimated && perDayWords(estimated, creditUnit)),
    ...fact('Days left', estimated && daysWords(estimated)),
    ...fact('Not enough credits on', creditsRunOutOn && formatShortDay(creditsRunOutOn, today)),
    ...fact('Expire unused', estimated && `${withMoney(estimated.expiring.expected)}${rangeWords(estimated.expiring)}`),
    ...fact('Estimate', forecast?.status === 'not-estimable' ? 'not estimable' : undefined),
    ...fact('Checked', formatMoment(checkedAt)),
    ...fact('Unit', price ?? words),
  ]
}

/** ` (80% range 12–15)`. Empty for a range of one value. */
const rangeWords = ({ low, high }: { readonly low: Decimal; readonly high: Decimal }): string =>
  low.eq(high) ? '' : ` (80% range ${formatRange(low, high)})`

const perDayWords = ({ perDay, days, fromDate, toDate }: Estimated, unit: string): string =>
  `${formatMoney(perDay.expected)} ${unit}${rangeWords(perDay)}, mean of ${plural(days, 'final day')} from ${plainDay(fromDate)} to ${plainDay(toDate)}`

const daysText = (days: number): string => (days >= horizonDays ? 'more than 10 years' : String(days))

function daysWords({ daysLeft: { expected, low, high } }: Estimated): string {
  return low === high ? daysText(expected) : `${daysText(expected)} (80% range ${daysText(low)}–${daysText(high)})`
}

function notices({ forecast, balances, trialCredits }: Credits): readonly Line[] {
  const waiting = balances.filter(({ state }) => state === 'not-started')
  return [
    ...(forecast?.status === 'not-estimable' ? [say`How long the credits last is not estimable: ${sentence(forecast.reason)}`] : []),
    ...(forecast?.status === 'estimated'
      ? [
          say`The estimate assumes that balances are used in the order of their expiry, and that the use per day stays as it is. The vendor does not document the order.`,
        ]
      : []),
    ...(waiting.length === 0 ? [] : [[trusted(`Credits that start later do not count: ${plural(waiting.length, 'balance')}.`)]]),
    ...(trialCredits === undefined ? [] : [say`Trial credits do not count for limits and estimates.`]),
  ]
}

/** Bars of the chart. */
const maxBars = 40

/** The expected course, for credits that last for at most two years. A longer course says nothing. */
function chart({ forecast, remainingCredits, creditUnit, today }: Credits): readonly Block[] {
  if (forecast?.status !== 'estimated' || remainingCredits === undefined || forecast.course.length < 3 || forecast.course.length > 800)
    return []
  const step = Math.max(1, Math.ceil(forecast.course.length / maxBars))
  const points = forecast.course.filter((_, i) => i % step === 0)
  return [
    {
      kind: 'chart',
      title: `Expected ${creditUnit} at the end of ${step === 1 ? 'the day' : `every ${step} days`}`,
      unit: creditUnit,
      valueName: 'Expected',
      points: points.map(({ date, remaining }) => ({ label: formatShortDay(date, today), value: Number(remaining) })),
    },
  ]
}

const stateWords = { active: 'in use', 'not-started': 'not started', expired: 'expired' } as const

function balanceTable({ balances, forecast, creditUnit, today }: Credits): Block {
  const losses = forecast?.status === 'estimated' ? forecast.losses : []
  const prepaid = usableBalances(balances, 'prepaid')
  const lostOf = (balance: CreditBalance): Decimal =>
    sum(losses.filter((one) => prepaid[one.balance] === balance).map(({ expected }) => expected))
  const dayCell = (iso: string | undefined): Line => [trusted(iso === undefined ? '–' : formatShortDay(dayOf(Date.parse(iso)), today))]
  return {
    kind: 'table',
    title: 'Balances',
    columns: [
      { title: 'Type' },
      { title: 'State' },
      alignRight(`Remaining (${creditUnit})`),
      alignRight(`Granted (${creditUnit})`),
      { title: 'Starts' },
      { title: 'Expires' },
      alignRight(`Expires unused (${creditUnit})`),
    ],
    rows: balances.map((balance) => [
      [trusted(balance.type)],
      [trusted(stateWords[balance.state])],
      [trusted(formatMoney(balance.remaining))],
      [trusted(balance.granted === undefined ? '–' : formatMoney(balance.granted))],
      dayCell(balance.startsAt),
      dayCell(balance.expiresAt),
      [trusted(forecast?.status === 'estimated' && prepaid.includes(balance) ? formatMoney(lostOf(balance)) : '–')],
    ]),
  }
}
