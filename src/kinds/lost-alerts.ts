// The server deletes alerts without a warning: together with the dashboard or saved search that they watch, and with every tile that an
// update removes or gives a type that cannot have alerts. Tiles that the API does not list are lost with every update.

import * as z from 'zod'
import type { ReadApi } from '../platform/api/client.ts'
import type { Target } from '../platform/api/path.ts'
import { untrusted } from '../platform/core/line.ts'
import type { Block } from '../platform/report/blocks.ts'
import { table } from '../platform/report/table.ts'
import { type Alert, alertCollection } from './alert/alert.ts'
import { typeWithoutAlerts } from './dashboard/dashboard-wire.ts'
import { type Body, storedLabelOf, type TargetRemoval, watchedNames, withWatchedNames } from './kind.ts'

/** The alerts that the server deletes with a write. */
export function findLostAlerts(removal: TargetRemoval, alerts: readonly Alert[]): readonly Alert[] {
  const { id, tiles, tilesAfter, isPatch } = removal
  const listed = new Set(tiles.map((tile) => tile.id))
  // A tile with the same id may be on another dashboard, such as a copy.
  const isOnIt = ({ dashboardId, savedSearchId, tileId }: Alert): boolean =>
    savedSearchId === id || (typeof dashboardId === 'string' ? dashboardId === id : listed.has(tileId))
  const onIt = alerts.filter(isOnIt)
  if (tilesAfter === undefined) return onIt
  const lost = new Set(findLostTiles(tiles, tilesAfter).map(({ tile }) => tile.id))
  return onIt.filter(({ tileId }) => tileId && (lost.has(tileId) || (!isPatch && !listed.has(tileId))))
}

export const lostAlert = z.object({ id: z.string(), name: z.string() })

type LostAlert = z.output<typeof lostAlert>

/** Lists the alerts of the service, and returns those that the server deletes with a write. */
export async function readLostAlerts(api: ReadApi, service: Target, removal: TargetRemoval): Promise<LostAlert[]> {
  const { items } = await alertCollection.list(api, service)
  const lost = withWatchedNames(findLostAlerts(removal, items), new Map(watchedNames([removal])))
  return lost.map((alert) => ({ id: alert.id, name: storedLabelOf(alert) }))
}

export const lostAlertBlocks = (lost: readonly LostAlert[], title = 'Alerts that the server deleted'): readonly Block[] =>
  lost.length === 0 ? [] : [table(title, lost, { Name: ({ id, name }) => untrusted(name || id), Id: ({ id }) => untrusted(id) })]

export interface LostTile {
  readonly tile: Body
  readonly reason: string
}

/** The listed tiles whose alerts an update deletes. */
export function findLostTiles(before: readonly Body[], after: readonly Body[]): readonly LostTile[] {
  const kept = new Map(after.map((tile) => [tile.id, tile]))
  return before.flatMap((tile) => {
    const next = kept.get(tile.id)
    if (next === undefined) return [{ tile, reason: 'is deleted' }]
    const type = typeWithoutAlerts(next)
    return type === undefined ? [] : [{ tile, reason: `gets the type ${type}, which cannot have alerts` }]
  })
}
