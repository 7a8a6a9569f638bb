// Two applies at once leave objects twice under one key, and each alert watches either of two dashboards. A person can also import a copy
// in the web app. With `repair: duplicates`, the plan keeps one of the twins. It deletes another one only if the API shows that nothing is
// lost with it, and otherwise removes its marker, or leaves it where no write keeps what the API hides.

import { comparable, diffFields, sidesOf } from '../../../kinds/compare.ts'
import { type Body, describeStored, type Kind, type ResolveContext, type StoredObject, storedLabelOf } from '../../../kinds/kind.ts'
import { addressOf } from '../../../kinds/kind-names.ts'
import type { Declared, Kinds } from '../../../kinds/kinds.ts'
import { diffSides, snapshotOf } from '../../../kinds/snapshot.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../../platform/core/diagnostics.ts'
import { listFirst } from '../../../platform/core/text.ts'
import type { MarkedObject, StoredIndex } from '../../plan/stored-objects.ts'
import type { Delete, Release, Update } from '../change.ts'
import { planDelete, planRelease } from '../compare.ts'
import { canRepair, matchRules, repairByHand, whyNotCompared } from '../identify.ts'

export const repairRules = {
  'kept-duplicate': {
    severity: 'warning',
    description: 'A repair of duplicates keeps one, because the API does not show all of it. A person decides about it in the web app.',
  },
} as const satisfies Rules

/** One of several objects with the same marker or identity, which is not the one to keep. */
export interface Twin extends MarkedObject {
  readonly declared: Declared
  readonly kept: StoredObject
  /** `leave`: nothing is written to it, because this server has no write that keeps all of it. */
  readonly action: 'delete' | 'release' | 'leave'
  /** Why it is not deleted; for a twin that is deleted, why it can be. */
  readonly reason: string
}

interface TwinsContext {
  readonly index: StoredIndex
  readonly project: string
  readonly context: ResolveContext
  readonly moves: Moves
  readonly canPatch?: boolean
}

/** Finds the twins of declared objects. The object to keep equals the declaration; of several, it has the smallest id. */
export function findTwins<D extends Declared>(kind: Kind<D>, declared: readonly D[], context: TwinsContext): readonly Twin[] {
  const groups = declared.flatMap((one): readonly Group<D>[] => {
    const [first, ...others] = holdersOf(kind, one, context)
    return first === undefined || others.length === 0 ? [] : [{ one, first, others }]
  })
  // It is not known yet which of the twins stays. Until then, references by name mean the first one.
  const directory = context.context.directory.withoutNames(groups.flatMap(({ others }) => others.map(({ stored }) => stored)))
  return groups.flatMap((group) => findTwinsOf(kind, group, { ...context, context: { ...context.context, directory } }))
}

interface Group<D> {
  readonly one: D
  readonly first: MarkedObject
  readonly others: readonly MarkedObject[]
}

/** The objects with the marker or the identity of the declared one, by id. */
function holdersOf<D extends Declared>(kind: Kind<D>, { key, value }: D, { index, project }: TwinsContext): readonly MarkedObject[] {
  const isMarked = kind.ownership === 'marker'
  if (!isMarked && 'id' in value && value.id !== undefined) return []
  const token = isMarked ? kind.markerStyle.token(project, key) : kind.tokenOf(value)
  return (index.byToken.get(token) ?? [])
    .filter(({ undeclarable }) => undeclarable === undefined)
    .toSorted((a, b) => (a.stored.id < b.stored.id ? -1 : 1))
}

function findTwinsOf<D extends Declared>(
  kind: Kind<D>,
  { one, first, others }: Group<D>,
  { context, moves, canPatch = false }: TwinsContext,
): readonly Twin[] {
  const alike = [first, ...others]
  const { body } = kind.resolve(one, context)
  const equal = alike.find(({ stored }) => equals(kind, body, moves.move(stored)))
  // Nothing shows whose an object without a marker is, so one that differs may be another one with the same name.
  if (equal === undefined && kind.ownership === 'identity') return []
  const { stored: kept } = equal ?? first
  const decide = (twin: StoredObject): Pick<Twin, 'action' | 'reason'> => {
    if (whyNotCompared(kind) !== undefined)
      return { action: canRepair(kind, canPatch) ? 'release' : 'leave', reason: 'that may have parts that the API does not show' }
    const [wanted, found] = [kept, twin].map((stored) => comparable(kind, kind.toBody(moves.move(stored))))
    const differing = diffFields(wanted, found).map(({ path }) => path.replace(/Id$/, ''))
    const reason =
      differing.length > 0 ? `that differs in ${listFirst(differing, 5, (count) => `${count} more`).join(', ')}` : moves.findObstacle(twin)
    return reason === undefined ? { action: 'delete', reason: 'and equal to it' } : { action: 'release', reason }
  }
  return alike.filter(({ stored }) => stored !== kept).map((twin) => ({ ...twin, declared: one, kept, ...decide(twin.stored) }))
}

function equals(kind: Kind, desired: Body, stored: StoredObject): boolean {
  const sides = sidesOf(kind, desired, stored)
  return diffSides(kind, sides).length === 0 || kind.readSnapshot(kind.toBody(stored))?.digest === snapshotOf(sides)
}

/** What a person must do about the twins that stay, because nothing shows whether they differ. */
export function reportKept<D extends Declared>(kind: Kind<D>, twins: readonly Twin[]): readonly Diagnostic[] {
  const why = whyNotCompared(kind)
  if (why === undefined) return []
  return twins.map(({ declared, kept, stored, action }) => {
    const what =
      action === 'release' ? `only removes the marker of its duplicate ${stored.id}` : `leaves its duplicate ${stored.id} as it is`
    const message = `${addressOf(declared)}: this run manages the ${kind.label} ${kept.id}, and ${what}, because ${why}. ${repairByHand(kind, action === 'release')}`
    return diagnosticOf(repairRules, 'kept-duplicate', declared.location, message)
  })
}

/** Where alerts on twins go. */
export interface Moves {
  /** The alert with the ids of the objects to keep; the same object where nothing changes. */
  move(alert: StoredObject): StoredObject
  /** The alert on the twin that cannot move to the object to keep, in words; undefined where all of them can. */
  findObstacle(twin: StoredObject): string | undefined
}

/** The moves of the alerts on twins that are deleted, which are saved searches. `alerts` are all alerts of the service, managed or not. */
export function movesOf(twins: readonly Twin[], alerts: readonly StoredObject[], alertKind: Kind): Moves {
  const deleted = new Map(twins.filter(({ action }) => action === 'delete').map((twin) => [twin.stored.id, twin]))
  return {
    findObstacle(twin) {
      // An alert of a form that this version does not know is never written.
      const fixed = alerts.find((alert) => alert.savedSearchId === twin.id && alertKind.explainUndeclarable?.(alert) !== undefined)
      return fixed && `with the alert ${describeStored(fixed)}, which cannot move`
    },
    move(alert) {
      const target = deleted.get(String(alert.savedSearchId ?? ''))
      return target === undefined ? alert : { ...alert, savedSearchId: target.kept.id }
    },
  }
}

interface RepairInput {
  readonly kinds: Kinds
  /** Twins by kind, alerts last. */
  readonly twins: readonly { readonly kind: Kind; readonly twins: readonly Twin[] }[]
  readonly alerts: readonly StoredObject[]
  /** Alerts that the plan writes anyway. */
  readonly planned: ReadonlySet<string | undefined>
  readonly moves: Moves
}

/** A twin is deleted, or kept as an unmanaged object. The writes come before the deletes, and of those, alerts first. */
export function planRepairs({ kinds, twins, alerts, planned, moves }: RepairInput) {
  const all = twins.flatMap(({ kind, twins: own }) => own.map((twin) => ({ kind, twin })))
  const twinIds = new Set(all.map(({ twin }) => twin.stored.id))
  const moved = alerts.flatMap((alert): readonly Update<'alert'>[] => {
    const after = moves.move(alert)
    if (after === alert || planned.has(alert.id) || twinIds.has(alert.id)) return []
    return [
      {
        kind: 'alert',
        key: '',
        name: storedLabelOf(alert),
        action: 'update',
        id: alert.id,
        stored: alert,
        notes: ['moves from a duplicate that is deleted'],
        fields: [{ path: 'savedSearch', before: alert.savedSearchId, after: after.savedSearchId }],
        desired: kinds.alert.toBody(after),
      },
    ]
  })
  const released = all.flatMap(({ kind, twin: { stored, kept, action, reason } }): readonly Release[] => {
    if (action !== 'release') return []
    const found = { stored: moves.move(stored), marker: undefined }
    return [{ ...planRelease(kind, found, `a duplicate of ${kept.id} ${reason}`), stored }]
  })
  const deletes = all
    .toReversed()
    .flatMap(({ kind, twin }): readonly Delete[] =>
      twin.action === 'delete'
        ? [{ ...planDelete(kind, twin), keeps: twin.kept.id, notes: [`a duplicate of ${twin.kept.id}, ${twin.reason}`] }]
        : [],
    )
  return { writes: [...released, ...moved], deletes }
}

/** How to repair the twins of these kinds: one more diagnostic after those that name them. */
export function adviseRepair(doubled: readonly Kind[], canPatch: boolean, command: string | undefined): readonly Diagnostic[] {
  const repairable = doubled.map((kind) => canRepair(kind, canPatch))
  if (command === undefined || !repairable.includes(true)) return []
  const which = repairable.includes(false) ? 'the others' : 'all of them'
  const message = `to repair ${which}, run this once, when no other run is at work: ${command}`
  return [exceptionalDiagnostic(matchRules, 'duplicate-marker', { file: 'repair' }, message)]
}
