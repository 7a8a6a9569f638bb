// Owns how the usage cost is shown.
import { type Decimal, formatEstimate, formatExact, formatRounded, fromText, percentOf } from '../../kernel/decimal.ts'
import type { Block } from '../../report/blocks.ts'
import { type Line, ours, say } from '../../report/line.ts'
import type { Report } from '../operation.ts'
import { chartOf } from './chart-of-days.ts'
import { describeDoubt } from './doubt-words.ts'
import type { UsageResult } from './result.ts'
import { budgetTable, groupTables, moverTable, recordDetails, spikeTable } from './tables.ts'

export function reportUsage(result: UsageResult): Report {
  return {
    headline: headlineOf(result),
    blocks: [
      factsOf(result),
      ...notices(result).map((line): Block => ({ kind: 'paragraph', line })),
      budgetTable(result),
      ...chartOf(result),
      spikeTable(result),
      ...groupTables(result),
      ...moverTable(result),
      recordDetails(result),
    ],
  }
}

function headlineOf(result: UsageResult): Line {
  const { grandTotalCredits, unit, fromDate, toDate, budget, budgetUsedPercent, budgets, judgedCredits, records } = result
  if (records.length === 0)
    return [ours(`No usage records from ${fromDate} to ${toDate}; the API's total is ${formatExact(fromText(grandTotalCredits))} ${unit}`)]
  const share = budgetUsedPercent === undefined ? '' : ` (${budgetUsedPercent} %)`
  // Doubts come after the figure; until they are settled it is within nothing.
  const isVouchedFor = budget !== undefined && result.doubts.length === 0 && fromText(judgedCredits).lte(budget)
  const within = isVouchedFor ? `, within the budget of ${formatExact(fromText(budget))}${share}` : ''
  const kept = budgets.filter(({ verdict }) => verdict !== 'fail').length
  const others = budgets.length === 0 ? '' : `, ${kept} of ${budgets.length} budgets kept`
  const unjudged = hasLimit(result) ? '' : '; no limit was given'
  return [ours(`${formatExact(fromText(grandTotalCredits))} ${unit} used from ${fromDate} to ${toDate}${within}${others}${unjudged}`)]
}

function factsOf(result: UsageResult): Block {
  const { unit, budget, budgetUsedPercent, provisionalCredits, grandTotalCredits, judgedCredits, unlocked, days, warnBudget, comparison } =
    result
  const { forecast, forecastBudget, runsOutOn } = result
  const amount = (value: string): Line => [ours(`${formatExact(fromText(value))} ${unit}`)]
  const fact = (label: string, value: Line | undefined) => (value === undefined ? [] : [{ label, value }])
  const given = (value: string | undefined): Line | undefined => (value === undefined ? undefined : amount(value))
  return {
    kind: 'facts',
    facts: [
      { label: 'Total', value: amount(grandTotalCredits) },
      ...fact('Final', unlocked === 'exclude' ? amount(judgedCredits) : undefined),
      ...fact('Budget', hasLimit(result) ? given(budget) : [ours('none given')]),
      ...fact('Warn above', given(warnBudget)),
      ...fact('Used', budgetUsedPercent === undefined ? undefined : [ours(`${budgetUsedPercent} %`)]),
      {
        label: 'Can still change',
        value: [...amount(provisionalCredits), ours(inBrackets(percentOf(fromText(provisionalCredits), fromText(grandTotalCredits))))],
      },
      ...fact(`Expected by ${forecast.untilDate}`, expected(forecast, unit)),
      ...fact('Forecast budget', given(forecastBudget)),
      ...fact('Budget runs out on', runsOutOn === undefined ? undefined : [ours(runsOutOn)]),
      ...fact('Against the period before', comparison && [ours(changeWords(comparison, unit))]),
      { label: 'Days', value: say`${days}` },
    ],
  }
}

/** An expression that came out empty looks like no budget at all; whoever meant one can see it. */
const hasLimit = ({ budget, warnBudget, forecastBudget, budgets, comparison }: UsageResult): boolean =>
  [budget, warnBudget, forecastBudget, comparison?.maxIncrease].some((limit) => limit !== undefined) || budgets.length > 0

const inBrackets = (percent: Decimal | undefined): string => (percent === undefined ? '' : ` (${formatRounded(percent, 1)} %)`)

function expected({ state, total = '0', low = '0', high = '0' }: UsageResult['forecast'], unit: string): Line | undefined {
  if (state === 'over') return undefined
  if (state === 'too-early') return [ours('not yet: too early to tell')]
  return [ours(`${formatEstimate(fromText(total))} ${unit} (${formatEstimate(fromText(low))} to ${formatEstimate(fromText(high))})`)]
}

function changeWords({ change, changePercent, total }: NonNullable<UsageResult['comparison']>, unit: string): string {
  const amount = fromText(change)
  const sign = amount.gt(0) ? '+' : ''
  const share = changePercent === undefined ? '' : ` (${sign}${formatRounded(fromText(changePercent), 1)} %)`
  return `${sign}${formatExact(amount)} ${unit}${share}, from ${formatExact(fromText(total))}`
}

function notices(result: UsageResult): readonly Line[] {
  const { clipped, waiver, comparison, unlocked, forecast, onMissing, doubts, unit, spikeDays, days } = result
  return [
    ...(onMissing === 'ignore' ? doubts.map((doubt) => say`Ignored: ${describeDoubt(doubt, unit)}.`) : []),
    ...(waiver === undefined ? [] : [say`Waiver until ${ours(waiver.until)}: ${waiver.reason}`]),
    ...(clipped ? [say`Days that are still to come were taken off the period.`] : []),
    ...(unlocked === 'exclude' ? [say`Only records that are final are judged.`] : []),
    ...(forecast.state === 'expected'
      ? [
          say`The forecast is learnt from ${forecast.learntFrom ?? 0} days${ours(forecast.isWeekdayAware ? ', weekdays told apart' : '')}; four times out of five the total lies within its range.`,
        ]
      : []),
    ...(comparison === undefined ? [] : cameAndWent(comparison)),
    ...(spikeDays < days && days > 1
      ? [
          [
            ours(spikeDays === 0 ? 'No day was looked at for spikes' : `Only the last ${spikeDays} days were looked at for spikes`),
            ours(': it takes two weeks before a day to say what is usual.'),
          ],
        ]
      : []),
  ]
}

/** Most entities that a sentence names. */
const mostNamed = 10

function cameAndWent({ appeared, gone }: NonNullable<UsageResult['comparison']>): readonly Line[] {
  const list = (entities: readonly { readonly name: string }[]): Line =>
    entities.slice(0, mostNamed).flatMap(({ name }, i) => (i === 0 ? say`${name}` : say`, ${name}`))
  const more = (entities: readonly unknown[]): string => (entities.length > mostNamed ? ` and ${entities.length - mostNamed} more` : '')
  return [
    ...(appeared.length === 0 ? [] : [say`New against the period before: ${list(appeared)}${ours(more(appeared))}.`]),
    ...(gone.length === 0 ? [] : [say`Gone since the period before: ${list(gone)}${ours(more(gone))}.`]),
  ]
}
