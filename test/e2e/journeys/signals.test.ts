import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Effect } from '../../../src/emulator/index.ts'
import { asOptions, ids, inputsFor, methodsOf, useEmulator } from '../../support/emulator.ts'
import { withTestApi } from '../../support/faults.ts'
import { runAction, runCli } from '../../support/run-process.ts'
import { shop } from '../../support/shop-declaration.ts'

const emulator = useEmulator()

type Child = Parameters<NonNullable<Parameters<typeof runAction>[0]['onStart']>>[0]

/** Sends a signal as soon as the request has arrived. */
const signalAtRequest =
  (...signals: readonly NodeJS.Signals[]) =>
  (child: Child): void => {
    const timer = setInterval(() => {
      if (emulator().requests.length === 0) return
      clearInterval(timer)
      for (const [i, signal] of signals.entries()) setTimeout(() => child.kill(signal), i * 300)
    }, 10)
  }

describe.each(['SIGINT', 'SIGTERM'] as const)('after %s', (signal) => {
  it('finishes the running request, writes the report, and exits as canceled', async () => {
    emulator().addFault({ effect: { kind: 'delay', ms: 300 } })
    const ran = await runAction({ inputs: { ...inputsFor(emulator()), operation: 'list-sources' }, onStart: signalAtRequest(signal) })
    expect(ran.exitCode).toBe(130)
    expect(ran.outputs.get('count')).toBe('4')
    expect(methodsOf(emulator())).toEqual(['GET'])
  })
})

it('sends nothing more after the first signal', async () => {
  emulator().addFault({ times: 5, effect: { kind: 'status', status: 503, headers: { 'retry-after': '1' } } })
  const ran = await runAction({ inputs: { ...inputsFor(emulator()), operation: 'list-sources' }, onStart: signalAtRequest('SIGINT') })
  expect(ran.exitCode).toBe(130)
  expect(ran.outputs.get('status')).toBe('error')
  expect(ran.result).toMatchObject({ error: { kind: 'canceled' } })
  expect(methodsOf(emulator())).toEqual(['GET'])
})

it('R6: a create that hangs is given up within six seconds, and the report says that it may exist', async () => {
  emulator().addFault({ effect: { kind: 'hang' } })
  const inputs = {
    operation: 'create-alert',
    alert: JSON.stringify({
      name: 'Hangs',
      dashboard: ids.dashboard,
      tile: ids.tile,
      threshold: 1,
      interval: '1h',
      channel: { type: 'webhook', webhookId: ids.webhook },
    }),
  }
  const started = performance.now()
  const ran = await runAction({ inputs: { ...inputsFor(emulator()), ...inputs }, onStart: signalAtRequest('SIGINT') })
  expect(performance.now() - started).toBeLessThan(6500)
  expect(ran.exitCode).toBe(4)
  expect(ran.outputs.get('failure-reason')).toContain('The server may still have applied it')
  expect(methodsOf(emulator())).toEqual(['POST'])
})

it('R6: a second signal ends at once', async () => {
  emulator().addFault({ effect: { kind: 'hang' } })
  const started = performance.now()
  const ran = await runAction({
    inputs: { ...inputsFor(emulator()), operation: 'list-sources' },
    onStart: signalAtRequest('SIGINT', 'SIGTERM'),
  })
  expect(ran.exitCode).toBe(130)
  expect(performance.now() - started).toBeLessThan(3000)
})

// Three dashboards: the first create is alone, so that a fault can be aimed at it or at the others.
const dashboards = { dashboards: { one: shop, two: { ...shop, name: 'Two' }, three: { ...shop, name: 'Three' } } }

const onMissingWebhook = {
  alerts: {
    lost: {
      name: 'Lost',
      dashboard: { id: ids.dashboard },
      tile: { id: ids.tile },
      threshold: 1,
      interval: '5m',
      channel: { type: 'webhook', webhookId: '000000000000000000000000' },
    },
  },
}

interface Ending {
  /** The first one comes as soon as that request has arrived, the second one a little later. */
  readonly signals?: readonly NodeJS.Signals[]
  readonly method: string
  readonly nth: number
  readonly effect: Effect
  readonly inputs?: Readonly<Record<string, string>>
  readonly content?: object
}

type Surface = 'action' | 'command line'

/** The exit code of an apply whose nth request with the method meets the effect. */
const exitCodeOf = (surface: Surface, ending: Ending): Promise<number | null> =>
  withTestApi(undefined, {}, async ({ emulator: own }) => {
    const { signals = [], method, nth, effect, inputs = {}, content = dashboards } = ending
    own.addFault({ match: { method }, nth, times: 10, effect })
    const onStart = (child: Child): void => {
      const timer = setInterval(() => {
        if (methodsOf(own).filter((one) => one === method).length < nth) return
        clearInterval(timer)
        for (const [i, signal] of signals.entries()) setTimeout(() => child.kill(signal), i * 300)
      }, 10)
      child.once('exit', () => clearInterval(timer))
    }
    const all = { ...inputsFor(own), project: 'shop/signals', files: 'a.json', ...inputs }
    const text = JSON.stringify(content)
    if (surface === 'action')
      return (await runAction({ inputs: { operation: 'apply', ...all }, files: { 'a.json': text }, onStart })).exitCode
    const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-signals-'))
    try {
      await writeFile(join(directory, 'a.json'), text)
      const { flags, variables } = asOptions(all)
      return (await runCli(['apply', '--yes', ...flags], variables, { directory, onStart })).exitCode
    } finally {
      await rm(directory, { recursive: true })
    }
  })

describe.concurrent('R6: the exit code of an apply that ends early says whether anything was written', () => {
  const once = ['SIGTERM'] as const
  const twice = ['SIGINT', 'SIGTERM'] as const
  const hang = { kind: 'hang' } as const
  const slow = { kind: 'delay', ms: 500 } as const

  it.each<[string, number, Surface, Ending]>([
    ['a signal before the first write', 130, 'action', { method: 'GET', nth: 1, signals: once, effect: hang }],
    ['a signal before the first write', 130, 'command line', { method: 'GET', nth: 1, signals: once, effect: hang }],
    ['a signal during the first create, whose outcome stays unknown', 4, 'action', { method: 'POST', nth: 1, signals: once, effect: hang }],
    ['a signal after one object was written', 4, 'command line', { method: 'POST', nth: 2, signals: once, effect: hang }],
    ['a second signal before the first write', 130, 'action', { method: 'GET', nth: 1, signals: twice, effect: hang }],
    ['a second signal during the first create', 4, 'command line', { method: 'POST', nth: 1, signals: twice, effect: hang }],
    ['a second signal after one object was written', 4, 'action', { method: 'POST', nth: 2, signals: twice, effect: hang }],
    [
      'a signal during a create that the server rejects',
      130,
      'action',
      { method: 'POST', nth: 1, signals: once, effect: slow, content: onMissingWebhook },
    ],
    [
      'a signal while the last object is written, which is not verified',
      4,
      'command line',
      { method: 'POST', nth: 1, signals: once, effect: slow, content: { dashboards: { one: shop } } },
    ],
  ])('an apply that ends after %s exits with %i: %s', async (_when, code, surface, ending) => {
    expect(await exitCodeOf(surface, ending)).toBe(code)
  })

  it.each<[string, number, Ending]>([
    ['before the first write', 1, { method: 'GET', nth: 1, effect: hang }],
    ['during the first create', 4, { method: 'POST', nth: 1, effect: hang }],
    ['after one object was written', 4, { method: 'POST', nth: 2, effect: hang }],
  ])('an apply whose time limit ends %s exits with %i', async (_when, code, ending) => {
    expect(await exitCodeOf('action', { ...ending, inputs: { 'timeout-seconds': '2' } })).toBe(code)
  })
})
