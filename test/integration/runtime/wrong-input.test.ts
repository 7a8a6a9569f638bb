import { describe, expect, it } from 'vitest'
import { inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { runAsAction } from '../../support/run-as-action.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const run = (inputs: Readonly<Record<string, string>>, more: Partial<Parameters<typeof runAsAction>[0]> = {}) =>
  runAsAction({ inputs: { ...inputsFor(emulator()), ...inputs }, secrets, ...more })

describe('wrong input', () => {
  it('wrong input is reported all at once, by name, before any request', async () => {
    const ran = await run({
      operation: 'usage-cost',
      'organization-id': 'acme',
      budget: 'lots',
      period: 'last-week',
      'max-attempts': '0',
      'warn-only': 'yes',
    })
    const reason = ran.outputs.get('failure-reason') ?? ''
    const [head, ...problems] = reason.split('\n')
    expect(head).toBe('5 errors in the input:')
    expect(problems.sort()).toEqual([
      '- WATCHKEEPER_MAX_ATTEMPTS: 0 is not accepted; accepted: a whole number from 1 to 20',
      '- budget: "lots" is not accepted; accepted: an amount of zero or more without separators, such as 1000 or 99.5',
      '- organization-id: "acme" is not accepted; accepted: a UUID such as 11111111-2222-4333-8444-555555555555',
      '- period: "last-week" is not accepted; accepted: today, yesterday, month-to-date, previous-month, billing-cycle, previous-billing-cycle, year-to-date, last-N-days; a day such as 2026-01-31, or days such as 2026-01-01..2026-01-31 or 2026-01-01.. (until today); at most 3660 days',
      '- warn-only: "yes" is not accepted; accepted: true or false',
    ])
    expect(ran.outputs.get('status')).toBe('error')
    expect(ran.exitCode).toBe(1)
    expect(ran.summary).toContain('### 🛑 `usage-cost` did not complete')
    expect(ran.result).toMatchObject({ status: 'error', error: { kind: 'input' } })
    expect(emulator().requests).toHaveLength(0)
  })
})
