// Asking the server what it thinks of the dashboards that a plan writes, before anything is written. Its answer to a read can be
// something that it refuses to store again, so that objects to adopt are checked as well, and all of them.
import { ApiError } from '../api/api-error.ts'
import type { ReadApi } from '../api/client.ts'
import type { Service } from '../api/path.ts'
import { type Diagnostic, errorsIn } from '../core/diagnostics.ts'
import { composeUpdate } from '../resources/compare.ts'
import { checkDashboard, type DashboardComplaint } from '../resources/dashboards/dashboard-check.ts'
import { dashboardKind, listOf } from '../resources/dashboards/dashboard-type.ts'
import type { Body } from '../resources/resource-type.ts'
import type { Change, Plan } from './change.ts'
import type { Declared } from './declarations.ts'

export const serverRules = { 'server-refuses': 'The server says that a dashboard is not valid.' } as const

export interface ServerCheck {
  readonly diagnostics: readonly Diagnostic[]
  /** Dashboards that the server was not asked about. */
  readonly uncheckedCount: number
}

interface Asking {
  readonly api: ReadApi
  readonly service: Service
}

/** So that the number of requests does not grow with the number of dashboards. What is adopted is adopted once. */
const mostChecked = 20

export async function checkByServer(plan: Plan, objects: readonly Declared[], asking: Asking): Promise<ServerCheck> {
  if (errorsIn(plan.diagnostics).length > 0) return { diagnostics: [], uncheckedCount: 0 }
  const written = plan.changes.filter((change) => change.section === 'dashboards' && isWritten(change))
  const changed = written.filter(({ isAdopted }) => !isAdopted)
  const wanted = [...written.filter(({ isAdopted }) => isAdopted), ...changed.slice(0, mostChecked)]
  const declared = new Map(objects.map((one) => [`${one.section}.${one.key}`, one]))
  const diagnostics: Diagnostic[] = []
  let checkedCount = 0
  for (const change of wanted) {
    const complaints = await complaintsAbout(change, asking)
    if (complaints === undefined) break
    checkedCount += 1
    diagnostics.push(...complaints.map((complaint) => toDiagnostic(complaint, change, declared.get(`dashboards.${change.key}`))))
  }
  return { diagnostics, uncheckedCount: written.length - checkedCount }
}

const isWritten = ({ action }: Change): boolean => action === 'create' || action === 'update' || action === 'adopt'

/** What the server has against storing it; undefined when the service does not know the question: older ones do not. */
export async function complaintsAbout(change: Change, { api, service }: Asking): Promise<readonly DashboardComplaint[] | undefined> {
  try {
    return await checkDashboard(api, service, withoutIds(bodyOf(change)))
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    if (thrown.kind === 'not-served') return undefined
    // A gateway in between refuses by itself what it does not know.
    if (thrown.kind === 'refused') return [{ path: '', message: thrown.message.split('\n', 1)[0] ?? '' }]
    throw thrown
  }
}

/** What would be sent: with everything of the stored object that files have no say in. */
const bodyOf = ({ desired = {}, actual }: Change): Body => (actual === undefined ? desired : composeUpdate(dashboardKind, desired, actual))

const toDiagnostic = ({ path, message }: DashboardComplaint, { key, location }: Change, declared: Declared | undefined): Diagnostic => ({
  rule: 'server-refuses',
  severity: 'error',
  location: declared?.locationOf(toPath(path)) ?? location ?? { file: 'files' },
  message: `dashboards.${key}${path === '' ? '' : `.${path}`}: ${message}`,
})

const toPath = (path: string): readonly PropertyKey[] => path.split('.').map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part))

/** A body is checked as that of a create, which bears no ids. */
const withoutIds = (body: Body): Body => ({
  ...body,
  tiles: listOf(body.tiles).map(withoutId),
  ...(Array.isArray(body.filters) && { filters: listOf(body.filters).map(withoutId) }),
})

const withoutId = ({ id: _, ...rest }: Body): Body => rest
