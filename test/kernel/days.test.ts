import { describe, expect, it } from 'vitest'
import { addMonths, countDays, type Day, dayOf, isDay } from '../../src/kernel/days.ts'

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
  ])('%s lies in %s, whatever the time zone of this machine', (instant, day) => {
    expect(dayOf(Date.parse(instant))).toBe(day)
  })
})

it('ends a month that is too short on its last day', () => {
  expect(addMonths('2026-01-31' as Day, 1)).toBe('2026-02-28')
})

it('counts both ends', () => {
  expect(countDays('2024-01-01' as Day, '2024-12-31' as Day)).toBe(366)
  expect(countDays('2026-01-01' as Day, '2026-01-01' as Day)).toBe(1)
})
