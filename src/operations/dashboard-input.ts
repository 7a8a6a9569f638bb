// Owns what users say of a dashboard: a document, inline or in a file, and how it meets the dashboard that exists.
import * as z from 'zod'
import { type DashboardFields, dashboardBodySchema } from '../api/dashboard-body.ts'
import { type Dashboard, type DashboardBody, toDashboardBody } from '../api/dashboards.ts'
import type { Problem } from '../kernel/errors.ts'
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

/**
 * The whole body of an update. Tiles and filters without an id get the one that the current ones of the same name have, so
 * that alerts on them live on. What the document does not mention stays.
 */
export function toUpdatedDashboard(current: Dashboard, declared: DashboardFields): DashboardBody {
  const before = toDashboardBody(current)
  const filters = declared.filters && withIds(declared.filters, Array.isArray(before.filters) ? before.filters : [])
  return { ...before, ...declared, tiles: withIds(declared.tiles, current.tiles), ...(filters && { filters }) }
}

interface Named {
  readonly id?: string | undefined
  readonly name?: string | null | undefined
}

// Two of one name are told apart by their order.
function withIds<T extends Named>(declared: readonly T[], current: readonly Named[]): readonly T[] {
  const taken = new Set(declared.map(({ id }) => id).filter((id) => id !== undefined))
  return declared.map((item) => {
    if (item.id !== undefined) return item
    const match = current.find(({ id, name }) => name === item.name && id !== undefined && !taken.has(id))
    if (match?.id === undefined) return item
    taken.add(match.id)
    return { ...item, id: match.id }
  })
}

/** Ids of tiles that the update does away with: their alerts go with them. */
export function tilesLost(current: Dashboard, after: DashboardBody): ReadonlySet<string> {
  const kept = new Set((after.tiles as readonly Named[]).map(({ id }) => id))
  return new Set(current.tiles.map(({ id }) => id).filter((id) => !kept.has(id)))
}
