import * as z from 'zod'
import { alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import { minuteMs } from '../../platform/core/durations.ts'
import { counted, join, type Line, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { type Block, paragraph } from '../../platform/report/blocks.ts'
import { formatDuration } from '../../platform/report/format.ts'
import { pass, type Verdict } from '../../platform/report/report.ts'
import { table } from '../../platform/report/table.ts'

const credits = (description: string) => z.number().describe(`${description} Credits a month of 30 days, an estimate.`)

const pricedAlert = z.object({
  key: z.string().describe('The key in the files.'),
  name: z.string(),
  action: z.enum(['create', 'update', 'replace', 'delete']),
  interval: z.string().describe('After the plan. For a delete, the present interval.'),
  status: z
    .enum(['adds', 'adds-nothing', 'saves', 'not-estimable'])
    .describe('`saves` is an upper limit: activities do not say which query kept the service awake.'),
  low: credits('Lower end of what the alert adds.').optional(),
  expected: credits('What the alert adds.').optional(),
  high: credits('Upper end of what the alert adds.').optional(),
  savedUpTo: credits('What the change saves at most.').optional(),
  alternative: z.object({ interval: z.string(), expected: z.number() }).optional().describe('What a longer interval adds.'),
  reason: z.string().optional().describe('Why it adds nothing, or why there is no estimate.'),
})

export const planPrice = z.object({
  unit: z.string().optional(),
  service: z.string().describe('Name of the service, or its id.'),
  idleTimeoutMinutes: z.number().optional(),
  knownDays: z.int().describe('Final days whose states are completely known. The estimates are based on them.'),
  sleptPercent: z.number().optional().describe('Share of these days in which the service slept.'),
  isAtMost: z
    .boolean()
    .describe('The service is not read-only: merges and many parts may keep it awake as well, so the lower end of an estimate is 0.'),
  alerts: z.array(pricedAlert).describe('Alerts whose schedule changes.'),
  total: z
    .object({ low: z.number(), expected: z.number(), high: z.number() })
    .optional()
    .describe('What all alerts add together. It may be less than the sum, because one of them can keep the service awake for the others.'),
  message: z.string().optional().describe('Why there are no prices.'),
})

export type PlanPrice = z.output<typeof planPrice>
export type PricedAlert = z.output<typeof pricedAlert>

/** What every price rests on. */
const limits =
  "An estimate for a month of 30 days. It rests on the vendor's statement that alerts which are evaluated continuously generally keep a service awake, and assumes that the alert queries this service. It was not measured. Inline alerts of dashboards are not listed and not counted. After slow starts, the service may stay awake for 15, 30 or 60 minutes instead of its idle timeout."

const atMostLimit =
  ' This service is not read-only: merges and more than 10,000 parts may keep it awake without alerts, so prices are upper limits.'

/** What the alerts add together, in credits a month: on a service that others may keep awake, at most. */
function increaseOf({ alerts, isAtMost, total }: PlanPrice): number {
  const [first, ...others] = alerts.filter(({ status }) => status === 'adds')
  const { expected = 0, high = 0 } = total ?? (others.length === 0 ? (first ?? {}) : {})
  return isAtMost ? high : expected
}

/** ` · about +32 CHC a month`. Empty where the plan adds nothing, or nothing is known. */
export function priceWords(result: PlanPrice | undefined): Line {
  const increase = result === undefined ? 0 : increaseOf(result)
  if (result === undefined || increase === 0) return []
  const { isAtMost, unit = '' } = result
  return say` · ${trusted(`${isAtMost ? 'at most' : 'about'} +${money(increase)} ${unit}`)} a month`
}

/** An alert without an estimate fails, like an amount above the maximum. */
export function judgePrice(result: PlanPrice | undefined, max: number | undefined): Verdict {
  if (result === undefined || max === undefined) return pass
  const { message, alerts, unit = '' } = result
  const unknown = alerts.filter(({ status }) => status === 'not-estimable')
  const names = join(
    unknown.map(({ name }) => say`${name}`),
    ', ',
  )
  const increase = increaseOf(result)
  const reasons: readonly Line[] = [
    ...(message === undefined ? [] : [say`max-monthly-increase could not be checked: ${untrustedSentence(message)}`]),
    ...(unknown.length === 0 ? [] : [say`max-monthly-increase could not be checked for ${names}`]),
    ...(increase > max ? [say`the changed alerts add ${trusted(money(increase))} of ${max} ${trusted(unit)} a month`] : []),
  ]
  return reasons.length === 0 ? pass : { status: 'fail', reasons }
}

export function priceBlocks(result: PlanPrice | undefined): readonly Block[] {
  if (result === undefined) return []
  const { message, alerts, isAtMost, total, unit = '' } = result
  if (message !== undefined) return [paragraph(say`No prices: ${untrustedSentence(message)}`)]
  if (alerts.length === 0) return [paragraph(say`Prices: no alert changes its schedule, so the plan adds nothing.`)]
  const isEstimated = alerts.some(({ status }) => status === 'adds' || status === 'saves')
  return [
    paragraph(total === undefined ? [] : say`Together: ${trusted(amountWords(total, isAtMost, unit))}.`),
    table('Price of the alerts', alerts, {
      Alert: ({ name }) => name,
      [`Estimate (${unit} a month)`]: (alert) => describePrice(alert, result),
    }),
    paragraph(isEstimated ? [trusted(limits + (isAtMost ? atMostLimit : ''))] : []),
  ]
}

/**
 * `every 5 min on obs-ro (idle timeout 15 min): the service slept 61% of 28 known days and would not sleep any more: about +84 CHC a month
 * (70 to 95). At 30 min: about +20 CHC.`
 */
function describePrice(
  alert: PricedAlert,
  { service, idleTimeoutMinutes = 0, knownDays, sleptPercent = 0, isAtMost, unit = '' }: PlanPrice,
): Line {
  const { status, reason = '', interval, alternative, savedUpTo = 0, action } = alert
  const ms = intervalMs[alertIntervals.find((one) => one === interval) ?? '1d']
  const where = say`every ${trusted(formatDuration(ms))} on ${service} (idle timeout ${trusted(formatDuration(idleTimeoutMinutes * minuteMs))})`
  if (status === 'not-estimable') return say`${where}: not estimable: ${trusted(reason)}`
  if (status === 'adds-nothing') return say`${where}: nothing, because ${trusted(reason)}`
  if (status === 'saves') {
    const what = action === 'delete' ? 'deleting it' : 'the change'
    return say`${where}: ${trusted(`${what} saves up to ${money(savedUpTo)} ${unit} a month. The lower limit is 0, because activities do not say who woke the service`)}`
  }
  const slept = say`the service slept ${trusted(`${Math.round(sleptPercent)}%`)} of ${counted(knownDays, 'known day')}`
  const effect = ms <= idleTimeoutMinutes * minuteMs ? ' and would not sleep any more' : ' and would sleep less'
  const longer =
    alternative === undefined
      ? ''
      : `. At ${formatDuration(intervalMs[alertIntervals.find((one) => one === alternative.interval) ?? '1d'])}: about +${money(alternative.expected)} ${unit}`
  return say`${where}: ${slept}${trusted(`${effect}: ${amountWords(alert, isAtMost, unit)}${longer}`)}`
}

/** `about +84 CHC a month (70 to 95)`, `at most about +95 CHC a month`. */
const amountWords = (
  { low = 0, expected = 0, high = 0 }: Pick<PricedAlert, 'low' | 'expected' | 'high'>,
  isAtMost: boolean,
  unit: string,
): string =>
  isAtMost
    ? `at most about +${money(high)} ${unit} a month (probably about ${money(expected)})`
    : `about +${money(expected)} ${unit} a month (${money(low)} to ${money(high)})`

/** Estimates have no decimals from ten on. */
const money = (value: number): string => (value >= 10 ? value.toFixed(0) : value.toFixed(1))
