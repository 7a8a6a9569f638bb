// Owns writing decimals in tests.
import { type Decimal, fromText } from '../../src/core/decimal.ts'

export const decimal = (value: string | number): Decimal => fromText(String(value))
