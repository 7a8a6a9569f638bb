// Owns how a file refers to what exists: by a key of these files, by a name that only one thing bears, else by its id.
import { Pending } from '../change.ts'
import type { Directory, Noun } from '../directory.ts'
import { listOf } from '../kinds/dashboard-kind.ts'
import type { Body } from '../kinds/kind.ts'
import type { World } from '../world.ts'
import { isWritable } from './writable.ts'

export type TargetSection = 'dashboards' | 'savedSearches'

export interface Naming {
  source(id: unknown): unknown
  /** The fields of a channel that say which webhook it is. */
  webhook(id: unknown): Body
  target(section: TargetSection, id: unknown): unknown
  tile(dashboardId: unknown, tileId: unknown): unknown
}

/** By section and id. */
export type KeysById = Readonly<Record<TargetSection, ReadonlyMap<string, string>>>

const nouns: Readonly<Record<TargetSection, Noun>> = { dashboards: 'dashboard', savedSearches: 'savedSearch' }

export function createNaming({ dashboards }: Pick<World, 'dashboards'>, directory: Directory, keys: KeysById): Naming {
  const onlyName = (noun: Noun, id: unknown): string | undefined => {
    const name = directory.nameOf(id)
    if (name === undefined || !isWritable(name)) return undefined
    const found = directory.byName(noun, name)
    return 'id' in found && found.id === id ? name : undefined
  }
  return {
    source(id) {
      const name = onlyName('source', id)
      return name === undefined ? id : { source: name }
    },
    webhook(id) {
      const name = onlyName('webhook', id)
      return name === undefined ? { webhookId: id } : { webhook: name }
    },
    target(section, id) {
      if (id instanceof Pending) return id.key
      const key = keys[section].get(String(id))
      if (key !== undefined) return key
      const name = onlyName(nouns[section], id)
      return name === undefined ? { id } : { name }
    },
    tile(dashboardId, tileId) {
      if (tileId instanceof Pending) return tileId.tile
      const tiles = listOf(dashboards.find(({ id }) => id === dashboardId)?.tiles)
      const name = tiles.find(({ id }) => id === tileId)?.name
      const isOnly = typeof name === 'string' && name !== '' && tiles.filter((tile) => tile.name === name).length === 1
      return isOnly && isWritable(name) ? name : { id: tileId }
    },
  }
}
