import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pack, takeTurns } from '../../../src/fleet/matrix.ts'

const bounds = { mostLegs: 256, mostInLeg: 100 }

/** Groups of numbers, each number once. */
const groups = fc
  .array(fc.integer({ min: 0, max: 400 }), { maxLength: 40 })
  .map((sizes) => sizes.map((size, group) => Array.from({ length: size }, (_, i) => group * 1000 + i)))

const packed = <T>(given: readonly (readonly T[])[], limits = bounds) => {
  const result = pack(given, limits)
  if ('needed' in result) throw new Error(`needs ${result.needed}`)
  return result.groups
}

describe('pack', () => {
  it('puts every thing into exactly one leg, in its order, and mixes no groups', () => {
    fc.assert(
      fc.property(groups, (given) => {
        expect(packed(given).map((legs) => legs.flat())).toEqual(given)
      }),
    )
  })

  it('makes no more legs than there may be, none too large and none empty', () => {
    fc.assert(
      fc.property(groups, (given) => {
        const legs = packed(given).flat()
        expect(legs.length).toBeLessThanOrEqual(256)
        for (const { length } of legs) expect(length >= 1 && length <= 100).toBe(true)
      }),
    )
  })

  it('makes the largest leg as small as it can be', () => {
    fc.assert(
      fc.property(groups, (given) => {
        const largest = Math.max(0, ...packed(given).flatMap((legs) => legs.map(({ length }) => length)))
        const legsOneSmaller = given.reduce((sum, { length }) => sum + Math.ceil(length / (largest - 1)), 0)
        expect(largest <= 1 || legsOneSmaller > 256).toBe(true)
      }),
    )
  })

  it('keeps the legs of one group even', () => {
    fc.assert(
      fc.property(groups, (given) => {
        for (const legs of packed(given)) {
          const sizes = legs.map(({ length }) => length)
          expect(Math.max(0, ...sizes) - Math.min(...(sizes.length > 0 ? sizes : [0]))).toBeLessThanOrEqual(1)
        }
      }),
    )
  })

  it('gives each thing a leg of its own as long as there are enough', () => {
    const things = Array.from({ length: 256 }, (_, i) => i)
    expect(packed([things])).toEqual([things.map((thing) => [thing])])
    expect(packed([[...things, 256]])[0]?.filter(({ length }) => length === 2)).toHaveLength(128)
  })

  it('says how many legs it would take when there are too few', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => i)
    expect(pack([[1], [2], [3]], { mostLegs: 2, mostInLeg: 100 })).toEqual({ needed: 3 })
    expect(pack([[...hundred, 100]], { mostLegs: 1, mostInLeg: 100 })).toEqual({ needed: 2 })
    expect(pack([hundred], { mostLegs: 1, mostInLeg: 100 })).toEqual({ groups: [[hundred]] })
  })
})

describe('takeTurns', () => {
  it('loses nothing, and keeps the order of each list', () => {
    fc.assert(
      fc.property(groups, (given) => {
        const taken = takeTurns(given)
        for (const list of given) expect(taken.filter((one) => list.includes(one))).toEqual(list)
        expect(taken).toHaveLength(given.flat().length)
      }),
    )
  })

  it('puts things of different lists beside each other', () => {
    expect(takeTurns([['a1', 'a2', 'a3'], ['b1'], ['c1', 'c2']])).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  })
})
