import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { declareObjects } from '../../bench/declared-objects.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { emptyPlan, type SiteFiles, withSite } from '../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

function instancesFile(): SiteFiles {
  const file = parse(readFileSync(new URL('../../examples/instances/services.yml', import.meta.url), 'utf8'))
  file.instances = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`service-${i}`, { errors: i }]))
  return { 'services.yml': file }
}

it.each<[string, () => SiteFiles, number]>([
  ['files of 50 objects each', () => declareObjects(1000), 3],
  ['one file of instances', instancesFile, 2],
])(
  'a plan of 1,000 objects from %s is six requests at most, and as fast as people wait',
  { timeout: 120_000 },
  async (_, declare, limitSeconds) => {
    const files = declare()
    serviceOf(emulator()).alerts = []
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      expect(await site.apply(files)).toMatchObject({ toCreate: 1000, changed: true })
      const before = emulator().requests.length
      const started = process.cpuUsage()
      expect(await site.plan(files)).toMatchObject({ ...emptyPlan, unchanged: 1000 })
      const { user, system } = process.cpuUsage(started)
      expect(emulator().requests.length - before).toBeLessThanOrEqual(6)
      // The server of the test works in the same process.
      expect((user + system) / 1e6).toBeLessThan(limitSeconds)
    })
  },
)
