// Verdict, report and files of a result, by value.

import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import type { BudgetOutcome } from '../../../../src/cost/usage/budgets.ts'
import { exportCsv, exportFocus } from '../../../../src/cost/usage/exports.ts'
import type { Expectation, Forecast } from '../../../../src/cost/usage/forecast.ts'
import { judgeUsage, reportUsage } from '../../../../src/cost/usage/report.ts'
import type { UsageResult } from '../../../../src/cost/usage/result.ts'
import { usageCost } from '../../../../src/cost/usage/usage-cost.ts'
import { type Day, eachDay } from '../../../../src/platform/core/dates.ts'
import { toPlainText } from '../../../../src/platform/core/line.ts'
import { type Block, type BlockOf, composeBlocks } from '../../../../src/platform/report/blocks.ts'
import { renderMarkdown } from '../../../../src/platform/report/markdown.ts'
import { causeOfVerdict, toCauseText } from '../../../../src/runtime/run-result.ts'
import { textOf } from '../../../support/invoke.ts'
import { decimal, usageRecord } from '../../../support/usage.ts'

const day = (text: string): Day => text as Day

const result = (more: Partial<UsageResult> = {}): UsageResult => ({
  grandTotalCredits: decimal(30),
  unit: 'Credits',
  fromDate: day('2026-03-01'),
  toDate: day('2026-03-02'),
  days: 2,
  tags: [],
  provisionalCredits: decimal(0),
  organizationId: 'org',
  provider: { name: 'Cloud', serviceName: 'observability', serviceCategory: 'Other' },
  endDate: day('2026-03-02'),
  clipped: false,
  budgetStatus: 'within',
  forecastBudgetExceeded: false,
  gate: 'off',
  spikes: [],
  spikeDays: 2,
  budgets: [],
  dataQualityIssues: [],
  byDay: [
    { date: day('2026-03-01'), total: decimal(10), provisional: decimal(0) },
    { date: day('2026-03-02'), total: decimal(20), provisional: decimal(5) },
  ],
  byEntity: [],
  byMetric: [],
  records: [usageRecord('2026-03-01', 10), usageRecord('2026-03-02', 20, { entityName: '', entityId: 'bare', locked: false })],
  otherRecords: [],
  taggedRecords: [],
  ...more,
})

const budget = (more: Partial<BudgetOutcome> = {}): BudgetOutcome => ({
  name: 'shop',
  status: 'pass',
  scope: {},
  fromDate: day('2026-03-01'),
  toDate: day('2026-03-31'),
  limit: decimal(100),
  used: decimal(30),
  usedPercent: decimal(30),
  provisional: decimal(1),
  limitStatus: 'within',
  judgesForecast: true,
  isWaived: false,
  isForecastAbove: false,
  isForecastMissing: false,
  ...more,
})

const forecast: Expectation = {
  status: 'expected',
  untilDate: day('2026-03-31'),
  total: decimal(120),
  low: decimal(110),
  high: decimal(130),
  learnedFromDays: 20,
  isWeekdayAware: true,
  byDay: [],
}

const tooEarly: Forecast = { status: 'too-early', untilDate: day('2026-03-31'), completeDays: 1 }

const verdictOf = (more: Partial<UsageResult>): readonly unknown[] => {
  const verdict = judgeUsage(result(more))
  const { status, sentence, reasons } = verdict
  // Holds for every verdict: the title of an issue says why, without figures.
  const cause = toCauseText(causeOfVerdict(verdict))
  if (status === 'fail' && !/^(?!failed$)\D+$/.test(cause)) throw new Error(`no title: ${cause}`)
  return [status, ...(sentence === undefined ? [] : [toPlainText(sentence)]), ...reasons.map(toPlainText)]
}

/** A record of each day with usage. */
const withRecords = (byDay: UsageResult['byDay']): Pick<UsageResult, 'byDay' | 'records'> => ({
  byDay,
  records: byDay.flatMap(({ date, total }) => (Number(total) === 0 ? [] : usageRecord(date, total.toFixed()))),
})

const blocksOf = (more: Partial<UsageResult> = {}): readonly Block[] => composeBlocks(reportUsage(result(more)).blocks)

const paragraphs = (blocks: readonly Block[]): readonly string[] =>
  blocks.flatMap((block) => (block.kind === 'paragraph' ? [toPlainText(block.line)] : []))

/** The title of a table, its columns and its rows. */
const contentOf = ({ title, columns, rows }: BlockOf<'table'>): readonly unknown[] => [
  title,
  columns.map((column) => column.title),
  ...rows.map((row) => row.map(toPlainText)),
]

const tables = (blocks: readonly Block[]): readonly (readonly unknown[])[] =>
  blocks.flatMap((block) => (block.kind === 'table' && block.rows.length > 0 ? [contentOf(block)] : []))

it('says that the usage of a tag has no storage, where a budget or the run counts a tag', () => {
  const about = 'The usage of a tag is the compute of its services. The storage of a warehouse has no tags.'
  expect(paragraphs(blocksOf({}))).not.toContain(about)
  expect(paragraphs(blocksOf({ tags: ['Team=shop'] }))).toContain(about)
  expect(paragraphs(blocksOf({ budgets: [budget({ scope: { tag: ['Team'] } })] }))).toContain(about)
})

describe('the next step', () => {
  const group = { name: 'catalog', entityId: 'k', entityType: 'service', total: decimal(24), provisional: decimal(0) }

  it('the next step for an exceeded budget is to look at what costs most, and for idle services', () => {
    const [first] = paragraphs(blocksOf({ budget: decimal(25), budgetStatus: 'exceeded', byEntity: [group] }))
    expect(first).toBe(
      'Most is used by catalog (80%). To find services that cost credits without need: watchkeeper audit-costs --organization-id org. If the usage is right, raise the budget.',
    )
    const [ofFile] = paragraphs(blocksOf({ budgets: [budget({ status: 'fail', limitStatus: 'exceeded' })], byEntity: [group] }))
    expect(ofFile).toMatch(/^To find services/)
  })

  it('the next step is left out within the budget', () => {
    const all = paragraphs(blocksOf({ budget: decimal(100), byEntity: [group], budgets: [budget()] }))
    expect(all.filter((line) => line.includes('audit-costs'))).toEqual([])
  })
})

describe('the verdict', () => {
  const above = (name: string) => budget({ name, status: 'fail', limitStatus: 'exceeded', used: decimal(101) })
  const near = (name: string) => budget({ name, status: 'warn', limitStatus: 'warn', warnAbove: decimal(20) })

  it('names eleven budgets, failures first, and counts the others', () => {
    const names = [...'abcdefghijklm']
    expect(verdictOf({ budgets: names.slice(0, 11).map(near) })).toHaveLength(12)
    expect(verdictOf({ budgets: [...names.slice(0, 12).map(near), above('m')] })).toEqual([
      'fail',
      'Budget m exceeded: 101.00 of 100.00 Credits (101%).',
      ...names.slice(0, 10).map((name) => `Warning level of budget ${name} exceeded: 30.00 of 20.00 Credits.`),
      '… and 2 more.',
    ])
  })

  it('names the forecast of a budget only when it is above the limit', () => {
    expect(verdictOf({ budgets: [budget({ forecast })] })).toEqual(['pass'])
    expect(verdictOf({ budgets: [{ ...near('shop'), forecast }] })).toEqual([
      'warn',
      'Warning level of budget shop exceeded: 30.00 of 20.00 Credits.',
    ])
    expect(verdictOf({ budgets: [budget({ status: 'fail', forecast, isForecastAbove: true })] })).toEqual([
      'fail',
      'Forecast of 120.00 Credits by 31 Mar exceeds budget shop of 100.00 Credits.',
    ])
  })

  it('compares the forecast budget with the forecast, or with the usage where there is no forecast', () => {
    const exceeded = { forecastBudget: decimal(25), forecastBudgetExceeded: true }
    expect(verdictOf({ ...exceeded, forecast })).toEqual([
      'fail',
      'Forecast of 120.00 Credits by 31 Mar exceeds the budget of 25.00 Credits.',
    ])
    expect(verdictOf(exceeded)).toEqual(['fail', 'Budget exceeded: 30.00 of 25.00 Credits (120%).'])
    expect(verdictOf({ ...exceeded, budget: decimal(40), forecast, endDate: day('2026-03-31') })).toEqual([
      'fail',
      'Forecast of 120.00 Credits by 31 Mar exceeds the forecast budget of 25.00 Credits.',
    ])
    const ahead = { ...exceeded, forecastBudget: decimal(100), forecast, endDate: day('2026-03-31') }
    expect(verdictOf({ ...ahead, budget: decimal(40) })).toEqual([
      'fail',
      'Forecast of 120.00 Credits by 31 Mar exceeds the forecast budget of 100.00 Credits.',
    ])
  })

  it('says once that a budget is exceeded that is the forecast budget, too', () => {
    const exceeded = { budget: decimal(25), budgetStatus: 'exceeded', forecastBudget: decimal(25), forecastBudgetExceeded: true } as const
    expect(verdictOf(exceeded)).toEqual(['fail', 'Budget exceeded: 30.00 of 25.00 Credits (120%).'])
    expect(verdictOf({ ...exceeded, forecast })).toEqual(['fail', 'Budget exceeded: 30.00 of 25.00 Credits (120%).'])
  })

  it('names a forecast after the limits that are exceeded', () => {
    const exceeded = { forecastBudget: decimal(100), forecastBudgetExceeded: true, forecast, budget: decimal(40) }
    expect(verdictOf({ ...exceeded, budgets: [above('a')] })).toEqual([
      'fail',
      'Budget a exceeded: 101.00 of 100.00 Credits (101%).',
      'Forecast of 120.00 Credits by 31 Mar exceeds the forecast budget of 100.00 Credits.',
    ])
    expect(verdictOf({ budgets: [budget({ status: 'fail', forecast, isForecastAbove: true }), above('a')] })).toEqual([
      'fail',
      'Budget a exceeded: 101.00 of 100.00 Credits (101%).',
      'Forecast of 120.00 Credits by 31 Mar exceeds budget shop of 100.00 Credits.',
    ])
    expect(verdictOf({ budget: decimal(40), budgets: [above('a')] })).toEqual([
      'fail',
      'Budget a exceeded: 101.00 of 100.00 Credits (101%).',
    ])
  })

  it.each([
    ['no-records', 'Budget shop has no usage records for 1 – 31 Mar 2026.'],
    ['no-records-yet', 'Budget shop has no usage records yet for 1 – 31 Mar 2026.'],
    ['metrics-mismatch', 'The usage of budget shop is unknown, because the metrics of its records do not add up to their totals.'],
  ] as const)('the verdict says why the figure of a budget cannot be trusted, and the document has the issue: %s', (kind, expected) => {
    const issue = { kind, level: 'warn' } as const
    const budgets = [budget({ status: 'warn', dataQualityIssue: issue })]
    expect(verdictOf({ budgets })).toEqual(['warn', expected])
    expect(usageCost.toDocument?.(result({ budgets })).budgets).toMatchObject([{ dataQualityIssue: issue }])
  })

  it('the verdict says once that there are no records, where a budget has the period of the run', () => {
    const issue = { kind: 'no-records', level: 'warn' } as const
    const periods = [{}, { toDate: day('2026-03-02') }, { toDate: day('2026-03-02'), scope: { tag: ['team=x'] } }]
    const budgets = periods.map((one, i) => budget({ name: `b${i}`, status: 'warn', dataQualityIssue: issue, ...one }))
    const dataQualityIssues = [{ ...issue, fromDate: day('2026-03-01'), toDate: day('2026-03-02') }]
    expect(verdictOf({ dataQualityIssues, budgets }).slice(1)).toEqual([
      'No usage records for 1 – 2 Mar 2026, so the usage of these days is unknown.',
      'Budget b0 has no usage records for 1 – 31 Mar 2026.',
      'Budget b2 has no usage records for 1 – 2 Mar 2026.',
    ])
  })
})

describe('the headline of a run that passes', () => {
  const headline = (more: Partial<UsageResult>): string => toPlainText(reportUsage(result(more)).headline)

  it('the headline of a run that passes has the total of a single budget of a file, not that of the organization', () => {
    const budgets = [budget({ used: decimal(12), scope: { service: ['checkout'] } })]
    expect(headline({ budgets })).toBe('Budget shop: used 12.00 of 100.00 Credits (12%) from 1 – 31 Mar 2026.')
    const [uncertain] = budgets.map((one) => ({
      ...one,
      dataQualityIssue: { kind: 'metrics-mismatch' as const, level: 'ignore' as const },
    }))
    expect(headline({ budgets: uncertain === undefined ? [] : [uncertain] })).toBe('Budget shop: used 12.00 Credits from 1 – 31 Mar 2026.')
  })

  it('the headline of a run that passes has the total of the organization with several budgets, or with a budget of its own', () => {
    expect(headline({ budgets: [budget(), budget({ name: 'b' })] })).toBe('Used 30.00 Credits from 1 – 2 Mar 2026. 2 of 2 budgets passed.')
    const waived = budget({ name: 'b', status: 'warn', isWaived: true })
    expect(headline({ budgets: [budget(), waived] })).toBe('Used 30.00 Credits from 1 – 2 Mar 2026. 1 of 2 budgets passed.')
    expect(headline({ budget: decimal(40), budgets: [budget()] })).toBe(
      'Used 30.00 of 40.00 Credits (75%) from 1 – 2 Mar 2026. 1 of 1 budgets passed.',
    )
  })
})

describe('a forecast in the report', () => {
  const factOf = (more: Partial<UsageResult>): string | undefined => {
    const [facts] = blocksOf({ forecast, endDate: day('2026-03-31'), ...more })
    const fact = facts?.kind === 'facts' ? facts.facts.find(({ label }) => label.startsWith('Forecast by')) : undefined
    return fact && toPlainText(fact.value)
  }
  const whole = budget({ forecast, judgesForecast: true })

  it.each<[string, Partial<UsageResult>]>([
    ['there is no limit', {}],
    ['the budget does not count it', { budget: decimal(100) }],
    ['the budget of the file does not count it', { budgets: [{ ...whole, judgesForecast: false }] }],
    ['the budget of the file has a scope', { budgets: [{ ...whole, scope: { metric: ['compute'] } }] }],
    ['the budget of the file is for another period', { budgets: [{ ...whole, fromDate: day('2026-01-01') }] }],
  ])('a forecast in the report is marked when %s', (_, more) => {
    expect(factOf(more)).toMatch(/; no budget judges it\)$/)
  })

  it.each<[string, Partial<UsageResult>]>([
    ['forecast-budget', { forecastBudget: decimal(200) }],
    ['a budget of the file', { budgets: [whole] }],
  ])('a forecast in the report is not marked when %s judges it', (_, more) => {
    expect(factOf(more)).toMatch(/with a weekday pattern\)$/)
  })

  it('a forecast in the report is marked in the table of budgets', () => {
    const budgets = [budget({ name: 'a', forecast, judgesForecast: true }), budget({ name: 'b', forecast, judgesForecast: false })]
    expect(tables(blocksOf({ budgets }))[0]?.slice(2)).toMatchObject([
      expect.arrayContaining(['120.00']),
      expect.arrayContaining(['120.00 (not judged)']),
    ])
  })
})

it('explains the unit of ClickHouse Cloud once', () => {
  const text = JSON.stringify(reportUsage(result({ unit: 'CHC' })).blocks)
  expect(text.split('CHC (ClickHouse Credits)')).toHaveLength(2)
  expect(JSON.stringify(reportUsage(result()).blocks)).not.toContain('"Unit"')
})

describe('the report', () => {
  it('names up to ten new and ten removed entities', () => {
    const entities = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `e${i}`, entityId: `${i}`, entityType: 'service' }))
    const comparison = (added: number, removed: number, change = 10): UsageResult['comparison'] => ({
      status: 'compared',
      with: 'previous-period',
      fromDate: day('2026-02-27'),
      toDate: day('2026-02-28'),
      ofFromDate: day('2026-03-01'),
      ofToDate: day('2026-03-02'),
      leftOut: [],
      ofTotal: decimal(30),
      total: decimal(20),
      change: decimal(change),
      isAboveMaxIncrease: false,
      movers: [],
      added: entities(added),
      removed: entities(removed),
    })
    expect(paragraphs(blocksOf({ comparison: comparison(0, 0) }))).toEqual([])
    expect(JSON.stringify(blocksOf({ comparison: comparison(0, 0) }))).toContain('+10.00 Credits, from 20.00 to 30.00 Credits')
    expect(JSON.stringify(blocksOf({ comparison: comparison(0, 0, 0.5) }))).toContain('+0.50 Credits, from')
    expect(paragraphs(blocksOf({ comparison: comparison(2, 1) }))).toEqual([
      'New since the previous period: e0, e1.',
      'Only in the previous period: e0.',
    ])
    expect(paragraphs(blocksOf({ comparison: comparison(10, 12) }))).toEqual([
      'New since the previous period: e0, e1, e2, e3, e4, e5, e6, e7, e8, e9.',
      'Only in the previous period: e0, e1, e2, e3, e4, e5, e6, e7, e8, e9 and 2 more.',
    ])
  })

  it('the report has the largest changes, whatever their sign', () => {
    const mover = (entityName: string, before: number, after: number) => ({
      entityName,
      entityId: entityName,
      entityType: 'service',
      metric: 'compute',
      before: decimal(before),
      after: decimal(after),
    })
    const largestOf = (...movers: readonly ReturnType<typeof mover>[]) =>
      tables(
        blocksOf({
          comparison: {
            ...{ status: 'compared', with: 'previous-period', fromDate: day('2026-02-27'), toDate: day('2026-02-28') },
            ...{ ofFromDate: day('2026-03-01'), ofToDate: day('2026-03-02'), leftOut: [], isAboveMaxIncrease: false },
            ...{ ofTotal: decimal(30), total: decimal(20), change: decimal(10), added: [], removed: [] },
            movers: [...movers],
          },
        }),
      )
    expect(largestOf(mover('less', 20, 1), mover('more', 1, 4), ...Array.from({ length: 10 }, () => mover('new', 0, 1)))).toEqual([
      [
        'Largest changes from 27 – 28 Feb 2026',
        ['Entity', 'Metric', 'Before (Credits)', 'Now', 'Change'],
        ['less', 'compute', '20.00', '1.00', '-19.00'],
        ['more', 'compute', '1.00', '4.00', '+3.00'],
        ...Array(8).fill(['new', 'compute', '0.00', '1.00', '+1.00']),
        ['2 smaller changes', '–', '0.00', '2.00', '+2.00'],
      ],
    ])
    // Half a percent of the total is named.
    const [small] = largestOf(mover('less', 20, 1), mover('edge', 0, 0.15), mover('below', 0.1499, 0))
    expect(small?.slice(3)).toEqual([
      ['edge', 'compute', '0.00', '0.15', '+0.15'],
      ['1 smaller change', '–', '0.15', '0.00', '-0.15'],
    ])
  })

  it('draws days, or weeks where there are too many days, and no chart for a single day or without usage', () => {
    const days = (count: number, total = 1): UsageResult['byDay'] =>
      Array.from({ length: count }, (_, i) => ({
        date: day(`2026-${String(1 + Math.floor(i / 28)).padStart(2, '0')}-${String(1 + (i % 28)).padStart(2, '0')}`),
        total: decimal(total),
        provisional: decimal(i === 0 ? total : 0),
      }))
    const chartOf = (byDay: UsageResult['byDay']) =>
      blocksOf({ ...withRecords(byDay), toDate: byDay.at(-1)?.date ?? day('2026-03-02') }).filter(({ kind }) => kind === 'chart')
    expect(chartOf(days(1))).toEqual([])
    expect(chartOf(days(3, 0))).toEqual([])
    expect(chartOf(days(2))).toEqual([
      {
        kind: 'chart',
        title: 'Credits per day',
        unit: 'Credits',
        points: [
          { label: '1 Jan', value: 1, finalValue: 0 },
          { label: '2 Jan', value: 1, finalValue: 1 },
        ],
      },
    ])
    expect(chartOf(days(62))).toMatchObject([{ title: 'Credits per day', points: { length: 62 } }])
    const weekly = chartOf(days(65))
    expect(weekly).toMatchObject([{ title: 'Credits per week', points: { length: 10 } }])
    expect(weekly).toMatchObject([{ points: expect.arrayContaining([{ label: '1 Jan', value: 7, finalValue: 6 }]) }])
    expect(weekly).toMatchObject([{ points: expect.arrayContaining([{ label: '8 Mar', value: 2, finalValue: 2 }]) }])
  })

  it('the chart has no bar for days or weeks without records', () => {
    const dates = [...eachDay(day('2026-01-01'), day('2026-03-11'))]
    // The last day has just begun.
    const missing = [...dates.slice(5, 21), '2026-03-11']
    const byDay = dates.map((date) => ({ date, total: decimal(missing.includes(date) ? 0 : 1), provisional: decimal(0) }))
    const pointsOf = (some: UsageResult['byDay'], tags: string[] = []) =>
      blocksOf({ ...withRecords(some), toDate: day('2026-03-11'), tags })
        .flatMap((block) => (block.kind === 'chart' ? block.points : []))
        .map(({ label, value }) => `${label}: ${value}`)
    expect(pointsOf(byDay).slice(0, 3)).toEqual(['1 Jan: 5', '22 Jan: 7', '29 Jan: 7'])
    expect(pointsOf(byDay.slice(0, 23))).toEqual([...['1', '2', '3', '4', '5', '22', '23'].map((date) => `${date} Jan: 1`)])
    expect(pointsOf(byDay.slice(-3))).toEqual(['9 Mar: 1', '10 Mar: 1'])
    expect(pointsOf(byDay.slice(-2))).toEqual([])
    expect(pointsOf(byDay.slice(-2), ['Team'])).toEqual(['10 Mar: 1', '11 Mar: 0'])
  })

  it('the report has a chart with the forecast, the limits and the spikes', () => {
    const byDay = [2, 3].map((date) => ({ date: day(`2026-03-0${date}`), total: decimal(date), provisional: decimal(0) }))
    const driver = { entityName: 'a', entityId: 'a', entityType: 'service', metric: 'compute', total: decimal(3), usual: decimal(1) }
    const expected: Forecast = {
      ...forecast,
      byDay: [3, 4].map((date) => ({ date: day(`2026-03-0${date}`), total: decimal(10 * date) })),
    }
    const all = blocksOf({
      ...withRecords(byDay),
      spikes: [
        { date: day('2026-03-02'), of: 'organization', total: decimal(2), usual: decimal(1), driver },
        { date: day('2026-03-03'), of: 'entity', total: decimal(2), usual: decimal(1), driver },
      ],
      forecast: expected,
      budget: decimal(100),
      warnBudget: decimal(80),
      forecastBudget: decimal(100),
    })
    expect(all.find(({ kind }) => kind === 'chart')).toMatchObject({
      points: [
        { label: '2 Mar', value: 2, isSpike: true },
        // The bar is the usage of all entities, which is usual.
        expect.not.objectContaining({ isSpike: true }),
      ],
      forecast: [
        { label: '3 Mar', value: 30 },
        { label: '4 Mar', value: 40 },
      ],
      limits: [
        { label: 'Budget 100.00 Credits', value: 100 },
        { label: 'Warning level 80.00 Credits', value: 80 },
      ],
    })
  })

  it('the chart has the budgets of the file that are for all usage of its period, once and without their names', () => {
    const ofPeriod = { fromDate: day('2026-03-01'), toDate: day('2026-03-02') }
    const limitsOf = (budgets: readonly BudgetOutcome[]) =>
      blocksOf({ budgets: [...budgets], budget: decimal(100) }).flatMap((block) => (block.kind === 'chart' ? (block.limits ?? []) : []))
    expect(
      limitsOf([
        budget({ ...ofPeriod, name: '@all', limit: decimal(90) }),
        budget({ ...ofPeriod, limit: decimal(100) }),
        budget({ ...ofPeriod, limit: decimal(7), scope: { service: ['checkout'] } }),
        budget({ limit: decimal(8) }),
        budget({ ...ofPeriod, limit: decimal(9), forecast }),
        budget({ ...ofPeriod, limit: decimal(80) }),
        budget({ ...ofPeriod, limit: decimal(70) }),
      ]).map(({ label }) => label),
    ).toEqual(['Budget 100.00 Credits', 'Budget 90.00 Credits', 'Budget 80.00 Credits'])
  })

  it('tells entities with one name apart in every table, by type or id', () => {
    const entity = (entityId: string, entityType: string) => ({ entityName: 'main', entityId, entityType })
    const same = [entity('s1', 'service'), entity('s2', 'service'), entity('w1', 'datawarehouse')]
    const amounts = { total: decimal(3), provisional: decimal(0) }
    const records = [...same.map((one) => usageRecord('2026-03-01', 3, one)), usageRecord('2026-03-02', 3)]
    const [first, second, third] = same
    if (first === undefined || second === undefined || third === undefined) throw new Error('three entities')
    const blocks = blocksOf({
      records,
      byEntity: same.map(({ entityName: name, ...one }) => ({ ...one, ...amounts, name })),
      spikes: same.slice(1).map((one) => ({
        ...{ date: day('2026-03-01'), of: 'entity', total: decimal(3), usual: decimal(1) },
        driver: { ...one, metric: 'compute', total: decimal(3), usual: decimal(1) },
      })),
      comparison: {
        ...{ status: 'compared', with: 'previous-period', fromDate: day('2026-02-27'), toDate: day('2026-02-28') },
        ...{ ofFromDate: day('2026-03-01'), ofToDate: day('2026-03-02'), leftOut: [], isAboveMaxIncrease: false },
        ...{ ofTotal: decimal(9), total: decimal(6), change: decimal(3), removed: [] },
        movers: same.map((one) => ({ ...one, metric: 'compute', before: decimal(1), after: decimal(3) })),
        added: [{ name: 'main', entityId: 's2', entityType: 'service' }],
      },
    })
    const firstCells = (title: string) =>
      tables(blocks)
        .filter(([shown]) => String(shown).startsWith(title))
        .map(([, , ...rows]) => rows.map((row) => (row as readonly string[])[title === 'Spikes' ? 1 : 0]))[0]
    expect(firstCells('By entity')).toEqual(['main (s1)', 'main (s2)', 'main'])
    expect(firstCells('Spikes')).toEqual(['main (s2)', 'main (datawarehouse)'])
    expect(firstCells('Largest changes')).toEqual(['main (s1)', 'main (s2)', 'main (datawarehouse)'])
    expect(paragraphs(blocks)).toContain('New since the previous period: main (s2).')
    const text = renderMarkdown(blocks)
    expect(text).toContain('`main (datawarehouse)`, `compute`')
    expect(text).toMatch(/<details><summary>4 records[\s\S]*`main \(s1\)`[\s\S]*`checkout`/)
  })

  it('the report has the ten largest spikes, by what is more than usual', () => {
    const spikes: UsageResult['spikes'] = Array.from({ length: 12 }, (_, i) => {
      const amounts = { total: decimal(50 + i), usual: decimal(50 - i) }
      const driver = { entityName: `e${i}`, entityId: `${i}`, entityType: 'service', metric: 'compute', ...amounts }
      return { date: day('2026-03-02'), of: i === 5 ? 'organization' : 'entity', ...amounts, driver }
    })
    const [table] = tables(blocksOf({ spikes }))
    expect(table?.slice(2).map((row) => (row as readonly string[])[1])).toEqual(
      [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((i) => (i === 5 ? 'all' : `e${i}`)),
    )
  })

  it('S6: the name of an entity with a spike stays text', () => {
    const entityName = '[shop](https://evil.example)'
    const driver = { entityName, entityId: 'a', entityType: 'service', metric: 'compute', total: decimal(3), usual: decimal(1) }
    const blocks = blocksOf({ spikes: [{ date: day('2026-03-02'), of: 'entity', total: decimal(2), usual: decimal(1), driver }] })
    const text = renderMarkdown(blocks)
    expect(text.split(entityName)).toHaveLength(3)
    expect(text.split(`\`${entityName}\``)).toHaveLength(3)
  })

  it('adds known and expected days of a week up', () => {
    const dates = [...eachDay(day('2026-01-01'), day('2026-03-05'))]
    const byDay = dates.map((date) => ({ date, total: decimal(1), provisional: decimal(0) }))
    const ahead = [...eachDay(day('2026-03-05'), day('2026-03-10'))].map((date) => ({ date, total: decimal(5) }))
    const [chart] = blocksOf({ ...withRecords(byDay), forecast: { ...forecast, byDay: ahead } }).filter(({ kind }) => kind === 'chart')
    // The week from 5 March has only expected days.
    expect(chart).toMatchObject({ forecast: [{ label: '5 Mar', value: 30 }] })
    const [early] = blocksOf({
      ...withRecords(byDay),
      forecast: { ...forecast, byDay: [{ date: day('2026-03-06'), total: decimal(5) }] },
    }).filter(({ kind }) => kind === 'chart')
    expect(early).toMatchObject({ forecast: [{ label: '5 Mar', value: 6 }] })
  })

  it('the report has a row for each budget, failures first, with its scope and the day on which usage exceeds it', () => {
    const budgets = [
      budget({ scope: { service: ['checkout', 'search'], metric: ['compute'] }, runsOutOn: day('2026-03-20'), forecast }),
      budget({ name: 'odd', status: 'warn', dataQualityIssue: { kind: 'no-records', level: 'warn' } }),
      budget({ name: 'zero', status: 'fail', limit: decimal(0), usedPercent: undefined, forecast: tooEarly }),
    ]
    expect(tables(blocksOf({ budgets }))).toEqual([
      [
        'Budgets',
        ['Budget', 'Used (Credits)', 'Limit', 'Share', 'Forecast', 'Exceeded on', 'Provisional', 'Period'],
        ['❌ zero', '30.00', '0.00', '–', 'too early', '–', '1.00', '1\u00a0–\u00a031\u00a0Mar\u00a02026'],
        ['⚠️ odd', '30.00', '100.00', 'uncertain', '–', '–', '1.00', '1\u00a0–\u00a031\u00a0Mar\u00a02026'],
        [
          '✅ shop (service checkout, search; metric compute)',
          '30.00',
          '100.00',
          '███░░░░░░░\u00a030.0%',
          '120.00',
          '20 Mar (forecast)',
          '1.00',
          '1\u00a0–\u00a031\u00a0Mar\u00a02026',
        ],
      ],
    ])
    expect(blocksOf({ budgets })).toContainEqual(expect.objectContaining({ title: 'Budgets', statuses: ['fail', 'warn', 'pass'] }))
  })

  it('the report has the records, or the last thousand of them', () => {
    const [records] = blocksOf().flatMap((block) => (block.kind === 'details' ? [block] : []))
    expect([records?.title, ...tables(records?.blocks ?? [])]).toEqual([
      '2 records',
      [
        undefined,
        ['Day', 'Entity', 'Used (Credits)', 'Final'],
        ['1\u00a0Mar\u00a02026', 'checkout', '10.00', 'yes'],
        ['2\u00a0Mar\u00a02026', 'bare', '20.00', 'no'],
      ],
    ])
    const many = Array.from({ length: 1001 }, (_, i) => usageRecord('2026-03-01', i))
    const [last] = blocksOf({ records: many }).flatMap((block) => (block.kind === 'details' ? [block] : []))
    expect(last?.title).toBe('Last 1000 of 1001 records')
    expect(last?.blocks).toMatchObject([{ rows: { length: 1000 } }])
  })
})

describe('the CSV file', () => {
  it('the CSV file has a row for each record, and a column for each metric', () => {
    const records = [
      usageRecord('2026-03-01', '1.5', { warehouseId: 'w', serviceId: 's', metrics: { storage: decimal('0.5'), compute: decimal(1) } }),
      usageRecord('2026-03-02', 2, { locked: false, metrics: {} }),
    ]
    expect(parse(textOf(exportCsv(result({ records }))))).toEqual([
      'date,entity_type,entity_id,entity_name,warehouse_id,service_id,final,unit,total,compute,storage'.split(','),
      '2026-03-01,service,a,checkout,w,s,true,Credits,1.5,1,0.5'.split(','),
      '2026-03-02,service,a,checkout,,,false,Credits,2,,'.split(','),
    ])
  })

  it('a large file is made in pieces, so that it is never in memory', () => {
    const large = result({ records: Array(2000).fill(usageRecord('2026-03-01', 1, { metrics: { compute: decimal(1) } })) })
    for (const pieces of [exportCsv(large), exportFocus(large, undefined)]) {
      const lengths = Array.from(pieces, ({ length }) => length)
      expect([lengths.length > 1, Math.max(...lengths) < 70_000]).toEqual([true, true])
    }
  })
})
