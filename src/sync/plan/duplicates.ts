// Two applies at once leave objects twice under one key, and each alert watches either of two dashboards. With
// `repair: duplicates`, the plan keeps one of the twins, moves the alerts to it, and deletes a twin only if it equals the declaration.
import { type Diagnostic, exceptionOf } from '../../core/diagnostics.ts'
import { sidesOf } from '../../kinds/compare.ts'
import { type Body, describeStored, type Kind, listOf, type ResolveContext, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import type { Declared, Kinds } from '../../kinds/kinds.ts'
import { diffSides, snapshotOf } from '../../kinds/snapshot.ts'
import type { Delete, Release, Update } from './change.ts'
import { matchRules } from './match.ts'
import { planDelete, planRelease } from './plan-object.ts'
import type { MarkedObject, StoredIndex } from './stored-objects.ts'

/** One of several objects with the same marker, which is not the one to keep. */
export interface Twin extends MarkedObject {
  readonly kept: StoredObject
  /** Why it is not deleted. Undefined where it is as declared and every alert on it can move, so that nothing is lost with it. */
  readonly keptBecause: string | undefined
}

interface TwinsContext {
  readonly index: StoredIndex
  readonly project: string
  readonly context: ResolveContext
  readonly moves: Moves
}

/** Finds the twins of declared objects. The object to keep equals the declaration; of several, it has the smallest id. */
export function findTwins<D extends Declared>(
  kind: Kind<D>,
  declared: readonly D[],
  { index, project, context, moves }: TwinsContext,
): readonly Twin[] {
  return declared.flatMap((one): readonly Twin[] => {
    const alike = (index.byToken.get(kind.markerStyle.token(project, one.key)) ?? [])
      .filter(({ marker }) => marker !== undefined)
      .toSorted((a, b) => (a.stored.id < b.stored.id ? -1 : 1))
    if (alike.length < 2) return []
    const { body } = kind.resolve(one, context)
    const equal = new Set(alike.filter(({ stored: twin }) => equals(kind, body, moves.move(twin))))
    const [kept] = [...equal, ...alike]
    if (kept === undefined) return []
    return alike
      .filter((twin) => twin !== kept)
      .map((twin) => ({
        ...twin,
        kept: kept.stored,
        keptBecause: equal.has(twin) ? moves.findObstacle(kept.stored, twin.stored) : 'that is not as declared',
      }))
  })
}

function equals(kind: Kind, desired: Body, stored: StoredObject): boolean {
  const sides = sidesOf(kind, desired, stored)
  return diffSides(kind, sides).length === 0 || kind.readSnapshot(kind.toBody(stored))?.digest === snapshotOf(sides)
}

/** Where alerts on twins go. */
export interface Moves {
  /** The alert with the ids of the objects to keep; the same object where nothing changes. */
  move(alert: StoredObject): StoredObject
  /** The alert on the twin that cannot move to the object to keep, in words; undefined where all of them can. */
  findObstacle(kept: StoredObject, twin: StoredObject): string | undefined
}

/** The moves of the alerts on twins that are deleted. `alerts` are all alerts of the service, managed or not. */
export function movesOf(twins: readonly Twin[], alerts: readonly StoredObject[], alertKind: Kind): Moves {
  const deleted = new Map(twins.filter(({ keptBecause }) => keptBecause === undefined).map((twin) => [twin.stored.id, twin]))
  return {
    findObstacle(kept, twin) {
      const tiles = tileIds(kept, twin)
      const fixed = alerts.find((alert) => {
        const { dashboardId, savedSearchId, tileId } = alert
        if (dashboardId !== twin.id && savedSearchId !== twin.id) return false
        // An alert of a form that this version does not know is never written.
        return alertKind.explainUndeclarable?.(alert) !== undefined || (dashboardId === twin.id && !tiles.has(tileId))
      })
      return fixed && `with the alert ${describeStored(fixed)}, which cannot move`
    },
    move(alert) {
      const onDashboard = deleted.get(String(alert.dashboardId ?? ''))
      const onSearch = deleted.get(String(alert.savedSearchId ?? ''))
      if (onDashboard === undefined && onSearch === undefined) return alert
      return {
        ...alert,
        ...(onSearch !== undefined && { savedSearchId: onSearch.kept.id }),
        ...(onDashboard !== undefined && {
          dashboardId: onDashboard.kept.id,
          tileId: tileIds(onDashboard.kept, onDashboard.stored).get(alert.tileId) ?? alert.tileId,
        }),
      }
    },
  }
}

/** The ids of tiles of the object to keep, by those of the twin. Both are as declared, so tiles of one name are in the same order. */
function tileIds(kept: StoredObject, twin: StoredObject): ReadonlyMap<unknown, unknown> {
  const left = Map.groupBy(listOf(kept.tiles), ({ name }) => String(name))
  return new Map(
    listOf(twin.tiles).flatMap(({ id, name }) => {
      const partner = left.get(String(name))?.shift()
      return partner === undefined ? [] : [[id, partner.id] as const]
    }),
  )
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
    const target = after.dashboardId === alert.dashboardId ? 'savedSearch' : 'dashboard'
    const idField = `${target}Id`
    return [
      {
        kind: 'alert',
        key: '',
        name: storedLabelOf(alert),
        action: 'update',
        id: alert.id,
        stored: alert,
        notes: ['moves from a duplicate that is deleted'],
        fields: [{ path: target, before: alert[idField], after: after[idField] }],
        desired: kinds.alert.toBody(after),
      },
    ]
  })
  const released = all.flatMap(({ kind, twin: { stored, kept, keptBecause } }): readonly Release[] => {
    if (keptBecause === undefined) return []
    const found = { stored: moves.move(stored), marker: undefined }
    return [{ ...planRelease(kind, found, `a duplicate of ${kept.id} ${keptBecause}`), stored }]
  })
  const deletes = all.toReversed().flatMap(({ kind, twin }): readonly Delete[] => {
    const { kept, keptBecause } = twin
    return keptBecause === undefined
      ? [{ ...planDelete(kind, twin), keeps: kept.id, notes: [`a duplicate of ${kept.id}, and as declared`] }]
      : []
  })
  return { writes: [...released, ...moved], deletes }
}

/** How to repair duplicates: one more diagnostic after those that name them. */
export function adviseRepair(command: string | undefined): readonly Diagnostic[] {
  if (command === undefined) return []
  const message = `to repair all of them, run this once, when no other run is at work: ${command}`
  return [exceptionOf(matchRules, 'duplicate-marker', { file: 'repair' }, message)]
}
