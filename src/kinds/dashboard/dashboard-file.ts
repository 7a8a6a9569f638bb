// How files spell dashboards. A tile can leave its place to the layout, and `rows` replaces `tiles` and `containers`. The expanded form is
// compared with the service, and digests are made of it, so that another spelling is not a change.
import * as z from 'zod'
import { isMapping, withoutUndefined } from '../../platform/core/keys.ts'
import { quoteLong, shellQuote } from '../../platform/core/text.ts'
import { type FormWalk, mapForms, metaOf, ownValue, type Schema } from '../../platform/documents/schema.ts'
import { refuseField, withSourceIds, word } from '../fields.ts'
import { type Body, listOf } from '../kind.ts'
import { containerStyle, type DeclaredDashboard, declaredDashboard, declaredTile } from './dashboard.ts'

const { x, y, w, h } = declaredTile.shape

const at = z.tuple([z.int().min(0).max(23), z.int().min(0), z.int().min(1).max(24), z.int().min(1)]).meta({
  description: 'Position and size: column, row, width and height. The grid has 24 columns.',
  accepts: '[x, y, w, h], such as [0, 0, 12, 6]',
})

export const tileInFile = declaredTile
  .extend({ at: at.optional(), x: x.optional(), y: y.optional(), w: w.optional(), h: h.optional() })
  .meta({ id: 'tile' })

type TileInFile = z.output<typeof tileInFile>

const maxNamedRows = 50
const maxTiles = 500

const row = z
  .strictObject({
    name: word(256).optional().meta({ description: 'Title of the row, which becomes a container. Coordinates start at 0 inside it.' }),
    id: word(256).optional().meta({ description: 'Id of the container. The default is made of the name.' }),
    tiles: z.array(tileInFile).max(maxTiles),
    collapsed: z.boolean().optional().meta({ serverDefault: false }),
    collapsible: containerStyle.collapsible,
    bordered: containerStyle.bordered,
  })
  .meta({ id: 'row' })

export const dashboardFields = declaredDashboard.extend({
  tiles: z
    .array(tileInFile)
    .max(maxTiles)
    .optional()
    .meta({ description: 'The tiles. Without a position, they are placed in rows from left to right.' }),
  rows: z.array(row).max(100).optional().meta({ description: 'Rows of tiles, instead of tiles. A row with a name becomes a container.' }),
})

export type DashboardFields = z.output<typeof dashboardFields>

/** A dashboard in a file. Without tiles, it is for the queries of alerts. */
export const dashboardInFile = dashboardFields
  .superRefine(({ tiles, rows, containers }, context) => {
    const refuse: Refuse = (...problem) => refuseField(context, ...problem)
    for (const [i, tile] of (tiles ?? []).entries()) checkTile(tile, ['tiles', i], refuse)
    if (rows === undefined) return
    for (const field of ['tiles', 'containers'] as const)
      if ({ tiles, containers }[field] !== undefined) refuse([field], 'cannot be combined with rows')
    if (rows.filter(({ name }) => name !== undefined).length > maxNamedRows)
      refuse(['rows'], `must have at most ${maxNamedRows} rows with a name`)
    if (rows.reduce((count, row) => count + row.tiles.length, 0) > maxTiles) refuse(['rows'], `must have at most ${maxTiles} tiles`)
    checkRows(rows, refuse)
  })
  .meta({ aliases: { id: 'adopt' } })

export const wholeDashboard = dashboardInFile.superRefine(({ tiles, rows }, context) => {
  if (declaresNoTiles({ tiles, rows })) context.addIssue({ code: 'custom', path: ['tiles'], message: 'give tiles, or rows with tiles' })
})

const onlyInFiles: ReadonlySet<string> = new Set('source appliesToSources connection at rows raw adopt previousKey'.split(' '))

/** Whether a document has a field that only files have, at its place. A request may also leave out what files do not require. */
function isOfFiles(document: Body, isAnswer: boolean) {
  let isFound = false
  const map: FormWalk<undefined>['map'] = ({ map, form, inner }) => {
    for (const [key, field] of Object.entries<Schema>(form?.shape ?? {})) {
      const { ref } = metaOf(field)
      const isLeftOut = field instanceof z.ZodDefault || (ref?.isImplied === true && map[ref.wire] === undefined)
      isFound ||= Object.hasOwn(map, key) ? onlyInFiles.has(key) : isLeftOut && !isAnswer
    }
    for (const key of Object.keys(map)) inner(key)
    return map
  }
  mapForms(document, dashboardInFile, { map }, undefined)
  return isFound
}

const placeInApi = declaredTile.pick({ x: true, y: true, w: true, h: true }).strip()

/** Whether a document is a dashboard in the form of the API: an answer, or a request, whose tiles have whole places. */
export function isApiDashboard(document: Body): boolean {
  const { tiles, filters } = document
  const items = [...listOf(tiles), ...listOf(filters)]
  if (listOf(tiles).length === 0 || !items.every(isMapping)) return false
  const isAnswer =
    ['teamId', 'createdAt', 'updatedAt'].some((field) => field in document) || items.some((item) => 'id' in item || 'series' in item)
  return !isOfFiles(document, isAnswer) && (isAnswer || listOf(tiles).every((tile) => placeInApi.safeParse(tile).success))
}

export const declaresNoTiles = (spelled: unknown): boolean =>
  ownValue(spelled, 'tiles') === undefined && ownValue(spelled, 'rows') === undefined

type Refuse = (path: readonly PropertyKey[], message: string, needs?: readonly string[]) => void

function checkRows(rows: readonly z.output<typeof row>[], refuse: Refuse) {
  const ids = new Map<string, string>()
  for (const [i, row] of rows.entries()) {
    checkTilesOfRow(row, i, refuse)
    const { name, id = containerIdOf(name ?? ''), tiles: _, ...style } = row
    if (name === undefined) {
      for (const [field, value] of Object.entries({ ...style, id: row.id }))
        if (value !== undefined) refuse(['rows', i, field], 'is only for rows with a name')
      continue
    }
    if (id === '') refuse(['rows', i, 'name'], 'has no letter and no digit that an id could be made of; add an id')
    else if (ids.has(id)) refuse(['rows', i, 'name'], `has the same id "${id}" as the row ${JSON.stringify(ids.get(id))}`)
    ids.set(id, name)
  }
}

function checkTilesOfRow({ tiles }: z.output<typeof row>, i: number, refuse: Refuse) {
  for (const [j, tile] of tiles.entries()) {
    const path = ['rows', i, 'tiles', j]
    checkTile(tile, path, refuse)
    for (const field of ['containerId', 'tabId'] as const)
      if (tile[field] !== undefined) refuse([...path, field], 'is only for tiles outside of rows')
  }
}

function checkTile(tile: TileInFile, path: readonly PropertyKey[], refuse: Refuse) {
  const given = (['x', 'y', 'w', 'h'] as const).filter((field) => tile[field] !== undefined)
  if (tile.at !== undefined && given.length > 0) refuse([...path, 'at'], `cannot be combined with ${given.join(', ')}`)
  if ((tile.x === undefined) !== (tile.y === undefined))
    refuse([...path, given.includes('x') ? 'x' : 'y'], 'needs both x and y; without a position, the tile is placed automatically', [
      'x',
      'y',
    ])
}

/** The id of the container that a row becomes: `Error rate` → `error-rate`. Empty for a name without letters and digits. */
export const containerIdOf = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')

/** Replaces the short forms by those of the API: `rows` by containers, and names and places that are left out. */
export function expandDashboard({ rows, tiles = [], ...fields }: DashboardFields): {
  readonly value: DeclaredDashboard
  readonly tilePaths: readonly (readonly PropertyKey[])[]
} {
  if (rows === undefined) {
    const places = placeInGroups(tiles)
    const value = { ...fields, tiles: tiles.map((tile, i) => withPlace(tile, places[i])) }
    return { value: withSourceIds(value), tilePaths: tiles.map((_, i) => ['tiles', i]) }
  }
  let top = 0
  const placed = rows.map((one, i) => {
    const offset = one.name === undefined ? top : 0
    const places = placeTiles(one.tiles.map(toLayout)).map((place) => ({ ...place, y: place.y + offset }))
    // Rows without a name share the grid of the dashboard, one below the other.
    if (one.name === undefined) top = Math.max(top, ...places.map((place) => place.y + place.h))
    const container = one.name === undefined ? {} : { containerId: one.id ?? containerIdOf(one.name) }
    return one.tiles.map((tile, j) => ({ tile: { ...withPlace(tile, places[j]), ...container }, path: ['rows', i, 'tiles', j] }))
  })
  const containers = rows.flatMap(({ name, id, tiles: _, collapsed = false, ...style }) =>
    name === undefined ? [] : [{ id: id ?? containerIdOf(name), title: name, collapsed, ...withoutUndefined(style) }],
  )
  const all = placed.flat()
  const value = { ...fields, tiles: all.map(({ tile }) => tile), ...(containers.length > 0 && { containers }) }
  return { value: withSourceIds(value), tilePaths: all.map(({ path }) => path) }
}

/** Containers and their tabs have a grid each. */
export const gridOf = ({ containerId = '', tabId = '' }: { readonly containerId?: unknown; readonly tabId?: unknown }): string =>
  JSON.stringify([containerId, tabId])

function placeInGroups(tiles: readonly TileInFile[]): readonly (Place | undefined)[] {
  const groups = [...Map.groupBy(tiles, gridOf).values()]
  const places = groups.flatMap((group) => placeTiles(group.map(toLayout)).map((place, i) => [group[i], place] as const))
  const placeOf = new Map(places)
  return tiles.map((tile) => placeOf.get(tile))
}

const toLayout = (tile: TileInFile) => ({ ...tile, displayType: tile.config?.displayType })

function withPlace({ at: _, ...tile }: TileInFile, place: Place = { x: 0, y: 0, w: 1, h: 1 }) {
  return { ...tile, ...place }
}

/** Whether a document is an export of the web app, a template, or a file of the provisioner. Their tiles have names and sources in their charts. */
export function isWebAppDashboard(document: unknown): boolean {
  if (!isMapping(document) || !Array.isArray(document.tiles)) return false
  const isOfWebApp = ({ name, config }: Body) =>
    name === undefined && isMapping(config) && ['name', 'where', 'select', 'sqlTemplate'].some((field) => Object.hasOwn(config, field))
  return typeof document.version === 'string' || listOf(document.tiles).some((tile) => isMapping(tile) && isOfWebApp(tile))
}

export const singleDashboard = 'a single dashboard, which create-dashboard takes'

/** Whether a document is one dashboard with the field names of the API, and not a file with declarations. */
export const isSingleDashboard = (document: unknown): document is Body =>
  isMapping(document) && Array.isArray(document.tiles) && 'name' in document

/** `name` is the path of a file, or of an input. */
export const describeWebAppFile = (name: string): string => `is a dashboard of the web app; ${translateWith(name)}`

export const translateWith = (name: string): string =>
  `translate it with: watchkeeper import ${/\.(?:ya?ml|json)$/.test(name) ? shellQuote(quoteLong(name)) : 'FILE'}`

interface TileSize {
  readonly w: number
  readonly h: number
}

export interface Place extends TileSize {
  readonly x: number
  readonly y: number
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

const sizes: Readonly<Record<string, TileSize>> = {
  number: { w: 6, h: 4 },
  search: { w: 24, h: 8 },
  event_patterns: { w: 24, h: 8 },
  markdown: { w: 24, h: 3 },
}

const defaultSize = (displayType: unknown): TileSize =>
  (typeof displayType === 'string' && Object.hasOwn(sizes, displayType) ? sizes[displayType] : undefined) ?? { w: 12, h: 6 }

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
