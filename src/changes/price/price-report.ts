import * as z from 'zod'
import { alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import { minuteMs } from '../../platform/core/durations.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { counted, type Line, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import type { Part } from '../../platform/report/blocks.ts'
import { formatDuration } from '../../platform/report/format.ts'
import { pass, type Verdict } from '../../platform/report/report.ts'
import { table } from '../../platform/report/table.ts'

const credits = (description: string) => z.number().describe(`${description} Credits a month of 30 days, an estimate.`)

const pricedAlert = z.object({
  key: z.string().describe('The key in the files.'),
  name: z.string(),
  action: z.enum(['create', 'update', 'replace', 'delete']),
  interval: z.string().describe('After the plan. For a delete, the present interval.'),
  share: credits(
    'The time that only this alert keeps the service awake, after the plan less before it. Below 0 is what the change saves at most: activities do not say which query kept the service awake.',
  ),
  alternative: z
    .object({ interval: z.string(), share: credits('The share with this interval.') })
    .optional()
    .describe('The next longer interval that lets the service sleep.'),
})

export const planPrice = z.object({
  unit: z.string().optional(),
  service: z.string().describe('Name of the service, or its id.'),
  idleTimeoutMinutes: z.number().optional(),
  knownDays: z.int().describe('Final days whose states are completely known. The estimates are based on them.'),
  sleptPercent: z.number().optional().describe('Share of these days in which the service slept.'),
  isAtMost: z
    .boolean()
    .describe('The service is not read-only: merges and many parts may keep it awake as well, so the lower end of the total is 0.'),
  alerts: z.array(pricedAlert).describe('Alerts whose schedule changes.'),
  total: z
    .object({
      low: credits('Lower end.'),
      expected: credits('Expected.'),
      high: credits('Upper end, which `max-monthly-increase` limits.'),
    })
    .optional()
    .describe(
      'What the plan adds: the difference of what all alerts keep awake with and without it. It is more than the sum of the shares where changed alerts keep the service awake at the same time. Absent without an estimate.',
    ),
  message: z.string().optional().describe('Why there are no prices.'),
})

export type PlanPrice = z.output<typeof planPrice>
export type PricedAlert = z.output<typeof pricedAlert>

const limits =
  "An estimate for a full month of 30 days, from the start of each alert. It rests on the vendor's statement that alerts which are evaluated continuously generally keep a service awake, and assumes that the alert queries this service. It was not measured. Inline alerts of dashboards are not listed and not counted. After slow starts, the service may stay awake for 15, 30 or 60 minutes instead of its idle timeout. A saving is an upper limit, because activities do not say who woke the service."

const atMostLimit =
  ' This service is not read-only: merges and more than 10,000 parts may keep it awake without alerts, so the lower end is 0.'

/** ` · about +84 CHC a month (70 to 95)`. Empty where the plan adds nothing, or nothing is known. */
export const priceWords = (result: PlanPrice | undefined): Line =>
  result?.total === undefined || result.total.high === 0 ? [] : say` · ${trusted(describeTotal(result.total, result.unit))}`

export interface PriceGate {
  readonly maxMonthlyIncrease?: number | undefined
  readonly onMissing?: 'fail' | 'warn' | 'ignore' | undefined
}

/** A price that is not known passes only where `onMissing` accepts it. */
export function judgePrice(result: PlanPrice | undefined, { maxMonthlyIncrease: max, onMissing = 'fail' }: PriceGate): Verdict {
  if (result === undefined || max === undefined) return pass
  const { total, message = '', service, unit = '' } = result
  if (total === undefined) {
    if (onMissing === 'ignore') return pass
    const advice = onMissing === 'fail' ? ` (${spellInput('on-missing', 'warn')} accepts this)` : ''
    const reason = say`max-monthly-increase could not be checked without an estimate for ${service}${trusted(advice)}: ${untrustedSentence(message)}`
    return { status: onMissing, cause: say`no estimate for max-monthly-increase`, reasons: [reason] }
  }
  if (total.high <= max) return pass
  const reason = trusted(`the changed alerts add up to ${formatEnd(total.high)} ${unit} a month, above ${max}`)
  return { status: 'fail', cause: say`the changed alerts exceed max-monthly-increase`, reasons: [[reason]] }
}

export function priceBlocks(result: PlanPrice | undefined): Part {
  if (result === undefined) return undefined
  const { message, alerts, isAtMost, total, service, unit = '', knownDays, sleptPercent = 0, idleTimeoutMinutes = 0 } = result
  const added = total === undefined ? [] : say`The plan adds ${trusted(total.high === 0 ? 'nothing' : describeTotal(total, unit))}. `
  if (message !== undefined) return say`${added}No prices for ${service}: ${untrustedSentence(message)}`
  if (alerts.length === 0) return say`Prices: no alert changes its schedule, so the plan adds nothing.`
  const slept = trusted(`${Math.round(sleptPercent)}%`)
  const timeout = trusted(formatDuration(idleTimeoutMinutes * minuteMs))
  return [
    say`${added}${service} slept ${slept} of ${counted(knownDays, 'known day')} (idle timeout ${timeout}).`,
    table('Price of the alerts', alerts, {
      Alert: ({ name }) => name,
      Interval: ({ interval }) => trusted(describeInterval(interval)),
      [`Time that only it keeps the service awake (${unit} a month)`]: ({ share, alternative }) =>
        trusted(describeShare(share, alternative)),
    }),
    [trusted(limits + (isAtMost ? atMostLimit : ''))],
  ]
}

const describeInterval = (interval: string) => formatDuration(intervalMs[alertIntervals.find((one) => one === interval) ?? '1d'])

/** `about +84. At 30 min: about +20`, `saves up to 12`. */
function describeShare(share: number, alternative?: PricedAlert['alternative']): string {
  if (share < 0) return `saves up to ${formatEnd(-share)}`
  if (share === 0) return 'nothing, because the service is awake at these times anyway'
  const longer = alternative && `. At ${describeInterval(alternative.interval)}: ${describeShare(alternative.share)}`
  return `about +${formatCredits(share)}${longer ?? ''}`
}

/** `about +84 CHC a month (70 to 95)` */
const describeTotal = ({ low, expected, high }: NonNullable<PlanPrice['total']>, unit = '') =>
  `about +${formatCredits(expected)} ${unit} a month (${formatCredits(low)} to ${formatEnd(high)})`

/** Estimates have no decimals from ten on. */
const decimalsOf = (value: number) => (value >= 10 ? 0 : value >= 1 ? 1 : 2)

const formatCredits = (value: number) => value.toFixed(decimalsOf(value))

/** Rounded up, so that an upper end above a whole number never looks equal to it. */
function formatEnd(value: number) {
  const scale = 10 ** decimalsOf(value)
  return formatCredits(Math.ceil(value * scale) / scale)
}
