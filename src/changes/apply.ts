import * as z from 'zod'
import { kindLabels } from '../kinds/kind-names.ts'
import type { WriteApi } from '../platform/api/client.ts'
import { formatMoment } from '../platform/core/dates.ts'
import { errorsIn } from '../platform/core/diagnostics.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { parseJsonOrUndefined } from '../platform/core/json.ts'
import { counted, join, joinAtMost, type Line, placed, say, toPlainText, trusted, untrustedSentence } from '../platform/core/line.ts'
import { andMore, capitalize, listAtMost, quote } from '../platform/core/text.ts'
import { grouped } from '../platform/operation/inputs.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { type Block, composeBlocks, countFacts, fold, type Part, statusStyles } from '../platform/report/blocks.ts'
import { toDiffLines } from '../platform/report/diff-lines.ts'
import type { Verdict } from '../platform/report/report.ts'
import { diagnosticReports } from '../platform/report/sarif.ts'
import { table } from '../platform/report/table.ts'
import { applyPlan } from '../sync/apply/apply-plan.ts'
import { type StopReason, stopReasons } from '../sync/apply/apply-state.ts'
import {
  changesOf,
  countRequests,
  isDifference,
  isSuccess,
  isWritten,
  type Outcome,
  type OutcomeKind,
  staysAsItIs,
  successes,
  undone,
} from '../sync/decide/change.ts'
import { isAboutHeld } from '../sync/decide/hold.ts'
import { forProject, ofEnvironment } from '../sync/declarations/environment.ts'
import type { Prune } from '../sync/declarations/find-declarations.ts'
import { hasErrors, makePlan, type PlanningResult } from '../sync/plan/make-plan.ts'
import { planInput } from './inputs.ts'
import { reviewEvaluations } from './plan/evaluations.ts'
import { isIntact, movedSince, type PlanFile, planFileInput, planFileSchema, toPlanFile } from './plan/plan-file.ts'
import {
  judgeDiagnostics,
  maxSharing,
  objectBlocks,
  objectWords,
  planFacts,
  refusal,
  sharedDiagnostics,
  toAnnotations,
  withDiagnostics,
} from './plan/plan-report.ts'
import {
  describeChanges,
  newerFiles,
  type PlannedObject,
  type PlanResult,
  planDetails,
  planOutput,
  toPlanResult,
} from './plan/plan-result.ts'
import { type QueryAnswer, queryReview, sloReview } from './queries/query-review.ts'
import { reviewPlan } from './review.ts'
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
    if (newer !== undefined || hasErrors(planned.diagnostics)) {
      const result = { ...(await toPlanResult(planned)), changed: false, applied: false, planFile }
      return { ...result, isPlanWrong: hasErrors(planned.diagnostics), ...(newer && { newerFiles: newer }) }
    }
    if (agreed !== undefined) demandSame(agreed, planned, context, input.prune)
    // With a plan file, the review already happened.
    const confirmed = agreed === undefined ? await confirmPlan(planned, context, input) : planned
    return { ...(await carryOut(confirmed, context)), planFile }
  },
  judge: (result) => refusal(result)?.verdict ?? (result.isPlanWrong ? judgeDiagnostics(result.diagnostics) : judgeApply(result)),
  report: (result) =>
    refusal(result) ?? {
      headline: result.isPlanWrong ? say`Nothing was written${forProject(result)}` : applyWords(result),
      blocks: [!result.isPlanWrong && outcomeFacts(result), sharedDiagnostics(result.diagnostics), applyBlocks(result)],
      annotations: toAnnotations(result),
    },
  keyLines: (result) => outcomeLines(result),
  reports: diagnosticReports(planRules),
})

type ApplyContext = Context<'write', 'service-or-server'> & { readonly api: WriteApi }

/** Only what was shown is written: a person may take long to answer. */
async function confirmPlan(planned: PlanningResult, context: ApplyContext, input: z.output<typeof planInput>): Promise<PlanningResult> {
  const { confirm, service } = context
  if (confirm === undefined || planned.plan.changes.every(staysAsItIs)) return planned
  // With what the queries of its alerts would do, as in a plan.
  const reviewed = await reviewPlan<object, QueryAnswer>([queryReview, sloReview], context, planned, {})
  const result = await toPlanResult(reviewed)
  await confirm({
    blocks: composeBlocks([
      planFacts(result),
      withDiagnostics(result.diagnostics, [queryReview.blocks(reviewed.answers), objectBlocks(result)]),
    ]),
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
      line: withReason(say`${trusted(last.became)} ${objectWords(last.change)}`, last.became, last.message),
      result: async () => ({ ...(await toPlanResult(planned, outcomes, described)), changed: outcomes.some(isWritten) }),
    })
  }
  // An update reads its object again where the rate limit has room.
  const hasRoom = countRequests(planned.plan.changes) <= (api.rateLimit()?.remaining ?? Number.POSITIVE_INFINITY)
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
  const { problems, notEvaluated } = reviewEvaluations(planned.plan, applied.outcomes, alerts, clock.now())
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

/** A changed source can break alerts, which shows only when their queries run. */
async function brokenAlerts(planned: PlanningResult, context: ApplyContext, outcomes: readonly Outcome[]) {
  const written = outcomes.filter(isWritten).map(({ change }) => change)
  if (!changesOf(written, 'source').some(isDifference) || !context.api.hasSql) return []
  const { findBrokenAlerts } = await import('./queries/query-problems.ts')
  return findBrokenAlerts(context, planned, outcomes)
}

async function readPlanFile(path: string, { files, environment }: ApplyContext): Promise<PlanFile> {
  const { data } = planFileSchema.safeParse(parseJsonOrUndefined(await files.read(path, 'plan-file')))
  const refuse = (why: string) => inputError('plan-file', `"${quote(path)}" ${why} run plan again`)
  if (data === undefined) throw refuse('is not a plan of this version:')
  if (!isIntact(data)) throw refuse('was changed after plan wrote it:')
  const planned = data.environment
  if (planned === environment?.name) return data
  throw refuse(
    planned === undefined
      ? `was made without ${spellInput('env')}; leave it out, or`
      : `is for environment "${quote(planned, 63)}"; set ${spellInput('env', planned)}, or`,
  )
}

function demandSame(agreed: PlanFile, planned: PlanningResult, { service }: ApplyContext, prune: Prune) {
  const moved = movedSince(agreed, toPlanFile(planned, service, prune))
  if (moved.length === 0) return
  const held = planned.plan.diagnostics.filter(isAboutHeld).map(({ message }) => message)
  const [lines = [], reasons = []] = [moved, held].map((all) => listAtMost(all, 8, (count) => `… and ${count} more`))
  throw new WatchkeeperError(
    'conflict',
    [
      'The files or the service have changed since the plan was made, so nothing was written:',
      ...lines.map((line) => `- ${line}`),
      ...reasons,
      'Run plan again and review the new plan.',
    ].join('\n'),
  )
}

const order: readonly OutcomeKind[] = [...undone, ...successes.filter((kind) => kind !== 'unchanged')]

const signs: Readonly<Partial<Record<OutcomeKind, string>>> = { unknown: '❓', failed: statusStyles.fail.sign, skipped: '⏭️', held: '✋' }

function outcomeFacts(result: Applied): Block {
  const unchanged = withOutcome(result, 'unchanged')
  const tracked = unchanged.filter(({ isTracked }) => isTracked === true).length
  const undecided = result.objects.filter(({ outcome }) => outcome === undefined).length
  return countFacts({ Tracked: tracked, Unchanged: unchanged.length - tracked, 'Not done': undecided })
}

function applyWords(result: Applied) {
  const parts = order.flatMap((kind) => {
    const { length } = withOutcome(result, kind)
    return length === 0 ? [] : [say`${length} ${trusted(kind)}`]
  })
  if (parts.length === 0) return say`Nothing to do${forProject(result)}: everything matches the files`
  const isWhole = undone.every((kind) => withOutcome(result, kind).length === 0)
  const isHeld = !result.changed && withOutcome(result, 'held').length > 0
  const word = isHeld ? 'Nothing written' : isWhole ? 'Applied' : result.changed ? 'Applied in part' : 'Not applied'
  return say`${trusted(word)} to ${result.project}${ofEnvironment(result)} (${join(parts, ', ')})`
}

/** What was not written comes first. */
const outcomeLines = (result: Applied) =>
  actedOn(result).map((object) => {
    const { message, outcome = 'unchanged' } = object
    return withReason(say`${trusted(capitalize(outcome))}: ${objectWords(object)}`, outcome, message)
  })

const withReason = (what: Line, became: OutcomeKind, message: string | undefined) =>
  isSuccess(became) || message === undefined ? what : say`${what}: ${untrustedSentence(firstLine(message))}`

const actedOn = (result: Applied) => order.flatMap((kind) => withOutcome(result, kind))

function applyBlocks(result: Applied): Part {
  const acted = actedOn(result)
  const alike = Map.groupBy(result.objects, ({ kind, key, name }) => `${kind} ${name || key}`)
  const nameOf = ({ kind, key, name, id, file, line }: PlannedObject) => {
    const text = name || key
    const label = alike.get(`${kind} ${text}`)?.length === 1 ? text : `${text} (${id ?? key})`
    return file === undefined ? label : placed(label, { file, line })
  }
  const changedByServer = result.objects.filter(({ serverChanged }) => serverChanged !== undefined)
  return [
    table(undefined, groupByCause(acted, firstLine), {
      Outcome: ([{ outcome = 'unchanged' }]) => trusted([signs[outcome], outcome].filter(Boolean).join(' ')),
      Kind: ([{ kind }]) => trusted(kindLabels[kind]),
      Name: (group) => joinAtMost(maxSharing, group.map(nameOf)),
      Remark: ([{ outcome, message, notes }]) => {
        if (outcome === 'held') return say`for the reason above`
        return message === undefined ? join(notes.map(untrustedSentence), '; ') : untrustedSentence(firstLine(message))
      },
    }),
    notEvaluatedWords(result.notEvaluated),
    // The request and the advice, which do not fit into a table's cell.
    { kind: 'message', text: failureTexts(acted).join('\n') },
    changedByServer.length > 0 && say`The server changed these values when saving (− sent, + stored):`,
    {
      kind: 'diff',
      lines: changedByServer.flatMap(({ kind, key, serverChanged = [] }) => [
        { sign: ' ' as const, text: `${kindLabels[kind]} ${key}` },
        ...toDiffLines(serverChanged),
      ]),
    },
    { ...fold('Planned changes', objectBlocks(result)), isQuiet: true },
  ]
}

function notEvaluatedWords(alerts: Applied['notEvaluated'] = []) {
  if (alerts.length === 0) return []
  const names = joinAtMost(
    5,
    alerts.map(({ key }) => key),
  )
  const latest = alerts.map(({ dueAt = '' }) => dueAt).reduce((a, b) => (a > b ? a : b))
  const due = latest === '' ? [] : [trusted(`, by ${formatMoment(latest)}`)]
  return say`Not evaluated since this run: ${counted(alerts.length, 'alert')} (${names}). plan, drift and doctor show errors of the next evaluation${due}`
}

function failureTexts(objects: readonly PlannedObject[]) {
  const failures = objects.filter(({ outcome, message = '' }) => outcome !== 'skipped' && message.includes('\n'))
  const texts = groupByCause(failures, (message) => message.replace(/\n.*$/, '')).map(([first, ...others]) =>
    [`${toPlainText(objectWords(first))}${andMore(others.length, 0)}`, ...(first.message ?? '').split('\n')].join('\n  '),
  )
  return listAtMost(texts, 10, (count) => `… and ${count} more`)
}

function groupByCause(objects: readonly PlannedObject[], causeOf: (message: string) => string) {
  const groups = Map.groupBy(objects, (object) => {
    const { outcome: became = 'unchanged', kind, message = '' } = object
    return isSuccess(became) ? object : [became, kind, causeOf(message)].join()
  })
  return [...groups.values()].flatMap(([first, ...others]) => (first === undefined ? [] : [[first, ...others] as const]))
}

export type Applied = PlanResult & {
  readonly stopped?: StopReason | undefined
  readonly notEvaluated?: readonly { readonly key: string; readonly dueAt?: string | undefined }[] | undefined
}

const withOutcome = ({ objects }: Applied, kind: OutcomeKind) => objects.filter(({ outcome }) => outcome === kind)

function judgeApply(result: Applied): Verdict {
  const [unknown = [], failed = [], skipped = []] = undone.map((kind) => withOutcome(result, kind))
  const several = failed.length > 1 ? say`${failed.length} objects failed, the first of them ` : []
  const isWhole = unknown.length + failed.length + skipped.length === 0
  if (isWhole && result.stopped === undefined) return judgeWhole(result)
  const reasons = [
    ...(unknown.length > 0
      ? [say`${counted(unknown.length, 'object')} may have been written, because the server did not answer. Run apply again`]
      : []),
    ...failed.slice(0, 1).map((first) => say`${several}${objectWords(first)}: ${untrustedSentence(firstLine(first.message))}`),
    ...(result.stopped === undefined
      ? []
      : [say`stopped ${trusted(isWhole ? 'before the writes were verified, ' : '')}because ${trusted(result.stopped.message)}`]),
  ]
  const [first] = [...failed, ...unknown]
  const became = failed.length > 0 ? 'was not written' : 'may have been written'
  return {
    status: 'error',
    ...(first !== undefined && { cause: say`${objectWords(first)} ${trusted(became)}` }),
    reasons: reasons.length > 0 ? reasons : [say`${counted(skipped.length, 'object')} skipped`],
    ...exitFor(result),
  }
}

function judgeWhole(result: Applied): Verdict {
  const verdict = judgeDiagnostics(result.diagnostics)
  // A run that only leaves objects as they are is one for a person, as in a plan.
  if (verdict.status !== 'fail' || (!result.changed && errorsIn(result.diagnostics).every(isAboutHeld))) return verdict
  const others = errorsIn(result.diagnostics).filter((one) => !isAboutHeld(one))
  const errors = others.map(({ message }) => untrustedSentence(message))
  const reasons = errors.length === 0 ? verdict.reasons : listAtMost(errors, 1, (count) => say`${count} more`)
  return { status: 'error', reasons, ...exitFor(result) }
}

const firstLine = (text = '') => text.split('\n', 1)[0] ?? ''

function exitFor(result: Applied) {
  const { changed, stopped } = result
  if (changed || withOutcome(result, 'unknown').length > 0) return { exit: 'partlyApplied' as const }
  return stopped?.kind === 'canceled' || stopped?.kind === 'denied' ? { exit: stopped.kind } : {}
}
