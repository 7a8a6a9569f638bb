import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limitForPeriod, standardHours } from '../../../src/backups/freshness.ts'

describe('limitForPeriod', () => {
  it.each([
    [24, 0, 26],
    [24, 0.2, 26],
    [24, 1, 26],
    [24, 3, 30],
    [6, 0, 8],
    [48, 0.5, 50],
    [1, 0, 2],
    [24, 24, 48],
    // Milliseconds that were taken for seconds.
    [24, 900, 48],
  ])('of a backup every %d hours that takes %d is %d', (period, usual, hours) => {
    expect(limitForPeriod(period, usual)).toBe(hours)
  })

  it.each([0, -24, Number.NaN, Number.POSITIVE_INFINITY, 8785])('is none for a period of %d', (period) => {
    expect(limitForPeriod(period, 0)).toBeUndefined()
  })

  it('is the standard one for a backup a day that is made in no time', () => {
    expect(limitForPeriod(24, 0)).toBe(standardHours)
  })

  it('is always more than the period, and never lets two backups be missed', () => {
    const hours = fc.double({ min: 0.01, max: 8784, noNaN: true })
    fc.assert(
      fc.property(hours, fc.double({ min: 0, noNaN: true }), (period, usual) => {
        const limit = limitForPeriod(period, usual) ?? 0
        expect(limit).toBeGreaterThan(period)
        expect(limit).toBeLessThanOrEqual(2 * period)
      }),
    )
  })
})
