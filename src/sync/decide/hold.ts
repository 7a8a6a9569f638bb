import { adoptedIds, isSecret, toAdoptedId } from '../../kinds/base.ts'
import { compareBodies } from '../../kinds/compare.ts'
import { type Body, describeStored, type Kind, type KindWire, listOf, watchedPlaceOf } from '../../kinds/kind.ts'
import { addressOf, placeOfTile, sections } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { PendingId, replacePending } from '../../kinds/name-index.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Location, type Rules } from '../../platform/core/diagnostics.ts'
import { isSame } from '../../platform/core/equality.ts'
import { toKebab } from '../../platform/core/names.ts'
import { capitalize, listAtMost, namesAtMost, pluralOf } from '../../platform/core/text.ts'
import { isMadeForQueries } from '../query-alerts/query-alerts.ts'
import {
  addressOfChange,
  type Change,
  type Create,
  type Held,
  isDelete,
  isHeld,
  isPlanned,
  slotOf,
  spellOrigin,
  type Update,
} from './change.ts'
import { type Facts, type Guard, isAsApplied, type Step, type Verdict } from './facts.ts'
import type { Hold, Pair } from './identify.ts'
import { likenessOf } from './match.ts'

interface HoldOptions extends Facts {
  readonly kind: Kind
  readonly isError: boolean
}

export function hold(change: Create | Update, pair: Pair, options: HoldOptions): Held {
  if (pair.hold !== undefined) {
    const { isAsApplied, ...why } = pair.hold
    return { ...toHeld(change, options.isError && isAsApplied !== true), ...why, isBlocked: true }
  }
  const held: Held = { ...toHeld(change, options.isError), ...explain(change, pair, options), remedies: [] }
  return { ...held, remedies: held.madeFrom === undefined ? remediesInFile(held, pair, options) : [remedyForMade(held, options)] }
}

interface HeldStep {
  readonly change: Exclude<Change, Held>
  readonly pair?: Pair | undefined
}

/** The entry of a verdict. It is an error if the file changed, or no file declares the object. */
export const holdStep = ({ change, pair }: HeldStep, { reason, remedies }: Hold): readonly [string, Held] => [
  slotOf(change),
  {
    ...toHeld(change, pair === undefined || !isAsApplied(pair)),
    ...('origin' in change && { origin: change.origin }),
    reason,
    remedies,
  },
]

/** If the file is as applied, what it names was renamed or deleted since, or something else got the name. */
export function holdUnresolved(step: HeldStep, unresolved: readonly Diagnostic[]): Held {
  const prefix = addressOf(step.change)
  const short = (message: string) => (message.startsWith(prefix) ? message.slice(prefix.length).replace(/^(?:\.|: )/, '') : message)
  const why = toHold(unresolved.map(({ message }) => ({ message: short(message) })))
  const held: Held = {
    ...holdStep(step, why)[1],
    at: unresolved[0]?.location,
    ...(step.pair?.declared.unresolved && { fields: [], isBlocked: true, origin: undefined }),
  }
  if (held.isError) return held
  const reason = toText([why.reason, 'Since the last apply, it was renamed or deleted in the service, or another one got the name'])
  return { ...held, origin: 'service', reason, remedies: ['after a rename, run pull to write the new name'] }
}

/** What to do is after a semicolon, if the message says it. */
export function toHold(problems: readonly { readonly message: string }[]): Hold {
  const reason = toText(problems.map(({ message }) => message))
  return { reason, remedies: reason.includes('; ') ? [] : ['correct the file or the service'] }
}

const toText = (sentences: readonly string[]): string => sentences.join('. ').replaceAll('?. ', '? ')

function toHeld(change: HeldStep['change'], isError: boolean) {
  const { kind, key, name, location, fields, keptTiles, id, stored } = change
  // What no file declares stays as it is.
  const { madeFrom, desired } = isPlanned(change) ? change : { madeFrom: undefined, desired: change.stored }
  return { kind, key, name, location, madeFrom, desired, fields, keptTiles, id, stored, action: 'held', isError, notes: [] } as const
}

function explain(change: Create | Update, { declared, candidates = [] }: Pair, { kind: { label } }: HoldOptions) {
  const unadopted = isSpelledOut(change.madeFrom) ? '' : ', and no file can adopt it'
  if (change.action === 'create') {
    const ids = candidates.map(({ stored }) => stored.id)
    const reason = `could be one of the unmanaged ${pluralOf(label)} ${ids.join(', ')}, which differ${unadopted}`
    return { fields: [], candidates: ids, reason, isBlocked: true as const }
  }
  const { fields, stored, origin, takeover } = change
  const paths = listAtMost([...new Set(fields.map(({ path }) => path))], 5, (count) => `${count} more`).join(', ')
  const since = takeover === 'unmanaged' ? 'pull' : 'the last apply'
  if (origin !== undefined) return { fields, origin, reason: `${spellOrigin(origin, since)} (${paths})` }
  const unknown = declared.value.adopt === undefined ? unadopted : ', and nothing tells which side changed'
  return { fields, reason: `the unmanaged ${label} ${describeStored(stored)} differs (${paths})${unknown}` }
}

/** Files can spell out the dashboard with the queries of alerts. */
const isSpelledOut = (madeFrom: string | undefined): boolean => madeFrom === undefined || isMadeForQueries({ madeFrom })

function remedyForMade(
  { kind, key, name, id, candidates = [], madeFrom }: Held,
  { kind: { removal }, targetOptions = '' }: HoldOptions,
): string {
  if (isSpelledOut(madeFrom))
    return `to manage it in a file, declare ${addressOf({ kind, key })} with name: ${JSON.stringify(name)}, tags: [alerts] and adopt: ${id === undefined ? meantId : quoted(id)}`
  const commands = (id === undefined ? candidates : [id]).map((one) => `watchkeeper delete-${toKebab(kind)} ${one}${targetOptions}`)
  const it = commands.length > 1 ? 'them' : 'it'
  return `to replace ${it}, run ${commands.join(' and ')}${removal === undefined ? '' : `, which also deletes the alerts on ${it}`}`
}

const meantId = 'the id of the one to manage'

function remediesInFile(
  { key, id, stored, desired, location, fields }: Held,
  { declared, candidates = [] }: Pair,
  { kind, pullCommand = 'watchkeeper pull', environmentPath }: HoldOptions,
): readonly string[] {
  const where =
    location?.instance === undefined
      ? ''
      : ` for the instance ${location.instance} (a value of the instance, or in adopt of an environment)`
  const adopt = environmentPath === undefined ? `adopt${where}` : `adopt.${sections[kind.name]}.${key} in ${environmentPath}`
  // A list has the ids of other services.
  const entries = adoptedIds(declared.value.adopt)
  const hasOwn = entries.some((entry) => entry.id === id)
  const isShared = entries.some((entry) => entry.id !== id)
  if (stored === undefined) {
    const meant =
      candidates
        .slice(0, 3)
        .map((one) => toAdoptedId(kind, one.stored, desired, 'files'))
        .join(' or ') || meantId
    return [`to keep the values of the file, ${isShared ? `add ${meant} to ${adopt}` : `set ${adopt} to ${meant}`}`, otherName]
  }
  const entry = toAdoptedId(kind, stored, desired, 'files')
  const set = isShared && !hasOwn ? `add ${entry} to ${adopt}` : `set ${isShared ? 'its entry in ' : ''}${adopt} to ${entry}`
  // No file has a secret, so a pull takes none.
  if (fields.some((field) => isSecret(field, kind))) return [`to keep the values of the file, ${set}`]
  const take =
    where === ''
      ? `run ${pullCommand} --only declared --select kind=${kind.name} --select key=${key}`
      : 'change the file, because pull does not edit a file with instances'
  const isFound = entries.length === 0 && kind.readMarker(kind.toBody(stored)) === undefined
  return [`to keep the values of the file, ${set}`, `to take those of the service, ${take}`, ...(isFound ? [otherName] : [])]
}

const otherName = 'if it is another object, give the one in the file another name'

/** YAML reads digits, with one `e` or without, as a number. */
const quoted = (id: string): string => (/^\d+(?:e\d+)?$/i.test(id) ? `"${id}"` : id)

export function holdFor(step: HeldStep, cause: Held, reason: string): readonly [string, Held] {
  const [slot, held] = holdStep(step, { reason, remedies: [`see ${addressOf(cause)}`] })
  return [slot, { ...held, origin: undefined }]
}

export const pruneLocation: Location = { file: 'prune' }

export const heldRules = {
  held: {
    severity: 'error',
    exception: 'warning',
    description:
      'An object is left as it is, or is not created: a person may have changed it, it needs what the service does not have, or an alert uses it. So is what depends on it. This is a warning if the file is as applied or pulled. `apply` writes the other objects, and deletes nothing if this is an error.',
  },
} as const satisfies Rules

/** Holds what needs a held object, or would be created beside one. Deletes wait for an error: what is missing in the files may be what a person changed. */
export const holdWhatWaits: Guard = ({ steps, assumed, ofKinds }, { kinds, prune, queried }) => {
  const before: Held[] = []
  const waiting = [...Map.groupBy(steps, ({ kind }) => kind)].flatMap(([kind, own]) => {
    const held = holdBeside(holdDependents(own, before, kinds), kind)
    before.push(...held.map(({ change }) => change).filter(isHeld))
    return held
  })
  const withoutTile = before.filter((one) => isOnOwnTile(one, queried, before) && !assumed.heldQueries.has(one.key))
  if (withoutTile.length > 0)
    return {
      holds: withoutTile.map((one) => [addressOf(one), one] as const),
      assume: { heldQueries: new Set([...assumed.heldQueries, ...withoutTile.map(({ key }) => key)]) },
    }
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

/** A held dashboard keeps the tiles of all its queries. */
function isOnOwnTile({ kind, key, desired: { dashboardId } }: Held, queried: ReadonlySet<string>, held: readonly Held[]): boolean {
  const dashboard = dashboardId instanceof PendingId ? addressOf(dashboardId) : dashboardId
  return kind === 'alert' && queried.has(key) && !held.some((one) => dashboard === (one.id ?? addressOf(one)))
}

/** Objects with one cause are one line. */
const causeOf = ({ at, reason, remedies, isError }: Held): string => JSON.stringify([at, reason, remedies, isError])

function toDiagnostic(alike: readonly Held[], deletes: boolean): Diagnostic {
  const [change] = alike
  if (change === undefined) throw new Error('a group without an object')
  const { reason, remedies, isError, at, location = pruneLocation } = change
  const names = new Set(alike.map(addressOfChange))
  const [it, asItIs] = names.size === 1 ? ['it', 'as it is'] : ['them', 'as they are']
  const effect = alike.every(({ id, candidates }) => id === undefined && candidates === undefined)
    ? `does not create ${it}`
    : `leaves ${it} ${asItIs}`
  const advice = remedies.length === 0 ? [] : [capitalize(remedies.join('; '))]
  const message = `${namesAtMost(maxNamed, [...names])}: apply ${effect}${isError && deletes ? ', and deletes nothing' : ''}: ${toText([reason, ...advice])}`
  return (isError ? diagnosticOf : exceptionalDiagnostic)(heldRules, 'held', at ?? location, message)
}

const maxNamed = 3

export const isAboutHeld = ({ rule }: Diagnostic): boolean => rule === ('held' satisfies keyof typeof heldRules)

/** `held` are the changes of the kinds before. */
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
    return {
      ...step,
      change: holdFor({ change, pair }, cause, `needs what ${addressOf(cause)} has in the files, which is held`)[1],
    }
  })
}

/** What a held alert watches stays as it is, too: with another chart or query, its threshold would be about something else. */
function holdWatched(steps: readonly Step[], held: readonly Held[], kinds: Kinds): Verdict['holds'] {
  const watching = new Map(
    held.flatMap((one) => {
      const place = one.stored && watchedPlaceOf(kinds[one.kind].toBody(one.stored))
      return place === undefined ? [] : [[place, one] as const]
    }),
  )
  return steps.flatMap(({ kind, change, pair }) => {
    if (!isPlanned(change) || change.action !== 'update' || watching.size === 0) return []
    const alert = differingPlaces(change, kind).flatMap((place) => watching.get(place) ?? [])[0]
    return alert === undefined ? [] : [holdFor({ change, pair }, alert, `changes what ${addressOf(alert)} counts, which is held`)]
  })
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

function holdBeside(steps: readonly Step[], kind: Kind): readonly Step[] {
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
    const reason = `would be a second ${kind.label} beside ${object} of ${addressOf(cause)}, which is held`
    return { ...step, change: holdFor({ change, pair }, cause, reason)[1] }
  })
}
