import type { ExactNumber } from '../../core/json.ts'

/** Amounts are whole millionths in the store, and exact decimal literals in answers, without a float in between. */
export const sumMicro = (amounts: Iterable<number>): bigint => [...amounts].reduce((total, amount) => total + BigInt(amount), 0n)

/** 1250000 → 1.25, 3 → 0.000003. */
export function toCredits(micro: bigint): ExactNumber {
  const sign = micro < 0n ? '-' : ''
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return JSON.rawJSON(`${sign}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`)
}
