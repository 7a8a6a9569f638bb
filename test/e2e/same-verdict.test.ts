// One gate, run by the built action, the command line and the library.
import { beforeEach, describe, expect, it } from 'vitest'
import { demo } from '../../src/emulator/index.ts'
import { createClient } from '../../src/runtime/library/create-client.ts'
import { asOptions, fillUsage, inputsFor, useEmulator } from '../support/emulator.ts'
import { runAction, runCli } from '../support/run-process.ts'

const emulator = useEmulator()

beforeEach(() => {
  fillUsage(emulator(), 60, [
    { name: 'checkout', microOn: () => ({ compute: 3_000_000 }), locked: true },
    { name: 'search', microOn: (ago) => ({ compute: ago === 5 ? 9_000_000 : 1_000_000 }), locked: false },
  ])
})

type Inputs = Readonly<Record<string, string>>

describe.each<[string, Inputs, string, number]>([
  ['no limit', {}, 'warn', 0],
  ['no limit for a required gate', { gate: 'required' }, 'fail', 10],
  ['a report without a gate', { gate: 'off' }, 'pass', 0],
  ['a budget that is kept', { budget: '48' }, 'pass', 0],
  ['a budget that is not', { budget: '47.999999' }, 'fail', 10],
  ['a warning', { 'warn-budget': '47' }, 'warn', 0],
  ['a failure that warns only', { budget: '1', 'warn-only': 'true' }, 'warn', 0],
  ['a growth that is too large', { compare: 'previous-period', 'max-increase': '5%' }, 'fail', 10],
])('%s', (_, inputs, status, exitCode) => {
  it('every example has the same verdict in the action, on the command line and in the library', async () => {
    const common = { operation: 'usage-cost', period: 'last-10-days', ...inputs }
    const action = await runAction({ inputs: { ...inputsFor(emulator()), ...common } })
    const { flags, variables } = asOptions({ ...inputsFor(emulator()), period: 'last-10-days', ...inputs })
    const cli = await runCli(['usage-cost', ...flags, '--json'], variables)
    const client = createClient({
      apiUrl: emulator().url,
      apiKeyId: demo.apiKeyId,
      apiKeySecret: demo.apiKeySecret,
      organizationId: demo.organizationId,
    })
    const { gate, budget, 'warn-budget': warnBudget, compare, 'max-increase': maxIncrease } = inputs
    const library = await client.usageCost({
      period: 'last-10-days',
      ...(gate && { gate: gate as 'required' | 'off' }),
      ...(budget && { budget }),
      ...(warnBudget && { warnBudget }),
      ...(compare && { compare: 'previous-period' }),
      ...(maxIncrease && { maxIncrease }),
    })
    const printed = JSON.parse(cli.stdout) as { status: string; failureReason: string }
    expect([action.outputs.get('status'), printed.status]).toEqual([status, status])
    // `warn-only` is a wish about a step's colour: the library always tells what the gate says.
    expect(library.status).toBe('warn-only' in inputs ? 'fail' : status)
    const reason = `${library.failureReason}${'warn-only' in inputs ? ' The setting warn-only makes this failure a warning.' : ''}`
    expect([action.outputs.get('failure-reason'), printed.failureReason]).toEqual([reason, reason])
    expect([action.exitCode, cli.exitCode]).toEqual([exitCode === 0 ? 0 : 1, exitCode])
  })
})
