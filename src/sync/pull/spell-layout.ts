// How `pull` writes the layout of a dashboard: as short as possible in a new file, and in the form of an existing one.
import { valueAt } from '../../documents/schema.ts'
import { containerIdOf, type DashboardFields, expandDashboard, gridOf, tileInFile } from '../../kinds/dashboard/dashboard-file.ts'
import { inReadingOrder, type Place, shortenPlaces } from '../../kinds/dashboard/layout.ts'
import type { Body } from '../../kinds/kind.ts'
import { canonicalText } from '../../kinds/marker.ts'

/** The layout of a dashboard in its file. */
interface LayoutInFile {
  /** The rows, if the file has rows instead of tiles. */
  readonly rows: readonly Body[] | undefined
  /** By id. */
  readonly tiles: ReadonlyMap<string, { readonly written: Body; readonly place: Place; readonly row: number | undefined }>
}

interface LayoutInput {
  /** Rendered tiles, with `x`, `y`, `w` and `h`. */
  readonly tiles: readonly Body[]
  /** Rendered containers. */
  readonly containers: readonly Body[] | undefined
  readonly inFile: LayoutInFile | undefined
  /** Whether the server has containers, which rows with a name become. */
  readonly canNameRows: boolean
  /** The ids of rendered tiles. It gets those of the tiles and rows of the result. */
  readonly itemIds: Map<unknown, string>
}

/** The fields `tiles` and `containers`, or `rows`. */
export function spellLayout(input: LayoutInput): Body {
  const { tiles, containers = [], inFile } = input
  const plain = { tiles, ...(input.containers !== undefined && { containers: input.containers }) }
  if (!tiles.every(isPlaced)) return plain
  const usesRows = inFile === undefined ? containers.length > 0 : inFile.rows !== undefined
  const candidates = [
    ...(usesRows && canHaveRows(input) ? [() => inRows(input, false), () => inRows(input, true)] : []),
    () => inTiles(input, false),
    () => inTiles(input, true),
    () => inTiles(input, true, true),
  ]
  for (const candidate of candidates) {
    const fields = candidate()
    if (isAccepted(fields) && isSameLayout(fields, plain)) return fields
  }
  return plain
}

const isPlaced = (tile: Body): tile is Body & Place =>
  tileInFile.pick({ x: true, y: true, w: true, h: true }).required().safeParse(placeOf(tile)).success

/** Rows without a name are one below the other. A tile above its row would have a negative position. */
function isAccepted(fields: Body): boolean {
  const { at, y } = tileInFile.shape
  // The layout was made of these fields.
  const { tiles = [], rows = [] } = fields as Pick<DashboardFields, 'tiles' | 'rows'>
  return [...tiles, ...rows.flatMap((row) => row.tiles)].every((tile) => at.safeParse(tile.at).success && y.safeParse(tile.y).success)
}

const placeOf = ({ x, y, w, h }: Body): Body => ({ x, y, w, h })

const isSamePlace = (a: Body | Place, b: Body | Place | undefined): boolean =>
  b !== undefined && (['x', 'y', 'w', 'h'] as const).every((field) => a[field] === b[field])

/** Rows have no tabs, and all of their tiles are in a container of the dashboard or in none. */
function canHaveRows({ tiles, containers = [], canNameRows }: LayoutInput): boolean {
  const ids = containers.map(({ id }) => id)
  return (
    canNameRows &&
    new Set(ids).size === ids.length &&
    containers.every(({ tabs }) => tabs === undefined) &&
    tiles.every(({ containerId, tabId }) => tabId === undefined && (containerId === undefined || ids.includes(containerId)))
  )
}

/** Whether the fields have the same meaning as the plain ones. The order counts for tiles with the same name, because `plan` matches them by it. */
function isSameLayout(fields: Body, plain: Body): boolean {
  const meaning = (body: Body): string => {
    const { value } = expandDashboard({ name: '', ...body })
    const tiles: readonly Body[] = value.tiles
    const byName = [...Map.groupBy(tiles, nameOf)].map(([name, alike]) =>
      canonicalText([name, alike.map((tile) => ({ ...placeOf(tile), containerId: tile.containerId, tabId: tile.tabId }))]),
    )
    const containers = (value.containers ?? []).map(({ collapsed = false, ...container }) => ({ ...container, collapsed }))
    return canonicalText({ tiles: byName.toSorted(), containers })
  }
  return meaning(fields) === meaning(plain)
}

/** `isExplicit`: each tile has its place. `keepsOrder`: the tiles are in the order of the service. */
function inTiles(input: LayoutInput, isExplicit: boolean, keepsOrder = input.inFile !== undefined): Body {
  const { tiles, containers } = input
  const groups = [...Map.groupBy(tiles, gridOf).values()].map((group) => spellGroup(group, input, isExplicit))
  const spelled = new Map(groups.flatMap((group) => [...group]))
  const order = keepsOrder ? tiles : groups.flatMap((group) => [...group.keys()])
  return { tiles: order.map((tile) => spelled.get(tile) ?? tile), ...(containers !== undefined && { containers }) }
}

interface PlannedRow {
  /** Undefined for a row without a name. */
  readonly container: Body | undefined
  /** Index in the file. */
  readonly index: number | undefined
}

function inRows(input: LayoutInput, isExplicit: boolean): Body {
  const { tiles, inFile, itemIds } = input
  const planned = planRows(input)
  const unnamed = planned.filter(({ container }) => container === undefined)
  const rowOf = (tile: Body): PlannedRow | undefined => {
    if (tile.containerId !== undefined) return planned.find(({ container }) => container?.id === tile.containerId)
    const row = inFile?.tiles.get(itemIds.get(tile) ?? '')?.row
    return unnamed.find(({ index }) => index !== undefined && index === row) ?? unnamed.at(-1)
  }
  const byRow = Map.groupBy(tiles, rowOf)
  let top = 0
  const rows = planned.flatMap((row) => {
    const own = byRow.get(row) ?? []
    const { container } = row
    if (container === undefined && own.length === 0 && row.index === undefined) return []
    // Rows without a name are one below the other.
    const offset = container === undefined ? top : 0
    if (container === undefined) top = Math.max(top, ...own.map(({ y, h }) => Number(y) + Number(h)))
    const shifted = own.map((tile) => withId({ ...tile, y: Number(tile.y) - offset }, tile, itemIds))
    const spelled = [...spellGroup(shifted, input, isExplicit, offset).values()].map((tile) =>
      withId(omit(tile, ['containerId']), tile, itemIds),
    )
    const { id, title, ...style } = container ?? {}
    const name = title === undefined ? {} : { ...(containerIdOf(String(title)) !== id && { id }), name: title }
    const rendered = { ...name, ...style, tiles: spelled }
    itemIds.set(rendered, id === undefined ? `row ${row.index ?? 'new'}` : `row of ${String(id)}`)
    return [rendered]
  })
  return { rows }
}

/** In the order of the file, as long as it is the order of the containers. Without a file, the row without a name is the first. */
function planRows({ containers = [], inFile }: LayoutInput): readonly PlannedRow[] {
  const written = inFile?.rows ?? []
  const idOf = (row: Body): unknown => row.id ?? (row.name === undefined ? undefined : containerIdOf(String(row.name)))
  const kept = written.flatMap((row, index): readonly PlannedRow[] => {
    if (row.name === undefined) return [{ container: undefined, index }]
    const container = containers.find(({ id }) => id === idOf(row))
    return container === undefined ? [] : [{ container, index }]
  })
  const added = containers.filter((container) => !kept.some((row) => row.container === container))
  const rows = [...kept, ...added.map((container) => ({ container, index: undefined }))]
  const order = rows.flatMap(({ container }) => container ?? [])
  const sorted = order.every((container, i) => container === containers[i])
    ? rows
    : [
        ...rows.filter(({ container }) => container === undefined),
        ...rows
          .filter(({ container }) => container !== undefined)
          .toSorted((a, b) => containers.indexOf(a.container ?? {}) - containers.indexOf(b.container ?? {})),
      ]
  const hasUnnamed = sorted.some(({ container }) => container === undefined)
  return hasUnnamed ? sorted : [{ container: undefined, index: undefined }, ...sorted]
}

export const omit = (fields: Body, names: readonly string[]): Body =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

function withId(tile: Body, original: Body, itemIds: Map<unknown, string>): Body {
  const id = itemIds.get(original)
  if (id !== undefined) itemIds.set(tile, id)
  return tile
}

/** The tiles of one grid in their new order, each with its spelling. `offset` is the first row of the grid in the file's own place. */
function spellGroup(group: readonly Body[], input: LayoutInput, isExplicit: boolean, offset = 0): ReadonlyMap<Body, Body> {
  const { inFile, itemIds } = input
  const spell = (tile: Body, place: Body): Body => {
    const { name, x: _, y: __, w: ___, h: ____, ...others } = tile
    return withId({ name, ...place, ...others }, tile, itemIds)
  }
  if (inFile === undefined) {
    const sorted = inStableOrder(group)
    const short = shortenPlaces(sorted.map((tile) => ({ ...toPlace(tile), displayType: displayTypeOf(tile) })))
    return new Map(sorted.map((tile, i) => [tile, spell(tile, isExplicit ? { at: toAt(tile) } : omit({ ...short[i] }, ['displayType']))]))
  }
  const usesFields = [...inFile.tiles.values()].some(({ written }) => written.x !== undefined)
  return new Map(
    group.map((tile) => {
      const known = inFile.tiles.get(itemIds.get(tile) ?? '')
      if (known?.written.x !== undefined || (known === undefined && usesFields)) return [tile, tile]
      const isAutomatic = known !== undefined && known.written.at === undefined
      if (isExplicit || !isAutomatic || !isSamePlace({ ...tile, y: Number(tile.y) + offset }, known.place))
        return [tile, spell(tile, { at: toAt(tile) })]
      const { w, h } = known.written
      return [tile, spell(tile, { ...(w !== undefined && { w: tile.w }), ...(h !== undefined && { h: tile.h }) })]
    }),
  )
}

/** Of a tile from the service, which always has a place. */
const toPlace = ({ x, y, w, h }: Body): Place => ({ x: Number(x), y: Number(y), w: Number(w), h: Number(h) })

const toAt = ({ x, y, w, h }: Body): readonly unknown[] => [x, y, w, h]

const displayTypeOf = (tile: Body): string | undefined => {
  const type = valueAt(tile, ['config', 'displayType'])
  return typeof type === 'string' ? type : undefined
}

/** The name in the service. */
const nameOf = (tile: Body): unknown => valueAt(tile, ['raw', 'name']) ?? tile.name

/** In reading order. Tiles with the same name keep their order, because `plan` matches them by it. */
function inStableOrder(tiles: readonly Body[]): readonly Body[] {
  const sameName = Map.groupBy(tiles, nameOf)
  return tiles.toSorted((a, b) => inReadingOrder(toPlace(a), toPlace(b))).map((tile) => sameName.get(nameOf(tile))?.shift() ?? tile)
}
