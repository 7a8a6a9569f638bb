import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { apply as applyOperation } from '../../../src/changes/apply.ts'
import { type Fault, startEmulator } from '../../../src/emulator/index.ts'
import { systemClock } from '../../../src/platform/core/clock.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { createScaledClock, createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, storesNothing, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { twentyObjects } from '../../support/shop-declaration.ts'
import { duplicateMarkersIn, emptyPlan, withSite } from '../../support/site.ts'

// A limit that allows all of it: within a narrow one fewer objects are under way.
const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 10_000 } })

const files = () => ({ 'a.json': twentyObjects(serviceOf(emulator()).webhooks[0]?.id ?? '') })

const posts = (): readonly string[] =>
  emulator().requests.flatMap((one) => (one.method === 'POST' && !storesNothing(one) ? [one.path] : []))

/** How many creates are under way when the server answers none of them from the nth on. */
async function countUnanswered(fault: Pick<Fault, 'nth' | 'match'>): Promise<number> {
  emulator().addFault({ times: Number.POSITIVE_INFINITY, ...fault, effect: { kind: 'hang' } })
  let count = 0
  await withSite(emulator(), 'clickhouse-cloud', async ({ apply, session }) => {
    const running = apply(files()).catch(() => undefined)
    for (let quietMs = 0; quietMs < 100; quietMs += 10) {
      await wait(10)
      if (count > 0 && posts().length === count) continue
      count = posts().length
      quietMs = 0
    }
    session.stop()
    session.abort()
    await running
  })
  return posts().filter((path) => path.endsWith(fault.match?.path ?? '')).length
}

describe('apply writes independent objects at the same time', () => {
  it('sends the first write alone: the key may not be allowed to write', async () => {
    // The validations of the three dashboards come first.
    expect(await countUnanswered({ match: { method: 'POST' }, nth: 4 })).toBe(1)
  })

  it('sends the first alert alone: the server may not store its ownership marker', async () => {
    expect(await countUnanswered({ match: { method: 'POST', path: '/alerts' }, nth: 1 })).toBe(1)
  })

  it('apply has at most ten alerts under way after the first one', async () => {
    expect(await countUnanswered({ match: { method: 'POST', path: '/alerts' }, nth: 2 })).toBe(1 + 10)
  })

  it('writes no alert before every dashboard was answered', async () => {
    await withSite(emulator(), 'clickhouse-cloud', (site) => site.apply(files()))
    const kinds = posts().map((path) => path.split('/').at(-1))
    expect(kinds).toEqual([...Array.from({ length: 3 }, () => 'dashboards'), ...Array.from({ length: 17 }, () => 'alerts')])
  })

  it('creates nothing twice when ten answers are lost at once, and the next run finishes', async () => {
    emulator().addFault({ match: { method: 'POST', path: '/alerts' }, nth: 2, times: 10, act: 'after', effect: { kind: 'reset' } })
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const first = await site.apply(files())
      expect(first.objects.filter(({ outcome }) => outcome === 'unknown' || outcome === 'failed')).toEqual([])
      await site.apply(files())
      expect(duplicateMarkersIn(emulator())).toEqual([])
      expect(await site.plan(files())).toMatchObject(emptyPlan)
    })
  })

  it('W6: sends no write that still waits for the rate limit after the API began to fail, or to be sent again, once the run has stopped', {
    tags: 'slow',
  }, async () => {
    const match = { method: 'POST', path: '/alerts' }
    emulator().addFault({ match, nth: 2, times: 4, effect: { kind: 'status', status: 429, headers: { 'retry-after': '1' } } })
    emulator().addFault({ match, nth: 6, effect: { kind: 'status', status: 401 } })
    const ran = await invokeText({
      clock: createScaledClock(20),
      inputs: { ...inputsFor(emulator()), operation: 'apply', project: 'shop/six', files: 'a.json' },
      files: { 'a.json': JSON.stringify(files()['a.json']) },
    })
    expect(ran.reason).toContain('stopped because')
    const names = emulator().requests.flatMap(({ method, path, body }) =>
      method === 'POST' && path.endsWith('/alerts') ? [(body as { name: string }).name] : [],
    )
    expect(names).toEqual([...new Set(names)])
  })
})

describe('apply within a narrow rate limit', () => {
  it('reads an object and writes it in the same window, because the write overwrites an edit made between them', {
    tags: 'slow',
  }, async () => {
    const windowMs = 10_000
    // With some limits, reads and writes fill each window by chance.
    for (const limit of [9, 10]) {
      const clock = createVirtualClock()
      const narrow = await startEmulator({ rateLimit: { limit, windowMs }, now: clock.now })
      const { dashboards, alerts } = twentyObjects(serviceOf(narrow).webhooks[0]?.id ?? '')
      const changed = Object.fromEntries(Object.entries(alerts).map(([key, alert]) => [key, { ...alert, threshold: 99 }]))
      const apply = (declared: object) =>
        invokeText({
          clock,
          inputs: { ...inputsFor(narrow), operation: 'apply', project: 'shop/six', files: 'a.json' },
          files: { 'a.json': JSON.stringify(declared) },
        })
      await apply({ dashboards, alerts })
      const before = narrow.requests.length
      await apply({ dashboards, alerts: changed })
      await narrow.close()
      const sent = narrow.requests.slice(before)
      const gapsMs = sent.flatMap(({ method, path, arrivedAtMs }) => {
        if (method !== 'PUT') return []
        const read = sent.findLast((one) => one.method === 'GET' && path.startsWith(one.path) && one.arrivedAtMs <= arrivedAtMs)
        return [arrivedAtMs - (read?.arrivedAtMs ?? 0)]
      })
      expect(gapsMs).toHaveLength(17)
      // Without a second read, the last one of a window waits for the next window.
      expect([limit, ...gapsMs.filter((ms) => ms > windowMs / 2)]).toEqual([limit])
    }
  })
})

describe('a run that is canceled before a request is sent again', () => {
  it('reports that a delete may have been applied', async () => {
    const { dashboards, alerts } = files()['a.json']
    await withSite(emulator(), 'clickhouse-cloud', (site) => site.apply(files()))
    const fault = {
      match: { method: 'DELETE' },
      act: 'after',
      effect: { kind: 'status', status: 503, headers: { 'retry-after': '30' } },
    } as const
    emulator().addFault(fault)
    const { 'alert-0': _, ...others } = alerts
    const result = await withSite(
      emulator(),
      'clickhouse-cloud',
      async ({ apply, session }) => {
        const running = apply({ 'a.json': { dashboards, alerts: others } }, { prune: true })
        while (!emulator().requests.some(({ method, status }) => method === 'DELETE' && status !== undefined)) await wait(5)
        await wait(50)
        session.stop()
        return running
      },
      systemClock,
    )
    expect(result.objects.find(({ action }) => action === 'delete')?.outcome).toBe('unknown')
    expect(toPlainText(applyOperation.report(result).headline)).toContain('(1 unknown)')
    expect(serviceOf(emulator()).alerts.some(({ name }) => name === 'Alert 0')).toBe(false)
  })
})
