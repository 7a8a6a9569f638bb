import { baseOf, diffSides, withBase } from '../../kinds/base.ts'
import { comparable, compareBodies, composeUpdate, diffFields, explainDropped, missingFields, sidesOf } from '../../kinds/compare.ts'
import { type Body, checkRules, type Kind, type KindWire, type StoredObject } from '../../kinds/kind.ts'
import { addressOf, type KindName, sections } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { requestTimeoutMs } from '../../platform/api/requester.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../platform/core/diagnostics.ts'
import { isSame } from '../../platform/core/equality.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { capitalize, pluralOf } from '../../platform/core/text.ts'
import {
  type Change,
  type Create,
  isDelete,
  isSuccess,
  isWrite,
  isWritten,
  type Outcome,
  type Plan,
  successKinds,
  type Write,
} from '../decide/change.ts'
import { adviseOnTwins, twinRules } from '../decide/twins.ts'
import { findDesired, readStoredIndexes, type StoredIndex, type StoredIndexes } from '../plan/stored-objects.ts'
import { preventsReading } from './apply-state.ts'
import { concurrentRunsPage } from './concurrent-runs.ts'
import { sendableBody, updateObject, type WriteContext, writeOne } from './write.ts'

export const verifyRules = {
  'marker-lost': {
    severity: 'error',
    description: 'The service did not keep the ownership marker of an object, or the object is gone again.',
  },
  'not-verified': { severity: 'error', description: 'The written objects could not be read again.' },
} as const satisfies Rules

export async function verifyWrites(
  plan: Plan,
  context: WriteContext,
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly lists: StoredIndexes }> {
  const { kinds, state } = context
  const touched = state.all().filter((outcome) => outcome.became === 'unknown' || (isSuccess(outcome.became) && isWritten(outcome)))
  const canVerify = (): boolean => state.stopped() === undefined || state.stopped()?.kind === 'other-run'
  if (touched.length === 0 || !canVerify()) return { diagnostics: [], lists: {} }
  const writtenKinds = new Set(touched.map(({ change }) => change.kind))
  let lists: StoredIndexes
  try {
    lists = await readStoredIndexes(writtenKinds, context)
  } catch (thrown) {
    if (!canVerify()) return { diagnostics: [], lists: {} }
    if (!(thrown instanceof WatchkeeperError)) throw thrown
    const [reason] = thrown.message.split('\n', 1)
    const message = `the written objects could not be read again: ${reason}`
    return { diagnostics: [diagnosticOf(verifyRules, 'not-verified', { file: 'apply' }, message)], lists: {} }
  }
  const lost = touched.flatMap((outcome) => verifyWrite(outcome, lists[outcome.change.kind], context))
  // Any self-hosted server may have the tool that patches dashboards. The plan of a repair asks for it.
  const canPatch = context.api.profile.isSelfHosted
  const twins = findTwinsOfCreated(plan.changes, lists, kinds, { canPatch, repairCommand: context.repairCommand })
  return { diagnostics: [...twins, ...lost], lists }
}

function verifyWrite(outcome: Outcome, list: StoredIndex | undefined, { state, kinds }: WriteContext): readonly Diagnostic[] {
  const { change, id } = outcome
  const kind = kinds[change.kind]
  const resolved = change.desired === undefined ? undefined : state.resolve(change.desired)
  // A released object has no marker any more, and a moved one may never have had one.
  if (list === undefined || resolved === undefined || !('body' in resolved) || kind.readMarker(resolved.body) === undefined) return []
  state.amend(reconcileOutcome(outcome, list, resolved.body, kind))
  const found = findDesired(list, resolved.body, kind)
  if (typeof found === 'object') return findDroppedFields(outcome, resolved.body, found.stored, kind)
  if (outcome.became === 'unknown' || found !== 'absent') return []
  const isThere = list.all.some(({ stored }) => stored.id === id)
  const message = isThere
    ? `${addressOf(change)}: the server did not store the ownership marker of the ${kind.label} ${id}, so the next run would not recognize it`
    : `${addressOf(change)}: the ${kind.label} ${id} was deleted after this run wrote it`
  return [diagnosticOf(verifyRules, 'marker-lost', change.location ?? { file: 'apply' }, message)]
}

/** A server that is older than a field strips it and answers as if it had stored it. */
function findDroppedFields(outcome: Outcome, desired: Body, stored: StoredObject, kind: KindWire): readonly Diagnostic[] {
  const { change, stored: answer } = outcome
  // Otherwise another user has removed it since.
  if (outcome.became === 'unknown' || answer === undefined) return []
  const [answered, kept] = [missingFields(desired, answer, kind), missingFields(desired, stored, kind)]
  const dropped = kept.filter(({ path }) => answered.some((field) => field.path === path))
  if (dropped.length === 0) return []
  const message = `${addressOf(change)}: ${explainDropped(dropped)}`
  return [diagnosticOf(checkRules, 'field-dropped', change.location ?? { file: 'apply' }, message)]
}

export function findTwinsOfCreated(
  changes: readonly Change[],
  lists: StoredIndexes,
  kinds: Kinds,
  { canPatch = false, repairCommand }: { readonly canPatch?: boolean; readonly repairCommand?: string | undefined } = {},
): readonly Diagnostic[] {
  // Twins that the plan deletes are deleted after the verification.
  const deleted = new Set(changes.filter(isDelete).flatMap(({ keeps, id }) => (keeps === undefined ? [] : [id])))
  return changes.flatMap((change): readonly Diagnostic[] => {
    if (change.action !== 'create' && change.action !== 'replace') return []
    const kind = kinds[change.kind]
    const token = kind.tokenOf(change.desired)
    const holders = (lists[kind.name]?.byToken.get(token) ?? []).filter(({ stored }) => !deleted.has(stored.id))
    if (token === undefined || holders.length < 2) return []
    const ids = holders.map(({ stored }) => stored.id).join(', ')
    const what = kind.ownership === 'marker' ? 'ownership marker' : 'identity'
    const cause = `two runs at the same time, or a copy. ${capitalize(adviseOnTwins(kind, canPatch, repairCommand))}`
    const message = `${addressOf(change)}: ${holders.length} ${pluralOf(kind.label)} have this ${what} (${ids}): ${cause}. See ${concurrentRunsPage}`
    return [{ ...diagnosticOf(twinRules, 'duplicate-marker', { file: sections[kind.name] }, message), page: concurrentRunsPage }]
  })
}

/** An object with the marker was created; an absent one is sent once more; an incomplete list leaves the outcome unknown. */
export async function reconcileUnknownCreates(changes: readonly (Create | Write)[], context: WriteContext): Promise<void> {
  const { state, kinds, concurrent } = context
  const unknown = changes.flatMap((change) => {
    const outcome = state.outcomeOf(change)
    const isCreate = change.action === 'create' || change.action === 'replace'
    return isCreate && outcome?.became === 'unknown' ? [{ change, outcome }] : []
  })
  if (unknown.length === 0 || preventsReading(state.stopped())) return
  const lists = await readListsLater(new Set(unknown.map(({ change }) => change.kind)), context)
  if (lists === undefined) return
  concurrent.learn(lists)
  for (const { change, outcome } of unknown) {
    const [list, kind, resolved] = [lists[change.kind], kinds[change.kind], sendableBody(change, context)]
    if (list === undefined || !('body' in resolved)) continue
    const found = findDesired(list, resolved.body, kind)
    if (found !== 'absent') state.amend(reconcileOutcome(outcome, list, resolved.body, kind))
    else if (state.stopped() === undefined) await writeOne(change, resolved.body, context)
  }
}

/** The server may still be working on an unanswered request. */
async function readListsLater(kinds: ReadonlySet<KindName>, context: WriteContext): Promise<StoredIndexes | undefined> {
  const { api, clock, stop } = context
  if (api.remainingMs() <= requestTimeoutMs) return undefined
  try {
    await clock.sleep(requestTimeoutMs, stop)
    return await readStoredIndexes(kinds, context)
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError || stop.aborted) return undefined
    throw thrown
  }
}

/** `desired` has no pending ids. */
export function reconcileOutcome(outcome: Outcome, list: StoredIndex, desired: Body, kind: Kind): Outcome {
  const { change } = outcome
  const found = findDesired(list, desired, kind)
  if (typeof found === 'string') return outcome
  const { before, after } = compareBodies(kind, desired, found.stored)
  // Differences that the answer to the write did not have were made by another user since.
  const answered = outcome.stored === undefined ? before : compareBodies(kind, desired, outcome.stored).before
  const serverChanged = diffFields(after, answered)
  if (outcome.became === 'unknown' && serverChanged.length > 0 && !wasWritten(change, desired, found.stored, kind)) return outcome
  const { message: _, errorKind: __, ...rest } = outcome
  return {
    ...rest,
    became: outcome.became === 'unknown' ? successKinds[change.action] : outcome.became,
    id: found.stored.id,
    stored: found.stored,
    ...(serverChanged.length > 0 && { serverChanged }),
  }
}

/** The ownership marker shows it: its digest is that of the new declaration, and was another one before. */
function wasWritten({ action, stored: before }: Outcome['change'], desired: Body, stored: StoredObject, kind: Kind): boolean {
  const digestIn = (one: StoredObject): string | undefined => kind.readMarker(kind.toBody(one))?.digest
  const wanted = kind.readMarker(desired)?.digest
  const isNew = before === undefined || action === 'replace'
  return digestIn(stored) === wanted && (isNew || digestIn(before) !== wanted)
}

// Where the server stores an object in another way than it was sent, the base in its marker is written again, so that the next plan is empty.

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

/** Returns a diagnostic for each base that could not be recorded. */
export async function recordBases(
  changes: readonly (Create | Write)[],
  lists: StoredIndexes,
  answers: ReadonlyMap<Change, StoredObject>,
  context: WriteContext,
): Promise<readonly Diagnostic[]> {
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
      const problem = await recordBase(change, found.stored, found.desired, context)
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

/** A change of another user must not be recorded as the server's, nor be overwritten by the second write. */
const isUnchangedSinceAnswer = (answer: StoredObject | undefined, stored: StoredObject, kind: KindWire): boolean =>
  answer === undefined || isSame(comparable(kind, kind.toBody(answer)), comparable(kind, kind.toBody(stored)))

/** The stored object, where its marker has another base. */
function findStored(change: Create | Write, lists: StoredIndexes, { kinds, state }: WriteContext) {
  const { action, key, desired } = change
  const kind = kinds[change.kind]
  const resolved = state.resolve(desired)
  if (action === 'unchanged' || !('body' in resolved)) return undefined
  const { body } = resolved
  const outcome = state.outcomeOf(change)
  const list = lists[kind.name]
  if (outcome === undefined || !isSuccess(outcome.became) || list === undefined) return undefined
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
async function recordBase(change: Create | Write, stored: StoredObject, desired: Body, context: WriteContext): Promise<string | undefined> {
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
