import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { toUsageDocument, type UsageResult, usageResultSchema } from '../../../../src/cost/usage/result.ts'
import type { Day } from '../../../../src/platform/core/dates.ts'
import { type Decimal, fromText } from '../../../../src/platform/core/decimal.ts'
import { usageRecord } from '../../../support/usage.ts'

const day = '2026-03-01' as Day

/** A result with every optional field, in which no two amounts are equal. */
function resultOf(next: () => Decimal): UsageResult {
  const group = { name: 'a', total: next(), provisional: next() }
  // A metric can have any name, also that of a field with two decimals.
  const metrics = { compute: next(), changePercent: next() }
  const record = usageRecord(day, 0, { total: next(), metrics, warehouseId: 'w', serviceId: 's' })
  const forecast = {
    status: 'expected' as const,
    untilDate: day,
    total: next(),
    low: next(),
    high: next(),
    learnedFromDays: 28,
    isWeekdayAware: true,
    byDay: [{ date: day, total: next() }],
  }
  const budgetStep = { percent: 50, reachedOn: day, used: next() }
  const entity = { entityName: 'a', entityId: 'a', entityType: 'service', metric: 'compute' }
  const comparison = {
    status: 'compared' as const,
    with: 'previous-period' as const,
    fromDate: day,
    toDate: day,
    ofFromDate: day,
    ofToDate: day,
    leftOut: [day],
    ofTotal: next(),
    total: next(),
    change: next(),
    changePercent: next(),
    isAboveMaxIncrease: true,
    movers: [{ ...entity, before: next(), after: next() }],
    added: [{ name: 'a', entityId: 'a', entityType: 'service' }],
    removed: [],
  }
  const budget = {
    name: 'shop',
    status: 'fail' as const,
    scope: { service: ['a'] },
    fromDate: day,
    toDate: day,
    limit: next(),
    warnAbove: next(),
    used: next(),
    usedPercent: next(),
    provisional: next(),
    limitStatus: 'exceeded' as const,
    budgetStep,
    forecast,
    judgesForecast: true,
    isForecastAbove: true,
    isForecastMissing: false,
    waiver: { until: day, reason: 'Load test' },
    isWaived: false,
    runsOutOn: day,
  }
  return {
    grandTotalCredits: next(),
    unit: 'CHC',
    fromDate: day,
    toDate: day,
    days: 1,
    tags: ['Team=shop'],
    budget: next(),
    budgetExceeded: true,
    budgetUsedPercent: next(),
    provisionalCredits: next(),
    forecastCredits: next(),
    runsOutOn: day,
    organizationId: 'org',
    provider: { name: 'Cloud', serviceName: 'o', serviceCategory: 'Other', listPrice: { currency: 'USD', amount: '1.00' } },
    endDate: day,
    clipped: false,
    budgetStatus: 'exceeded',
    warnBudget: next(),
    budgetStep,
    forecastBudget: next(),
    forecastBudgetExceeded: true,
    gate: 'auto',
    forecast,
    historyFailure: { status: 'unread', fromDate: day, toDate: day, reason: 'The API answered 500.' },
    comparison: { ...comparison, maxIncrease: { kind: 'percent', percent: next() } },
    spikes: [{ date: day, of: 'organization', total: next(), usual: next(), driver: { ...entity, total: next(), usual: next() } }],
    spikeDays: 1,
    budgets: [budget, { ...budget, dataQualityIssue: { kind: 'nothing-in-scope', level: 'warn', unmatched: ['b'], nearest: { b: 'a' } } }],
    dataQualityIssues: [{ kind: 'total-mismatch', level: 'fail', fromDate: day, toDate: day, recordsTotal: next(), grandTotal: next() }],
    creditPrice: { amount: next(), currency: 'USD' },
    cost: next(),
    byDay: [{ date: day, total: next(), provisional: next() }],
    byEntity: [{ ...group, entityType: 'service' }],
    byMetric: [group],
    records: [record],
    otherRecords: [record],
    taggedRecords: [{ tag: 'team=a', records: [record] }],
  }
}

it('writes every field as its schema encodes it, with all digits of amounts of any size', () => {
  const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,25})(?:\.\d{1,25})?$/).map(fromText)
  fc.assert(
    fc.property(fc.array(digits, { minLength: 1, maxLength: 60 }), (amounts) => {
      let used = 0
      const result = resultOf(() => amounts[used++ % amounts.length] ?? fromText('0'))
      expect(toUsageDocument(result)).toEqual(z.encode(usageResultSchema(), result))
    }),
    { numRuns: 40 },
  )
})

it('writes an increase as an amount or a percentage, as it was given', () => {
  const comparison = resultOf(() => fromText('1')).comparison
  if (comparison === undefined) throw new Error('the result has no comparison')
  const written = (maxIncrease: typeof comparison.maxIncrease) =>
    toUsageDocument({ ...resultOf(() => fromText('1')), comparison: { ...comparison, maxIncrease } }).comparison?.maxIncrease
  expect(written({ kind: 'amount', amount: fromText('0.0000001') })).toBe('0.0000001')
  expect(written({ kind: 'percent', percent: fromText('12.345') })).toBe('12.345%')
  expect(written(undefined)).toBeUndefined()
  const without = {
    status: 'no-complete-days' as const,
    with: 'previous-period' as const,
    fromDate: comparison.fromDate,
    toDate: comparison.toDate,
    maxIncrease: { kind: 'percent' as const, percent: fromText('20') },
  }
  const result = { ...resultOf(() => fromText('1')), comparison: without }
  expect(toUsageDocument(result)).toEqual(z.encode(usageResultSchema(), result))
})
