// A declaration whose object is left as it is, because writing it could lose what a person made, with what a person can do about it.

import { adoptedIds, isSecret, toAdoptedId } from '../../kinds/base.ts'
import { describeStored, type KindIdentity, type KindRules, type KindWire } from '../../kinds/kind.ts'
import { addressOf, sections } from '../../kinds/kind-names.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import { toKebab } from '../../platform/core/names.ts'
import { listFirst, pluralOf } from '../../platform/core/text.ts'
import { isMadeForQueries } from '../query-alerts/query-alerts.ts'
import { type Create, type Delete, type Held, type Release, spellOrigin, type Update } from './change.ts'
import { isAsApplied, type PlanOptions } from './facts.ts'
import type { Hold, Pair } from './identify.ts'

interface HoldOptions extends Pick<PlanOptions, 'pullCommand' | 'environmentPath' | 'targetOptions'> {
  readonly kind: KindIdentity & KindRules & KindWire
  /** Whether the run fails. Otherwise only the service has changed since `pull`. */
  readonly isError: boolean
}

/** Holds the object of a declaration, or what would be created beside several that could be meant. */
export function hold(change: Create | Update, pair: Pair, options: HoldOptions): Held {
  if (pair.hold !== undefined) {
    const { isAsApplied, ...why } = pair.hold
    return { ...toHeld(change, isAsApplied === true ? { isError: false } : options), ...why, isBlocked: true }
  }
  const held: Held = { ...toHeld(change, options), ...explain(change, pair, options), remedies: [] }
  return { ...held, remedies: held.madeFrom === undefined ? remediesInFile(held, pair, options) : [remedyForMade(held, options)] }
}

/** Holds a declaration that names what the service lacks, or has twice. If the file is as applied, this was renamed or deleted since. */
export function holdUnresolved(change: Create | Update, unresolved: readonly Diagnostic[], isAsApplied: boolean): Held {
  const prefix = addressOf(change)
  const parts = unresolved.map(({ message }) =>
    (message.startsWith(prefix) ? message.slice(prefix.length).replace(/^(?:\.|: )/, '') : message).split('; '),
  )
  const reason = parts.map(([what]) => what).join('; ')
  const advice = [...new Set(parts.flatMap(([, ...others]) => others))]
  const at = unresolved[0]?.location
  if (!isAsApplied)
    return { ...holdBecause(change, true, { reason, remedies: advice.length > 0 ? advice : ['correct the file or the service'] }), at }
  const since = `${reason}; it was renamed or deleted in the service since the last apply`
  const remedies = ['after a rename, run pull to write the new name']
  return { ...holdBecause(change, false, { reason: since, remedies }), origin: 'service', at }
}

/** Holds what a write would do harm to, besides the object itself. */
export const holdBecause = (change: Create | Update, isError: boolean, { reason, remedies }: Hold): Held => ({
  ...toHeld(change, { isError }),
  ...('origin' in change && { origin: change.origin }),
  reason,
  remedies,
})

function toHeld(change: Create | Update, { isError }: Pick<Held, 'isError'>) {
  const { kind, key, name, location, madeFrom, desired, fields, keptTiles, id, stored } = change
  return { kind, key, name, location, madeFrom, desired, fields, keptTiles, id, stored, action: 'held', isError, notes: [] } as const
}

function explain(change: Create | Update, { declared, candidates = [] }: Pair, { kind: { label } }: HoldOptions) {
  const unadopted = isSpelledOut(change) ? '' : ', and no file can adopt it'
  if (change.action === 'create') {
    const ids = candidates.map(({ stored }) => stored.id)
    const reason = `could be one of the unmanaged ${pluralOf(label)} ${ids.join(', ')}, which differ${unadopted}`
    return { fields: [], candidates: ids, reason, isBlocked: true as const }
  }
  const { fields, stored, origin, takeover } = change
  const paths = listFirst([...new Set(fields.map(({ path }) => path))], 5, (count) => `${count} more`).join(', ')
  const since = takeover === 'unmanaged' ? 'pull' : 'the last apply'
  if (origin !== undefined) return { fields, origin, reason: `${spellOrigin(origin, since)} (${paths})` }
  const unknown = declared.value.adopt === undefined ? unadopted : ', and nothing tells which side changed'
  return { fields, reason: `the unmanaged ${label} ${describeStored(stored)} differs (${paths})${unknown}` }
}

/** Whether a file has, or can have, the declaration. Files can spell out the dashboard with the queries of alerts. */
const isSpelledOut = (one: Pick<Held, 'madeFrom'>): boolean => one.madeFrom === undefined || isMadeForQueries(one)

function remedyForMade(
  { kind, key, name, id, candidates = [], madeFrom }: Held,
  { kind: { removal }, targetOptions = '' }: HoldOptions,
): string {
  if (isSpelledOut({ madeFrom }))
    return `to manage it in a file, declare ${addressOf({ kind, key })} with name: ${JSON.stringify(name)}, tags: [alerts] and adopt: ${id === undefined ? meantId : quoted(id)}`
  const commands = (id === undefined ? candidates : [id]).map((one) => `watchkeeper delete-${toKebab(kind)} ${one}${targetOptions}`)
  const it = commands.length > 1 ? 'them' : 'it'
  return `to replace ${it}, run ${commands.join(' and ')}${removal === undefined ? '' : `, which also deletes the alerts on ${it}`}`
}

const meantId = 'the id of the one to manage'

function remediesInFile(
  { key, id, stored, desired, location, fields }: Held,
  { declared }: Pair,
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
  if (stored === undefined) return [isShared ? `add ${meantId} to ${adopt}` : `set ${adopt} to ${meantId}`]
  const entry = toAdoptedId(kind, stored, desired, 'files')
  const set = isShared && !hasOwn ? `add ${entry} to ${adopt}` : `set ${isShared ? 'its entry in ' : ''}${adopt} to ${entry}`
  // No file has a secret, so a pull takes none.
  if (fields.some((field) => isSecret(field, kind))) return [`to keep the values of the file, ${set}`]
  const take =
    where === ''
      ? `run ${pullCommand} --only declared --select key=${key}`
      : 'change the file, because pull does not edit a file with instances'
  return [`to keep the values of the file, ${set}`, `to take those of the service, ${take}`]
}

/** YAML reads digits, with one `e` or without, as a number. */
const quoted = (id: string): string => (/^\d+(?:e\d+)?$/i.test(id) ? `"${id}"` : id)

/** Holds what no file declares: it is neither deleted nor released. */
export const holdOrphan = ({ kind, key, name, id, stored, fields }: Delete | Release, { reason, remedies }: Hold): Held => ({
  ...{ kind, key, name, id, stored, fields, desired: stored, action: 'held', isError: true, notes: [] },
  reason,
  remedies,
})

/** Holds what waits for a held object. */
export const holdFor = (change: Create | Update, pair: Pair | undefined, cause: Held, reason: string): Held => ({
  ...toHeld(change, { isError: pair === undefined || !isAsApplied(pair) }),
  reason,
  remedies: [`see ${addressOf(cause)}`],
})
