import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Effect, Emulator, Fault } from '../../src/emulator/index.ts'
import { WatchkeeperError } from '../../src/platform/core/errors.ts'
import { createScaledClock } from '../support/clocks.ts'
import { serviceOf, storesNothing, useEmulator } from '../support/emulator.ts'
import { randomFrom } from '../support/random.ts'
import { seeds, spread } from '../support/seeds.ts'
import { errors, shop, tile, twentyObjects } from '../support/shop-declaration.ts'
import { duplicateMarkersIn, emptyPlan, rememberState, type Site, type SiteFiles, stateOf, unownedIn, withSite } from '../support/site.ts'
import { circle } from '../support/source-declarations.ts'

// W2: killed at any request, before or after the server acted, the next run ends where an undisturbed one would have.

const emulator = useEmulator({ rateLimit: 'off' })

type Act = 'before' | 'after'

/** Runs against one service. `twinsIn` lists what it has twice. */
function runsOn(server: () => Emulator, site: <T>(use: (one: Site) => Promise<T>) => Promise<T>, twinsIn: () => readonly string[]) {
  const run = (files: SiteFiles) => site(({ apply }) => apply(files, { prune: true }))

  /** Requests of an undisturbed run, and what it leaves behind. */
  async function undisturbed(files: SiteFiles) {
    const before = server().requests.length
    const { objects } = await run(files)
    return { count: server().requests.length - before, state: stateOf(server()), outcomes: objects.map(({ outcome }) => outcome) }
  }

  /** Ends as a process does that is killed: nothing is sent any more, not even to find out. */
  async function runUntil(nth: number, act: Act, files: SiteFiles): Promise<void> {
    const arrived = server().requests.length + nth
    server().addFault({ nth, act, effect: { kind: 'hang' } })
    await site(async ({ apply, session }) => {
      const running = apply(files, { prune: true }).catch(() => undefined)
      while (server().requests.length < arrived) await wait(1)
      session.stop()
      session.abort()
      await running
    })
    server().clearFaults()
  }

  /** Kills a run at each request, and lets another one complete it. Returns what an undisturbed run does, and what went wrong. */
  async function killAndComplete(files: SiteFiles, act: Act) {
    const restore = rememberState(server())
    const whole = await undisturbed(files)
    const problems: unknown[] = []
    for (const nth of spread(whole.count)) {
      restore()
      await runUntil(nth, act, files)
      await run(files)
      const [twins, state] = [twinsIn(), stateOf(server())]
      if (twins.length > 0 || !isDeepStrictEqual(state, whole.state)) problems.push({ nth, twins, state })
    }
    const { changed } = await site(({ plan }) => plan(files, { prune: true }))
    return { outcomes: new Set(whole.outcomes), count: whole.outcomes.length, problems: changed ? [...problems, 'changed'] : problems }
  }

  return { run, undisturbed, killAndComplete }
}

const { run, killAndComplete } = runsOn(
  emulator,
  (use) => withSite(emulator(), 'clickhouse-cloud', use),
  () => duplicateMarkersIn(emulator()),
)

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
  it('W2: creates each of twenty objects once after runs that were killed', async () => {
    expect(await killAndComplete(createsOnly(), act)).toEqual({ outcomes: new Set(['created']), count: 20, problems: [] })
  }, 60_000)

  it('W2: completes a plan of every kind of change after runs that were killed', async () => {
    await run(createsOnly())
    const outcomes = new Set(['created', 'updated', 'replaced', 'deleted', 'unchanged'])
    expect(await killAndComplete(mixed(), act)).toMatchObject({ outcomes, problems: [] })
  }, 60_000)
})

/** Ways to lose the answer to a write. */
const effects: Readonly<Record<string, Pick<Fault, 'act' | 'effect'>>> = {
  'a reset before the server acts': { act: 'before', effect: { kind: 'reset' } },
  'a reset after the server acted': { act: 'after', effect: { kind: 'reset' } },
  'a reset in the headers': { act: 'after', effect: { kind: 'reset-in-headers' } },
  'a reset in the body': { act: 'after', effect: { kind: 'reset-in-body' } },
  'half an answer': { act: 'after', effect: { kind: 'truncate' } },
  'a 502 before': { act: 'before', effect: { kind: 'status', status: 502 } },
  'a 502 after': { act: 'after', effect: { kind: 'status', status: 502 } },
  'a 408 after': { act: 'after', effect: { kind: 'status', status: 408 } },
  'a page instead of an answer': { act: 'after', effect: { kind: 'html' } },
  'an answer that does not fit': { act: 'after', effect: { kind: 'body', text: '{"result": 5}' } },
}

// W1 and W2 for webhooks and sources: killed at any request, or with any answer lost, the next run ends where an undisturbed one would
// have: nothing twice, nothing left over.
describe('webhooks and sources', () => {
  const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

  const secrets = {
    WEBHOOK_ONE_URL: 'https://hooks.example.com/one/secret',
    WEBHOOK_ONE_TOKEN: 'Bearer onesecret',
    WEBHOOK_TWO_URL: 'https://hooks.slack.com/services/T/B/two-secret',
    WEBHOOK_THREE_URL: 'https://api.incident.io/v2/three-secret',
  }

  const site = <T>(use: (one: Site) => Promise<T>): Promise<T> => withSite({ url: emulator().url, secrets }, 'hyperdx', use)

  const webhooks = {
    one: {
      name: 'new-one',
      service: 'generic',
      urlFrom: 'WEBHOOK_ONE_URL',
      headersFrom: { Authorization: 'WEBHOOK_ONE_TOKEN' },
      body: '{}',
    },
    two: { name: 'new-two', service: 'slack', urlFrom: 'WEBHOOK_TWO_URL' },
    three: { name: 'new-three', service: 'incidentio', urlFrom: 'WEBHOOK_THREE_URL', body: '{"a": 1}' },
  }

  const alert = { ...errors, channel: { type: 'webhook', webhook: 'new-one' } }
  const tiles = shop.tiles.map((tile) => ({ ...tile, config: { ...tile.config, sourceId: { source: 'New traces' } } }))

  const created: SiteFiles = {
    'a.json': { sources: circle, webhooks, dashboards: { shop: { ...shop, tiles } }, alerts: { alert } },
  }

  /** Another name, another body, a webhook that goes, a new one, and another reference between sources. */
  const changed: SiteFiles = {
    'a.json': {
      sources: {
        ...circle,
        'new-metrics': { ...circle['new-metrics'], logSource: 'Logs' },
        more: { ...circle['new-sessions'], name: 'More' },
      },
      webhooks: {
        one: { ...webhooks.one, name: 'renamed', body: '{"b": 2}' },
        three: { ...webhooks.three, body: '{"c": 3}' },
        four: { name: 'new-four', service: 'slack', urlFrom: 'WEBHOOK_TWO_URL' },
      },
      dashboards: { shop: { ...shop, tiles } },
      alerts: { alert: { ...alert, channel: { type: 'webhook', webhook: 'renamed' } } },
    },
  }

  const twins = (): readonly string[] => {
    const { webhooks: hooks, sources } = serviceOf(emulator())
    const names = [...hooks.map(({ name }) => `webhook ${name}`), ...sources.map(({ kind, name }) => `${String(kind)} ${name}`)]
    return names.filter((name, i) => names.indexOf(name) !== i)
  }

  const { run, undisturbed, killAndComplete } = runsOn(emulator, site, twins)

  const plans = [
    ['creates', undefined, created, ['created']],
    ['updates, deletes and creates', created, changed, ['created', 'updated', 'marked', 'unchanged', 'deleted']],
  ] as const

  describe.each(['before', 'after'] as const)('killed at each request, %s the server acted', (act) => {
    it.each(plans)(
      'W2: a killed run is completed by the next one with %s',
      async (_, first, files, outcomes) => {
        if (first !== undefined) await run(first)
        expect(await killAndComplete(files, act)).toMatchObject({ outcomes: new Set(outcomes), problems: [] })
      },
      120_000,
    )
  })

  const lost = ['a reset before the server acts', 'a reset after the server acted', 'half an answer', 'a 502 after']
  const paths = ['/sources', '/webhooks']

  describe.each(Object.entries(effects).filter(([name]) => lost.includes(name)))('%s', (_, fault) => {
    it.each(paths)(
      'W1: a run that fails at any create or update of %s ends in the same run as an undisturbed one',
      async (path) => {
        const restore = rememberState(emulator())
        const whole = await undisturbed(created)
        for (const method of ['POST', 'PUT']) {
          const count = emulator().requests.filter((one) => one.method === method && one.path.includes(path)).length
          restore()
          for (const nth of spread(count)) {
            emulator().addFault({ match: { method, path }, nth, ...fault })
            const { objects } = await run(created)
            const others = objects.filter(({ outcome }) => outcome !== 'created').map(({ key, message }) => [key, message])
            expect([method, nth, others, twins(), stateOf(emulator())]).toEqual([method, nth, [], [], whole.state])
            expect(await site((one) => one.plan(created, { prune: true }))).toMatchObject(emptyPlan)
            restore()
          }
          await run(created)
        }
      },
      120_000,
    )
  })
})

// W1: one POST per object and run, unless the server certainly did not act.

const writesOf = (emulator: Emulator): number => emulator.requests.filter((one) => one.method === 'POST' && !storesNothing(one)).length

/** The validations of the three dashboards, which come before the first write. */
const validations = 3

describe('W1: a create without an answer is never repeated blindly', () => {
  it.each(Object.entries(effects))(
    'does not repeat any of twenty creates after %s',
    async (_name, fault) => {
      for (const nth of spread(20)) {
        emulator().reset()
        emulator().addFault({ match: { method: 'POST' }, nth: validations + nth, ...fault })
        await withSite(emulator(), 'clickhouse-cloud', async (site) => {
          const { objects } = await site.apply(createsOnly())
          expect(objects.filter(({ outcome }) => outcome !== 'created')).toEqual([])
          expect(duplicateMarkersIn(emulator())).toEqual([])
          expect(writesOf(emulator())).toBeLessThanOrEqual(fault.act === 'before' ? 21 : 20)
          // Five lists, validations, twenty creates, two lists to settle and review, one create again, and a list after each wait for the limit of the client.
          expect(emulator().requests.length).toBeLessThanOrEqual(5 + validations + 20 + 3 + 1 + 3)
          expect(await site.plan(createsOnly())).toMatchObject(emptyPlan)
        })
      }
    },
    60_000,
  )

  it('waits as long as a request may take, so that a server that acts late does not act twice', async () => {
    const late: Effect = { kind: 'late-commit', ms: 100 }
    for (const nth of [1, 3, 4, 20]) {
      emulator().reset()
      emulator().addFault({ match: { method: 'POST' }, nth: validations + nth, effect: late })
      await withSite(
        emulator(),
        'clickhouse-cloud',
        async (site) => {
          const { objects } = await site.apply(createsOnly())
          expect(objects.filter(({ outcome }) => outcome !== 'created')).toEqual([])
          expect([duplicateMarkersIn(emulator()), writesOf(emulator())]).toEqual([[], 20])
        },
        // Thirty seconds are three tenths of one.
        createScaledClock(100),
      )
    }
  }, 60_000)

  it('reports that an object may exist when its outcome stays unknown, and the next run repairs it', async () => {
    emulator().addFault({ match: { method: 'POST', path: '/alerts' }, times: 2, act: 'before', effect: { kind: 'status', status: 502 } })
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const all = createsOnly()['a.json']
      const one = { 'a.json': { ...all, alerts: { 'alert-0': all.alerts['alert-0'] } } }
      const { objects } = await site.apply(one)
      expect(objects.at(-1)).toMatchObject({ key: 'alert-0', outcome: 'unknown', message: expect.stringContaining('may have written it') })
      expect((await site.apply(one)).objects.at(-1)).toMatchObject({ outcome: 'created' })
      expect(duplicateMarkersIn(emulator())).toEqual([])
    })
  })
})

// Every fifth request fails, in some way or other: apply, run again until it has nothing to do, always gets there.
describe('W2: apply reaches the state of a run without failures although every fifth request fails', () => {
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
    withSite(emulator(), 'clickhouse-cloud', async ({ apply }): Promise<Run> => {
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
