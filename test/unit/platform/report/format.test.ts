import { describe, expect, it } from 'vitest'
import { type Day, formatMoment } from '../../../../src/platform/core/dates.ts'
import {
  formatAgo,
  formatBytes,
  formatDuration,
  formatMoney,
  formatMoneyPair,
  formatPercent,
  formatRange,
  formatRatio,
  formatShortDay,
  formatTimes,
} from '../../../../src/platform/report/format.ts'
import { decimal } from '../../../support/usage.ts'

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]

it('formats sizes in binary units with one decimal', () => {
  expect([0, 49, 1023, 10_000, 1024 ** 2 - 1, 1024 ** 2, 1.5 * 1024 ** 4, 2000 * 1024 ** 5].map(formatBytes)).toEqual([
    '0 B',
    '49 B',
    '1023 B',
    '9.8 KiB',
    '1.0 MiB',
    '1.0 MiB',
    '1.5 TiB',
    '2000.0 PiB',
  ])
})

it('formats a ratio rounded down, and a small one never as nothing', () => {
  expect([0, 0.0009, 0.001, 0.98, 0.98399, 0.99999, 1, 1.5].map(formatRatio)).toEqual([
    '0%',
    'below 0.1%',
    '0.1%',
    '98%',
    '98.3%',
    '99.9%',
    '100%',
    '150%',
  ])
})

it('formats durations in at most two units and never shows a positive duration as 0', () => {
  const durations = [
    [0, '0 s'],
    [1, 'less than 1 s'],
    [42 * second, '42 s'],
    [999, 'less than 1 s'],
    [second, '1 s'],
    [90 * second - 1, '90 s'],
    [90 * second, '2 min'],
    [45 * minute, '45 min'],
    [hour - minute / 2 - 1, '59 min'],
    [hour, '1 h'],
    [90 * minute, '1 h 30 min'],
    [3.15 * hour, '3 h 9 min'],
    [day - 1, '1 d'],
    [26 * hour, '1 d 2 h'],
    [26 * hour - 1, '1 d 2 h'],
    [48 * hour, '2 d'],
    [50 * hour + 20 * minute, '2 d 2 h'],
    [100 * day, '100 d'],
  ] as const
  for (const [ms, text] of durations) expect(formatDuration(ms), String(ms)).toBe(text)
})

it('formats the time since an event in days from two days on', () => {
  expect([-7000, 45 * minute, 3.15 * hour, 47 * hour, 2 * day, 9 * day + 20 * hour].map(formatAgo)).toEqual([
    '0 s ago',
    '45 min ago',
    '3 h 9 min ago',
    '1 d 23 h ago',
    '2 days ago',
    '9 days ago',
  ])
})

it('formats times to the minute', () => {
  expect(formatMoment('2026-03-21T06:30:59.999Z')).toBe('21 Mar 2026 06:30 UTC')
  expect(formatMoment(Date.parse('2026-11-02T10:48:59.999Z'))).toBe('2 Nov 2026 10:48 UTC')
})

it('formats three times, their days where they change, and counts the others', () => {
  const times = ['2026-03-21T06:30:00Z', '2026-03-21T07:30:00Z', '2026-03-22T06:30:00Z', '2026-03-22T07:30:00Z']
  expect(formatTimes(times.slice(0, 3)).replaceAll('\u00a0', ' ')).toBe('21 Mar 2026 06:30, 07:30, 22 Mar 2026 06:30 UTC')
  expect(formatTimes(times).replaceAll('\u00a0', ' ')).toBe('21 Mar 2026 06:30, 07:30, 22 Mar 2026 06:30 UTC and 1 more')
  expect(formatTimes(times.slice(0, 1), 9).replaceAll('\u00a0', ' ')).toBe('21 Mar 2026 06:30 UTC and 6 more')
})

it('formats a day without the year when the year is clear', () => {
  expect(formatShortDay('2026-11-30' as Day, '2026-11-22' as Day)).toBe('30 Nov')
  expect(formatShortDay('2027-01-05' as Day, '2026-12-22' as Day)).toBe('5 Jan 2027')
})

describe('an amount of money', () => {
  it('an amount of money has two decimals and separators between thousands', () => {
    expect(['0', '300', '288.536', '1234567.005', '-4.5'].map((text) => formatMoney(decimal(text)))).toEqual([
      '0.00',
      '300.00',
      '288.54',
      '1,234,567',
      '-4.50',
    ])
  })

  it('an amount of money is never shown as zero unless it is zero', () => {
    expect(['0.0049', '-0.0001', '0.005'].map((text) => formatMoney(decimal(text)))).toEqual(['<0.01', '>-0.01', '0.01'])
  })

  it('an amount of money has all its digits beside an amount that rounds to the same text', () => {
    expect(formatMoneyPair(decimal('300.000001'), decimal('300'))).toEqual(['300.000001', '300'])
    expect(formatMoneyPair(decimal('300'), decimal('300'))).toEqual(['300.00', '300.00'])
    expect(formatMoneyPair(decimal('412'), decimal('300'))).toEqual(['412.00', '300.00'])
  })
})

it('formats a percentage without a space and shows that it is not exactly 0% or 100%', () => {
  const percentages = [
    ['113.332', '113%'],
    ['96.18', '96%'],
    ['100', '100%'],
    ['0', '0%'],
    ['100.4', '100.4%'],
    ['99.96', '99.96%'],
    ['100.0000000001', 'just over 100%'],
    ['99.9999999999', 'just under 100%'],
    ['0.3', '0.3%'],
  ] as const
  for (const [value, text] of percentages) expect(formatPercent(decimal(value)), value).toBe(text)
})

it('formats a range with as many decimals as its size needs', () => {
  const ranges = [
    ['383.4', '427.2', '383–427'],
    ['9.96', '12.34', '10.0–12.3'],
    ['3.111', '4.999', '3.11–5.00'],
    ['14.96', '15.04', '15.0'],
    ['120', '120', '120'],
    ['10.5', '10.9', '10.5–10.9'],
    ['99.2', '100', '99–100'],
  ] as const
  for (const [low, high, text] of ranges) expect(formatRange(decimal(low), decimal(high))).toBe(text)
})
