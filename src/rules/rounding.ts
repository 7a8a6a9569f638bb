// Owns how far two figures of the API may be apart and still be the same: it rounds rows, metrics and totals each on their own.
import type { Decimal } from '../kernel/decimal.ts'

/** 0.01 % of the total, and never less than a millionth, is no difference. */
export function isRounding(difference: Decimal, total: Decimal): boolean {
  const relative = total.abs().times('0.0001')
  return difference.abs().lte(relative.lt('0.000001') ? '0.000001' : relative)
}
