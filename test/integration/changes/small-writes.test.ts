// Small writes fit into one window of the rate limit: ten requests in ten seconds, where an eleventh waits for the next window.
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { createVirtualClock, type VirtualClock, watchRequests } from '../../support/clocks.ts'
import { ids, inputsFor, serviceOf } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { outcomes, slow, tile, watching } from '../../support/shop-declaration.ts'
import { type Site, withSite } from '../../support/site.ts'

const windowMs = 10_000

// Time passes only while a run waits. A request takes none.
const requests = watchRequests()
let clock: VirtualClock
let emulator: Emulator

beforeEach(async () => {
  clock = createVirtualClock(Date.parse('2026-11-11T03:12:10Z'), () => requests.pause())
  emulator = await startEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 10, windowMs }, now: clock.now })
})
afterEach(() => emulator.close())
afterAll(() => requests.end())

const site = (use: (site: Site) => Promise<void>): Promise<void> => withSite(emulator, 'clickhouse-cloud', use, clock)

/** Runs it at the start of a window. Returns the requests as `PUT alerts`, and how long it waited. */
async function count(run: () => Promise<unknown>): Promise<{ readonly sent: readonly string[]; readonly waitedMs: number }> {
  await clock.sleep(windowMs + 1000)
  const [before, startedMs] = [emulator.requests.length, clock.elapsedMs()]
  await run()
  const sent = emulator.requests.slice(before).map(({ method, path }) => `${method} ${path.split('clickstack/').at(-1)}`)
  return { sent, waitedMs: clock.elapsedMs() - startedMs }
}

const alerts = (names: readonly string[], fields: object) =>
  Object.fromEntries(names.map((name) => [name, { name, ...watching, ...fields }]))

const objects = {
  'a dashboard and an alert': (threshold: number) => ({
    dashboards: { shop: { name: 'Shop', tags: [`t${threshold}`], tiles: [tile('A')] } },
    alerts: alerts(['errors'], { dashboard: 'shop', tile: 'A', threshold }),
  }),
  'two saved searches and an alert': (threshold: number) => ({
    savedSearches: { slow: { ...slow, where: `a:${threshold}` }, fast: { ...slow, name: 'Fast', where: `b:${threshold}` } },
    alerts: alerts(['many'], { savedSearch: 'slow', threshold }),
  }),
  'three alerts': (threshold: number) => ({
    alerts: alerts(['a', 'b', 'c'], { dashboard: { id: ids.dashboard }, tile: { id: ids.tile }, threshold }),
  }),
}

describe('apply of few objects', () => {
  it.each(Object.entries(objects))(
    'W18: creates and updates %s within ten requests each, without a wait for the rate limit',
    (_, declare) =>
      site(async ({ apply, plan }) => {
        for (const [threshold, outcome] of [
          [1, 'created'],
          [2, 'updated'],
        ] as const) {
          const files = { 'a.json': declare(threshold) }
          const { sent, waitedMs } = await count(async () => {
            const applied = await apply(files, { prune: true })
            expect(applied.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
            expect(new Set(Object.values(outcomes(applied)))).toEqual(new Set([outcome]))
            expect(applied.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
          })
          expect(sent.length, sent.join(', ')).toBeLessThanOrEqual(10)
          expect(waitedMs).toBe(0)
          // The lists after the last write verify it.
          const lastWrite = sent.findLastIndex((one) => /^(?:POST|PUT) (?!dashboards\/validate)/.test(one))
          expect(sent.slice(lastWrite + 1).toSorted()).toEqual(
            Object.keys(declare(threshold))
              .map((section) => `GET ${paths[section]}`)
              .toSorted(),
          )
          expect((await plan(files)).changed).toBe(false)
        }
      }),
  )

  const paths: Readonly<Record<string, string>> = { dashboards: 'dashboards', savedSearches: 'saved-searches', alerts: 'alerts' }

  it('W8: reads every object again before its update where the window has room for that', () =>
    site(async ({ apply }) => {
      const declare = (threshold: number) => ({ 'a.json': objects['three alerts'](threshold) })
      await apply(declare(1))
      await clock.sleep(windowMs + 1000)
      const one = { 'a.json': { alerts: { ...objects['three alerts'](1).alerts, a: objects['three alerts'](2).alerts.a } } }
      const { sent } = await count(() => apply(one))
      const id = serviceOf(emulator).alerts.find(({ name }) => name === 'a')?.id
      expect(sent.slice(5)).toEqual([`GET alerts/${id}`, `PUT alerts/${id}`, 'GET alerts'])
    }))
})

describe('silence-alerts', () => {
  it('W18: silences eight alerts within ten requests, without a wait, and changes nothing else', async () => {
    const service = serviceOf(emulator)
    const [first] = service.alerts
    if (first === undefined) throw new Error('the demo has no alerts')
    service.alerts.push(...Array.from({ length: 8 }, (_, i) => ({ ...first, id: `65f5e4a35eedc0deffff000${i}`, name: `Many ${i}` })))
    const before = structuredClone(service.alerts)
    const { sent, waitedMs } = await count(async () => {
      const inputs = { ...inputsFor(emulator, 'clickhouse-cloud'), operation: 'silence-alerts', select: 'name~Many', for: '20m' }
      const ran = await invokeText({ inputs, clock })
      expect(ran.document).toMatchObject({ status: 'pass', count: 8, changed: true })
    })
    expect(sent.length, sent.join(', ')).toBeLessThanOrEqual(10)
    expect(waitedMs).toBe(0)
    const rest = ({ scheduleStartAt: _, scheduleOffsetMinutes: __, updatedAt: ___, ...fields }: (typeof before)[number]) => fields
    expect(service.alerts.map(rest)).toEqual(before.map(rest))
    expect(service.alerts.filter(({ scheduleStartAt }) => scheduleStartAt != null)).toHaveLength(8)
  })
})
