import type { ChildProcess } from 'node:child_process'
import { expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { basicPair } from '../../support/emulator.ts'
import { runWithFailure, type TestAction } from '../../support/faults.ts'
import { startRawServer } from '../../support/raw-server.ts'
import { type Preload, runCli } from '../../support/run-process.ts'

it('V3: an exception in any part of a run is an error with outputs, result file and summary', () =>
  forEachEntry<[string, TestAction, NonNullable<Preload['breaks']>]>(
    [
      ['while secrets are masked', 'read', { builtin: 'encodeURIComponent', atCall: 1 }],
      ['while a session is opened', 'read', { builtin: 'AbortSignal.any', atCall: 1, afterFirstWord: true }],
      ['while a report is made', 'read a cost', { builtin: 'JSON.stringify', atCall: 1, afterFirstWord: true }],
    ],
    async (_, action, breaks) => {
      const { outcome, ran } = await runWithFailure(action, undefined, { preload: { breaks } })
      expect(outcome).toMatchObject({ exitCode: 1, problems: expect.not.arrayContaining(['there is no summary']) })
      expect(ran.outputs.get('status')).toBe('error')
      expect(ran.outputs.get('failure-reason')).not.toBe('')
      expect(ran.result).toMatchObject({ status: 'error' })
      expect(ran.summary).toContain('did not complete')
    },
    { atOnce: 3 },
  ))

// Each run is searched for its secrets in everything that leaves the process.
it('V3, S1: an uncaught exception in the action is an error, without the secrets in its text', async () => {
  const message = `sent ${basicPair} for ${demo.apiKeySecret}`
  const crash = { at: 'SIGUSR2', message } as const
  const { ran } = await runWithFailure(
    'read a cost',
    { effect: { kind: 'hang' } },
    {
      preload: { crash },
      onStart: (child, { arrived }) => strikeWhen(() => arrived().length > 0, child),
    },
  )
  expect(ran.exitCode).toBe(1)
  expect(ran.outputs.get('failure-reason')).toMatch(/^Internal error: sent \*\*\* for \*\*\*\./)
  expect(ran.result).toMatchObject({ status: 'error', error: { kind: 'bug' } })
})

it('V3, S1: an uncaught exception on the command line is an error, without the key in its text', async () => {
  const key = 'key-of-a-server-0123456789'
  const server = await startRawServer(() => undefined)
  const url = ['--profile', 'hyperdx', '--api-url', `http://127.0.0.1:${server.port}`]
  const ran = await runCli(
    ['list-sources', '--json', ...url],
    { WATCHKEEPER_API_KEY: key },
    {
      preload: { crash: { at: 'SIGUSR2', message: `sent Bearer ${key}` } },
      onStart: (child) => strikeWhen(() => server.requests.length > 0, child),
    },
  )
  await server.close()
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Internal error: sent Bearer ***. This is a bug') })
  expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'error', error: { kind: 'bug' } })
})

it('a process that runs out of memory does not pass', async () => {
  const { outcome } = await runWithFailure(
    'read',
    { effect: { kind: 'body', text: `[${'{},'.repeat(1_900_000)}{}]` } },
    {
      times: 9,
      nodeArguments: ['--max-old-space-size=40'],
      preload: {},
    },
  )
  // Aborted, by itself or by the shell that says so.
  expect([null, 134]).toContain(outcome.exitCode)
  expect(outcome.conclusion).toBe('nothing')
})

/** Makes the process throw as soon as that is true. */
function strikeWhen(isDue: () => boolean, child: ChildProcess): void {
  const timer = setInterval(() => {
    if (!isDue()) return
    clearInterval(timer)
    child.kill('SIGUSR2')
  }, 5)
  child.once('exit', () => clearInterval(timer))
}
