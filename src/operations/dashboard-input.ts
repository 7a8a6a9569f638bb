// Owns what users say of a dashboard: a document, inline or in a file, and how it meets the dashboard that exists.
import * as z from 'zod'
import { type DashboardFields, dashboardBodySchema } from '../api/dashboard-body.ts'
import { type Dashboard, type DashboardBody, toDashboardBody } from '../api/dashboards.ts'
import type { Problem } from '../kernel/errors.ts'
import { isMarkerTag } from '../provision/marker.ts'
import type { Given } from './operation.ts'
import { documentFile, documentText, readWritten } from './written-document.ts'

export const dashboardInput = z.strictObject({ dashboard: documentText('dashboard'), dashboardFile: documentFile('dashboard') })

export function checkDashboardInput({ names }: Pick<Given<typeof dashboardInput>, 'names'>): readonly Problem[] {
  const given = ['dashboard', 'dashboardFile'].filter((name) => names.has(name))
  if (given.length === 2) return [{ name: 'dashboard', message: 'cannot be given together with dashboard-file' }]
  return given.length === 0 ? [{ name: 'dashboard', message: 'is missing: give dashboard or dashboard-file' }] : []
}

type ReadFile = (path: string, input: string) => Promise<string>

export async function readDashboardInput(
  { dashboard, dashboardFile }: z.output<typeof dashboardInput>,
  readFile: ReadFile,
): Promise<DashboardFields> {
  if (dashboard !== undefined) return readWritten(dashboard, 'dashboard', dashboardBodySchema)
  return readWritten(await readFile(dashboardFile ?? '', 'dashboard-file'), dashboardFile ?? '', dashboardBodySchema)
}

/** What a new dashboard sends: the server refuses a filter with an id, and gives every tile its own. */
export const toNewDashboard = ({ filters, ...fields }: DashboardFields): DashboardBody => ({
  ...fields,
  ...(filters && { filters: filters.map(({ id: _, ...filter }) => filter) }),
})

/** What the dashboard should be: what the document does not mention stays, and so do the markers of plan and apply. */
export function toDesiredDashboard(current: Dashboard, declared: DashboardFields): DashboardBody {
  const before = Object.entries(toDashboardBody(current)).filter(([, value]) => value !== null)
  const tags = declared.tags && [...declared.tags, ...current.tags.filter((tag) => isMarkerTag(tag) && !declared.tags?.includes(tag))]
  return { ...Object.fromEntries(before), ...declared, ...(tags && { tags }) }
}
