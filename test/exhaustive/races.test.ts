// W3: runs at the same time, with the requests of each in an order that a seed decides. Of the runs that wrote an object that exists
// twice, at least one fails and names both.
import { expect, it } from 'vitest'
import { forEachEntry } from '../support/corpus.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { createRace, type Network } from '../support/races.ts'
import { randomFrom } from '../support/random.ts'
import { runs } from '../support/seeds.ts'
import { errorsIn, tile } from '../support/shop-declaration.ts'
import { type Site, type SiteFiles, withSite } from '../support/site.ts'

// The client waits for no limit here: what a run waits for is a matter of its network.
const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1_000_000, windowMs: 1000 } })

type Result = Awaited<ReturnType<Site['apply']>>

const dashboard = (name: string) => ({ name, tags: ['race'], tiles: [tile('A'), tile('B', 4)] })

const alert = (dashboardKey: string, name: string) => ({
  name,
  dashboard: dashboardKey,
  tile: 'A',
  threshold: 1,
  interval: '5m',
  channel: { type: 'webhook', webhookId: serviceOf(emulator()).webhooks[0]?.id },
})

/** Dashboards with two alerts each. */
function filesOf(keys: readonly string[]) {
  const dashboards = Object.fromEntries(keys.map((key) => [key, dashboard(`Dashboard ${key}`)]))
  const alerts = Object.fromEntries(keys.flatMap((key) => ['x', 'y'].map((name) => [`${key}-${name}`, alert(key, `${key} ${name}`)])))
  return { 'a.json': { dashboards, alerts } }
}

/** What the runs of a race declare: the same files, or files of which some are the same. */
const declarations: readonly (readonly (readonly string[])[])[] = [
  [
    ['b', 'c'],
    ['b', 'c'],
  ],
  [['c'], ['c']],
  [['b', 'c', 'd', 'e', 'f'], ['f']],
  [['f'], ['b', 'c', 'd', 'e', 'f']],
  [
    ['a', 'b', 'c'],
    ['b', 'c', 'd'],
  ],
  [
    ['b', 'c'],
    ['b', 'c'],
    ['c', 'd'],
  ],
]

/** Fast or slow, steady or not, and now and then a wait for the rate limit. */
function networkOf(random: () => number): Network {
  const [baseMs, jitterMs, waitShare] = [1 + random() * 60, random() * 120, random() < 0.3 ? 0.1 : 0]
  return { latencyMs: () => baseMs + random() * jitterMs, waitMs: () => (random() < waitShare ? 10_000 * random() : 0) }
}

interface Raced {
  readonly results: readonly Result[]
  /** The ids of the objects with the same marker, by the key of the first one. */
  readonly doubles: ReadonlyMap<string, readonly string[]>
}

/** Each run applies its files, in the order of requests of the seed. */
async function race(random: () => number, files: readonly SiteFiles[]): Promise<Raced> {
  const { clock, through } = createRace()
  const runs = files.map(async (declared) => {
    const network = networkOf(random)
    await clock.sleep(1 + random() * random() * 3000)
    return withSite({ url: emulator().url, through: through(network) }, 'clickhouse-cloud', (site) => site.apply(declared), clock)
  })
  return { results: await Promise.all(runs), doubles: idsOfDoubles() }
}

function raceOfCreates(seed: number): Promise<Raced> {
  const random = randomFrom(seed)
  const keys = declarations[Math.floor(random() * declarations.length)] ?? []
  return race(random, keys.map(filesOf))
}

function idsOfDoubles(): ReadonlyMap<string, readonly string[]> {
  const { dashboards, alerts } = serviceOf(emulator())
  const marked = [
    ...dashboards.map(({ id, tags }) => ({ id, marker: tags.find((tag) => tag.startsWith('wk:'))?.replace(/:[^:]*$/, '') })),
    ...alerts.map(({ id, note }) => ({ id, marker: /watchkeeper: \S+ \S+/.exec(note ?? '')?.[0] })),
  ]
  const byMarker = Map.groupBy(
    marked.filter(({ marker }) => marker !== undefined),
    ({ marker }) => marker ?? '',
  )
  return new Map([...byMarker].filter(([, all]) => all.length > 1).map(([marker, all]) => [marker, all.map(({ id }) => id)]))
}

const isGreen = (result: Result): boolean =>
  errorsIn(result).length === 0 && result.objects.every(({ outcome = '' }) => !['failed', 'unknown', 'skipped'].includes(outcome))

/** What a run that failed says about it. */
const saidBy = (result: Result): string =>
  [...errorsIn(result).map(({ message }) => message), ...result.objects.flatMap(({ message }) => message ?? [])].join('\n')

const page = 'docs/help.md#two-runs-at-the-same-time'

const seeds = Array.from({ length: 60 }, (_, i) => i + 1)

/** The objects that exist twice, and that no run that failed names by all ids. */
function findUnnoticed(results: readonly Result[], doubles: Raced['doubles']): readonly (readonly string[])[] {
  const said = results.filter((result) => !isGreen(result)).map(saidBy)
  return [...doubles.values()].filter((ids) => !said.some((text) => [...ids, page].every((word) => text.includes(word))))
}

it('W3: of the runs that wrote an object that exists twice, at least one fails and names both', async () => {
  const seen = { doubles: 0, stopped: 0, allGreen: 0 }
  await forEachEntry(
    seeds,
    async (seed) => {
      const { results, doubles } = await raceOfCreates(seed)
      expect(findUnnoticed(results, doubles)).toEqual([])
      const red = results.filter((result) => !isGreen(result))
      seen[doubles.size > 0 ? 'doubles' : red.length > 0 ? 'stopped' : 'allGreen'] += 1
      // The other reason to fail is an object that another run was about to create.
      if (doubles.size === 0)
        for (const result of red) expect(saidBy(result)).toMatch(/Another run created this (?:alert|dashboard) at the same time/)
    },
    { before: () => emulator().reset() },
  )
  // The seeds reach all three ends. A run stops only where its lists are older than ten seconds.
  expect(Math.min(seen.doubles, seen.allGreen)).toBeGreaterThan(seeds.length / 10)
  expect(seen.stopped).toBeGreaterThan(0)
})

it('a run after the race has nothing to do, unless objects exist twice, which it names', async () => {
  await forEachEntry(
    seeds.slice(0, Math.max(5, runs(20))),
    async (seed) => {
      const { doubles } = await raceOfCreates(seed)
      const ids = [...doubles.values()].flat()
      const later = await withSite(emulator(), 'clickhouse-cloud', async (site) => [
        await site.apply(filesOf(['a', 'b', 'c', 'd', 'e', 'f'])),
        await site.plan(filesOf(['a', 'b', 'c', 'd', 'e', 'f'])),
      ])
      for (const result of later) {
        if (ids.length === 0) expect(errorsIn(result)).toEqual([])
        else for (const id of ids) expect(saidBy(result as Result)).toContain(id)
      }
      if (ids.length === 0) expect(later[1]?.changed).toBe(false)
    },
    { before: () => emulator().reset() },
  )
})

it('of the runs that delete an alert to create it again on another tile, at least one fails while it exists twice', async () => {
  const channel = { type: 'webhook', webhook: 'oncall' }
  const onB = { name: 'On B', dashboard: 'shop', tile: 'B', threshold: 1, interval: '5m', channel }
  const before = { 'a.json': { dashboards: { shop: dashboard('Shop') }, alerts: { onb: onB } } }
  const moved = { 'a.json': { dashboards: { shop: { ...dashboard('Shop'), tiles: [tile('A')] } }, alerts: { onb: { ...onB, tile: 'A' } } } }
  const few = seeds.slice(0, Math.max(10, runs(40)))
  let replaced = 0
  await forEachEntry(
    few,
    async (seed) => {
      await withSite(emulator(), 'clickhouse-cloud', (site) => site.apply(before))
      const { results, doubles } = await race(randomFrom(seed), [moved, moved])
      expect(findUnnoticed(results, doubles)).toEqual([])
      replaced += results.filter(({ objects }) => objects.some(({ outcome }) => outcome === 'replaced')).length
    },
    { before: () => emulator().reset() },
  )
  expect(replaced).toBeGreaterThan(few.length)
})
