import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkLimit } from '../../../src/usage/records.ts'
import { decimal } from '../../support/decimal.ts'

const judge = (spent: string, budget?: string, warnBudget?: string) =>
  checkLimit(decimal(spent), budget === undefined ? undefined : decimal(budget), warnBudget === undefined ? undefined : decimal(warnBudget))

describe('V2: a budget is compared digit by digit, and equal passes', () => {
  it.each([
    ['100', '100', undefined, 'within'],
    ['100.1', '100', undefined, 'exceeded'],
    ['100.00000000000000001', '100', undefined, 'exceeded'],
    ['0', '0', undefined, 'within'],
    ['0.000001', '0', undefined, 'exceeded'],
    ['90', '100', '80', 'warn'],
    ['80', '100', '80', 'within'],
    ['101', '100', '80', 'exceeded'],
    ['90', undefined, '80', 'warn'],
    ['90', undefined, undefined, 'within'],
  ])('%s of %s, warning above %s, is %s', (spent, budget, warnBudget, level) => {
    expect(judge(spent, budget, warnBudget).status).toBe(level)
  })

  it('gives no share of a budget of zero', () => {
    expect(judge('1', '0').usedPercent).toBeUndefined()
    expect(judge('25', '50').usedPercent?.toFixed()).toBe('50')
  })

  it('decides as integers decide', () => {
    const cents = fc.bigInt({ min: 0n, max: 10n ** 18n })
    const toText = (value: bigint): string => `${value / 10n ** 6n}.${(value % 10n ** 6n).toString().padStart(6, '0')}`
    fc.assert(
      fc.property(cents, cents, (spent, budget) => {
        expect(judge(toText(spent), toText(budget)).status).toBe(spent > budget ? 'exceeded' : 'within')
      }),
    )
  })
})
