// One table of gates: the action, the command line and the library have the same verdict.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { demo, type Emulator } from '../../../src/emulator/index.ts'
import { createClient } from '../../../src/index.ts'
import { toCamel } from '../../../src/platform/core/names.ts'
import { done, fillBackups } from '../../support/backups.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { asOptions, fillUsage, inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'
import { commandsOf } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const use = (one: Emulator): void => {
  fillUsage(one, 60, [
    { name: 'checkout', microOn: () => ({ compute: 3_000_000 }), locked: true },
    { name: 'search', microOn: (ago) => ({ compute: ago === 5 ? 9_000_000 : 1_000_000 }), locked: false },
  ])
}

const backUp =
  (...backups: Parameters<typeof fillBackups>[2]) =>
  (one: Emulator): void =>
    fillBackups(one, 'checkout', backups)

const breakQueries = (one: Emulator): void =>
  one.addFault({ match: { path: '/backups' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 403 } })

interface Gate {
  readonly operation: 'usage-cost' | 'check-backups'
  readonly prepare: (one: Emulator) => void
  readonly inputs: Readonly<Record<string, string>>
  readonly status: 'pass' | 'warn' | 'fail'
}

const cost = (inputs: Gate['inputs'], status: Gate['status']): Gate => ({
  operation: 'usage-cost',
  prepare: use,
  inputs: { period: 'last-10-days', ...inputs },
  status,
})
const backups = (prepare: Gate['prepare'], status: Gate['status'], inputs: Gate['inputs'] = {}): Gate => ({
  operation: 'check-backups',
  prepare,
  inputs,
  status,
})

describe('V6: a gate without a limit warns, or fails where a gate is required; every gate has the same verdict in the action, on the command line and in the library', () => {
  it.each<[string, Gate, RegExp]>([
    ['no limit', cost({}, 'warn'), /^### ⚠️ No budget is set: nothing was checked\./],
    ['no limit for a required gate', cost({ gate: 'required' }, 'fail'), /^### ❌ /],
    ['a report without a gate', cost({ gate: 'off' }, 'pass'), /^### ✅ Used /],
    ['a budget that is kept', cost({ budget: '48' }, 'pass'), /^### ✅ Used 48\.00 of 48\.00 CHC/],
    ['a budget that is not', cost({ budget: '47.999999' }, 'fail'), /^### ❌ Budget exceeded: /],
    ['a warning', cost({ 'warn-budget': '47' }, 'warn'), /^### ⚠️ Warning level of the budget exceeded: /],
    ['a failure that warns only', cost({ budget: '1', 'warn-only': 'true' }, 'warn'), /^### ⚠️ Budget exceeded: /],
    ['a growth that is too large', cost({ compare: 'previous-period', 'max-increase': '5%' }, 'fail'), /^### ❌ /],
    ['a fresh backup', backups(backUp(done(5)), 'pass'), /^### ✅ Service `[\w-]+` has a fresh backup, 5 h old\n\nLimit 1 d 2 h\.\n/],
    ['no backup', backups(backUp(), 'fail'), /^### ❌ Service `[\w-]+`: no backup\.\n/],
    ['no backup that warns only', backups(backUp(), 'warn', { 'warn-only': 'true' }), /^### ⚠️ Service `[\w-]+`: no backup\./],
    ['backups that cannot be read', backups(breakQueries, 'fail'), /^### ❌ Service `[\w-]+`: not checked\.\n\nThe API answered 403/],
  ])('for %s', async (_, { operation, prepare, inputs, status }, line) => {
    prepare(emulator())
    const { 'warn-only': warnOnly, ...others } = inputs
    const action = await runAsAction({ inputs: { ...inputsFor(emulator()), operation, ...inputs }, secrets })
    const { flags, variables } = asOptions({ ...inputsFor(emulator()), ...inputs })
    const cli = await runCliInside([operation, ...flags, '--json'], { env: variables })
    const client = createClient({
      apiUrl: emulator().url,
      apiKeyId: demo.apiKeyId,
      apiKeySecret: demo.apiKeySecret,
      organizationId: demo.organizationId,
      serviceId: demo.services.checkout,
    })
    const input = Object.fromEntries(Object.entries(others).map(([name, value]) => [toCamel(name), value]))
    const library = operation === 'usage-cost' ? await client.usageCost({ period: '', ...input }) : await client.checkBackups(input)

    const printed = JSON.parse(cli.stdout) as { status: string; failureReason: string }
    expect([action.outputs.get('status'), printed.status]).toEqual([status, status])
    // `warn-only` is a wish about a step's color: the library always tells what the gate says.
    expect(library.status).toBe(warnOnly === undefined ? status : 'fail')
    const reason = `${library.failureReason}${warnOnly === undefined ? '' : ' The setting warn-only makes this failure a warning.'}`
    const typed = reason.replace(
      'gate: required, set budget, budgets, forecast-budget or max-increase',
      '--gate required, set --budget, --budgets, --forecast-budget or --max-increase',
    )
    expect([action.outputs.get('failure-reason'), printed.failureReason]).toEqual([reason, typed])
    expect([action.exitCode, cli.exitCode]).toEqual(status === 'fail' ? [1, 10] : [0, 0])
    expect(commandsOf(action)).toEqual({ pass: [], warn: ['warning'], fail: ['error'] }[status])
    expect(action.summary).toMatch(line)
  })
})

it('messages of the command line spell an input as an option, and those of the action as an input', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-surfaces-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = `alerts:
  slow: { name: Slow, savedSearch: { id: 665f00000000000000000001 }, threshold: 1, interval: 5m, channel: { type: webhook, webhookId: 665f00000000000000000002 } }
`
  const files = { 'a.yml': file, 'none.yml': 'alerts: {}\n' }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const cases: [string, Readonly<Record<string, string>>, string, string][] = [
    [
      'pull',
      { only: 'drifted-or-deleted', env: 'x' },
      'only: cannot be `drifted-or-deleted` with env, because',
      'only: cannot be `drifted-or-deleted` with --env, because',
    ],
    [
      'apply',
      { files: 'none.yml', prune: 'true' },
      'or set WATCHKEEPER_ALLOW_EMPTY: true to delete them',
      'or set --allow-empty to delete them',
    ],
    ['plan', { files: 'a.yml', 'max-notifications': '1' }, 'requires backtest: true', 'requires --backtest'],
    ['usage-cost', { budget: '1', gate: 'off' }, 'cannot be combined with gate: off', 'cannot be combined with --gate off'],
    ['plan', { files: 'a.yml', 'api-key': 'a-key-of-hyperdx' }, 'set profile: hyperdx, or', 'set --profile hyperdx, or'],
    ['plan', { files: 'a.yml', 'api-url': 'http://10.1.2.3' }, 'set WATCHKEEPER_ALLOW_HTTP: true if', 'set --allow-http if'],
  ]
  await forEachEntry(cases, async (operation, given, inAction, onCommandLine) => {
    const inputs = { ...inputsFor(emulator()), project: 'shop/new', ...given }
    const { project: _, ...withoutProject } = inputs
    const all = operation === 'usage-cost' ? withoutProject : inputs
    expect((await invokeText({ inputs: { operation, ...all }, files })).reason).toContain(inAction)
    const { flags, variables } = asOptions(all)
    expect((await runCliInside([operation, ...flags], { env: variables, directory })).stderr).toContain(onCommandLine)
  })
})
