import { describe, expect, it } from 'vitest'
import { ids, inputsFor, methodsOf, useEmulator } from '../../support/emulator.ts'
import { runAction } from '../../support/run-process.ts'

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
  it('the request under way comes to its end, the report is written, and the exit code says cancelled', async () => {
    emulator().addFault({ effect: { kind: 'delay', ms: 300 } })
    const ran = await runAction({ inputs: { ...inputsFor(emulator()), operation: 'list-sources' }, onStart: signalAtRequest(signal) })
    expect(ran.exitCode).toBe(130)
    expect(ran.outputs.get('count')).toBe('4')
    expect(methodsOf(emulator())).toEqual(['GET'])
  })
})

it('nothing is sent any more once the first signal came', async () => {
  emulator().addFault({ times: 5, effect: { kind: 'status', status: 503, headers: { 'retry-after': '1' } } })
  const ran = await runAction({ inputs: { ...inputsFor(emulator()), operation: 'list-sources' }, onStart: signalAtRequest('SIGINT') })
  expect(ran.exitCode).toBe(130)
  expect(ran.outputs.get('status')).toBe('error')
  expect(ran.result).toMatchObject({ error: { kind: 'cancelled' } })
  expect(methodsOf(emulator())).toEqual(['GET'])
})

it('a create that hangs is given up within six seconds, and the report says that it may exist', async () => {
  emulator().addFault({ effect: { kind: 'hang' } })
  const inputs = {
    operation: 'create-alert',
    'dashboard-id': ids.dashboard,
    'tile-id': ids.tile,
    threshold: '1',
    interval: '1h',
    'webhook-id': ids.webhook,
  }
  const started = performance.now()
  const ran = await runAction({ inputs: { ...inputsFor(emulator()), ...inputs }, onStart: signalAtRequest('SIGINT') })
  expect(performance.now() - started).toBeLessThan(6500)
  expect(ran.exitCode).toBe(130)
  expect(ran.outputs.get('failure-reason')).toContain('The server may still have applied it')
  expect(methodsOf(emulator())).toEqual(['POST'])
})

it('a second signal ends at once', async () => {
  emulator().addFault({ effect: { kind: 'hang' } })
  const started = performance.now()
  const ran = await runAction({
    inputs: { ...inputsFor(emulator()), operation: 'list-sources' },
    onStart: signalAtRequest('SIGINT', 'SIGTERM'),
  })
  expect(ran.exitCode).toBe(130)
  expect(performance.now() - started).toBeLessThan(3000)
})
