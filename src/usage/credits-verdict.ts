import { dayOf, plainDay } from '../core/dates.ts'
import type { Decimal } from '../core/decimal.ts'
import { type Line, say, sentence, trusted } from '../core/line.ts'
import { plural } from '../core/text.ts'
import type { Verdict } from '../operation/operation.ts'
import { formatMoney, formatMoneyPair } from '../report/format.ts'
import { totalOfBalances } from './credit-balances.ts'
import { durationWords } from './credits-report.ts'
import type { Credits, CreditsInput, Estimated } from './credits-schemas.ts'

interface Reason {
  readonly level: 'warn' | 'fail'
  readonly line: Line
}

export function judgeCredits(result: Credits, given: CreditsInput): Verdict {
  const all = [
    ...availabilityReasons(result, given),
    ...amountReasons(result, given),
    ...forecastReasons(result, given),
    ...totalReasons(result, given),
  ]
  const [first, ...others] = (['fail', 'warn'] as const).flatMap((wanted) => all.filter(({ level }) => level === wanted))
  if (first === undefined) return { status: 'pass', reasons: [] }
  return { status: first.level, sentence: first.line, reasons: others.map(({ line }) => line) }
}

const hasLimit = ({ minCredits, warnCredits, minDaysLeft, warnDaysLeft, maxExpiring, warnExpiring }: CreditsInput): boolean =>
  [minCredits, warnCredits, minDaysLeft, warnDaysLeft, maxExpiring, warnExpiring].some((limit) => limit !== undefined)

/** An organization that pays afterwards has no credits, which is not the same as none left. */
function availabilityReasons({ remainingCredits, balances }: Credits, given: CreditsInput): readonly Reason[] {
  if (remainingCredits !== undefined) return []
  const { minCredits, minDaysLeft, requireCredits = minCredits !== undefined || minDaysLeft !== undefined } = given
  const future = balances.find(({ type, state }) => type === 'prepaid' && state === 'not-started')
  const next = future?.startsAt === undefined ? '' : ` The next ones start on ${plainDay(dayOf(Date.parse(future.startsAt)))}.`
  const line = (effect: string) => [trusted(`No prepaid credits: none were granted, or all are used up or expired.${next}${effect}`)]
  if (requireCredits) return [{ level: 'fail', line: line('') }]
  return hasLimit(given) ? [{ level: 'warn', line: line(' No limit was checked.') }] : []
}

function amountReasons({ remainingCredits, creditUnit }: Credits, { minCredits, warnCredits }: CreditsInput): readonly Reason[] {
  if (remainingCredits === undefined) return []
  const reason = (level: Reason['level'], limit: Decimal, what: string): readonly Reason[] => {
    const [left, limitAmount] = formatMoneyPair(remainingCredits, limit)
    return [
      {
        level,
        line: [trusted(`Prepaid credits are below the ${what}: ${left} ${creditUnit} of at least ${limitAmount} ${creditUnit} remain.`)],
      },
    ]
  }
  if (minCredits !== undefined && remainingCredits.lt(minCredits)) return reason('fail', minCredits, 'minimum')
  return warnCredits !== undefined && remainingCredits.lt(warnCredits) ? reason('warn', warnCredits, 'warning level') : []
}

function forecastReasons(result: Credits, given: CreditsInput): readonly Reason[] {
  const { forecast, remainingCredits } = result
  if (forecast === undefined || remainingCredits === undefined) return []
  if (forecast.status === 'not-estimable') return notEstimatedReasons(forecast.reason, remainingCredits, given)
  return [...daysReasons(forecast, result, given), ...expiringReasons(forecast, result, given)]
}

/** More than all remaining credits cannot expire, so that a larger limit needs no estimate. */
function notEstimatedReasons(reason: string, remaining: Decimal, given: CreditsInput): readonly Reason[] {
  const { minDaysLeft, warnDaysLeft, maxExpiring, warnExpiring } = given
  const reasonFor = (level: Reason['level'], name: string, isUnchecked: boolean): readonly Reason[] =>
    isUnchecked ? [{ level, line: say`${trusted(name)} was not checked, because ${sentence(reason.replace(/\.$/, ''))}.` }] : []
  return [
    ...reasonFor('fail', 'min-days-left', minDaysLeft !== undefined),
    ...reasonFor('fail', 'max-expiring', maxExpiring?.lt(remaining) === true),
    ...reasonFor('warn', 'warn-days-left', minDaysLeft === undefined && warnDaysLeft !== undefined),
    ...reasonFor('warn', 'warn-expiring', maxExpiring === undefined && warnExpiring?.lt(remaining) === true),
  ]
}

function daysReasons({ daysLeft }: Estimated, result: Credits, { minDaysLeft, warnDaysLeft }: CreditsInput): readonly Reason[] {
  const reason = (level: Reason['level'], limit: number, what: string): readonly Reason[] => [
    {
      level,
      line: [trusted(`Prepaid credits last for ${durationWords(daysLeft.expected, result)}. The ${what} is ${plural(limit, 'day')}.`)],
    },
  ]
  if (minDaysLeft !== undefined && daysLeft.expected < minDaysLeft) return reason('fail', minDaysLeft, 'minimum')
  return warnDaysLeft !== undefined && daysLeft.expected < warnDaysLeft ? reason('warn', warnDaysLeft, 'warning level') : []
}

function expiringReasons({ expiring }: Estimated, { creditUnit }: Credits, { maxExpiring, warnExpiring }: CreditsInput): readonly Reason[] {
  const reason = (level: Reason['level'], limit: Decimal, what: string): readonly Reason[] => {
    const [lost, limitAmount] = formatMoneyPair(expiring.expected, limit)
    return [{ level, line: [trusted(`${lost} ${creditUnit} are expected to expire unused. The ${what} is ${limitAmount} ${creditUnit}.`)] }]
  }
  if (maxExpiring !== undefined && expiring.expected.gt(maxExpiring)) return reason('fail', maxExpiring, 'maximum')
  return warnExpiring !== undefined && expiring.expected.gt(warnExpiring) ? reason('warn', warnExpiring, 'warning level') : []
}

/** The list may be incomplete, or have a balance that cannot be used. */
function totalReasons({ apiTotal, balances, creditUnit }: Credits, given: CreditsInput): readonly Reason[] {
  const level = hasLimit(given) || given.requireCredits === true ? 'fail' : 'warn'
  const others = balances.filter(({ type, state }) => type === 'other' && state === 'active')
  const unknown = say`${trusted(plural(others.length, 'balance'))} of an unknown type with ${trusted(`${formatMoney(totalOfBalances(others))} ${creditUnit}`)} did not count.`
  const own = formatMoney(totalOfBalances(balances.filter(({ state }) => state === 'active')))
  return [
    ...(apiTotal === undefined
      ? []
      : [
          {
            level,
            line: [trusted(`The balances add up to ${own} ${creditUnit}, but the API's total is ${formatMoney(apiTotal)} ${creditUnit}.`)],
          } as const,
        ]),
    ...(others.length === 0 ? [] : [{ level: 'warn', line: unknown } as const]),
  ]
}
