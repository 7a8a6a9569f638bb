// What a plan is decided from: the files, the service, and the options of the run. Nothing of it changes while a plan is decided.

import { declarationDigest } from '../../kinds/base.ts'
import { createDirectory, type Directory } from '../../kinds/directory.ts'
import { type Body, type Kind, listOf } from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import { type Declared, isOf, type Kinds } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import type { ReadSecret } from '../../kinds/secret.ts'
import type { PreviousOwner } from '../../platform/operation/operation.ts'
import type { Prune } from '../declarations/find-declarations.ts'
import { indexAll, type MarkedObject, type StoredIndex, type StoredObjects } from '../plan/stored-objects.ts'
import { queriedKeys } from '../query-alerts/query-alerts.ts'
import { type Identified, identifyObjects, type Pair } from './identify.ts'

export interface RunRepository {
  /** `host/owner/name`; undefined where it is not known. */
  readonly name: string | undefined
  readonly effect: 'read' | 'write'
}

export interface PlanOptions {
  readonly project: string
  readonly previousOwner?: PreviousOwner | undefined
  /** Undefined for a plan that neither writes nor warns. */
  readonly repository?: RunRepository
  readonly maxDeletes: number
  readonly kinds: Kinds
  readonly prune: Prune
  readonly repairDuplicates?: boolean
  readonly repairCommand?: string
  readonly pullCommand?: string
  /** The file of the environment, which has the entries of `adopt`. */
  readonly environmentPath?: string | undefined
  readonly targetOptions?: string
  /** Whether the plan updates dashboards and saved searches that need no change. */
  readonly rewrite?: boolean
  /** Whether the server can patch dashboards. */
  readonly canPatch?: boolean
  readonly resendSecrets?: boolean
  /** Whether the plan is for a run that writes, which needs the secrets of new objects. */
  readonly isWrite?: boolean
  /** Secrets of this run. Without them, secrets are not compared. */
  readonly secret?: ReadSecret
}

export interface OwnedObject extends MarkedObject {
  readonly kind: Kind
}

/** `prune` is what the run asks for; a draft may assume less. */
export interface Facts extends Omit<PlanOptions, 'canPatch'> {
  readonly objects: readonly Declared[]
  readonly declaredNames: ReadonlyMap<string, string>
  readonly queried: ReadonlySet<string>
  readonly storedObjects: StoredObjects
  readonly indexes: Readonly<Record<KindName, StoredIndex>>
  readonly directory: Directory
  tilesOf(dashboardId: string): readonly Body[]
  readonly owned: readonly OwnedObject[]
  /** Whether this project owns anything in the service, so that an object can have lost its marker. */
  readonly ownsAnything: boolean
  /** Each kind behind those that its objects refer to. */
  readonly kindList: readonly Kind[]
  /** Alerts are identified before the dashboards are drafted, and compared after that. */
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
    directory: createDirectory(storedObjects),
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
