import { expect, it } from 'vitest'
import { asOptions, ids, inputsFor, methodsOf, useEmulator } from '../../support/emulator.ts'
import { useGitHub } from '../../support/github-server.ts'
import { runGitHubStep } from '../../support/notify.ts'
import { commandsOf, runAction, runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: 'off' })
const github = useGitHub()

type Child = Parameters<NonNullable<Parameters<typeof runAction>[0]['onStart']>>[0]

/** Sends the signals, 300 ms apart, as soon as `hasArrived`. */
const signalWhen =
  (hasArrived: () => boolean, ...signals: readonly NodeJS.Signals[]) =>
  (child: Child): void => {
    const timer = setInterval(() => {
      if (!hasArrived()) return
      clearInterval(timer)
      for (const [i, signal] of signals.entries()) setTimeout(() => child.kill(signal), i * 300)
    }, 10)
    child.once('exit', () => clearInterval(timer))
  }

const hasRequest = (): boolean => emulator().requests.length > 0

it('a signal lets the running request end, writes the report, exits as canceled, and tells neither GitHub nor a webhook', async () => {
  emulator().addFault({ effect: { kind: 'delay', ms: 300 } })
  const ran = await runGitHubStep(github(), {
    // Nothing listens at the webhook: an attempt would be a warning.
    inputs: {
      ...inputsFor(emulator()),
      ...{ operation: 'list-sources', comment: 'always', 'notify-on': 'always', 'notify-url': 'https://127.0.0.1:9/services/none' },
    },
    onStart: signalWhen(hasRequest, 'SIGTERM'),
  })
  expect([ran.exitCode, ran.outputs.get('count'), methodsOf(emulator())]).toEqual([130, '4', ['GET']])
  expect(ran.stdout).not.toContain('::warning')
  expect(github().received).toEqual([])
})

it('R6: a create without an answer is given up, and the report says that it may exist', async () => {
  // A run that waited for the answer would report what was created.
  emulator().addFault({ effect: { kind: 'delay', ms: 15_000 } })
  const alert = {
    ...{ name: 'Hangs', dashboard: ids.dashboard, tile: ids.tile, threshold: 1, interval: '1h' },
    channel: { type: 'webhook', webhookId: ids.webhook },
  }
  const ran = await runAction({
    inputs: { ...inputsFor(emulator()), operation: 'create-alert', alert: JSON.stringify(alert) },
    onStart: signalWhen(hasRequest, 'SIGINT'),
  })
  expect(ran.exitCode).toBe(4)
  expect(ran.outputs.get('failure-reason')).toContain('The server may still have applied it')
  expect(methodsOf(emulator())).toEqual(['POST'])
})

it('R6: a second signal ends the command line at once, with the exit code that says whether anything may be written', async () => {
  const { flags, variables } = asOptions(inputsFor(emulator()))
  for (const [args, method, code] of [
    [['list-sources'], 'GET', 130],
    [['delete-alert', ids.alert, '--yes'], 'DELETE', 4],
  ] as const) {
    emulator().reset()
    emulator().addFault({ match: { method }, effect: { kind: 'hang' } })
    const onStart = signalWhen(() => methodsOf(emulator()).includes(method), 'SIGINT', 'SIGTERM')
    // Without the report that a run writes after one signal.
    expect(await runCli([...args, ...flags], variables, { onStart })).toEqual({ exitCode: code, stdout: '', stderr: '' })
  }
})

it('a signal while GitHub hangs ends the run in time, with the verdict written', async () => {
  const isAsked = (): boolean => github().calls().at(-1)?.startsWith('GET /repos') === true
  github().addFault({ on: 'GET /repos', times: 9, effect: { kind: 'hang' } })
  const ran = await runGitHubStep(github(), {
    inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-7-days', budget: '0', comment: 'always' },
    onStart: signalWhen(isAsked, 'SIGINT'),
  })
  expect([ran.exitCode, ran.outputs.get('status'), ran.result?.status]).toEqual([130, 'fail', 'fail'])
  // Who cancels a run knows that the comment is not written.
  expect(commandsOf(ran)).toEqual(['error'])
  expect(ran.summary).toContain('### ❌')
})
