import { describe, expect, it } from 'vitest'
import { daysIn, historyBefore, type Period } from '../../../../src/cost/usage/periods.ts'
import { joinPeriods } from '../../../../src/cost/usage/readings.ts'
import { addDays, type Day } from '../../../../src/platform/core/dates.ts'

const maxWindowDays = 31

describe('joinPeriods', () => {
  const period = (from: string, to: string): Period => ({ from: from as Day, to: to as Day })
  const history = historyBefore({ ...period('2026-11-01', '2026-11-22'), end: '2026-11-22' as Day })

  it('joins consecutive periods that fit into one request', () => {
    const main = period('2026-11-01', '2026-11-03')
    expect(joinPeriods([main], [history])).toEqual([{ days: period('2026-10-04', '2026-11-03'), needed: [main], history: [history] }])
  })

  it('joins periods that three requests would read separately, and two together', () => {
    const main = period('2026-11-01', '2026-11-03')
    const twoMonths = historyBefore({ ...main, end: '2026-11-30' as Day })
    expect(joinPeriods([main], [twoMonths])).toEqual([{ days: period('2026-09-03', '2026-11-03'), needed: [main], history: [twoMonths] }])
  })

  it('joins no periods with more than 31 days or with days in between, and has the needed ones first', () => {
    const [long, later] = [period('2026-11-01', '2026-11-04'), period('2026-11-06', '2026-11-07')]
    expect(joinPeriods([long, later], [history]).map(({ days }) => days)).toEqual([long, later, history])
  })

  it('joinPeriods has every period once', () => {
    const pieces = Array.from({ length: 12 }, (_, i) =>
      period(addDays('2026-01-01' as Day, i * 10), addDays('2026-01-01' as Day, i * 10 + 9)),
    )
    const groups = joinPeriods(pieces.slice(6), pieces.slice(0, 6))
    expect(groups.flatMap(({ needed }) => needed).toSorted((a, b) => (a.from < b.from ? -1 : 1))).toEqual(pieces.slice(6))
    expect(groups.flatMap((group) => group.history)).toEqual(pieces.slice(0, 6))
    expect(groups.every(({ days }) => daysIn(days) <= maxWindowDays)).toBe(true)
  })
})
