// A declaration whose object is left as it is, because writing it could lose what a person made, with what a person can do about it.

import { adoptedIds } from '../../kinds/adopt.ts'
import { describeStored, type KindIdentity, type KindRules } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { toKebab } from '../../platform/core/names.ts'
import { listFirst, pluralOf } from '../../platform/core/text.ts'
import { isMadeForQueries } from '../query-alerts/query-alerts.ts'
import type { Create, Held, Update } from './change.ts'
import type { PlanOptions } from './facts.ts'
import type { Pair } from './identify.ts'

interface HoldOptions extends Pick<PlanOptions, 'pullCommand' | 'targetOptions'> {
  readonly kind: KindIdentity & KindRules
  /** Whether the run fails. Otherwise only the service has changed since `pull`. */
  readonly isError: boolean
}

/** Holds the object of a declaration, or what would be created beside several that could be meant. */
export function hold(change: Create | Update, pair: Pair, options: HoldOptions): Held {
  const held: Held = { ...toHeld(change, options), ...explain(change, pair, options), remedies: [] }
  return { ...held, remedies: held.madeFrom === undefined ? remediesInFile(held, pair, options) : [remedyForMade(held, options)] }
}

function toHeld(change: Create | Update, { isError }: Pick<Held, 'isError'>) {
  const { kind, key, name, location, madeFrom, desired, fields, keptTiles, id, stored } = change
  return { kind, key, name, location, madeFrom, desired, fields, keptTiles, id, stored, action: 'held', isError, notes: [] } as const
}

function explain(change: Create | Update, { adopted, candidates = [] }: Pair, { kind: { label }, isError }: HoldOptions) {
  const unadopted = isSpelledOut(change) ? '' : ', and no file can adopt it'
  if (change.action === 'create') {
    const ids = candidates.map(({ stored }) => stored.id)
    const reason = `could be one of the unmanaged ${pluralOf(label)} ${ids.join(', ')}, which differ${unadopted}`
    return { fields: [], candidates: ids, reason }
  }
  const { fields, stored } = change
  const paths = listFirst([...new Set(fields.map(({ path }) => path))], 5, (count) => `${count} more`).join(', ')
  if (adopted === undefined) return { fields, reason: `the unmanaged ${label} ${describeStored(stored)} differs (${paths})${unadopted}` }
  const reason = `changed in the ${isError ? 'files and in the ' : ''}service since pull (${paths})`
  return { fields, reason, origin: isError ? undefined : ('service' as const) }
}

/** Whether a file has, or can have, the declaration. Files can spell out the dashboard with the queries of alerts. */
const isSpelledOut = (one: Pick<Held, 'madeFrom'>): boolean => one.madeFrom === undefined || isMadeForQueries(one)

function remedyForMade(
  { kind, key, name, id, candidates = [], madeFrom }: Held,
  { kind: { removal }, targetOptions = '' }: HoldOptions,
): string {
  if (isSpelledOut({ madeFrom }))
    return `to manage it as the files have it, declare ${addressOf({ kind, key })} with name: ${JSON.stringify(name)}, tags: [alerts], rewrite: true, and adopt: ${id === undefined ? meantId : quoted(id)}`
  const commands = (id === undefined ? candidates : [id]).map((one) => `watchkeeper delete-${toKebab(kind)} ${one}${targetOptions}`)
  const it = commands.length > 1 ? 'them' : 'it'
  return `to replace ${it}, run ${commands.join(' and ')}${removal === undefined ? '' : `, which also deletes the alerts on ${it}`}`
}

const meantId = 'the id of the one to manage'

function remediesInFile(
  { key, id, location }: Held,
  { declared, adopted }: Pair,
  { kind, pullCommand = 'watchkeeper pull' }: HoldOptions,
): readonly string[] {
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

export const holdFor = (change: Create | Update, cause: Held, reason: string): Held => ({
  ...toHeld(change, cause),
  reason,
  remedies: [`see ${addressOf(cause)}`],
})
