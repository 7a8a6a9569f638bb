import * as z from 'zod'
import { onFailedEvaluation } from '../../kinds/alert/schedule.ts'
import { grouped } from '../../platform/operation/inputs.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { diagnosticReports } from '../../platform/report/sarif.ts'
import { staysAsItIs } from '../../sync/decide/change.ts'
import { hasErrors, type PlanningResult } from '../../sync/plan/make-plan.ts'
import { planInput } from '../inputs.ts'
import { planRules } from '../rules.ts'
import { findEvaluationProblems } from './evaluations.ts'
import { type PlanFile, planFileInput, planFileSchema, toPlanFile } from './plan-file.ts'
import { planDetails, planOutput, toPlanResult } from './plan-result.ts'

/** What plan and drift share: both make the same plan, and judge it differently. */
export const planShape = {
  effect: 'read' as const,
  scope: 'service-or-server' as const,
  input: planInput.extend({
    ...grouped('Gates', { onFailedEvaluation: onFailedEvaluation.default('warn') }),
    ...grouped('Output', { planFile: planFileInput }),
  }),
  output: planOutput.extend({
    needsApply: z.boolean().describe('Whether `apply` would write anything, ownership markers included.'),
    planFile: z.string().describe('Path of the plan file. Empty if no plan was written.'),
  }),
  details: planDetails.extend({
    planContent: planFileSchema.optional().describe('The content of `plan-file`: digests of the files and the objects.'),
  }),
  example: { files: ['alerts.yml'], project: 'shop/observability' },
  reports: diagnosticReports(planRules),
  // The plan file is essential, because the output plan-file names it, and a later job applies it.
  files: ({ planFile: path, planContent }: { readonly planFile: string; readonly planContent?: PlanFile | undefined }) =>
    path === '' ? [] : [{ input: 'planFile', path, content: `${JSON.stringify(planContent, null, 2)}\n`, isEssential: true as const }],
}

type SharedInput = z.output<(typeof planShape)['input']>

/** The result of a plan, with what the last evaluations of its alerts say, and the plan file. */
export async function toPlanOrDriftResult(context: Context<'read', 'service-or-server'>, planned: PlanningResult, input: SharedInput) {
  const problems = findEvaluationProblems(planned.plan, planned.storedObjects?.alert ?? [], {
    policy: input.onFailedEvaluation,
    nowMs: context.clock.now(),
  })
  const result = {
    ...(await toPlanResult({ ...planned, diagnostics: [...planned.diagnostics, ...problems] })),
    needsApply: planned.plan.changes.some((change) => !staysAsItIs(change)),
  }
  if (input.planFile === undefined || hasErrors(planned)) return { ...result, planFile: '' }
  const planContent = toPlanFile(planned, context.service, input.prune)
  return { ...result, planFile: input.planFile, planContent }
}
