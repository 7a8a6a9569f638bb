import { expect, it } from 'vitest'
import { checkSlos, reportSlos, type SloResult } from '../../../src/changes/check-slos.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { type Block, composeBlocks } from '../../../src/platform/report/blocks.ts'
import { tablesIn } from '../../support/report-texts.ts'

type CheckedSlo = SloResult['slos'][number]

function resultFor(spent: readonly number[], ...slos: readonly Partial<CheckedSlo>[]): SloResult {
  const days = spent.map((percent, i) => ({ day: new Date(Date.UTC(2026, 10, 1 + i)).toISOString(), spent: percent }))
  return {
    ...{ sloCount: 1, withinBudget: 1, spent: 0, notEnoughData: 0, worstSlo: 'a', requestCount: 1, asleep: false, diagnostics: [] },
    until: '2026-11-28T00:00:00Z',
    slos: slos.map((more) => ({
      ...{ key: 'a', name: 'A', file: 'a.yml', line: 1, objective: 99, window: '28d', status: 'within-budget', total: 1000, good: 995 },
      ...{ indicator: 99.5, budgetLeft: 100 - spent.reduce((sum, one) => sum + one, 0), burnRates: {}, burning: [], runsOut: 'never' },
      ...{ days, ...more },
    })),
  }
}

const blocksFor = (spent: readonly number[], ...slos: readonly Partial<CheckedSlo>[]): readonly Block[] =>
  composeBlocks(reportSlos(resultFor(spent, ...(slos.length === 0 ? [{}] : slos))).blocks)

const sentencesFor = (spent: readonly number[]): readonly string[] =>
  blocksFor(spent).flatMap((block) => (block.kind === 'paragraph' ? toPlainText(block.line) : []))

it('names a day that spent more than half of what is spent of an error budget, and else the number of days', () => {
  expect(sentencesFor([1, 50, 10])).toEqual([expect.stringContaining('a spent most of its error budget on 2 Nov (UTC).')])
  expect(sentencesFor(Array.from({ length: 28 }, (_, i) => (i === 5 ? 3.1 : 3)))).toEqual([
    expect.stringContaining('a spent its error budget on 28 days (UTC).'),
  ])
  expect(sentencesFor([30, 0, 30])).toEqual([expect.stringContaining('on 2 days (UTC).')])
  expect(sentencesFor([25.2, 25])).toEqual([expect.stringContaining('most of its error budget on 1 Nov')])
  expect(sentencesFor([50])).toEqual([])
})

it('has what is left of a budget, how fast it burns without rounding to the limit, and when it runs out', () => {
  const burnRates = { '1h': 14.567, '6h': 7, '3d': 0.9999 }
  const more = { indicator: 99.51267, burnRates, burning: ['page-1h', 'page-6h'], runsOut: '2026-11-30T12:00:00Z' }
  const blocks = blocksFor([59.5149], more)
  expect(tablesIn(blocks)).toEqual([
    ['SLO', 'Objective', 'Good', 'Budget left', 'Burn rate 1h', 'Burn rate 6h', 'Burn rate 3d', 'Runs out', 'Burning'],
    ['a', '99% in 28d', '99.513%', '40.49%', '14.57', '7', '0.9999', 'in 2 d 12 h', 'page-1h, page-6h'],
  ])
})

it('has a chart of the worst group of each SLO that spent something, the worst first, of ten at most', () => {
  const titlesOf = (...slos: readonly Partial<CheckedSlo>[]): readonly string[] =>
    blocksFor([30], ...slos).flatMap((block) =>
      block.kind === 'chart' ? block.title.replace(/^Error budget of | spent, by UTC day/g, '') : [],
    )
  const unknown = { key: 'unknown', budgetLeft: undefined }
  const groups = [80, 60].map((budgetLeft) => ({ key: 'groups', group: String(budgetLeft), budgetLeft }))
  expect(titlesOf(unknown, { key: 'whole', budgetLeft: 100 }, { key: 'good', budgetLeft: 90 }, ...groups)).toEqual([
    'groups (worst group)',
    'good',
  ])
  expect(titlesOf(...Array.from({ length: 11 }, (_, i) => ({ key: String(i) })))).toHaveLength(10)
})

it('the cause of a failed gate is that of its SLO', () => {
  const causeOf = (slo: Partial<CheckedSlo>, gates: { readonly minBudgetLeft?: number; readonly maxBurnRate?: number }): string =>
    toPlainText(checkSlos.judge?.(resultFor([30], slo), { files: [], ...gates }).cause ?? [])
  const burning = { burnRates: { '1h': 2 } }
  expect(causeOf(burning, { maxBurnRate: 1 })).toBe('a burns its error budget too fast')
  expect(causeOf(burning, { maxBurnRate: 1, minBudgetLeft: 60 })).toBe('a burns its error budget too fast')
  expect(causeOf(burning, { maxBurnRate: 1, minBudgetLeft: 80 })).toBe('a has too little error budget left')
  expect(causeOf({ status: 'not-enough-data', budgetLeft: undefined }, { maxBurnRate: 1 })).toBe('a has not enough data')
})
