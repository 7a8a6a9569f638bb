import { beforeEach, describe, expect, it } from 'vitest'
import { toPlainText } from '../../../../src/platform/core/line.ts'
import { fillUsage, inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })

beforeEach(() => {
  fillUsage(emulator(), 60, [{ name: 'checkout', microOn: () => ({ compute: 1_000_000 }), locked: true }])
})

type Inputs = Readonly<Record<string, string>>

const judge = (inputs: Inputs) =>
  invokeText({
    inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-10-days', ...inputs },
    files: { 'budgets.yml': '[{ name: all, limit: 100 }]' },
  })

const limits: readonly Inputs[] = [
  { budget: '100' },
  { 'forecast-budget': '1000', period: 'month-to-date' },
  { budgets: 'budgets.yml' },
  { compare: 'previous-period', 'max-increase': '50%' },
]

describe('a run without a limit', () => {
  it.each<[string, Inputs]>([
    ['no limit is given', {}],
    ['the budget is empty', { budget: '' }],
    ['the gate is auto', { gate: 'auto' }],
    ['there is only a comparison', { compare: 'previous-period' }],
  ])('warns that nothing was checked when %s', async (_, inputs) => {
    const ran = await judge(inputs)
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
    expect(ran.reason).toBe('No budget is set: nothing was checked.')
    expect(ran.outputs['budget-exceeded']).toBeUndefined()
    expect(JSON.stringify(ran.blocks)).toContain('"none"')
  })

  it('fails when a gate is required', async () => {
    const ran = await judge({ gate: 'required', budget: '' })
    expect([ran.exitCode, ran.document.status]).toEqual([10, 'fail'])
    expect(ran.reason).toBe(
      'No budget is set: nothing was checked. With gate: required, set budget, budgets, forecast-budget or max-increase.',
    )
  })

  it('fails when a gate is required and there is only a warning level', async () => {
    const ran = await judge({ gate: 'required', 'warn-budget': '100' })
    expect([ran.document.status, ran.reason]).toEqual([
      'fail',
      expect.stringMatching(/^No budget is set: only the warning level was checked\./),
    ])
  })

  it('a run without a limit is a warning when a required gate only warns', async () => {
    expect((await judge({ gate: 'required', 'warn-only': 'true' })).document.status).toBe('warn')
  })

  it('a run without a limit passes when the gate is off, and the report mentions no budget', async () => {
    const ran = await judge({ gate: 'off' })
    expect([ran.exitCode, ran.document.status, ran.reason]).toEqual([0, 'pass', ''])
    const [verdict] = ran.blocks
    expect(verdict?.kind === 'verdict' && toPlainText(verdict.line)).toMatch(/^Used 10\.00 CHC from \d+ .*\.$/)
    expect(JSON.stringify(ran.blocks)).not.toContain('Budget')
  })

  it('warns of missing records when the gate is off, unless on-missing fails', async () => {
    fillUsage(emulator(), 60, [{ name: 'checkout', microOn: (ago) => (ago === 5 ? undefined : { compute: 1 }), locked: true }])
    const statusOf = async (inputs: Inputs) => (await judge(inputs)).document.status
    expect([await statusOf({ gate: 'off' }), await statusOf({ gate: 'off', 'on-missing': 'fail' })]).toEqual(['warn', 'fail'])
  })
})

describe('max-increase without a day that is complete in both periods', () => {
  const increase = { compare: 'previous-period', 'max-increase': '0%' }
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

  it.each(['today', 'yesterday', 'last-1-days', 'last-2-days'])('V11: is refused where it would never be checked: %s', async (period) => {
    expect((await judge({ ...increase, period })).reason).toBe(`max-increase: requires a period with complete days, and ${period} has none`)
  })

  it('V11: is checked in the shortest period with a complete day', async () => {
    expect((await judge({ ...increase, period: 'last-3-days' })).document).toMatchObject({ status: 'pass', comparison: { change: '0' } })
  })

  it.each<[string, Inputs, string]>([
    ['warns of days that have just begun', { period: yesterday }, 'warn'],
    ['fails with on-missing: fail', { period: yesterday, 'on-missing': 'fail' }, 'fail'],
    ['passes with on-missing: ignore', { period: yesterday, 'on-missing': 'ignore' }, 'pass'],
    ['warns with on-missing: warn', { period: yesterday, 'on-missing': 'warn' }, 'warn'],
  ])('max-increase %s', async (_, inputs, status) => {
    const ran = await judge({ ...increase, ...inputs })
    expect([ran.document.status, ran.document.comparison]).toMatchObject([status, { status: 'no-complete-days', maxIncrease: '0%' }])
    expect(ran.document.comparison).not.toHaveProperty('change')
    expect(JSON.stringify(ran.blocks)).toContain('max-increase was not checked: no day of ')
  })

  it('V11: fails when the previous period has no records, which is the second reason', async () => {
    fillUsage(emulator(), 10, [{ name: 'checkout', microOn: () => ({ compute: 1 }), locked: true }])
    const ran = await judge(increase)
    expect([ran.document.status, ran.reason]).toEqual([
      'fail',
      expect.stringMatching(/^No usage records for .* max-increase was not checked: /),
    ])
  })

  it('changes no verdict of a comparison without a limit', async () => {
    const ran = await judge({ compare: 'previous-period', period: 'yesterday', budget: '5', 'on-missing': 'fail' })
    expect([ran.document.status, ran.document.dataQualityIssues]).toEqual(['pass', []])
    expect(JSON.stringify(ran.blocks)).toContain('not available: no day is complete in both periods')
  })

  it('ignores the usage of today, which still grows', async () => {
    fillUsage(emulator(), 60, [{ name: 'checkout', microOn: (ago) => ({ compute: ago === 0 ? 900_000_000 : 1_000_000 }), locked: true }])
    const ran = await judge(increase)
    expect([ran.document.status, ran.document.comparison]).toMatchObject(['pass', { change: '0', leftOut: { length: 2 } }])
    expect(JSON.stringify(ran.blocks)).toContain('The comparison is of ')
  })
})

describe('a credit price', () => {
  it('adds amounts of money to the report and the result', async () => {
    const ran = await judge({ 'credit-price': '1.05 USD', budget: '100' })
    expect(ran.document).toMatchObject({ creditPrice: { amount: '1.05', currency: 'USD' }, cost: '10.5', grandTotalCredits: '10' })
    const text = JSON.stringify(ran.blocks)
    for (const shown of ['10.00 of 100.00 CHC (10%), 10.50 of 105.00 USD', 'CHC (ClickHouse Credits), 1.05 USD each', '"USD"'])
      expect(text).toContain(shown)
  })

  it.each(['1.05', 'USD', '1,05 USD', '0 USD', '-1 USD', '1.05 usd', '1.05 ABC', '1.05 XXX', '1.05USD', '1 USD EUR'])(
    'rejects %s',
    async (price) => {
      const ran = await judge({ 'credit-price': price })
      expect([ran.exitCode, ran.reason]).toEqual([2, expect.stringMatching(/^credit-price: .*such as 1\.05 USD/)])
      expect(emulator().requests).toHaveLength(0)
    },
  )
})

describe('a run with a limit', () => {
  it.each(limits)('a run with a limit passes, also when a gate is required: %o', async (inputs) => {
    expect([(await judge(inputs)).document.status, (await judge({ ...inputs, gate: 'required' })).document.status]).toEqual([
      'pass',
      'pass',
    ])
  })

  it('a run with a limit passes with a warning level only', async () => {
    expect((await judge({ 'warn-budget': '100' })).document.status).toBe('pass')
  })

  it.each([...limits, { 'warn-budget': '1' }])('a run with a limit is rejected when the gate is off: %o', async (inputs) => {
    const ran = await judge({ ...inputs, gate: 'off' })
    expect([ran.exitCode, ran.reason]).toEqual([2, expect.stringMatching(/^[a-z-]+: cannot be combined with gate: off$/)])
    expect(emulator().requests).toHaveLength(0)
  })

  it('a run with a limit is rejected when the warning level is above the budget', async () => {
    const ran = await judge({ budget: '1000', 'warn-budget': '1000.5' })
    expect([ran.exitCode, ran.reason]).toEqual([2, 'warn-budget: is 1,000.5, above budget 1,000, so the gate would never warn'])
    expect((await judge({ budget: '1000', 'warn-budget': '1000' })).document.status).toBe('pass')
  })
})
