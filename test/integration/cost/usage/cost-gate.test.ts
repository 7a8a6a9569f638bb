import { describe, expect, it } from 'vitest'
import { forEachEntry } from '../../../support/corpus.ts'
import { inputsFor, secrets, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'
import { runAsAction } from '../../../support/run-as-action.ts'
import { commandsOf } from '../../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

/** The demo's records of these days no longer change, whatever the day of the test. */
const at = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)

const days = (): { period: string } => ({ period: `${at(34)}..${at(5)}` })

const gate = (inputs: Readonly<Record<string, string>>) =>
  runAsAction({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', ...days(), ...inputs }, secrets })

/** In millionths, so that the tests need no decimals. */
const toMicro = (text: string): bigint => {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}
const toText = (micro: bigint): string => `${micro / 1_000_000n}.${(micro % 1_000_000n).toString().padStart(6, '0')}`

async function totalOf(): Promise<string> {
  return (await gate({})).outputs.get('grand-total-credits') ?? ''
}

describe('the cost gate', () => {
  it('V6: has an annotation for an unknown variable, and fails on one that resembles an input', async () => {
    const inputs = { ...inputsFor(emulator()), operation: 'usage-cost', ...days(), budget: '100000' }
    const unknown = await runAsAction({ inputs, env: { WATCHKEEPER_XYZZY: '1' } })
    expect([unknown.exitCode, commandsOf(unknown)]).toEqual([0, ['warning']])
    expect(unknown.stdout).toMatch(/^::warning::Unknown variables with the prefix WATCHKEEPER_ are ignored: WATCHKEEPER_XYZZY\./m)
    const misspelt = await runAsAction({ inputs, env: { WATCHKEEPER_BUGET: '1' } })
    expect([misspelt.exitCode, misspelt.outputs.get('status')]).toEqual([1, 'error'])
    expect(misspelt.outputs.get('failure-reason')).toContain('WATCHKEEPER_BUGET: unknown variable; did you mean the input budget?')
  })

  it('agrees to the millionth with the sum of the records', async () => {
    const ran = await gate({})
    const records = ran.result?.records as { total: string }[]
    expect(records).toHaveLength(120)
    expect(records.reduce((sum, { total }) => sum + toMicro(total), 0n)).toBe(toMicro(ran.outputs.get('grand-total-credits') ?? ''))
    expect(ran.outputs.get('unit')).toBe('CHC')
    expect(ran.result).toMatchObject({ days: 30 })
  })

  it('the cost gate passes at a budget that equals the total', async () => {
    const ran = await gate({ budget: await totalOf() })
    expect(ran.exitCode).toBe(0)
    expect(ran.outputs.get('status')).toBe('pass')
    expect(ran.outputs.get('budget-exceeded')).toBe('false')
    expect(ran.outputs.get('budget-used-percent')).toBe('100.00')
    expect(ran.outputs.get('failure-reason')).toBe('')
  })

  it.each([
    ['a tenth', 100_000n],
    ['a millionth', 1n],
  ])('fails %s below it, after everything was written', async (_, less) => {
    const budget = toText(toMicro(await totalOf()) - less)
    const ran = await gate({ budget })
    expect(ran.exitCode).toBe(1)
    expect(ran.outputs.get('status')).toBe('fail')
    expect(ran.outputs.get('budget-exceeded')).toBe('true')
    expect(ran.outputs.get('failure-reason')).toMatch(/^Budget exceeded: [\d,.]+ of [\d,.]+ CHC \((?:100\.\d+%|just over 100%)\)\.$/)
    expect(ran.summary).toMatch(/^### ❌ Budget exceeded: /)
    expect(ran.result).toMatchObject({ operation: 'usage-cost', status: 'fail', budgetExceeded: true })
    expect(commandsOf(ran)).toEqual(['error'])
  })

  it('the cost gate takes zero for a budget', async () => {
    const ran = await gate({ budget: '0' })
    expect(ran.exitCode).toBe(1)
    expect(ran.outputs.get('budget-exceeded')).toBe('true')
    expect(ran.outputs.has('budget-used-percent')).toBe(false)
  })

  it('rejects a budget that is not a plain positive number, by name', () =>
    forEachEntry(['-1', 'NaN', '1e400', 'abc', '1,000', '0x10', '1e3', '.5', '5 %', '1_000', '٣', 'Infinity'], async (budget) => {
      const { exitCode, reason } = await invokeText({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', ...days(), budget } })
      expect(exitCode).toBe(2)
      expect(reason).toContain(`budget: "${budget}" is not accepted; accepted: an amount of zero or more`)
      expect(emulator().requests).toHaveLength(0)
    }))

  it('reports the provisional part of the total', async () => {
    const ran = await gate({ period: at(0) })
    expect(ran.result?.provisionalCredits).toBe(ran.outputs.get('grand-total-credits'))
    const settled = await gate({})
    expect(settled.result).toMatchObject({ provisionalCredits: '0' })
  })

  it('reads a long period in windows that the API answers, as one figure', async () => {
    const ran = await gate({ period: `${at(59)}..${at(5)}` })
    expect(ran.exitCode).toBe(0)
    expect(emulator().requests.filter(({ path }) => path.includes('/usageCost'))).toHaveLength(3)
    expect(ran.result).toMatchObject({ days: 55 })
  })
})
