import { expect, it } from 'vitest'
import { reportSlos, type SloResult } from '../../../src/changes/check-slos.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { type Block, composeBlocks } from '../../../src/platform/report/blocks.ts'
import { tablesIn } from '../../support/report-texts.ts'

const blocksFor = (spent: readonly number[], more: Partial<SloResult['slos'][number]> = {}): readonly Block[] => {
  const days = spent.map((percent, i) => ({ day: new Date(Date.UTC(2026, 10, 1 + i)).toISOString(), spent: percent }))
  const result: SloResult = {
    ...{ sloCount: 1, withinBudget: 1, spent: 0, notEnoughData: 0, worstSlo: 'a', requestCount: 1, asleep: false, diagnostics: [] },
    until: '2026-11-28T00:00:00Z',
    slos: [
      {
        ...{ key: 'a', name: 'A', file: 'a.yml', line: 1, objective: 99, window: '28d', status: 'within-budget', total: 1000, good: 995 },
        ...{ indicator: 99.5, budgetLeft: 100 - spent.reduce((sum, one) => sum + one, 0), burnRates: {}, burning: [], runsOut: 'never' },
        ...{ days, ...more },
      },
    ],
  }
  return composeBlocks(reportSlos(result).blocks)
}

const sentencesFor = (spent: readonly number[]): readonly string[] =>
  blocksFor(spent).flatMap((block) => (block.kind === 'paragraph' ? toPlainText(block.line) : []))

it('names a day that spent more than half of what is spent of an error budget, and else the number of days', () => {
  expect(sentencesFor([1, 50, 10])).toEqual([expect.stringContaining('a spent most of its error budget on 2 Nov (UTC).')])
  expect(sentencesFor(Array.from({ length: 28 }, (_, i) => (i === 5 ? 3.1 : 3)))).toEqual([
    expect.stringContaining('a spent its error budget on 28 days (UTC).'),
  ])
  expect(sentencesFor([30, 0, 30])).toEqual([expect.stringContaining('on 2 days (UTC).')])
})

it('has what is left of a budget, how fast it burns without rounding to the limit, and when it runs out', () => {
  const burnRates = { '1h': 14.567, '6h': 7, '3d': 0.9999 }
  const blocks = blocksFor([60], { burnRates, burning: ['page-1h', 'page-6h'], runsOut: '2026-11-30T12:00:00Z' })
  expect(tablesIn(blocks)).toEqual([
    ['SLO', 'Objective', 'Good', 'Budget left', 'Burn rate 1h', 'Burn rate 6h', 'Burn rate 3d', 'Runs out', 'Burning'],
    ['a', '99% in 28d', '99.5%', '40%', '14.57', '7', '0.9999', 'in 2 d 12 h', 'page-1h, page-6h'],
  ])
})
