import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import {
  addDays,
  addMonths,
  countDays,
  type Day,
  dayOf,
  eachDay,
  endOfMonth,
  endOfYear,
  isDay,
  startOfYear,
  weekdayOf,
  withDayOfMonth,
} from '../../../../src/platform/core/dates.ts'

describe('isDay', () => {
  it.each(['2024-02-29', '2000-02-29', '2026-12-31', '9999-12-31'])('accepts %s', (text) => {
    expect(isDay(text)).toBe(true)
  })

  it.each(
    '2026-02-30|2026-13-01|2026-00-10|2026-01-00|2025-02-29|1900-02-29|0000-01-01|0099-01-01|10000-01-01|+002026-01-01|2026-1-1|20260101|2026-W05-1|2026-01-01T00:00:00Z|2026-01-01T00:00:00+14:00| 2026-01-01|2026‑01‑01|'.split(
      '|',
    ),
  )('refuses "%s"', (text) => {
    expect(isDay(text)).toBe(false)
  })
})

describe('dayOf', () => {
  it.each([
    ['2026-03-01T00:00:00.000Z', '2026-03-01'],
    ['2026-02-28T23:59:59.999Z', '2026-02-28'],
    ['2024-02-29T12:00:00.000Z', '2024-02-29'],
  ])('%s is on %s, in every time zone', (instant, day) => {
    expect(dayOf(Date.parse(instant))).toBe(day)
  })
})

it('uses the last day of a month that is too short', () => {
  expect(addMonths('2026-01-31' as Day, 1)).toBe('2026-02-28')
})

it('counts both ends of a range', () => {
  expect(countDays('2024-01-01' as Day, '2024-12-31' as Day)).toBe(366)
  expect(countDays('2026-01-01' as Day, '2026-01-01' as Day)).toBe(1)
})

describe('agreement with Temporal', () => {
  const first = Temporal.PlainDate.from('2000-01-01')
  // Four centuries: the calendar repeats after them.
  const anyDate = fc.integer({ min: 0, max: 146_097 }).map((days) => first.add({ days }))
  const toDay = (date: Temporal.PlainDate): Day => date.toString() as Day

  it('holds for functions of one day', () => {
    fc.assert(
      fc.property(anyDate, fc.integer({ min: 1, max: 31 }), (date, dayOfMonth) => {
        const day = toDay(date)
        expect(isDay(day)).toBe(true)
        expect(withDayOfMonth(day, dayOfMonth)).toBe(toDay(date.with({ day: dayOfMonth })))
        expect(endOfMonth(day)).toBe(toDay(date.with({ day: date.daysInMonth })))
        expect(startOfYear(day)).toBe(toDay(date.with({ month: 1, day: 1 })))
        expect(endOfYear(day)).toBe(toDay(date.with({ month: 12, day: 31 })))
        expect(weekdayOf(day)).toBe(date.dayOfWeek)
      }),
    )
  })

  it('holds for steps from a day', () => {
    fc.assert(
      fc.property(anyDate, fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: -30, max: 30 }), (date, days, months) => {
        expect(addDays(toDay(date), days)).toBe(toDay(date.add({ days })))
        expect(addMonths(toDay(date), months)).toBe(toDay(date.add({ months })))
        const to = date.add({ days: Math.abs(days) })
        expect(countDays(toDay(date), toDay(to))).toBe(Math.abs(days) + 1)
        expect([...eachDay(toDay(date), toDay(to))]).toEqual(
          Array.from({ length: Math.abs(days) + 1 }, (_, i) => toDay(date.add({ days: i }))),
        )
      }),
      { numRuns: 30 },
    )
  })

  it('holds for any instant', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2e14, noNaN: true }), (epochMs) => {
        const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs))
        expect(dayOf(epochMs)).toBe(toDay(instant.toZonedDateTimeISO('UTC').toPlainDate()))
      }),
    )
  })

  it('holds for every spelling of a day, valid or not', () => {
    for (const year of [1999, 2000, 2023, 2024, 2100, 9999])
      for (let month = 0; month <= 13; month++)
        for (let date = 0; date <= 32; date++) {
          const text = [year, String(month).padStart(2, '0'), String(date).padStart(2, '0')].join('-')
          let isReal = year >= 2000
          try {
            Temporal.PlainDate.from(text, { overflow: 'reject' })
          } catch {
            isReal = false
          }
          expect([text, isDay(text)]).toEqual([text, isReal])
        }
  })
})

it('eachDay stops at the last day that can be written', () => {
  expect([...eachDay('9999-12-30' as Day, '9999-12-31' as Day)]).toEqual(['9999-12-30', '9999-12-31'])
})
