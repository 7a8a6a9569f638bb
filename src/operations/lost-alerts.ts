// Owns finding the alerts that a change of a dashboard takes along, so that nobody loses one without being told.
import * as z from 'zod'
import type { Alert } from '../api/alerts.ts'
import type { WriteApi } from '../api/client.ts'
import type { Service } from '../api/service.ts'
import type { Block } from '../report/blocks.ts'
import { data, ours, say } from '../report/line.ts'
import { pass, type Verdict } from './operation.ts'

export const lostAlerts = z
  .array(z.object({ id: z.string(), name: z.string() }))
  .describe('Alerts that the server deletes because their tile is gone.')

/** One request, and none when no tile goes. */
export async function findLostAlerts(api: WriteApi, service: Service, tileIds: ReadonlySet<string>): Promise<z.output<typeof lostAlerts>> {
  if (tileIds.size === 0) return []
  const { items } = await api.alerts.list(service)
  return items.filter(({ tileId }: Alert) => tileId && tileIds.has(tileId)).map(({ id, name }) => ({ id, name: name ?? '' }))
}

export const judgeLostAlerts = (lost: z.output<typeof lostAlerts>): Verdict =>
  lost.length === 0
    ? pass
    : { status: 'warn', reasons: [say`${lost.length} ${ours(lost.length === 1 ? 'alert' : 'alerts')} went with the tiles`] }

export const lostAlertsBlocks = (lost: z.output<typeof lostAlerts>): readonly Block[] =>
  lost.length === 0
    ? []
    : [
        {
          kind: 'table',
          title: 'Alerts that went with their tiles',
          columns: [{ title: 'Name' }, { title: 'Id' }],
          rows: lost.map(({ id, name }) => [[data(name)], [data(id)]]),
        },
      ]
