// Owns which tile of a changed dashboard is which tile of the one that exists. A tile that loses its id loses its alerts.
import * as z from 'zod'
import { canonicalText } from '../marker.ts'
import { normalForm } from '../normal-form.ts'
import { managedPart } from '../overlay.ts'
import { assumed } from './assumed.ts'
import type { Body } from './kind.ts'
import { builtConfig, writtenConfig } from './tile-config.ts'

/** By name; what is left over by what it shows, because a tile that was merely renamed is the same tile. */
export function withTileIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const left = new Set(before)
  const ids = new Map<Body, unknown>()
  const pair = (tile: Body, known: Body | undefined): void => {
    if (known === undefined) return
    left.delete(known)
    ids.set(tile, known.id)
  }
  const byName = groupBy(before, ({ name }) => String(name))
  for (const tile of desired) pair(tile, byName.get(String(tile.name))?.shift())
  const rest = desired.filter((tile) => !ids.has(tile))
  if (rest.length > 0 && left.size > 0) {
    const [wanted, known] = [groupBy(rest, contentOf), groupBy([...left], contentOf)]
    for (const [content, [tile, second]] of wanted) {
      const [only, another] = known.get(content) ?? []
      // Two that show the same could be mistaken for each other.
      if (tile !== undefined && second === undefined && another === undefined) pair(tile, only)
    }
  }
  return desired.map((tile) => {
    const id = ids.get(tile)
    return id === undefined ? tile : { ...tile, id }
  })
}

const chart = z.union([builtConfig, writtenConfig])

/** What it shows as far as files have a say in it: what the server adds makes no other tile of it. */
const contentOf = ({ config }: Body): string => canonicalText(normalForm(managedPart(config, undefined, chart), assumed))

function groupBy(tiles: readonly Body[], keyOf: (tile: Body) => string): Map<string, Body[]> {
  const groups = new Map<string, Body[]>()
  for (const tile of tiles) {
    const key = keyOf(tile)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [tile])
    else group.push(tile)
  }
  return groups
}
