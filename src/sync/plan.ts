import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import { type Diagnostic, errorsIn } from '../core/diagnostics.ts'
import { InputError } from '../core/errors.ts'
import { filePath } from '../operation/fields.ts'
import { type Context, defineOperation, type Verdict } from '../operation/operation.ts'
import { counted, type Line, say } from '../report/blocks.ts'
import { renderSarif } from '../report/sarif.ts'
import { createKinds } from '../resources/resource-type.ts'
import type { Plan } from './change.ts'
import { type Found, findDeclarations } from './find-declarations.ts'
import { planInput, projectFor, toAdoptFrom } from './input.ts'
import { planChanges } from './plan-changes.ts'
import { type PlanFile, planFileSchema, toPlanFile } from './plan-file.ts'
import { objectBlocks, type PlanResult, planDetails, planFacts, planOutput, planWords, toPlanResult } from './plan-report.ts'
import { readWorld } from './remote-state.ts'
import { planRules } from './rules.ts'
import { checkByServer } from './server-check.ts'

// Owns the way from files and service to a plan: read, check, compare. It writes nothing.

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
  readonly diagnostics: readonly Diagnostic[]
  /** Changed dashboards that the server was not asked about. */
  readonly uncheckedCount: number
}

type PlanContext = Pick<Context<'read', 'service'>, 'service' | 'profile' | 'files' | 'lintSettings'> & { readonly api: ReadApi }

/** Files that are wrong end in diagnostics and a plan without changes: what they mean is not known. */
export async function makePlan(context: PlanContext, request: PlanRequest): Promise<Planned> {
  const { api, service, profile, files, lintSettings } = context
  const { project, diagnostics } = await projectFor(request.project, files, request.effect)
  const found = await findDeclarations(request.files, files, profile, lintSettings)
  if (errorsIn(found.diagnostics).length > 0) {
    const plan: Plan = { project, changes: [], leftovers: [], diagnostics: [], seen: {} }
    return { found, plan, diagnostics: [...diagnostics, ...worthPlanning(found.diagnostics)], uncheckedCount: 0 }
  }
  if (found.objects.length === 0 && request.prune)
    throw new InputError([{ name: 'files', message: 'declare nothing, and with prune everything would go: is the glob right?' }])
  const wanted = new Set(found.objects.map(({ section }) => section))
  const world = await readWorld({ api, service, profile, wanted })
  const plan = planChanges(found, world, { ...request, project, profile, adoptFrom: toAdoptFrom(request.adoptFrom) })
  const checked = profile.dashboardCheck ? await checkByServer(plan, found.objects, context) : { diagnostics: [], uncheckedCount: 0 }
  return {
    found,
    plan,
    diagnostics: [...diagnostics, ...worthPlanning(found.diagnostics), ...plan.diagnostics, ...checked.diagnostics],
    uncheckedCount: checked.uncheckedCount,
  }
}

/** Advice on files is for whoever writes them: validate gives it, and a plan shows what is to be decided. */
const worthPlanning = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity !== 'note')

export const isWrong = ({ diagnostics }: Planned): boolean => errorsIn(diagnostics).length > 0

// Owns the operation that says what apply would do. It sends nothing that writes.

/** What plan and drift have in common: they look at the same things, and only judge them differently. */
export const planShape = {
  effect: 'read' as const,
  scope: 'service' as const,
  input: planInput.extend({
    planFile: filePath('Writes the plan to this file, for apply to do exactly that.', 'a path').optional(),
  }),
  output: planOutput.extend({ planFile: z.string().describe('Where the plan was written; empty when it was not.') }),
  details: planDetails.extend({
    planContent: planFileSchema.optional().describe('What `plan-file` holds: digests of all that was looked at.'),
  }),
  example: { files: ['examples/adopt/*.yml'], project: 'shop/observability' },
}

type PlanInput = z.output<(typeof planShape)['input']>

export async function runPlan(context: Context<'read', 'service'>, input: PlanInput) {
  const planned = await makePlan(context, { ...input, effect: 'read' })
  const { organizationId, serviceId } = context.service
  const result = await toPlanResult(planned)
  if (input.planFile === undefined || isWrong(planned)) return { ...result, planFile: '' }
  const planContent = toPlanFile(planned.plan, createKinds(context.profile), { organizationId, serviceId, prune: input.prune })
  return { ...result, planFile: input.planFile, planContent }
}

type Ran = Pick<PlanResult, 'diagnostics'> & { readonly planFile: string; readonly planContent?: PlanFile | undefined }

export async function planFiles({ planFile, planContent, diagnostics }: Ran, { sarifFile: sarif }: PlanInput) {
  return [
    ...(planFile === '' ? [] : [{ input: 'planFile', path: planFile, content: `${JSON.stringify(planContent, null, 2)}\n` }]),
    ...sarifFile(sarif, diagnostics),
  ]
}

export const plan = defineOperation({
  ...planShape,
  summary: 'Shows what apply would change, field by field. Sends no request that writes.',
  run: runPlan,
  judge: judgeDiagnostics,
  report: (result) => ({
    headline: result.diagnostics.some(({ severity }) => severity === 'error')
      ? say`No plan can be made`
      : result.changed
        ? say`Plan for ${result.project} (${planWords(result)})`
        : say`No changes: the service is as the files say${adoptionWords(result)}`,
    blocks: [planFacts(result), { kind: 'diagnostics', diagnostics: result.diagnostics }, ...objectBlocks(result)],
    annotations: result.diagnostics,
  }),
  files: (result, input) => planFiles(result, input),
})

/** Not a difference, and still something that apply does: what is marked as the project's may be pruned later. */
const adoptionWords = ({ toAdopt }: Pick<PlanResult, 'toAdopt'>): Line =>
  toAdopt === 0 ? [] : say`, and apply takes over ${counted(toAdopt, 'object')}`

export const sarifFile = (path: string | undefined, diagnostics: PlanResult['diagnostics']) =>
  path === undefined ? [] : [{ input: 'sarifFile', path, content: renderSarif(planRules, diagnostics) }]

/** What is wrong in files is the user's to right; a warning is worth a look. */
export function judgeDiagnostics({ diagnostics }: Pick<PlanResult, 'diagnostics'>): Verdict {
  const count = (severity: string): number => diagnostics.filter((one) => one.severity === severity).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (errors > 0) return { status: 'fail', reasons: [say`${counted(errors, 'error')}`], exit: 'input' }
  return warnings > 0 ? { status: 'warn', reasons: [say`${counted(warnings, 'warning')}`] } : { status: 'pass', reasons: [] }
}
