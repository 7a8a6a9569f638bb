// Owns the kinds of field that only costs are about. They bring the calendar and the decimals along, which no other run needs.
import * as z from 'zod'
import { type Day, isDay } from '../../kernel/days.ts'
import { type Decimal, fromText, parseAmount } from '../../kernel/decimal.ts'

/** An amount of usage credits. Text or number in, exact decimal out. */
export const amount = (description: string) =>
  z
    .union([z.string(), z.number()])
    .transform((value, context): Decimal => {
      const decimal = parseAmount(typeof value === 'number' ? plainText(value) : value)
      if (decimal !== undefined) return decimal
      context.addIssue({ code: 'custom', message: 'is no amount' })
      return z.NEVER
    })
    .meta({
      description,
      accepts: 'zero or more in plain decimals, such as 1000 or 99.5',
      pattern: '^(0|[1-9][0-9]{0,29})([.][0-9]{1,30})?$',
      minimum: 0,
    })

/** A number as a person would write it: 0.0000001 and not 1e-7. */
const plainText = (value: number): string => (Number.isFinite(value) ? fromText(String(value)).toFixed() : String(value))

export const day = (description: string) =>
  z
    .string()
    .transform((value, context): Day => {
      if (isDay(value)) return value
      context.addIssue({ code: 'custom', message: 'is no day' })
      return z.NEVER
    })
    .meta({ description, accepts: 'a UTC day of the calendar as YYYY-MM-DD' })
