// Owns the way from files and service to a plan: read, check, compare. It writes nothing.
import type { ReadApi } from '../../api/client.ts'
import { InputError } from '../../kernel/errors.ts'
import type { Plan } from '../../provision/change.ts'
import type { Declared } from '../../provision/declarations.ts'
import { type Finding, failing } from '../../provision/finding.ts'
import { listOf } from '../../provision/kinds/dashboard-kind.ts'
import type { Body } from '../../provision/kinds/kind.ts'
import { planChanges } from '../../provision/plan.ts'
import { readWorld } from '../../provision/world.ts'
import { type Found, findDeclarations } from '../declaration-files.ts'
import type { Context } from '../operation.ts'
import { projectFor } from './inputs.ts'

export interface PlanRequest {
  readonly files: readonly string[]
  readonly project?: string | undefined
  readonly prune: boolean
  readonly maxDeletes: number
}

export interface Planned {
  readonly found: Found
  readonly plan: Plan
  /** All that was found wrong, of files and of plan. */
  readonly findings: readonly Finding[]
  /** Dashboards that the server was not asked about, because there are so many. */
  readonly uncheckedCount: number
}

type PlanContext = Pick<Context<'read', 'service'>, 'service' | 'profile' | 'files' | 'lintSettings'> & { readonly api: ReadApi }

/** Files that are wrong end in findings and a plan without changes: what they mean is not known. */
export async function makePlan(context: PlanContext, request: PlanRequest): Promise<Planned> {
  const { api, service, profile, files, lintSettings } = context
  const project = projectFor(request.project, files)
  const found = await findDeclarations(request.files, files, profile, lintSettings)
  if (failing(found.findings).length > 0) {
    const plan: Plan = { project, changes: [], leftovers: [], findings: [], seen: {} }
    return { found, plan, findings: found.findings, uncheckedCount: 0 }
  }
  if (found.objects.length === 0 && request.prune)
    throw new InputError([{ name: 'files', message: 'declare nothing, and with prune everything would go: is the glob right?' }])
  const wanted = new Set(found.objects.map(({ section }) => section))
  const world = await readWorld({ api, service, profile, wanted })
  const plan = planChanges(found, world, { ...request, project, profile })
  const checked = profile.dashboardCheck ? await checkByServer(plan, found.objects, context) : { findings: [], uncheckedCount: 0 }
  return { found, plan, findings: [...found.findings, ...plan.findings, ...checked.findings], uncheckedCount: checked.uncheckedCount }
}

export const serverRules = { 'server-refuses': 'The server says that a dashboard is not valid.' } as const

/** So that the number of requests does not grow with the number of dashboards. */
const mostChecked = 20

async function checkByServer(plan: Plan, objects: readonly Declared[], { api, service }: PlanContext) {
  if (failing(plan.findings).length > 0) return { findings: [], uncheckedCount: 0 }
  const changed = plan.changes.filter(({ section, action }) => section === 'dashboards' && (action === 'create' || action === 'update'))
  const declared = new Map(objects.map((one) => [`${one.section}.${one.key}`, one]))
  const findings: Finding[] = []
  for (const change of changed.slice(0, mostChecked)) {
    const complaints = await api.dashboards.check(service, withoutIds(change.desired ?? {}))
    const place = (path: string) => declared.get(`dashboards.${change.key}`)?.placeOf(toPath(path)) ?? change.place ?? { file: 'files' }
    for (const { path, message } of complaints)
      findings.push({
        rule: 'server-refuses',
        severity: 'error',
        place: place(path),
        message: `dashboards.${change.key}${path === '' ? '' : `.${path}`}: ${message}`,
      })
  }
  return { findings, uncheckedCount: Math.max(0, changed.length - mostChecked) }
}

const toPath = (path: string): readonly PropertyKey[] => path.split('.').map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part))

/** A body is checked as that of a create, which bears no ids. */
const withoutIds = (body: Body): Body => ({
  ...body,
  tiles: listOf(body.tiles).map(withoutId),
  ...(Array.isArray(body.filters) && { filters: listOf(body.filters).map(withoutId) }),
})

const withoutId = ({ id: _, ...rest }: Body): Body => rest

export const isWrong = ({ findings }: Planned): boolean => failing(findings).length > 0
