import { explainDropped, missingFields } from '../../kinds/compare.ts'
import { type Body, checkRules, type KindWire, type StoredObject } from '../../kinds/kind.ts'
import { addressOf, sections } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../platform/core/diagnostics.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { capitalize, pluralOf, quote } from '../../platform/core/text.ts'
import { type Change, isDelete, type Plan } from '../decide/change.ts'
import { adviseOnTwins, twinRules } from '../decide/twins.ts'
import { isSuccess, isWritten, type Outcome } from '../plan/outcome.ts'
import { findDesired, readStoredIndexes, type StoredIndex, type StoredIndexes } from '../plan/stored-objects.ts'
import { concurrentRunsPage } from './concurrent-runs.ts'
import { reconcileOutcome } from './reconcile.ts'
import type { WriteContext } from './write.ts'

export const verifyRules = {
  'marker-lost': {
    severity: 'error',
    description: 'The service did not keep the ownership marker of an object, or the object is gone again.',
  },
  'not-verified': { severity: 'error', description: 'The written objects could not be read again.' },
} as const satisfies Rules

export async function verifyWrites(
  plan: Plan,
  context: WriteContext & { readonly repairCommand?: string | undefined },
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly lists: StoredIndexes }> {
  const { kinds, state } = context
  const touched = state.all().filter(wasAttempted)
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

const wasAttempted = (outcome: Outcome): boolean => outcome.became === 'unknown' || (isSuccess(outcome) && isWritten(outcome))

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
    const what = kind.ownership === 'marker' ? `the ownership marker ${token}` : `the identity "${quote(token, 60)}"`
    const cause = `two runs at the same time, or a copy. ${capitalize(adviseOnTwins(kind, canPatch, repairCommand))}`
    const message = `${what} is on ${holders.length} ${pluralOf(kind.label)} (${ids}): ${cause}. See ${concurrentRunsPage}`
    return [{ ...diagnosticOf(twinRules, 'duplicate-marker', { file: sections[kind.name] }, message), page: concurrentRunsPage }]
  })
}
