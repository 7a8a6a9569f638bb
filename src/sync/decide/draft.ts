// Identifies and compares one kind after the other. What else must not happen, or happens then, is for the guards.

import { queryDashboardKey } from '../../kinds/alert-query/alert-query.ts'
import { findCommonValues } from '../../kinds/base.ts'
import { type BodyPair, sidesOf } from '../../kinds/compare.ts'
import {
  type AlertTarget,
  type Body,
  type Kind,
  type KindWire,
  listOf,
  type ResolveContext,
  type StoredObject,
  type TileOwners,
  type UnresolvedReference,
} from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import { type Declared, isOf } from '../../kinds/kinds.ts'
import { PendingId, type Planned, replacePending } from '../../kinds/name-index.ts'
import { once } from '../../platform/core/concurrency.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { indexStored, type MarkedObject } from '../plan/stored-objects.ts'
import { isMadeForQueries, makeProjectDashboard } from '../query-alerts/query-alerts.ts'
import { type Create, type Held, isHeld, type Update } from './change.ts'
import { planObject } from './compare.ts'
import { type Assumed, type Draft, type Facts, isAsApplied } from './facts.ts'
import { holdUnresolved } from './hold.ts'
import { identifyObjects, type Pair } from './identify.ts'
import { matchObjects } from './match.ts'
import { findTwins, type Twin } from './twins.ts'

export function draftPlan(facts: Facts, assumed: Assumed): Draft {
  const { tileOwners, objects } = assignTiles(matchObjects(facts.alerts), facts, assumed)
  const targets = new Map<KindName, () => ReadonlyMap<string, AlertTarget>>()
  const targetsIn = (kind: KindName): ResolveContext['dashboards'] => ({ get: (key) => targets.get(kind)?.().get(key) })
  let context: ResolveContext = {
    nameIndex: facts.nameIndex,
    secret: facts.secret ?? (() => undefined),
    sources: facts.storedObjects.source,
    dashboards: targetsIn('dashboard'),
    savedSearches: targetsIn('savedSearch'),
    tilesOf: facts.tilesOf,
    tileOwners,
  }
  const twinsBefore: Twin[] = []
  const unresolvedQueries = new Map<string, readonly UnresolvedReference[]>()
  const parts = facts.kindList.map((kind) => {
    const part = draftKind(kind, objects.filter(isOf(kind.name)), { ...facts, ...assumed, context, twinsBefore, unresolvedQueries })
    twinsBefore.push(...part.twins)
    targets.set(
      kind.name,
      once(() => toTargets(part.steps, kind)),
    )
    context = { ...context, nameIndex: part.nameIndex }
    return part
  })
  return { assumed, steps: parts.flatMap(({ steps }) => steps), ofKinds: parts }
}

interface KindFacts extends Facts, Assumed {
  /** With the objects of the kinds before as they are after the plan. */
  readonly context: ResolveContext
  readonly twinsBefore: readonly Twin[]
  /** By the keys of the alerts, which are drafted after the dashboards with their queries. */
  readonly unresolvedQueries: Map<string, readonly UnresolvedReference[]>
}

function draftKind(kind: Kind, declared: readonly Declared[], facts: KindFacts) {
  const { context, indexes, unresolvedQueries } = facts
  const all = indexes[kind.name]
  const twins = facts.repairDuplicates ? findTwins(kind, declared, { ...facts, index: all }) : []
  const left = new Set(twins.map(({ stored }) => stored))
  const index =
    left.size === 0
      ? all
      : indexStored(
          all.all.map(({ stored }) => stored).filter((one) => !left.has(one)),
          kind,
        )
  // An alert stays the same one on a tile that replaces the stored tile of its name.
  const resolve = (one: Declared, stored: StoredObject | undefined): Body =>
    replacePending(kind.resolve(one, { ...context, stored }).body, (pending) => storedTileOf(pending, context) ?? pending)
  const isIdentified = kind === facts.alerts.finder.kind && left.size === 0
  const identified = isIdentified ? facts.alerts : identifyObjects({ ...facts, kind, declared, index })
  const { pairs, orphans, diagnostics } = matchObjects(identified, resolve)
  // What this run creates or updates refers to the objects that stay.
  const named = context.nameIndex.withoutNames([...left])
  const nameIndex = kind.referredToAs === undefined ? named : named.withPlanned(kind.referredToAs, pairs.map(toPlanned))
  const compared = pairs.map((pair) => {
    const stored = pair.found?.stored
    const desired = kind.resolve(pair.declared, { ...context, nameIndex, stored })
    return { pair, desired, sides: stored && sidesOf(kind, desired.body, stored) }
  })
  const asApplied = ({ pair, sides }: (typeof compared)[number]): readonly BodyPair[] => (sides && isAsApplied(pair) ? [sides] : [])
  const common = once(() => findCommonValues(kind, compared.flatMap(asApplied)))
  const nameOf = (id: unknown): string | undefined =>
    id instanceof PendingId ? (id.tile ?? facts.declaredNames.get(addressOf(id))) : nameIndex.nameOf(id)
  const object = { ...facts, kind, nameOf, common }
  const steps = compared.map(({ pair, desired: { body, keptTiles, diagnostics }, sides }) => {
    const { declared } = pair
    const found = Map.groupBy([...(declared.unresolved ?? []), ...diagnostics], ({ path }) => alertWithQuery(declared, path))
    for (const [key, references] of found) if (key !== undefined) unresolvedQueries.set(key, references)
    const ofQuery = kind.name === 'alert' ? unresolvedQueries.get(declared.key) : undefined
    const unresolved = [...(ofQuery ?? []), ...(found.get(undefined) ?? [])]
    const planned = planObject(pair, body, sides, object)
    const change = unresolved.length === 0 || isHeld(planned) ? planned : holdUnresolved({ change: planned, pair }, unresolved)
    return { kind, change: asAssumed({ ...change, keptTiles }, pair, facts), pair }
  })
  return { kind, steps, orphans, twins, diagnostics, nameIndex }
}

/** The key of the alert whose query is at a path of a dashboard. */
function alertWithQuery({ queries, value }: Declared, [field, index]: readonly PropertyKey[]): string | undefined {
  if (queries === undefined || field !== 'tiles' || !('tiles' in value)) return undefined
  return queries.get(String(value.tiles[Number(index)]?.name))
}

function asAssumed(change: Create | Update | Held, { declared }: Pair, { held, heldQueries }: Assumed): Create | Update | Held {
  const known = held.get(addressOf(declared))
  if (known !== undefined) return known
  // The marker is not written only because of a tile that is left out for now.
  const lacksTile = declared.queries?.values().some((key) => heldQueries.has(key))
  return change.action === 'mark' && lacksTile ? { ...change, action: 'unchanged' } : change
}

function storedTileOf({ kind, key, tile }: PendingId, { dashboards, tilesOf }: ResolveContext): unknown {
  const id = kind === 'dashboard' && tile !== undefined ? dashboards.get(key)?.id : undefined
  return id === undefined ? undefined : tilesOf(id).find(({ name }) => name === tile)?.id
}

const toPlanned = ({ declared, found }: Pair): Planned => ({
  id: found?.stored.id ?? new PendingId(declared.kind, declared.key),
  name: declared.value.name,
  kind: 'kind' in declared.value ? declared.value.kind : undefined,
  stored: found?.stored,
})

const toTargets = (steps: readonly { readonly change: Create | Update | Held }[], kind: KindWire): ReadonlyMap<string, AlertTarget> =>
  new Map(
    steps.map(({ change: { key, id, desired, stored, keptTiles } }) => {
      const body = stored === undefined ? desired : kind.withStoredIds(desired, kind.toBody(stored))
      return [key, { id, tiles: listOf(body.tiles), keptTiles }] as const
    }),
  )

// Which alerts the tiles of dashboards are for: alerts are found before the dashboards are planned, so that a tile follows its alert.

type MatchedAlerts = ReturnType<typeof matchObjects<Declared<'alert'>>>

function assignTiles(matched: MatchedAlerts, facts: Facts, assumed: Assumed) {
  const tileOwners = findTileOwners(matched, facts, assumed)
  return { tileOwners, objects: keepProjectDashboard(withoutTilesOf(facts, assumed), facts, assumed, tileOwners) }
}

function findTileOwners({ pairs, orphans }: MatchedAlerts, { indexes }: Facts, { prune, held, heldQueries }: Assumed): TileOwners {
  const found = pairs.flatMap((one) => (one.found === undefined ? [] : [{ ...one.found, declared: one.declared }]))
  const names = new Map(indexes.dashboard.all.flatMap(({ stored }) => listOf(stored.tiles).map(({ id, name }) => [id, name] as const)))
  const queried = found.filter(({ declared }) => declared.value.query !== undefined)
  const tiles = new Map(queried.map((one) => [one.declared.key, queryTileOf(one)]))
  // An alert leaves its tile if it is pruned, or watches something else after the plan. One with a query counts, too, where its tile stays: a
  // dashboard asks only about tiles that it gives to no alert.
  const moved = found.filter(({ stored, declared }) => !held.has(addressOf(declared)) && !staysOn(declared, stored, names))
  const ended = [...moved, ...(prune === true ? orphans : [])]
  const leaving = new Set(ended.map(({ stored }) => stored.id))
  const staying = new Set(indexes.alert.all.flatMap(({ stored }) => (leaving.has(stored.id) ? [] : [stored.tileId])))
  const ending = new Set<unknown>(ended.flatMap(({ marker }) => marker?.queryTile ?? []).filter((id) => !staying.has(id)))
  const left = new Set([...heldQueries].map((key) => tiles.get(key)))
  const ours = new Set<unknown>([...found, ...orphans].flatMap(({ stored, marker }) => [stored.tileId, marker?.queryTile]))
  return {
    tileOf: (key) => tiles.get(key),
    ownerOf: (tileId) =>
      ending.has(tileId) ? 'ending' : tileId !== undefined && left.has(tileId) ? 'held' : ours.has(tileId) ? 'ours' : undefined,
  }
}

/** An alert leaves another tile when it gets a query, whatever the name of that is. An adopted one brings its tile. */
const queryTileOf = ({ stored, marker }: MarkedObject): unknown => (marker === undefined ? stored.tileId : marker.queryTile)

/** On a dashboard that the files do not declare. */
function staysOn({ value: { query, tile, dashboard } }: Declared<'alert'>, { tileId }: StoredObject, names: ReadonlyMap<unknown, unknown>) {
  if (query !== undefined) return false
  return isMapping(tile) ? tile.id === tileId : isMapping(dashboard) && tile === names.get(tileId)
}

/** The declarations without the tiles of these alerts, and without the dashboard that would be created only for them. */
function withoutTilesOf({ objects, kinds, indexes, project }: Facts, { heldQueries: alerts }: Assumed): readonly Declared[] {
  const isStored = indexes.dashboard.byToken.has(kinds.dashboard.markerStyle.token(project, queryDashboardKey))
  return objects.flatMap((one): readonly Declared[] => {
    if (alerts.size === 0 || !isOf('dashboard')(one)) return [one]
    const tiles = one.value.tiles.filter(({ name }) => !alerts.has(one.queries?.get(String(name)) ?? ''))
    return tiles.length === 0 && isMadeForQueries(one) && !isStored ? [] : [{ ...one, value: { ...one.value, tiles } }]
  })
}

/**
 * The dashboard for the queries of alerts counts as declared as long as it has tiles that are not theirs: prune must not delete it, and
 * removes only the tiles of ended alerts.
 */
function keepProjectDashboard(
  objects: readonly Declared[],
  { kinds: { dashboard: kind }, indexes, project }: Facts,
  { prune }: Assumed,
  owners: TileOwners,
): readonly Declared[] {
  const [found, second] = indexes.dashboard.byToken.get(kind.markerStyle.token(project, queryDashboardKey)) ?? []
  const isDeclared = objects.some((one) => isOf('dashboard')(one) && one.key === queryDashboardKey)
  if (found === undefined || second !== undefined || isDeclared || prune === 'forget') return objects
  const tiles = listOf(found.stored.tiles)
  // Without prune, the tiles go now: nothing tells later what they were made for.
  if (tiles.length === 0 || (prune === true && tiles.every(({ id }) => owners.ownerOf(id) === 'ending'))) return objects
  return [...objects, makeProjectDashboard(found.stored.name ?? '', { file: 'alerts' })]
}
