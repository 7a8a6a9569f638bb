// Objects that apply leaves as they are: writing them could lose what a person made, or what they depend on is left as it is.

import { adoptedIds } from '../../kinds/adopt.ts'
import { compareBodies } from '../../kinds/compare.ts'
import { type Body, describeStored, type Kind, listOf, watchedPlaceOf } from '../../kinds/kind.ts'
import { addressOf, placeOfTile } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { PendingId, replacePending } from '../../kinds/pending-id.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic } from '../../platform/core/diagnostics.ts'
import { isSame } from '../../platform/core/equality.ts'
import { toKebab } from '../../platform/core/names.ts'
import { capitalize, listFirst, pluralOf } from '../../platform/core/text.ts'
import { isMadeForQueries } from '../query-alerts/query-alerts.ts'
import { type Change, type Create, type Held, isHeld, type Update } from './change.ts'
import { matchRules, type Pair, placeOf } from './match.ts'

/** A declaration whose object is left as it is. `digest` is that of the declaration as it is now. */
export function hold(change: Create | Update, { adopted, candidates = [] }: Pair, digest: string, { label }: Kind): Held {
  const { kind, key, name, location, madeFrom, desired, fields } = change
  const held = { kind, key, name, location, madeFrom, desired, fields, action: 'held', isError: true, notes: [], ways: [] } as const
  const unadopted = isSpelledOut(change) ? '' : ', and no file can adopt it'
  if (change.action === 'create') {
    const ids = candidates.map(({ stored }) => stored.id)
    return {
      ...held,
      candidates: ids,
      reason: `could be one of the unmanaged ${pluralOf(label)} ${ids.join(', ')}, which differ${unadopted}`,
    }
  }
  const { id, stored } = change
  const paths = listFirst([...new Set(fields.map(({ path }) => path))], 5, (count) => `${count} more`).join(', ')
  if (adopted === undefined || adopted === true)
    return { ...held, id, stored, reason: `the unmanaged ${label} ${describeStored(stored)} differs (${paths})${unadopted}` }
  const isService = adopted.declared === digest
  const reason = `changed in the ${isService ? '' : 'files and in the '}service since pull (${paths})`
  return { ...held, id, stored, reason, isError: !isService, origin: isService ? 'service' : undefined }
}

/** Whether a file has, or can have, the declaration. Files can spell out the dashboard with the queries of alerts. */
const isSpelledOut = (one: Pick<Held, 'madeFrom'>): boolean => one.madeFrom === undefined || isMadeForQueries(one)

interface Commands {
  /** The command for the same files, environment and target. */
  readonly pullCommand?: string
  readonly targetOptions?: string
}

/** The held object with what works for it. */
export const withWays = (
  held: Held,
  { declared, adopted }: Pair,
  kind: Kind,
  { pullCommand = 'watchkeeper pull', targetOptions = '' }: Commands = {},
): Held => ({
  ...held,
  ways: held.madeFrom === undefined ? waysInFile(held, { declared, adopted }, kind, pullCommand) : [wayOfMade(held, kind, targetOptions)],
})

function wayOfMade(held: Held, { name: kind, removal }: Kind, targetOptions: string): string {
  const { key, name, id, candidates = [] } = held
  if (isSpelledOut(held))
    return `to manage it as the files have it, declare ${addressOf({ kind, key })} with name: ${JSON.stringify(name)}, tags: [alerts], rewrite: true, and adopt: ${id === undefined ? meantId : quoted(id)}`
  const commands = (id === undefined ? candidates : [id]).map((one) => `watchkeeper delete-${toKebab(kind)} ${one}${targetOptions}`)
  const it = commands.length > 1 ? 'them' : 'it'
  return `to replace ${it}, run ${commands.join(' and ')}${removal === undefined ? '' : `, which also deletes the alerts on ${it}`}`
}

const meantId = 'the id of the one to manage'

function waysInFile({ key, id, location }: Held, { declared, adopted }: Pair, kind: Kind, pullCommand: string): readonly string[] {
  const where =
    location?.instance === undefined
      ? ''
      : ` for the instance ${location.instance} (a value of the instance, or in adopt of an environment)`
  // A list has the ids of other services.
  const isShared = adoptedIds(declared.value.adopt).some((entry) => entry.id !== id)
  const one = id === undefined ? meantId : quoted(id)
  const entry = isShared ? 'its entry in adopt' : 'adopt'
  const set = isShared && adopted === undefined ? `add ${one} to adopt${where}` : `set ${entry}${where} to ${one}`
  if (id === undefined) return [set]
  const take =
    where === ''
      ? `run ${pullCommand} --only declared --select key=${key}`
      : 'change the file, because pull does not edit a file with instances'
  if (adopted !== undefined) return [`to take over the ${kind.label} of the service, ${take}`, `to keep the file, ${set}`]
  return [
    `to manage it as the file has it, ${set}`,
    `to take its values into the file, ${take}`,
    `to create another one, ${kind.hasUniqueNames || isShared ? 'choose another name' : 'set adopt to false'}`,
  ]
}

/** YAML reads digits, with one `e` or without, as a number. */
const quoted = (id: string): string => (/^\d+(?:e\d+)?$/i.test(id) ? `"${id}"` : id)

/** The change as it waits for the held object that is its cause. */
export const holdFor = (change: Create | Update, cause: Held, reason: string): Held => {
  const { kind, key, name, location, madeFrom, desired, fields, keptTiles, id, stored } = change
  const common = { kind, key, name, location, madeFrom, desired, fields, keptTiles, id, stored }
  return { ...common, action: 'held', isError: cause.isError, reason, ways: [`see ${addressOf(cause)}`], notes: [] }
}

/**
 * Changes that need what a held object does not have: an object, a tile, or what an alert would count on one. `held` are the changes of the
 * kinds before.
 */
export function holdDependents<C extends Create | Update | Held>(
  changes: readonly C[],
  held: readonly Held[],
  kinds: Kinds,
): readonly (C | Held)[] {
  if (held.length === 0) return changes
  const byAddress = new Map(held.map((one) => [addressOf(one), one]))
  const byPlace = new Map(held.flatMap((one) => differingPlaces(one, kinds[one.kind]).map((place) => [place, one] as const)))
  return changes.map((change) => {
    if (change.action === 'held' || change.action === 'unchanged') return change
    const needed = pendingIn(change.desired).map((pending) => byAddress.get(addressOf(pending)))
    const cause = [...needed, byPlace.get(watchedPlaceOf(change.desired) ?? '')].find((one) => one !== undefined)
    if (cause === undefined) return change
    return holdFor(change, cause, `needs what ${addressOf(cause)} has in the files, which is left as it is`)
  })
}

/** Holds the creates beside a held object: those of the name, or the place, that a held object without a marker has. */
export function holdCreatesBeside(
  changes: readonly (Create | Update | Held)[],
  pairs: readonly Pair[],
  kind: Kind,
): readonly (Create | Update | Held)[] {
  const unmarked = changes.filter(isHeld).flatMap((one) => {
    const body = one.stored && kind.toBody(one.stored)
    if (one.stored === undefined || body === undefined || kind.readMarker(body) !== undefined) return []
    return [[placeOf(kind, one.stored, () => body), { cause: one, object: describeStored(one.stored) }] as const]
  })
  if (unmarked.length === 0) return changes
  const byPlace = new Map(unmarked)
  return changes.map((change, i) => {
    const value = pairs[i]?.declared.value
    if (change.action !== 'create' || value === undefined || value.adopt === false) return change
    const place = placeOf(kind, value, () => change.desired)
    const found = place === undefined ? undefined : byPlace.get(place)
    if (found === undefined) return change
    const { cause, object } = found
    return holdFor(change, cause, `would be a second ${kind.label} beside ${object} of ${addressOf(cause)}, which is left as it is`)
  })
}

/** Where alerts on a held object count something else than the files say: on its tiles that have another chart, or on a saved search. */
function differingPlaces({ id, desired, stored, fields }: Held, kind: Kind): readonly string[] {
  if (id === undefined || stored === undefined) return []
  const { before, after } = compareBodies(kind, desired, stored)
  const charts = new Map(listOf(before.tiles).map((tile) => [tile.id, tile.config]))
  const tiles = listOf(after.tiles).filter((tile) => charts.has(tile.id) && !isSame(charts.get(tile.id), tile.config))
  return [...(fields.some(({ path }) => !/^(?:name|tags)(?!\w)/.test(path)) ? [id] : []), ...tiles.map((tile) => placeOfTile(id, tile.id))]
}

/** The held objects that earlier rounds of planning found. A round needs them before it plans the kinds that they refer to. */
export interface KnownHeld {
  /** Held objects by `slotOf` their changes. The entry for a delete or a release is the held alert that it would delete. */
  readonly bySlot: ReadonlyMap<string, Held>
  /** The keys of held alerts with a query, for which no tile is added. */
  readonly alertsWithoutTile: ReadonlySet<string>
}

export const nothingHeld: KnownHeld = { bySlot: new Map(), alertsWithoutTile: new Set() }

/** The address of the object. A delete or a release has no address, because no file declares its object, so it has the id. */
export const slotOf = (change: Pick<Change, 'kind' | 'key' | 'action' | 'id'>): string =>
  change.action === 'delete' || change.action === 'release' ? `${change.kind} ${change.id}` : addressOf(change)

/**
 * What the next round of planning has to know; undefined where this plan leaves all held alerts as they are. The next round adds no tile for
 * the query of a held alert, and keeps the tile that the alert is on. If a change deletes the alert even so, the round after that holds the
 * object of the change. `queried` are the keys of the alerts with a query.
 */
export function findMoreHeld(
  before: KnownHeld,
  held: readonly Held[],
  deletesHeld: ReadonlyMap<Change, Held>,
  queried: ReadonlySet<string>,
): KnownHeld | undefined {
  const addresses = new Set(held.map(addressOf))
  const waiting = ({ kind, key, desired: { tileId } }: Held): boolean =>
    kind === 'alert' && queried.has(key) && tileId instanceof PendingId && !addresses.has(addressOf(tileId))
  const withoutTile = held.filter((one) => waiting(one) && !before.alertsWithoutTile.has(one.key))
  const causes = [...deletesHeld].map(([cause, alert]) => {
    if (!before.bySlot.has(addressOf(alert))) return [addressOf(alert), alert] as const
    const isDeclared = cause.action === 'update' || cause.action === 'adopt' || cause.action === 'mark'
    return [slotOf(cause), isDeclared ? holdFor(cause, alert, `would delete ${addressOf(alert)}, which is left as it is`) : alert] as const
  })
  if (withoutTile.length + causes.length === 0) return undefined
  return {
    bySlot: new Map([...before.bySlot, ...withoutTile.map((one) => [addressOf(one), one] as const), ...causes]),
    alertsWithoutTile: new Set([...before.alertsWithoutTile, ...withoutTile.map(({ key }) => key)]),
  }
}

function pendingIn(body: Body): readonly PendingId[] {
  const found: PendingId[] = []
  replacePending(body, (pending) => found.push(pending))
  return found
}

/** Whether an error lets apply write the other objects. */
export const isAboutHeld = ({ rule }: Pick<Diagnostic, 'rule'>): boolean => rule === ('held' satisfies keyof typeof matchRules)

/** One diagnostic for each held object. Deletes wait until there is no error: what is missing in the files may be what a person changed. */
export const reportHeld = (held: readonly Held[], deletes: boolean): readonly Diagnostic[] =>
  held.map((change) => {
    const { reason, ways, isError, location = { file: 'files' } } = change
    const message = `${addressOf(change)}: ${reason}, so apply leaves it as it is${isError && deletes ? ', and deletes nothing' : ''}. ${capitalize(ways.join('; '))}`
    return (isError ? diagnosticOf : exceptionalDiagnostic)(matchRules, 'held', location, message)
  })
