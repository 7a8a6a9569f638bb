import { kindLabels } from '../../kinds/kind-names.ts'
import { formatMoment } from '../../platform/core/dates.ts'
import { errorsIn } from '../../platform/core/diagnostics.ts'
import { counted, join, joinFirst, type Line, placed, say, toPlainText, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { andMore, capitalize, listFirst, plural } from '../../platform/core/text.ts'
import { type Block, countFacts, fold, type Part, statusLooks } from '../../platform/report/blocks.ts'
import { toDiffLines } from '../../platform/report/diff-lines.ts'
import type { Verdict } from '../../platform/report/report.ts'
import { table } from '../../platform/report/table.ts'
import type { StopReason } from '../../sync/apply/apply-state.ts'
import { isSuccess, type Outcome, type OutcomeKind, successes, undone } from '../../sync/decide/change.ts'
import { isAboutHeld } from '../../sync/decide/hold.ts'
import { inEnvironment, ofEnvironment } from '../../sync/declarations/environment.ts'
import { judgeDiagnostics, maxSharing, objectBlocks } from '../plan/plan-report.ts'
import type { PlannedObject, PlanResult } from '../plan/plan-result.ts'

const order: readonly OutcomeKind[] = [...undone, ...successes.filter((kind) => kind !== 'unchanged')]

const signs: Readonly<Partial<Record<OutcomeKind, string>>> = { unknown: '❓', failed: statusLooks.fail.sign, skipped: '⏭️', held: '✋' }

/** The headline counts the objects with another outcome. */
export function outcomeFacts(result: Applied): Block {
  const unchanged = withOutcome(result, 'unchanged')
  const tracked = unchanged.filter(({ isTracked }) => isTracked === true).length
  const undecided = result.objects.filter(({ outcome }) => outcome === undefined).length
  return countFacts({ Tracked: tracked, Unchanged: unchanged.length - tracked, 'Not done': undecided })
}

export function applyWords(result: Applied): Line {
  const parts = order.flatMap((kind) => {
    const { length } = withOutcome(result, kind)
    return length === 0 ? [] : [say`${length} ${trusted(kind)}`]
  })
  if (parts.length === 0) return say`Nothing to do${inEnvironment(result)}: everything matches the files`
  const isWhole = undone.every((kind) => withOutcome(result, kind).length === 0)
  const isHeld = !result.changed && withOutcome(result, 'held').length > 0
  const word = isHeld ? 'Nothing written' : isWhole ? 'Applied' : result.changed ? 'Applied in part' : 'Not applied'
  return say`${trusted(word)} to ${result.project}${ofEnvironment(result)} (${join(parts, ', ')})`
}

export const outcomeLine = ({ change, became, message }: Outcome): Line => {
  const what = say`${trusted(became)} ${trusted(kindLabels[change.kind])} ${change.key || change.name}`
  return isSuccess({ became }) || message === undefined ? what : say`${what}: ${untrustedSentence(firstLine(message))}`
}

/** The objects with what became of them, for a message. What was not written comes first. */
export const outcomeLines = (result: Applied): readonly Line[] =>
  actedOn(result).map((object) => {
    const { message, outcome } = object
    const what = say`${trusted(capitalize(outcome ?? 'unchanged'))}: ${wordsFor(object)}`
    return message === undefined || (outcome !== undefined && isSuccess({ became: outcome }))
      ? what
      : say`${what}: ${untrustedSentence(firstLine(message))}`
  })

const actedOn = (result: Applied): readonly PlannedObject[] => order.flatMap((kind) => withOutcome(result, kind))

export function applyBlocks(result: Applied): Part {
  const acted = actedOn(result)
  const changedByServer = result.objects.filter(({ serverChanged }) => serverChanged !== undefined)
  return [
    table(undefined, groupByCause(acted, firstLine), {
      Outcome: ([{ outcome = 'unchanged' }]) => trusted([signs[outcome], outcome].filter(Boolean).join(' ')),
      Kind: ([{ kind }]) => trusted(kindLabels[kind]),
      Key: (group) =>
        joinFirst(
          maxSharing,
          group.map(({ key, name, file, line }) => (file === undefined ? key || name : placed(key || name, { file, line }))),
        ),
      Id: ([{ id }, ...others]) => (others.length > 0 ? trusted(plural(others.length + 1, 'object')) : id || []),
      Remark: ([{ message, notes }]) =>
        message === undefined ? join(notes.map(untrustedSentence), '; ') : untrustedSentence(firstLine(message)),
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

/** The most alerts that a sentence names. */
const maxNamed = 5

/** An alert that is stored as declared can still fail when the server evaluates it. */
function notEvaluatedWords(alerts: Applied['notEvaluated'] = []): Line {
  if (alerts.length === 0) return []
  const names = joinFirst(
    maxNamed,
    alerts.map(({ key }) => key),
  )
  const latest = alerts.map(({ dueAt = '' }) => dueAt).reduce((a, b) => (a > b ? a : b))
  const due = latest === '' ? [] : [trusted(`, by ${formatMoment(latest)}`)]
  return say`Not evaluated since this run: ${counted(alerts.length, 'alert')} (${names}). plan, drift and doctor show errors of the next evaluation${due}`
}

const maxShown = 10

function failureTexts(objects: readonly PlannedObject[]): readonly string[] {
  const failures = objects.filter(({ outcome, message = '' }) => outcome !== 'skipped' && message.includes('\n'))
  // The last line is the request.
  const texts = groupByCause(failures, (message) => message.replace(/\n.*$/, '')).map(([first, ...others]) =>
    [`${toPlainText(wordsFor(first))}${andMore(others.length, 0)}`, ...(first.message ?? '').split('\n')].join('\n  '),
  )
  return listFirst(texts, maxShown, (count) => `… and ${count} more`)
}

/** Objects that were not written for one cause are one line. */
function groupByCause(objects: readonly PlannedObject[], causeOf: (message: string) => string) {
  const groups = Map.groupBy(objects, (object) => {
    const { outcome: became = 'unchanged', kind, message = '' } = object
    return isSuccess({ became }) ? object : [became, kind, causeOf(message)].join()
  })
  return [...groups.values()].flatMap(([first, ...others]) => (first === undefined ? [] : [[first, ...others] as const]))
}

export type Applied = PlanResult & {
  readonly stopped?: StopReason | undefined
  readonly notEvaluated?: readonly { readonly key: string; readonly dueAt?: string | undefined }[] | undefined
}

export const withOutcome = ({ objects }: Applied, kind: OutcomeKind): readonly PlannedObject[] =>
  objects.filter(({ outcome }) => outcome === kind)

export function judgeApply(result: Applied): Verdict {
  const [unknown = [], failed = [], skipped = []] = undone.map((kind) => withOutcome(result, kind))
  const isWhole = unknown.length + failed.length + skipped.length === 0
  if (isWhole && result.stopped === undefined) return judgeWhole(result)
  const reasons = [
    ...(unknown.length > 0
      ? [say`${counted(unknown.length, 'object')} may have been written, because the server did not answer. Run apply again`]
      : []),
    ...failed
      .slice(0, 1)
      .map((first) => say`${failedWords(failed.length)}${wordsFor(first)}: ${untrustedSentence(firstLine(first.message))}`),
    ...(result.stopped === undefined
      ? []
      : [say`stopped ${trusted(isWhole ? 'before the writes were verified, ' : '')}because ${trusted(result.stopped.message)}`]),
  ]
  const [first] = [...failed, ...unknown]
  const became = failed.length > 0 ? 'was not written' : 'may have been written'
  return {
    status: 'error',
    ...(first !== undefined && { cause: say`${wordsFor(first)} ${trusted(became)}` }),
    reasons: reasons.length > 0 ? reasons : [say`${counted(skipped.length, 'object')} skipped`],
    ...exitFor(result),
  }
}

/** Everything was written; the errors that are left are not in the files. */
function judgeWhole(result: Applied): Verdict {
  const verdict = judgeDiagnostics(result)
  // A run that only leaves objects as they are is one for a person, as in a plan.
  if (verdict.status !== 'fail' || (!result.changed && errorsIn(result.diagnostics).every(isAboutHeld))) return verdict
  const errors = errorsIn(result.diagnostics).map(({ message }) => untrustedSentence(message))
  return { status: 'error', reasons: listFirst(errors, 1, (count) => say`${count} more`), ...exitFor(result) }
}

const failedWords = (count: number): Line => (count === 1 ? [] : say`${count} objects failed, the first of them `)

export const wordsFor = ({ kind, key, name }: PlannedObject): Line => say`${trusted(kindLabels[kind])} ${key || name}`

export const firstLine = (text = ''): string => text.split('\n', 1)[0] ?? ''

function exitFor(result: Applied): Pick<Verdict, 'exit'> {
  if (result.changed || withOutcome(result, 'unknown').length > 0) return { exit: 'partlyApplied' }
  if (result.stopped?.kind === 'canceled') return { exit: 'canceled' }
  return result.stopped?.kind === 'denied' ? { exit: 'denied' } : {}
}
