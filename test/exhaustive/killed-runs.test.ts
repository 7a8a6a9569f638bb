// W2: killed at any request, before or after the server acted, the next run ends where an undisturbed one would have.
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { spread } from '../support/seeds.ts'
import { twentyObjects } from '../support/shop-declaration.ts'
import { duplicateMarkersIn, emptyPlan, rememberState, type SiteFiles, stateOf, withSite } from '../support/site.ts'

const emulator = useEmulator()

const run = (files: SiteFiles) => withSite(emulator(), 'neutral', (site) => site.apply(files, { prune: true }))

/** Ends as a process does that is killed: nothing is sent any more, not even to find out. */
async function runUntil(nth: number, act: 'before' | 'after', files: SiteFiles): Promise<void> {
  const arrived = emulator().requests.length + nth
  emulator().addFault({ nth, act, effect: { kind: 'hang' } })
  await withSite(emulator(), 'neutral', async ({ apply, session }) => {
    const running = apply(files, { prune: true }).catch(() => undefined)
    while (emulator().requests.length < arrived) await wait(1)
    session.stop()
    session.abort()
    await running
  })
  emulator().clearFaults()
}

/** Requests of an undisturbed run, and what it leaves behind. */
async function undisturbed(files: SiteFiles) {
  const before = emulator().requests.length
  const { objects } = await run(files)
  return { count: emulator().requests.length - before, state: stateOf(emulator()), outcomes: objects.map(({ outcome }) => outcome) }
}

const createsOnly = () => ({ 'a.json': twentyObjects(serviceOf(emulator()).webhooks[0]?.id ?? '') })

/** Updates, alerts that must be created again because their tile goes, objects that go, and new ones. */
function mixed(): SiteFiles {
  const { dashboards, alerts } = twentyObjects(serviceOf(emulator()).webhooks[0]?.id ?? '')
  const { first, second, third } = dashboards
  const tiles = first?.tiles.map((tile) =>
    tile.name === 'A' ? { ...tile, name: 'New', config: { ...tile.config, displayType: 'number' } } : tile,
  )
  const changed = Object.entries(alerts).flatMap(([key, alert], i) => {
    if (alert.dashboard === 'second') return []
    const onGone = alert.dashboard === 'first' && alert.tile === 'A'
    return [[key, { ...alert, ...(onGone && { tile: i % 2 ? 'New' : 'B' }), ...(i % 4 === 0 && { threshold: 99 }) }] as const]
  })
  const more = { ...alerts['alert-0'], name: 'More', dashboard: 'fourth', tile: 'B' }
  return {
    'a.json': {
      dashboards: { first: { ...first, tiles }, third, fourth: { ...second, name: 'Fourth' } },
      alerts: { ...Object.fromEntries(changed), more },
    },
  }
}

describe.each(['before', 'after'] as const)('killed at each request, %s the server acted', (act) => {
  it('creates each of twenty objects once after runs that were killed', async () => {
    const files = createsOnly()
    const restore = rememberState(emulator())
    const whole = await undisturbed(files)
    expect(whole.outcomes).toEqual(Array(20).fill('created'))
    for (const nth of spread(whole.count)) {
      restore()
      await runUntil(nth, act, files)
      await run(files)
      expect([nth, duplicateMarkersIn(emulator()), stateOf(emulator())]).toEqual([nth, [], whole.state])
    }
  }, 60_000)

  it('completes a plan of every kind of change after runs that were killed', async () => {
    await run(createsOnly())
    const restore = rememberState(emulator())
    const files = mixed()
    const whole = await undisturbed(files)
    expect(new Set(whole.outcomes)).toEqual(new Set(['created', 'updated', 'replaced', 'deleted', 'unchanged']))
    for (const nth of spread(whole.count)) {
      restore()
      await runUntil(nth, act, files)
      await run(files)
      expect([nth, duplicateMarkersIn(emulator()), stateOf(emulator())]).toEqual([nth, [], whole.state])
    }
    expect(await withSite(emulator(), 'neutral', (site) => site.plan(files, { prune: true }))).toMatchObject(emptyPlan)
  }, 60_000)
})
