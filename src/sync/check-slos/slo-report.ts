import { dayOf, formatMoment } from '../../core/dates.ts'
import { errorsIn } from '../../core/diagnostics.ts'
import { counted, type Line, say, trusted } from '../../core/line.ts'
import { inEnvironment } from '../../declarations/environment.ts'
import type { Block, Status } from '../../report/blocks.ts'
import { formatDuration, formatShortDay } from '../../report/format.ts'
import type { Report } from '../../report/report.ts'
import { type Cell, shown, table } from '../../report/table.ts'
import type { CheckedSlo, SloResult } from './slo-result.ts'
import { round, sloName } from './slo-verdict.ts'

const statuses: Readonly<Record<CheckedSlo['status'], Status>> = { 'within-budget': 'pass', spent: 'fail', 'not-enough-data': 'warn' }

function sloTable({ slos, until }: SloResult): Block {
  const burnRate =
    (window: '1h' | '6h' | '3d') =>
    ({ burnRates }: CheckedSlo): Cell =>
      shown(burnRates[window], (rate) => round(rate, 2))
  return table(
    undefined,
    slos,
    {
      SLO: sloName,
      Objective: ({ objective, window }) => trusted(`${objective}% in ${window}`),
      '> Good': ({ indicator }) => trusted(indicator === undefined ? 'not enough data' : `${round(indicator, 3)}%`),
      '> Budget left': ({ budgetLeft }) => shown(budgetLeft, (left) => `${round(left, 2)}%`),
      '> Burn rate 1h': burnRate('1h'),
      '> Burn rate 6h': burnRate('6h'),
      '> Burn rate 3d': burnRate('3d'),
      'Runs out': (slo) => runsOutWords(slo, until),
      Burning: ({ burning }) => shown(burning.join(', ') || undefined),
    },
    ({ status }) => statuses[status],
  )
}

function runsOutWords({ runsOut }: CheckedSlo, until: string): Line {
  const ms = Date.parse(runsOut) - Date.parse(until)
  return Number.isNaN(ms) ? [trusted(runsOut)] : [trusted(`in ${formatDuration(ms)}`)]
}

/** The most charts in a report. */
const maxCharts = 10

/** One chart for each SLO that spent something, the worst first, of its worst group. A title is not escaped, and a key needs no escape. */
function charts({ slos, until }: SloResult): readonly Block[] {
  const worstFirst = slos.filter(({ budgetLeft = 100 }) => budgetLeft < 100).toSorted((a, b) => (a.budgetLeft ?? 0) - (b.budgetLeft ?? 0))
  return worstFirst
    .filter(({ key }, i) => worstFirst.findIndex((one) => one.key === key) === i)
    .slice(0, maxCharts)
    .map(({ key, group, days }) => ({
      kind: 'chart',
      title: `Error budget of ${key} spent, by UTC day${group === undefined ? '' : ' (worst group)'}`,
      unit: '%',
      valueName: 'Spent',
      points: days.map(({ day, spent }) => ({ label: formatShortDay(dayOf(Date.parse(day)), dayOf(Date.parse(until))), value: spent })),
    }))
}

export const reportSlos = (result: SloResult): Report => ({
  headline:
    result.asleep || errorsIn(result.diagnostics).length > 0
      ? say`The SLOs were not checked`
      : say`${counted(result.sloCount, 'SLO')}${inEnvironment(result)} until ${trusted(formatMoment(result.until))}`,
  blocks: [
    { kind: 'diagnostics', diagnostics: errorsIn(result.diagnostics) },
    ...(result.slos.length === 0 ? [] : [sloTable(result), ...charts(result)]),
  ],
  annotations: errorsIn(result.diagnostics),
})
