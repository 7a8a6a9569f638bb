// The server deletes alerts without a warning: together with the dashboard or saved search that they watch, and with every tile that an
// update removes or gives a type that cannot have alerts. Tiles that the API does not list are lost with every update.

import * as z from 'zod'
import type { ReadApi } from '../platform/api/client.ts'
import type { Target } from '../platform/api/path.ts'
import { WatchkeeperError } from '../platform/core/errors.ts'
import { untrusted } from '../platform/core/line.ts'
import { quote } from '../platform/core/text.ts'
import type { Block } from '../platform/report/blocks.ts'
import { table } from '../platform/report/table.ts'
import { type Alert, alertCollection } from './alert/alert.ts'
import { displayTypeOf, tileLabel, typeWithoutAlerts } from './dashboard/dashboard-wire.ts'
import { nameAndContentOf } from './dashboard/tiles.ts'
import { type Body, describeStored, storedLabelOf, type TargetRemoval, watchedNames, withWatchedNames } from './kind.ts'

export function findLostAlerts(removal: TargetRemoval, alerts: readonly Alert[]): readonly Alert[] {
  const { id, tiles, tilesAfter, isPatch } = removal
  const listed = new Set(tiles.map((tile) => tile.id))
  // A tile with the same id may be on another dashboard, such as a copy.
  const isOnIt = ({ dashboardId, savedSearchId, tileId }: Alert) =>
    savedSearchId === id || (typeof dashboardId === 'string' ? dashboardId === id : listed.has(tileId))
  const onIt = alerts.filter(isOnIt)
  if (tilesAfter === undefined) return onIt
  const lost = new Set(findLostTiles(tiles, tilesAfter).map(({ tile }) => tile.id))
  return onIt.filter(({ tileId }) => tileId && (lost.has(tileId) || (!isPatch && !listed.has(tileId))))
}

export const lostAlert = z.object({ id: z.string(), name: z.string() })

type LostAlert = z.output<typeof lostAlert>

/** Lists the alerts of the service, and returns those that the server deletes with a write. Throws where it is unclear which tile an alert is on. */
export async function readLostAlerts(api: ReadApi, service: Target, removal: TargetRemoval): Promise<LostAlert[]> {
  const { items } = await alertCollection.list(api, service)
  const lost = withWatchedNames(findLostAlerts(removal, items), new Map(watchedNames([removal])))
  for (const { tile, label, reason } of findLostTiles(removal.tiles, removal.tilesAfter ?? []).filter(({ isUnclear }) => isUnclear)) {
    const alert = lost.find(({ tileId }) => tileId === tile.id)
    if (alert === undefined) continue
    const message = `Nothing was written: the tile "${quote(label)}" ${reason}, and with it the alert ${describeStored(alert)}. Give the right tile this id.`
    throw new WatchkeeperError('conflict', message)
  }
  return lost.map((alert) => ({ id: alert.id, name: storedLabelOf(alert) }))
}

export const lostAlertBlocks = (lost: readonly LostAlert[], title = 'Alerts that the server deleted'): readonly Block[] =>
  lost.length === 0 ? [] : [table(title, lost, { Name: ({ id, name }) => untrusted(name || id), Id: ({ id }) => untrusted(id) })]

export interface LostTile {
  readonly tile: Body
  readonly label: string
  readonly reason: string
  /** Whether another tile could be the same, so that only a person can say what becomes of its alerts. */
  readonly isUnclear?: boolean
}

export function findLostTiles(before: readonly Body[], after: readonly Body[]): readonly LostTile[] {
  const kept = new Map(after.map((tile) => [tile.id, tile]))
  const ids = new Set(before.map(({ id }) => id))
  return before.flatMap((tile, i): readonly LostTile[] => {
    const next = kept.get(tile.id)
    const label = tileLabel(tile, i)
    const type = next && typeWithoutAlerts(next)
    if (next !== undefined) return type === undefined ? [] : [{ tile, label, reason: `gets the type ${type}, which cannot have alerts` }]
    const isAlike = (one: Body) =>
      nameAndContentOf(one) === nameAndContentOf(tile) ||
      (!ids.has(one.id) && one.name === tile.name && (!!tile.name || displayTypeOf(one) === displayTypeOf(tile)))
    const alike = after.flatMap((one, j) => (isAlike(one) ? [`tiles[${j}] (${String(displayTypeOf(one))})`] : []))
    if (alike.length === 0) return [{ tile, label, reason: 'is deleted' }]
    const reason = `is deleted, because it could be ${alike.join(' or ')}, and no tile has its id ${String(tile.id)} (in files: raw: { id: … })`
    return [{ tile, label, reason, isUnclear: true }]
  })
}
