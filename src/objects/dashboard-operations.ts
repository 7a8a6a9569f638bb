import * as z from 'zod'
import { diffSides } from '../kinds/base.ts'
import { composeCreate, composeUpdate, requireUnchanged, sidesOf } from '../kinds/compare.ts'
import type { DeclaredDashboard } from '../kinds/dashboard/dashboard.ts'
import {
  describeWebAppFile,
  expandDashboard,
  isApiDashboard,
  isWebAppDashboard,
  wholeDashboard,
} from '../kinds/dashboard/dashboard-file.ts'
import { createDashboardKind } from '../kinds/dashboard/dashboard-kind.ts'
import {
  type Dashboard,
  dashboardCollection,
  dashboardSchema,
  tileLabel,
  toDashboardBody,
  withoutIds,
} from '../kinds/dashboard/dashboard-wire.ts'
import { type Body, listOf } from '../kinds/kind.ts'
import { lostAlert, lostAlertBlocks, readLostAlerts } from '../kinds/lost-alerts.ts'
import { isMarkerTag, tagMarkers, withoutMarkerTags } from '../kinds/marker.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { counted, nameOrId, say, trusted, untrusted } from '../platform/core/line.ts'
import { plural } from '../platform/core/text.ts'
import type { ValuePath } from '../platform/documents/document.ts'
import type { Files } from '../platform/operation/files.ts'
import { defineOperation } from '../platform/operation/operation.ts'
import type { Block } from '../platform/report/blocks.ts'
import { toDiffLines } from '../platform/report/diff-lines.ts'
import { pass, type Verdict } from '../platform/report/report.ts'
import { table } from '../platform/report/table.ts'
import { defineList, tagsCell } from './list-operation.ts'
import {
  declarationDetail,
  deletedOutput,
  documentInput,
  droppedFields,
  explainRefusal,
  findDropped,
  headlineOfDelete,
  idInput,
  judgeDropped,
  type ReadObject,
  readObject,
  resolveObject,
  singleOutput,
  toDocument,
} from './single-object.ts'

const input = { dashboard: documentInput('dashboard') }

const dashboardDetails = z.object({ dashboard: dashboardSchema.describe('The dashboard as the API returned it.') })

const lostAlerts = z
  .array(lostAlert)
  .describe(
    'Alerts that the server deletes, because their tile is removed, gets a type that cannot have alerts, or is not listed by the API.',
  )

export const listDashboards = defineList({
  kind: 'dashboard',
  list: dashboardCollection.list,
  schema: dashboardSchema,
  markers: tagMarkers,
  fields: ['tag'],
  toSelectable: ({ tags }) => ({ tags }),
  example: { select: ['tag=shop'] },
  columns: { '> Tiles': ({ tiles }) => tiles.length, Tags: tagsCell },
})

export const getDashboard = defineOperation({
  summary: 'Reads one dashboard with its tiles.',
  effect: 'read',
  scope: 'service-or-server',
  input: z.strictObject({ id: idInput }),
  positional: 'id',
  output: singleOutput('dashboard'),
  details: dashboardDetails.extend({ declaration: declarationDetail('dashboard') }),
  example: { id: '65f5e4a35eedc0de0000000c' },
  async run({ api, service }, given) {
    const dashboard = await dashboardCollection.get(api, service, given.id)
    return { ...outputsOf(dashboard, false), declaration: toDocument(createDashboardKind(), dashboard) }
  },
  report: ({ dashboard }) => ({
    headline: say`Dashboard ${nameOrId(dashboard)} has ${counted(dashboard.tiles.length, 'tile')}`,
    blocks: [tileTable(dashboard)],
  }),
})

export const createDashboard = defineOperation({
  summary: 'Creates one dashboard. The request is not repeated once the server may have applied it.',
  effect: 'write',
  scope: 'service-or-server',
  input: z.strictObject(input),
  output: singleOutput('dashboard'),
  details: dashboardDetails.extend({ dropped: droppedFields }),
  example: {
    dashboard: '{ name: On call, tiles: [{ name: Notes, config: { displayType: markdown, markdown: Call Ada } }] }',
  },
  async run({ api, service, files }, { dashboard }) {
    const kind = createDashboardKind()
    const read = await readDashboard(dashboard, files)
    const body = await resolveObject(kind, read, { api, service })
    // An answer of the API has ids, and can have the marker of another dashboard.
    const own = composeCreate(kind, withoutIds(body.tags === undefined ? body : kind.withoutMarker(body)))
    const created = await explainRefusal(read, dashboardCollection.create(api, service, own))
    return { ...outputsOf(created, true), dropped: findDropped(kind, own, created, isHarmless) }
  },
  judge: ({ dashboard, dropped }) => judgeDropped('dashboard', dashboard, dropped, 'created'),
  report: ({ dashboard }) => ({ headline: say`Dashboard ${nameOrId(dashboard)} created`, blocks: [tileTable(dashboard)] }),
})

export const updateDashboard = defineOperation({
  summary:
    'Makes one dashboard equal to a document. Tiles keep their ids and their alerts by id, name or content. Parts that the API does not return are lost.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  input: z.strictObject({ id: idInput, ...input }),
  positional: 'id',
  output: singleOutput('dashboard'),
  details: dashboardDetails.extend({ lostAlerts, dropped: droppedFields }),
  example: {
    id: '65f5e4a35eedc0de0000000c',
    dashboard: '{ name: On call, tiles: [{ name: Notes, config: { displayType: markdown, markdown: Call Ada } }] }',
  },
  async run({ api, service, files, confirm }, given) {
    const kind = createDashboardKind()
    const read = await readDashboard(given.dashboard, files)
    const declared = await resolveObject(kind, read, { api, service })
    const review = async (current: Dashboard) => {
      const desired = toDesiredDashboard(current, declared)
      const fields = diffSides(kind, sidesOf(kind, desired, current))
      if (fields.length === 0) return undefined
      const body = composeUpdate(kind, desired, current)
      return { fields, body, lost: await readLostAlerts(api, service, { ...current, tilesAfter: listOf(body.tiles) }) }
    }
    let lost: z.output<typeof lostAlerts> = []
    let shown: Dashboard | undefined
    if (confirm !== undefined) {
      shown = await dashboardCollection.get(api, service, given.id)
      const reviewed = await review(shown)
      if (reviewed === undefined) return { ...outputsOf(shown, false), lostAlerts: [], dropped: [] }
      lost = reviewed.lost
      await confirm({
        blocks: [
          { kind: 'paragraph', line: say`Dashboard ${nameOrId(shown)} (${shown.id})` },
          { kind: 'diff', lines: toDiffLines(reviewed.fields) },
          ...lostAlertBlocks(lost, 'Alerts that the server deletes with this change'),
        ],
        question: lost.length === 0 ? 'Change this dashboard?' : `Change the dashboard, which deletes ${plural(lost.length, 'alert')}?`,
      })
    }
    const agreed = new Set(lost.map((alert) => alert.id))
    let sent: Body = {}
    const compose = async (current: Dashboard): Promise<Body | undefined> => {
      if (shown !== undefined) requireUnchanged(kind, shown, current)
      const reviewed = await review(current)
      lost = reviewed?.lost ?? []
      const added = shown === undefined ? undefined : lost.find((alert) => !agreed.has(alert.id))
      if (added !== undefined)
        throw new WatchkeeperError(
          'conflict',
          `Alert ${added.id} was added to the dashboard while the question was open. Nothing was written. Run the command again.`,
        )
      sent = reviewed?.body ?? {}
      return reviewed?.body
    }
    const { object, isWritten } = await explainRefusal(read, dashboardCollection.update(api, service, { id: given.id, compose }))
    return { ...outputsOf(object, isWritten), lostAlerts: lost, dropped: findDropped(kind, sent, object, isHarmless) }
  },
  judge({ dashboard, changed, lostAlerts: lost, dropped }) {
    const verdict = judgeDropped('dashboard', dashboard, dropped, changed ? 'updated' : 'unchanged')
    return verdict.status === 'pass' ? judgeLostAlerts(lost) : { ...verdict, reasons: judgeLostAlerts(lost).reasons }
  },
  report: ({ dashboard, changed, lostAlerts: lost }) => ({
    headline: say`Dashboard ${nameOrId(dashboard)} ${trusted(changed ? 'updated' : 'is up to date')}`,
    blocks: [...lostAlertBlocks(lost), tileTable(dashboard)],
  }),
})

export const deleteDashboard = defineOperation({
  summary: 'Deletes one dashboard and the alerts on its tiles. Succeeds if the dashboard does not exist.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  input: z.strictObject({ id: idInput }),
  positional: 'id',
  output: deletedOutput('dashboard'),
  details: z.object({ lostAlerts }),
  example: { id: '65f5e4a35eedc0de0000000c' },
  async run({ api, service, confirm }, given) {
    // The server answers the deletion of a missing dashboard like any other.
    const current = await dashboardCollection.find(api, service, given.id)
    if (current === undefined) return { id: given.id, changed: false, lostAlerts: [] }
    const lost = await readLostAlerts(api, service, { ...current, tilesAfter: undefined })
    await confirm?.({
      blocks: [
        { kind: 'paragraph', line: say`Dashboard ${nameOrId(current)} (${current.id})` },
        tileTable(current),
        ...lostAlertBlocks(lost, 'Alerts that the server deletes with it'),
      ],
      question: lost.length === 0 ? 'Delete this dashboard?' : `Delete this dashboard and ${plural(lost.length, 'alert')} on it?`,
    })
    const changed = await dashboardCollection.remove(api, service, given.id)
    return { id: given.id, changed, lostAlerts: changed ? lost : [] }
  },
  judge: ({ lostAlerts: lost }) => judgeLostAlerts(lost),
  report: (result) => ({ headline: headlineOfDelete('dashboard', result), blocks: lostAlertBlocks(result.lostAlerts) }),
})

/** Throws an InputError for a document of the web app, which would have an error in each of its tiles. */
function fromApi(document: Body, name: string) {
  if (isWebAppDashboard(document)) throw inputError(name, describeWebAppFile(name))
  if (!isApiDashboard(document)) return undefined
  const body = toDashboardBody({ id: '', ...document })
  return { fields: withoutIds(body), value: { name: body.name, tiles: [], raw: body } }
}

/** The fields of a chart that only change how it looks. */
const looks =
  /^(?:alternateRowBackground|backgroundChart|color|colorRules|fitYAxisToData|groupByColumnsOnLeft|heatmapScaleType|markdown|numberFormat|onClick|showOperandSeries)$/

const isHarmless = (path: ValuePath): boolean => path[2] !== 'config' || path.some((key) => looks.test(String(key)))

async function readDashboard(text: string, files: Files): Promise<ReadObject<DeclaredDashboard>> {
  const read = await readObject(text, 'dashboard', { schema: wholeDashboard, fromApi }, files)
  return { ...read, value: expandDashboard(read.value).value }
}

function toDesiredDashboard(current: Dashboard, declared: Body): Body {
  const before = Object.entries(toDashboardBody(current)).filter(([, value]) => value !== null)
  const tags = Array.isArray(declared.tags) && { tags: [...withoutMarkerTags(declared.tags), ...current.tags.filter(isMarkerTag)] }
  return { ...Object.fromEntries(before), ...declared, ...tags }
}

const outputsOf = (dashboard: Dashboard, changed: boolean) => ({ id: dashboard.id, changed, dashboard })

const tileTable = ({ tiles }: Dashboard): Block =>
  table(
    undefined,
    tiles.map((tile, i) => ({ ...tile, label: tileLabel(tile, i) })),
    { Tile: ({ label }) => untrusted(label), Id: ({ id }) => untrusted(id) },
  )

function judgeLostAlerts(lost: z.output<typeof lostAlerts>): Verdict {
  if (lost.length === 0) return pass
  const why = lost.length === 1 ? 'its tile was removed or cannot have alerts' : 'their tiles were removed or cannot have alerts'
  return { status: 'warn', reasons: [say`the server deleted ${counted(lost.length, 'alert')}, because ${trusted(why)}`] }
}
