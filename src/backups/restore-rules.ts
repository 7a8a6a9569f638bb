// The rules of verify-restore: pure functions over what two services hold. A value that is missing never counts as verified.
import { type Decimal, fromText } from '../platform/core/decimal.ts'
import { keysOf } from '../platform/core/keys.ts'
import { firstOf, plural, quote } from '../platform/core/text.ts'
import { durationMsOf } from '../platform/operation/inputs.ts'
import { formatDuration } from '../platform/report/format.ts'
import type { Check, ChecksFile } from './checks-file.ts'
import { type Counted, hasOwnRows, type ListedTable, type TimeColumn, type TimedRows, type Unread } from './restored-data.ts'

export const comparedOutcomes = ['pass', 'warn', 'fail', 'unknown', 'skipped'] as const

/** `unknown` was not compared, so that nothing is verified. `skipped` need not be compared. `warn` passes with a difference. */
export interface ComparedPart {
  readonly outcome: (typeof comparedOutcomes)[number]
  /** A reason without a full stop; empty for `pass`. */
  readonly reason: string
}

export const passes = (outcome: ComparedPart['outcome']): boolean => outcome === 'pass' || outcome === 'warn'

/** Differences without a loss. */
const maybe = '; late events, merges, TTL and deletes after the backup can explain a difference'

const pass: ComparedPart = { outcome: 'pass', reason: '' }
const warn = (reason: string): ComparedPart => ({ outcome: 'warn', reason })
const fail = (reason: string): ComparedPart => ({ outcome: 'fail', reason })
export const unknown = (reason: string): ComparedPart => ({ outcome: 'unknown', reason })
const skipped = (reason: string): ComparedPart => ({ outcome: 'skipped', reason })

export const isIgnored = ({ key, database }: ListedTable, { ignore }: ChecksFile['tables']): boolean =>
  ignore.includes(key) || ignore.includes(`${database}.*`)

/** What is known of a database or table of the original in both services. */
export interface TwoTables {
  readonly listed: ListedTable
  /** Undefined where it was not restored. */
  readonly twin: ListedTable | undefined
  readonly original: HeldRows | undefined
  readonly restored: HeldRows | undefined
}

/** All rows of a table, and what one of its columns says about their times. */
export type HeldRows = ({ readonly total: number } & Partial<TimedRows>) | Unread

type Rows = Exclude<HeldRows, Unread>

/** The column with the most rows from before the backup: a time that changes later, or one of the future, has fewer. */
export const chooseTime = (columns: readonly TimeColumn[], original: Counted): TimeColumn | undefined =>
  'unread' in original
    ? columns[0]
    : columns.toSorted((a, b) => (original.times.get(b.name)?.before ?? 0) - (original.times.get(a.name)?.before ?? 0))[0]

export const toHeld = (counted: Counted, column: TimeColumn | undefined): HeldRows =>
  'unread' in counted ? counted : { total: counted.total, ...(column && counted.times.get(column.name)) }

export function judgeTable(two: TwoTables, rules: ChecksFile['tables'], backupMs: number): ComparedPart {
  const { listed, twin, original, restored } = two
  if (isIgnored(listed, rules)) return skipped('ignored by the file')
  if (twin === undefined) return judgeMissing(listed, original, backupMs)
  const columns = judgeColumns(listed, twin, backupMs)
  if (columns.outcome === 'fail' || !hasOwnRows(listed)) return columns
  const rows = judgeHeld(original, restored, rules)
  return rows.outcome === 'fail' ? rows : ([columns, rows].find(({ outcome }) => outcome === 'unknown') ?? rows)
}

/** A column that the restored table has and the original has not is no loss. */
function judgeColumns({ columns, changed }: ListedTable, twin: ListedTable, backupMs: number): ComparedPart {
  const types = new Map(twin.columns.map(({ name, type }) => [name, type]))
  const lost = columns.filter(({ name }) => !types.has(name)).map(({ name }) => quote(name, 60))
  const other = columns.find(({ name, type }) => types.has(name) && types.get(name) !== type)
  if (lost.length === 0 && other === undefined) return pass
  const reason =
    lost.length > 0
      ? `lacks the ${lost.length === 1 ? 'column' : 'columns'} ${firstOf(3, lost)}`
      : `its column ${quote(other?.name ?? '', 60)} is ${quote(types.get(other?.name ?? '') ?? '', 60)}, and ${quote(other?.type ?? '', 60)} in the original`
  return changed * 1000 > backupMs
    ? unknown(`${reason}, and the original was changed after the backup; verify a newer backup`)
    : fail(`${reason}; if the original was changed after the backup, verify a newer one`)
}

function judgeHeld(original: HeldRows | undefined, restored: HeldRows | undefined, rules: ChecksFile['tables']): ComparedPart {
  if (original === undefined || 'unread' in original) return unknown(`not compared with the original: ${original?.unread ?? 'not counted'}`)
  if (restored === undefined || 'unread' in restored) return unknown(`not compared: ${restored?.unread ?? 'not counted'}`)
  return judgeRows(original, restored, rules)
}

/** A table with a smaller share of the rows passes with a warning. */
const usualShare = 0.98

/**
 * Whether the time says which rows the backup cannot have. It does not, if the restored table has such rows, or if they are most of the
 * original: then it is a time that changes later, or one of the future. Without a time, all rows count.
 */
const tellsNewer = (original: Rows, restored: Rows): boolean =>
  (restored.later ?? 0) <= restored.total * (1 - usualShare) && (original.newer ?? 0) <= original.total / 2

/** The rows of a table that are compared, and the newer ones that are left out. */
interface AlignedRows {
  readonly rows: number
  readonly leftOut: number
  readonly newest: string | undefined
}

export function alignRows(original: Rows, restored: Rows): { readonly theirs: AlignedRows; readonly ours: AlignedRows } {
  const isKnown = tellsNewer(original, restored)
  const align = ({ total, newer = 0, newest }: Rows): AlignedRows => {
    const leftOut = isKnown ? newer : 0
    return { rows: total - leftOut, leftOut, newest }
  }
  return { theirs: align(original), ours: align(restored) }
}

function judgeRows(original: Rows, restored: Rows, { newestWithin, minRowRatio }: ChecksFile['tables']): ComparedPart {
  if (original.total === 0) return skipped('the original has no rows')
  const { theirs, ours } = alignRows(original, restored)
  const isKnown = tellsNewer(original, restored)
  const all = `${plural(theirs.rows, 'row')}${isKnown && original.before !== undefined ? ' from before the backup' : ''}`
  const least = minRowRatio * (isKnown ? theirs.rows : (original.before ?? 0))
  if (ours.rows === 0 && least > 0) return fail(`is empty, and the original has ${all}`)
  if (original.newest !== undefined) {
    if (restored.newest === undefined)
      return fail(`has no row with a time before the backup, and the original has ${original.before}${maybe}`)
    const olderMs = Date.parse(original.newest) - Date.parse(restored.newest)
    if (olderMs > durationMsOf(newestWithin))
      return fail(`its newest row is ${formatDuration(olderMs)} older than in the original, and newestWithin is ${newestWithin}${maybe}`)
  }
  if (ours.rows < least) return fail(`has ${ours.rows} of ${all}, and minRowRatio is ${minRowRatio}${maybe}`)
  if (ours.rows < theirs.rows * minRowRatio)
    return unknown(
      `has ${ours.rows} of ${all}, and their times do not show which of them the backup had; compare the table by a check, or list it in tables.ignore`,
    )
  return ours.rows < theirs.rows * usualShare ? warn(`has ${ours.rows} of ${all}${maybe}`) : pass
}

/** A table that was made after the backup has no rows from before it. The server does not say when a table was made, only when it changed. */
function judgeMissing({ name, changed }: ListedTable, original: HeldRows | undefined, backupMs: number): ComparedPart {
  if (name === '' || changed * 1000 <= backupMs) return fail('is missing')
  if (original !== undefined && 'total' in original && original.later === original.total) return skipped('made after the backup')
  return fail('is missing; if it was made after the backup, list it in tables.ignore of the file')
}

type Value = { readonly value: string } | Unread

/** `original` is undefined for a check without `tolerance`. */
export function judgeCheck(check: Check, restored: Value, original: Value | undefined): ComparedPart {
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
export function judgeRestore(isRunning: boolean, compared: readonly ComparedPart[], rows: number): (typeof restoreStatuses)[number] {
  if (!isRunning) return 'not-started'
  if (compared.some(({ outcome }) => outcome === 'fail')) return 'different'
  return rows > 0 && compared.every(({ outcome }) => outcome !== 'unknown') ? 'verified' : 'started'
}

/** What a state means for a restore. An idle service has run. Source: the vendor's OpenAPI document of 2026-07-31. */
export function meaningOf(state = ''): 'running' | 'ended' | 'waiting' {
  if (state === 'running' || state === 'idle') return 'running'
  return /^(?:failed|stopp(?:ed|ing)|terminat(?:ed|ing)|softdelet(?:ed|ing))$/.test(state) ? 'ended' : 'waiting'
}
