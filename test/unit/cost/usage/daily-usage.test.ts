import { describe, expect, it } from 'vitest'
import { knownDays, lastDayWithAllRecords, totalByDay, withoutGaps } from '../../../../src/cost/usage/readings.ts'
import type { UsageReading } from '../../../../src/cost/usage/records.ts'
import type { Day } from '../../../../src/platform/core/dates.ts'
import { decimal, usageRecord as record } from '../../../support/usage.ts'

const period = (from: string, to: string) => ({ from: from as Day, to: to as Day })

describe('totalByDay', () => {
  it('returns every day of the period, with or without usage', () => {
    expect(
      totalByDay([record('2026-03-02', '2')], period('2026-03-01', '2026-03-03')).map(({ date, total }) => [date, total.toFixed()]),
    ).toEqual([
      ['2026-03-01', '0'],
      ['2026-03-02', '2'],
      ['2026-03-03', '0'],
    ])
  })
})

const reading = (from: string, to: string, ...records: ReturnType<typeof record>[]) => ({
  period: period(from, to),
  grandTotal: decimal(0),
  records,
})

const format = (days: ReadonlyMap<Day, { toFixed(): string }>) => [...days].map(([day, total]) => `${day.slice(5)} ${total.toFixed()}`)

describe('knownDays', () => {
  const march = { ...period('2026-03-01', '2026-03-04'), end: '2026-03-31' as Day }

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

  it('knownDays ends with the period when later days were read', () => {
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

  it('knownDays is empty for a period that was not read', () => {
    expect(format(knownDays(march, [], [], '2026-03-03' as Day))).toEqual([])
  })
})

describe('lastDayWithAllRecords', () => {
  const lastDay = (main: UsageReading) => {
    const history = { readings: [], failures: [] }
    const readings = { unit: 'Credits', main, previous: undefined, others: [], history, tagged: new Map() }
    return lastDayWithAllRecords(readings, '2026-03-10' as Day)
  }

  it('lastDayWithAllRecords is the day before yesterday, or an earlier day when the API returned no later records', () => {
    expect(lastDay(reading('2026-03-01', '2026-03-10', record('2026-03-09', 1), record('2026-03-08', 1)))).toBe('2026-03-08')
    const late = ['2026-03-04', '2026-03-05', '2026-03-03'].map((date) => record(date, 1))
    expect(lastDay(reading('2026-03-01', '2026-03-10', ...late))).toBe('2026-03-05')
    expect(lastDay(reading('2026-03-01', '2026-03-10'))).toBe('2026-02-28')
  })

  it('lastDayWithAllRecords is the day before yesterday when this day was read only with a filter, or not at all', () => {
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
