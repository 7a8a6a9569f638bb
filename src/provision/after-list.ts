// Owns what a list that was read after the writes tells: what became of creates without an answer, which marks stand twice, and
// what the server made of what was sent. Pure.
import type { List } from '../api/collection.ts'
import { compareBodies } from './compose.ts'
import { diffFields } from './field-diff.ts'
import type { Finding } from './finding.ts'
import type { Actual, Body, Kind } from './kinds/kind.ts'
import { doneKinds, type Outcome } from './outcome.ts'

export type Found = { readonly actual: Actual } | 'absent' | 'unclear'

/** The object that bears the mark of the desired body. */
export function findByMark({ items, mayBeCut }: List<Actual>, desired: Body, kind: Kind): Found {
  const token = kind.markIn(desired)?.token
  const [actual, second] = items.filter((one) => kind.markIn(kind.bodyOf(one))?.token === token)
  if (actual !== undefined && second === undefined) return { actual }
  return actual === undefined && !mayBeCut ? 'absent' : 'unclear'
}

/** An outcome in the light of the list. `desired` has no open references. */
export function reviewOutcome(outcome: Outcome, list: List<Actual>, desired: Body, kind: Kind): Outcome {
  const { change } = outcome
  const found = findByMark(list, desired, kind)
  if (typeof found === 'string') return outcome
  const { before, after } = compareBodies(kind, desired, found.actual)
  const serverChanged = diffFields(after, before)
  if (outcome.kind === 'unknown' && serverChanged.length > 0) return outcome
  const { message: _, errorKind: __, ...rest } = outcome
  return {
    ...rest,
    kind: outcome.kind === 'unknown' ? doneKinds[change.action] : outcome.kind,
    id: found.actual.id,
    actual: found.actual,
    ...(serverChanged.length > 0 && { serverChanged }),
  }
}

/** Two runs at once, or a copy that somebody made. Nothing is deleted for it. */
export function findDoubles({ items }: List<Actual>, kind: Kind, projectToken: string): readonly Finding[] {
  const byToken = Map.groupBy(items, (one) => {
    const mark = kind.markIn(kind.bodyOf(one))
    return mark?.project === projectToken ? mark.token : ''
  })
  return [...byToken].flatMap(([token, [first, ...others]]): Finding[] => {
    if (token === '' || first === undefined || others.length === 0) return []
    const ids = [first, ...others].map(({ id }) => id).join(', ')
    const message = `the mark ${token} stands on ${others.length + 1} ${kind.noun}s (${ids}): two runs at once, or a copy; delete the ones that are not wanted`
    return [{ rule: 'mark-twice', severity: 'error', place: { file: kind.section }, message }]
  })
}
