// The rules of verify-restore: pure functions over what two services hold. A value that is missing never counts as verified.
import { type Decimal, fromText } from '../core/decimal.ts'
import { keysOf } from '../core/keys.ts'
import { plural } from '../core/text.ts'
import { durationMsOf } from '../operation/inputs.ts'
import { formatDuration } from '../report/format.ts'
import type { Check, ChecksFile } from './checks-file.ts'
import { type Held, hasOwnRows, type ListedTable, type Unread } from './restored-data.ts'

export const comparedOutcomes = ['pass', 'fail', 'unknown', 'skipped'] as const

/** `unknown` was not compared, so that nothing is verified. `skipped` need not be compared. */
export interface Compared {
  readonly outcome: (typeof comparedOutcomes)[number]
  /** A reason without a full stop; empty for `pass`. */
  readonly reason: string
}

/** Differences without a loss. */
const maybe = '; late events, merges, TTL and deletes after the backup can explain a difference'

const pass: Compared = { outcome: 'pass', reason: '' }
const fail = (reason: string): Compared => ({ outcome: 'fail', reason })
export const unknown = (reason: string): Compared => ({ outcome: 'unknown', reason })
const skipped = (reason: string): Compared => ({ outcome: 'skipped', reason })

export const isIgnored = ({ key, database }: ListedTable, { ignore }: ChecksFile['tables']): boolean =>
  ignore.includes(key) || ignore.includes(`${database}.*`)

/** What is known of a database or table of the original in both services. */
export interface TwoTables {
  readonly listed: ListedTable
  readonly isRestored: boolean
  readonly original: Held | undefined
  readonly restored: Held | undefined
}

export function judgeTable({ listed, isRestored, original, restored }: TwoTables, rules: ChecksFile['tables'], backupMs: number): Compared {
  if (isIgnored(listed, rules)) return skipped('ignored by the file')
  if (!isRestored) return judgeMissing(listed, original, backupMs)
  if (!hasOwnRows(listed)) return pass
  if (original === undefined || 'unread' in original) return unknown(`not compared with the original: ${original?.unread ?? 'not counted'}`)
  if (restored === undefined || 'unread' in restored) return unknown(`not compared: ${restored?.unread ?? 'not counted'}`)
  // The time column is not that of the rows, or all rows are newer than the backup: nothing shows what the backup had.
  if (original.rows === 0 && (listed.total ?? 0) > 0)
    return unknown('no row of the original has a time before the backup; compare the table by a check, or list it in tables.ignore')
  return judgeRows(original, restored, rules)
}

type Rows = Exclude<Held, Unread>

function judgeRows(original: Rows, restored: Rows, { newestWithin, minRowRatio }: ChecksFile['tables']): Compared {
  const all = `${plural(original.rows, 'row')}${original.newest === undefined ? '' : ' from before the backup'}`
  if (original.rows === 0) return skipped('the original has no rows from before the backup')
  if (restored.rows === 0) return fail(`is empty, and the original has ${all}`)
  if (original.newest !== undefined) {
    const olderMs = Date.parse(original.newest) - Date.parse(restored.newest ?? '')
    if (Number.isNaN(olderMs)) return unknown('the time of its newest row is unknown')
    if (olderMs > durationMsOf(newestWithin))
      return fail(`its newest row is ${formatDuration(olderMs)} older than in the original, and newestWithin is ${newestWithin}${maybe}`)
  }
  return restored.rows < original.rows * minRowRatio
    ? fail(`has ${restored.rows} of ${all}, and minRowRatio is ${minRowRatio}${maybe}`)
    : pass
}

/** A table that was made after the backup has no rows from before it. The server does not say when a table was made, only when it changed. */
function judgeMissing({ name, changed, timeColumn }: ListedTable, original: Held | undefined, backupMs: number): Compared {
  if (name === '' || changed * 1000 <= backupMs) return fail('is missing')
  if (timeColumn !== '' && original !== undefined && 'rows' in original && original.rows === 0) return skipped('made after the backup')
  return fail('is missing; if it was made after the backup, list it in tables.ignore of the file')
}

type Value = { readonly value: string } | Unread

/** `original` is undefined for a check without `tolerance`. */
export function judgeCheck(check: Check, restored: Value, original: Value | undefined): Compared {
  if ('unread' in restored) return unknown(restored.unread)
  const value = toNumber(restored.value)
  if (value === undefined) return fail(`is ${restored.value}, which is not a number`)
  const broken = keysOf<keyof typeof limits>(limits).find((name) => check[name] !== undefined && !limits[name](value, String(check[name])))
  if (broken !== undefined) return fail(`is ${restored.value}, and ${broken} is ${check[broken]}`)
  if (check.tolerance === undefined) return pass
  if (original === undefined || 'unread' in original) return unknown(`not compared with the original: ${original?.unread ?? 'not read'}`)
  const expected = toNumber(original.value)
  if (expected === undefined) return unknown(`on the original, it is ${original.value}, which is not a number`)
  // Two tables without rows are equal, too.
  if (value.eq(0) && expected.eq(0)) return unknown('is 0 on both services, so that no row was compared')
  const allowed = expected.abs().times(check.tolerance.slice(0, -1)).div(100)
  return value.minus(expected).abs().lte(allowed)
    ? pass
    : fail(`is ${restored.value}, and ${original.value} on the original, with a tolerance of ${check.tolerance}${maybe}`)
}

const limits: Readonly<Record<'atLeast' | 'atMost' | 'equals', (value: Decimal, limit: string) => boolean>> = {
  atLeast: (value, limit) => value.gte(limit),
  atMost: (value, limit) => value.lte(limit),
  equals: (value, limit) => value.eq(limit),
}

const toNumber = (text: string): Decimal | undefined =>
  /^-?\d{1,60}(?:\.\d{1,60})?(?:e[+-]?\d{1,2})?$/i.test(text) ? fromText(text) : undefined

export const restoreStatuses = ['verified', 'different', 'started', 'not-started'] as const

/** `rows` are those of the restored service that were compared. Without any, nothing is verified. */
export function judgeRestore(isRunning: boolean, compared: readonly Compared[], rows: number): (typeof restoreStatuses)[number] {
  if (!isRunning) return 'not-started'
  if (compared.some(({ outcome }) => outcome === 'fail')) return 'different'
  return rows > 0 && compared.every(({ outcome }) => outcome !== 'unknown') ? 'verified' : 'started'
}

/** What a state means for a restore. An idle service has run. Source: the vendor's OpenAPI document of 2026-07-31. */
export function meaningOf(state = ''): 'running' | 'ended' | 'waiting' {
  if (state === 'running' || state === 'idle') return 'running'
  return /^(?:failed|stopp(?:ed|ing)|terminat(?:ed|ing)|softdelet(?:ed|ing))$/.test(state) ? 'ended' : 'waiting'
}
