import * as z from 'zod'
import type { WriteApi } from '../api/client.ts'
import { inputError, WatchkeeperError } from '../core/errors.ts'
import { quote } from '../core/text.ts'
import { choice, filePath } from '../operation/fields.ts'
import { type Context, defineOperation, type Files } from '../operation/operation.ts'
import { say } from '../report/blocks.ts'
import { createResourceTypes } from '../resources/resource-types.ts'
import { applyPlan } from './apply-changes.ts'
import { applyBlocks, applyWords, judgeApply, outcomeLine } from './apply-report.ts'
import { isWritten, type Outcome, stopReasons } from './apply-state.ts'
import { hasErrors, makePlan, type PlanningResult, planInput } from './make-plan.ts'
import { judgeDiagnostics, sarifFile } from './plan.ts'
import { isIntact, movedSince, type PlanFile, planFileSchema, toPlanFile } from './plan-file.ts'
import { describeChanges, planDetails, planFacts, planOutput, toPlanResult } from './plan-report.ts'

export const apply = defineOperation({
  summary: 'Makes alerts, dashboards and saved searches as the files say. Running it again changes nothing.',
  effect: 'write',
  scope: 'service',
  input: planInput.extend({
    planFile: filePath('A plan that plan wrote: only what it says is done, and nothing when files or service have moved since.').optional(),
    onError: choice(
      ['continue', 'stop'],
      'After an object that failed: `continue` with those that do not depend on it, or `stop`.',
    ).default('continue'),
  }),
  output: planOutput.extend({ planFile: z.string().describe('The plan that was applied; empty without one.') }),
  details: planDetails.extend({
    stopped: z
      .object({ kind: z.enum(stopReasons), message: z.string() })
      .optional()
      .describe('Why the run ended before its end.'),
    isPlanWrong: z.boolean().describe('Whether nothing was written because files or plan are wrong.'),
  }),
  example: { files: ['examples/adopt/*.yml'], project: 'shop/observability' },
  async run(context, input) {
    const agreed = input.planFile === undefined ? undefined : await readPlanFile(input.planFile, context.files)
    const planned = await makePlan(context, { ...input, effect: 'write' })
    const planFile = input.planFile ?? ''
    if (hasErrors(planned)) return { ...(await toPlanResult(planned)), changed: false, planFile, isPlanWrong: true }
    if (agreed !== undefined) demandSame(agreed, planned, context, input.prune)
    return { ...(await carryOut(planned, context, input.onError)), planFile, isPlanWrong: false }
  },
  judge: (result) => (result.isPlanWrong ? judgeDiagnostics(result) : judgeApply(result)),
  report: (result) => ({
    headline: result.isPlanWrong ? say`Nothing was written` : applyWords(result),
    blocks: [planFacts(result), { kind: 'diagnostics', diagnostics: result.diagnostics }, ...applyBlocks(result)],
    annotations: result.diagnostics,
  }),
  files: async ({ diagnostics }, input) => sarifFile(input.sarifFile, diagnostics),
})

type ApplyContext = Context<'write', 'service'> & { readonly api: WriteApi }

async function carryOut(planned: PlanningResult, context: ApplyContext, onError: 'continue' | 'stop') {
  const { api, service, profile, clock, stop } = context
  const described = await describeChanges(planned.plan)
  const total = planned.plan.changes.filter(({ action }) => action !== 'unchanged').length
  const onProgress = async (outcomes: readonly Outcome[]): Promise<void> => {
    const last = outcomes.at(-1)
    if (last === undefined || last.kind === 'unchanged') return
    const done = outcomes.filter(({ kind }) => kind !== 'unchanged').length
    await context.progress({ done, total, line: outcomeLine(last), result: () => toPlanResult(planned, outcomes, described) })
  }
  const applied = await applyPlan(planned.plan, { api, service, kinds: createResourceTypes(profile), clock, stop, onError, onProgress })
  const result = await toPlanResult(
    { ...planned, diagnostics: [...planned.diagnostics, ...applied.diagnostics] },
    applied.outcomes,
    described,
  )
  return { ...result, changed: applied.outcomes.some(isWritten), ...(applied.stopped !== undefined && { stopped: { ...applied.stopped } }) }
}

async function readPlanFile(path: string, files: Files): Promise<PlanFile> {
  const text = await files.read(path, 'plan-file')
  const parsed = planFileSchema.safeParse(tryJson(text))
  const why = parsed.success ? 'was changed after plan wrote it' : 'is no plan of this version'
  if (parsed.success && isIntact(parsed.data)) return parsed.data
  throw inputError('plan-file', `"${quote(path, 80)}" ${why}: run plan again`)
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The most differences that a message lists. */
const mostListed = 8

function demandSame(agreed: PlanFile, planned: PlanningResult, { service, profile }: ApplyContext, prune: boolean): void {
  const { organizationId, serviceId } = service
  const moved = movedSince(agreed, toPlanFile(planned.plan, createResourceTypes(profile), { organizationId, serviceId, prune }))
  if (moved.length === 0) return
  const rest = moved.length > mostListed ? [`… and ${moved.length - mostListed} more`] : []
  const lines = [...moved.slice(0, mostListed), ...rest].map((line) => `- ${line}`)
  throw new WatchkeeperError(
    'conflict',
    [
      'Files or service have moved since the plan was made, so nothing was written:',
      ...lines,
      'Plan again, and have the new plan reviewed.',
    ].join('\n'),
  )
}
