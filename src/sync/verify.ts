import type { Diagnostic } from '../core/diagnostics.ts'
import { isSame } from '../core/equality.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { comparable, composeUpdate, sidesOf } from '../resources/compare.ts'
import type { Actual, Body } from '../resources/resource-type.ts'
import { snapshotOf, unexplained } from '../resources/snapshot.ts'
import { isDone, type Ledger, type Outcome } from './apply-state.ts'
import type { Change, Plan } from './change.ts'
import {
  findByMark,
  findDoubles,
  type Lists,
  type MarkedList,
  readLists,
  readUnchanged,
  reviewOutcome,
  type Writing,
} from './write-change.ts'

// Owns the look at the service after the writes: what was sent is compared with what is there, and marks are counted.

export const reviewRules = {
  'mark-lost': 'The service did not keep the mark of an object, or the object is gone again.',
  'not-reviewed': 'What was written could not be read again.',
} as const

export interface Reviewed {
  /** What is wrong although every request was answered well. */
  readonly diagnostics: readonly Diagnostic[]
  /** Of the kinds that were written. */
  readonly lists: Lists
}

export async function reviewAll(plan: Plan, ledger: Ledger, { api, service, kinds }: Writing): Promise<Reviewed> {
  const touched = ledger.all().filter(wasSent)
  if (touched.length === 0 || ledger.stopped() !== undefined) return { diagnostics: [], lists: {} }
  const sections = new Set(touched.map(({ change }) => change.section))
  let lists: Lists
  try {
    lists = await readLists(sections, { api, service, kinds })
  } catch (thrown) {
    if (!(thrown instanceof WatchkeeperError)) throw thrown
    const [reason] = thrown.message.split('\n', 1)
    const message = `what was written could not be read again: ${reason}`
    return { diagnostics: [{ rule: 'not-reviewed', severity: 'error', location: { file: 'apply' }, message }], lists: {} }
  }
  const lost = touched.flatMap((outcome) => reviewOne(outcome, lists[outcome.change.section], ledger, { api, service, kinds }))
  const doubles = [...sections].flatMap((section) => {
    const list = lists[section]
    return list === undefined ? [] : findDoubles(list, kinds[section], kinds[section].markStyle.projectToken(plan.project))
  })
  return { diagnostics: [...doubles, ...lost], lists }
}

const wasSent = (outcome: Outcome): boolean => outcome.kind === 'unknown' || (isDone(outcome) && outcome.kind !== 'unchanged')

function reviewOne(outcome: Outcome, list: MarkedList | undefined, ledger: Ledger, { kinds }: Writing): readonly Diagnostic[] {
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
  return [{ rule: 'mark-lost', severity: 'error', location: change.location ?? { file: 'apply' }, message }]
}

// Snapshot markers after a run: where the server stores something that known defaults do not explain, what it stores is recorded, so
// that the next plan has nothing to do.

export const snapshotRules = {
  'not-converging': 'The server stores something else with every write: plan will never be empty.',
  'snapshot-failed': 'What the server stored could not be recorded: plan will show it as a difference until apply runs again.',
} as const

export interface Recording {
  readonly changes: readonly Change[]
  /** Read after the writes. */
  readonly lists: Lists
  /** What the server answered to each write. */
  readonly answers: ReadonlyMap<Change, Actual>
  readonly ledger: Ledger
}

/** Returns what could not be recorded. */
export async function recordSnapshots(recording: Recording, writing: Writing): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const change of recording.changes) {
    if (recording.ledger.stopped() !== undefined) return diagnostics
    const stored = storedBy(change, recording, writing)
    if (stored === undefined) continue
    if (!isAsAnswered(change, stored.actual, recording, writing)) {
      diagnostics.push(report(change, 'snapshot-failed', 'it was changed after this run wrote it: what the server stores was not recorded'))
      continue
    }
    try {
      const problem = await recordSnapshot(change, stored, writing)
      if (problem !== undefined) diagnostics.push(report(change, 'not-converging', problem))
    } catch (thrown) {
      if (!(thrown instanceof WatchkeeperError)) throw thrown
      diagnostics.push(
        report(change, 'snapshot-failed', `what the server stores could not be recorded: ${thrown.message.split('\n', 1)[0]}`),
      )
    }
  }
  return diagnostics
}

const report = ({ section, key, location }: Change, rule: keyof typeof snapshotRules, message: string): Diagnostic => ({
  rule,
  severity: 'error',
  location: location ?? { file: 'apply' },
  message: `${section}.${key}: ${message}`,
})

interface Stored {
  readonly actual: Actual
  /** What was sent, with its ownership marker. */
  readonly desired: Body
}

/** What somebody else changed after the write is not the server's doing, and must not be overwritten by the second write. */
function isAsAnswered(change: Change, actual: Actual, { answers }: Recording, { kinds }: Writing): boolean {
  const kind = kinds[change.section]
  const answer = answers.get(change)
  return answer === undefined || isSame(comparable(kind, kind.bodyOf(answer)), comparable(kind, kind.bodyOf(actual)))
}

/** The object, where a snapshot of it is needed. */
function storedBy(change: Change, { lists, ledger }: Recording, { kinds }: Writing): Stored | undefined {
  const { section, action, actual: before, desired } = change
  const kind = kinds[section]
  const resolved = desired === undefined ? undefined : ledger.resolve(desired)
  if (action === 'unchanged' || resolved === undefined || !('body' in resolved)) return undefined
  const { body } = resolved
  const outcome = ledger.outcomeOf(change)
  const list = lists[section]
  if (outcome === undefined || !isDone(outcome) || list === undefined) return undefined
  const found = findByMark(list, body, kind)
  if (typeof found === 'string') return undefined
  // Whoever wrote a snapshot before, perhaps another version of this tool, needs one.
  const hadSnapshot = before !== undefined && kind.snapshotIn(kind.bodyOf(before)) !== undefined
  const isExplained = unexplained(kind, sidesOf(kind, body, found.actual)).length === 0
  return isExplained && !hadSnapshot ? undefined : { actual: found.actual, desired: body }
}

/** A write may put something right that was changed meanwhile, and so store something else than was stored before. */
const mostAttempts = 2

/** Returns why it is of no use. */
async function recordSnapshot(change: Change, { actual, desired }: Stored, writing: Writing): Promise<string | undefined> {
  const { api, service, kinds } = writing
  const kind = kinds[change.section]
  let stored = await readUnchanged({ ...change, id: actual.id, actual, desired }, writing)
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const digest = snapshotOf(sidesOf(kind, desired, stored))
    stored = await kind.collection.update(api, service, stored, composeUpdate(kind, kind.withSnapshot(desired, digest), stored))
    if (snapshotOf(sidesOf(kind, desired, stored)) === digest) return undefined
  }
  const [first] = unexplained(kind, sidesOf(kind, desired, stored))
  return `the server stores something else with every write${first === undefined ? '' : `, for example ${first.path}`}: plan will show it again`
}
