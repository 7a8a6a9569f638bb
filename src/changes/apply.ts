import * as z from 'zod'
import type { WriteApi } from '../platform/api/client.ts'
import type { Diagnostic } from '../platform/core/diagnostics.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { parseJsonOrUndefined } from '../platform/core/json.ts'
import { say, toPlainText } from '../platform/core/line.ts'
import { listFirst, quote } from '../platform/core/text.ts'
import { grouped } from '../platform/operation/inputs.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { composeBlocks } from '../platform/report/blocks.ts'
import { diagnosticReports } from '../platform/report/sarif.ts'
import { applyPlan } from '../sync/apply/apply-plan.ts'
import { stopReasons } from '../sync/apply/apply-state.ts'
import { changesOf, countRequests, isDifference, isWritten, type Outcome, staysAsItIs } from '../sync/decide/change.ts'
import { inEnvironment, ofEnvironment } from '../sync/declarations/environment.ts'
import type { Prune } from '../sync/declarations/find-declarations.ts'
import { hasErrors, makePlan, type PlanningResult } from '../sync/plan/make-plan.ts'
import { applyBlocks, applyWords, judgeApply, outcomeFacts, outcomeLine, outcomeLines } from './apply/apply-report.ts'
import { planInput } from './inputs.ts'
import { reviewEvaluations } from './plan/evaluations.ts'
import { isIntact, movedSince, type PlanFile, planFileInput, planFileSchema, toPlanFile } from './plan/plan-file.ts'
import {
  judgeDiagnostics,
  objectBlocks,
  planFacts,
  refusal,
  sharedDiagnostics,
  toAnnotations,
  withDiagnostics,
} from './plan/plan-report.ts'
import { describeChanges, newerFiles, planDetails, planOutput, toPlanResult } from './plan/plan-result.ts'
import { planRules } from './rules.ts'

export const apply = defineOperation({
  summary: 'Creates and updates alerts, dashboards, saved searches, webhooks and sources to match the files. A second run changes nothing.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  input: planInput.extend({
    ...grouped('Writes', {
      planFile: planFileInput,
    }),
  }),
  output: planOutput.extend({
    applied: z.boolean().describe('Whether everything was applied.'),
    planFile: z.string().describe('The plan file that was applied. Empty without one.'),
  }),
  details: planDetails.extend({
    stopped: z
      .object({ kind: z.enum(stopReasons), message: z.string() })
      .optional()
      .describe('Why the run stopped early.'),
    notEvaluated: z
      .array(z.object({ key: z.string(), id: z.string(), dueAt: z.string().optional().describe('Latest time of the next evaluation.') }))
      .optional()
      .describe('Alerts that the server has not evaluated since this run wrote them, so that errors in their queries do not show yet.'),
    newerFiles,
    isPlanWrong: z.boolean().describe('Whether nothing was written because of errors in the files or the plan.'),
  }),
  example: { files: ['alerts.yml'], project: 'shop/observability' },
  moreExamples: [{ env: 'staging', prune: true }, { planFile: 'plan.json' }],
  async run(context, input) {
    const agreed = input.planFile === undefined ? undefined : await readPlanFile(input.planFile, context)
    const planned = await makePlan(context, { ...input, effect: 'write' })
    const planFile = input.planFile ?? ''
    const newer = await context.github?.findNewerFiles({ globs: input.files, paths: planned.found.paths })
    if (newer !== undefined || hasErrors(planned)) {
      const result = { ...(await toPlanResult(planned)), changed: false, applied: false, planFile }
      return { ...result, isPlanWrong: hasErrors(planned), ...(newer && { newerFiles: newer }) }
    }
    if (agreed !== undefined) demandSame(agreed, planned, context, input.prune)
    // With a plan file, the review already happened, and the plan is still the same.
    const confirmed = agreed === undefined ? await confirmPlan(planned, context, input) : planned
    return { ...(await carryOut(confirmed, context)), planFile }
  },
  judge: (result) => refusal(result)?.verdict ?? (result.isPlanWrong ? judgeDiagnostics(result) : judgeApply(result)),
  report: (result) =>
    refusal(result) ?? {
      headline: result.isPlanWrong ? say`Nothing was written${inEnvironment(result)}` : applyWords(result),
      blocks: [!result.isPlanWrong && outcomeFacts(result), sharedDiagnostics(result.diagnostics), applyBlocks(result)],
      annotations: toAnnotations(result),
    },
  keyLines: outcomeLines,
  reports: diagnosticReports(planRules),
})

type ApplyInput = z.output<typeof planInput>

type ApplyContext = Context<'write', 'service-or-server'> & { readonly api: WriteApi }

/** A person may take long to answer. Only what was shown is written. */
async function confirmPlan(planned: PlanningResult, context: ApplyContext, input: ApplyInput): Promise<PlanningResult> {
  const { confirm, service } = context
  if (confirm === undefined || planned.plan.changes.every(staysAsItIs)) return planned
  const result = await toPlanResult(planned)
  await confirm({
    blocks: composeBlocks([planFacts(result), withDiagnostics(result.diagnostics, objectBlocks(result))]),
    question: `Apply these changes to ${result.project}${toPlainText(ofEnvironment(result))}?`,
  })
  const again = await makePlan(context, { ...input, effect: 'write' })
  demandSame(toPlanFile(planned, service, input.prune), again, context, input.prune)
  return again
}

async function carryOut(planned: PlanningResult, context: ApplyContext) {
  const { api, service, clock, stop } = context
  const { storedObjects } = planned
  if (storedObjects === undefined) throw new TypeError('a plan without errors was made of lists')
  const described = await describeChanges(planned)
  const total = planned.plan.changes.filter((change) => !staysAsItIs(change)).length
  const onProgress = async (outcomes: readonly Outcome[]): Promise<void> => {
    const last = outcomes.at(-1)
    if (last === undefined || staysAsItIs(last.change)) return
    const done = outcomes.filter(({ change }) => !staysAsItIs(change)).length
    await context.progress({
      done,
      total,
      line: outcomeLine(last),
      result: async () => ({ ...(await toPlanResult(planned, outcomes, described)), changed: outcomes.some(isWritten) }),
    })
  }
  // An update reads its object again where the window of the rate limit has room for that.
  const hasRoom = countRequests(planned.plan.changes, false) <= (api.rateLimit()?.remaining ?? Number.POSITIVE_INFINITY)
  const applied = await applyPlan(planned.plan, {
    api,
    service,
    kinds: planned.kinds,
    listedAtMs: hasRoom ? undefined : planned.storedObjects?.readAtMs,
    clock,
    stop,
    onProgress,
    storedObjects,
    repairCommand: planned.repairCommand,
  })
  const created = new Set(applied.outcomes.flatMap(({ became, change }) => (became === 'created' ? [change.location] : [])))
  // The warning is about what would be created.
  const left = planned.diagnostics.filter(({ rule, location }) => rule !== 'same-name' || !created.has(location))
  const diagnosed = { ...planned, diagnostics: [...left, ...applied.diagnostics] }
  const alerts = applied.alerts ?? storedObjects.alert
  const { problems, notEvaluated } = reviewEvaluations({ ...applied, plan: planned.plan, alerts, nowMs: clock.now() })
  const broken = applied.stopped === undefined ? await brokenAlerts(planned, context, applied.outcomes) : []
  const diagnostics = [...diagnosed.diagnostics, ...problems, ...broken]
  const result = {
    ...(await toPlanResult({ ...diagnosed, diagnostics }, applied.outcomes, described)),
    changed: applied.outcomes.some(isWritten),
    isPlanWrong: false,
    notEvaluated: [...notEvaluated],
    ...(applied.stopped !== undefined && { stopped: { ...applied.stopped } }),
  }
  return { ...result, applied: judgeApply(result).status !== 'error' }
}

/** What a changed source broke shows only when its alerts are evaluated, or their queries run. */
async function brokenAlerts(planned: PlanningResult, context: ApplyContext, outcomes: readonly Outcome[]): Promise<readonly Diagnostic[]> {
  const isChanged = changesOf({ changes: outcomes.filter(isWritten).map(({ change }) => change) }, 'source').some(isDifference)
  if (!isChanged || !context.api.hasSql) return []
  const { findBrokenAlerts } = await import('./queries/query-problems.ts')
  return findBrokenAlerts(context, planned, outcomes)
}

async function readPlanFile(path: string, { files, environment }: Pick<ApplyContext, 'files' | 'environment'>): Promise<PlanFile> {
  const text = await files.read(path, 'plan-file')
  const parsed = planFileSchema.safeParse(parseJsonOrUndefined(text))
  const why = parsed.success ? 'was changed after plan wrote it' : 'is not a plan of this version'
  if (parsed.success && isIntact(parsed.data)) {
    if (parsed.data.environment === environment?.name) return parsed.data
    const planned = parsed.data.environment
    const advice =
      planned === undefined
        ? `was made without ${spellInput('env')}; leave it out`
        : `is for environment "${quote(planned, 63)}"; set ${spellInput('env', planned)}`
    throw inputError('plan-file', `"${quote(path, 80)}" ${advice}, or run plan again`)
  }
  throw inputError('plan-file', `"${quote(path, 80)}" ${why}: run plan again`)
}

const maxListed = 8

function demandSame(agreed: PlanFile, planned: PlanningResult, { service }: ApplyContext, prune: Prune): void {
  const moved = movedSince(agreed, toPlanFile(planned, service, prune))
  if (moved.length === 0) return
  const lines = listFirst(moved, maxListed, (count) => `… and ${count} more`).map((line) => `- ${line}`)
  throw new WatchkeeperError(
    'conflict',
    [
      'The files or the service have changed since the plan was made, so nothing was written:',
      ...lines,
      'Run plan again and review the new plan.',
    ].join('\n'),
  )
}
