// The rules of verify-restore for checks and the whole run. A value that is missing never counts as verified.
import { type Decimal, fromText } from '../platform/core/decimal.ts'
import { keysOf } from '../platform/core/keys.ts'
import type { Check } from './checks-file.ts'
import type { Unread } from './restored-data.ts'

export const comparedOutcomes = ['pass', 'warn', 'fail', 'unknown', 'skipped'] as const

/** `unknown` was not compared, so that nothing is verified. `skipped` need not be compared. `warn` passes with a difference. */
export interface ComparedPart {
  readonly outcome: (typeof comparedOutcomes)[number]
  /** A reason without a full stop; empty where there is none. */
  readonly reason: string
}

/** A table with a smaller share of the rows passes with a warning. */
export const usualShare = 0.98

export const passes = ({ outcome }: ComparedPart): boolean => outcome === 'pass' || outcome === 'warn'

export const maybe = '; late events, merges, TTL and deletes after the backup can explain a difference'

export const pass: ComparedPart = { outcome: 'pass', reason: '' }
export const warn = (reason: string): ComparedPart => ({ outcome: 'warn', reason })
export const fail = (reason: string): ComparedPart => ({ outcome: 'fail', reason })
export const unknown = (reason: string): ComparedPart => ({ outcome: 'unknown', reason })
export const skipped = (reason: string): ComparedPart => ({ outcome: 'skipped', reason })

type Value = { readonly value: string } | Unread

/** `original` is undefined for a check without `tolerance`. */
export function judgeCheck(check: Check, restored: Value, original: Value | undefined): ComparedPart {
  if ('unread' in restored) return unknown(restored.unread)
  const value = exactNumber(restored.value)
  if (value === undefined) return fail(`is ${restored.value}, which is not a number`)
  const broken = keysOf<keyof typeof expectations>(expectations).find(
    (name) => check[name] !== undefined && !expectations[name](value, String(check[name])),
  )
  if (broken !== undefined) return fail(`is ${restored.value}, and ${broken} is ${check[broken]}`)
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

const expectations: Readonly<Record<'atLeast' | 'atMost' | 'equals', (value: Decimal, limit: string) => boolean>> = {
  atLeast: (value, limit) => value.gte(limit),
  atMost: (value, limit) => value.lte(limit),
  equals: (value, limit) => value.eq(limit),
}

const exactNumber = (text: string) => (/^-?\d{1,60}(?:\.\d{1,60})?(?:e[+-]?\d{1,2})?$/i.test(text) ? fromText(text) : undefined)

export const restoreStatuses = ['verified', 'different', 'started', 'not-started'] as const

/** More rows that are only proven by their sorting keys would leave most values unknown. */
const maxKeyShare = 1 / 3

/** `rows` are those that were compared, `keyRows` those whose keys alone are equal. */
export function judgeRestore(
  isRunning: boolean,
  compared: readonly ComparedPart[],
  { rows, keyRows }: { readonly rows: number; readonly keyRows: number },
): (typeof restoreStatuses)[number] {
  if (!isRunning) return 'not-started'
  if (compared.some(({ outcome }) => outcome === 'fail')) return 'different'
  return rows > 0 && keyRows <= rows * maxKeyShare && compared.every(({ outcome }) => outcome !== 'unknown') ? 'verified' : 'started'
}

/** What a state means for a restore. An idle service has run. Source: the vendor's OpenAPI document of 2026-07-31. */
export function meaningOf(state = ''): 'running' | 'ended' | 'waiting' {
  if (state === 'running' || state === 'idle') return 'running'
  return /^(?:failed|stopp(?:ed|ing)|terminat(?:ed|ing)|softdelet(?:ed|ing))$/.test(state) ? 'ended' : 'waiting'
}
