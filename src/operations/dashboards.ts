// Owns the operations on dashboards.
import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import { type Dashboard, dashboardSchema } from '../api/dashboards.ts'
import type { Service } from '../api/service.ts'
import { WatchkeeperError } from '../kernel/errors.ts'
import { composeUpdate, sidesOf } from '../provision/compose.ts'
import { unexplained } from '../provision/convergence.ts'
import { dashboardKind, listOf } from '../provision/kinds/dashboard-kind.ts'
import { countOf, data, ours, say } from '../report/line.ts'
import { checkDashboardInput, dashboardInput, readDashboardInput, toDesiredDashboard, toNewDashboard } from './dashboard-input.ts'
import { dashboardDetails, dashboardOutput, dashboardTable, nameOf, outputsOf, tileTable } from './dashboard-report.ts'
import { resourceId, text } from './fields.ts'
import { judgeCutList, listOutput, mayBeCut, nameContains, toListResult } from './listing.ts'
import { findLostAlerts, judgeLostAlerts, lostAlerts, lostAlertsBlocks } from './lost-alerts.ts'
import { defineOperation } from './operation.ts'

const dashboardId = resourceId('The dashboard.')

export const listDashboards = defineOperation({
  summary: 'Lists the dashboards of a service.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({ nameContains: nameContains.optional(), tag: text('Only dashboards that bear this tag.', 256).optional() }),
  output: listOutput,
  details: z.object({ dashboards: z.array(dashboardSchema).describe('The dashboards, as the API answered.'), mayBeCut }),
  example: { tag: 'shop' },
  async run({ api, service }, { nameContains: part, tag }) {
    const list = await api.dashboards.list(service)
    const { items, ...result } = toListResult(list, part, ({ tags }) => tag === undefined || tags.includes(tag))
    return { ...result, dashboards: items }
  },
  judge: judgeCutList,
  report: ({ dashboards }) => ({ headline: say`${countOf(dashboards, 'dashboard')}`, blocks: [dashboardTable(dashboards)] }),
})

export const getDashboard = defineOperation({
  summary: 'Reads one dashboard with its tiles.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({ dashboardId }),
  output: dashboardOutput,
  details: dashboardDetails,
  example: { dashboardId: '65f5e4a35eedc0de0000000c' },
  async run({ api, service }, input) {
    return outputsOf(await api.dashboards.get(service, input.dashboardId), false)
  },
  report: ({ dashboard }) => ({
    headline: say`Dashboard ${nameOf(dashboard)} has ${countOf(dashboard.tiles, 'tile')}`,
    blocks: [tileTable(dashboard)],
  }),
})

export const createDashboard = defineOperation({
  summary: 'Creates one dashboard. The request is not sent again once it may have worked.',
  effect: 'write',
  scope: 'service',
  input: dashboardInput,
  output: dashboardOutput,
  details: dashboardDetails,
  example: {
    dashboard:
      '{ name: On call, tiles: [{ name: Notes, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: Call Ada } }] }',
  },
  check: checkDashboardInput,
  async run({ api, service, files }, input) {
    return outputsOf(await api.dashboards.create(service, toNewDashboard(await readDashboardInput(input, files.read))), true)
  },
  report: ({ dashboard }) => ({ headline: say`Dashboard ${nameOf(dashboard)} created`, blocks: [tileTable(dashboard)] }),
})

export const updateDashboard = defineOperation({
  summary: 'Makes one dashboard equal to a document. Tiles keep their ids by name, so that their alerts live on.',
  effect: 'write',
  scope: 'service',
  input: z.strictObject({ dashboardId, ...dashboardInput.shape }),
  output: dashboardOutput,
  details: dashboardDetails.extend({ lostAlerts }),
  example: {
    dashboardId: '65f5e4a35eedc0de0000000c',
    dashboard:
      '{ name: On call, tiles: [{ name: Notes, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: Call Ada } }] }',
  },
  check: checkDashboardInput,
  async run({ api, service, files }, { dashboardId: id, ...input }) {
    const declared = await readDashboardInput(input, files.read)
    const current = await api.dashboards.get(service, id)
    const desired = toDesiredDashboard(current, declared)
    if (unexplained(dashboardKind, sidesOf(dashboardKind, desired, current)).length === 0)
      return { ...outputsOf(current, false), lostAlerts: [] }
    const body = composeUpdate(dashboardKind, desired, current)
    const lost = await findLostAlerts(api, service, current, listOf(body.tiles))
    return { ...outputsOf(await api.dashboards.update(service, current, body), true), lostAlerts: lost }
  },
  judge: ({ lostAlerts: lost }) => judgeLostAlerts(lost),
  report: ({ dashboard, changed, lostAlerts: lost }) => ({
    headline: say`Dashboard ${nameOf(dashboard)} ${ours(changed ? 'updated' : 'is as it should be')}`,
    blocks: [...lostAlertsBlocks(lost), tileTable(dashboard)],
  }),
})

export const deleteDashboard = defineOperation({
  summary: 'Deletes one dashboard, and with it the alerts on its tiles. It is no failure when there is none.',
  effect: 'write',
  scope: 'service',
  input: z.strictObject({ dashboardId }),
  output: z.object({
    dashboardId: z.string().describe('Id of the dashboard.'),
    changed: z.boolean().describe('Whether there was such a dashboard.'),
  }),
  details: z.object({ lostAlerts }),
  example: { dashboardId: '65f5e4a35eedc0de0000000c' },
  async run({ api, service }, { dashboardId: id }) {
    if ((await find(api, service, id)) === undefined) return { dashboardId: id, changed: false, lostAlerts: [] }
    const { items } = await api.alerts.list(service)
    const onIt = items.filter((alert) => alert.dashboardId === id).map((alert) => ({ id: alert.id, name: alert.name ?? '' }))
    const changed = await api.dashboards.remove(service, id)
    return { dashboardId: id, changed, lostAlerts: changed ? onIt : [] }
  },
  judge: ({ lostAlerts: lost }) => judgeLostAlerts(lost),
  report: (result) => ({
    headline: result.changed ? say`Deleted dashboard ${data(result.dashboardId)}` : say`There was no dashboard ${data(result.dashboardId)}`,
    blocks: lostAlertsBlocks(result.lostAlerts),
  }),
})

/** The server answers a deletion of a dashboard that it never had like any other. */
async function find(api: ReadApi, service: Service, id: string): Promise<Dashboard | undefined> {
  try {
    return await api.dashboards.get(service, id)
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError && thrown.kind === 'not-found') return undefined
    throw thrown
  }
}
