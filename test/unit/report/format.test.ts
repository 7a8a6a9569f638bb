import { expect, it } from 'vitest'
import { formatBytes, formatDuration, formatTime } from '../../../src/report/format.ts'

it('formats sizes in binary units with one decimal', () => {
  expect([0, 49, 10_000, 1024 ** 2, 1.5 * 1024 ** 4, 2000 * 1024 ** 5].map(formatBytes)).toEqual([
    '0 B',
    '49 B',
    '9.8 KiB',
    '1.0 MiB',
    '1.5 TiB',
    '2000.0 PiB',
  ])
})

it('formats durations in at most two units, and never shows a positive duration as 0', () => {
  const [second, minute, hour] = [1000, 60_000, 3_600_000]
  expect([0, 1, 42 * second, 45 * minute, hour, 90 * minute, 26 * hour, 3.15 * hour, 26 * hour - 1].map(formatDuration)).toEqual([
    '0 s',
    'less than a second',
    '42 s',
    '45 min',
    '1 hour',
    '1 hour 30 min',
    '26 hours',
    '3 hours 9 min',
    '26 hours',
  ])
})

it('formats times to the minute', () => {
  expect(formatTime('2026-03-21T06:30:59.999Z')).toBe('2026-03-21 06:30 UTC')
})
