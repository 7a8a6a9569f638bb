import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../../src/emulator/index.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { twentyObjects } from '../../support/shop-declaration.ts'
import { duplicateMarkersIn, emptyPlan, withSite } from '../../support/site.ts'

const emulator = useEmulator()

const files = () => ({ 'a.json': twentyObjects(serviceOf(emulator()).webhooks[0]?.id ?? '') })

const posts = (): readonly string[] => emulator().requests.flatMap(({ method, path }) => (method === 'POST' ? [path] : []))

/** How many creates are under way when the server answers none of them from the nth on. */
async function countUnanswered(fault: Pick<Fault, 'nth' | 'match'>): Promise<number> {
  emulator().addFault({ times: Number.POSITIVE_INFINITY, ...fault, effect: { kind: 'hang' } })
  let count = 0
  await withSite(emulator(), 'neutral', async ({ apply, session }) => {
    const running = apply(files()).catch(() => undefined)
    for (let quietMs = 0; quietMs < 200; quietMs += 20) {
      await wait(20)
      if (posts().length === count) continue
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
    expect(await countUnanswered({ match: { method: 'POST' }, nth: 1 })).toBe(1)
  })

  it('has at most ten alerts under way', async () => {
    expect(await countUnanswered({ match: { method: 'POST', path: '/alerts' }, nth: 1 })).toBe(10)
  })

  it('writes no alert before every dashboard was answered', async () => {
    await withSite(emulator(), 'neutral', (site) => site.apply(files()))
    const kinds = posts().map((path) => path.split('/').at(-1))
    expect(kinds).toEqual([...Array.from({ length: 3 }, () => 'dashboards'), ...Array.from({ length: 17 }, () => 'alerts')])
  })

  it('creates nothing twice when ten answers are lost at once, and the next run finishes', async () => {
    emulator().addFault({ match: { method: 'POST', path: '/alerts' }, nth: 2, times: 10, act: 'after', effect: { kind: 'reset' } })
    await withSite(emulator(), 'neutral', async (site) => {
      const first = await site.apply(files())
      expect(first.objects.filter(({ outcome }) => outcome === 'unknown' || outcome === 'failed')).toEqual([])
      await site.apply(files())
      expect(duplicateMarkersIn(emulator())).toEqual([])
      expect(await site.plan(files())).toMatchObject(emptyPlan)
    })
  })

  it('sends nothing that still waits for the rate limit once five writes have failed', async () => {
    // Three lists, three dashboards and four alerts fit into the documented ten requests.
    emulator().addFault({ match: { method: 'POST' }, nth: 2, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 503 } })
    const ran = await invokeText({
      clock: createVirtualClock(Date.now()),
      inputs: { ...inputsFor(emulator()), operation: 'apply', project: 'shop/six', files: 'a.json' },
      files: { 'a.json': JSON.stringify(files()['a.json']) },
    })
    expect(ran.outputs.status).toBe('error')
    expect(posts().length).toBeLessThanOrEqual(1 + 5)
  })
})
