// The result of verify-restore, and its rules for checks and the whole run. A value that is missing never counts as verified.
import * as z from 'zod'
import { fromText } from '../platform/core/decimal.ts'
import { keysOf } from '../platform/core/keys.ts'
import { backupDetails, known, knownNumber } from './backups.ts'
import type { Check } from './checks-file.ts'
import type { Unread } from './restored-data.ts'

const partSchema = z.object({
  outcome: z.enum(['pass', 'warn', 'fail', 'unknown', 'skipped']),
  reason: z.string().describe('Empty for `pass`.'),
})

/** `unknown`: not compared, so nothing is verified. `skipped`: need not be compared. `warn` passes with a difference. No reason has a full stop. */
export type ComparedPart = z.output<typeof partSchema>

/** A table with a smaller share of the rows passes with a warning. */
export const usualShare = 0.98

export const passes = ({ outcome }: ComparedPart): boolean => outcome === 'pass' || outcome === 'warn'

export const maybe = '; late events, merges, TTL and deletes after the backup can explain a difference'

export const pass: ComparedPart = { outcome: 'pass', reason: '' }
export const warn = (reason: string): ComparedPart => ({ outcome: 'warn', reason })
export const fail = (reason: string): ComparedPart => ({ outcome: 'fail', reason })
export const unknown = (reason: string): ComparedPart => ({ outcome: 'unknown', reason })
export const skipped = (reason: string): ComparedPart => ({ outcome: 'skipped', reason })

const compared = { name: z.string(), ...partSchema.shape }
const comparedTable = z.object({
  ...compared,
  isDatabase: z.literal(true).optional(),
  timeColumn: known.describe('The column with the time of a row.'),
  rows: knownNumber.describe('Rows of the original from before the backup.'),
  restoredRows: knownNumber.describe('Rows of the restored table from before the backup.'),
  identicalRows: knownNumber.describe('Those that the restored table has with the same values. An estimate where rows differ.'),
  keyRows: knownNumber.describe('More rows whose sorting key is the same.'),
  valuedRows: knownNumber.describe('Rows whose values were compared.'),
  leftOutColumns: z.array(z.string()).optional().describe('Columns whose values were not compared.'),
})
const ranCheck = z.object({
  ...compared,
  sql: z.string(),
  ...{ atLeast: knownNumber, atMost: knownNumber, equals: knownNumber, tolerance: known },
  original: known.describe('The value on the original, for a check with `tolerance`.'),
  restored: known.describe('The value on the restored service.'),
})

const meaning =
  '`verified`: the service runs, and every table and check passed. `different`: data is missing or wrong. `started`: the service runs, and its data is not verified. `not-started`: it does not run.'

const output = z.object({ restoreStatus: z.enum(['verified', 'different', 'started', 'not-started']).describe(meaning) })

const details = z.object({
  ...backupDetails.shape,
  originalId: z.string().describe('Id of the service that was backed up.'),
  originalName: z.string().describe('Name of the service that was backed up.'),
  restoredName: z.string().describe('Name of the restored service.'),
  state: z.string().describe('The last seen state of the restored service.'),
  requestedAt: z.string().describe('When the restored service was created.'),
  runningAt: known.describe('When it ran: by its activities, otherwise when this run saw it, which may be later.'),
  restoreMinutes: knownNumber.describe('Minutes from the request until it ran.'),
  verifiedAt: known.describe('When the data was verified. Absent for every other status.'),
  verifyMinutes: knownNumber.describe('Minutes from the request until the data was verified: the RTO.'),
  dataAgeHours: z.number().describe('Age of the backup at the request: the RPO of a disaster at that time.'),
  versions: z.object({ original: known, restored: known }).describe('Versions of ClickHouse.'),
  ranBy: z.object({ actor: known, page: known, key: known }).describe('Who started the job, its page, and the end of the id of the key.'),
  maxRestoreMinutes: knownNumber.describe('That of the file of checks.'),
  checkedAt: z.string().describe('The end of the run.'),
  rows: z.number().describe('Rows of the original from before the backup, in tables that passed.'),
  identicalRows: z.number().describe('Those that the restored service has with the same values.'),
  keyRows: z.number().describe('Those of which only the sorting keys are the same.'),
  tables: z.array(comparedTable).describe('The databases and tables of the original.'),
  checks: z.array(ranCheck).describe('The checks of the file.'),
})

export type RanCheck = z.output<typeof ranCheck>
export type ComparedTable = z.output<typeof comparedTable>
export const restoreSchemas = { output, details }

export type RestoreResult = z.output<typeof output> & z.output<typeof details>

type Value = { readonly value: string } | Unread

const comparisons = { atLeast: 'gte', atMost: 'lte', equals: 'eq' } as const

/** `original` is undefined for a check without `tolerance`. */
export function judgeCheck(check: Check, restored: Value, original: Value | undefined): ComparedPart {
  if ('unread' in restored) return unknown(restored.unread)
  const value = exactNumber(restored.value)
  if (value === undefined) return fail(`is ${restored.value}, which is not a number`)
  for (const name of keysOf(comparisons)) {
    const limit = check[name]
    if (limit !== undefined && !value[comparisons[name]](String(limit))) return fail(`is ${restored.value}, and ${name} is ${limit}`)
  }
  if (check.tolerance === undefined) return pass
  if (original === undefined || 'unread' in original) return unknown(`not compared with the original: ${original?.unread ?? 'not read'}`)
  const expected = exactNumber(original.value)
  if (expected === undefined) return unknown(`on the original, it is ${original.value}, which is not a number`)
  // Two tables without rows are equal, too.
  if (value.eq(0) && expected.eq(0)) return unknown('is 0 on both services, so that no row was compared')
  const allowed = expected.abs().times(check.tolerance.slice(0, -1)).div(100)
  return value.minus(expected).abs().lte(allowed)
    ? pass
    : fail(`is ${restored.value}, and ${original.value} on the original, with a tolerance of ${check.tolerance}${maybe}`)
}

const exactNumber = (text: string) => (/^-?\d{1,60}(?:\.\d{1,60})?(?:e[+-]?\d{1,2})?$/i.test(text) ? fromText(text) : undefined)

/** More rows that are only proven by their sorting keys would leave most values unknown. */
const maxKeyShare = 1 / 3

/** `rows` are those that were compared, `keyRows` those whose keys alone are equal. */
export function judgeRestore(
  isRunning: boolean,
  parts: readonly ComparedPart[],
  { rows, keyRows }: Pick<RestoreResult, 'rows' | 'keyRows'>,
) {
  if (!isRunning) return 'not-started'
  if (parts.some(({ outcome }) => outcome === 'fail')) return 'different'
  return rows > 0 && keyRows <= rows * maxKeyShare && parts.every(({ outcome }) => outcome !== 'unknown') ? 'verified' : 'started'
}

/** What a state means for a restore. An idle service has run. Source: the vendor's OpenAPI document of 2026-07-31. */
export function meaningOf(state = ''): 'running' | 'ended' | 'waiting' {
  if (state === 'running' || state === 'idle') return 'running'
  return /^(?:failed|stopp(?:ed|ing)|terminat(?:ed|ing)|softdelet(?:ed|ing))$/.test(state) ? 'ended' : 'waiting'
}
