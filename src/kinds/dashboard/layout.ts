/** The position and size of a tile, in columns and rows of the grid. */
export interface Place {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

/** The layout of one tile: its whole place, or only a size, or nothing. */
export interface TileLayout {
  readonly x?: number | undefined
  readonly y?: number | undefined
  readonly w?: number | undefined
  readonly h?: number | undefined
  readonly at?: readonly [number, number, number, number] | undefined
  readonly displayType?: string | undefined
}

export const gridColumns = 24

const chartSize = { w: 12, h: 6 }

const sizes: Readonly<Record<string, Pick<Place, 'w' | 'h'>>> = {
  number: { w: 6, h: 4 },
  search: { w: 24, h: 8 },
  event_patterns: { w: 24, h: 8 },
  markdown: { w: 24, h: 3 },
}

const defaultSize = (displayType: unknown): Pick<Place, 'w' | 'h'> =>
  (typeof displayType === 'string' && Object.hasOwn(sizes, displayType) ? sizes[displayType] : undefined) ?? chartSize

const overlaps = (a: Place, b: Place) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

export const isInGrid = ({ x, w }: Place): boolean => x + w <= gridColumns

/** The index of an earlier place that overlaps, for each place; undefined where there is none. */
export const findOverlaps = (places: readonly Place[]): readonly (number | undefined)[] =>
  places.map((place, i) => {
    const first = places.findIndex((other) => overlaps(place, other))
    return first < i ? first : undefined
  })

/**
 * The places of the tiles of one grid. Tiles without a position are placed in rows from left to right, in their order, around the tiles
 * that have one.
 */
export function placeTiles(tiles: readonly TileLayout[]): readonly Place[] {
  const given = tiles.map(givenPlace)
  const fixed = given.filter((place) => place !== undefined)
  let [x, y, rowHeight] = [0, 0, 0]
  return tiles.map((tile, i) => {
    const known = given[i]
    if (known !== undefined) return known
    const { w = defaultSize(tile.displayType).w, h = defaultSize(tile.displayType).h } = tile
    const size = { w, h }
    let nextFreeRow = Number.POSITIVE_INFINITY
    for (;;) {
      if (x + w > gridColumns) {
        // Fixed tiles fill a row without a tile of its own: continue below the first of them that ends.
        y = rowHeight > 0 ? y + rowHeight : nextFreeRow
        ;[x, rowHeight, nextFreeRow] = [0, 0, Number.POSITIVE_INFINITY]
      }
      const place = { x, y, ...size }
      const obstacle = fixed.find((other) => overlaps(place, other))
      if (obstacle === undefined) {
        x += w
        rowHeight = Math.max(rowHeight, h)
        return place
      }
      x = obstacle.x + obstacle.w
      nextFreeRow = Math.min(nextFreeRow, obstacle.y + obstacle.h)
    }
  })
}

function givenPlace({ at, x, y, w, h, displayType }: TileLayout): Place | undefined {
  if (at !== undefined) return { x: at[0], y: at[1], w: at[2], h: at[3] }
  if (x === undefined || y === undefined) return undefined
  const size = defaultSize(displayType)
  return { x, y, w: w ?? size.w, h: h ?? size.h }
}
