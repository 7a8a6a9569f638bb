import { kindLabels } from '../../kinds/kind-names.ts'
import { formatMoment } from '../../platform/core/dates.ts'
import { counted, join, joinFirst, type Line, placed, say, toPlainText, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { andMore, capitalize, listFirst, plural } from '../../platform/core/text.ts'
import { type Block, countFacts, fold, type Part, statusLooks } from '../../platform/report/blocks.ts'
import { toDiffLines } from '../../platform/report/diff-lines.ts'
import { table } from '../../platform/report/table.ts'
import { isSuccess, type Outcome, type OutcomeKind, successes, undone } from '../../sync/decide/change.ts'
import { inEnvironment, ofEnvironment } from '../../sync/declarations/environment.ts'
import { maxSharing, objectBlocks } from '../plan/plan-report.ts'
import type { PlannedObject } from '../plan/plan-result.ts'
import { type Applied, firstLine, withOutcome, wordsFor } from './apply-verdict.ts'

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
