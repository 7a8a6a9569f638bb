// Signals, kills and memory.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { demo, type Effect } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { asOptions, serviceOf } from '../../support/emulator.ts'
import { runWithFailure, type TestAction, type TestApi, withTestApi } from '../../support/faults.ts'
import { problemsWithRun } from '../../support/output-oracle.ts'
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

it('R6: a signal ends a run with a report: what is under way ends, and nothing new is sent', () =>
  forEachEntry<[NodeJS.Signals, TestAction, string, number]>(
    [
      ['SIGTERM', 'create', '4 pass: POST', 1],
      ['SIGINT', 'update', '130 canceled: GET', 0],
    ],
    async (signal, action, ending, more) => {
      const { outcome, ran } = await runWithFailure(action, undefined, {
        prepare: ({ emulator }) => emulator.addFault({ effect: { kind: 'delay', ms: 400 } }),
        onStart: whenArrived(1, (child) => child.kill(signal)),
        settleMs: 500,
      })
      expect(`${outcome.exitCode} ${outcome.conclusion}: ${outcome.methods}`).toBe(ending)
      expect(outcome.added).toBe(more)
      const status = more === 1 ? 'pass' : 'error'
      expect([ran.outputs.get('status'), ran.result?.status]).toEqual([status, status])
    },
    { atOnce: 2 },
  ))

it('R6: a signal ends a wait for the rate limit', async () => {
  const failure = { effect: { kind: 'rate-limited', headers: { 'retry-after': '300' } } } as const
  const onStart = whenArrived(1, (child) => setTimeout(() => child.kill('SIGTERM'), 300))
  const { outcome } = await runWithFailure('create', failure, { onStart })
  expect(outcome).toMatchObject({ exitCode: 130, conclusion: 'canceled', methods: 'POST', added: 0 })
})

it('R5: answers that are too large are rejected in little memory', () =>
  forEachEntry<[string, Effect]>(
    [
      ['an answer without an end', { kind: 'endless' }],
      ['an answer that a gzip of some kilobytes becomes', { kind: 'gzip-bomb', mebibytes: 500 }],
    ],
    async (_, effect) => {
      const { outcome, ran } = await runWithFailure('read', { effect }, { preload: {}, times: 9, inputs: { 'max-attempts': '2' } })
      expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'bad-answer', problems: [] })
      expect(ran.outputs.get('failure-reason')).toContain('larger than the limit of 16 MiB')
      expect(ran.ending?.peakMegabytes).toBeLessThan(300)
    },
  ))

it('receives signals directly when a shell runs the command line with exec', async () => {
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

it('W1: a run that the runner kills creates nothing twice with the next run', async () => {
  await withTestApi(undefined, {}, async (testApi) => {
    testApi.emulator.addFault({ match: { method: 'POST' }, act: 'after', effect: { kind: 'hang' } })
    const inputs = { ...connectionTo(testApi.url), ...creation, 'if-exists': 'skip' }
    const before = serviceOf(testApi.emulator).alerts.length
    const strike = whenArrived(2, (child) => child.kill('SIGKILL'))
    const killed = await runAction({ inputs, onStart: (child) => strike(child, testApi) })
    expect(killed).toMatchObject({ exitCode: null, outputs: new Map() })
    const again = await runAction({ inputs })
    expect(problemsWithRun(again)).toEqual([])
    expect(again.outputs.get('changed')).toBe('false')
    expect(serviceOf(testApi.emulator).alerts).toHaveLength(before + 1)
  })
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
