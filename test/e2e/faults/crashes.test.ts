import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { basicPair } from '../../support/emulator.ts'
import { runWithFailure, type TestAction } from '../../support/faults.ts'
import { startRawServer } from '../../support/raw-server.ts'
import { type Preload, runCli } from '../../support/run-process.ts'

describe.concurrent('V3: an exception in any part of a run is an error with outputs, result file and summary; a builtin that breaks', () => {
  it.each<[string, TestAction, NonNullable<Preload['breaks']>]>([
    ['while secrets are masked', 'read', { builtin: 'encodeURIComponent', atCall: 1 }],
    ['while input is read', 'create', { builtin: 'Object.hasOwn', atCall: 1, afterFirstWord: true }],
    ['while a session is opened', 'read', { builtin: 'AbortSignal.any', atCall: 1, afterFirstWord: true }],
    ['while an answer is parsed', 'read a cost', { builtin: 'JSON.parse', atCall: 1, afterFirstWord: true }],
    ['while a report is made', 'read a cost', { builtin: 'JSON.stringify', atCall: 1, afterFirstWord: true }],
  ])('reports an exception %s as an error', async (_, action, breaks) => {
    const { outcome, ran } = await runWithFailure(action, undefined, { preload: { breaks } })
    expect(outcome).toMatchObject({ exitCode: 1, problems: expect.not.arrayContaining(['there is no summary']) })
    expect(ran.outputs.get('status')).toBe('error')
    expect(ran.outputs.get('failure-reason')).not.toBe('')
    expect(ran.result).toMatchObject({ status: 'error' })
    expect(ran.summary).toContain('did not complete')
  })
})

// Each run is searched for its secrets in everything that leaves the process.
describe.concurrent('V3, S1: an uncaught exception is an error, without the secrets in its text', () => {
  it.each(['exception', 'rejection'] as const)('reports an uncaught %s in the action without secrets', async (as) => {
    const message = `sent ${basicPair} for ${demo.apiKeySecret}`
    const { ran } = await runWithFailure('read a cost', { effect: { kind: 'hang' } }, { preload: { crash: { afterMs: 700, as, message } } })
    expect(ran.exitCode).toBe(1)
    expect(ran.outputs.get('failure-reason')).toMatch(/^Internal error: sent \*\*\* for \*\*\*\./)
    expect(ran.result).toMatchObject({ status: 'error', error: { kind: 'bug' } })
  })

  const key = 'key-of-a-server-0123456789'
  it('prints no key on the command line after an uncaught exception', async () => {
    const server = await startRawServer(() => undefined)
    try {
      const url = ['--profile', 'hyperdx', '--api-url', `http://127.0.0.1:${server.port}`]
      const message = `sent Bearer ${key}`
      const ran = await runCli(
        ['list-sources', '--json', ...url],
        { WATCHKEEPER_API_KEY: key },
        {
          // A busy machine takes seconds to the first request.
          preload: { crash: { afterMs: 4000, as: 'exception', message } },
        },
      )
      expect(server.requests).not.toEqual([])
      expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Internal error: sent Bearer ***. This is a bug') })
      expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'error', error: { kind: 'bug' } })
    } finally {
      await server.close()
    }
  })
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
