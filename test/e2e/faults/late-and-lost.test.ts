// Rows 12, 13, 25 and 26 of the fault matrix: what is done later than it is answered, lists that mislead, clocks that are wrong.
import { describe, expect, it } from 'vitest'
import { ids } from '../../support/emulator.ts'
import { meet, type Stage, serviceOf } from '../../support/faults.ts'

describe.concurrent('rows 12 and 13: done, and the answer says otherwise or is lost', () => {
  it.each([0, 300, 1500])('a create that is carried out %i ms after a 504 is there once', async (ms) => {
    const { met } = await meet('create', { effect: { kind: 'late-commit', ms } }, { settleMs: ms + 500 })
    expect(met).toEqual({ exitCode: 1, said: 'may-exist', methods: 'POST GET', more: 1, complaints: [] })
  })

  it('an update that is carried out late as well as at once leaves what was wanted', async () => {
    const { met, stage } = await meet('update', { effect: { kind: 'late-commit', ms: 300 } }, { settleMs: 500 })
    expect(met).toEqual({ exitCode: 0, said: 'pass', methods: 'GET PUT GET PUT', more: 0, complaints: [] })
    expect(serviceOf(stage).alerts.filter(({ threshold }) => threshold === 4711)).toHaveLength(1)
  })
})

describe.concurrent('row 25: a list that may mislead', () => {
  const aThousand = (stage: Stage): void => {
    const service = serviceOf(stage)
    const [alert] = service.alerts
    if (alert === undefined) throw new Error('the shop has changed')
    service.alerts = Array.from({ length: 1001 }, (_, i) => ({ ...alert, id: i.toString(16).padStart(24, '0'), name: `Alert ${i}` }))
  }

  it('a list as long as a page does not pass, because there may be more', async () => {
    const { met, ran } = await meet('read', undefined, { prepare: aThousand, inputs: { operation: 'list-alerts' } })
    expect(met).toMatchObject({ exitCode: 0, said: 'warn', methods: 'GET', complaints: [] })
    expect(ran.outputs.get('count')).toBe('1000')
  })

  it('nothing is created by a list that may be incomplete', async () => {
    const { met, ran } = await meet('create', undefined, { prepare: aThousand, inputs: { 'if-exists': 'skip' } })
    expect(met).toEqual({ exitCode: 1, said: 'conflict', methods: 'GET', more: 0, complaints: [] })
    expect(ran.outputs.get('failure-reason')).toContain('The list of alerts may not be complete')
  })

  it('what is gone between reading and writing is an error, and no new thing', async () => {
    const { met, ran } = await meet('update', { effect: { kind: 'status', status: 404 } })
    expect(met).toEqual({ exitCode: 1, said: 'not-found', methods: 'GET PUT', more: 0, complaints: [] })
    expect(ran.outputs.get('failure-reason')).toContain(`/alerts/${ids.alert} `)
  })
})

describe.concurrent('R2 (row 26): the clock of the runner is wrong', () => {
  const aDay = 86_400_000
  const at = (offsetMs: number): string => new Date(Date.now() + offsetMs).toISOString()

  it.each([-aDay, aDay])('a wait in seconds is as long as ever, %i ms off', async (offsetMs) => {
    const trouble = { effect: { kind: 'rate-limited', headers: { 'retry-after': '1' } } } as const
    const { met, ran } = await meet('read', trouble, { preload: { startAt: at(offsetMs) } })
    expect(met).toMatchObject({ exitCode: 0, said: 'pass', methods: 'GET GET', complaints: [] })
    expect(ran.stdout).toContain('Trying again in 1.0 s')
  })

  it.each([-aDay, aDay])('a wait until a date counts from the date of the answer, %i ms off', async (offsetMs) => {
    const headers = { 'retry-after': new Date(Date.now() + 5000).toUTCString() }
    const { met, ran } = await meet('read', { effect: { kind: 'rate-limited', headers } }, { preload: { startAt: at(offsetMs) } })
    expect(met).toMatchObject({ exitCode: 0, said: 'pass', methods: 'GET GET', complaints: [] })
    expect(ran.stdout).toMatch(/Trying again in [1-5]\.0 s/)
  })

  it.each([-aDay, aDay])('a jump of %i ms during a wait changes nothing', async (byMs) => {
    const trouble = { effect: { kind: 'rate-limited', headers: { 'retry-after': '2' } } } as const
    const { met, ran } = await meet('create', trouble, { preload: { jump: { afterMs: 800, byMs } } })
    expect(met).toEqual({ exitCode: 0, said: 'pass', methods: 'POST POST', more: 1, complaints: [] })
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })
})
