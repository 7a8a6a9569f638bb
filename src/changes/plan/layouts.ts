import { gridColumns, gridOf, type Place } from '../../kinds/dashboard/dashboard-file.ts'
import { withTileIds } from '../../kinds/dashboard/tiles.ts'
import { type Body, listOf } from '../../kinds/kind.ts'
import { printable } from '../../platform/core/text.ts'
import { type Layout, type LayoutTile, markSigns, type TileMark } from '../../platform/report/blocks.ts'
import { graphemesOf, graphemeWidth } from '../../platform/report/terminal.ts'
import type { Change } from '../../sync/decide/change.ts'

// The layout of a changed dashboard, as data and as text. Loaded only where a dashboard changed.

export function layoutOf({ stored, desired, fields }: Change) {
  const before = listOf(stored?.tiles)
  const after = withTileIds(listOf(desired?.tiles), before)
  const old = new Map(before.map((tile) => [tile.id, tile]))
  // A path has the name that the tile had before.
  const changed = new Set(fields.flatMap(({ path }) => tileWithContent.exec(path)?.[1] ?? []))
  const isChanged = (tile: Body): boolean => changed.has(JSON.stringify(tile.name))
  const marksOf = (tile: Body): readonly TileMark[] => {
    const previous = old.get(tile.id)
    if (previous === undefined) return ['added']
    return [...(isChanged(previous) ? (['changed'] as const) : []), ...(isMoved(previous, tile) ? (['moved'] as const) : [])]
  }
  const marks = new Map(after.map((tile) => [tile.id, marksOf(tile)]))
  const sides = {
    before: before.map((tile) => ({
      grid: gridOf(tile),
      tile: toTile(tile, marks.get(tile.id) ?? ['removed']),
    })),
    after: after.map((tile) => ({ grid: gridOf(tile), tile: toTile(tile, marksOf(tile)) })),
  }
  const all = [...sides.before, ...sides.after]
  if (all.every(({ tile }) => tile.marks.length === 0)) return undefined
  const isDrawn = ({ marks: found }: LayoutTile): boolean => Math.max(before.length, after.length) <= 30 || found.length > 0
  const touched = [...new Set(all.map(({ grid }) => grid))].filter((grid) =>
    all.some((one) => one.grid === grid && one.tile.marks.length > 0),
  )
  const grids = touched.map((grid) => ({
    title: titleOf(grid, [...listOf(desired?.containers), ...listOf(stored?.containers)]),
    before: tilesIn(sides.before, grid).filter(isDrawn),
    after: tilesIn(sides.after, grid).filter(isDrawn),
  }))
  const undrawn = sides.after.filter(({ tile }) => !isDrawn(tile)).length
  return { grids, undrawn, lines: drawText(grids, undrawn) }
}

/** A field of a tile that is not its place. A tile that is added or removed has such fields, too. */
const tileWithContent = /^tiles\[("(?:[^"\\]|\\.)*")\](?!\.(?:x|y|w|h|containerId|tabId)$)/

type DrawnTile = ReturnType<typeof toTile>

interface InGrid {
  readonly grid: string
  readonly tile: DrawnTile
}

const tilesIn = (side: readonly InGrid[], grid: string): DrawnTile[] => side.flatMap((one) => (one.grid === grid ? [one.tile] : []))

const placeOf = ({ x, y, w, h }: Body): Place => {
  const [left, top, width, height] = [x, y, w, h].map((value) => (typeof value === 'number' && value >= 0 ? value : 0))
  return { x: left ?? 0, y: top ?? 0, w: Math.max(1, width ?? 1), h: Math.max(1, height ?? 1) }
}

const isMoved = (a: Body, b: Body) => JSON.stringify([placeOf(a), gridOf(a)]) !== JSON.stringify([placeOf(b), gridOf(b)])

const toTile = (tile: Body, marks: readonly TileMark[]) => ({
  name: typeof tile.name === 'string' ? tile.name : '',
  ...placeOf(tile),
  marks: [...marks],
})

/** Empty for tiles outside of containers. */
function titleOf(grid: string, containers: readonly Body[]) {
  const [containerId, tabId] = JSON.parse(grid) as [string, string] // Of `gridOf`.
  const found = containers.find(({ id }) => id === containerId)
  const tab = listOf(found?.tabs).find(({ id }) => id === tabId)
  const titles = [found?.title ?? containerId, tab?.title ?? tabId].filter((title) => typeof title === 'string' && title !== '')
  return titles.join(' / ')
}

function drawText(grids: Layout['grids'], undrawn: number): string[] {
  const used = new Set(grids.flatMap(({ before, after }) => [...before, ...after].flatMap(({ marks }) => marks)))
  const legend = Object.entries(markSigns).filter(([mark]) => [...used].some((one) => one === mark))
  return [
    ...grids.flatMap(({ title, before, after }) => [
      ...(title === '' ? [] : [cellsOf(title, maxColumns).join('')]),
      ...(isSamePicture(before, after) ? drawGrid(after) : ['Before', ...drawGrid(before), 'After', ...drawGrid(after)]),
    ]),
    legend.map(([mark, sign]) => `${sign} ${mark}`).join('   '),
    ...(undrawn === 0 ? [] : [`Not drawn: ${undrawn} tiles that stay as they are`]),
  ]
}

const isSamePicture = (before: readonly LayoutTile[], after: readonly LayoutTile[]) =>
  [...before, ...after].every(({ marks }) => marks.every((mark) => mark === 'changed'))

const maxColumns = 60

const columnOf = (x: number) => Math.round((Math.min(x, gridColumns) * (maxColumns - 1)) / gridColumns)

/** The line of each edge. Every tile has room for its name, and a tall one takes little more. */
function linesOf(tiles: readonly LayoutTile[]): ReadonlyMap<number, number> {
  const edges = [...new Set(tiles.flatMap(({ y, h }) => [y, y + h]))].sort((a, b) => a - b)
  let line = 0
  return new Map(
    edges.map((edge, i) => {
      const previous = edges[i - 1]
      if (previous !== undefined) line += Math.min(4, Math.max(2, Math.round((edge - previous) / 3)))
      return [edge, line]
    }),
  )
}

/** The directions in which a line leaves a cell. */
const [up, down, toLeft, toRight] = [1, 2, 4, 8]

const boxCharacters: Readonly<Record<number, string>> = {
  [up | down]: '│',
  [toLeft | toRight]: '─',
  [down | toRight]: '┌',
  [down | toLeft]: '┐',
  [up | toRight]: '└',
  [up | toLeft]: '┘',
  [up | down | toRight]: '├',
  [up | down | toLeft]: '┤',
  [toLeft | toRight | down]: '┬',
  [toLeft | toRight | up]: '┴',
  [up | down | toLeft | toRight]: '┼',
}

/** The lines that meet in each cell, and the text between them. A cell is empty behind a grapheme of two columns. */
interface Canvas {
  readonly masks: readonly number[][]
  readonly texts: readonly string[][]
}

function drawGrid(tiles: readonly LayoutTile[]): string[] {
  if (tiles.length === 0) return ['(no tiles)']
  const lines = linesOf(tiles)
  const rowsOf = <T>(value: T): T[][] => Array.from({ length: Math.max(...lines.values()) + 1 }, () => new Array<T>(maxColumns).fill(value))
  const canvas: Canvas = { masks: rowsOf(0), texts: rowsOf(' ') }
  for (const tile of tiles) drawBox(canvas, tile, lines)
  return canvas.masks.map((row, line) =>
    row
      .map((mask, column) => (mask === 0 ? (canvas.texts[line]?.[column] ?? ' ') : (boxCharacters[mask] ?? ' ')))
      .join('')
      .trimEnd(),
  )
}

function drawBox({ masks, texts }: Canvas, { name, marks, x, y, w, h }: LayoutTile, lines: ReadonlyMap<number, number>) {
  const [first, last, top, bottom] = [columnOf(x), columnOf(x + w), lines.get(y) ?? 0, lines.get(y + h) ?? 0]
  const join = (line: number, column: number, mask: number): void => {
    const row = masks[line]
    if (row?.[column] !== undefined) row[column] |= mask
  }
  for (let column = first; column < last; column++)
    for (const line of [top, bottom]) {
      join(line, column, toRight)
      join(line, column + 1, toLeft)
    }
  for (let line = top; line < bottom; line++)
    for (const column of [first, last]) {
      join(line, column, down)
      join(line + 1, column, up)
    }
  const label = cellsOf([...marks.map((mark) => markSigns[mark]), name].join(' '), last - first - 3)
  texts[top + 1]?.splice(first + 2, label.length, ...label)
}

/** At most so many cells: a grapheme of two columns has an empty one behind it. */
function cellsOf(text: string, length: number) {
  const cells = graphemesOf(printable(text)).flatMap((grapheme) => [grapheme, ...new Array<string>(graphemeWidth(grapheme) - 1).fill('')])
  if (cells.length <= length) return cells
  const end = Math.max(0, length - 1)
  return [...cells.slice(0, cells[end] === '' ? end - 1 : end), '…']
}
