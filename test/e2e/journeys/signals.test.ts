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

const surfaces = ['action', 'command line'] as const

/** The exit code of an apply whose nth request with the method meets the effect. */
const exitCodeOf = (surface: (typeof surfaces)[number], ending: Ending): Promise<number | null> =>
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

describe.concurrent.each(surfaces)('R6: the exit code of an apply that ends early says whether anything was written: %s', (surface) => {
  const once = ['SIGTERM'] as const
  const twice = ['SIGINT', 'SIGTERM'] as const
  const effect = { kind: 'hang' } as const

  it.each<[string, number, string, number, readonly NodeJS.Signals[]]>([
    ['a signal before the first write', 130, 'GET', 1, once],
    ['a signal during the first create, whose outcome stays unknown', 4, 'POST', 1, once],
    ['a signal after one object was written', 4, 'POST', 2, once],
    ['a second signal before the first write', 130, 'GET', 1, twice],
    ['a second signal during the first create', 4, 'POST', 1, twice],
    ['a second signal after one object was written', 4, 'POST', 2, twice],
    // biome-ignore lint/complexity/useMaxParams: one column of the table each
  ])('an apply that ends after %s exits with %i', async (_when, code, method, nth, signals) => {
    expect(await exitCodeOf(surface, { method, nth, signals, effect })).toBe(code)
  })

  it('an apply exits with 130 after a signal during a create that the server rejects', async () => {
    const slow = { kind: 'delay', ms: 500 } as const
    expect(await exitCodeOf(surface, { method: 'POST', nth: 1, signals: once, effect: slow, content: onMissingWebhook })).toBe(130)
  })

  it('an apply exits with 4 after a signal while the last object is written, because it is not verified', async () => {
    const slow = { kind: 'delay', ms: 500 } as const
    const content = { dashboards: { one: shop } }
    expect(await exitCodeOf(surface, { method: 'POST', nth: 1, signals: once, effect: slow, content })).toBe(4)
  })

  it.each([
    ['before the first write', 1, 'GET', 1],
    ['during the first create', 4, 'POST', 1],
    ['after one object was written', 4, 'POST', 2],
  ] as const)('an apply whose time limit ends %s exits with %i', async (_when, code, method, nth) => {
    expect(await exitCodeOf(surface, { method, nth, effect, inputs: { 'timeout-seconds': '3' } })).toBe(code)
  })
})
