// What is done later than it is answered, lists that mislead, clocks that are wrong.
import { describe, expect, it } from 'vitest'
import { ids, serviceOf } from '../../support/emulator.ts'
import { runWithFailure, type TestApi } from '../../support/faults.ts'

describe.concurrent('W1: a write that the server carries out after an error leaves one object, as wanted', () => {
  it.each([0, 300, 1500])('leaves one object when the server carries out a create %i ms after a 504', async (ms) => {
    const { outcome } = await runWithFailure('create', { effect: { kind: 'late-commit', ms } }, { settleMs: ms + 500 })
    expect(outcome).toEqual({ exitCode: 4, conclusion: 'may-exist', methods: 'POST GET', added: 1, problems: [] })
  })

  it('leaves the wanted object when the server carries out an update twice, late and at once', async () => {
    const { outcome, testApi } = await runWithFailure('update', { effect: { kind: 'late-commit', ms: 300 } }, { settleMs: 500 })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET PUT GET PUT', added: 0, problems: [] })
    expect(serviceOf(testApi.emulator).alerts.filter(({ threshold }) => threshold === 4711)).toHaveLength(1)
  })
})

describe.concurrent('a list that may be incomplete decides nothing', () => {
  const aThousand = (testApi: TestApi): void => {
    const service = serviceOf(testApi.emulator)
    const [alert] = service.alerts
    if (alert === undefined) throw new Error('the shop has changed')
    service.alerts = Array.from({ length: 1001 }, (_, i) => ({ ...alert, id: i.toString(16).padStart(24, '0'), name: `Alert ${i}` }))
  }

  it('warns about a list as long as a page, because there may be more objects', async () => {
    const { outcome, ran } = await runWithFailure('read', undefined, { prepare: aThousand, inputs: { operation: 'list-alerts' } })
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'warn', methods: 'GET GET', problems: [] })
    expect(ran.outputs.get('count')).toBe('1000')
  })

  it('creates nothing based on a list that may be incomplete', async () => {
    const { outcome, ran } = await runWithFailure('create', undefined, { prepare: aThousand, inputs: { 'if-exists': 'skip' } })
    expect(outcome).toEqual({ exitCode: 1, conclusion: 'conflict', methods: 'GET', added: 0, problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain('The list of alerts may be incomplete')
  })

  it('fails an update of an object that is gone since it was read, and creates none', async () => {
    const { outcome, ran } = await runWithFailure('update', { effect: { kind: 'status', status: 404 } })
    expect(outcome).toEqual({ exitCode: 1, conclusion: 'not-found', methods: 'GET PUT', added: 0, problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain(`/alerts/${ids.alert} `)
  })
})

describe.concurrent('R2: a wrong clock of the runner does not change how long a wait takes', () => {
  const aDay = 86_400_000
  const at = (offsetMs: number): string => new Date(Date.now() + offsetMs).toISOString()

  it.each([-aDay, aDay])('waits the given seconds with a clock that is %i ms off', async (offsetMs) => {
    const failure = { effect: { kind: 'rate-limited', headers: { 'retry-after': '1' } } } as const
    const { outcome, ran } = await runWithFailure('read', failure, { preload: { startAt: at(offsetMs) } })
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', methods: 'GET GET', problems: [] })
    expect(ran.stdout).toContain('Trying again in 1.0 s')
  })

  it.each([-aDay, aDay])('counts a wait until a date from the date of the answer, with a clock that is %i ms off', async (offsetMs) => {
    const headers = { 'retry-after': new Date(Date.now() + 5000).toUTCString() }
    const { outcome, ran } = await runWithFailure(
      'read',
      { effect: { kind: 'rate-limited', headers } },
      { preload: { startAt: at(offsetMs) } },
    )
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', methods: 'GET GET', problems: [] })
    expect(ran.stdout).toMatch(/Trying again in [1-5]\.0 s/)
  })

  it.each([-aDay, aDay])('waits as long when the clock jumps by %i ms during the wait', async (byMs) => {
    const failure = { effect: { kind: 'rate-limited', headers: { 'retry-after': '2' } } } as const
    const { outcome, ran } = await runWithFailure('create', failure, { preload: { jump: { afterMs: 800, byMs } } })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'POST POST', added: 1, problems: [] })
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })
})
