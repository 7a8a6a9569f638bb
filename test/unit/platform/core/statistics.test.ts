import { describe, expect, it } from 'vitest'
import { mean, median, spread } from '../../../../src/platform/core/statistics.ts'

describe('robust statistics', () => {
  it.each([
    [[], 0, 0, 0],
    [[3], 3, 3, 0],
    [[1, 2, 4, 9], 3, 4, 1.4826 * 1.5],
    [[9, 1, 2], 2, 4, 1.4826],
  ])('robust statistics of %j: median %d, mean %d, spread %d', (values, middle, average, distance) => {
    expect([median(values), mean(values), spread(values)]).toEqual([middle, average, expect.closeTo(distance, 10)])
  })
})
