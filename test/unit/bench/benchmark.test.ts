import { describe, expect, it } from 'vitest'
import { growthExponent, median } from '../../../bench/benchmark.ts'

describe('median', () => {
  it.each([
    [[3], 3],
    [[5, 1, 3], 3],
    [[4, 1, 3, 100], 3.5],
  ])('the median of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected)
  })

  it('the median of an empty list is an error', () => {
    expect(() => median([])).toThrow('nothing was measured')
  })
})

describe('growthExponent', () => {
  const sizes = [10, 100, 1000]

  it.each([0, 1, 2])('tells the power %d', (power) => {
    expect(growthExponent(sizes.map((size) => ({ size, cost: 7 * size ** power })))).toBeCloseTo(power, 10)
  })

  it('lies between for what is mostly linear', () => {
    const exponent = growthExponent(sizes.map((size) => ({ size, cost: 50 + size })))
    expect(exponent).toBeGreaterThan(0.3)
    expect(exponent).toBeLessThan(1)
  })
})
