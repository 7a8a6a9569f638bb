import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findOverlaps, isInGrid, placeTiles, type TileLayout } from '../../../../src/kinds/dashboard/dashboard-file.ts'
import { arrangeTiles } from '../../../../src/kinds/dashboard/tiles.ts'

const at = (x: number, y: number, w: number, h: number) => ({ x, y, w, h })

const displayType = fc.constantFrom('line', 'number', 'search', 'markdown', undefined)
const size = fc.record({ w: fc.integer({ min: 1, max: 24 }), h: fc.integer({ min: 1, max: 20 }) }, { requiredKeys: [] })
const automatic: fc.Arbitrary<TileLayout> = fc.tuple(displayType, size).map(([type, given]) => ({ ...given, displayType: type }))

/** In the grid, and without overlaps among themselves. */
const fixed = fc
  .array(fc.tuple(fc.nat(23), fc.nat(40), fc.integer({ min: 1, max: 24 }), fc.integer({ min: 1, max: 1_000_000 })), { maxLength: 8 })
  .map((places) => {
    const inGrid = places.map(([x, y, w, h]) => at(x, y, Math.min(w, 24 - x), h))
    return inGrid.filter((_, i) => findOverlaps(inGrid.slice(0, i + 1))[i] === undefined)
  })

const mixed = fc
  .tuple(fixed, fc.array(automatic, { maxLength: 20 }), fc.array(fc.nat(28), { minLength: 8, maxLength: 8 }))
  .map(([places, others, positions]) => {
    const tiles: TileLayout[] = [...others]
    for (const [i, { x, y, w, h }] of places.entries()) tiles.splice(Math.min(positions[i] ?? 0, tiles.length), 0, { at: [x, y, w, h] })
    return tiles
  })

describe('the places of tiles', () => {
  it('never overlap, stay in the grid, and are the same each time', () => {
    fc.assert(
      fc.property(mixed, (tiles) => {
        const places = placeTiles(tiles)
        expect(places).toHaveLength(tiles.length)
        expect(places.every(isInGrid)).toBe(true)
        expect(findOverlaps(places).filter((other) => other !== undefined)).toEqual([])
        expect(placeTiles(tiles)).toEqual(places)
      }),
      { numRuns: 300 },
    )
  })

  it('the places of tiles keep what a file says of them', () => {
    fc.assert(
      fc.property(mixed, (tiles) => {
        for (const [i, place] of placeTiles(tiles).entries()) {
          const { at: given, w = place.w, h = place.h } = tiles[i] ?? {}
          expect(place).toEqual(given === undefined ? { ...place, w, h } : at(...given))
        }
      }),
    )
  })

  it('the places of tiles follow the order of the tiles, in rows from left to right', () => {
    const line = { displayType: 'line' }
    expect(placeTiles([line, line, line])).toEqual([at(0, 0, 12, 6), at(12, 0, 12, 6), at(0, 6, 12, 6)])
    expect(placeTiles([{ w: 8, h: 9 }, { w: 8 }, { w: 9 }])).toEqual([at(0, 0, 8, 9), at(8, 0, 8, 6), at(0, 9, 9, 6)])
  })

  it('the places of tiles have a default size for each type', () => {
    const sizes = ['line', 'number', 'search', 'event_patterns', 'markdown', 'constructor', undefined].map((type) => {
      const [place] = placeTiles([{ displayType: type }])
      return [place?.w, place?.h]
    })
    expect(sizes).toEqual([
      [12, 6],
      [6, 4],
      [24, 8],
      [24, 8],
      [24, 3],
      [12, 6],
      [12, 6],
    ])
  })

  it('the places of tiles are around tiles with a position', () => {
    expect(placeTiles([{ at: [0, 0, 24, 3] }, {}, { at: [12, 3, 12, 20] }, {}])).toEqual([
      at(0, 0, 24, 3),
      at(0, 3, 12, 6),
      at(12, 3, 12, 20),
      at(0, 9, 12, 6),
    ])
  })

  it('the places of tiles are found fast below a very high tile', () => {
    expect(placeTiles([{ at: [0, 0, 24, 1_000_000_000] }, {}])[1]).toEqual(at(0, 1_000_000_000, 12, 6))
  })
})

it('a tile of a query keeps its place, a new one is beside all others on its grid, and a tile of the file is where the file says', () => {
  const queries = new Map([
    ['Old', 'old'],
    ['New', 'new'],
  ])
  const tileOwners = {
    tileOf: (key: string) => (key === 'old' ? 't1' : undefined),
    ownerOf: (id: unknown) => (id === 't1' ? 'ours' : undefined),
  }
  const one = (name: string, x: number, y: number, more: object = {}) => ({ name, ...at(x, y, 8, 5), config: { markdown: name }, ...more })
  const arranged = (tiles: readonly object[], before: readonly object[], spelled: object = {}) => {
    const stored = { id: 'd', containers: [{ id: 'c' }], tiles: [one('Old', 8, 0, { id: 't1' }), ...before] }
    const { tiles: all } = arrangeTiles(tiles as never, { queries, spelled, value: spelled } as never, { stored, tileOwners } as never)
    return all.map(({ name, x, y }) => `${name} ${x} ${y}`)
  }
  const [old, fresh] = [one('Old', 0, 0), one('New', 8, 0)]
  expect(arranged([old, fresh], [])).toEqual(['Old 8 0', 'New 0 0'])
  expect(arranged([old, fresh], [one('Theirs', 0, 0, { id: 't2' })])).toEqual(['Old 8 0', 'New 16 0', 'Theirs 0 0'])
  expect(arranged([old, fresh], [one('Theirs', 0, 0, { id: 't2', containerId: 'c' })])).toEqual(['Old 8 0', 'New 0 0', 'Theirs 0 0'])
  const own = one('Own', 0, 9, { id: 't2' })
  expect(arranged([own, old], [one('Own', 0, 0, { id: 't2' })], { tiles: [own] })).toEqual(['Own 0 9', 'Old 8 0'])
})
