import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import {
  clipToToday,
  daysBeside,
  daysIn,
  hasDaysAhead,
  isOverlapping,
  isWithin,
  mayHaveDaysAhead,
  monthBefore,
  type Period,
  type PeriodName,
  periodBefore,
  periodInput,
  resolvePeriod,
} from '../../../../src/cost/usage/periods.ts'
import { addDays, type Day, isDay } from '../../../../src/platform/core/dates.ts'
import { forEachEntry } from '../../../support/corpus.ts'

describe('resolvePeriod', () => {
  it.each<[PeriodName, string, number, string, string]>([
    ['today', '2026-03-31', 1, '2026-03-31', '2026-03-31'],
    ['yesterday', '2026-03-01', 1, '2026-02-28', '2026-02-28'],
    ['last-7-days', '2026-03-03', 1, '2026-02-25', '2026-03-03'],
    ['last-1-days', '2026-03-03', 1, '2026-03-03', '2026-03-03'],
    ['month-to-date', '2026-03-31', 1, '2026-03-01', '2026-03-31'],
    ['month-to-date', '2026-03-01', 1, '2026-03-01', '2026-03-01'],
    ['previous-month', '2026-03-31', 1, '2026-02-01', '2026-02-28'],
    ['previous-month', '2024-03-31', 1, '2024-02-01', '2024-02-29'],
    ['previous-month', '2026-01-15', 1, '2025-12-01', '2025-12-31'],
    ['year-to-date', '2026-03-31', 1, '2026-01-01', '2026-03-31'],
    ['billing-cycle', '2026-03-14', 15, '2026-02-15', '2026-03-14'],
    ['billing-cycle', '2026-03-15', 15, '2026-03-15', '2026-03-15'],
    ['previous-billing-cycle', '2026-03-15', 15, '2026-02-15', '2026-03-14'],
    ['billing-cycle', '2026-02-28', 31, '2026-02-28', '2026-02-28'],
    ['billing-cycle', '2026-03-30', 31, '2026-02-28', '2026-03-30'],
    ['previous-billing-cycle', '2026-03-31', 31, '2026-02-28', '2026-03-30'],
    ['previous-billing-cycle', '2024-03-01', 30, '2024-01-30', '2024-02-28'],
  ])('%s asked on %s, cycle day %i, is %s to %s', (name, today, cycleDay, ...ends) => {
    const { from, to } = resolvePeriod(name, today as Day, cycleDay)
    expect([from, to]).toEqual(ends)
  })

  it('joins billing cycles without gaps for any cycle day', () => {
    const days = fc.integer({ min: 0, max: 3000 }).map((n) => addDays('2024-01-01' as Day, n))
    fc.assert(
      fc.property(days, fc.integer({ min: 1, max: 31 }), (today, cycleDay) => {
        const current = resolvePeriod('billing-cycle', today, cycleDay)
        const previous = resolvePeriod('previous-billing-cycle', today, cycleDay)
        expect(addDays(previous.to, 1)).toBe(current.from)
        expect(resolvePeriod('billing-cycle', addDays(current.end, 1), cycleDay).from).toBe(addDays(current.end, 1))
        expect(current.end >= today).toBe(true)
        expect(current.from <= today).toBe(true)
        expect(daysIn(previous)).toBeGreaterThanOrEqual(28)
        expect(daysIn(previous)).toBeLessThanOrEqual(31)
      }),
    )
  })
})

const parse = (text: string) => periodInput.safeParse(text)

it('rejects any other text as a period', () =>
  forEachEntry(
    [
      ...['last-0-days', 'last-07-days', 'last--1-days', 'last-99999-days', 'last-days', 'last month', 'Today', ''],
      ...['last-3661-days', 'the-last-7-days', 'last-7-days-ago', 'last-1a-days'],
      ...['2026-02-30', '2026-1-1', '..2026-01-31', '2026-01-02..2026-01-01', '2026-01-01...', '2026-01-01..x', '2000-01-01..2026-01-01'],
    ],
    (text) => expect(parse(text).success, text).toBe(false),
  ))

const presets = [
  'today',
  'yesterday',
  'month-to-date',
  'previous-month',
  'billing-cycle',
  'previous-billing-cycle',
  'year-to-date',
] as const

it('a period is a preset, or days with both ends included', () => {
  for (const name of [...presets, 'last-1-days', 'last-10-days', 'last-3660-days']) expect(parse(name).data).toBe(name)
  expect(parse('2026-01-31').data).toEqual({ from: '2026-01-31', to: '2026-01-31' })
  expect(parse('2026-01-01..2026-01-31').data).toEqual({ from: '2026-01-01', to: '2026-01-31' })
  expect(parse('2026-01-01..').data).toEqual({ from: '2026-01-01', to: undefined })
})

it('knows which periods can have future days', () => {
  const running = [...presets, 'last-7-days' as const].filter(mayHaveDaysAhead)
  expect(running).toEqual(['month-to-date', 'billing-cycle', 'year-to-date'])
  expect(mayHaveDaysAhead(undefined)).toBe(true)
})

it.each([
  ['2026-03-01', '2026-03-09', '2026-03-09'],
  ['2026-03-01', '2026-03-10', '2026-03-10'],
  ['2026-03-01', '2026-03-11', '2026-03-10'],
  ['2026-03-10', '2026-03-11', '2026-03-10'],
])('in the period from %s to %s, the days up to %s are over or under way', (from, to, last) => {
  expect(clipToToday({ from: from as Day, to: to as Day }, '2026-03-10' as Day)).toEqual({ from, to: last, end: to })
})

it.each([
  ['2026-03-09', true],
  ['2026-03-10', false],
  ['2026-03-11', false],
])('on %s, a period until 2026-03-10 has whole days ahead: %s', (today, isAhead) => {
  const period = { from: '2026-03-01' as Day, to: '2026-03-09' as Day, end: '2026-03-10' as Day }
  expect(hasDaysAhead(period, today as Day)).toBe(isAhead)
})

it('returns nothing for a future period', () => {
  expect(clipToToday({ from: '2026-03-11' as Day, to: '2026-03-20' as Day }, '2026-03-10' as Day)).toBeUndefined()
})

it.each<[PeriodName, string, number, string]>([
  ['month-to-date', '2026-02-10', 1, '2026-02-28'],
  ['billing-cycle', '2026-03-10', 31, '2026-03-30'],
  ['billing-cycle', '2026-02-27', 31, '2026-02-27'],
  ['billing-cycle', '2026-12-20', 15, '2027-01-14'],
  ['year-to-date', '2026-03-10', 1, '2026-12-31'],
  ['previous-month', '2026-03-10', 1, '2026-02-28'],
  ['last-7-days', '2026-03-10', 1, '2026-03-10'],
])('%s asked on %s, cycle day %i, will end on %s', (name, today, cycleDay, end) => {
  expect(resolvePeriod(name, today as Day, cycleDay).end).toBe(end)
})

it('compares with the period of equal length that ends the day before', () => {
  expect(periodBefore({ from: '2026-03-01' as Day, to: '2026-03-10' as Day })).toEqual({ from: '2026-02-19', to: '2026-02-28' })
})

it.each([
  ['2026-11-01', '2026-11-21', '2026-10-01', '2026-10-21'],
  ['2026-03-01', '2026-03-31', '2026-02-01', '2026-02-28'],
  ['2026-01-15', '2026-01-31', '2025-12-15', '2025-12-31'],
])('the same days of the previous month: %s to %s becomes %s to %s', (from, to, ...before) => {
  expect(Object.values(monthBefore({ from: from as Day, to: to as Day }))).toEqual(before)
})

it.each([
  ['2026-03-01', '2026-03-09', false],
  ['2026-03-01', '2026-03-10', true],
  ['2026-03-12', '2026-03-13', true],
  ['2026-03-20', '2026-03-31', true],
  ['2026-03-21', '2026-03-31', false],
])('the days from %s to %s overlap with those from 10 to 20 March: %s', (from, to, isSame) => {
  const march = { from: '2026-03-10' as Day, to: '2026-03-20' as Day }
  expect(isOverlapping({ from: from as Day, to: to as Day }, march)).toBe(isSame)
})

describe('daysBeside', () => {
  const day = fc.integer({ min: 0, max: 120 }).map((n) => addDays('2026-01-01' as Day, n))
  const period = fc.tuple(day, fc.integer({ min: 0, max: 40 })).map(([from, length]): Period => ({ from, to: addDays(from, length) }))

  it('contains each day of the periods once, without the excluded days', { tags: 'slow' }, () => {
    fc.assert(
      fc.property(fc.array(period, { maxLength: 6 }), fc.array(period, { maxLength: 2 }), (wanted, except) => {
        const found = daysBeside(wanted, except)
        for (let n = 0; n < 170; n++) {
          const one = addDays('2026-01-01' as Day, n)
          const isWanted = wanted.some((each) => isWithin(one, each)) && !except.some((each) => isWithin(one, each))
          expect(found.filter((each) => isWithin(one, each))).toHaveLength(isWanted ? 1 : 0)
        }
      }),
      { numRuns: 60 },
    )
  })

  const days = (text: string) =>
    text
      .split(' ')
      .filter(Boolean)
      .map((one) => one.split('-').map((date) => `2026-03-${date}` as Day))
      .map(([from, to]) => ({ from: from as Day, to: to as Day }))

  it.each([
    ['01-10', '03-05', '01-02 06-10'],
    ['01-10', '01-05', '06-10'],
    ['01-10', '05-10', '01-04'],
    ['01-10', '01-10', ''],
    ['05-10', '01-04', '05-10'],
    ['05-10', '11-20', '05-10'],
    ['05-10', '01-05', '06-10'],
    ['05-10', '10-20', '05-09'],
    ['20-22 01-03', '', '01-03 20-22'],
    ['01-09 02-03', '', '01-09'],
    ['01-05 03-09', '02-02 07-08', '01-01 03-06 09-09'],
  ])('the days %s without %s are %s', (periods, except, rest) => {
    expect(daysBeside(days(periods), days(except))).toEqual(days(rest))
  })

  it('joins periods that touch', () => {
    const [january, february] = [
      { from: '2026-01-01' as Day, to: '2026-01-31' as Day },
      { from: '2026-02-01' as Day, to: '2026-02-10' as Day },
    ]
    expect(daysBeside([february, january], [])).toEqual([{ from: '2026-01-01', to: '2026-02-10' }])
  })
})

it('agrees with the calendar of Temporal', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2000, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
      (year, month, date) => {
        const text = `${year}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}`
        const isReal =
          Temporal.PlainYearMonth.from({ year, month: Math.min(12, Math.max(1, month)) }).daysInMonth >= date &&
          date > 0 &&
          month > 0 &&
          month < 13
        expect(isDay(text)).toBe(isReal)
      },
    ),
  )
})
