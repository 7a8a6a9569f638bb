import { describe, expect, it } from 'vitest'
import { mean, median, slope, spread } from '../../../src/core/statistics.ts'

describe('robust statistics', () => {
  it.each([
    [[], 0, 0, 0],
    [[3], 3, 3, 0],
    [[1, 2, 4, 9], 3, 4, 1.4826 * 1.5],
    [[9, 1, 2], 2, 4, 1.4826],
  ])('robust statistics of %j: median %d, mean %d, spread %d', (values, middle, average, distance) => {
    expect([median(values), mean(values), spread(values)]).toEqual([middle, average, expect.closeTo(distance, 10)])
  })

  it('the slope is the median of all pairs', () => {
    expect(slope([1, 3, 5, 7])).toBe(2)
    expect(slope([0, 0, 0, 100])).toBeCloseTo(16.666, 2)
    expect(slope([4])).toBe(0)
  })
})
