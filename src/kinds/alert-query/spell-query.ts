// How a file spells an alert that is on the tile of its query. The file has no such tile.
import * as z from 'zod'
import { isMapping } from '../../platform/core/keys.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { withoutDefaults } from '../compare.ts'
import { effectiveTile } from '../dashboard/tile-ids.ts'
import { builtConfig, writtenConfig } from '../dashboard/tile-schema.ts'
import type { Body, FileContext } from '../kind.ts'
import type { StoredMarker } from '../marker.ts'
import { PendingId } from '../pending-id.ts'
import { spellFields } from '../spell.ts'

/**
 * The context of an alert of a project that is on the tile of a person. A new file does not name a dashboard for queries by its key, because the
 * dashboard that files declare under the key does not have this tile.
 */
export function withoutQueriesOfOthers(context: FileContext, marker: StoredMarker | undefined, { tileId }: Body): FileContext {
  if (marker === undefined || marker.queryTile === tileId) return context
  return {
    ...context,
    isForQueries: () => false,
    keyOf: (kind, id) => (context.spelled === undefined && context.isForQueries?.(id) ? undefined : context.keyOf(kind, id)),
  }
}

const chart = z.union([builtConfig, writtenConfig])

/** The query of an alert as its file has it. Undefined for an alert without one; its `query` is undefined where the tile is unknown. */
export function spellQuery({ dashboardId, tileId }: Body, context: FileContext): { readonly query: Body | undefined } | undefined {
  const spelled = ownValue(context.spelled, 'query')
  if (spelled === undefined && (context.spelled !== undefined || !context.isForQueries?.(dashboardId, tileId))) return undefined
  const tile = context.tilesOf(dashboardId).find(({ id, name }) => (tileId instanceof PendingId ? name === tileId.tile : id === tileId))
  const value = tile && effectiveTile(tile).config
  if (!isMapping(value)) return { query: undefined }
  const inFile = { ...(isMapping(spelled) && spelled), sqlTemplate: ownValue(spelled, 'sql') }
  const config = spellFields({ value, normalized: withoutDefaults(value, chart), spelled: inFile }, chart, context)
  const { configType: _, displayType: __, sqlTemplate: sql, ...fields } = config
  return { query: { ...(sql !== undefined && { sql }), ...fields } }
}
