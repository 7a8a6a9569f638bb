// Owns what users can ask of usage-cost.
import * as z from 'zod'
import { fromText } from '../../kernel/decimal.ts'
import type { Problem } from '../../kernel/errors.ts'
import type { Increase } from '../../rules/comparison.ts'
import { groupings } from '../../rules/groups.ts'
import { choice, filePath, lines } from '../fields.ts'
import type { Given } from '../operation.ts'
import { amount } from './fields.ts'
import { checkPeriod, mayRun, periodInput } from './period-input.ts'
import { waiverField } from './waiver.ts'

const tagFilter = z.string().regex(/^tag:[^\s=]{1,128}(?:=[^\r\n]{0,256})?$/)

const increaseGrammar = /^(0|[1-9]\d{0,29})((?:\.\d{1,30})?)(\s*%)?$/

const increase = z
  .union([z.string(), z.number()])
  .transform((value, context): Increase => {
    const [, whole, fraction = '', percent] = increaseGrammar.exec(String(value).trim()) ?? []
    if (whole !== undefined) {
      const decimal = fromText(`${whole}${fraction}`)
      return percent === undefined ? { kind: 'amount', amount: decimal } : { kind: 'percent', percent: decimal }
    }
    context.addIssue({ code: 'custom', message: 'is no increase' })
    return z.NEVER
  })
  .meta({
    description: 'Most that the usage may grow against the previous period; the gate fails above it. Together with compare.',
    accepts: 'an amount such as 50, or a percentage such as 20%',
  })

const outputPath = (what: string) => filePath(`Writes ${what} to this file.`, 'a path').optional()

export const usageInput = z.strictObject({
  ...periodInput,
  budget: amount('Most that may be used, in usage credits. The gate fails above it; equal passes.').optional(),
  warnBudget: amount('The gate warns above this amount.').optional(),
  budgets: filePath('File with several budgets, each with a limit, a period and a scope; all are judged in one run.').optional(),
  forecastBudget: amount(
    'The gate fails when the forecast for the whole period is above this amount; on its last day, the total counts.',
  ).optional(),
  compare: choice(['previous-period'], 'Compares with the period of equal length just before.').optional(),
  maxIncrease: increase.optional(),
  filter: lines(
    'Only usage that bears these tags; passed on to the API. One filter a line.',
    'tag:Key=Value or tag:Key, one a line',
    tagFilter,
  ).optional(),
  unlocked: choice(['include', 'exclude'], 'Whether the gate counts records that can still change, or final ones alone.').default(
    'include',
  ),
  onMissing: choice(
    ['fail', 'warn', 'ignore'],
    'What to do when the figures are doubtful: no records at all, days without records, records that do not add up to the total. Not given, they fail the gate, but for days that have just begun and have no records yet: those are a warning.',
  ).optional(),
  groupBy: choice(groupings, 'What the first table of the report is about.').default('entity'),
  waiver: waiverField,
  csvFile: outputPath('the records as CSV'),
  focusFile: outputPath('the records as FOCUS 1.2 cost and usage rows, in CSV,'),
  metricsFile: outputPath('the figures as OpenMetrics text'),
  htmlFile: outputPath('the report as one self-contained HTML page'),
})

export type UsageInput = z.output<typeof usageInput>

export function checkUsageInput(given: Given<typeof usageInput>): readonly Problem[] {
  const { values, names } = given
  return [
    ...checkPeriod(given, names.has('budgets')),
    ...(names.has('maxIncrease') && !names.has('compare')
      ? [{ name: 'max-increase', message: 'means nothing without compare: previous-period' }]
      : []),
    ...(names.has('forecastBudget') && !mayRun(values)
      ? [{ name: 'forecast-budget', message: `means nothing for ${values.period}, of which no day is still to come` }]
      : []),
  ]
}
