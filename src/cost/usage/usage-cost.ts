import * as z from 'zod'
import type { ReadApi } from '../../platform/api/client.ts'
import { findServices } from '../../platform/api/services.ts'
import { type Day, dayOf } from '../../platform/core/dates.ts'
import { formatExact } from '../../platform/core/decimal.ts'
import { type Diagnostic, inputDiagnostic } from '../../platform/core/diagnostics.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { toPlainText } from '../../platform/core/line.ts'
import { toKebab } from '../../platform/core/names.ts'
import { quote } from '../../platform/core/text.ts'
import type { Files } from '../../platform/operation/files.ts'
import { choice, grouped, integer, noted, onMissingInput, variable } from '../../platform/operation/inputs.ts'
import { defineOperation, type Given } from '../../platform/operation/operation.ts'
import { selectInput } from '../../platform/operation/select.ts'
import { amountInput, budgetsInput, creditPriceInput } from './amounts.ts'
import { type BudgetOutcome, checkLimit, judgeBudgets, lookAhead } from './budgets.ts'
import type { Budget } from './budgets-file.ts'
import { comparedPeriod, compareUsage, comparisonIssue, comparisons, increaseInput } from './comparison.ts'
import {
  type CurrentPeriod,
  choosePeriod,
  daysIn,
  isBillingCycle,
  isNeverComplete,
  isPartOfMonth,
  mayHaveDaysAhead,
  periodInput,
  periodNames,
} from './periods.ts'
import { describeIssue } from './phrases.ts'
import {
  allReadings,
  type DataQualityIssue,
  findDataQualityIssues,
  findHistoryFailure,
  knownDays,
  lastDayWithAllRecords,
  type Readings,
  readUsage,
  withoutGaps,
} from './readings.ts'
import { groupByEntity, groupByMetric, provisionalOf } from './records.ts'
import { judgeUsage, reportUsage, usageLines } from './report.ts'
import { gateModes, toUsageDocument, type UsageResult, usageDetails, usageOutput } from './result.ts'
import { findSpikes, minBaselineDays } from './spikes.ts'

const countedInput = grouped('What is counted', {
  period: noted(periodInput.optional(), `Periods: ${periodNames}, a day, or FIRST..LAST; the default is \`month-to-date\`.`),
  billingCycleDay: variable(
    integer(
      'Day of the month on which a billing cycle starts. The default is 1. In a shorter month, the cycle starts on its last day.',
      1,
      31,
    ).optional(),
  ),
  compare: choice(
    comparisons,
    'Compares the usage with earlier days. `previous-period` is the period of equal length that ends the day before. `previous-month-days` are the same days of the previous month, such as 1–21 Oct for 1–21 Nov.',
  ).optional(),
  select: selectInput(['tag'], { note: 'A tag of the cloud, such as `tag=Team` or `tag=Team=shop`. The API applies it.' }).optional(),
})

const gatesInput = grouped('Gates, in credits (above fails, equal passes)', {
  gate: choice(
    gateModes,
    'Decides what happens without a limit. `auto` warns, `required` fails, and `off` passes and rejects limits. Limits are budget, warn-budget, forecast-budget, budgets and max-increase. For `required`, warn-budget is not enough.',
  ).default('auto'),
  budget: amountInput(
    'Fails when the cost of the period is above this. The amount is in usage credits, and an equal amount passes.',
  ).optional(),
  warnBudget: amountInput('Warns when the cost of the period is above this. It never fails, and an equal amount passes.').optional(),
  budgets: noted(budgetsInput, 'One run judges all of them.'),
  forecastBudget: amountInput(
    'Fails if the forecast of the period is above this. The forecast is for the whole period, and an equal amount passes. On the last day and after it, the total counts instead.',
  ).optional(),
  maxIncrease: increaseInput.optional(),
  onMissing: noted(
    onMissingInput.optional(),
    'Data is missing if there are no records at all or for some days, or if records do not add up to the total. Missing records of days that have just begun are only a warning.',
  ),
})

const usageInput = z.strictObject({
  ...countedInput,
  ...gatesInput,
  ...grouped('Output', {
    creditPrice: creditPriceInput,
  }),
})

type UsageInput = z.output<typeof usageInput>

export const usageCost = defineOperation({
  title: 'Cost gate',
  summary: "Reports the organization's usage cost over a period and fails when it exceeds a budget.",
  effect: 'read',
  scope: 'organization',
  input: usageInput,
  output: usageOutput,
  get details() {
    return usageDetails()
  },
  example: { period: 'last-7-days', budget: '200' },
  moreExamples: [{ period: 'last-30-days', gate: 'off' }, { budgets: 'cost/budgets.yml' }],
  check: checkUsageInput,
  async run({ api, organizationId, clock, files, formats, github }, input) {
    const today = dayOf(clock.now())
    const period = choosePeriod(input.period, today, input.billingCycleDay)
    const budgets = await loadBudgets(files, input, today, period)
    const previous = input.compare && comparedPeriod(input.compare, period, isBillingCycle(input.period))
    const options = {
      today,
      period,
      previous,
      budgets,
      filters: selectedTags(input.select).map((tag) => `tag:${tag}`),
    }
    const readings = await readUsage(api, organizationId, options)
    // Missing usage is a warning by default in a run without a gate.
    const onMissing = input.onMissing ?? (input.gate === 'off' ? 'warn' : undefined)
    const services = formats.includes('focus') ? await placesOf(api, organizationId) : undefined
    const result = analyze({ organizationId, services, readings, period, today, budgets, input: { ...input, onMissing } })
    if (result.spikes.length === 0) return result
    const { findSpikeContext, findSpikeDeployments } = await import('./spike-context.ts')
    return {
      ...result,
      spikeContext: await findSpikeContext(api, organizationId, result),
      spikeDeployments: github && (await findSpikeDeployments(github.readDeployments, result.spikes)),
    }
  },
  judge: judgeUsage,
  report: reportUsage,
  keyLines: usageLines,
  reports: {
    csv: async (result) => (await exports()).exportCsv(result),
    focus: async (result, { billingCycleDay }) => (await exports()).exportFocus(result, billingCycleDay),
    openmetrics: async (result, _, blocks) => (await exports()).exportMetrics(result, blocks),
  },
  toDocument: toUsageDocument,
})

const exports = () => import('./exports.ts')

function checkUsageInput(given: Given<typeof usageInput>): readonly Diagnostic[] {
  const { values, names } = given
  return [
    ...selectedTags(given.values.select)
      .filter((tag) => !/^[^\s=]{1,128}(?:=.{0,256})?$/.test(tag))
      .map((tag) => inputDiagnostic('select', `"tag=${quote(tag)}" is not accepted; accepted: tag=Key or tag=Key=Value`)),
    ...checkGate(given),
    ...(names.has('maxIncrease') && !names.has('compare')
      ? [inputDiagnostic('max-increase', `requires compare: ${comparisons.join(' or ')}`)]
      : []),
    ...(values.compare === 'previous-month-days' && !isPartOfMonth(values.period)
      ? [
          inputDiagnostic(
            'compare',
            `previous-month-days requires a period of a month or of dates; compare ${String(values.period)} with previous-period`,
          ),
        ]
      : []),
    ...(names.has('maxIncrease') && isNeverComplete(values.period)
      ? [inputDiagnostic('max-increase', `requires a period with complete days, and ${String(values.period)} has none`)]
      : []),
    ...(names.has('forecastBudget') && !mayHaveDaysAhead(values.period)
      ? [inputDiagnostic('forecast-budget', `requires a period with future days, and ${String(values.period)} has none`)]
      : []),
  ]
}

const selectedTags = (select: UsageInput['select'] = []) => select.flatMap(({ values }) => values)

function checkGate({ values, names }: Given<typeof usageInput>): readonly Diagnostic[] {
  const { gate, budget, warnBudget } = values
  const refused =
    gate === 'off' ? (['budget', 'warnBudget', 'forecastBudget', 'budgets', 'maxIncrease'] as const).filter((name) => names.has(name)) : []
  return [
    ...refused.map((name) => inputDiagnostic(toKebab(name), `cannot be combined with ${spellInput('gate', 'off')}`)),
    ...(budget !== undefined && warnBudget?.gt(budget)
      ? [inputDiagnostic('warn-budget', `is ${formatExact(warnBudget)}, above budget ${formatExact(budget)}, so the gate would never warn`)]
      : []),
  ]
}

async function loadBudgets(
  files: Files,
  { budgets: path, billingCycleDay }: UsageInput,
  today: Day,
  period: CurrentPeriod,
): Promise<readonly Budget[]> {
  if (path === undefined) return []
  // The YAML parser takes longer to load than the rest of a run without a budgets file.
  const { readBudgets } = await import('./budgets-file.ts')
  return readBudgets(await files.read(path, 'budgets'), path, { today, billingCycleDay, period })
}

/** The vendor's billing documentation says that a ClickHouse Credit is worth one US dollar of the published price list. */
const provider: UsageResult['provider'] = {
  name: 'ClickHouse',
  serviceName: 'ClickHouse Cloud',
  serviceCategory: 'Databases',
  listPrice: { currency: 'USD', amount: '1' },
}

/** Regions and tags, which records do not have. Empty where the services cannot be read. */
async function placesOf(api: ReadApi, organizationId: string): Promise<NonNullable<UsageResult['services']>> {
  const services = await findServices(api, organizationId)
  return services.map(({ id, dataWarehouseId, provider, region, tags = [] }) => ({
    id,
    warehouseId: dataWarehouseId,
    provider,
    region,
    // FOCUS: the value of a tag without a value is true.
    tags: Object.fromEntries(tags.map(({ key, value }) => [key, typeof value === 'string' && value !== '' ? value : true])),
  }))
}

interface Analysis {
  readonly organizationId: string
  readonly services: UsageResult['services']
  readonly readings: Readings
  readonly period: CurrentPeriod
  readonly today: Day
  readonly budgets: readonly Budget[]
  readonly input: UsageInput
}

function analyze(analysis: Analysis): UsageResult {
  const { organizationId, services, readings, period, today, budgets, input } = analysis
  const { main, previous } = readings
  const { gate, budget, warnBudget, forecastBudget, creditPrice } = input
  const judged = main.grandTotal
  const { status: budgetStatus, usedPercent } = checkLimit(judged, budget, warnBudget)
  const outcomes = budgets.length === 0 ? [] : judgeBudgets(budgets, { readings, today, onMissing: input.onMissing })
  // Usage without records is unknown, and so is whether it exceeds a budget.
  const isKnown = main.records.length > 0 || !main.grandTotal.eq(0)
  const overTime = analyzeDays(analysis)
  const failure = findHistoryFailure(readings.history, period)
  const expected = overTime.forecast?.status === 'expected' ? overTime.forecast.total : undefined
  const comparison =
    previous && input.compare && compareUsage(previous, main, { compare: input.compare, maxIncrease: input.maxIncrease, today })
  return {
    organizationId,
    provider,
    services,
    grandTotalCredits: main.grandTotal,
    unit: readings.unit,
    fromDate: period.from,
    toDate: period.to,
    days: daysIn(period),
    tags: selectedTags(input.select),
    budget,
    budgetExceeded: anyExceeded(isKnown && budget !== undefined ? [budgetStatus] : [], outcomes),
    budgetUsedPercent: isKnown ? usedPercent : undefined,
    provisionalCredits: provisionalOf(main.records),
    forecastCredits: expected,
    endDate: period.end,
    clipped: typeof input.period === 'object' && period.end !== period.to,
    budgetStatus,
    warnBudget,
    forecastBudget,
    // Usage above the budget needs no forecast.
    forecastBudgetExceeded: forecastBudget !== undefined && (judged.gt(forecastBudget) || expected?.gt(forecastBudget) === true),
    gate,
    ...overTime,
    historyFailure: failure && {
      ...(typeof failure.cause === 'string'
        ? { status: 'unread', reason: failure.cause }
        : { status: 'inconsistent', reason: toPlainText(describeIssue(failure.cause, readings.unit)) }),
      fromDate: failure.period.from,
      toDate: failure.period.to,
    },
    comparison,
    budgets: outcomes,
    dataQualityIssues: [
      ...issuesOf(readings, today, input),
      ...(comparison ? comparisonIssue(comparison, { period, today, onMissing: input.onMissing }) : []),
    ],
    creditPrice,
    cost: creditPrice && main.grandTotal.times(creditPrice.amount),
    byEntity: groupByEntity(main.records),
    byMetric: groupByMetric(main.records),
    records: [...main.records],
    otherRecords: [...(previous?.records ?? []), ...readings.others.flatMap(({ records }) => records)],
    taggedRecords: [...readings.tagged].map(([tag, tagged]) => ({ tag, records: tagged.readings.flatMap(({ records }) => records) })),
  }
}

/** Undefined without a figure to compare a budget with. */
function anyExceeded(main: readonly UsageResult['budgetStatus'][], budgets: readonly BudgetOutcome[]) {
  const trusted = budgets.filter(({ dataQualityIssue }) => dataQualityIssue === undefined)
  const all = [...main, ...trusted.map(({ limitStatus }) => limitStatus)]
  return all.length === 0 ? undefined : all.includes('exceeded')
}

function analyzeDays({ readings, period, today, input }: Analysis) {
  const read = [...allReadings(readings), ...readings.history.readings]
  const records = read.flatMap((reading) => reading.records)
  const known = knownDays(period, read, records, lastDayWithAllRecords(readings, today))
  const { forecast, recorded, budgetStep, runsOutOn } = lookAhead({
    ...{ period, known, history: readings.history, today },
    ...{ records: readings.main.records, limit: input.budget },
  })
  const history = withoutGaps(known, period)
  const spikeDays = history.slice(minBaselineDays).filter(({ date }) => date >= period.from).length
  return {
    forecast,
    budgetStep,
    runsOutOn,
    byDay: recorded,
    spikes: findSpikes(records, history, period.from),
    spikeDays,
  }
}

function issuesOf(readings: Readings, today: Day, { onMissing }: UsageInput): DataQualityIssue[] {
  // A tag without usage is an issue of its budget only.
  const tagged = [...readings.tagged.values()]
    .flatMap((one) => one.readings)
    .filter(({ records, grandTotal }) => records.length > 0 || !grandTotal.eq(0))
  return [...allReadings(readings), ...tagged].flatMap((reading) => findDataQualityIssues(reading, today, onMissing))
}
