// Signals and kills. Rows of `apply` belong into a file of their own beside this one.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { demo, type Effect } from '../../../src/emulator/index.ts'
import { asOptions, serviceOf } from '../../support/emulator.ts'
import { runWithFailure, type TestAction, type TestApi, withTestApi } from '../../support/faults.ts'
import { problemsWithRun } from '../../support/output-oracle.ts'
import { openBlackHole } from '../../support/raw-server.ts'
import { runAction } from '../../support/run-process.ts'

const root = new URL('../../..', import.meta.url).pathname

type Child = ReturnType<typeof spawn>

/** Does it as soon as that many requests have arrived. */
const whenArrived =
  (requests: number, strike: (child: Child) => void) =>
  (child: Child, testApi: TestApi): void => {
    const timer = setInterval(() => {
      if (testApi.arrived().length < requests) return
      clearInterval(timer)
      strike(child)
    }, 5)
    child.once('exit', () => clearInterval(timer))
  }

/** Strikes while the nth request is under way, which takes its time. */
const struck = (action: TestAction, nth: number, signal: NodeJS.Signals, inputs: Readonly<Record<string, string>> = {}) =>
  runWithFailure(action, undefined, {
    prepare: ({ emulator }) => emulator.addFault({ nth, effect: { kind: 'delay', ms: 400 } }),
    onStart: whenArrived(nth, (child) => child.kill(signal)),
    inputs,
    settleMs: 500,
  })

describe.concurrent('R6: a signal ends a run in time, with a report and the right exit code', () => {
  const aYear = { operation: 'usage-cost', period: 'last-365-days' }

  it.each<[NodeJS.Signals, TestAction, number, string, number, number]>([
    ['SIGINT', 'read', 1, 'pass', 0, 130],
    ['SIGTERM', 'create', 1, 'pass', 1, 4],
    ['SIGINT', 'update', 1, 'canceled', 0, 130],
    ['SIGTERM', 'update', 2, 'pass', 0, 4],
    // biome-ignore lint/complexity/useMaxParams: one column of the table each
  ])('%s at a %s, request %i: what is under way ends, nothing new is sent', async (signal, action, nth, conclusion, more, exitCode) => {
    const { outcome, ran } = await struck(action, nth, signal)
    expect(outcome).toMatchObject({ exitCode, conclusion, added: more })
    expect(outcome.methods.split(' ')).toHaveLength(nth)
    expect(ran.outputs.get('status')).toBe(conclusion === 'canceled' ? 'error' : conclusion)
    expect(ran.result).toMatchObject({ status: ran.outputs.get('status') })
  })

  it('sends no waiting request after a signal in the middle of many', async () => {
    const { outcome } = await struck('read a cost', 1, 'SIGINT', { ...aYear, budget: '' })
    expect(outcome).toMatchObject({ exitCode: 130, conclusion: 'canceled' })
    expect(outcome.methods.split(' ').length).toBeLessThan(12)
  })

  it('ends a wait for the rate limit at once after a signal', async () => {
    const failure = { effect: { kind: 'rate-limited', headers: { 'retry-after': '300' } } } as const
    const onStart = whenArrived(1, (child) => setTimeout(() => child.kill('SIGTERM'), 500))
    const { outcome, ran } = await runWithFailure('create', failure, { onStart })
    expect(outcome).toMatchObject({ exitCode: 130, conclusion: 'canceled', methods: 'POST', added: 0 })
    expect(ran.ending?.activeMs).toBeLessThan(5000)
  })

  it('ends a handshake that hangs after a signal, and still writes the report', async () => {
    const hole = await openBlackHole()
    const { outcome, ran } = await runWithFailure('create', undefined, {
      url: `http://127.0.0.1:${hole.port}`,
      onStart: (child) => child.stdout?.once('data', () => setTimeout(() => child.kill('SIGINT'), 1000)),
    })
    await hole.close()
    // A request that is given up may have been applied.
    expect(outcome).toMatchObject({ exitCode: 4, conclusion: 'canceled' })
    expect(ran.summary).toContain('create-alert')
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })
})

describe.concurrent('R5: answers that are too large are rejected in little memory', () => {
  it.each<[string, Effect]>([
    ['without an end', { kind: 'endless' }],
    ['that a gzip of some kilobytes becomes', { kind: 'gzip-bomb', mebibytes: 500 }],
  ])('rejects an answer %s', async (_, effect) => {
    const { outcome, ran } = await runWithFailure('read', { effect }, { preload: {}, times: 9, inputs: { 'max-attempts': '2' } })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'bad-answer', problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain('larger than the limit of 16 MiB')
    expect(ran.ending?.peakMegabytes).toBeLessThan(300)
  })
})

it.concurrent('R4: creates nothing where no connection is made, and names the limit for connecting', { timeout: 30_000 }, async () => {
  const hole = await openBlackHole()
  try {
    const { outcome, ran, activeMs } = await runWithFailure('create', undefined, {
      preload: {},
      url: `http://127.0.0.1:${hole.port}`,
      inputs: { 'max-attempts': '1' },
    })
    expect(outcome).toEqual({ methods: '', added: 0, problems: [], exitCode: 1, conclusion: 'timeout' })
    expect(ran.outputs.get('failure-reason')).toContain('No connection within 10 s')
    expect(ran.outputs.get('failure-reason')).not.toContain('30 s')
    expect(activeMs).toBeLessThan(15_000)
  } finally {
    await hole.close()
  }
})

it.concurrent('receives signals directly when a shell runs the command line with exec', async () => {
  await withTestApi({ effect: { kind: 'delay', ms: 400 } }, {}, async (testApi) => {
    const { flags, variables } = asOptions(connectionTo(testApi.url))
    const line = `exec "${process.execPath}" "${root}npm/cli.js" list-sources ${flags.join(' ')}`
    const child = spawn('bash', ['-c', line], { env: { ...variables, PATH: process.env.PATH }, stdio: 'ignore' })
    whenArrived(1, () => child.kill('SIGTERM'))(child, testApi)
    const [code] = (await once(child, 'exit')) as [number | null]
    expect(code).toBe(130)
    expect(testApi.arrived()).toHaveLength(1)
  })
})

describe.concurrent('W1: a run that the runner kills creates nothing twice with the next run', () => {
  it.each(['before', 'after'] as const)(
    'creates nothing twice when a run was killed %s the create was done, because the next run looks first',
    async (act) => {
      await withTestApi(undefined, {}, async (testApi) => {
        testApi.emulator.addFault({ match: { method: 'POST' }, act, effect: { kind: 'hang' } })
        const inputs = { ...connectionTo(testApi.url), ...creation, 'if-exists': 'skip' }
        const before = serviceOf(testApi.emulator).alerts.length
        const strike = whenArrived(2, (child) => child.kill('SIGKILL'))
        const killed = await runAction({ inputs, onStart: (child) => strike(child, testApi) })
        expect(killed).toMatchObject({ exitCode: null, outputs: new Map() })
        const again = await runAction({ inputs })
        expect(problemsWithRun(again)).toEqual([])
        expect(again.outputs.get('changed')).toBe(act === 'after' ? 'false' : 'true')
        expect(serviceOf(testApi.emulator).alerts).toHaveLength(before + 1)
      })
    },
  )
})

const connectionTo = (url: string): Readonly<Record<string, string>> => ({
  'api-url': url,
  'api-key-id': demo.apiKeyId,
  'api-key-secret': demo.apiKeySecret,
  'organization-id': demo.organizationId,
  'service-id': demo.services.checkout,
})

const creation = {
  operation: 'create-alert',
  alert:
    '{ name: Killed, dashboard: 65f5e4a35eedc0de0000000c, tile: 65f5e4a35eedc0de0000000e, threshold: 5, interval: 1h, channel: { type: webhook, webhookId: 65f5e4a35eedc0de00000009 } }',
}
