// Every fifth request fails, in some way or other: apply, run again until it has nothing to do, always gets there.
import { describe, expect, it } from 'vitest'
import { WatchkeeperError } from '../../src/core/errors.ts'
import type { Fault } from '../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { randomFrom } from '../support/random.ts'
import { seeds } from '../support/seeds.ts'
import { shop, tile } from '../support/shop-declaration.ts'
import { duplicateMarkersIn, rememberState, type SiteFiles, stateOf, unownedIn, withSite } from '../support/site.ts'

const emulator = useEmulator()

const failures: readonly Pick<Fault, 'act' | 'effect'>[] = [
  ...(['before', 'after'] as const).flatMap((act) => [
    { act, effect: { kind: 'reset' } as const },
    { act, effect: { kind: 'truncate' } as const },
    { act, effect: { kind: 'status', status: 500 } as const },
    { act, effect: { kind: 'status', status: 502 } as const },
    { act, effect: { kind: 'html' } as const },
  ]),
  { act: 'after', effect: { kind: 'body', text: '{"result":{"id":5}}' } },
  { effect: { kind: 'rate-limited' } },
  { effect: { kind: 'status', status: 503, headers: { 'retry-after': '1' } } },
]

function failEveryFifth(seed: number): void {
  const random = randomFrom(seed)
  for (let nth = 1; nth <= 400; nth++) {
    if (random() >= 0.2) continue
    const failure = failures[Math.floor(random() * failures.length)]
    if (failure !== undefined) emulator().addFault({ nth, ...failure })
  }
}

const alert = (dashboard: string, name: string, more: object = {}) => ({
  name: `${dashboard} ${name}`,
  dashboard,
  tile: name,
  threshold: 1,
  interval: '5m',
  channel: { type: 'webhook', webhookId: serviceOf(emulator()).webhooks[0]?.id },
  ...more,
})

const firstFiles = (): SiteFiles => ({
  'a.json': {
    dashboards: { shop, old: { ...shop, name: 'Old' } },
    alerts: { a: alert('shop', 'A'), b: alert('shop', 'B'), c: alert('old', 'A'), d: alert('old', 'B') },
  },
})

/** Of everything one: created, updated, replaced, deleted. */
const otherFiles = (): SiteFiles => ({
  'a.json': {
    dashboards: {
      shop: { ...shop, tiles: [tile('A', 8), tile('C', 4, { displayType: 'markdown', markdown: 'C' })] },
      fresh: { ...shop, name: 'Fresh' },
    },
    alerts: {
      a: alert('shop', 'A', { threshold: 2 }),
      b: alert('fresh', 'B'),
      c: alert('fresh', 'A'),
      e: alert('fresh', 'A', { name: 'New' }),
    },
  },
})

const maxRuns = 8

type Run = 'done' | 'not yet' | 'refused'

const runOnce = (files: SiteFiles): Promise<Run> =>
  withSite(emulator(), 'neutral', async ({ apply }): Promise<Run> => {
    try {
      const { objects, isPlanWrong } = await apply(files, { prune: true })
      if (isPlanWrong) return 'refused'
      return objects.every(({ outcome }) => outcome === 'unchanged') ? 'done' : 'not yet'
    } catch (thrown) {
      // A run that could not even make its plan.
      if (thrown instanceof WatchkeeperError && thrown.kind !== 'bug') return 'not yet'
      throw thrown
    }
  })

/** What is wrong at the end, or was on the way there; empty when all is well. */
async function runUntilDone(files: SiteFiles, unowned: string): Promise<readonly string[]> {
  for (let run = 1; run <= maxRuns; run++) {
    const came = await runOnce(files)
    if (came === 'refused') return [`run ${run} refused`]
    if (duplicateMarkersIn(emulator()).length > 0) return [`run ${run} made ${duplicateMarkersIn(emulator())} twice`]
    if (unownedIn(emulator()) !== unowned) return [`run ${run} touched what is not its own`]
    if (came === 'done') return []
  }
  return [`not done after ${maxRuns} runs`]
}

describe('apply reaches the state of a run without failures although every fifth request fails', () => {
  it.each([
    { what: 'creates all objects although every fifth request fails', count: 20, files: firstFiles, before: undefined },
    { what: 'makes changes of every kind although every fifth request fails', count: 50, files: otherFiles, before: firstFiles },
  ])(
    '$what',
    async ({ count, files, before }) => {
      const wanted = files()
      if (before !== undefined) await runOnce(before())
      const restore = rememberState(emulator())
      const unowned = unownedIn(emulator())
      await runUntilDone(wanted, unowned)
      const state = stateOf(emulator())
      for (const seed of seeds(count)) {
        restore()
        failEveryFifth(seed)
        expect([seed, await runUntilDone(wanted, unowned), stateOf(emulator())]).toEqual([seed, [], state])
      }
    },
    120_000,
  )
})
