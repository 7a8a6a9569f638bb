// Owns the look at the service after the writes: what was sent is compared with what is there, and marks are counted.
import { WatchkeeperError } from '../kernel/errors.ts'
import { findByMark, findDoubles, type MarkedList, reviewOutcome } from './after-list.ts'
import type { Plan } from './change.ts'
import type { Finding } from './finding.ts'
import type { Ledger } from './ledger.ts'
import { type Lists, readLists } from './lists.ts'
import { isDone, type Outcome } from './outcome.ts'
import type { Writing } from './write-change.ts'

export const reviewRules = {
  'mark-lost': 'The service did not keep the mark of an object, or the object is gone again.',
  'not-reviewed': 'What was written could not be read again.',
} as const

export interface Reviewed {
  /** What is wrong although every request was answered well. */
  readonly findings: readonly Finding[]
  /** Of the kinds that were written. */
  readonly lists: Lists
}

export async function reviewAll(plan: Plan, ledger: Ledger, { api, service, kinds }: Writing): Promise<Reviewed> {
  const touched = ledger.all().filter(wasSent)
  if (touched.length === 0 || ledger.stopped() !== undefined) return { findings: [], lists: {} }
  const sections = new Set(touched.map(({ change }) => change.section))
  let lists: Lists
  try {
    lists = await readLists(sections, { api, service, kinds })
  } catch (thrown) {
    if (!(thrown instanceof WatchkeeperError)) throw thrown
    const [reason] = thrown.message.split('\n', 1)
    const message = `what was written could not be read again: ${reason}`
    return { findings: [{ rule: 'not-reviewed', severity: 'error', place: { file: 'apply' }, message }], lists: {} }
  }
  const lost = touched.flatMap((outcome) => reviewOne(outcome, lists[outcome.change.section], ledger, { api, service, kinds }))
  const doubles = [...sections].flatMap((section) => {
    const list = lists[section]
    return list === undefined ? [] : findDoubles(list, kinds[section], kinds[section].markStyle.projectToken(plan.project))
  })
  return { findings: [...doubles, ...lost], lists }
}

const wasSent = (outcome: Outcome): boolean => outcome.kind === 'unknown' || (isDone(outcome) && outcome.kind !== 'unchanged')

function reviewOne(outcome: Outcome, list: MarkedList | undefined, ledger: Ledger, { kinds }: Writing): readonly Finding[] {
  const { change, id } = outcome
  const kind = kinds[change.section]
  const resolved = ledger.resolve(change.desired ?? {})
  if (list === undefined || !('body' in resolved)) return []
  ledger.amend(reviewOutcome(outcome, list, resolved.body, kind))
  if (outcome.kind === 'unknown' || findByMark(list, resolved.body, kind) !== 'absent') return []
  const isThere = list.items.some((one) => one.id === id)
  const message = isThere
    ? `${change.section}.${change.key}: the service did not keep the mark of the ${kind.noun} ${id}: another run would not know it again`
    : `${change.section}.${change.key}: the ${kind.noun} ${id} is gone again: somebody deletes what is written here`
  return [{ rule: 'mark-lost', severity: 'error', place: change.place ?? { file: 'apply' }, message }]
}
