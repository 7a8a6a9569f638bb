// The backup gate in the built action, on the command line and in the library.
import { describe, expect, it } from 'vitest'
import { demo, type Emulator } from '../../../src/emulator/index.ts'
import { createClient } from '../../../src/index.ts'
import { done, fillBackups } from '../../support/backups.ts'
import { asOptions, inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { commandsOf, runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const fill =
  (...backups: Parameters<typeof fillBackups>[2]) =>
  (one: Emulator): void =>
    fillBackups(one, 'checkout', backups)

const breakQueries = (one: Emulator): void =>
  one.addFault({ match: { path: '/backups' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 403 } })

/** The state of the backups, and the first line of the report. */
const outcomes = [
  { outcome: 'fresh', prepare: fill(done(5)), line: /^### ✅ Service `[\w-]+` has a fresh backup: 5 h old, limit 1 d 2 h\n/ },
  { outcome: 'missing', prepare: fill(), line: /^### ❌ Service `[\w-]+` has no backup\.\n/ },
  {
    outcome: 'unknown',
    prepare: breakQueries,
    line: /^### ❌ The backups of service `[\w-]+` could not be checked: The API answered 403/,
  },
] as const

describe.each(outcomes)('a service with the outcome $outcome', ({ outcome, prepare, line }) => {
  it('check-backups has the same verdict in the action, on the command line and in the library', async () => {
    prepare(emulator())
    const passes = line.source.includes('✅')
    const action = await runAsAction({ inputs: { ...inputsFor(emulator()), operation: 'check-backups' }, secrets })
    expect(action.summary).toMatch(line)
    expect([action.exitCode, commandsOf(action)]).toEqual(passes ? [0, []] : [1, ['error']])
    expect(action.outputs.has('backup-age-hours')).toBe(outcome === 'fresh')
    expect(action.result).toMatchObject({ services: [{ outcome, passes }] })
    const { flags, variables } = asOptions(inputsFor(emulator()))
    const cli = await runCli(['check-backups', ...flags, '--json'], variables)
    const client = createClient({
      apiUrl: emulator().url,
      apiKeyId: demo.apiKeyId,
      apiKeySecret: demo.apiKeySecret,
      organizationId: demo.organizationId,
      serviceId: demo.services.checkout,
    })
    const library = await client.checkBackups()
    expect(cli.exitCode).toBe(passes ? 0 : 10)
    const status = passes ? 'pass' : 'fail'
    expect([action.outputs.get('status'), JSON.parse(cli.stdout).status, library.status]).toEqual([status, status, status])
    expect(library.services.map((service) => service.outcome)).toEqual([outcome])
  })
})

it('passes with a warning under warn-only', async () => {
  fill()(emulator())
  const ran = await runAsAction({ inputs: { ...inputsFor(emulator()), operation: 'check-backups', 'warn-only': 'true' } })
  expect([ran.exitCode, ran.outputs.get('status'), commandsOf(ran)]).toEqual([0, 'warn', ['warning']])
})
