import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/core/dates.ts'
import {
  findDataQualityIssues,
  type Grouping,
  groupRecords,
  knownDays,
  lastDayWithAllRecords,
  metricsOf,
  provisionalOf,
  totalByDay,
  totalOf,
  type UsageReading,
  type UsageRecord,
  withoutGaps,
} from '../../../src/usage/records.ts'
import { decimal, usageRecord as record } from '../../support/usage.ts'

const march = { from: '2026-03-01' as Day, to: '2026-03-03' as Day }
const whole = [record('2026-03-01', '1'), record('2026-03-02', '2'), record('2026-03-03', '3')]

describe('totals', () => {
  it('returns every day of the period, with or without usage', () => {
    expect(totalByDay([record('2026-03-02', '2')], march).map(({ date, total }) => [date, total.toFixed()])).toEqual([
      ['2026-03-01', '0'],
      ['2026-03-02', '2'],
      ['2026-03-03', '0'],
    ])
  })

  it('sums provisional records', () => {
    expect(provisionalOf([...whole, record('2026-03-03', '0.5', { locked: false })]).toFixed()).toBe('0.5')
  })

  it('sums 10,000 rows of 0.1 and 0.2 exactly', () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => record('2026-03-01', i % 2 === 0 ? '0.1' : '0.2'))
    expect(totalOf(rows).toFixed()).toBe('1500')
    expect(groupRecords(rows, 'metric')[0]?.total.toFixed()).toBe('1500')
  })

  it('agrees with integer arithmetic for any decimals', () => {
    const amounts = fc.array(fc.tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.integer({ min: 0, max: 12 })), {
      maxLength: 50,
    })
    fc.assert(
      fc.property(amounts, (parts) => {
        const shift = (places: number): string => `1${'0'.repeat(places)}`
        const rows = parts.map(([units, places]) => record('2026-03-01', decimal(String(units)).div(shift(places)).toFixed()))
        const wanted = parts.reduce((sum, [units, places]) => sum + units * 10n ** BigInt(12 - places), 0n)
        expect(totalOf(rows).times(shift(12)).toFixed()).toBe(wanted.toString())
      }),
    )
  })
})

const records = [
  record('2026-03-01', 3, { entityId: 's1', entityName: 'old name', warehouseId: 'w1' }),
  record('2026-03-02', 2, { entityId: 's1', entityName: 'checkout', warehouseId: 'w1', locked: false }),
  record('2026-03-02', 4, { entityId: 's2', entityName: '', warehouseId: 'w2' }),
  record('2026-03-01', 1, { entityId: 'd', entityName: 'main', entityType: 'datawarehouse', warehouseId: 'w1', metrics: {} }),
  record('2026-03-01', 4, { entityId: 'p', entityName: 'orders', entityType: '', locked: false, metrics: { rows: decimal(5) } }),
]

const grouped = (by: Grouping) =>
  groupRecords(records, by).map(({ name, total, provisional }) => `${name}: ${total.toFixed()}, ${provisional.toFixed()} provisional`)

describe('groupRecords', () => {
  it.each<[Grouping, readonly string[]]>([
    ['entity', ['checkout: 5, 2 provisional', 'orders: 4, 4 provisional', 's2: 4, 0 provisional', 'main: 1, 0 provisional']],
    ['date', ['2026-03-01: 8, 4 provisional', '2026-03-02: 6, 2 provisional']],
    ['warehouse', ['main: 6, 2 provisional', 'no warehouse: 4, 4 provisional', 'w2: 4, 0 provisional']],
    ['type', ['service: 9, 2 provisional', 'unknown type: 4, 4 provisional', 'datawarehouse: 1, 0 provisional']],
    ['metric', ['compute: 9, 2 provisional', 'rows: 5, 5 provisional']],
  ])('by %s: the largest first, equals by name, days in their order', (by, expected) => {
    expect(grouped(by)).toEqual(expected)
  })

  it('uses the name of the newest record of an entity, in any order of the records', () => {
    const [name] = groupRecords([...records].reverse(), 'entity').map((group) => group.name)
    expect(name).toBe('checkout')
  })

  it('has the type of an entity, and no type for other groups', () => {
    expect(groupRecords(records, 'entity').map(({ entityType }) => entityType)).toEqual(['service', '', 'service', 'datawarehouse'])
    expect(groupRecords(records, 'date').some((group) => 'entityType' in group)).toBe(false)
  })

  it('keeps days in order', () => {
    const days = ['2026-03-03', '2026-03-01', '2026-03-02'].map((day, i) => record(day, i))
    expect(groupRecords(days, 'date').map(({ name }) => name)).toEqual(['2026-03-01', '2026-03-02', '2026-03-03'])
  })

  it('counts the part of a total that no metric covers as other', () => {
    const [compute, novelty, other] = groupRecords(
      [record('2026-03-01', '5', { metrics: { compute: decimal(3), novelty: decimal(1.5) } })],
      'metric',
    )
    expect([compute, novelty, other].map((group) => `${group?.name}: ${group?.total.toFixed()}`)).toEqual([
      'compute: 3',
      'novelty: 1.5',
      'other: 0.5',
    ])
  })

  it('leaves out metrics with a total of zero', () => {
    const groups = groupRecords([record('2026-03-01', '2', { metrics: { compute: decimal(2), backup: decimal(0) } })], 'metric')
    expect(groups.map(({ name }) => name)).toEqual(['compute'])
  })

  it('returns no groups without records', () => {
    expect(groupRecords([], 'entity')).toEqual([])
    expect(groupRecords([], 'metric')).toEqual([])
  })
})

describe('metricsOf', () => {
  const told = (total: number, metrics: Record<string, number>) =>
    metricsOf({
      total: decimal(total),
      metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, decimal(value)])),
    }).map(([name, amount]) => [name, Number(amount)])

  it.each([
    [
      'that add up',
      3,
      { compute: 1, storage: 2 },
      [
        ['compute', 1],
        ['storage', 2],
      ],
    ],
    [
      'that leave something',
      3,
      { compute: 1 },
      [
        ['compute', 1],
        ['other', 2],
      ],
    ],
    [
      'that are too much',
      3,
      { compute: 4 },
      [
        ['compute', 4],
        ['other', -1],
      ],
    ],
    ['of which there is none', 3, {}, [['other', 3]]],
  ])('completes metrics %s', (_, total, metrics, expected) => {
    expect(told(total, metrics)).toEqual(expected)
  })
})

const period = (from: string, to: string) => ({ from: from as Day, to: to as Day })

const reading = (from: string, to: string, ...records: ReturnType<typeof record>[]) => ({
  period: period(from, to),
  grandTotal: decimal(0),
  records,
})

const format = (days: ReadonlyMap<Day, { toFixed(): string }>) => [...days].map(([day, total]) => `${day.slice(5)} ${total.toFixed()}`)

describe('knownDays', () => {
  const march = period('2026-03-01', '2026-03-04')

  it('adds up the counted records of each day, and leaves out days without records', () => {
    const mine = [record('2026-03-01', 1), record('2026-03-01', 2), record('2026-03-04', 4)]
    expect(format(knownDays(march, [reading('2026-03-01', '2026-03-04', ...mine)], mine, '2026-03-03' as Day))).toEqual([
      '03-01 3',
      '03-04 4',
    ])
  })

  it('counts a day that only has other records as zero', () => {
    const [mine, theirs] = [record('2026-03-01', 1), record('2026-03-02', 9)]
    expect(format(knownDays(march, [reading('2026-03-01', '2026-03-04', mine, theirs)], [mine], '2026-03-03' as Day))).toEqual([
      '03-01 1',
      '03-02 0',
    ])
  })

  it('goes back over all days that were read without a gap', () => {
    const readings = [
      reading('2026-03-01', '2026-03-04', record('2026-03-02', 2)),
      reading('2026-02-20', '2026-02-28', record('2026-02-28', 28)),
      reading('2026-01-01', '2026-02-18', record('2026-02-18', 18)),
    ]
    const counted = readings.flatMap(({ records }) => records)
    expect(format(knownDays(march, readings, counted, '2026-03-03' as Day))).toEqual(['02-28 28', '03-02 2'])
  })

  it('ends with the period when later days were read', () => {
    const late = [record('2026-03-04', 4), record('2026-03-05', 5)]
    expect(format(knownDays(march, [reading('2026-03-01', '2026-03-09', ...late)], late, '2026-03-03' as Day))).toEqual(['03-04 4'])
  })

  it('counts complete days without records as zero after the first record of filtered usage', () => {
    const tagged = (...records: ReturnType<typeof record>[]) => ({ ...reading('2026-03-01', '2026-03-04', ...records), isFiltered: true })
    const known = (...records: ReturnType<typeof record>[]) => format(knownDays(march, [tagged(...records)], records, '2026-03-03' as Day))
    expect(known(record('2026-03-01', 1))).toEqual(['03-01 1', '03-02 0', '03-03 0'])
    expect(known(record('2026-03-02', 2), record('2026-03-04', 4))).toEqual(['03-02 2', '03-03 0', '03-04 4'])
    expect(known()).toEqual([])
  })

  it('is empty for a period that was not read', () => {
    expect(format(knownDays(march, [], [], '2026-03-03' as Day))).toEqual([])
  })
})

describe('lastDayWithAllRecords', () => {
  const lastDay = (main: UsageReading) => {
    const history = { readings: [], failures: [] }
    const readings = { unit: 'Credits', main, previous: undefined, others: [], history, tagged: new Map() }
    return lastDayWithAllRecords(readings, '2026-03-10' as Day)
  }

  it('is the day before yesterday, or an earlier day when the API returned no later records', () => {
    expect(lastDay(reading('2026-03-01', '2026-03-10', record('2026-03-09', 1), record('2026-03-08', 1)))).toBe('2026-03-08')
    expect(lastDay(reading('2026-03-01', '2026-03-10', record('2026-03-05', 1)))).toBe('2026-03-05')
    expect(lastDay(reading('2026-03-01', '2026-03-10'))).toBe('2026-02-28')
  })

  it('is the day before yesterday when this day was read only with a filter, or not at all', () => {
    expect(lastDay({ ...reading('2026-03-01', '2026-03-10', record('2026-03-05', 1)), isFiltered: true })).toBe('2026-03-08')
    expect(lastDay(reading('2026-02-01', '2026-02-28', record('2026-02-28', 1)))).toBe('2026-03-08')
  })
})

describe('withoutGaps', () => {
  it('fills the days between the first known day and the end of the period', () => {
    const known = new Map([
      ['2026-03-02' as Day, decimal(2)],
      ['2026-03-04' as Day, decimal(4)],
    ])
    expect(withoutGaps(known, period('2026-03-01', '2026-03-05')).map(({ date, total }) => `${date.slice(5)} ${total.toFixed()}`)).toEqual([
      '03-02 2',
      '03-03 0',
      '03-04 4',
      '03-05 0',
    ])
  })

  it('returns no days without known days', () => {
    expect(withoutGaps(new Map(), period('2026-03-01', '2026-03-05'))).toEqual([])
  })
})

const issues = (records: readonly UsageRecord[], grandTotal: string, today = '2026-03-31') =>
  findDataQualityIssues({ period: march, grandTotal: decimal(grandTotal), records }, today as Day)

describe('findDataQualityIssues', () => {
  it.each([
    ['complete records that add up', whole, '6', []],
    ['no records', [], '0', ['no-records']],
    ['a total without records', [], '5', ['no-records', 'total-mismatch']],
    ['records that miss the total', whole, '7', ['total-mismatch']],
    ['a record of another day', [...whole, record('2026-04-01', '1')], '7', ['outside-period']],
    ['a duplicate record', [...whole, record('2026-03-03', '3')], '9', ['duplicate-record']],
    [
      'a negative total',
      [record('2026-03-01', '-1'), record('2026-03-02', '0'), record('2026-03-03', '0')],
      '-1',
      ['negative-total', 'negative-record'],
    ],
    ['a negative record', [...whole, record('2026-03-03', '-1', { entityId: 'b' })], '5', ['negative-record']],
    ['a day without records in between', [record('2026-03-01', '1'), record('2026-03-03', '1')], '2', ['missing-days']],
    ['records that stop early', [record('2026-03-01', '1')], '1', ['missing-days']],
    ['records that start late', [record('2026-03-03', '1')], '1', ['missing-days']],
    ['a difference of rounding', whole, '6.0005', []],
    ['a difference beyond rounding', whole, '6.0007', ['total-mismatch']],
    ['a tiny total within a millionth', [record('2026-03-01', '0'), record('2026-03-02', '0'), record('2026-03-03', '0.0000005')], '0', []],
  ])('%s', (_, records, grandTotal, kinds) => {
    expect(issues(records, grandTotal).map(({ kind }) => kind)).toEqual(kinds)
  })

  it('does not expect records of today and yesterday', () => {
    expect(issues([record('2026-03-01', '1')], '1', '2026-03-03')).toEqual([])
    expect(issues([record('2026-03-01', '1')], '1', '2026-03-04')).toEqual([{ kind: 'missing-days', level: 'fail', days: ['2026-03-02'] }])
  })

  it('names every day outside of the period once, in order', () => {
    const outside = ['2026-04-02', '2026-02-28', '2026-04-02'].map((day, i) => record(day, '1', { entityId: String(i) }))
    expect(issues([...whole, ...outside], '9')).toEqual([{ kind: 'outside-period', level: 'fail', days: ['2026-02-28', '2026-04-02'] }])
  })

  it('reports days that have just begun as having no records yet', () => {
    expect(issues([], '0', '2026-03-02').map(({ kind }) => kind)).toEqual(['no-records-yet'])
    expect(issues([], '0', '2026-03-03').map(({ kind }) => kind)).toEqual(['no-records'])
  })

  it('does not report missing days of filtered usage', () => {
    expect(
      findDataQualityIssues({ period: march, grandTotal: decimal(1), records: whole.slice(0, 1), isFiltered: true }, '2026-03-31' as Day),
    ).toEqual([])
  })

  it('accepts two entities on one day', () => {
    expect(issues([...whole, record('2026-03-03', '3', { entityId: 'b' })], '9')).toEqual([])
  })
})
