// Owns the two sides of a pull about one object, both as a file would say them: what the files say, and what the service has.
// Whatever differs between them is a real difference; how the file spells what is the same does not matter.
import type { Change } from '../change.ts'
import type { Declared } from '../declarations.ts'
import type { Section } from '../declarations-schema.ts'
import { listOf } from '../kinds/dashboard-kind.ts'
import type { Actual, Body } from '../kinds/kind.ts'
import type { Kinds } from '../kinds/kinds.ts'
import { managedPart } from '../overlay.ts'
import type { Naming } from './naming.ts'
import type { Written } from './written.ts'
import { writtenAlert, writtenSavedSearch } from './written-alert.ts'
import { type SaidOfDashboard, writtenDashboard } from './written-dashboard.ts'

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
