// Owns the way from files and service to a plan: read, check, compare. It writes nothing.
import type { ReadApi } from '../../api/client.ts'
import { InputError } from '../../kernel/errors.ts'
import type { Plan } from '../../provision/change.ts'
import { type Finding, failing } from '../../provision/finding.ts'
import { planChanges } from '../../provision/plan.ts'
import { readWorld } from '../../provision/world.ts'
import { type Found, findDeclarations } from '../declaration-files.ts'
import type { Context } from '../operation.ts'
import { projectFor, toAdoptFrom } from './inputs.ts'
import { checkByServer } from './server-check.ts'

export interface PlanRequest {
  readonly files: readonly string[]
  readonly project?: string | undefined
  readonly adoptFrom?: string | undefined
  readonly effect: 'read' | 'write'
  readonly prune: boolean
  readonly maxDeletes: number
}

export interface Planned {
  readonly found: Found
  readonly plan: Plan
  /** All that was found wrong, of files and of plan. */
  readonly findings: readonly Finding[]
  /** Changed dashboards that the server was not asked about. */
  readonly uncheckedCount: number
}

type PlanContext = Pick<Context<'read', 'service'>, 'service' | 'profile' | 'files' | 'lintSettings'> & { readonly api: ReadApi }

/** Files that are wrong end in findings and a plan without changes: what they mean is not known. */
export async function makePlan(context: PlanContext, request: PlanRequest): Promise<Planned> {
  const { api, service, profile, files, lintSettings } = context
  const { project, findings } = await projectFor(request.project, files, request.effect)
  const found = await findDeclarations(request.files, files, profile, lintSettings)
  if (failing(found.findings).length > 0) {
    const plan: Plan = { project, changes: [], leftovers: [], findings: [], seen: {} }
    return { found, plan, findings: [...findings, ...worthPlanning(found.findings)], uncheckedCount: 0 }
  }
  if (found.objects.length === 0 && request.prune)
    throw new InputError([{ name: 'files', message: 'declare nothing, and with prune everything would go: is the glob right?' }])
  const wanted = new Set(found.objects.map(({ section }) => section))
  const world = await readWorld({ api, service, profile, wanted })
  const plan = planChanges(found, world, { ...request, project, profile, adoptFrom: toAdoptFrom(request.adoptFrom) })
  const checked = profile.dashboardCheck ? await checkByServer(plan, found.objects, context) : { findings: [], uncheckedCount: 0 }
  return {
    found,
    plan,
    findings: [...findings, ...worthPlanning(found.findings), ...plan.findings, ...checked.findings],
    uncheckedCount: checked.uncheckedCount,
  }
}

/** Advice on files is for whoever writes them: validate gives it, and a plan shows what is to be decided. */
const worthPlanning = (findings: readonly Finding[]): readonly Finding[] => findings.filter(({ severity }) => severity !== 'note')

export const isWrong = ({ findings }: Planned): boolean => failing(findings).length > 0
