// The core of a plan: identify, compare, change, one kind after the other. What else must not happen, or happens then, is for the guards.

import { findCommonValues } from '../../kinds/base.ts'
import { type BodyPair, sidesOf } from '../../kinds/compare.ts'
import type { Planned } from '../../kinds/directory.ts'
import { type AlertTarget, type Body, type Kind, type KindWire, listOf, type ResolveContext, type StoredObject } from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import { type Declared, isOf } from '../../kinds/kinds.ts'
import { PendingId, replacePending } from '../../kinds/pending-id.ts'
import { once } from '../../platform/core/concurrency.ts'
import { indexStored } from '../plan/stored-objects.ts'
import { assignTiles } from '../query-alerts/tile-owners.ts'
import { type Create, type Held, isHeld, type Update } from './change.ts'
import { planObject } from './compare.ts'
import { type Assumed, type Draft, type Facts, isAsApplied } from './facts.ts'
import { holdUnresolved } from './hold.ts'
import { identifyObjects, type Pair } from './identify.ts'
import { matchObjects } from './match.ts'
import { findTwins, type Twin } from './twins.ts'

export function draftPlan(facts: Facts, assumed: Assumed): Draft {
  const { tileOwners, objects } = assignTiles(matchObjects(facts.alerts), facts, assumed)
  const targets = new Map<KindName, ReadonlyMap<string, AlertTarget>>()
  const targetsIn = (kind: KindName): ResolveContext['dashboards'] => ({ get: (key) => targets.get(kind)?.get(key) })
  let context: ResolveContext = {
    directory: facts.directory,
    secret: facts.secret ?? (() => undefined),
    sources: facts.storedObjects.source,
    dashboards: targetsIn('dashboard'),
    savedSearches: targetsIn('savedSearch'),
    tilesOf: facts.tilesOf,
    tileOwners,
  }
  const twinsBefore: Twin[] = []
  const parts = facts.kindList.map((kind) => {
    const part = draftKind(kind, objects.filter(isOf(kind.name)), { ...facts, ...assumed, context, twinsBefore })
    twinsBefore.push(...part.twins)
    targets.set(kind.name, toTargets(part.steps, kind))
    context = { ...context, directory: part.directory }
    return part
  })
  return { assumed, steps: parts.flatMap(({ steps }) => steps), ofKinds: parts }
}

interface KindFacts extends Facts, Assumed {
  /** With the objects of the kinds before as they are after the plan. */
  readonly context: ResolveContext
  readonly twinsBefore: readonly Twin[]
}

function draftKind(kind: Kind, declared: readonly Declared[], facts: KindFacts) {
  const { context, indexes } = facts
  const all = indexes[kind.name]
  const twins = facts.repairDuplicates ? findTwins(kind, declared, { ...facts, index: all }) : []
  const left = new Set(twins.map(({ stored }) => stored))
  const index = left.size === 0 ? all : indexStored({ items: all.all.map(({ stored }) => stored).filter((one) => !left.has(one)) }, kind)
  // An alert stays the same one on a tile that replaces the stored tile of its name.
  const resolve = (one: Declared, stored: StoredObject | undefined): Body =>
    replacePending(kind.resolve(one, { ...context, stored }).body, (pending) => storedTileOf(pending, context) ?? pending)
  const isIdentified = kind === facts.alerts.finder.kind && left.size === 0
  const identified = isIdentified ? facts.alerts : identifyObjects({ ...facts, kind, declared, index })
  const { pairs, orphans, diagnostics } = matchObjects(identified, { resolve })
  // What this run creates or updates refers to the objects that stay.
  const named = context.directory.withoutNames([...left])
  const directory = kind.referredToAs === undefined ? named : named.withPlanned(kind.referredToAs, pairs.map(toPlanned))
  const compared = pairs.map((pair) => {
    const stored = pair.found?.stored
    const desired = kind.resolve(pair.declared, { ...context, directory, stored })
    return { pair, desired, sides: stored && sidesOf(kind, desired.body, stored) }
  })
  const asApplied = ({ pair, sides }: (typeof compared)[number]): readonly BodyPair[] => (sides && isAsApplied(pair) ? [sides] : [])
  const common = once(() => findCommonValues(kind, compared.flatMap(asApplied)))
  const nameOf = (id: unknown): string | undefined =>
    id instanceof PendingId ? (id.tile ?? facts.declaredNames.get(addressOf(id)) ?? id.key) : directory.nameOf(id)
  const object = { ...facts, kind, nameOf, common }
  const steps = compared.map(({ pair, desired: { body, keptTiles, diagnostics: unresolved }, sides }) => {
    const planned = planObject(pair, body, sides, object)
    const change = unresolved.length === 0 || isHeld(planned) ? planned : holdUnresolved({ change: planned, pair }, unresolved)
    return { kind, change: asAssumed({ ...change, keptTiles }, pair, facts), pair }
  })
  return { kind, steps, orphans, twins, diagnostics, directory }
}

function asAssumed(change: Create | Update | Held, { declared }: Pair, { held, alertsWithoutTile }: Assumed): Create | Update | Held {
  const known = held.get(addressOf(declared))
  if (known !== undefined) return known
  // The marker is not written only because of a tile that is left out for now.
  const lacksTile = declared.queries?.values().some((key) => alertsWithoutTile.has(key))
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
