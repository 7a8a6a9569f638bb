// Owns how a dashboard stands in a file. What the types of this tool do not accept goes into `raw`, so that nothing is lost.
import type * as z from 'zod'
import { comparable } from '../compose.ts'
import { dashboardKind, listOf, ownTags } from '../kinds/dashboard-kind.ts'
import { declaredDashboard } from '../kinds/declared-dashboard.ts'
import type { Body } from '../kinds/kind.ts'
import { valueAt } from '../variants.ts'
import type { Naming } from './naming.ts'
import type { Written } from './written.ts'
import { plainValue, writtenValue } from './written-value.ts'

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
