import { declarationDigest } from '../../kinds/base.ts'
import { type Body, type Kind, listOf } from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import { type Declared, isOf, type Kinds } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import { createNameIndex, type NameIndex } from '../../kinds/name-index.ts'
import type { ReadSecret } from '../../kinds/secret.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import type { PreviousOwner } from '../../platform/operation/operation.ts'
import type { Prune } from '../declarations/find-declarations.ts'
import { indexAll, type MarkedObject, type StoredIndex, type StoredObjects } from '../plan/stored-objects.ts'
import { queriedKeys } from '../query-alerts/query-alerts.ts'
import type { Change, Held } from './change.ts'
import { type Identified, identifyObjects, type Pair } from './identify.ts'
import type { Twin } from './twins.ts'

export interface PlanOptions {
  readonly project: string
  readonly previousOwner?: PreviousOwner | undefined
  /** `name` is `host/owner/name`, where it is known. Undefined for a plan that neither writes nor warns. */
  readonly repository?: { readonly name: string | undefined; readonly effect: 'read' | 'write' }
  readonly maxDeletes: number
  readonly kinds: Kinds
  readonly prune: Prune
  readonly repairDuplicates?: boolean
  readonly repairCommand?: string
  readonly pullCommand?: string
  /** It has the entries of `adopt`. */
  readonly environmentPath?: string | undefined
  readonly targetOptions?: string
  readonly rewrite?: boolean
  readonly resendSecrets?: boolean
  /** Whether new objects need their secrets. */
  readonly isWrite?: boolean
  readonly secret?: ReadSecret
}

export interface OwnedObject extends MarkedObject {
  readonly kind: Kind
}

export interface Facts extends PlanOptions {
  readonly objects: readonly Declared[]
  readonly declaredNames: ReadonlyMap<string, string>
  readonly queried: ReadonlySet<string>
  readonly storedObjects: StoredObjects
  readonly indexes: Readonly<Record<KindName, StoredIndex>>
  readonly nameIndex: NameIndex
  tilesOf(dashboardId: string): readonly Body[]
  readonly owned: readonly OwnedObject[]
  readonly ownsAnything: boolean
  /** Each kind behind those that its objects refer to. */
  readonly kindList: readonly Kind[]
  /** Before the dashboards are drafted. They are compared after that. */
  readonly alerts: Identified<Declared<'alert'>>
}

export function gatherFacts(objects: readonly Declared[], storedObjects: StoredObjects, options: PlanOptions): Facts {
  const { kinds, project } = options
  const kindList: readonly Kind[] = Object.values(kinds)
  const indexes = indexAll(storedObjects, kinds)
  const owned = kindList.flatMap((kind) => {
    const isOwned = ownershipTest(project, kind.markerStyle)
    return indexes[kind.name].all.flatMap((one) => (isOwned(one.marker) ? [{ ...one, kind }] : []))
  })
  const previous = options.previousOwner?.project
  const belongedTo = (project: string, { marker }: MarkedObject, kind: Kind): boolean => ownershipTest(project, kind.markerStyle)(marker)
  const ownsAnything =
    owned.length > 0 ||
    (typeof previous === 'string' && kindList.some((kind) => indexes[kind.name].all.some((one) => belongedTo(previous, one, kind))))
  const tiles = new Map(storedObjects.dashboard.map((one) => [one.id, listOf(one.tiles)]))
  return {
    ...options,
    objects,
    declaredNames: new Map(objects.map(({ kind, key, value }) => [addressOf({ kind, key }), value.name ?? key])),
    queried: queriedKeys(objects),
    storedObjects,
    indexes,
    nameIndex: createNameIndex(storedObjects),
    tilesOf: (id) => tiles.get(id) ?? [],
    owned,
    ownsAnything,
    kindList,
    alerts: identifyObjects({
      ...options,
      ownsAnything,
      canPatch: false,
      kind: kinds.alert,
      index: indexes.alert,
      declared: objects.filter(isOf('alert')),
    }),
  }
}

export const isAsApplied = ({ declared, found }: Pair): boolean =>
  found?.marker !== undefined && found.marker.digest === declarationDigest(declared.value)

export interface Step {
  readonly kind: Kind
  readonly change: Change
  /** Absent for an object that no file declares. */
  readonly pair?: Pair
}

/** A guard that finds it wrong assumes more: `prune` goes off at most once, and held objects only grow. */
export interface Assumed {
  readonly prune: Prune
  readonly canPatch: boolean
  /** By `slotOf` their changes. The entry for a delete or a release can be the held alert that it would delete. */
  readonly held: ReadonlyMap<string, Held>
  /** The keys of held alerts with a query, whose tile stays as it is where it exists. */
  readonly heldQueries: ReadonlySet<string>
}

interface KindDraft {
  readonly kind: Kind
  readonly orphans: readonly MarkedObject[]
  readonly twins: readonly Twin[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface Draft {
  readonly assumed: Assumed
  /** In the order in which they are applied. */
  readonly steps: readonly Step[]
  readonly ofKinds: readonly KindDraft[]
}

export interface Verdict {
  readonly steps?: readonly Step[]
  readonly diagnostics?: readonly Diagnostic[]
  /** With one that the draft does not hold yet, the plan is drafted again. */
  readonly holds?: readonly (readonly [string, Held])[] | undefined
  /** Then the plan is drafted again. */
  readonly assume?: Partial<Assumed> | undefined
  /** Whether nothing else of the plan would happen. */
  readonly isFinal?: boolean
}

/** Pure. */
export type Guard = (draft: Draft, facts: Facts) => Verdict
