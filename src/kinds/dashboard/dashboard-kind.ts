import type * as z from 'zod'
import { isMapping } from '../../platform/core/keys.ts'
import { namesAtMost } from '../../platform/core/text.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { comparable, withoutEmpty } from '../compare.ts'
import { clearing, encode, spellFields, withPlainNumbers } from '../derive.ts'
import {
  type Body,
  type DeclaredObject,
  type FileContext,
  itemId,
  type Kind,
  type KindWire,
  listOf,
  pageFor,
  type ResolveContext,
  type ResolvedDeclaration,
} from '../kind.ts'
import { kindLabels } from '../kind-names.ts'
import { canonicalText, tagMarkers, withoutMarkerTags } from '../marker.ts'
import { type DeclaredDashboard, declaredDashboard } from './dashboard.ts'
import { containerIdOf, expandDashboard, tileInFile } from './dashboard-file.ts'
import { dashboardCollection, toDashboardBody, validateDashboard } from './dashboard-wire.ts'
import { arrangeTiles, byId, effectiveTile, nameOf, withFilterIds, withTileIds } from './tiles.ts'

function resolveDashboard(declared: DeclaredObject<DeclaredDashboard>, context: ResolveContext): ResolvedDeclaration {
  const { body, diagnostics } = encode(declaredDashboard, declared, context)
  const { raw, ...fields } = body
  const { tiles, keptTiles, ...kept } = arrangeTiles(
    listOf(fields.tiles).map(({ raw, ...tile }): Body => ({ ...tile, ...(isMapping(raw) && raw) })),
    declared,
    context,
  )
  const whole: Body = { ...fields, ...kept, tiles, ...(isMapping(raw) && raw) }
  return { body: whole, diagnostics, keptTiles: whole.tiles === tiles ? keptTiles : undefined }
}

/** `Errors (stacked bar, Traces)`, `tiles[2] (number, SQL)`. A file can leave the chart out, or its type. */
function describeTile({ name, config }: Body, index: number, nameOf: (id: unknown) => string) {
  const { displayType, configType, sourceId }: Body = isMapping(config) ? config : {}
  const data = configType === 'sql' ? 'SQL' : sourceId === undefined ? undefined : nameOf(sourceId)
  const parts = [displayType === undefined ? undefined : String(displayType).replaceAll('_', ' '), data].filter(
    (part) => part !== undefined,
  )
  const label = String(name || `tiles[${index}]`)
  return parts.length === 0 ? label : `${label} (${parts.join(', ')})`
}

const withoutId = ({ id: _, ...item }: Body): Body => item

export const provisionerWrites = 'the provisioner of the server overwrites the dashboards that it made, with their ownership markers'

export function createDashboardKind(): Kind<DeclaredObject<DeclaredDashboard>> {
  const kind: Kind<DeclaredObject<DeclaredDashboard>> = {
    name: 'dashboard',
    label: kindLabels.dashboard,
    collection: dashboardCollection,
    schema: declaredDashboard,
    hasHiddenParts: true,
    canRewrite: true,
    notInFiles: 'the parts that the API does not return',
    clearsBy: clearing(declaredDashboard),
    resolve: resolveDashboard,
    summarize: ({ tiles }, nameOf) =>
      namesAtMost(
        12,
        listOf(tiles).map((tile, i) => describeTile(tile, i, nameOf)),
      ) || 'no tiles',
    toBody: toDashboardBody,
    page: ({ id }) => pageFor('dashboards', id),
    validate: validateDashboard,
    // HyperDX 2.36 stores the field, and its API does not answer it.
    check: (_, stored) =>
      stored?.provisioned === true ? [{ rule: 'provisioned', message: `${provisionerWrites}; remove its file there first` }] : [],
    removal: ({ id, tiles }, after, isPatch) => ({ id, tiles: listOf(tiles), tilesAfter: after && listOf(after.tiles), isPatch }),
    ...tagMarkers,
    canonical: ({ tags, tiles, ...body }) =>
      withoutEmpty({
        ...body,
        tags: withoutMarkerTags(tags).toSorted(),
        tiles: Array.isArray(tiles) ? listOf(tiles).map(effectiveTile).toSorted(byId) : tiles,
      }),
    // The ids of new ones are known only after the write.
    basePart: ({ tiles, filters, ...body }) => ({
      ...body,
      ...(Array.isArray(tiles) && { tiles: listOf(tiles).map(withoutId) }),
      ...(Array.isArray(filters) && { filters: listOf(filters).map(withoutId) }),
    }),
    // A tile that loses its id loses its alerts.
    withStoredIds: (desired, stored) => ({
      ...desired,
      tiles: withTileIds(listOf(desired.tiles), listOf(stored.tiles)),
      ...(Array.isArray(desired.filters) && { filters: withFilterIds(listOf(desired.filters), listOf(stored.filters)) }),
    }),
    file: {},
    toFile: (body, context) => spellDashboard(kind, body, context),
  }
  return kind
}

// How `pull` spells a dashboard in a file. What no schema accepts goes to `raw`, so that nothing is lost.

function spellDashboard(kind: KindWire, body: Body, context: FileContext): Body {
  const { spelled, declared = {} } = context
  const tilesInFile = readTiles(spelled, listOf(declared.tiles))
  const tiles = inFileOrder(listOf(body.tiles), tilesInFile).map((tile) => spellTile(kind, tile, context, tilesInFile))
  const filterIds = listOf(declared.filters).map(({ id }) => id)
  const filtersInFile = listOf(ownValue(spelled, 'filters'))
  const fields = spellFields(
    {
      value: { ...body, tags: withoutMarkerTags(body.tags), tiles: [] },
      normalized: comparable(kind, { ...body, tiles: [] }),
      spelled: { filters: listOf(body.filters).map(({ id }) => filtersInFile[filterIds.indexOf(id)]) },
    },
    declaredDashboard,
    context,
  )
  // Every dashboard needs these fields, and tags can hold the ownership marker.
  const raw = [...invalidFields({ ...fields, tiles }, declaredDashboard), ...rawIn(spelled)].filter(
    (field) => !['name', 'tags', 'tiles'].includes(field),
  )
  const { containers, ...rest } = withRaw(fields, raw, body)
  const layout = spellLayout({ tiles, containers: listOf(containers), tilesInFile }, ownValue(spelled, 'rows'))
  const ordered = Object.entries(rest).flatMap(([field, value]) => (field === 'tiles' ? Object.entries(layout) : [[field, value] as const]))
  return Object.fromEntries(ordered)
}

interface SpelledTile {
  readonly spelled: Body
  /** The tile in the expanded form, with its place in the grid. */
  readonly declared: Body
  /** The index of its row. */
  readonly row: number | undefined
}

type SpelledTiles = ReadonlyMap<unknown, SpelledTile>

/** The tiles of the file by id. */
function readTiles(spelled: unknown, declared: readonly Body[]): SpelledTiles {
  const rows = ownValue(spelled, 'rows')
  // The expanded form has the tiles in this order.
  const tiles = Array.isArray(rows)
    ? listOf(rows).flatMap((row, i) => listOf(row.tiles).map((tile) => ({ spelled: tile, row: i })))
    : listOf(ownValue(spelled, 'tiles')).map((tile) => ({ spelled: tile, row: undefined }))
  return new Map(declared.map((one, i) => [identityOf(one), { declared: one, ...(tiles[i] ?? { spelled: {}, row: undefined }) }]))
}

/** A tile that only the file has is the same object in the declared body and in the one that is spelled. */
const identityOf = (tile: Body): unknown => tile.id ?? tile

const rawIn = (spelled: unknown) => Object.keys(ownValue(spelled, 'raw') ?? {})

/** The grid places tiles by their coordinates, so a file can list them in any order. New tiles come last. */
function inFileOrder(tiles: readonly Body[], tilesInFile: SpelledTiles): readonly Body[] {
  const ids = [...tilesInFile.keys()]
  const indexOf = (tile: Body) => (tilesInFile.has(identityOf(tile)) ? ids.indexOf(identityOf(tile)) : ids.length)
  // `plan` matches tiles with the same name, or without a name, by their order in the service.
  const sameName = Map.groupBy(tiles, nameOf)
  return tiles.toSorted((a, b) => indexOf(a) - indexOf(b)).map((tile) => sameName.get(nameOf(tile))?.shift() ?? tile)
}

/** These fields stay at the top of a tile even when `raw` has them too. */
const requiredByTiles: readonly string[] = ['name', 'x', 'y', 'w', 'h']

const tileSchema = declaredDashboard.shape.tiles.element

/** Spells a tile with its place in `x`, `y`, `w` and `h`. */
function spellTile(kind: KindWire, tile: Body, context: FileContext, tilesInFile: SpelledTiles): Body {
  const inFile = tilesInFile.get(identityOf(tile))?.spelled
  const [normalized] = listOf(comparable(kind, { tiles: [tile] }).tiles)
  const { name: _, ...others } = spellFields({ value: tile, normalized, spelled: inFile }, tileSchema, context)
  // A file can have a name where the tile has none: `raw: { name: '' }`.
  const fields = { ...(tile.name ? { name: tile.name } : ownValue(inFile?.raw, 'name') === '' && { name: inFile?.name }), ...others }
  const raw = [
    ...invalidFields(fields, tileSchema).filter((field) => !requiredByTiles.includes(field)),
    // Old charts have `series` in place of `config`.
    ...(tile.config === undefined && tile.series !== undefined ? ['series'] : []),
    ...rawIn(inFile),
  ]
  return { [itemId]: identityOf(tile), ...withRaw(fields, raw, tile.name ? tile : { ...tile, name: '' }) }
}

const invalidFields = (fields: Body, schema: z.ZodType) =>
  (schema.safeParse(fields).error?.issues ?? []).flatMap(({ path: [field] }) => (field === undefined ? [] : [String(field)]))

function withRaw(fields: Body, names: readonly string[], body: Body): Body {
  const raw = [...new Set(names)]
    .filter((name) => ownValue(body, name) != null)
    .map((name) => [name, withPlainNumbers(body[name])] as const)
  if (raw.length === 0) return fields
  const moved = raw.map(([name]) => name).filter((name) => !requiredByTiles.includes(name))
  return { ...Object.fromEntries(Object.entries(fields).filter(([name]) => !moved.includes(name))), raw: Object.fromEntries(raw) }
}

interface Layout {
  /** Spelled tiles, with `x`, `y`, `w` and `h`. */
  readonly tiles: readonly Body[]
  readonly containers: readonly Body[]
  readonly tilesInFile: SpelledTiles
}

interface LayoutInput extends Layout {
  /** Whether tiles without a place in the file stay so, unless they were moved. */
  readonly keepsAutomatic: boolean
}

interface SpelledLayout {
  readonly fields: Body
  /** The tiles in the order of the expanded form. */
  readonly order: readonly Body[]
}

/** The fields `tiles` and `containers`, or `rows` where the file has them and they can express the containers. */
function spellLayout(input: Layout, rows: unknown): Body {
  const [kept, placed] = [
    { ...input, keepsAutomatic: true },
    { ...input, keepsAutomatic: false },
  ]
  const candidates = Array.isArray(rows) ? [inRows(kept, listOf(rows)), inRows(placed, listOf(rows)), inTiles(kept)] : [inTiles(kept)]
  return (candidates.find((one) => isSameLayout(one, input)) ?? inTiles(placed)).fields
}

function isSameLayout({ fields, order }: SpelledLayout, { tiles, containers }: Layout) {
  const { value } = expandDashboard({ name: '', ...fields })
  const layoutOf = (tile: Body): Body => ({ ...placeOf(tile), containerId: tile.containerId, tabId: tile.tabId })
  const boxes = containers.map(({ collapsed = false, ...others }) => ({ ...others, collapsed }))
  const spelled = [...listOf(fields.tiles), ...listOf(fields.rows).flatMap((row) => listOf(row.tiles))]
  // Rows without a name are one below the other, so a tile can be above its row.
  const isPossible = order.length === tiles.length && spelled.every(({ y = 0 }) => Number(y) >= 0)
  return isPossible && canonicalText([value.tiles.map(layoutOf), value.containers ?? []]) === canonicalText([order.map(layoutOf), boxes])
}

const placeOf = ({ x, y, w, h }: Body): Body => ({ x, y, w, h })

/** A tile keeps the form of its place. A new one, and an automatic one that moved, get `at`. `offset` is the upper edge of its row. */
function spellPlace(tile: Body, { tilesInFile, keepsAutomatic }: LayoutInput, offset = 0): Body {
  const { name: _, x, y, w, h, ...others } = tile
  const name = tile.name === undefined ? {} : { name: tile.name }
  const { spelled, declared = {} } = tilesInFile.get(ownValue(tile, itemId)) ?? {}
  const inRow = offset === 0 ? y : Number(y) - offset
  const isAutomatic = spelled !== undefined && spelled.at === undefined && spelled.x === undefined
  if (keepsAutomatic && isAutomatic && canonicalText(placeOf(tile)) === canonicalText(placeOf(declared)))
    return { ...name, ...(spelled.w !== undefined && { w }), ...(spelled.h !== undefined && { h }), ...others }
  const at = [x, inRow, w, h]
  return spelled?.x === undefined && tileInFile.shape.at.safeParse(at).success ? { ...name, at, ...others } : { ...tile, y: inRow }
}

const inTiles = (input: LayoutInput): SpelledLayout => ({
  fields: {
    tiles: input.tiles.map((tile) => spellPlace(tile, input)),
    ...(input.containers.length > 0 && { containers: input.containers }),
  },
  order: input.tiles,
})

/** A row of the result: a container, or one without a name, with its index in the file. */
interface SpelledRow {
  readonly container?: Body | undefined
  readonly index?: number
}

/** Rows with a name in the order of the containers; those without one stay where they are. */
function inRows(input: LayoutInput, inFile: readonly Body[]): SpelledLayout {
  const { tiles, containers, tilesInFile } = input
  const isStored = ({ name, id = containerIdOf(String(name)) }: Body) => containers.some((one) => one.id === id)
  const left = [...containers]
  const kept = inFile.flatMap((row, index): SpelledRow[] => {
    if (row.name === undefined) return [{ index }]
    return isStored(row) ? [{ container: left.shift() }] : []
  })
  const hasUnnamed = kept.some(({ container }) => container === undefined)
  const rows: readonly SpelledRow[] = [...(hasUnnamed ? [] : [{}]), ...kept, ...left.map((container) => ({ container }))]
  const unnamed = rows.filter(({ container }) => container === undefined)
  const rowOf = (tile: Body): SpelledRow | undefined => {
    if (tile.containerId !== undefined) return rows.find(({ container }) => container?.id === tile.containerId)
    const index = tilesInFile.get(ownValue(tile, itemId))?.row
    return unnamed.find((row) => index !== undefined && row.index === index) ?? unnamed.at(-1)
  }
  const byRow = Map.groupBy(tiles, rowOf)
  const filled = rows.filter((row) => row.container !== undefined || row.index !== undefined || byRow.has(row))
  let top = 0
  const spelled = filled.map((row): Body => {
    const { container, index } = row
    const own = byRow.get(row) ?? []
    // Rows without a name are one below the other.
    const offset = container === undefined ? top : 0
    if (container === undefined) top = Math.max(top, ...own.map(({ y, h }) => Number(y) + Number(h)))
    // A row has no tabs.
    const { id, title, tabs: _, ...style } = container ?? {}
    return {
      [itemId]: id ?? `row ${index}`,
      ...(container !== undefined && { ...(containerIdOf(String(title)) !== id && { id }), name: title }),
      ...style,
      tiles: own.map((tile) => withoutContainer(spellPlace(tile, input, offset))),
    }
  })
  return { fields: { rows: spelled }, order: filled.flatMap((row) => byRow.get(row) ?? []) }
}

const withoutContainer = ({ containerId: _, ...tile }: Body) => tile
