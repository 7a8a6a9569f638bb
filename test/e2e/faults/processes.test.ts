// The process rows of the fault matrix: signals and kills. Rows of `apply` belong into a file of their own beside this one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { type Doing, meet, onStage, type Stage, serviceOf } from '../../support/faults.ts'
import { complaintsAbout } from '../../support/outcome-oracle.ts'
import { openBlackHole } from '../../support/raw-server.ts'
import { runAction } from '../../support/run-process.ts'

const root = new URL('../../..', import.meta.url).pathname

type Child = ReturnType<typeof spawn>

/** Does it as soon as that many requests have arrived. */
const whenArrived =
  (requests: number, strike: (child: Child) => void) =>
  (child: Child, stage: Stage): void => {
    const timer = setInterval(() => {
      if (stage.arrived().length < requests) return
      clearInterval(timer)
      strike(child)
    }, 5)
    child.once('exit', () => clearInterval(timer))
  }

/** Strikes while the nth request is under way, which takes its time. */
const struck = (doing: Doing, nth: number, signal: NodeJS.Signals, inputs: Readonly<Record<string, string>> = {}) =>
  meet(doing, undefined, {
    prepare: ({ emulator }) => emulator.addFault({ nth, effect: { kind: 'delay', ms: 400 } }),
    onStart: whenArrived(nth, (child) => child.kill(signal)),
    inputs,
    settleMs: 500,
  })

describe.concurrent('R6: a signal', () => {
  const aYear = { operation: 'usage-cost', period: 'last-365-days' }

  it.each<[NodeJS.Signals, Doing, number, string, number]>([
    ['SIGINT', 'read', 1, 'pass', 0],
    ['SIGTERM', 'create', 1, 'pass', 1],
    ['SIGINT', 'update', 1, 'cancelled', 0],
    ['SIGTERM', 'update', 2, 'pass', 0],
    // biome-ignore lint/complexity/useMaxParams: one column of the table each
  ])('%s at a %s, request %i: what is under way ends, nothing new is sent', async (signal, doing, nth, said, more) => {
    const { met, ran } = await struck(doing, nth, signal)
    expect(met).toMatchObject({ exitCode: 130, said, more })
    expect(met.methods.split(' ')).toHaveLength(nth)
    expect(ran.outputs.get('status')).toBe(said === 'cancelled' ? 'error' : said)
    expect(ran.result).toMatchObject({ status: ran.outputs.get('status') })
  })

  it('in the middle of many requests, sends none of those that wait', async () => {
    const { met } = await struck('read a cost', 1, 'SIGINT', { ...aYear, budget: '' })
    expect(met).toMatchObject({ exitCode: 130, said: 'cancelled' })
    expect(met.methods.split(' ').length).toBeLessThan(12)
  })

  it('ends a wait for the rate limit at once', async () => {
    const trouble = { effect: { kind: 'rate-limited', headers: { 'retry-after': '300' } } } as const
    const onStart = whenArrived(1, (child) => setTimeout(() => child.kill('SIGTERM'), 500))
    const { met, ran } = await meet('create', trouble, { onStart })
    expect(met).toMatchObject({ exitCode: 130, said: 'cancelled', methods: 'POST', more: 0 })
    expect(ran.ending?.activeMs).toBeLessThan(5000)
  })

  it('ends a handshake that hangs, and the report is still written', async () => {
    const hole = await openBlackHole()
    const { met, ran } = await meet('create', undefined, {
      url: `http://127.0.0.1:${hole.port}`,
      onStart: (child) => child.stdout?.once('data', () => setTimeout(() => child.kill('SIGINT'), 1000)),
    })
    await hole.close()
    expect(met).toMatchObject({ exitCode: 130, said: 'cancelled' })
    expect(ran.summary).toContain('create-alert')
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })
})

it('a shell that gave its place to the command line hands signals on by itself', async () => {
  await onStage({ effect: { kind: 'delay', ms: 400 } }, {}, async (stage) => {
    const flags = Object.entries(connectionTo(stage.url)).map(([name, value]) => `--${name} ${value}`)
    const line = `exec "${process.execPath}" "${root}lib/cli.js" list-sources ${flags.join(' ')}`
    const child = spawn('bash', ['-c', line], { env: { PATH: process.env.PATH }, stdio: 'ignore' })
    whenArrived(1, () => child.kill('SIGTERM'))(child, stage)
    const [code] = (await once(child, 'exit')) as [number | null]
    expect(code).toBe(130)
    expect(stage.arrived()).toHaveLength(1)
  })
})

describe.concurrent('a runner that kills', () => {
  it.each(['before', 'after'] as const)(
    'leaves nothing twice when it struck %s the create was done, and the next run looks first',
    async (act) => {
      await onStage(undefined, {}, async (stage) => {
        stage.emulator.addFault({ match: { method: 'POST' }, act, effect: { kind: 'hang' } })
        const inputs = { ...connectionTo(stage.url), ...creation, 'if-exists': 'skip' }
        const before = serviceOf(stage).alerts.length
        const strike = whenArrived(2, (child) => child.kill('SIGKILL'))
        const killed = await runAction({ inputs, onStart: (child) => strike(child, stage) })
        expect(killed).toMatchObject({ exitCode: null, outputs: new Map() })
        const again = await runAction({ inputs })
        expect(complaintsAbout(again)).toEqual([])
        expect(again.outputs.get('changed')).toBe(act === 'after' ? 'false' : 'true')
        expect(serviceOf(stage).alerts).toHaveLength(before + 1)
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
  'dashboard-id': '65f5e4a35eedc0de0000000c',
  'tile-id': '65f5e4a35eedc0de0000000e',
  'webhook-id': '65f5e4a35eedc0de00000009',
  threshold: '5',
  interval: '1h',
  name: 'Killed',
}
