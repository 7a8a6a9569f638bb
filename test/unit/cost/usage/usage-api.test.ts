import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { daysIn } from '../../../../src/cost/usage/periods.ts'
import { cutIntoWindows } from '../../../../src/cost/usage/usage-api.ts'
import { addDays, type Day } from '../../../../src/platform/core/dates.ts'

describe('cutIntoWindows', () => {
  it('V5: covers any range exactly once, with the fewest windows of at most 31 days', () => {
    const start = fc.integer({ min: 0, max: 5000 }).map((n) => addDays('2020-01-01' as Day, n))
    fc.assert(
      fc.property(start, fc.integer({ min: 0, max: 1200 }), (from, length) => {
        const to = addDays(from, length)
        const windows = cutIntoWindows({ from, to })
        expect(windows.length).toBe(Math.ceil((length + 1) / 31))
        expect(windows[0]?.from).toBe(from)
        expect(windows.at(-1)?.to).toBe(to)
        windows.forEach((window, i) => {
          expect(daysIn(window)).toBeLessThanOrEqual(31)
          expect(window.from <= window.to).toBe(true)
          if (i > 0) expect(window.from).toBe(addDays(windows[i - 1]?.to ?? from, 1))
        })
      }),
    )
  })

  it('takes 12 requests for a year', () => {
    expect(cutIntoWindows({ from: '2026-01-01' as Day, to: '2026-12-31' as Day })).toHaveLength(12)
    expect(cutIntoWindows({ from: '2024-01-01' as Day, to: '2024-12-31' as Day })).toHaveLength(12)
  })
})
