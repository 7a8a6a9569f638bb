// R1: reads outlive what passes, wait a random part of a doubling time, and say so once for each time.
import { describe, expect, it } from 'vitest'
import { runWithFailure } from '../../support/faults.ts'

describe.concurrent('R1: a read is repeated until a temporary failure has passed', () => {
  /** The request of `read`, as the log names it. */
  const listRequest = 'GET …/services/c0ffee00…/observability/sources'
  const troubles = (testApi: Parameters<NonNullable<NonNullable<Parameters<typeof runWithFailure>[2]>['prepare']>>[0]): void => {
    testApi.emulator.addFault({ effect: { kind: 'status', status: 503, body: '{"error":"busy"}' } })
    testApi.emulator.addFault({ nth: 2, effect: { kind: 'reset' } })
    testApi.emulator.addFault({ nth: 3, effect: { kind: 'truncate' } })
  }

  it.each([
    [0, ['0.0 s', '0.0 s', '0.0 s']],
    [0.5, ['0.3 s', '0.5 s', '1.0 s']],
    [0.999, ['0.5 s', '1.0 s', '2.0 s']],
  ])('repeats a read with luck of %d, and reports once for each wait how long it takes and why', async (luck, waits) => {
    const { outcome, ran } = await runWithFailure('read', undefined, { luck, prepare: troubles })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET GET GET GET', added: 0, problems: [] })
    const notes = ran.stdout.split('\n').filter((line) => line.startsWith('Trying again'))
    expect(notes).toEqual([
      `Trying again in ${waits[0]} (attempt 1 of 5): ${listRequest}: status 503, busy`,
      `Trying again in ${waits[1]} (attempt 2 of 5): ${listRequest}: the connection was closed before an answer (ECONNRESET)`,
      expect.stringMatching(`^Trying again in ${waits[2]} \\(attempt 3 of 5\\): ${listRequest}: status 200, the answer is not JSON: `),
    ])
  })

  it.each([2, 4])('repeats a read as often as max-attempts says: %i', async (attempts) => {
    const failure = { effect: { kind: 'status', status: 500 } } as const
    const failed = await runWithFailure('read', failure, { times: 99, inputs: { 'max-attempts': String(attempts) } })
    expect(failed.outcome).toMatchObject({
      exitCode: 1,
      conclusion: 'server',
      methods: Array(attempts).fill('GET').join(' '),
      problems: [],
    })
    const passed = await runWithFailure('read', failure, { times: attempts - 1, inputs: { 'max-attempts': String(attempts) } })
    expect(passed.outcome).toMatchObject({ exitCode: 0, conclusion: 'pass' })
  })
})
