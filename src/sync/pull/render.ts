import type * as z from 'zod'
import { isMapping, withoutUndefined } from '../../core/keys.ts'
import type { ReadDocument } from '../../documents/document.ts'
import { elementOf, formOf, isRequired, ownValue, type Schema, valueAt } from '../../documents/schema.ts'
import { schemaDiagnostics } from '../../documents/validate.ts'
import { declaredAlert } from '../../kinds/alert/alert.ts'
import { comparable, managedPart } from '../../kinds/compare.ts'
import { spellConnection } from '../../kinds/connection.ts'
import { declaredDashboard } from '../../kinds/dashboard/dashboard.ts'
import type { Place } from '../../kinds/dashboard/layout.ts'
import { shortSourceNames } from '../../kinds/declaration-fields.ts'
import type { Directory, Noun } from '../../kinds/directory.ts'
import { type Body, type FileContext, type Kind, listOf, type StoredObject } from '../../kinds/kind.ts'
import { type KindName, PendingId } from '../../kinds/kind-names.ts'
import { type Declared, fileSchemas, isOf, type Kinds } from '../../kinds/kinds.ts'
import { canonicalText, withoutMarkerTags } from '../../kinds/marker.ts'
import { declaredSavedSearch } from '../../kinds/saved-search/saved-search.ts'
import type { Change } from '../plan/change.ts'
import type { StoredObjects } from '../plan/stored-objects.ts'
import type { NewObject } from './select.ts'
import { omit, spellLayout } from './spell-layout.ts'

/** An object as a file declares it. */
interface Rendered {
  readonly fields: Body
  /** The ids of tiles, which files do not contain, by rendered tile. */
  readonly itemIds: ReadonlyMap<unknown, string>
}

/** What a file declares and what the service has, rendered in the same way: every difference is a real one. */
export interface RenderedChange {
  readonly before: Rendered
  readonly after: Rendered
}

export interface RenderContext extends Pick<FileContext, 'directory' | 'sources'> {
  readonly kinds: Kinds
  readonly references: ReferenceRenderer
  /** Whether the server has containers, which rows with a name become. */
  readonly canNameRows: boolean
}

/** Renders an object that no file declares. */
export function renderNewObject({ kind: name, key, stored }: Pick<NewObject, 'kind' | 'key' | 'stored'>, context: RenderContext): Rendered {
  const { kinds, references, canNameRows } = context
  const kind: Kind = kinds[name]
  const body = kind.toBody(stored)
  if (kind.toFile !== undefined) return { fields: kind.toFile(body, { ...context, key, written: undefined }), itemIds: new Map() }
  if (name === 'dashboard') return renderDashboard(body, { kind, references, canNameRows })
  const managed = managedPart(kind.pulledPart?.(body, {}) ?? body, undefined, kind.schema)
  return name === 'alert' ? renderAlert(managed, { kind, references }) : renderSavedSearch(managed, { kind, references })
}

/** Renders an object that a file declares and the service has. */
export function renderChange(
  declared: Declared,
  { desired = {}, stored }: Change & { readonly stored: StoredObject },
  context: RenderContext,
): RenderedChange {
  const { kinds, references, canNameRows } = context
  const { key, value, written } = declared
  const kind: Kind = kinds[declared.kind]
  const storedBody = kind.toBody(stored)
  const body = kind.pulledPart?.(storedBody, desired) ?? storedBody
  const before = withTileIds(kind.carryOverIds(desired, body))
  const after = managedPart(body, before, kind.schema)
  const inFile = isOf('dashboard')(declared) ? readDashboardInFile(declared, before) : undefined
  const render = (side: Body): Rendered => {
    if (kind.toFile !== undefined) return { fields: kind.toFile(side, { ...context, key, written }), itemIds: new Map() }
    if (declared.kind === 'savedSearch') return renderSavedSearch(side, { kind, references, written })
    if (declared.kind === 'alert')
      return renderAlert(side, { kind, references, usesList: 'channels' in value && value.channels !== undefined })
    return renderDashboard(side, { kind, references, canNameRows, inFile })
  }
  const rendered = render(before)
  // A renamed tile already has its new name here. The file has the old one, so the alert must also change.
  const tile = 'tile' in value && typeof value.tile === 'string' ? { tile: value.tile } : {}
  return { before: { ...rendered, fields: { ...rendered.fields, ...tile } }, after: render(after) }
}

/** Gives tiles that the service does not have ids of their own. */
const withTileIds = (body: Body): Body =>
  Array.isArray(body.tiles) ? { ...body, tiles: listOf(body.tiles).map((tile, i) => ({ ...tile, id: tile.id ?? `new ${i}` })) } : body

function readDashboardInFile({ value: { tiles, raw = {} }, written }: Declared<'dashboard'>, body: Body): DashboardInFile {
  const ids = listOf(body.tiles).map(({ id }) => String(id))
  const rows = ownValue(written, 'rows')
  // In the order of the expanded form.
  const places = Array.isArray(rows)
    ? listOf(rows).flatMap((row, i) => listOf(row.tiles).map((tile) => ({ written: tile, row: i })))
    : listOf(ownValue(written, 'tiles')).map((tile) => ({ written: tile, row: undefined }))
  const filters = listOf(ownValue(written, 'filters'))
  return {
    raw: Object.keys(raw),
    rows: Array.isArray(rows) ? listOf(rows) : undefined,
    tiles: new Map(
      tiles.map((tile, i) => {
        const { written: fields = {}, row } = places[i] ?? { row: undefined }
        return [ids[i] ?? '', { name: tile.name, raw: Object.keys(tile.raw ?? {}), written: fields, row, place: tile }]
      }),
    ),
    filters: new Map(listOf(body.filters).map(({ id }, i) => [id, filters[i]])),
  }
}

/** Equal in a file. A field that is null is not equal to a field that is absent. */
export const isEqual = (a: unknown, b: unknown): boolean => canonicalText(a) === canonicalText(b)

/** Explains why a file cannot declare these fields; undefined when it can. */
export function explainUnwritable(fields: Body, kind: KindName): string | undefined {
  const schema = fileSchemas[kind]
  const parsed = schema.safeParse(fields)
  if (parsed.success) return undefined
  const [diagnostic] = schemaDiagnostics(parsed.error, withoutPlaces(fields), schema)
  return diagnostic?.message ?? 'is not valid in a file'
}

const withoutPlaces = (value: unknown): ReadDocument => ({
  value,
  locationOf: () => ({ file: '' }),
  locationOfKey: () => ({ file: '' }),
})

/** Renders references: by a key in these files, else by a name if it is unique, else by id. */
export interface ReferenceRenderer {
  source(id: unknown): unknown
  /** Undefined for the only connection. `written` is the same tile in the file. */
  connection(id: unknown, written: unknown): unknown
  /** The fields of a channel that identify its webhook. */
  webhook(id: unknown): Body
  target(kind: TargetKind, id: unknown): unknown
  tile(dashboardId: unknown, tileId: unknown): unknown
}

type TargetKind = 'dashboard' | 'savedSearch'

/** By kind and id. */
export type KeysById = Readonly<Record<TargetKind, ReadonlyMap<string, string>>>

export function createReferenceRenderer(
  { dashboards, sources }: Pick<StoredObjects, 'dashboards' | 'sources'>,
  directory: Directory,
  keys: KeysById,
): ReferenceRenderer {
  const uniqueName = (noun: Noun, id: unknown): string | undefined => {
    const name = directory.nameOf(id)
    if (name === undefined) return undefined
    const found = directory.byName(noun, name)
    return 'id' in found && found.id === id ? name : undefined
  }
  return {
    source(id) {
      const name = uniqueName('source', id)
      return name === undefined ? id : { source: name }
    },
    connection: (id, written) => spellConnection(id, { written, directory, sources }),
    webhook(id) {
      const name = uniqueName('webhook', id)
      return name === undefined ? { webhookId: id } : { webhook: name }
    },
    target(kind, id) {
      if (id instanceof PendingId) return id.key
      const key = keys[kind].get(String(id))
      if (key !== undefined) return key
      const name = uniqueName(kind, id)
      return name === undefined ? { id } : { name }
    },
    tile(dashboardId, tileId) {
      if (tileId instanceof PendingId) return tileId.tile
      const tiles = listOf(dashboards.find(({ id }) => id === dashboardId)?.tiles)
      const name = tiles.find(({ id }) => id === tileId)?.name
      const isUnique = typeof name === 'string' && name !== '' && tiles.filter((tile) => tile.name === name).length === 1
      return isUnique ? name : { id: tileId }
    },
  }
}

interface AlertOptions {
  readonly kind: Kind
  readonly references: ReferenceRenderer
  /** Whether a single channel is written as `channels`. */
  readonly usesList?: boolean
}

export function renderAlert(body: Body, { kind, references, usesList = false }: AlertOptions): Rendered {
  const alert = withPlainNumbers(comparable(kind, body))
  const channels = listOf(alert.channels).map((channel) => renderChannel(channel, references))
  const [channel] = channels
  const values: Body = {
    ...alert,
    ...renderTarget(alert, references),
    thresholdType: alert.thresholdType === 'above' ? undefined : alert.thresholdType,
    scheduleStartAt: typeof alert.scheduleStartAt === 'string' ? alert.scheduleStartAt.replace(/\.000Z$/, 'Z') : alert.scheduleStartAt,
    ...(channels.length === 1 && !usesList ? { channel, channels: undefined } : { channels: channels.length === 0 ? undefined : channels }),
  }
  const fields = Object.fromEntries(Object.keys(declaredAlert.shape).map((name) => [name, values[name]]))
  return { fields: withoutUndefined(fields), itemIds: new Map() }
}

function renderTarget({ source, dashboardId, tileId, savedSearchId }: Body, references: ReferenceRenderer): Body {
  if (source === 'saved_search') return { savedSearch: savedSearchId == null ? undefined : references.target('savedSearch', savedSearchId) }
  return {
    dashboard: dashboardId == null ? undefined : references.target('dashboard', dashboardId),
    tile: tileId == null ? undefined : references.tile(dashboardId, tileId),
  }
}

function renderChannel({ type, webhookId, ...others }: Body, references: ReferenceRenderer): Body {
  return withoutUndefined({ type, ...(webhookId == null ? {} : references.webhook(webhookId)), ...others })
}

interface SavedSearchOptions {
  readonly kind: Kind
  readonly references: ReferenceRenderer
  /** The same in the file. */
  readonly written?: unknown
}

export function renderSavedSearch(body: Body, { kind, references, written }: SavedSearchOptions): Rendered {
  const value = { ...body, tags: withoutMarkerTags(body.tags) }
  const normalized = { ...comparable(kind, value), ...(value.tags.length > 0 && { tags: value.tags }) }
  const { name, tags, ...others } = renderValue({ value, normalized, written }, declaredSavedSearch, references)
  return { fields: withoutUndefined({ name, tags, ...others }), itemIds: new Map() }
}

/** What the file has already, and keeps in the same place. */
export interface DashboardInFile {
  /** Fields below `raw`. */
  readonly raw: readonly string[]
  readonly rows: readonly Body[] | undefined
  /** By id. */
  readonly tiles: ReadonlyMap<string, TileInFile>
  /** By id, as the file has them. */
  readonly filters: ReadonlyMap<unknown, Body | undefined>
}

interface TileInFile {
  readonly name: string
  readonly raw: readonly string[]
  /** As the file has it. */
  readonly written: Body
  /** Its place by the file. */
  readonly place: Place
  /** Index of its row. */
  readonly row: number | undefined
}

interface DashboardOptions {
  readonly kind: Kind
  readonly references: ReferenceRenderer
  readonly canNameRows: boolean
  readonly inFile?: DashboardInFile | undefined
}

/** Every dashboard needs these fields, and tags can hold the ownership marker. */
const neverRaw: readonly string[] = ['name', 'tags', 'tiles']

/** Fields that the schema of declarations rejects go to `raw`, so that nothing is lost. */
export function renderDashboard(body: Body, { kind, references, inFile, canNameRows }: DashboardOptions): Rendered {
  const itemIds = new Map<unknown, string>()
  const tiles = inFileOrder(listOf(body.tiles), inFile).map((tile, i) => {
    const rendered = renderTile(tile, i, { kind, references, inFile: inFile?.tiles.get(String(tile.id)) })
    itemIds.set(rendered, String(tile.id))
    return rendered
  })
  const value = { ...body, tags: withoutMarkerTags(body.tags), tiles: [] }
  const normalized = { ...comparable(kind, value), ...(value.tags.length > 0 && { tags: value.tags }) }
  const written = { filters: listOf(body.filters).map(({ id }) => inFile?.filters.get(id)) }
  const { name, tags, ...others } = renderValue({ value, normalized, written }, declaredDashboard, references)
  const fields = { name, ...(tags !== undefined && { tags }), tiles, ...omit(others, ['tiles']) }
  const raw = [...invalidFields(fields, declaredDashboard), ...(inFile?.raw ?? [])].filter((field) => !neverRaw.includes(field))
  const { containers, ...rest } = withRaw(fields, raw, body)
  const layout = spellLayout({
    tiles,
    containers: Array.isArray(containers) ? listOf(containers) : undefined,
    inFile,
    canNameRows,
    itemIds,
  })
  const ordered = Object.entries(rest).flatMap(([field, item]) => (field === 'tiles' ? Object.entries(layout) : [[field, item] as const]))
  return { fields: Object.fromEntries(ordered), itemIds }
}

/** The grid places tiles by their coordinates, so a file can list them in any order. New tiles come last. */
function inFileOrder(tiles: readonly Body[], inFile: DashboardInFile | undefined): readonly Body[] {
  if (inFile === undefined) return tiles
  const ids = [...inFile.tiles.keys()]
  const indexOf = ({ id }: Body): number => (ids.includes(String(id)) ? ids.indexOf(String(id)) : ids.length)
  const nameOf = ({ name }: Body): string => String(name ?? '')
  // `plan` matches tiles with the same name, or without a name, by their order in the service.
  const sameName = Map.groupBy(tiles, nameOf)
  return tiles.toSorted((a, b) => indexOf(a) - indexOf(b)).map((tile) => sameName.get(nameOf(tile))?.shift() ?? tile)
}

/** These fields stay at the top of a tile even when `raw` has them too. */
const requiredByTiles: readonly string[] = ['name', 'x', 'y', 'w', 'h']

const tileSchema = declaredDashboard.shape.tiles.element

interface TileOptions {
  /** Of dashboards. */
  readonly kind: Kind
  readonly references: ReferenceRenderer
  readonly inFile: TileInFile | undefined
}

function renderTile(tile: Body, index: number, { kind, references, inFile }: TileOptions): Body {
  const [normalized] = listOf(comparable(kind, { tiles: [tile] }).tiles)
  // The service allows tiles without a name, files do not.
  const isNameless = (tile.name ?? '') === ''
  const name = isNameless ? (inFile?.name ?? `Tile ${index + 1}`) : tile.name
  const { name: _, ...others } = renderValue(
    { value: { ...tile, name: 'any' }, normalized, written: inFile?.written },
    tileSchema,
    references,
  )
  const fields = { name, ...others }
  const raw = [
    ...(isNameless ? ['name'] : []),
    ...invalidFields(fields, tileSchema).filter((field) => !requiredByTiles.includes(field)),
    // Old charts have `series` in place of `config`.
    ...(tile.config === undefined && tile.series !== undefined ? ['series'] : []),
    ...(inFile?.raw ?? []),
  ]
  return withRaw(fields, raw, isNameless ? { ...tile, name: '' } : tile)
}

const invalidFields = (fields: Body, schema: z.ZodType): readonly string[] =>
  (schema.safeParse(fields).error?.issues ?? []).flatMap(({ path: [field] }) => (field === undefined ? [] : [String(field)]))

function withRaw(fields: Body, names: readonly string[], body: Body): Body {
  const raw = [...new Set(names)]
    .filter((name) => valueAt(body, [name]) != null)
    .map((name) => [name, withPlainNumbers(body[name])] as const)
  if (raw.length === 0) return fields
  const moved = raw.map(([name]) => name).filter((name) => !requiredByTiles.includes(name))
  return { ...omit(fields, moved), raw: Object.fromEntries(raw) }
}

interface RenderInput {
  /** As the API returns it. */
  readonly value: unknown
  /** The same without defaults of the server and empty fields. */
  readonly normalized: unknown
  /** The same in the file; undefined where the file does not have it. */
  readonly written?: unknown
}

/** Read last, so written last. */
const lastFields: readonly string[] = ['numberFormat', 'raw']

/** Keeps the fields that the schema knows and that are not defaults of the server, in the order of the schema. */
function renderValue(
  input: RenderInput & { readonly value: Body },
  schema: Schema,
  references: Pick<ReferenceRenderer, 'source' | 'connection'>,
): Body
function renderValue(input: RenderInput, schema: Schema | undefined, references: Pick<ReferenceRenderer, 'source' | 'connection'>): unknown
function renderValue(
  { value, normalized, written }: RenderInput,
  schema: Schema | undefined,
  references: Pick<ReferenceRenderer, 'source' | 'connection'>,
): unknown {
  if (Array.isArray(value)) {
    const element = elementOf(schema)
    return value.map((item, i) =>
      renderValue({ value: item, normalized: ownValue(normalized, i), written: ownValue(written, i) }, element, references),
    )
  }
  const form = isMapping(value) ? formOf(schema, value) : undefined
  if (!isMapping(value) || form === undefined) return withPlainNumbers(value)
  const renderField = (name: string): readonly [string, unknown] => {
    const field = value[name]
    const short = shortSourceNames.get(name)
    if (short !== undefined)
      return renderSources(name, short, Array.isArray(field) ? field.map(references.source) : references.source(field), written)
    if (name === 'connectionId' && ownValue(written, name) === undefined) return ['connection', references.connection(field, written)]
    const inner = { value: field, normalized: ownValue(normalized, name), written: ownValue(written, name) }
    return [name, renderValue(inner, form.shape[name], references)]
  }
  return Object.fromEntries(
    Object.keys(form.shape)
      .toSorted((a, b) => lastFields.indexOf(a) - lastFields.indexOf(b))
      .filter((name) => ownValue(normalized, name) !== undefined || (value[name] != null && isRequired(form.shape[name])))
      .map(renderField)
      .filter(([, field]) => field !== undefined),
  )
}

/** In the short form, unless the file has the long one or a source has no unique name. */
function renderSources(name: string, short: string, sources: unknown, written: unknown): readonly [string, unknown] {
  const names = [sources].flat().map((one: unknown) => ownValue(one, 'source'))
  const isShort = ownValue(written, name) === undefined && names.every((one) => one !== undefined)
  if (!isShort) return [name, sources]
  return [short, Array.isArray(sources) ? names : names[0]]
}

/** Files cannot hold more digits than a JavaScript number, so exact numbers are rounded. */
function withPlainNumbers(value: Body): Body
function withPlainNumbers(value: unknown): unknown
function withPlainNumbers(value: unknown): unknown {
  if (JSON.isRawJSON(value)) return Number(value.rawJSON)
  if (Array.isArray(value)) return value.map(withPlainNumbers)
  return isMapping(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withPlainNumbers(item)])) : value
}
