// Owns how the outcome of apply is judged and shown.
import type { OutcomeKind } from '../../provision/outcome.ts'
import { isDone, type Outcome } from '../../provision/outcome.ts'
import type { Stop } from '../../provision/stopping.ts'
import type { Block } from '../../report/blocks.ts'
import { toDiffLines } from '../../report/diff.ts'
import { data, join, type Line, ours, say, sentence } from '../../report/line.ts'
import type { Verdict } from '../operation.ts'
import { judgeFindings } from './plan.ts'
import { counted, nouns } from './plan-blocks.ts'
import type { PlannedObject, PlanResult } from './plan-result.ts'

type Applied = PlanResult & { readonly stopped?: Stop | undefined }

/** In the order in which people want to know. */
const order: readonly OutcomeKind[] = ['unknown', 'failed', 'skipped', 'created', 'updated', 'replaced', 'deleted', 'adopted']

const signs: Readonly<Partial<Record<OutcomeKind, string>>> = { unknown: '❓', failed: '❌', skipped: '⏭️' }

const withOutcome = ({ objects }: Applied, kind: OutcomeKind): readonly PlannedObject[] => objects.filter(({ outcome }) => outcome === kind)

export function applyWords(result: Applied): Line {
  const parts = order.flatMap((kind) => {
    const { length } = withOutcome(result, kind)
    return length === 0 ? [] : [say`${length} ${ours(kind)}`]
  })
  return parts.length === 0 ? say`Nothing to do: the service is as the files say` : say`Applied to ${result.project} (${join(parts, ', ')})`
}

export function judgeApply(result: Applied): Verdict {
  const [unknown, failed, skipped] = (['unknown', 'failed', 'skipped'] as const).map((kind) => withOutcome(result, kind).length)
  const isWhole = !unknown && !failed && !skipped
  const verdict = judgeFindings(result)
  if (isWhole && verdict.status === 'fail') return { status: 'error', reasons: verdict.reasons }
  if (isWhole) return verdict
  const reasons = [
    ...(unknown
      ? [say`${counted(unknown, 'object')} may exist, because the server gave no answer: look for the mark, or run apply again`]
      : []),
    ...(failed ? [say`${counted(failed, 'object')} failed`] : []),
    ...(result.stopped === undefined ? [] : [say`stopped because ${ours(result.stopped.words)}`]),
  ]
  return { status: 'error', reasons: reasons.length > 0 ? reasons : [say`${counted(skipped ?? 0, 'object')} skipped`], ...exitFor(result) }
}

function exitFor(result: Applied): Pick<Verdict, 'exit'> {
  if (result.stopped?.kind === 'cancelled') return { exit: 'cancelled' }
  if (withOutcome(result, 'unknown').length > 0) return {}
  if (result.changed) return { exit: 'partlyApplied' }
  return result.stopped?.kind === 'denied' ? { exit: 'denied' } : {}
}

export const outcomeLine = ({ change, kind, message }: Outcome): Line => {
  const what = say`${ours(kind)} ${ours(nouns[change.section] ?? '')} ${change.key || change.name}`
  return isDone({ kind } as Outcome) || message === undefined ? what : say`${what}: ${message.split('\n', 1)[0] ?? ''}`
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
        [ours(nouns[section] ?? '')],
        [data(key || name)],
        id === '' ? [] : [data(id)],
        message === undefined ? notes.map((note) => sentence(note)) : [sentence(message.replaceAll('\n', ' '))],
      ]),
    },
    ...serverBlocks(changedByServer),
  ]
}

const serverBlocks = (objects: readonly PlannedObject[]): readonly Block[] =>
  objects.length === 0
    ? []
    : [
        { kind: 'paragraph', line: say`The server made something else of what was sent (− sent, + what it is now):` },
        {
          kind: 'diff',
          lines: objects.flatMap(({ section, key, serverChanged = [] }) => [
            { sign: ' ' as const, text: `${nouns[section]} ${key}` },
            ...toDiffLines(serverChanged),
          ]),
        },
      ]
