import * as z from 'zod'
import { digestOfText } from '../../platform/core/digest.ts'
import { isEmpty, isMapping } from '../../platform/core/keys.ts'
import { managedPart, withoutDefaults } from '../compare.ts'
import type { Body } from '../kind.ts'
import { canonicalText } from '../marker.ts'
import { builtConfig, writtenConfig } from './dashboard.ts'
import { displayTypeOf } from './dashboard-wire.ts'

export const byId = (a: Body, b: Body): number => (String(a.id ?? a.name) < String(b.id ?? b.name) ? -1 : 1)

/** Removes `showOperandSeries` from a tile without formulas, where it has no effect and the server drops it. */
export function effectiveTile(tile: Body): Body {
  const { config } = tile
  if (!isMapping(config) || !isEmpty(config.formulas) || !Object.hasOwn(config, 'showOperandSeries')) return tile
  const { showOperandSeries: _, ...effective } = config
  return { ...tile, config: effective }
}

/**
 * Gives tiles the ids that they already have: by id, by name, by name and type, or, because a renamed tile is the same tile, by content. Tiles that
 * share a name, or have none, are paired by their content first. Of several that could be the same tile, none is.
 */
export function withTileIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const [names, others] = [Map.groupBy(desired, nameOf), Map.groupBy(before, nameOf)]
  const isShared = (name: unknown) => name === undefined || [names, others].some((all) => (all.get(name)?.length ?? 0) > 1)
  const sharedNameAndContentOf = (tile: Body): unknown => (isShared(nameOf(tile)) ? nameAndContentOf(tile) : undefined)
  const ids = pair(desired, before, [idOf, sharedNameAndContentOf], [nameOf, trimmedNameOf, nameAndTypeOf, contentOf])
  return desired.map((tile) => (ids.has(tile) ? { ...tile, id: ids.get(tile) } : tile))
}

/** Gives every filter an id, as an update requires. The server replaces unknown ids. */
export function withFilterIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const ids = pair(desired, before, [idOf, nameOf, trimmedNameOf])
  return desired.map((filter) => ({ ...filter, id: ids.get(filter) ?? filter.id ?? digestOfText(String(filter.name), 24) }))
}

type KeyOf = (item: Body) => unknown

/**
 * The ids of stored items, by the desired ones that they belong to. Items without a partner are paired by each key in turn. Several with one of
 * the first keys are as good as the same, so that their order decides; by one of the `others`, only a single one has a partner.
 */
function pair(desired: readonly Body[], before: readonly Body[], equal: readonly KeyOf[], others: readonly KeyOf[] = []) {
  const ids = new Map<Body, unknown>()
  const left = new Set(before)
  for (const keyOf of [...equal, ...others]) {
    const rest = desired.filter((one) => !ids.has(one))
    if (rest.length === 0 || left.size === 0) break
    const known = Map.groupBy(left, keyOf)
    for (const [key, items] of Map.groupBy(rest, keyOf)) {
      const found = known.get(key) ?? []
      if (key === undefined || (others.includes(keyOf) && found.length + items.length > 2)) continue
      for (const [i, one] of found.slice(0, items.length).entries()) {
        ids.set(items[i] ?? one, one.id)
        left.delete(one)
      }
    }
  }
  return ids
}

const idOf = ({ id }: Body): unknown => id

const nameOf = ({ name }: Body): unknown => (name === '' ? undefined : name)

const nameAndTypeOf = (tile: Body): unknown => `${String(trimmedNameOf(tile))}\n${String(displayTypeOf(tile))}`

export const nameAndContentOf = (tile: Body): unknown => `${String(tile.name)}\n${contentOf(tile)}`

/** Some servers trim names. */
const trimmedNameOf = ({ name }: Body): unknown => (typeof name === 'string' && name.trim()) || undefined

const chart = z.union([builtConfig, writtenConfig])

/** The content that files can declare, as text. Fields that the server adds do not make it another tile. */
const contentOf = ({ config }: Body) =>
  canonicalText(isMapping(config) ? withoutDefaults(managedPart(config, undefined, chart), chart) : config)
