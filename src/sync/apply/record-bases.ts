// Where the server stores an object in another way than it was sent, the base in its marker is written again, so that the next plan is empty.

import { baseOf, diffSides, withBase } from '../../kinds/base.ts'
import { comparable, composeUpdate, sidesOf } from '../../kinds/compare.ts'
import type { Body, Kind, KindWire, StoredObject } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../platform/core/diagnostics.ts'
import { isSame } from '../../platform/core/equality.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { type Change, type Create, isWrite, type Write } from '../decide/change.ts'
import { isSuccess } from '../plan/outcome.ts'
import { findDesired, type StoredIndexes } from '../plan/stored-objects.ts'
import { updateObject, type WriteContext } from './write.ts'

export const baseRules = {
  'not-converging': {
    severity: 'error',
    description: 'The server stores a different value with every write, so that plan is never empty.',
  },
  'base-failed': {
    severity: 'error',
    description: 'The stored values could not be recorded. plan shows a difference until apply runs again.',
  },
} as const satisfies Rules

interface Written {
  readonly changes: readonly (Create | Write)[]
  readonly lists: StoredIndexes
  readonly answers: ReadonlyMap<Change, StoredObject>
}

/** Returns a diagnostic for each base that could not be recorded. */
export async function recordBases({ changes, lists, answers }: Written, context: WriteContext): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const change of changes) {
    if (context.state.stopped() !== undefined) return diagnostics
    const found = findStored(change, lists, context)
    if (found === undefined) continue
    if (!isUnchangedSinceAnswer(answers.get(change), found.stored, context.kinds[change.kind])) {
      diagnostics.push(report(change, 'base-failed', 'it changed after this run wrote it, so the stored values were not recorded'))
      continue
    }
    try {
      const problem = await recordBase(change, found, context)
      if (problem !== undefined) diagnostics.push(report(change, 'not-converging', problem))
    } catch (thrown) {
      if (!(thrown instanceof WatchkeeperError)) throw thrown
      diagnostics.push(report(change, 'base-failed', `the stored values could not be recorded: ${thrown.message.split('\n', 1)[0]}`))
    }
  }
  return diagnostics
}

const report = ({ kind, key, location }: Change, rule: keyof typeof baseRules, message: string): Diagnostic =>
  diagnosticOf(baseRules, rule, location ?? { file: 'apply' }, `${addressOf({ kind, key })}: ${message}`)

interface WrittenObject {
  readonly stored: StoredObject
  readonly desired: Body
}

/** A change of another user must not be recorded as the server's, nor be overwritten by the second write. */
const isUnchangedSinceAnswer = (answer: StoredObject | undefined, stored: StoredObject, kind: KindWire): boolean =>
  answer === undefined || isSame(comparable(kind, kind.toBody(answer)), comparable(kind, kind.toBody(stored)))

/** The stored object, where its marker has another base. */
function findStored(change: Create | Write, lists: StoredIndexes, { kinds, state }: WriteContext): WrittenObject | undefined {
  const { action, key, desired } = change
  const kind = kinds[change.kind]
  const resolved = state.resolve(desired)
  if (action === 'unchanged' || !('body' in resolved)) return undefined
  const { body } = resolved
  const outcome = state.outcomeOf(change)
  const list = lists[kind.name]
  if (outcome === undefined || !isSuccess(outcome) || list === undefined) return undefined
  const found = findDesired(list, body, kind)
  if (typeof found === 'string') return undefined
  const isConverged =
    kind.ownership === 'identity'
      ? diffSides(kind, sidesOf(kind, body, found.stored)).length === 0
      : key === '' || hasOwnBase(kind, found.stored, body)
  return isConverged ? undefined : { stored: found.stored, desired: body }
}

const hasOwnBase = (kind: Kind, stored: StoredObject, desired: Body): boolean => {
  const body = kind.toBody(stored)
  const marker = kind.readMarker(body)
  return marker === undefined || marker.base === baseOf(kind, body, desired)
}

/** The second write may store something else than the first: then its result is recorded once more. */
const maxAttempts = 2

/** Returns why that does not help, if it does not. */
async function recordBase(change: Create | Write, { stored, desired }: WrittenObject, context: WriteContext): Promise<string | undefined> {
  const kind = context.kinds[change.kind]
  // The same write would store the same again.
  if (kind.ownership === 'identity') return whyNotConverging(kind, desired, stored)
  let latest = stored
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const written: Write = isWrite(change) ? change : { ...change, action: 'update', id: stored.id, stored }
    const { removes: _, ...known } = {
      ...written,
      id: stored.id,
      stored: latest,
      desired,
      ...(written.patchedTileIds && { patchedTileIds: [] }),
    }
    const compose = (current: StoredObject): Body =>
      withBase(kind, composeUpdate(kind, desired, current), desired, baseOf(kind, kind.toBody(current), desired))
    latest = await updateObject(known, compose, { ...context, listedAtMs: undefined })
    if (hasOwnBase(kind, latest, desired)) return undefined
  }
  return whyNotConverging(kind, desired, latest)
}

function whyNotConverging(kind: KindWire, desired: Body, latest: StoredObject): string {
  const [first] = diffSides(kind, sidesOf(kind, desired, latest))
  return `the server stores a different value with every write${first === undefined ? '' : `, for example ${first.path}`}. plan will show it again`
}
