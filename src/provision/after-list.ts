// Owns what a list that was read after the writes tells: what became of creates without an answer, which marks stand twice, and
// what the server made of what was sent. Pure.
import type { List } from '../api/collection.ts'
import { compareBodies } from './compose.ts'
import { diffFields } from './field-diff.ts'
import type { Finding } from './finding.ts'
import type { Actual, Body, Kind } from './kinds/kind.ts'
import { doneKinds, type Outcome } from './outcome.ts'

/** A list by the marks in it. */
export interface MarkedList {
  readonly items: readonly Actual[]
  readonly mayBeCut: boolean
  readonly byToken: ReadonlyMap<string, Bearers>
}

/** The objects that bear one mark; more than one are too many. */
interface Bearers {
  readonly project: string
  readonly actuals: readonly Actual[]
}

/** An object that the list holds twice, because it was read while it changed, is one. */
export function byMark({ items, mayBeCut }: List<Actual>, kind: Kind): MarkedList {
  const byToken = new Map<string, { readonly project: string; readonly actuals: Actual[] }>()
  for (const actual of new Map(items.map((one) => [one.id, one])).values()) {
    const mark = kind.markIn(kind.bodyOf(actual))
    if (mark === undefined) continue
    const bearers = byToken.get(mark.token)
    if (bearers === undefined) byToken.set(mark.token, { project: mark.project, actuals: [actual] })
    else bearers.actuals.push(actual)
  }
  return { items, mayBeCut, byToken }
}

export type Found = { readonly actual: Actual } | 'absent' | 'unclear'

/** The object that bears the mark of the desired body. */
export function findByMark({ byToken, mayBeCut }: MarkedList, desired: Body, kind: Kind): Found {
  const [actual, second] = byToken.get(kind.markIn(desired)?.token ?? '')?.actuals ?? []
  if (actual !== undefined && second === undefined) return { actual }
  return actual === undefined && !mayBeCut ? 'absent' : 'unclear'
}

/** An outcome in the light of the list. `desired` has no open references. */
export function reviewOutcome(outcome: Outcome, list: MarkedList, desired: Body, kind: Kind): Outcome {
  const { change } = outcome
  const found = findByMark(list, desired, kind)
  if (typeof found === 'string') return outcome
  const { before, after } = compareBodies(kind, desired, found.actual)
  // What the answer to the write did not have yet, somebody else changed since.
  const answered = outcome.actual === undefined ? before : compareBodies(kind, desired, outcome.actual).before
  const serverChanged = diffFields(after, answered)
  if (outcome.kind === 'unknown' && serverChanged.length > 0 && !wasWritten(change, desired, found.actual, kind)) return outcome
  const { message: _, errorKind: __, ...rest } = outcome
  return {
    ...rest,
    kind: outcome.kind === 'unknown' ? doneKinds[change.action] : outcome.kind,
    id: found.actual.id,
    actual: found.actual,
    ...(serverChanged.length > 0 && { serverChanged }),
  }
}

/** The ownership marker tells: it holds a digest of what was declared, and was another one before. */
function wasWritten({ action, actual: before }: Outcome['change'], desired: Body, actual: Actual, kind: Kind): boolean {
  const digestIn = (one: Actual): string | undefined => kind.markIn(kind.bodyOf(one))?.digest
  const wanted = kind.markIn(desired)?.digest
  const isNew = before === undefined || action === 'replace'
  return digestIn(actual) === wanted && (isNew || digestIn(before) !== wanted)
}

/** Two runs at once, or a copy that somebody made. Nothing is deleted for it. */
export function findDoubles({ byToken }: MarkedList, kind: Kind, projectToken: string): readonly Finding[] {
  return [...byToken].flatMap(([token, { project, actuals }]): Finding[] => {
    if (project !== projectToken || actuals.length < 2) return []
    const ids = actuals.map(({ id }) => id).join(', ')
    const message = `the mark ${token} stands on ${actuals.length} ${kind.noun}s (${ids}): two runs at once, or a copy; delete the ones that are not wanted`
    return [{ rule: 'mark-twice', severity: 'error', place: { file: kind.section }, message }]
  })
}
