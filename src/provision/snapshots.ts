// Snapshot markers after a run: where the server stores something that known defaults do not explain, what it stores is recorded, so
// that the next plan has nothing to do.
import { WatchkeeperError } from '../kernel/errors.ts'
import { isSame } from '../kernel/same.ts'
import { findByMark } from './after-list.ts'
import type { Change } from './change.ts'
import { comparable, composeUpdate, sidesOf } from './compose.ts'
import { snapshotOf, unexplained } from './convergence.ts'
import type { Finding } from './finding.ts'
import type { Actual, Body } from './kinds/kind.ts'
import type { Ledger } from './ledger.ts'
import type { Lists } from './lists.ts'
import { isDone } from './outcome.ts'
import { collectionOf, readUnchanged, type Writing } from './write-change.ts'

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
export async function recordSnapshots(recording: Recording, writing: Writing): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const change of recording.changes) {
    if (recording.ledger.stopped() !== undefined) return findings
    const stored = storedBy(change, recording, writing)
    if (stored === undefined) continue
    if (!isAsAnswered(change, stored.actual, recording, writing)) {
      findings.push(report(change, 'snapshot-failed', 'it was changed after this run wrote it: what the server stores was not recorded'))
      continue
    }
    try {
      const problem = await recordSnapshot(change, stored, writing)
      if (problem !== undefined) findings.push(report(change, 'not-converging', problem))
    } catch (thrown) {
      if (!(thrown instanceof WatchkeeperError)) throw thrown
      findings.push(report(change, 'snapshot-failed', `what the server stores could not be recorded: ${thrown.message.split('\n', 1)[0]}`))
    }
  }
  return findings
}

const report = ({ section, key, place }: Change, rule: keyof typeof snapshotRules, message: string): Finding => ({
  rule,
  severity: 'error',
  place: place ?? { file: 'apply' },
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
  const collection = collectionOf(api, change.section)
  let stored = await readUnchanged({ ...change, id: actual.id, actual, desired }, collection, writing)
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const digest = snapshotOf(sidesOf(kind, desired, stored))
    stored = await collection.update(service, stored, composeUpdate(kind, kind.withSnapshot(desired, digest), stored))
    if (snapshotOf(sidesOf(kind, desired, stored)) === digest) return undefined
  }
  const [first] = unexplained(kind, sidesOf(kind, desired, stored))
  return `the server stores something else with every write${first === undefined ? '' : `, for example ${first.path}`}: plan will show it again`
}
