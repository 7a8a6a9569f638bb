import * as z from 'zod'
import { counted, type Line, say } from '../core/line.ts'
import { filePath } from '../operation/inputs.ts'
import { type Context, defineOperation } from '../operation/operation.ts'
import { createResourceTypes } from '../resources/resource-types.ts'
import { inEnvironment, ofEnvironment } from './environment.ts'
import { hasErrors, makePlan, planInput } from './make-plan.ts'
import { type PlanFile, planFileSchema, toPlanFile } from './plan-file.ts'
import {
  judgeDiagnostics,
  objectBlocks,
  type PlanResult,
  planDetails,
  planFacts,
  planOutput,
  planWords,
  sarifFile,
  toAnnotations,
  toPlanResult,
} from './plan-report.ts'

/** What plan and drift share: both make the same plan, and judge it differently. */
export const planShape = {
  effect: 'read' as const,
  scope: 'service-or-server' as const,
  input: planInput.extend({
    planFile: filePath('Writes the plan to this file. apply can then make exactly these changes.', 'a path').optional(),
  }),
  output: planOutput.extend({ planFile: z.string().describe('Path of the plan file. Empty if no plan was written.') }),
  details: planDetails.extend({
    planContent: planFileSchema.optional().describe('The content of `plan-file`: digests of the files and the objects.'),
  }),
  example: { files: ['examples/adopt/*.yml'], project: 'shop/observability' },
}

type PlanInput = z.output<(typeof planShape)['input']>

export async function runPlan(context: Context<'read', 'service-or-server'>, input: PlanInput) {
  const planned = await makePlan(context, { ...input, effect: 'read' })
  const result = await toPlanResult(planned)
  if (input.planFile === undefined || hasErrors(planned)) return { ...result, planFile: '' }
  const planContent = toPlanFile(planned.plan, createResourceTypes(context.profile, context.clock.now()), {
    ...context.service,
    environment: planned.environment,
    prune: input.prune,
  })
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
  summary: 'Shows what apply would change, field by field, without writing.',
  run: runPlan,
  judge: judgeDiagnostics,
  report: (result) => ({
    headline: result.diagnostics.some(({ severity }) => severity === 'error')
      ? say`The plan${inEnvironment(result)} failed`
      : result.changed
        ? say`Plan for ${result.project}${ofEnvironment(result)} (${planWords(result)})`
        : say`No changes${inEnvironment(result)}: the service matches the files${adoptionWords(result)}`,
    blocks: [planFacts(result), { kind: 'diagnostics', diagnostics: result.diagnostics }, ...objectBlocks(result)],
    annotations: toAnnotations(result),
  }),
  files: (result, input) => planFiles(result, input),
})

/** Adopting is not a difference, but apply writes a marker, and prune may delete the object later. */
const adoptionWords = ({ toAdopt }: Pick<PlanResult, 'toAdopt'>): Line =>
  toAdopt === 0 ? [] : say`, and apply adopts ${counted(toAdopt, 'object')}`
