import { addDays, countDays, type Day, plainDay, plainDays } from '../../platform/core/dates.ts'
import { type Decimal, percentOf } from '../../platform/core/decimal.ts'
import { type Line, say, type Trusted, toPlainText, trusted } from '../../platform/core/line.ts'
import { andMore } from '../../platform/core/text.ts'
import { formatMoney, formatMoneyPair, formatPercent } from '../../platform/report/format.ts'
import { type DataQualityIssue, findIssues } from './readings.ts'
import type { UsageReading } from './records.ts'
import type { UsageResult } from './result.ts'

export const day = (date: Day): Trusted => trusted(plainDay(date))

export const period = (from: Day, to: Day): Trusted => trusted(plainDays(from, to))

export const amountWords = (amount: Decimal, unit: string): string => `${formatMoney(amount)} ${unit}`

type Price = UsageResult['creditPrice']

/** `283.33 CHC (297.50 USD)`, or without the money if the price is unknown. */
export const withPrice = (amount: Decimal, unit: string, price: Price): string =>
  `${amountWords(amount, unit)}${price === undefined ? '' : ` (${amountWords(amount.times(price.amount), price.currency)})`}`

export function ofLimit(used: Decimal, limit: Decimal, unit: string): string {
  const [usedText, limitText] = formatMoneyPair(used, limit)
  return `${usedText} of ${limitText} ${unit}`
}

/** ` (96%)`. Empty for a whole of zero. */
export function inBrackets(part: Decimal, whole: Decimal, ofWhat = ''): string {
  const share = percentOf(part, whole)
  if (share === undefined) return ''
  // A difference in the last of many digits gets lost in the division.
  const isRounded = share.eq(100) && !part.eq(whole)
  return ` (${isRounded ? `just ${part.gt(whole) ? 'over' : 'under'} 100%` : formatPercent(share)}${ofWhat})`
}

export const comparedWords = {
  'previous-period': 'the previous period',
  'previous-month-days': 'the same days of the previous month',
} as const

/** `CHC (ClickHouse Credits), 1.05 USD each`; `undefined` for a unit that needs no explanation. */
export function unitWords(unit: string, price?: Price): string | undefined {
  const name = unit === 'CHC' ? 'ClickHouse Credits' : undefined
  const words = name === undefined ? unit : `${unit} (${name})`
  return price === undefined ? name && words : `${words}, ${price.amount.toFixed()} ${price.currency} each`
}

type UnjudgedIssue = DataQualityIssue extends infer Issue ? (Issue extends DataQualityIssue ? Omit<Issue, 'level'> : never) : never

export const maxListed = 5

export function describeIssue(issue: UnjudgedIssue, unit: string): Line {
  switch (issue.kind) {
    case 'no-records':
      return say`No usage records for ${period(issue.fromDate, issue.toDate)}, so the usage of these days is unknown.`
    case 'no-records-yet':
      return say`No usage records yet for ${period(issue.fromDate, issue.toDate)}.`
    case 'nothing-to-compare':
      return say`max-increase was not checked: no day of ${period(issue.fromDate, issue.toDate)} is complete in both periods.`
    case 'nothing-to-compare-yet':
      return say`max-increase was not checked: no day of ${period(issue.fromDate, issue.toDate)} is complete yet. A day is complete one day after it ends.`
    case 'total-mismatch': {
      const [records, total] = formatMoneyPair(issue.recordsTotal, issue.grandTotal)
      const days = period(issue.fromDate, issue.toDate)
      return say`The usage records for ${days} add up to ${trusted(`${records} ${unit}, but the API's total is ${total} ${unit}.`)}`
    }
    case 'negative-total':
      return say`The API's total for ${period(issue.fromDate, issue.toDate)} is negative.`
    case 'negative-record':
      return say`The usage of ${issue.entityName} on ${day(issue.date)} is negative.`
    case 'duplicate-record':
      return say`${issue.entityName} has more than one usage record for ${day(issue.date)}.`
    case 'outside-period':
      return say`The API returned usage records of other days: ${listDays(issue.days)}.`
    case 'missing-days':
      return say`No usage records for ${listDays(issue.days)}.`
  }
}

/** Why estimates cannot use these records, in the words of the first issue. Missing days are for the estimate to judge. */
export function whyNotTrusted(reading: UsageReading, unit: string, today: Day): string | undefined {
  const issue = findIssues(reading, today).find(({ kind }) => kind !== 'missing-days' && kind !== 'no-records')
  return issue && `the usage records cannot be trusted: ${toPlainText(describeIssue(issue, unit))}`
}

/** `1 – 22 Nov 2026, 24 Nov 2026`: days in their order, with those that follow each other as one range. */
export function listDays(days: readonly Day[]): Trusted {
  const ranges: { readonly from: Day; to: Day }[] = []
  for (const date of days) {
    const last = ranges.at(-1)
    if (last !== undefined && addDays(last.to, 1) === date) last.to = date
    else ranges.push({ from: date, to: date })
  }
  const left = ranges.slice(maxListed).reduce((count, { from, to }) => count + countDays(from, to), 0)
  const listed = ranges.slice(0, maxListed).map(({ from, to }) => plainDays(from, to))
  return trusted(`${listed.join(', ')}${andMore(left, 0)}`)
}
