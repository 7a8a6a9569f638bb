import * as z from 'zod'
import type { WriteApi } from '../api/client.ts'
import { errorsIn, inputDiagnostic } from '../core/diagnostics.ts'
import { inputError, WatchkeeperError } from '../core/errors.ts'
import { parseJsonOrUndefined } from '../core/json.ts'
import { counted, join, joinFirst, type Line, say, sentence, toPlainText, trusted, untrusted } from '../core/line.ts'
import { toKebab } from '../core/names.ts'
import { listFirst, quote } from '../core/text.ts'
import { inEnvironment, ofEnvironment } from '../declarations/environment.ts'
import { choice, filePath, flag } from '../operation/inputs.ts'
import { type Context, defineOperation, type Verdict } from '../operation/operation.ts'
import type { Block } from '../report/blocks.ts'
import { toDiffLines } from '../report/diff-lines.ts'
import { formatMoment } from '../report/format.ts'
import { createResourceTypes } from '../resources/resource-types.ts'
import { sectionNouns } from '../resources/section.ts'
import { applyPlan } from './apply/apply-plan.ts'
import {
  isSuccess,
  isWritten,
  type Outcome,
  type OutcomeKind,
  outcomeKinds,
  type StopReason,
  stopReasons,
  successes,
  undone,
} from './apply/apply-state.ts'
import { diagnosticFiles } from './diagnostic-files.ts'
import { reviewEvaluations } from './plan/evaluations.ts'
import { countRequests, explainRefusal, hasErrors, makePlan, type PlanningResult, planInput } from './plan/make-plan.ts'
import { isIntact, movedSince, type PlanFile, planFileSchema, toPlanFile } from './plan/plan-file.ts'
import { judgeDiagnostics, objectBlocks, planFacts, toAnnotations } from './plan/plan-report.ts'
import { describeChanges, type PlannedObject, type PlanResult, planDetails, planOutput, toPlanResult } from './plan/plan-result.ts'
import { planRules } from './rules.ts'

export const apply = defineOperation({
  summary: 'Creates and updates alerts, dashboards, saved searches, webhooks and sources to match the files. A second run changes nothing.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  input: planInput.extend({
    planFile: filePath(
      'A file that plan wrote. Only its changes are applied. If the files or the service have changed since, nothing is written.',
    ).optional(),
    onError: choice(
      ['continue', 'stop'],
      'After an object fails: `continue` with the objects that do not depend on it, or `stop`.',
    ).default('continue'),
    rewrite: flag(
      'Also writes the managed dashboards and saved searches that need no change. For one run, after an upgrade that asks for it.',
    ).default(false),
    resendSecrets: flag(
      'Also sends the secrets of webhooks that need no change. For one run, after a header or a query parameter was changed by hand.',
    ).default(false),
  }),
  output: planOutput.extend({ planFile: z.string().describe('The plan file that was applied. Empty without one.') }),
  details: planDetails.extend({
    stopped: z
      .object({ kind: z.enum(stopReasons), message: z.string() })
      .optional()
      .describe('Why the run stopped early.'),
    notEvaluated: z
      .array(z.object({ key: z.string(), id: z.string(), dueAt: z.string().optional().describe('Latest time of the next evaluation.') }))
      .optional()
      .describe('Alerts that the server has not evaluated since this run wrote them, so that errors in their queries do not show yet.'),
    isPlanWrong: z.boolean().describe('Whether nothing was written because of errors in the files or the plan.'),
  }),
  example: { files: ['alerts.yml'], project: 'shop/observability' },
  check: ({ names, values }) =>
    names.has('planFile')
      ? (['rewrite', 'resendSecrets'] as const).flatMap((name) =>
          values[name] === true
            ? [inputDiagnostic(toKebab(name), 'cannot be given together with plan-file, which has no such changes')]
            : [],
        )
      : [],
  async run(context, input) {
    const agreed = input.planFile === undefined ? undefined : await readPlanFile(input.planFile, context)
    // A person decides by a plan that the server has checked.
    const isShown = agreed === undefined && context.confirm !== undefined
    const planned = await makePlan(context, { ...input, effect: 'write', spareFirst: !isShown })
    const planFile = input.planFile ?? ''
    if (hasErrors(planned)) return { ...(await toPlanResult(planned)), changed: false, planFile, isPlanWrong: true }
    if (agreed !== undefined) demandSame(agreed, planned, context, input.prune)
    // A plan file was reviewed.
    const confirmed = agreed === undefined ? await confirmPlan(planned, context, input) : planned
    return { ...(await carryOut(confirmed, context, input.onError)), planFile }
  },
  judge: (result) => (result.isPlanWrong ? judgeDiagnostics(result) : judgeApply(result)),
  report: (result) => ({
    headline: result.isPlanWrong ? say`Nothing was written${inEnvironment(result)}` : applyWords(result),
    blocks: [
      result.isPlanWrong ? planFacts(result) : outcomeFacts(result),
      { kind: 'diagnostics', diagnostics: result.diagnostics },
      ...applyBlocks(result),
    ],
    annotations: toAnnotations(result),
  }),
  files: ({ diagnostics }, input) => diagnosticFiles(input, diagnostics, planRules),
})

type ApplyInput = Pick<
  z.output<typeof planInput>,
  'files' | 'project' | 'adoptFrom' | 'fromRepository' | 'env' | 'repairDuplicates' | 'prune' | 'allowEmpty' | 'maxDeletes'
> & {
  readonly rewrite: boolean
  readonly resendSecrets: boolean
}

type ApplyContext = Context<'write', 'service-or-server'> & { readonly api: WriteApi }

/** A person may take long to answer. Only what was shown is written. */
async function confirmPlan(planned: PlanningResult, context: ApplyContext, input: ApplyInput): Promise<PlanningResult> {
  const { confirm, profile, service } = context
  if (confirm === undefined || planned.plan.changes.every(({ action }) => action === 'unchanged')) return planned
  const result = await toPlanResult(planned)
  await confirm({
    blocks: [planFacts(result), { kind: 'diagnostics', diagnostics: result.diagnostics }, ...objectBlocks(result)],
    question: `Apply these changes to ${result.project}${toPlainText(ofEnvironment(result))}?`,
  })
  const again = await makePlan(context, { ...input, effect: 'write', spareFirst: true })
  demandSame(
    toPlanFile(planned.plan, createResourceTypes(profile, context.clock.now()), {
      ...service,
      environment: planned.environment,
      prune: input.prune,
    }),
    again,
    context,
    input.prune,
  )
  return again
}

async function carryOut(planned: PlanningResult, context: ApplyContext, onError: 'continue' | 'stop') {
  const { api, service, profile, clock, stop } = context
  const { remote } = planned
  if (remote === undefined) throw new TypeError('a plan without errors was made of lists')
  const described = await describeChanges(planned.plan)
  const total = planned.plan.changes.filter(({ action }) => action !== 'unchanged').length
  const onProgress = async (outcomes: readonly Outcome[]): Promise<void> => {
    const last = outcomes.at(-1)
    if (last === undefined || last.kind === 'unchanged') return
    const done = outcomes.filter(({ kind }) => kind !== 'unchanged').length
    await context.progress({
      done,
      total,
      line: outcomeLine(last),
      result: async () => ({ ...(await toPlanResult(planned, outcomes, described)), changed: outcomes.some(isWritten) }),
    })
  }
  // An update reads its object again where the window of the rate limit has room for that.
  const hasRoom = countRequests(planned.plan.changes, false) <= (api.rateLimit()?.remaining ?? Number.POSITIVE_INFINITY)
  const usesLists = !hasRoom && profile.listsAllFields
  const applied = await applyPlan(planned.plan, {
    api,
    service,
    types: createResourceTypes(profile, clock.now()),
    listedAtMs: usesLists ? planned.remote?.readAtMs : undefined,
    clock,
    stop,
    onError,
    onProgress,
    remote,
    repairCommand: planned.repairCommand,
    unchecked: planned.writeFirst,
    explainRefusal: (change) => explainRefusal(change, planned, { api, service }),
  })
  const diagnosed = { ...planned, diagnostics: [...planned.diagnostics, ...applied.diagnostics] }
  if (applied.isRefused) return { ...(await toPlanResult(diagnosed)), changed: false, isPlanWrong: true }
  const alerts = applied.alerts ?? remote.alerts
  // The neutral contract does not show evaluations.
  const review = { ...applied, plan: planned.plan, alerts, nowMs: clock.now() }
  const { failed, notEvaluated } = profile.name === 'neutral' ? { failed: [], notEvaluated: [] } : reviewEvaluations(review)
  const result = await toPlanResult({ ...diagnosed, diagnostics: [...diagnosed.diagnostics, ...failed] }, applied.outcomes, described)
  return {
    ...result,
    changed: applied.outcomes.some(isWritten),
    isPlanWrong: false,
    notEvaluated: [...notEvaluated],
    ...(applied.stopped !== undefined && { stopped: { ...applied.stopped } }),
  }
}

async function readPlanFile(path: string, { files, environment }: Pick<ApplyContext, 'files' | 'environment'>): Promise<PlanFile> {
  const text = await files.read(path, 'plan-file')
  const parsed = planFileSchema.safeParse(parseJsonOrUndefined(text))
  const why = parsed.success ? 'was changed after plan wrote it' : 'is not a plan of this version'
  if (parsed.success && isIntact(parsed.data)) {
    if (parsed.data.environment === environment?.name) return parsed.data
    const planned = parsed.data.environment
    const advice =
      planned === undefined ? 'was made without env; leave env out' : `is for environment "${quote(planned, 63)}"; set env to it`
    throw inputError('plan-file', `"${quote(path, 80)}" ${advice}, or run plan again`)
  }
  throw inputError('plan-file', `"${quote(path, 80)}" ${why}: run plan again`)
}

/** The most differences that a message lists. */
const maxListed = 8

function demandSame(agreed: PlanFile, planned: PlanningResult, { service, profile, clock }: ApplyContext, prune: boolean): void {
  const moved = movedSince(
    agreed,
    toPlanFile(planned.plan, createResourceTypes(profile, clock.now()), { ...service, environment: planned.environment, prune }),
  )
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

type Applied = PlanResult & {
  readonly stopped?: StopReason | undefined
  readonly notEvaluated?: readonly { readonly key: string; readonly dueAt?: string | undefined }[] | undefined
}

/** In the order in which they are reported. */
const order: readonly OutcomeKind[] = [...undone, ...successes.filter((kind) => kind !== 'unchanged')]

const signs: Readonly<Partial<Record<OutcomeKind, string>>> = { unknown: '❓', failed: '❌', skipped: '⏭️' }

const withOutcome = ({ objects }: Applied, kind: OutcomeKind): readonly PlannedObject[] => objects.filter(({ outcome }) => outcome === kind)

/** How many objects had each outcome, not how many were planned. */
function outcomeFacts(result: Applied): Block {
  const always: readonly OutcomeKind[] = ['created', 'updated', 'deleted', 'unchanged']
  const facts = outcomeKinds.map((kind) => ({ kind, count: withOutcome(result, kind).length }))
  const undecided = result.objects.filter(({ outcome }) => outcome === undefined).length
  const shown = facts.filter(({ kind, count }) => count > 0 || always.includes(kind)).map(({ kind, count }) => [kind, count] as const)
  return {
    kind: 'facts',
    facts: [...shown, ...(undecided > 0 ? [['not done', undecided] as const] : [])].map(([label, count]) => ({
      label: `${label.charAt(0).toUpperCase()}${label.slice(1)}`,
      value: [trusted(String(count))],
    })),
  }
}

function applyWords(result: Applied): Line {
  const parts = order.flatMap((kind) => {
    const { length } = withOutcome(result, kind)
    return length === 0 ? [] : [say`${length} ${trusted(kind)}`]
  })
  if (parts.length === 0) return say`Nothing to do${inEnvironment(result)}: the service matches the files`
  const isWhole = undone.every((kind) => withOutcome(result, kind).length === 0)
  const word = isWhole ? 'Applied' : result.changed ? 'Applied in part' : 'Not applied'
  return say`${trusted(word)} to ${result.project}${ofEnvironment(result)} (${join(parts, ', ')})`
}

function judgeApply(result: Applied): Verdict {
  const [unknown = [], failed = [], skipped = []] = undone.map((kind) => withOutcome(result, kind))
  if (unknown.length + failed.length + skipped.length === 0) return judgeWhole(result)
  const reasons = [
    ...(unknown.length > 0
      ? [say`${counted(unknown.length, 'object')} may have been written, because the server did not answer. Run apply again`]
      : []),
    ...failed.slice(0, 1).map((first) => say`${failedWords(failed.length)}${wordsFor(first)}: ${sentence(firstLine(first.message))}`),
    ...(result.stopped === undefined ? [] : [say`stopped because ${trusted(result.stopped.message)}`]),
  ]
  return {
    status: 'error',
    reasons: reasons.length > 0 ? reasons : [say`${counted(skipped.length, 'object')} skipped`],
    ...exitFor(result),
  }
}

/** Everything was written; the errors that are left are not in the files. */
function judgeWhole(result: Applied): Verdict {
  const verdict = judgeDiagnostics(result)
  if (verdict.status !== 'fail') return verdict
  const errors = errorsIn(result.diagnostics).map(({ message }) => say`${sentence(message)}`)
  return { status: 'error', reasons: listFirst(errors, 1, (count) => say`${count} more`), ...exitFor(result) }
}

const failedWords = (count: number): Line => (count === 1 ? [] : say`${count} objects failed, the first of them `)

const wordsFor = ({ section, key, name }: PlannedObject): Line => say`${trusted(sectionNouns[section])} ${key || name}`

const firstLine = (text = ''): string => text.split('\n', 1)[0] ?? ''

function exitFor(result: Applied): Pick<Verdict, 'exit'> {
  if (result.changed || withOutcome(result, 'unknown').length > 0) return { exit: 'partlyApplied' }
  if (result.stopped?.kind === 'cancelled') return { exit: 'cancelled' }
  return result.stopped?.kind === 'denied' ? { exit: 'denied' } : {}
}

const outcomeLine = ({ change, kind, message }: Outcome): Line => {
  const what = say`${trusted(kind)} ${trusted(sectionNouns[change.section])} ${change.key || change.name}`
  return isSuccess({ kind }) || message === undefined ? what : say`${what}: ${firstLine(message)}`
}

function applyBlocks(result: Applied): readonly Block[] {
  const acted = order.flatMap((kind) => withOutcome(result, kind))
  const changedByServer = result.objects.filter(({ serverChanged }) => serverChanged !== undefined)
  return [
    {
      kind: 'table',
      columns: [{ title: 'Outcome' }, { title: 'Kind' }, { title: 'Key' }, { title: 'Id' }, { title: 'Remark' }],
      rows: acted.map(({ outcome = 'unchanged', section, key, name, id = '', message, notes }) => [
        [trusted([signs[outcome], outcome].filter(Boolean).join(' '))],
        [trusted(sectionNouns[section])],
        [untrusted(key || name)],
        id === '' ? [] : [untrusted(id)],
        message === undefined
          ? join(
              notes.map((note) => [sentence(note)]),
              '; ',
            )
          : [sentence(firstLine(message))],
      ]),
    },
    ...evaluationBlocks(result.notEvaluated),
    ...failureBlocks(acted),
    ...serverBlocks(changedByServer),
    { kind: 'details', title: 'Planned changes', blocks: objectBlocks(result), isQuiet: true },
  ]
}

/** The most alerts that the sentence names. */
const maxNamed = 5

/** An alert that is stored as declared can still fail when the server evaluates it. */
function evaluationBlocks(alerts: Applied['notEvaluated'] = []): readonly Block[] {
  if (alerts.length === 0) return []
  const names = joinFirst(
    alerts.map(({ key }) => say`${key}`),
    maxNamed,
  )
  const latest = alerts.map(({ dueAt = '' }) => dueAt).reduce((a, b) => (a > b ? a : b))
  const due = latest === '' ? [] : [trusted(`, by ${formatMoment(Date.parse(latest))}`)]
  const line = say`Not evaluated since this run: ${counted(alerts.length, 'alert')} (${names}). plan, drift and doctor show errors of the next evaluation${due}`
  return [{ kind: 'paragraph', line }]
}

/** The most failures that are shown in full. */
const maxShown = 10

/** The request and the advice, which do not fit into a table's cell. */
function failureBlocks(objects: readonly PlannedObject[]): readonly Block[] {
  const failures = objects.filter(({ outcome, message = '' }) => outcome !== 'skipped' && message.includes('\n'))
  if (failures.length === 0) return []
  const texts = failures.map((one) => [toPlainText(wordsFor(one)), ...(one.message ?? '').split('\n')].join('\n  '))
  const shown = listFirst(texts, maxShown, (count) => `… and ${count} more: see the result file`)
  return [{ kind: 'preformatted', text: shown.join('\n') }]
}

const serverBlocks = (objects: readonly PlannedObject[]): readonly Block[] =>
  objects.length === 0
    ? []
    : [
        { kind: 'paragraph', line: say`The server changed these values when saving (− sent, + stored):` },
        {
          kind: 'diff',
          lines: objects.flatMap(({ section, key, serverChanged = [] }) => [
            { sign: ' ' as const, text: `${sectionNouns[section]} ${key}` },
            ...toDiffLines(serverChanged),
          ]),
        },
      ]
