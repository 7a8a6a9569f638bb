// Owns how dashboards are shown.
import * as z from 'zod'
import { type Dashboard, dashboardSchema } from '../api/dashboards.ts'
import type { Block } from '../report/blocks.ts'
import { data, type Inline, type Line, ours, say } from '../report/line.ts'

export const dashboardOutput = z.object({
  dashboardId: z.string().describe('Id of the dashboard.'),
  dashboardName: z.string().describe('Name of the dashboard.'),
  tileIds: z
    .record(z.string(), z.string())
    .describe('Ids of its tiles by their names, as a JSON object; the first of those that share a name.'),
  changed: z.boolean().describe('Whether this run changed anything.'),
})

export const dashboardDetails = z.object({ dashboard: dashboardSchema.describe('The dashboard, as the API answered.') })

export const outputsOf = (dashboard: Dashboard, changed: boolean) => ({
  dashboardId: dashboard.id,
  dashboardName: dashboard.name,
  tileIds: Object.fromEntries(dashboard.tiles.toReversed().map(({ id, name }) => [name || id, id])),
  changed,
  dashboard,
})

export const nameOf = ({ name, id }: Pick<Dashboard, 'name' | 'id'>): Inline => data(name || id)

const tagsOf = ({ tags }: Dashboard): Line =>
  tags.length === 0 ? [ours('–')] : tags.flatMap((tag, i) => (i === 0 ? [data(tag)] : [ours(', '), data(tag)]))

export const tileTable = ({ tiles }: Dashboard): Block => ({
  kind: 'table',
  columns: [{ title: 'Tile' }, { title: 'Id' }],
  rows: tiles.map(({ id, name }) => [[name ? data(name) : ours('–')], [data(id)]]),
})

export const dashboardTable = (dashboards: readonly Dashboard[]): Block => ({
  kind: 'table',
  columns: [{ title: 'Name' }, { title: 'Tiles', align: 'right' }, { title: 'Tags' }, { title: 'Id' }],
  rows: dashboards.map((dashboard) => [[nameOf(dashboard)], say`${dashboard.tiles.length}`, tagsOf(dashboard), [data(dashboard.id)]]),
})
