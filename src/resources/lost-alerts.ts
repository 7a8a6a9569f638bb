import * as z from 'zod'
import type { WriteApi } from '../api/client.ts'
import type { Service } from '../api/path.ts'
import { pass, type Verdict } from '../operation/operation.ts'
import { type Block, counted, data, ours, say } from '../report/blocks.ts'
import { type Alert, alertCollection } from './alerts/alert-wire.ts'
import { isMap } from './compare.ts'
import type { Dashboard } from './dashboards/dashboard-wire.ts'
import type { Body } from './resource-type.ts'

/** The tiles whose alerts an update deletes, although an alert may be on any tile before. */
export function tilesLosingAlerts(
  before: readonly Body[],
  after: readonly Body[],
): readonly { readonly tile: Body; readonly reason: string }[] {
  const left = new Map(after.map((tile) => [tile.id, tile]))
  return before.flatMap((tile) => {
    const next = left.get(tile.id)
    if (next === undefined) return [{ tile, reason: 'goes' }]
    return mayCarryAlerts(next) ? [] : [{ tile, reason: `is of the type ${String(displayTypeOf(next))}, which carries no alerts` }]
  })
}

/** Display types whose tiles keep their alerts: an update of the dashboard deletes alerts on any other. */
export const alertableTypes: readonly string[] = ['line', 'stacked_bar', 'number']

/** What we cannot read is believed to carry alerts, as it does now. */
export function mayCarryAlerts(tile: Body): boolean {
  const type = displayTypeOf(tile)
  return typeof type !== 'string' || alertableTypes.includes(type)
}

export const displayTypeOf = ({ config }: Body): unknown => (isMap(config) ? config.displayType : undefined)

// Owns finding the alerts that a change of a dashboard takes along, so that nobody loses one without being told.

export const lostAlerts = z
  .array(z.object({ id: z.string(), name: z.string() }))
  .describe('Alerts that the server deletes because their tile is gone, can carry none any more, or is not listed by the API.')

/**
 * The alerts that the server deletes with an update: those on tiles that go, that become a type which carries none, or that the API
 * does not list. A delete of the dashboard (`after` is undefined) takes all of them.
 */
export async function findLostAlerts(
  api: WriteApi,
  service: Service,
  before: Dashboard,
  after: readonly Body[] | undefined,
): Promise<z.output<typeof lostAlerts>> {
  const listed = new Set(before.tiles.map(({ id }) => id))
  const losing = new Set(tilesLosingAlerts(before.tiles, after ?? []).map(({ tile }) => tile.id))
  const { items } = await alertCollection.list(api, service)
  const isLost = ({ dashboardId, tileId }: Alert): boolean =>
    dashboardId === before.id && (after === undefined || (!!tileId && (losing.has(tileId) || !listed.has(tileId))))
  return items.filter(isLost).map(({ id, name }) => ({ id, name: name ?? '' }))
}

export function judgeLostAlerts(lost: z.output<typeof lostAlerts>): Verdict {
  if (lost.length === 0) return pass
  const why = lost.length === 1 ? 'its tile is gone, or can carry none' : 'their tiles are gone, or can carry none'
  return { status: 'warn', reasons: [say`${counted(lost.length, 'alert')} deleted by the server: ${ours(why)}`] }
}

export const lostAlertsBlocks = (lost: z.output<typeof lostAlerts>): readonly Block[] =>
  lost.length === 0
    ? []
    : [
        {
          kind: 'table',
          title: 'Alerts that the server deleted',
          columns: [{ title: 'Name' }, { title: 'Id' }],
          rows: lost.map(({ id, name }) => [[data(name)], [data(id)]]),
        },
      ]
