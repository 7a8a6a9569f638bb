import { expect, it } from 'vitest'
import { declareObjects } from '../../bench/declared-objects.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { emptyPlan, withSite } from '../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

it('a plan of 1,000 objects without a change is six requests at most, and as fast as people wait', async () => {
  serviceOf(emulator()).alerts = []
  await withSite(emulator(), 'clickhouse-cloud', async (site) => {
    const files = declareObjects(1000)
    expect(await site.apply(files)).toMatchObject({ toCreate: 1000, changed: true })
    const before = emulator().requests.length
    const started = process.cpuUsage()
    expect(await site.plan(files)).toMatchObject({ ...emptyPlan, unchanged: 1000 })
    const { user, system } = process.cpuUsage(started)
    expect(emulator().requests.length - before).toBeLessThanOrEqual(6)
    // The server of the test works in the same process.
    expect((user + system) / 1e6).toBeLessThan(3)
  })
}, 120_000)
