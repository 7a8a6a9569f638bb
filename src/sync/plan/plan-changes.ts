import { declarationDigest } from '../../kinds/adopt.ts'
import { type BodyPair, sidesOf } from '../../kinds/compare.ts'
import { createDirectory, type Directory, type Planned } from '../../kinds/directory.ts'
import {
  type AlertTarget,
  type Body,
  type Kind,
  listOf,
  type ResolveContext,
  type ResolvedDeclaration,
  type StoredObject,
  storedLabelOf,
  type TileOwners,
} from '../../kinds/kind.ts'
import { addressOf, type KindName, kindNames, mapKinds } from '../../kinds/kind-names.ts'
import { type Declared, isOf, type Kinds } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import { PendingId, replacePending } from '../../kinds/pending-id.ts'
import type { ReadSecret } from '../../kinds/secret.ts'
import { findCommonValues } from '../../kinds/snapshot.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { once } from '../../platform/core/concurrency.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import type { Declarations } from '../declarations/declarations.ts'
import type { Prune } from '../declarations/find-declarations.ts'
import { queriedKeys } from '../query-alerts/query-alerts.ts'
import { assignTiles, lacksTiles } from '../query-alerts/tile-owners.ts'
import { type Change, type Create, changesOf, type Delete, type Held, isHeld, isTakeover, type Plan, type Update } from './change.ts'
import { findMoreHeld, holdCreatesBeside, holdDependents, type KnownHeld, nothingHeld, reportHeld, slotOf, withWays } from './held.ts'
import {
  type AdoptCommand,
  type AdoptFrom,
  findTwinOrphans,
  type Identified,
  identifyObjects,
  type MatchResult,
  matchObjects,
  type Pair,
  reportRenamedProject,
} from './match.ts'
import { checkRepository, type RunRepository, reviewAdoption } from './ownership.ts'
import {
  cannotClear,
  checkByKind,
  checkGuards,
  checkUses,
  refuseNewerFields,
  refuseUnadopted,
  serverDefaults,
  toLostName,
} from './plan-diagnostics.ts'
import { planChange, planDelete, planRelease } from './plan-object.ts'
import { protectAlerts } from './protect-alerts.ts'
import { indexAll, indexStored, type StoredIndex, type StoredObjects } from './stored-objects.ts'
import { isDashboardWrite, planTileWrites } from './tile-writes.ts'
import { adviseRepair, findTwins, type Moves, movesOf, planRepairs, reportKept, type Twin } from './twins.ts'

export interface PlanOptions {
  readonly project: string
  readonly adoptFrom?: AdoptFrom
  /** Undefined for a plan that neither writes nor warns. */
  readonly repository?: RunRepository
  readonly maxDeletes: number
  readonly kinds: Kinds
  /** What becomes of objects with the project's marker that no file declares. */
  readonly prune: Prune
  /** Whether the plan repairs objects that exist twice. */
  readonly repairDuplicates?: boolean
  /** The command that repairs duplicates, for messages. */
  readonly repairCommand?: string
  readonly adoptCommand?: AdoptCommand
  /** The command that pulls into the same files, for messages. */
  readonly pullCommand?: string
  /** The options that name the target in other commands, for messages. */
  readonly targetOptions?: string
  /** Whether the plan updates dashboards and saved searches that need no change. */
  readonly rewrite?: boolean
  /** Whether the server can patch dashboards. */
  readonly canPatch?: boolean
  /** Whether the plan sends the secrets of webhooks that need no change. */
  readonly resendSecrets?: boolean
  /** Whether the plan is for a run that writes, which needs the secrets of new objects. */
  readonly isWrite?: boolean
  /** Secrets of this run. Without them, secrets are not compared. */
  readonly secret?: ReadSecret
}

interface AllOptions extends PlanOptions {
  /** Whether `prune` is off because of a held object. */
  readonly waitsForHeld?: true
  readonly knownHeld?: KnownHeld
}

/** The plan for a server that is asked whether it can patch dashboards, where the plan writes one that exists, or one exists twice. */
export async function planWithPatches(
  api: Pick<ReadApi, 'hasPatchTool'>,
  declarations: Pick<Declarations, 'objects'>,
  storedObjects: StoredObjects,
  options: PlanOptions,
): Promise<Plan> {
  const plan = planChanges(declarations, storedObjects, options)
  const hasTwins = plan.diagnostics.some((one) => isAboutMarkers(one) || one.rule === 'kept-duplicate')
  return (hasTwins || plan.changes.some(dependsOnPatches)) && (await api.hasPatchTool())
    ? planChanges(declarations, storedObjects, { ...options, canPatch: true })
    : plan
}

const dependsOnPatches = (change: Change): boolean =>
  isDashboardWrite(change) || (change.kind === 'dashboard' && (isHeld(change) || ('isTracked' in change && change.isTracked === true)))

const isAboutMarkers = ({ rule }: Diagnostic): boolean => rule === 'duplicate-marker'

/** Compares declared with stored objects. Pure: it sends nothing, and the time is that of the kinds. */
export function planChanges(declarations: Pick<Declarations, 'objects'>, storedObjects: StoredObjects, options: PlanOptions): Plan {
  const plan = planAll(declarations, storedObjects, options)
  // What is missing in the files may be what a person changed.
  const waits = options.prune === true && plan.changes.some((change) => isHeld(change) && change.isError)
  return waits ? planAll(declarations, storedObjects, { ...options, prune: false, waitsForHeld: true }) : plan
}

function planAll(declarations: Pick<Declarations, 'objects'>, storedObjects: StoredObjects, options: AllOptions): Plan {
  const { knownHeld = nothingHeld, kinds } = options
  const all: readonly Kind[] = Object.values(kinds)
  const indexes = indexAll(storedObjects, kinds)
  const owned = all.flatMap((kind) => {
    const isOwned = ownershipTest(options.project, kind.markerStyle)
    return indexes[kind.name].all.flatMap((one) => (isOwned(one.marker) ? [{ ...one, kind }] : []))
  })
  const ownsAnything = owned.length > 0
  const ofAlerts = { ...options, ownsAnything, kind: kinds.alert, index: indexes.alert }
  // Alerts are identified before the dashboards are planned, and compared after that.
  const alerts = identifyObjects({ ...ofAlerts, declared: declarations.objects.filter(isOf('alert')) })
  const { tileOwners, objects } = assignTiles(declarations.objects, matchObjects(alerts), { ...options, knownHeld, indexes })
  const { parts, held, twins } = planKinds(objects, {
    ...options,
    knownHeld,
    storedObjects,
    indexes,
    tileOwners,
    ownsAnything,
    identified: { alert: alerts },
  })
  const repairs = planRepairs({
    kinds,
    twins: parts.map(({ kind, twins }) => ({ kind: kinds[kind], twins })),
    alerts: storedObjects.alert,
    planned: new Set(parts.flatMap((part) => changesOf(part, 'alert').map(({ id }) => id))),
    moves: movesOf(twins, storedObjects.alert, kinds.alert),
  })
  // The writes of a kind are together, because they begin after those of the kind before it.
  const writes = parts.flatMap(({ kind, changes, orphans }) => [
    ...changes,
    ...repairs.writes.filter((one) => one.kind === kind),
    ...(options.prune === 'forget' ? orphans.map((one) => planRelease(kinds[kind], one, 'no file declares it')) : []),
  ])
  const planned = [...writes, ...(held.some(({ isError }) => isError) ? [] : planDeletes(parts, repairs.deletes, kinds, options.prune))]
  const written = planned.filter((change) => isHeld(change) || !knownHeld.bySlot.has(slotOf(change)))
  const tileWrites = planTileWrites(written, {
    canPatch: false,
    rewrite: false,
    ...options,
    kind: kinds.dashboard,
    alerts: storedObjects.alert,
    objects,
  })
  const losses = protectAlerts(tileWrites.changes, storedObjects.alert, kinds)
  const more = findMoreHeld(knownHeld, held, losses.deletesHeld, queriedKeys(declarations.objects))
  if (more !== undefined) return planAll(declarations, storedObjects, { ...options, knownHeld: more })
  const changes = parts.flatMap((part) => part.changes)
  const reported = parts.flatMap(({ diagnostics }) => diagnostics)
  const doubled = parts.flatMap(({ kind, diagnostics }) => (diagnostics.some(isAboutMarkers) ? [kinds[kind]] : []))
  const advice = adviseRepair(doubled, options.canPatch ?? false, options.repairCommand)
  const renamed = reportRenamedProject(
    parts.flatMap(({ pairs }) => pairs),
    kinds,
    options,
  )
  // Nothing else of the plan would happen, and its other diagnostics follow from the name of the project.
  if (renamed.length > 0) return { project: options.project, changes: [], orphans: [], diagnostics: renamed, seen: {} }
  const refused = new Set(parts.flatMap(({ pairs }) => pairs.flatMap(({ declared, isRefused }) => (isRefused ? addressOf(declared) : []))))
  const waiting = reportHeld(held, options.waitsForHeld === true || repairs.deletes.length > 0)
  const twinOrphans = options.prune === true ? parts.flatMap(({ kind, orphans }) => findTwinOrphans(orphans, kinds[kind])) : []
  const found = [...reported, ...advice, ...twinOrphans, ...waiting, ...losses.diagnostics, ...tileWrites.diagnostics]
  return {
    project: options.project,
    changes: losses.changes
      .filter((change) => !refused.has(addressOf(change)))
      .map((change) => keepWhenRecreated(change, kinds[change.kind])),
    orphans: parts.flatMap(toOrphans).filter(({ kind, id }) => !options.prune || knownHeld.bySlot.has(`${kind} ${id}`)),
    diagnostics: [
      ...found,
      ...checkRepository(options.repository, owned),
      ...reviewAdoption(options, changes, owned),
      ...writes.flatMap((change) =>
        // The update that removes a marker keeps the rest of the object, as far as the API shows it.
        change.action === 'release' ? checkByKind(kinds[change.kind], { ...change, key: change.key || change.name }, noSecrets) : [],
      ),
      ...checkUses(losses.changes, storedObjects.alert, kinds),
      ...checkGuards(losses.changes, storedObjects.incompleteLists, options.maxDeletes),
    ],
    unmanaged: countUnmanaged(indexes, kinds, losses.changes),
    seen: mapKinds((name) => indexes[name].all.length),
  }
}

interface KindsOptions extends PlanOptions {
  readonly storedObjects: StoredObjects
  readonly indexes: Readonly<Record<KindName, StoredIndex>>
  readonly tileOwners: TileOwners
  readonly ownsAnything: boolean
  readonly knownHeld: KnownHeld
  /** The kinds whose objects are identified already. */
  readonly identified: Readonly<Partial<Record<KindName, Identified>>>
}

/** Plans one kind after the other: objects refer to those of the kinds before. */
function planKinds(objects: readonly Declared[], options: KindsOptions) {
  const { storedObjects, kinds, indexes, tileOwners } = options
  const declaredNames = new Map(objects.map(({ kind, key, value }) => [addressOf({ kind, key }), value.name ?? key]))
  const tiles = new Map(storedObjects.dashboard.map((one) => [one.id, listOf(one.tiles)]))
  const targets = new Map<KindName, ReadonlyMap<string, AlertTarget>>()
  const targetsIn = (kind: KindName): ReadonlyMap<string, AlertTarget> => targets.get(kind) ?? new Map()
  let directory = createDirectory(storedObjects)
  const twins: Twin[] = []
  const held: Held[] = []
  const all: readonly Kind[] = Object.values(kinds)
  const parts = all.map((kind) => {
    const context: ResolveContext = {
      directory,
      secret: options.secret ?? (() => undefined),
      sources: storedObjects.source,
      dashboards: targetsIn('dashboard'),
      savedSearches: targetsIn('savedSearch'),
      tilesOf: (id: string) => tiles.get(id) ?? [],
      tileOwners,
    }
    const part = planKind(kind, objects.filter(isOf(kind.name)), {
      ...options,
      index: indexes[kind.name],
      context,
      moves: movesOf(twins, storedObjects.alert, kinds.alert),
      declaredNames,
      held,
    })
    held.push(...part.changes.filter(isHeld))
    twins.push(...part.twins)
    targets.set(kind.name, alertTargets(part.changes, kind))
    directory = part.directory
    return part
  })
  return { parts, held, twins }
}

interface KindPlan extends Pick<MatchResult, 'orphans' | 'pairs'> {
  /** With the objects of this kind as they are after the plan. */
  readonly directory: Directory
  readonly kind: KindName
  /** The twins that `repairDuplicates` does not keep. */
  readonly twins: readonly Twin[]
  readonly changes: readonly (Create | Update | Held)[]
  readonly diagnostics: readonly Diagnostic[]
}

interface PlannerOptions extends Omit<KindsOptions, 'tileOwners' | 'indexes' | 'storedObjects'> {
  readonly index: StoredIndex
  readonly context: ResolveContext
  readonly moves: Moves
  /** The names of declared objects, by kind and key. */
  readonly declaredNames: ReadonlyMap<string, string>
  /** The objects of the kinds before that stay as they are. */
  readonly held: readonly Held[]
}

interface ResolvedPair {
  readonly pair: Pair
  readonly desired: ResolvedDeclaration
  readonly sides: BodyPair | undefined
}

/** Plans the objects of one kind. */
function planKind(kind: Kind, declared: readonly Declared[], options: PlannerOptions): KindPlan {
  const { index: all, context: given, declaredNames, rewrite = false, resendSecrets = false, isWrite = false, knownHeld } = options
  const twins = options.repairDuplicates ? findTwins(kind, declared, options) : []
  const left = new Set(twins.map(({ stored }) => stored.id))
  const items = all.all.map(({ stored }) => stored).filter(({ id }) => !left.has(id))
  const index = left.size === 0 ? all : indexStored({ items }, kind)
  // To match alerts, a tile that the plan adds counts as the stored tile of its name, because the alert on that tile is still the same one.
  const resolve = (one: Declared, stored: StoredObject | undefined): Body =>
    replacePending(kind.resolve(one, { ...given, stored }).body, (pending) => storedTileOf(pending, given) ?? pending)
  const known = left.size === 0 ? options.identified[kind.name] : undefined
  const { pairs, orphans, diagnostics } = matchObjects(known ?? identifyObjects({ ...options, kind, declared, index }), { resolve })
  // What this run creates or updates refers to the objects that stay.
  const named = given.directory.withoutNames(twins.map(({ stored }) => stored))
  const directory = kind.referredToAs === undefined ? named : named.withPlanned(kind.referredToAs, pairs.map(toPlanned))
  const context = { ...given, directory }
  const compared = pairs.map((pair): ResolvedPair => {
    const desired = kind.resolve(pair.declared, { ...context, stored: pair.found?.stored })
    return { pair, desired, sides: pair.found && sidesOf(kind, desired.body, pair.found.stored) }
  })
  const common = once(() => findCommonValues(kind, compared.flatMap(unchangedDeclarations)))
  const rewriteOf = (body: Body): string | undefined => {
    if (rewrite && kind.canRewrite) return 'written again without a difference'
    return resendSecrets && kind.secretFields?.some((field) => body[field] !== undefined) ? 'its secrets are sent again' : undefined
  }
  const nameOf = (id: unknown): string | undefined =>
    id instanceof PendingId ? (id.tile ?? declaredNames.get(addressOf(id)) ?? id.key) : directory.nameOf(id)
  const around = { ...options, kind, nameOf, common, rewriteOf }
  const planned = compared.map(({ pair, desired, sides }) => {
    const fresh = { ...planChange(pair, desired.body, sides, around), keptTiles: desired.keptTiles }
    const change = knownHeld.bySlot.get(addressOf(pair.declared)) ?? (isHeld(fresh) ? withWays(fresh, pair, kind, options) : fresh)
    // The marker is not written only because of a tile that is left out for now.
    return change.action === 'mark' && lacksTiles(pair.declared, knownHeld) ? { ...change, action: 'unchanged' as const } : change
  })
  const changes = holdCreatesBeside(holdDependents(planned, options.held, options.kinds), pairs, kind)
  const reviewed = compared.flatMap(({ pair, desired }, i) => {
    const change = changes[i]
    const resends = resendSecrets && change?.action === 'update'
    const use = { isWrite, resends, isAdopted: change !== undefined && isTakeover(change) }
    return checkByKind(kind, { ...pair.declared, desired: desired.body, stored: pair.found?.stored }, use)
  })
  return {
    kind: kind.name,
    twins,
    pairs,
    orphans,
    changes,
    directory,
    diagnostics: [
      ...diagnostics,
      ...reportKept(kind, twins),
      ...compared
        // The tile that an alert with a query refers to may be left out.
        .filter(({ pair }) => !knownHeld.bySlot.has(addressOf(pair.declared)))
        .flatMap(({ pair, desired }) => (isAsApplied(pair) ? desired.diagnostics.map(toLostName) : desired.diagnostics)),
      ...refuseNewerFields(compared, kind, items),
      ...reviewed,
      ...changes.flatMap((change) => (isHeld(change) ? [] : cannotClear(change))),
      ...pairs.flatMap((pair, i) => refuseUnadopted(pair, changes[i], kind)),
      ...serverDefaults(
        kind,
        changes.filter((change) => !isHeld(change)),
      ),
    ],
  }
}

/** The id of the stored tile with the name of a tile to add. */
function storedTileOf({ kind, key, tile }: PendingId, { dashboards, tilesOf }: ResolveContext): unknown {
  const id = kind === 'dashboard' && tile !== undefined ? dashboards.get(key)?.id : undefined
  return id === undefined ? undefined : tilesOf(id).find(({ name }) => name === tile)?.id
}

/** The deletes of twins and of orphans, in the reverse order of the kinds. */
function planDeletes(parts: readonly KindPlan[], repairs: readonly Delete[], kinds: Kinds, prune: Prune): readonly Delete[] {
  const order = parts.map(({ kind }) => kind)
  const orphans = prune === true ? parts.toReversed().flatMap((part) => part.orphans.map((one) => planDelete(kinds[part.kind], one))) : []
  return [...repairs, ...orphans].toSorted((a, b) => order.indexOf(b.kind) - order.indexOf(a.kind))
}

/** A declared object as the directory after the plan has it. */
const toPlanned = ({ declared, found }: Pair): Planned => ({
  id: found?.stored.id ?? new PendingId(declared.kind, declared.key),
  name: declared.value.name,
  kind: 'kind' in declared.value ? declared.value.kind : undefined,
  stored: found?.stored,
})

/** Whether the declaration has not changed since it was applied. */
const isAsApplied = ({ declared, found }: Pair): boolean =>
  found?.marker !== undefined && found.marker.digest === declarationDigest(declared.value)

const unchangedDeclarations = ({ pair, sides }: ResolvedPair): readonly BodyPair[] =>
  sides !== undefined && isAsApplied(pair) ? [sides] : []

const keepWhenRecreated = (change: Change, { recreate }: Kind): Change =>
  change.action === 'replace' && recreate !== undefined ? { ...change, desired: recreate(change.desired, change.stored) } : change

const noSecrets = { isWrite: false, resends: false, isAdopted: false }

function countUnmanaged(
  indexes: Readonly<Record<KindName, StoredIndex>>,
  kinds: Kinds,
  changes: readonly Change[],
): NonNullable<Plan['unmanaged']> {
  const declared = new Set(changes.filter(({ key }) => key !== '').map(({ kind, id }) => `${kind} ${id}`))
  // The owner of an object is unknown for kinds without markers.
  const marked = kindNames.filter((name) => kinds[name].ownership === 'marker')
  return Object.fromEntries(
    marked.map((name) => [
      name,
      indexes[name].all.filter(({ token, stored }) => token === undefined && !declared.has(`${name} ${stored.id}`)).length,
    ]),
  )
}

/** The objects that alerts can watch, with the ids that they have and keep. */
const alertTargets = (changes: readonly (Create | Update | Held)[], kind: Kind): ReadonlyMap<string, AlertTarget> =>
  new Map(
    changes.map(({ key, id, desired, stored, keptTiles }) => {
      const body = stored === undefined ? desired : kind.carryOver(desired, kind.toBody(stored))
      return [key, { id, tiles: listOf(body.tiles), keptTiles }] as const
    }),
  )

const toOrphans = ({ kind, orphans }: KindPlan): Plan['orphans'] =>
  orphans.map(({ stored, marker }) => ({ kind, id: stored.id, name: storedLabelOf(stored), key: marker?.key ?? '' }))
