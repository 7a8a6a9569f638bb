// Rows 12, 13, 25 and 26 of the fault matrix: what is done later than it is answered, lists that mislead, clocks that are wrong.
import { describe, expect, it } from 'vitest'
import { ids, serviceOf } from '../../support/emulator.ts'
import { runWithFailure, type TestApi } from '../../support/faults.ts'

describe.concurrent('rows 12 and 13: done, and the answer says otherwise or is lost', () => {
  it.each([0, 300, 1500])('a create that is carried out %i ms after a 504 is there once', async (ms) => {
    const { outcome } = await runWithFailure('create', { effect: { kind: 'late-commit', ms } }, { settleMs: ms + 500 })
    expect(outcome).toEqual({ exitCode: 1, conclusion: 'may-exist', methods: 'POST GET', added: 1, problems: [] })
  })

  it('an update that is carried out late as well as at once leaves what was wanted', async () => {
    const { outcome, testApi } = await runWithFailure('update', { effect: { kind: 'late-commit', ms: 300 } }, { settleMs: 500 })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET PUT GET PUT', added: 0, problems: [] })
    expect(serviceOf(testApi.emulator).alerts.filter(({ threshold }) => threshold === 4711)).toHaveLength(1)
  })
})

describe.concurrent('row 25: a list that may mislead', () => {
  const aThousand = (testApi: TestApi): void => {
    const service = serviceOf(testApi.emulator)
    const [alert] = service.alerts
    if (alert === undefined) throw new Error('the shop has changed')
    service.alerts = Array.from({ length: 1001 }, (_, i) => ({ ...alert, id: i.toString(16).padStart(24, '0'), name: `Alert ${i}` }))
  }

  it('a list as long as a page does not pass, because there may be more', async () => {
    const { outcome, ran } = await runWithFailure('read', undefined, { prepare: aThousand, inputs: { operation: 'list-alerts' } })
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'warn', methods: 'GET GET', problems: [] })
    expect(ran.outputs.get('count')).toBe('1000')
  })

  it('nothing is created by a list that may be incomplete', async () => {
    const { outcome, ran } = await runWithFailure('create', undefined, { prepare: aThousand, inputs: { 'if-exists': 'skip' } })
    expect(outcome).toEqual({ exitCode: 1, conclusion: 'conflict', methods: 'GET', added: 0, problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain('The list of alerts may be incomplete')
  })

  it('what is gone between reading and writing is an error, and no new thing', async () => {
    const { outcome, ran } = await runWithFailure('update', { effect: { kind: 'status', status: 404 } })
    expect(outcome).toEqual({ exitCode: 1, conclusion: 'not-found', methods: 'GET PUT', added: 0, problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain(`/alerts/${ids.alert} `)
  })
})

describe.concurrent('R2 (row 26): the clock of the runner is wrong', () => {
  const aDay = 86_400_000
  const at = (offsetMs: number): string => new Date(Date.now() + offsetMs).toISOString()

  it.each([-aDay, aDay])('a wait in seconds is as long as ever, %i ms off', async (offsetMs) => {
    const failure = { effect: { kind: 'rate-limited', headers: { 'retry-after': '1' } } } as const
    const { outcome, ran } = await runWithFailure('read', failure, { preload: { startAt: at(offsetMs) } })
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', methods: 'GET GET', problems: [] })
    expect(ran.stdout).toContain('Trying again in 1.0 s')
  })

  it.each([-aDay, aDay])('a wait until a date counts from the date of the answer, %i ms off', async (offsetMs) => {
    const headers = { 'retry-after': new Date(Date.now() + 5000).toUTCString() }
    const { outcome, ran } = await runWithFailure(
      'read',
      { effect: { kind: 'rate-limited', headers } },
      { preload: { startAt: at(offsetMs) } },
    )
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', methods: 'GET GET', problems: [] })
    expect(ran.stdout).toMatch(/Trying again in [1-5]\.0 s/)
  })

  it.each([-aDay, aDay])('a jump of %i ms during a wait changes nothing', async (byMs) => {
    const failure = { effect: { kind: 'rate-limited', headers: { 'retry-after': '2' } } } as const
    const { outcome, ran } = await runWithFailure('create', failure, { preload: { jump: { afterMs: 800, byMs } } })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'POST POST', added: 1, problems: [] })
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })
})
