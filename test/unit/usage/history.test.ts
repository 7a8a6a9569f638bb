import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/core/dates.ts'
import { knownDays, withoutGaps } from '../../../src/usage/records.ts'
import { decimal } from '../../support/decimal.ts'
import { usageRecord as record } from '../../support/usage-records.ts'

const period = (from: string, to: string) => ({ from: from as Day, to: to as Day })

const reading = (from: string, to: string, ...records: ReturnType<typeof record>[]) => ({
  period: period(from, to),
  grandTotal: decimal(0),
  records,
})

const told = (days: ReadonlyMap<Day, { toFixed(): string }>) => [...days].map(([day, total]) => `${day.slice(5)} ${total.toFixed()}`)

describe('knownDays', () => {
  const march = period('2026-03-01', '2026-03-04')

  it('adds up what counts on each day, and leaves days without any record out', () => {
    const mine = [record('2026-03-01', 1), record('2026-03-01', 2), record('2026-03-04', 4)]
    expect(told(knownDays(march, [reading('2026-03-01', '2026-03-04', ...mine)], mine))).toEqual(['03-01 3', '03-04 4'])
  })

  it('takes a day on which only others have records for a zero', () => {
    const [mine, theirs] = [record('2026-03-01', 1), record('2026-03-02', 9)]
    expect(told(knownDays(march, [reading('2026-03-01', '2026-03-04', mine, theirs)], [mine]))).toEqual(['03-01 1', '03-02 0'])
  })

  it('goes back over every day that was read without a gap, and no further', () => {
    const readings = [
      reading('2026-03-01', '2026-03-04', record('2026-03-02', 2)),
      reading('2026-02-20', '2026-02-28', record('2026-02-28', 28)),
      reading('2026-01-01', '2026-02-18', record('2026-02-18', 18)),
    ]
    const counted = readings.flatMap(({ records }) => records)
    expect(told(knownDays(march, readings, counted))).toEqual(['02-28 28', '03-02 2'])
  })

  it('ends with the period, whatever was read after it', () => {
    const late = [record('2026-03-04', 4), record('2026-03-05', 5)]
    expect(told(knownDays(march, [reading('2026-03-01', '2026-03-09', ...late)], late))).toEqual(['03-04 4'])
  })

  it('knows nothing of a period that nobody read', () => {
    expect(told(knownDays(march, [], []))).toEqual([])
  })
})

describe('withoutGaps', () => {
  it('fills what lies between the first known day and the end of the period', () => {
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

  it('of nothing is nothing', () => {
    expect(withoutGaps(new Map(), period('2026-03-01', '2026-03-05'))).toEqual([])
  })
})
