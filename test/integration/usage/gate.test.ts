import { beforeEach, describe, expect, it } from 'vitest'
import { toPlainText } from '../../../src/core/line.ts'
import { fillUsage, inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator()

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
    expect(ran.reason).toBe('No budget is set: nothing was checked. Total used: 10.00 Credits.')
    expect(ran.outputs['budget-exceeded']).toBeUndefined()
    expect(JSON.stringify(ran.blocks)).toContain('"none"')
  })

  it('fails when a gate is required', async () => {
    const ran = await judge({ gate: 'required', budget: '' })
    expect([ran.exitCode, ran.document.status]).toEqual([10, 'fail'])
    expect(ran.reason).toBe('No budget is set: nothing was checked. Total used: 10.00 Credits.')
  })

  it('fails when a gate is required and there is only a warning level', async () => {
    const ran = await judge({ gate: 'required', 'warn-budget': '100' })
    expect([ran.document.status, ran.reason]).toEqual([
      'fail',
      expect.stringMatching(/^No budget is set: only the warning level was checked\./),
    ])
  })

  it('is a warning when a required gate only warns', async () => {
    expect((await judge({ gate: 'required', 'warn-only': 'true' })).document.status).toBe('warn')
  })

  it('passes when the gate is off, and the report mentions no budget', async () => {
    const ran = await judge({ gate: 'off' })
    expect([ran.exitCode, ran.document.status, ran.reason]).toEqual([0, 'pass', ''])
    const [verdict] = ran.blocks
    expect(verdict?.kind === 'verdict' && toPlainText(verdict.line)).toMatch(/^Used 10\.00 Credits from \d+ .*\.$/)
    expect(JSON.stringify(ran.blocks)).not.toContain('Budget')
  })

  it('warns of missing records when the gate is off, unless on-missing fails', async () => {
    fillUsage(emulator(), 60, [{ name: 'checkout', microOn: (ago) => (ago === 5 ? undefined : { compute: 1 }), locked: true }])
    const statusOf = async (inputs: Inputs) => (await judge(inputs)).document.status
    expect([await statusOf({ gate: 'off' }), await statusOf({ gate: 'off', 'on-missing': 'fail' })]).toEqual(['warn', 'fail'])
  })
})

describe('a run with a limit', () => {
  it.each(limits)('passes, also when a gate is required: %o', async (inputs) => {
    expect([(await judge(inputs)).document.status, (await judge({ ...inputs, gate: 'required' })).document.status]).toEqual([
      'pass',
      'pass',
    ])
  })

  it('passes with a warning level only', async () => {
    expect((await judge({ 'warn-budget': '100' })).document.status).toBe('pass')
  })

  it.each([...limits, { 'warn-budget': '1' }])('is rejected when the gate is off: %o', async (inputs) => {
    const ran = await judge({ ...inputs, gate: 'off' })
    expect([ran.exitCode, ran.reason]).toEqual([2, expect.stringMatching(/^[a-z-]+: cannot be combined with gate: off$/)])
    expect(emulator().requests).toHaveLength(0)
  })

  it('is rejected when the warning level is above the budget', async () => {
    const ran = await judge({ budget: '1000', 'warn-budget': '1000.5' })
    expect([ran.exitCode, ran.reason]).toEqual([2, 'warn-budget: is 1,000.5, above budget 1,000, so the gate would never warn'])
    expect((await judge({ budget: '1000', 'warn-budget': '1000' })).document.status).toBe('pass')
  })
})
