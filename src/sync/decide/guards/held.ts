import { compareBodies } from '../../../kinds/compare.ts'
import { type PendingId, replacePending } from '../../../kinds/directory.ts'
import { type Body, describeStored, type KindIdentity, type KindWire, listOf, watchedPlaceOf } from '../../../kinds/kind.ts'
import { addressOf, placeOfTile } from '../../../kinds/kind-names.ts'
import type { Kinds } from '../../../kinds/kinds.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../../platform/core/diagnostics.ts'
import { isSame } from '../../../platform/core/equality.ts'
import { capitalize, firstOf } from '../../../platform/core/text.ts'
import { addressOfChange, type Held, isDelete, isHeld, isPlanned, slotOf, type Update } from '../change.ts'
import type { Guard, Step } from '../facts.ts'
import { holdFor } from '../hold.ts'
import { likenessOf } from '../match.ts'

export const heldRules = {
  held: {
    severity: 'error',
    exception: 'warning',
    description:
      'An existing object differs from the files, and stays as it is, because a person may have made the difference. So does what depends on it. This is a warning if only the service has changed since `pull`. `apply` writes the other objects, and deletes nothing if this is an error.',
  },
} as const satisfies Rules

/** Holds what needs a held object, or would be created beside one. Deletes wait for an error: what is missing in the files may be what a person changed. */
export const holdWhatWaits: Guard = ({ steps, assumed, ofKinds }, { kinds, prune }) => {
  const before: Held[] = []
  const waiting = [...Map.groupBy(steps, ({ kind }) => kind)].flatMap(([kind, own]) => {
    const held = holdBeside(holdDependents(own, before, kinds), kind)
    before.push(...held.map(({ change }) => change).filter(isHeld))
    return held
  })
  const orphans = [...assumed.held].flatMap(([slot, one]) => (slot === `${one.kind} ${one.id}` ? [one] : []))
  const all = [...before, ...orphans]
  const hasError = all.some(({ isError }) => isError)
  if (hasError && assumed.prune === true) return { assume: { prune: false } }
  const stays = ({ change }: Step): boolean => !isHeld(change) && ((hasError && isDelete(change)) || assumed.held.has(slotOf(change)))
  const deletes = assumed.prune !== prune || ofKinds.some(({ twins }) => twins.some(({ action }) => action === 'delete'))
  return {
    steps: waiting.filter((step) => !stays(step)),
    diagnostics: [...Map.groupBy(all, causeOf).values()].map((alike) => toDiagnostic(alike, deletes)),
    holds: holdWatched(waiting, before, kinds),
  }
}

/** Objects with one cause are one line. */
const causeOf = ({ at, reason, remedies, isError }: Held): string => JSON.stringify([at, reason, remedies, isError])

function toDiagnostic(alike: readonly Held[], deletes: boolean): Diagnostic {
  const [change] = alike
  if (change === undefined) throw new Error('a group without an object')
  const { reason, remedies, isError, at, location = { file: 'prune' } } = change
  const message = `${firstOf(maxNamed, [...new Set(alike.map(addressOfChange))])}: ${reason}, so apply leaves it as it is${isError && deletes ? ', and deletes nothing' : ''}. ${capitalize(remedies.join('; '))}`
  return (isError ? diagnosticOf : exceptionalDiagnostic)(heldRules, 'held', at ?? location, message)
}

const maxNamed = 3

export const isAboutHeld = ({ rule }: Pick<Diagnostic, 'rule'>): boolean => rule === ('held' satisfies keyof typeof heldRules)

/**
 * Changes that need what a held object does not have: an object, a tile, or what an alert would count on one. `held` are the changes of the
 * kinds before.
 */
function holdDependents(steps: readonly Step[], held: readonly Held[], kinds: Kinds): readonly Step[] {
  if (held.length === 0) return steps
  const byAddress = new Map(held.map((one) => [addressOf(one), one]))
  const byPlace = new Map(held.flatMap((one) => differingPlaces(one, kinds[one.kind]).map((place) => [place, one] as const)))
  return steps.map((step) => {
    const { change, pair } = step
    if (pair === undefined || !isPlanned(change) || change.action === 'unchanged') return step
    const needed = pendingIn(change.desired).map((pending) => byAddress.get(addressOf(pending)))
    const cause = [...needed, byPlace.get(watchedPlaceOf(change.desired) ?? '')].find((one) => one !== undefined)
    if (cause === undefined) return step
    return { ...step, change: holdFor(change, pair, cause, `needs what ${addressOf(cause)} has in the files, which is left as it is`) }
  })
}

/** What a held alert watches stays as it is, too: with another chart or query, its threshold would be about something else. */
function holdWatched(steps: readonly Step[], held: readonly Held[], kinds: Kinds): ReadonlyMap<string, Held> {
  const watching = new Map(
    held.flatMap((one) => {
      const place = one.stored && watchedPlaceOf(kinds[one.kind].toBody(one.stored))
      return place === undefined ? [] : [[place, one] as const]
    }),
  )
  return new Map(
    steps.flatMap(({ kind, change, pair }) => {
      if (!isPlanned(change) || change.action !== 'update' || watching.size === 0) return []
      const alert = differingPlaces(change, kind).flatMap((place) => watching.get(place) ?? [])[0]
      if (alert === undefined) return []
      return [[slotOf(change), holdFor(change, pair, alert, `changes what ${addressOf(alert)} counts, which is left as it is`)] as const]
    }),
  )
}

function pendingIn(body: Body): readonly PendingId[] {
  const found: PendingId[] = []
  replacePending(body, (pending) => found.push(pending))
  return found
}

/** Where alerts on a held object count something else than the files say: on its tiles that have another chart, or on a saved search. */
function differingPlaces({ id, desired, stored, fields }: Held | Update, kind: KindWire): readonly string[] {
  if (id === undefined || stored === undefined) return []
  const { before, after } = compareBodies(kind, desired, stored)
  const charts = new Map(listOf(before.tiles).map((tile) => [tile.id, tile.config]))
  const tiles = listOf(after.tiles).filter((tile) => charts.has(tile.id) && !isSame(charts.get(tile.id), tile.config))
  return [...(fields.some(({ path }) => !/^(?:name|tags)(?!\w)/.test(path)) ? [id] : []), ...tiles.map((tile) => placeOfTile(id, tile.id))]
}

/** Holds the creates beside a held object: those of the name, or the place, that a held object without a marker has. */
function holdBeside(steps: readonly Step[], kind: KindIdentity & KindWire): readonly Step[] {
  const unmarked = steps.flatMap(({ change }) => {
    const { stored } = change
    const body = isHeld(change) && stored !== undefined ? kind.toBody(stored) : undefined
    if (!isHeld(change) || stored === undefined || body === undefined || kind.readMarker(body) !== undefined) return []
    return [[likenessOf(kind, stored, () => body), { cause: change, object: describeStored(stored) }] as const]
  })
  if (unmarked.length === 0) return steps
  const byLikeness = new Map(unmarked)
  return steps.map((step) => {
    const { change, pair } = step
    if (change.action !== 'create' || pair === undefined) return step
    const found = byLikeness.get(likenessOf(kind, pair.declared.value, () => change.desired) ?? '')
    if (found === undefined) return step
    const { cause, object } = found
    const reason = `would be a second ${kind.label} beside ${object} of ${addressOf(cause)}, which is left as it is`
    return { ...step, change: holdFor(change, pair, cause, reason) }
  })
}
