// W3: two applies at once. Nothing can stop the second one, so that it must be seen: the run that creates later fails and names both ids.
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { WriteApi } from '../../../src/platform/api/client.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, storesNothing, useEmulator } from '../../support/emulator.ts'
import { createRace } from '../../support/races.ts'
import { errorRules, errors, errorsIn, outcomes, shop, tile } from '../../support/shop-declaration.ts'
import { duplicateMarkersIn, emptyPlan, type SiteFiles, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const files = () => ({
  'a.json': {
    dashboards: { shop, other: { name: 'Other', tags: ['x'], tiles: [tile('A')] } },
    alerts: {
      errors: {
        name: 'Errors',
        dashboard: 'shop',
        tile: 'A',
        threshold: 1,
        interval: '5m',
        channel: { type: 'webhook', webhookId: serviceOf(emulator()).webhooks[0]?.id },
      },
    },
  },
})

const apply = () => withSite(emulator(), 'clickhouse-cloud', (site) => site.apply(files()))

const idsOfDoubles = (): readonly string[] => {
  const doubles = new Set(duplicateMarkersIn(emulator()))
  const { dashboards, alerts } = serviceOf(emulator())
  const hasDouble = (texts: readonly (string | null)[]): boolean => texts.some((text) => [...doubles].some((mark) => text?.includes(mark)))
  return [...dashboards.filter(({ tags }) => hasDouble(tags)), ...alerts.filter(({ note }) => hasDouble([note]))].map(({ id }) => id)
}

it('two runs that start up to 20 ms apart notice each other', () =>
  forEachEntry(
    [0, 20],
    async (ms) => {
      const both = await Promise.all([apply(), wait(ms).then(apply)])
      const ids = idsOfDoubles()
      const said = both
        .flatMap(errorsIn)
        .map(({ message }) => message)
        .join('\n')
      for (const id of ids) expect(said).toContain(id)
      expect(both.flatMap(errorRules).every((rule) => rule === 'duplicate-marker')).toBe(true)
      // Nothing is deleted because of it, and later runs report it, too.
      const before = stateOf(emulator())
      const later = await withSite(emulator(), 'clickhouse-cloud', (site) => site.plan(files(), { prune: true }))
      const saidLater = errorsIn(later)
        .map(({ message }) => message)
        .join('\n')
      for (const id of ids) expect(saidLater).toContain(id)
      const again = await apply()
      if (ids.length > 0) expect([new Set(errorRules(again)), again.changed]).toEqual([new Set(['held']), false])
      else expect(again).toMatchObject(emptyPlan)
      expect(stateOf(emulator())).toEqual(before)
    },
    { before: () => emulator().reset() },
  ))

it('W3: reports in both runs an object that two runs created at the same time', async () => {
  // The first answer to each list is held back until both have asked.
  for (const path of ['/dashboards', '/alerts', '/sources'])
    emulator().addFault({ match: { method: 'GET', path }, times: 2, effect: { kind: 'delay', ms: 150 } })
  const both = await Promise.all([apply(), apply()])
  expect(both.map(outcomes)).toEqual(Array(2).fill({ shop: 'created', other: 'created', errors: 'created' }))
  expect(both.map((result) => errorRules(result).length > 0)).toContain(true)
  expect(idsOfDoubles()).toHaveLength(6)
})

describe('a run that waits before it creates', () => {
  // The client waits for no limit of its own here.
  const unlimited = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1_000_000, windowMs: 1000 } })
  const page = 'docs/help.md#two-runs-at-the-same-time'
  const dashboards = { shop, other: { name: 'Other', tags: ['x'], tiles: [tile('A')] } }
  const content = { 'a.json': { dashboards, alerts: { errors } } }

  /** The first run waits before its nth write, in which time the second one does all of its work. */
  async function late(nth: number, contentOfSecond: SiteFiles = content) {
    const { clock, through } = createRace()
    let writes = 0
    const slow = (api: WriteApi): WriteApi => {
      const delayed = through({ waitMs: () => (++writes === nth ? 15_000 : 0), latencyMs: () => 1 })(api)
      return { ...through({ waitMs: () => 0, latencyMs: () => 1 })(api), write: delayed.write }
    }
    const steady = through({ waitMs: () => 0, latencyMs: () => 1 })
    const first = withSite({ url: unlimited().url, through: slow }, 'clickhouse-cloud', (site) => site.apply(content), clock)
    await clock.sleep(1000)
    const at = { url: unlimited().url, through: steady }
    const second = await withSite(at, 'clickhouse-cloud', (site) => site.apply(contentOfSecond), clock)
    return { first: await first, second }
  }

  it('W3: reports what it created later than another run, and stops before it creates more by a list older than ten seconds', async () => {
    const { first, second } = await late(1)
    expect(outcomes(second)).toEqual({ shop: 'created', other: 'created', errors: 'created' })
    expect(errorRules(second)).toEqual([])
    expect(outcomes(first)).toEqual({ shop: 'created', other: 'failed', errors: 'skipped' })
    const [shopId, otherId] = second.objects.map(({ id }) => id)
    expect(first.objects[1]?.message).toContain(`Another run created this dashboard at the same time (${otherId})`)
    expect(first.objects[1]?.message).toContain(page)
    expect(first).toMatchObject({ changed: true, stopped: { kind: 'other-run', message: 'another run applies the same project' } })
    expect(errorRules(first)).toEqual(['duplicate-marker'])
    for (const id of [shopId, first.objects[0]?.id]) expect(errorsIn(first)[0]?.message).toContain(id)
    expect(duplicateMarkersIn(unlimited())).toHaveLength(1)
  })

  it('goes on where the other one created other objects', async () => {
    const { first, second } = await late(1, { 'b.json': { dashboards: { another: { ...shop, name: 'Another' } } } })
    expect(outcomes(second)).toEqual({ another: 'created' })
    expect(outcomes(first)).toEqual({ shop: 'created', other: 'created', errors: 'created' })
    expect(errorRules(first)).toEqual([])
  })
})

describe('W1: a create that a gateway stores and refuses with 429 is not repeated blindly', () => {
  it('finds a create that was stored and refused, and does not repeat it, when the server asks to come back at once or later', async () => {
    for (const retryAfter of ['0', '1']) {
      emulator().reset()
      const effect = { kind: 'status', status: 429, headers: { 'retry-after': retryAfter } } as const
      // The validations of the dashboards come first.
      for (const [path, nth] of [
        ['/dashboards', 3],
        ['/alerts', 1],
      ] as const)
        emulator().addFault({ match: { method: 'POST', path }, nth, act: 'after', effect })
      const applied = await apply()
      expect([outcomes(applied), errorRules(applied)], retryAfter).toEqual([{ shop: 'created', other: 'created', errors: 'created' }, []])
      expect(duplicateMarkersIn(emulator()), retryAfter).toEqual([])
      expect(emulator().requests.filter((one) => one.method === 'POST' && !storesNothing(one))).toHaveLength(3)
      expect(await apply(), retryAfter).toMatchObject(emptyPlan)
    }
  })
})
