// The check of credits in the built action and on the command line.
import { describe, expect, it } from 'vitest'
import { asOptions, inputsFor, secrets, useEmulator } from '../../../support/emulator.ts'
import { runAsAction } from '../../../support/run-as-action.ts'
import { runCliInside } from '../../../support/run-cli-inside.ts'
import { commandsOf } from '../../../support/run-process.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

const inputs = () => ({ ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'check-credits' })

const emptyBalances = (): void => {
  for (const organization of emulator().store.organizations) organization.creditBalances = []
}

describe('the check of credits', () => {
  it('has the same figures in the action and on the command line, and writes them before it fails', async () => {
    const limits = { 'min-days-left': '3000', reports: 'html=credits.html' }
    const action = await runAsAction({ inputs: { ...inputs(), ...limits }, secrets })
    expect([action.exitCode, commandsOf(action)]).toEqual([1, ['error']])
    expect(action.summary).toMatch(
      /^### ❌ Prepaid credits last for less than the minimum of 3000 days\n\nFor \d+ more days \(until .*\)\.\n/,
    )
    expect(action.outputs.get('remaining-credits')).toBe('2620')
    expect(action.outputs.get('status')).toBe('fail')
    const { operation: _, ...given } = inputs()
    const { flags, variables } = asOptions({ ...given, 'min-days-left': '3000' })
    const cli = await runCliInside(['check-credits', ...flags, '--json'], { env: variables })
    expect(cli.exitCode).toBe(10)
    const document = JSON.parse(cli.stdout) as Readonly<Record<string, unknown>>
    expect(String(document.daysLeft)).toBe(action.outputs.get('days-left'))
  })

  it('V10: never shows zero for an organization without prepaid credits', async () => {
    emptyBalances()
    const passed = await runAsAction({ inputs: inputs(), secrets })
    expect(passed.exitCode).toBe(0)
    expect(passed.summary).toMatch(/^### ✅ No prepaid credits\n/)
    expect([passed.outputs.has('remaining-credits'), passed.outputs.has('days-left')]).toEqual([false, false])
    const failed = await runAsAction({ inputs: { ...inputs(), 'min-days-left': '100' }, secrets })
    expect([failed.exitCode, failed.summary]).toEqual([1, expect.stringMatching(/^### ❌ No prepaid credits: none were granted/)])
  })
})
