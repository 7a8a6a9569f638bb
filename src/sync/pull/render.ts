import type * as z from 'zod'
import { quote } from '../../core/text.ts'
import { schemaDiagnostics } from '../../documents/diagnose.ts'
import type { ReadDocument } from '../../documents/document.ts'
import { elementOf, formOf, isRequired, ownValue, type Schema, valueAt } from '../../documents/schema-facts.ts'
import { declaredSavedSearch } from '../../resources/alerts/alert-declaration.ts'
import { comparable, isMap, managedPart } from '../../resources/compare.ts'
import { declaredDashboard } from '../../resources/dashboards/dashboard-declaration.ts'
import { dashboardKind, listOf, ownTags } from '../../resources/dashboards/dashboard-type.ts'
import type { Actual, Body, Kind, Kinds } from '../../resources/resource-type.ts'
import { savedSearchKind } from '../../resources/saved-searches/saved-search-type.ts'
import type { Change } from '../change.ts'
import type { Declared, Section } from '../declarations.ts'
import { findUnwritable, type Naming } from './select.ts'

// Owns what an object is in a file: its fields as a person would write them, or why no file can hold it.

export interface Written {
  readonly fields: Body
  /** By what items of lists are known although it does not stand in the file: the ids of tiles. */
  readonly identities: ReadonlyMap<unknown, string>
}

/** Why this cannot stand in a file; undefined when it can. */
export function whyUnwritable(fields: Body, schema: z.ZodType): string | undefined {
  const text = findUnwritable(fields)
  if (text !== undefined) return `"${quote(text, 60)}" would be read as an expression`
  const parsed = schema.safeParse(fields)
  if (parsed.success) return undefined
  const [diagnostic] = schemaDiagnostics(parsed.error, nowhere(fields), schema)
  return diagnostic?.message ?? 'is not what a file can hold'
}

const nowhere = (value: unknown): ReadDocument => ({ value, locationOf: () => ({ file: '' }), locationOfKey: () => ({ file: '' }) })

// Owns how a value of the API stands in a file: what no schema of ours knows and what the server assumes left out, fields in
// the order of the schema, sources by name.

/** A value, and what is left of it in the normal form of its kind. */
export interface Weighed {
  readonly full: unknown
  readonly lean: unknown
}

/** Where a form ends, people write what is least interesting. */
const lastFields: readonly string[] = ['numberFormat', 'raw']

export function writtenValue({ full, lean }: Weighed, schema: Schema | undefined, naming: Pick<Naming, 'source'>): unknown {
  if (Array.isArray(full)) {
    const element = elementOf(schema)
    return full.map((item, i) => writtenValue({ full: item, lean: ownValue(lean, i) }, element, naming))
  }
  const form = isMap(full) ? formOf(schema, full) : undefined
  if (!isMap(full) || form === undefined) return plainValue(full)
  const names = Object.keys(form.shape).toSorted((a, b) => lastFields.indexOf(a) - lastFields.indexOf(b))
  // What is empty goes, unless the field must be there.
  const kept = names.filter((name) => ownValue(lean, name) !== undefined || (full[name] != null && isRequired(form.shape[name])))
  return Object.fromEntries(kept.map((name) => [name, writtenField(name, { full: full[name], lean: ownValue(lean, name) })]))

  function writtenField(name: string, weighed: Weighed): unknown {
    if (name === 'sourceId' && typeof weighed.full === 'string') return naming.source(weighed.full)
    if (name === 'appliesToSourceIds' && Array.isArray(weighed.full)) return weighed.full.map(naming.source)
    return writtenValue(weighed, form?.shape[name], naming)
  }
}

/** As it is, but for numbers that only their text holds: a file cannot hold those either. */
export function plainValue(value: unknown): unknown {
  if (JSON.isRawJSON(value)) return Number(value.rawJSON)
  if (Array.isArray(value)) return value.map(plainValue)
  return isMap(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainValue(item)])) : value
}

// Owns how alerts and saved searches stand in a file.

interface AlertSayings {
  readonly kind: Kind
  readonly naming: Naming
  /** Whether a single channel stands in the list of channels. */
  readonly usesChannels?: boolean
}

/** In the order in which somebody reads an alert: what, where, when, whom, and what then. */
export function writtenAlert(body: Body, { kind, naming, usesChannels = false }: AlertSayings): Written {
  const lean = plainValue(comparable(kind, body)) as Body
  const channels = (lean.channels as readonly Body[] | undefined)?.map((channel) => writtenChannel(channel, naming)) ?? []
  const [channel] = channels
  const fields = {
    name: lean.name,
    ...writtenTarget(lean, naming),
    groupBy: lean.groupBy,
    threshold: lean.threshold,
    thresholdMax: lean.thresholdMax,
    thresholdType: lean.thresholdType === 'above' ? undefined : lean.thresholdType,
    interval: lean.interval,
    scheduleOffsetMinutes: lean.scheduleOffsetMinutes,
    scheduleStartAt: typeof lean.scheduleStartAt === 'string' ? lean.scheduleStartAt.replace(/\.000Z$/, 'Z') : lean.scheduleStartAt,
    numConsecutiveWindows: lean.numConsecutiveWindows,
    ...(channels.length === 1 && !usesChannels ? { channel } : { channels: channels.length === 0 ? undefined : channels }),
    message: lean.message,
    note: lean.note,
  }
  return { fields: withoutNothing(fields), identities: new Map() }
}

function writtenTarget({ source, dashboardId, tileId, savedSearchId }: Body, naming: Naming): Body {
  if (source === 'saved_search') return { savedSearch: savedSearchId == null ? undefined : naming.target('savedSearches', savedSearchId) }
  return {
    dashboard: dashboardId == null ? undefined : naming.target('dashboards', dashboardId),
    tile: tileId == null ? undefined : naming.tile(dashboardId, tileId),
  }
}

function writtenChannel({ type, webhookId, ...others }: Body, naming: Naming): Body {
  return withoutNothing({ type, ...(webhookId == null ? {} : naming.webhook(webhookId)), ...others })
}

export function writtenSavedSearch(body: Body, naming: Naming): Written {
  const full = { ...body, tags: ownTags(body.tags) }
  const lean = { ...comparable(savedSearchKind, full), ...(full.tags.length > 0 && { tags: full.tags }) }
  const { name, tags, ...others } = writtenValue({ full, lean }, declaredSavedSearch, naming) as Body
  return { fields: withoutNothing({ name, tags, ...others }), identities: new Map() }
}

const withoutNothing = (fields: Body): Body => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

// Owns how a dashboard stands in a file. What the types of this tool do not accept goes into `raw`, so that nothing is lost.

/** What a file says already, and goes on to say in the same place. */
export interface SaidOfDashboard {
  /** Fields that stand in `raw`. */
  readonly raw: readonly string[]
  readonly tiles: ReadonlyMap<string, SaidOfTile>
}

export interface SaidOfTile {
  readonly name: string
  readonly raw: readonly string[]
}

interface Sayings {
  readonly naming: Naming
  readonly said?: SaidOfDashboard
}

const tileSchema = declaredDashboard.shape.tiles.element

/** No schema accepts a dashboard without them, and a mark hangs on one of them. */
const neverRaw: readonly string[] = ['name', 'tags', 'tiles']

export function writtenDashboard(body: Body, { naming, said }: Sayings): Written {
  const identities = new Map<unknown, string>()
  const tiles = inSaidOrder(listOf(body.tiles), said).map((tile, i) => {
    const written = writtenTile(tile, i, { naming, said: said?.tiles.get(String(tile.id)) })
    identities.set(written, String(tile.id))
    return written
  })
  const full = { ...body, tags: ownTags(body.tags), tiles: [] }
  const lean = { ...comparable(dashboardKind, full), ...(full.tags.length > 0 && { tags: full.tags }) }
  const { name, tags, ...others } = writtenValue({ full, lean }, declaredDashboard, naming) as Body
  const fields = { name, ...(tags !== undefined && { tags }), tiles, ...without(others, ['tiles']) }
  const raw = [...failingFields(fields, declaredDashboard), ...(said?.raw ?? [])].filter((field) => !neverRaw.includes(field))
  return { fields: withRaw(fields, raw, body), identities }
}

/** Tiles are known by their names, so the order of a file need not be that of the service. */
function inSaidOrder(tiles: readonly Body[], said: SaidOfDashboard | undefined): readonly Body[] {
  if (said === undefined) return tiles
  const places = [...said.tiles.keys()]
  const placeOf = ({ id }: Body): number => (places.includes(String(id)) ? places.indexOf(String(id)) : places.length)
  const nameOf = ({ name }: Body): string => String(name ?? '')
  // Of those that share a name, or have none, plan takes the first for the first.
  const alike = Map.groupBy(tiles, nameOf)
  return tiles.toSorted((a, b) => placeOf(a) - placeOf(b)).map((tile) => alike.get(nameOf(tile))?.shift() ?? tile)
}

/** Fields that the grid and alerts need by their own names. */
const ofTheGrid: readonly string[] = ['name', 'x', 'y', 'w', 'h']

interface TileSayings {
  readonly naming: Naming
  readonly said: SaidOfTile | undefined
}

function writtenTile(tile: Body, index: number, { naming, said }: TileSayings): Body {
  const [lean] = listOf(comparable(dashboardKind, { tiles: [tile] }).tiles)
  // A tile may have no name in the service; in a file it must have one.
  const isNameless = (tile.name ?? '') === ''
  const name = isNameless ? (said?.name ?? `Tile ${index + 1}`) : tile.name
  const { name: _, ...others } = writtenValue({ full: { ...tile, name: 'any' }, lean }, tileSchema, naming) as Body
  const fields = { name, ...others }
  const raw = [
    ...(isNameless ? ['name'] : []),
    ...failingFields(fields, tileSchema).filter((field) => !ofTheGrid.includes(field)),
    // The form of charts before `config`.
    ...(tile.config === undefined && tile.series !== undefined ? ['series'] : []),
    ...(said?.raw ?? []),
  ]
  return withRaw(fields, raw, isNameless ? { ...tile, name: '' } : tile)
}

const failingFields = (fields: Body, schema: z.ZodType): readonly string[] =>
  (schema.safeParse(fields).error?.issues ?? []).flatMap(({ path: [field] }) => (field === undefined ? [] : [String(field)]))

function withRaw(fields: Body, names: readonly string[], body: Body): Body {
  const raw = [...new Set(names)].filter((name) => valueAt(body, [name]) != null).map((name) => [name, plainValue(body[name])] as const)
  if (raw.length === 0) return fields
  const moved = raw.map(([name]) => name).filter((name) => !ofTheGrid.includes(name))
  return { ...without(fields, moved), raw: Object.fromEntries(raw) }
}

const without = (fields: Body, names: readonly string[]): Body =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

// Owns the two sides of a pull about one object, both as a file would say them: what the files say, and what the service has.
// Whatever differs between them is a real difference; how the file spells what is the same does not matter.

export interface Sides {
  readonly before: Written
  readonly after: Written
}

interface Speakers {
  readonly kinds: Kinds
  readonly naming: Naming
}

/** An object that no file declares. */
export function writtenAnew(section: Section, actual: Actual, { kinds, naming }: Speakers): Written {
  const kind = kinds[section]
  const body = kind.bodyOf(actual)
  if (section === 'dashboards') return writtenDashboard(body, { naming })
  const managed = managedPart(body, undefined, kind.schema) as Body
  return section === 'alerts' ? writtenAlert(managed, { kind, naming }) : writtenSavedSearch(managed, naming)
}

/** Of an object that files declare and the service has. */
export function sidesOf(declared: Declared, { desired = {}, actual }: Change & { readonly actual: Actual }, speakers: Speakers): Sides {
  const { kinds, naming } = speakers
  const { section, value } = declared
  const kind = kinds[section]
  const body = kind.bodyOf(actual)
  const wanted = withAllIds(kind.withIds(desired, body))
  const managed = managedPart(body, wanted, kind.schema) as Body
  const write = (side: Body): Written => {
    if (section === 'savedSearches') return writtenSavedSearch(side, naming)
    if (section === 'alerts') return writtenAlert(side, { kind, naming, usesChannels: 'channels' in value && value.channels !== undefined })
    return writtenDashboard(side, { naming, said: saidOf(value as Declared<'dashboards'>['value'], wanted) })
  }
  const before = write(wanted)
  // Tiles get the names that they have in the service, and what refers to them by name must follow.
  const reference = 'tile' in value && typeof value.tile === 'string' ? { tile: value.tile } : {}
  return { before: { ...before, fields: { ...before.fields, ...reference } }, after: write(managed) }
}

/** A tile that the service does not have is known by its place. */
const withAllIds = (body: Body): Body =>
  Array.isArray(body.tiles) ? { ...body, tiles: listOf(body.tiles).map((tile, i) => ({ ...tile, id: tile.id ?? `new ${i}` })) } : body

function saidOf({ tiles, raw = {} }: Declared<'dashboards'>['value'], wanted: Body): SaidOfDashboard {
  const ids = listOf(wanted.tiles).map(({ id }) => String(id))
  return {
    raw: Object.keys(raw),
    tiles: new Map(tiles.map((tile, i) => [ids[i] ?? '', { name: tile.name, raw: Object.keys(tile.raw ?? {}) }])),
  }
}
