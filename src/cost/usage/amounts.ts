import * as z from 'zod'
import { type Decimal, fromText, parseAmount } from '../../platform/core/decimal.ts'
import { filePath, variable } from '../../platform/operation/inputs.ts'

// A result has decimals, so that every figure is exact. Its document has them as text, so that no JSON parser rounds them.
const decimalAs = (write: (value: Decimal) => string) =>
  z.codec(z.string(), z.custom<Decimal>().meta({ type: 'string' }), { decode: fromText, encode: write })

export const amount = decimalAs((value) => value.toFixed())

export const exactAmount = (description: string) => amount.describe(`${description} Exact decimal.`)

export const estimate = (description: string) => amount.describe(`${description} An estimate, as a decimal.`)

export const percent = (description: string) =>
  decimalAs((value) => value.toFixed(2)).describe(`${description} In percent, with two decimals.`)

/** An amount from a user: text or number in, exact decimal out. */
export const amountInput = (description: string) =>
  z
    .union([z.string(), z.number()])
    .transform((value, context): Decimal => {
      const decimal = parseAmount(
        typeof value === 'number' ? (Number.isFinite(value) ? fromText(String(value)).toFixed() : String(value)) : value,
      )
      if (decimal !== undefined) return decimal
      context.addIssue({ code: 'custom', message: 'is not a valid amount' })
      return z.NEVER
    })
    .meta({
      description,
      accepts: 'an amount of zero or more without separators, such as 1000 or 99.5',
      pattern: '^(0|[1-9][0-9]{0,29})([.][0-9]{1,30})?$',
      minimum: 0,
    })

export const budgetsInput = filePath('Reads several budgets from this file. Each has its own limit, period and scope.').optional()

export const creditPriceSchema = () => z.object({ amount, currency: z.string().describe('ISO 4217 code.') })

/** An amount above zero and a currency, from a user. */
export const creditPriceInput = variable(
  z
    .string()
    .transform((text, context): { readonly amount: Decimal; readonly currency: string } => {
      const [, written = '', currency = ''] = /^(\S{1,61})\s+([A-Z]{3})$/.exec(text.trim()) ?? []
      const price = parseAmount(written)
      // Codes such as XXX are in the standard, but are not money.
      if (price?.gt(0) && currency !== 'XXX' && Intl.supportedValuesOf('currency').includes(currency)) return { amount: price, currency }
      context.addIssue({ code: 'custom', message: 'is not a valid price' })
      return z.NEVER
    })
    .meta({
      description:
        'Price of one credit, which you pay by your contract. Reports then also show amounts of money, and the report in the format focus has this price.',
      accepts: 'an amount above zero and the code of a currency, such as 1.05 USD',
    })
    .optional(),
)
