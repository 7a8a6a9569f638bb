import { describe, expect, it } from 'vitest'
import { findBudgetStep } from '../../../../src/cost/usage/budgets.ts'
import { type CurrentPeriod, resolvePeriod } from '../../../../src/cost/usage/periods.ts'
import { totalByDay } from '../../../../src/cost/usage/readings.ts'
import type { Day } from '../../../../src/platform/core/dates.ts'
import { decimal, usageRecord } from '../../../support/usage.ts'

const today = '2026-03-11' as Day
const month = resolvePeriod('month-to-date', today)

/** The step of a budget of 100 by the usage of days of March. */
function stepOf(usage: Readonly<Record<number, string>>, period: CurrentPeriod = month, limit = '100', on = today) {
  const records = Object.entries(usage).map(([day, total]) =>
    usageRecord(`2026-03-${day.padStart(2, '0')}`, total, { locked: Number(day) < 8 }),
  )
  const step = findBudgetStep({ days: totalByDay(records, period), period, limit: decimal(limit), today: on })
  return step && [step.percent, step.reachedOn, step.used.toFixed()]
}

describe('the step of a budget', () => {
  it.each([
    ['is the one that the last complete day reached', { 8: '40', 9: '10' }, [50, '2026-03-09', '50']],
    ['is the highest of those that one day reached', { 8: '40', 9: '51' }, [90, '2026-03-09', '91']],
    ['is 100 for usage that is equal to the budget', { 8: '99.999999', 9: '0.000001' }, [100, '2026-03-09', '100']],
    ['is 100 for usage far above the budget', { 8: '40', 9: '400' }, [100, '2026-03-09', '440']],
    ['is reached digit by digit', { 8: '40', 9: '9.999999' }, undefined],
    ['is reported once', { 8: '60', 9: '5' }, undefined],
    ['is not reported for usage of yesterday, whose records still grow', { 8: '40', 10: '20' }, undefined],
    ['is not reported for an older day', { 7: '40', 8: '20' }, undefined],
    ['needs usage', {}, undefined],
  ] as const)('the step of a budget %s', (_, usage, expected) => {
    expect(stepOf(usage)).toEqual(expected)
  })

  it('the step of a budget is reported by one of the runs of each day, whatever they see of yesterday', () => {
    const runs = [
      { 8: '40', 9: '9' },
      { 8: '40', 9: '12' },
      { 8: '40', 9: '12', 10: '1' },
      { 8: '40', 9: '12', 10: '2' },
    ]
    const steps = runs.map((usage, i) => stepOf(usage, month, '100', `2026-03-${10 + i}` as Day))
    expect(steps.filter((step) => step !== undefined)).toEqual([[50, '2026-03-09', '52']])
  })

  it('the step of a budget does not exist for a budget of zero', () => {
    expect(stepOf({ 9: '10' }, month, '0')).toBeUndefined()
  })

  it.each(['today', 'yesterday', 'last-7-days'] as const)(
    'the step of a budget does not exist for %s, which moves with every run',
    (name) => {
      expect(stepOf({ 8: '40', 9: '70' }, resolvePeriod(name, today))).toBeUndefined()
    },
  )

  it('counts only days of the period', () => {
    expect(stepOf({ 8: '90', 9: '50' }, { from: '2026-03-09' as Day, to: today, end: '2026-03-31' as Day })).toEqual([
      50,
      '2026-03-09',
      '50',
    ])
  })
})
