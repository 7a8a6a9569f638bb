import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { interleave, pack } from '../../../src/fleet/matrix.ts'

/** Groups of numbers, each number once. */
const groups = fc
  .array(fc.integer({ min: 0, max: 400 }), { maxLength: 40 })
  .map((sizes) => sizes.map((size, group) => Array.from({ length: size }, (_, i) => group * 1000 + i)))

const packed = <T>(given: readonly (readonly T[])[]) => {
  const result = pack(given, { maxBins: 256, maxBinSize: 100 })
  if ('binsNeeded' in result) throw new Error(`needs ${result.binsNeeded} bins`)
  return result.groups
}

describe('pack', () => {
  it('puts every item into exactly one bin, keeps the order, and does not mix groups', () => {
    fc.assert(
      fc.property(groups, (given) => {
        expect(packed(given).map((bins) => bins.flat())).toEqual(given)
      }),
    )
  })

  it('keeps the limits of bins and of their size, and makes no empty bin', () => {
    fc.assert(
      fc.property(groups, (given) => {
        const bins = packed(given).flat()
        expect(bins.length).toBeLessThanOrEqual(256)
        for (const { length } of bins) expect(length >= 1 && length <= 100).toBe(true)
      }),
    )
  })

  it('makes the largest bin as small as possible', () => {
    fc.assert(
      fc.property(groups, (given) => {
        const largest = Math.max(0, ...packed(given).flatMap((bins) => bins.map(({ length }) => length)))
        const binsOneSmaller = given.reduce((sum, { length }) => sum + Math.ceil(length / (largest - 1)), 0)
        expect(largest <= 1 || binsOneSmaller > 256).toBe(true)
      }),
    )
  })

  it('makes bins of one group whose sizes differ by at most one', () => {
    fc.assert(
      fc.property(groups, (given) => {
        for (const bins of packed(given)) {
          const sizes = bins.map(({ length }) => length)
          expect(Math.max(0, ...sizes) - Math.min(...(sizes.length > 0 ? sizes : [0]))).toBeLessThanOrEqual(1)
        }
      }),
    )
  })

  it('puts each item into its own bin while there are enough', () => {
    const items = Array.from({ length: 256 }, (_, i) => i)
    expect(packed([items])).toEqual([items.map((item) => [item])])
    expect(packed([[...items, 256]])[0]?.filter(({ length }) => length === 2)).toHaveLength(128)
  })

  it('returns the number of bins that it needs when there are too few', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => i)
    expect(pack([[1], [2], [3]], { maxBins: 2, maxBinSize: 100 })).toEqual({ binsNeeded: 3 })
    expect(pack([[...hundred, 100]], { maxBins: 1, maxBinSize: 100 })).toEqual({ binsNeeded: 2 })
    expect(pack([hundred], { maxBins: 1, maxBinSize: 100 })).toEqual({ groups: [[hundred]] })
  })
})

describe('interleave', () => {
  it('keeps all items, and the order of each list', () => {
    fc.assert(
      fc.property(groups, (given) => {
        const result = interleave(given)
        for (const list of given) expect(result.filter((one) => list.includes(one))).toEqual(list)
        expect(result).toHaveLength(given.flat().length)
      }),
    )
  })

  it('takes one item of each list in turn', () => {
    expect(interleave([['a1', 'a2', 'a3'], ['b1'], ['c1', 'c2']])).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  })
})
