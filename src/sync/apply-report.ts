import type { Verdict } from '../operation/operation.ts'
import { type Block, counted, data, join, type Line, ours, say, sentence, toPlainText } from '../report/blocks.ts'
import { toDiffLines } from '../report/diff.ts'
import { sectionNouns } from '../resources/resource-type.ts'
import { isSuccess, type Outcome, type OutcomeKind, type StopReason } from './apply-state.ts'
import { judgeDiagnostics } from './plan.ts'
import { objectBlocks, type PlannedObject, type PlanResult } from './plan-report.ts'

type Applied = PlanResult & { readonly stopped?: StopReason | undefined }

/** In the order in which they are reported. */
const order: readonly OutcomeKind[] = ['unknown', 'failed', 'skipped', 'created', 'updated', 'replaced', 'deleted', 'adopted']

const signs: Readonly<Partial<Record<OutcomeKind, string>>> = { unknown: '❓', failed: '❌', skipped: '⏭️' }

const withOutcome = ({ objects }: Applied, kind: OutcomeKind): readonly PlannedObject[] => objects.filter(({ outcome }) => outcome === kind)

/** Objects that are not as planned. */
const undone: readonly OutcomeKind[] = ['unknown', 'failed', 'skipped']

export function applyWords(result: Applied): Line {
  const parts = order.flatMap((kind) => {
    const { length } = withOutcome(result, kind)
    return length === 0 ? [] : [say`${length} ${ours(kind)}`]
  })
  if (parts.length === 0) return say`Nothing to do: the service is as the files say`
  const isWhole = undone.every((kind) => withOutcome(result, kind).length === 0)
  const word = isWhole ? 'Applied' : result.changed ? 'Applied in part' : 'Not applied'
  return say`${ours(word)} to ${result.project} (${join(parts, ', ')})`
}

export function judgeApply(result: Applied): Verdict {
  const [unknown = [], failed = [], skipped = []] = undone.map((kind) => withOutcome(result, kind))
  if (unknown.length + failed.length + skipped.length === 0) return judgeWhole(result)
  const reasons = [
    ...(unknown.length > 0
      ? [say`${counted(unknown.length, 'object')} may exist, because the server gave no answer: run apply again`]
      : []),
    ...failed.slice(0, 1).map((first) => say`${failedWords(failed.length)}${wordsFor(first)}: ${sentence(firstLine(first.message))}`),
    ...(result.stopped === undefined ? [] : [say`stopped because ${ours(result.stopped.message)}`]),
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
  const [first, ...others] = result.diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ message }) => say`${sentence(message)}`)
  return { status: 'error', reasons: [first ?? [], ...(others.length > 0 ? [say`${others.length} more`] : [])] }
}

const failedWords = (count: number): Line => (count === 1 ? [] : say`${count} objects failed, the first of them `)

const wordsFor = ({ section, key, name }: PlannedObject): Line => say`${ours(sectionNouns[section])} ${key || name}`

const firstLine = (text = ''): string => text.split('\n', 1)[0] ?? ''

function exitFor(result: Applied): Pick<Verdict, 'exit'> {
  if (result.stopped?.kind === 'cancelled') return { exit: 'cancelled' }
  if (withOutcome(result, 'unknown').length > 0) return {}
  if (result.changed) return { exit: 'partlyApplied' }
  return result.stopped?.kind === 'denied' ? { exit: 'denied' } : {}
}

export const outcomeLine = ({ change, kind, message }: Outcome): Line => {
  const what = say`${ours(kind)} ${ours(sectionNouns[change.section])} ${change.key || change.name}`
  return isSuccess({ kind } as Outcome) || message === undefined ? what : say`${what}: ${firstLine(message)}`
}

export function applyBlocks(result: Applied): readonly Block[] {
  const acted = order.flatMap((kind) => withOutcome(result, kind))
  const changedByServer = result.objects.filter(({ serverChanged }) => serverChanged !== undefined)
  return [
    {
      kind: 'table',
      columns: [{ title: 'Outcome' }, { title: 'Kind' }, { title: 'Key' }, { title: 'Id' }, { title: 'Remark' }],
      rows: acted.map(({ outcome = 'unchanged', section, key, name, id = '', message, notes }) => [
        [ours([signs[outcome], outcome].filter(Boolean).join(' '))],
        [ours(sectionNouns[section])],
        [data(key || name)],
        id === '' ? [] : [data(id)],
        message === undefined ? notes.map((note) => sentence(note)) : [sentence(firstLine(message))],
      ]),
    },
    ...failureBlocks(acted),
    ...serverBlocks(changedByServer),
    { kind: 'details', title: 'What was to change', blocks: objectBlocks(result) },
  ]
}

/** The most failures that are shown in full. */
const maxShown = 10

/** The request and the advice, which do not fit into a table's cell. */
function failureBlocks(objects: readonly PlannedObject[]): readonly Block[] {
  const failures = objects.filter(({ outcome, message = '' }) => outcome !== 'skipped' && message.includes('\n'))
  if (failures.length === 0) return []
  const shown = failures.slice(0, maxShown).map((one) => [toPlainText(wordsFor(one)), ...(one.message ?? '').split('\n')].join('\n  '))
  const more = failures.length > maxShown ? [`… and ${failures.length - maxShown} more: see the result file`] : []
  return [{ kind: 'preformatted', text: [...shown, ...more].join('\n') }]
}

const serverBlocks = (objects: readonly PlannedObject[]): readonly Block[] =>
  objects.length === 0
    ? []
    : [
        { kind: 'paragraph', line: say`The server made something else of what was sent (− sent, + what it is now):` },
        {
          kind: 'diff',
          lines: objects.flatMap(({ section, key, serverChanged = [] }) => [
            { sign: ' ' as const, text: `${sectionNouns[section]} ${key}` },
            ...toDiffLines(serverChanged),
          ]),
        },
      ]
