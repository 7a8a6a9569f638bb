// Owns finding the alerts that a change of a dashboard takes along, so that nobody loses one without being told.
import * as z from 'zod'
import type { Alert } from '../api/alerts.ts'
import type { WriteApi } from '../api/client.ts'
import type { Dashboard } from '../api/dashboards.ts'
import type { Service } from '../api/service.ts'
import type { Body } from '../provision/kinds/kind.ts'
import { tilesLosingAlerts } from '../provision/losses.ts'
import type { Block } from '../report/blocks.ts'
import { counted, data, ours, say } from '../report/line.ts'
import { pass, type Verdict } from './operation.ts'

export const lostAlerts = z
  .array(z.object({ id: z.string(), name: z.string() }))
  .describe('Alerts that the server deletes because their tile is gone, can carry none any more, or is not listed by the API.')

/** The alerts of tiles that go, that become a type which carries none, or that the API does not list: an update deletes them all. */
export async function findLostAlerts(
  api: WriteApi,
  service: Service,
  before: Dashboard,
  after: readonly Body[],
): Promise<z.output<typeof lostAlerts>> {
  const listed = new Set(before.tiles.map(({ id }) => id))
  const losing = new Set(tilesLosingAlerts(before.tiles, after).map(({ tile }) => tile.id))
  const { items } = await api.alerts.list(service)
  const isLost = ({ dashboardId, tileId }: Alert): boolean =>
    dashboardId === before.id && !!tileId && (losing.has(tileId) || !listed.has(tileId))
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
