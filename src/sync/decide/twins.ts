// Two applies at once, or an import in the web app, leave an object twice. A repair keeps one, deletes another one only if the API shows that
// nothing is lost with it, and otherwise removes its marker, or leaves it where no write keeps what the API hides.

import { declarationDigest, diffSides, isAsBase } from '../../kinds/base.ts'
import { comparable, diffFields, sidesOf } from '../../kinds/compare.ts'
import {
  type Body,
  describeStored,
  type Kind,
  type KindIdentity,
  type KindRules,
  type ResolveContext,
  type StoredObject,
} from '../../kinds/kind.ts'
import type { Declared, Kinds } from '../../kinds/kinds.ts'
import type { Rules } from '../../platform/core/diagnostics.ts'
import { spellVariable } from '../../platform/core/input-spelling.ts'
import { listAtMost } from '../../platform/core/text.ts'
import type { MarkedObject, StoredIndex, StoredObjects } from '../plan/stored-objects.ts'

export const twinRules = {
  'duplicate-marker': {
    severity: 'error',
    exception: 'note',
    description:
      'Two objects have the same ownership marker: two runs created them at the same time, or one is a copy. A note says how to repair them. If `adopt` names one of them, a note says that the other one is left as it is.',
  },
} as const satisfies Rules

export interface Twin extends MarkedObject {
  readonly declared: Declared
  readonly kept: StoredObject
  /** `leave`: nothing is written to it, because this server has no write that keeps all of it. */
  readonly action: 'delete' | 'release' | 'leave'
  /** Why it is not deleted, or why it can be. */
  readonly reason: string
}

/** Undefined where a repair can, and deletes the twin that it does not need. */
export function whyNotCompared({ ownership, label, notInFiles }: Kind): string | undefined {
  if (ownership === 'identity') return `${withArticle(label)} is never deleted`
  return notInFiles === undefined ? undefined : `the API hides parts of ${withArticle(label)}, so nothing shows whether someone changed it`
}

export const withArticle = (label: string): string => `${/^[aeiou]/.test(label) ? 'an' : 'a'} ${label}`

const canRepair = (kind: Kind, canPatch: boolean): boolean =>
  whyNotCompared(kind) === undefined || (canPatch && kind.hasHiddenParts === true)

export function repairByHand({ removal }: KindRules, isReleased = false): string {
  if (removal === undefined) return 'In the web app, delete the one that you do not need, when nothing uses it any more'
  const loss = 'this also deletes the alerts on it'
  if (isReleased) return `In the web app, delete the duplicate if you do not need it: ${loss}, which notify until then`
  return `In the web app, delete the one that you do not need: ${loss}. To keep both, remove the tag that begins with wk: from one of them`
}

export function adviseOnTwins(kind: Kind, canPatch: boolean, command: string | undefined): string {
  if (!canRepair(kind, canPatch)) return `no run repairs this, because ${whyNotCompared(kind)}. ${repairByHand(kind)}`
  const once = command === undefined ? `set ${spellVariable('repair', 'duplicates')} for one run` : `run once: ${command}`
  return `to repair all of them, when no other run is at work, ${once}`
}

interface TwinsContext {
  readonly project: string
  readonly kinds: Kinds
  readonly storedObjects: StoredObjects
  readonly canPatch: boolean
  readonly index: StoredIndex
  readonly context: ResolveContext
  readonly twinsBefore: readonly Twin[]
}

/** The object to keep equals the declaration; of several, it has the smallest id. */
export function findTwins(kind: Kind, declared: readonly Declared[], context: TwinsContext): readonly Twin[] {
  const groups = declared.flatMap((one): readonly Group[] => {
    const [first, ...others] = holdersOf(kind, one, context)
    return first === undefined || others.length === 0 ? [] : [{ declared: one, first, others }]
  })
  // It is not known yet which of the twins stays. Until then, references by name mean the first one.
  const nameIndex = context.context.nameIndex.withoutNames(groups.flatMap(({ others }) => others.map(({ stored }) => stored)))
  return groups.flatMap((group) => findTwinsOf(kind, group, { ...context, context: { ...context.context, nameIndex } }))
}

interface Group {
  readonly declared: Declared
  readonly first: MarkedObject
  readonly others: readonly MarkedObject[]
}

function holdersOf(kind: KindIdentity, { key, value }: Declared, { index, project }: TwinsContext): readonly MarkedObject[] {
  const isMarked = kind.ownership === 'marker'
  if ('id' in value && value.id !== undefined) return []
  const token = isMarked ? kind.markerStyle.token(project, key) : kind.tokenOf(value)
  return (index.byToken.get(token) ?? [])
    .filter(({ undeclarable }) => undeclarable === undefined)
    .toSorted((a, b) => (a.stored.id < b.stored.id ? -1 : 1))
}

function findTwinsOf(kind: Kind, { declared, first, others }: Group, facts: TwinsContext): readonly Twin[] {
  const { context, twinsBefore, canPatch } = facts
  const move = moverFrom(twinsBefore)
  const alike = [first, ...others]
  const { body } = kind.resolve(declared, context)
  const equal = alike.find(({ stored }) => equals(kind, declared, body, move(stored)))
  // Nothing shows whose an object without a marker is, so one that differs may be another one with the same name.
  if (equal === undefined && kind.ownership === 'identity') return []
  const { stored: kept } = equal ?? first
  const toTwin = (one: MarkedObject): Twin => {
    const twin = { ...one, declared, kept }
    if (whyNotCompared(kind) !== undefined)
      return { ...twin, action: canRepair(kind, canPatch) ? 'release' : 'leave', reason: 'that may have parts that the API does not show' }
    const [wanted, found] = [kept, one.stored].map((stored) => comparable(kind, kind.toBody(move(stored))))
    const differing = diffFields(wanted, found).map(({ path }) => path.replace(/Id$/, ''))
    const reason =
      differing.length > 0
        ? `that differs in ${listAtMost(differing, 5, (count) => `${count} more`).join(', ')}`
        : findObstacle(one.stored, facts)
    return reason === undefined ? { ...twin, action: 'delete', reason: 'and equal to it' } : { ...twin, action: 'release', reason }
  }
  return alike.filter(({ stored }) => stored !== kept).map(toTwin)
}

function findObstacle({ id }: StoredObject, { storedObjects, kinds }: TwinsContext): string | undefined {
  const fixed = storedObjects.alert.find((alert) => alert.savedSearchId === id && kinds.alert.explainUndeclarable?.(alert) !== undefined)
  return fixed && `with the alert ${describeStored(fixed)}, which cannot move`
}

/** Whether the object is as declared, or as the last apply of this declaration left it. */
function equals(kind: Kind, { value }: Declared, desired: Body, stored: StoredObject): boolean {
  const sides = sidesOf(kind, desired, stored)
  if (diffSides(kind, sides).length === 0) return true
  const marker = kind.readMarker(kind.toBody(stored))
  const current = { kind, stored, declared: sides.declaredAsSent, common: () => new Set<string>() }
  return marker?.digest === declarationDigest(value) && isAsBase(marker.base, current) === true
}

/** Only a saved search is a twin that is deleted with alerts on it. */
export function moverFrom(twins: readonly Twin[]): (alert: StoredObject) => StoredObject {
  const deleted = new Map(twins.filter(({ action }) => action === 'delete').map((twin) => [twin.stored.id, twin]))
  return (alert) => {
    const target = deleted.get(String(alert.savedSearchId ?? ''))
    return target === undefined ? alert : { ...alert, savedSearchId: target.kept.id }
  }
}
