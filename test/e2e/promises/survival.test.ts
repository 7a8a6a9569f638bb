// R1: reads outlive what passes, wait a random part of a doubling time, and say so once for each time.
import { describe, expect, it } from 'vitest'
import { meet } from '../../support/faults.ts'

describe.concurrent('R1: a read outlives what passes', () => {
  const troubles = (stage: Parameters<NonNullable<NonNullable<Parameters<typeof meet>[2]>['prepare']>>[0]): void => {
    stage.emulator.addFault({ effect: { kind: 'status', status: 503, body: '{"error":"busy"}' } })
    stage.emulator.addFault({ nth: 2, effect: { kind: 'reset' } })
    stage.emulator.addFault({ nth: 3, effect: { kind: 'truncate' } })
  }

  it.each([
    [0, ['0.0 s', '0.0 s', '0.0 s']],
    [0.5, ['0.3 s', '0.5 s', '1.0 s']],
    [0.999, ['0.5 s', '1.0 s', '2.0 s']],
  ])('with luck of %d, and says once for each time how long it waits and why', async (luck, waits) => {
    const { met, ran } = await meet('read', undefined, { preload: { luck }, prepare: troubles })
    expect(met).toEqual({ exitCode: 0, said: 'pass', methods: 'GET GET GET GET', more: 0, complaints: [] })
    const said = ran.stdout.split('\n').filter((line) => line.startsWith('Trying again'))
    expect(said).toEqual([
      `Trying again in ${waits[0]} (attempt 1 of 5): status 503, busy`,
      `Trying again in ${waits[1]} (attempt 2 of 5): connection closed before an answer (ECONNRESET)`,
      expect.stringMatching(`^Trying again in ${waits[2]} \\(attempt 3 of 5\\): status 200, the answer is not JSON at character \\d+: `),
    ])
  })

  it.each([2, 4])('as often as max-attempts says: %i', async (attempts) => {
    const trouble = { effect: { kind: 'status', status: 500 } } as const
    const failed = await meet('read', trouble, { times: 99, inputs: { 'max-attempts': String(attempts) } })
    expect(failed.met).toMatchObject({ exitCode: 1, said: 'server', methods: Array(attempts).fill('GET').join(' '), complaints: [] })
    const passed = await meet('read', trouble, { times: attempts - 1, inputs: { 'max-attempts': String(attempts) } })
    expect(passed.met).toMatchObject({ exitCode: 0, said: 'pass' })
  })
})
