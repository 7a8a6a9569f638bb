import * as z from 'zod'
import { digestOfText } from '../../platform/core/digest.ts'
import { isEmpty, isMapping } from '../../platform/core/keys.ts'
import { managedPart, withoutDefaults } from '../compare.ts'
import type { Body } from '../kind.ts'
import { canonicalText } from '../marker.ts'
import { builtConfig, writtenConfig } from './tile-schema.ts'

export const byId = (a: Body, b: Body): number => (String(a.id ?? a.name) < String(b.id ?? b.name) ? -1 : 1)

/** Removes `showOperandSeries` from a tile without formulas, where it has no effect and the server drops it. */
export function effectiveTile(tile: Body): Body {
  const { config } = tile
  if (!isMapping(config) || !isEmpty(config.formulas) || !Object.hasOwn(config, 'showOperandSeries')) return tile
  const { showOperandSeries: _, ...effective } = config
  return { ...tile, config: effective }
}

/** Gives tiles the ids that they already have. They are matched by id or name, and the rest by content, because a renamed tile is the same tile. */
export function withTileIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const repeatsNames = new Set(before.map(tileNameOf)).size < before.length
  const { ids, left } = pair(desired, before, [idOf, ...(repeatsNames ? [nameAndContentOf] : []), tileNameOf, trimmedNameOf])
  const rest = desired.filter((tile) => !ids.has(tile))
  if (rest.length > 0 && left.size > 0) {
    const [wanted, known] = [Map.groupBy(rest, contentOf), Map.groupBy(left, contentOf)]
    for (const [content, [tile, second]] of wanted) {
      const [only, another] = known.get(content) ?? []
      // Two tiles with the same content could be mistaken for each other.
      if (tile !== undefined && only !== undefined && second === undefined && another === undefined) ids.set(tile, only.id)
    }
  }
  return desired.map((tile) => (ids.has(tile) ? { ...tile, id: ids.get(tile) } : tile))
}

/** Gives every filter an id, as an update requires. The server replaces unknown ids. */
export function withFilterIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const { ids } = pair(desired, before, [idOf, tileNameOf, trimmedNameOf])
  return desired.map((filter) => ({ ...filter, id: ids.get(filter) ?? filter.id ?? digestOfText(String(filter.name), 24) }))
}

interface Pairing {
  /** The ids of stored items, by the desired ones that they belong to. */
  readonly ids: Map<Body, unknown>
  /** The stored items without a desired one. */
  readonly left: ReadonlySet<Body>
}

/** Pairs items by each key in turn. */
function pair(desired: readonly Body[], before: readonly Body[], keys: readonly ((item: Body) => unknown)[]): Pairing {
  const ids = new Map<Body, unknown>()
  const left = new Set(before)
  for (const keyOf of keys) {
    const known = Map.groupBy(left, keyOf)
    for (const one of desired) {
      const key = keyOf(one)
      const found = ids.has(one) || key === undefined ? undefined : known.get(key)?.shift()
      if (found === undefined) continue
      ids.set(one, found.id)
      left.delete(found)
    }
  }
  return { ids, left }
}

const idOf = ({ id }: Body): unknown => id

const tileNameOf = ({ name }: Body): unknown => name

/** Two tiles may have the same name. */
export const nameAndContentOf = (tile: Body): unknown => `${String(tile.name)}\n${contentOf(tile)}`

/** Some servers trim names. */
const trimmedNameOf = ({ name }: Body): unknown => (typeof name === 'string' ? name.trim() : undefined)

const chart = z.union([builtConfig, writtenConfig])

/** The content that files can declare, as text. Fields that the server adds do not make it another tile. */
const contentOf = ({ config }: Body): string =>
  canonicalText(isMapping(config) ? withoutDefaults(managedPart(config, undefined, chart), chart) : config)
