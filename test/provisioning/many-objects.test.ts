import { expect, it } from 'vitest'
import { useEmulator } from '../support/emulator.ts'
import { emptyPlan, storeOf, withSite } from '../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const tile = (name: string, x: number) => ({
  name,
  x,
  y: 0,
  w: 12,
  h: 4,
  config: { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count', where: `tile:${name}` }] },
})

it('a plan of 1,000 alerts on 50 dashboards without a change is six requests at most, and as fast as people wait', async () => {
  const store = storeOf(emulator())
  store.alerts = []
  const channel = { type: 'webhook', webhook: 'oncall' }
  const dashboards = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`dashboard-${i}`, { name: `Dashboard ${i}`, tiles: [tile('A', 0), tile('B', 12)] }]),
  )
  const alerts = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => {
      const target = { dashboard: `dashboard-${i % 50}`, tile: i % 2 === 0 ? 'A' : 'B' }
      return [`alert-${i}`, { name: `Alert ${i}`, ...target, threshold: i, interval: '5m', channel }]
    }),
  )
  await withSite(emulator(), 'clickhouse-cloud', async (site) => {
    const files = { 'many.json': { dashboards, alerts } }
    expect(await site.apply(files)).toMatchObject({ toCreate: 1050, changed: true })
    const before = emulator().requests.length
    const started = process.cpuUsage()
    expect(await site.plan(files)).toMatchObject({ ...emptyPlan, unchanged: 1050 })
    const { user, system } = process.cpuUsage(started)
    expect(emulator().requests.length - before).toBeLessThanOrEqual(6)
    // The server of the test works in the same process.
    expect((user + system) / 1e6).toBeLessThan(3)
  })
}, 120_000)
