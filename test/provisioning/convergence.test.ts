// Whatever is declared and whatever is there: apply makes the two the same, once, and touches nothing that is not its own.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/index.ts'
import { useEmulator } from '../support/emulator.ts'
import { emptyPlan, type Site, storeOf, withSite } from '../support/site.ts'

const dialects = ['neutral', 'clickhouse-cloud'] as const

const keys = ['one', 'two', 'three', 'a-key-that-is-longer-than-a-tag-has-room-for'] as const
const tileNames = ['Errors', 'Latency', 'Queue', 'Note "x"'] as const
const charts = ['line', 'number', 'stacked_bar'] as const

const config = fc.record({
  displayType: fc.constantFrom(...charts),
  sourceId: fc.constant({ source: 'Logs' }),
  select: fc.constantFrom([{ aggFn: 'count' }], [{ aggFn: 'count', where: 'level:error' }]),
})

const tile = fc.record({
  name: fc.constantFrom(...tileNames),
  x: fc.nat(11),
  y: fc.nat(9),
  w: fc.integer({ min: 1, max: 12 }),
  h: fc.constant(4),
  config,
})

const dashboard = fc.record({
  name: fc.constantFrom('Shop', 'Cart', 'Checkout overview'),
  tags: fc.uniqueArray(fc.constantFrom('red', 'blue', 'green')),
  tiles: fc.uniqueArray(tile, { minLength: 1, maxLength: 4, selector: ({ name }) => name }),
  filters: fc.constantFrom([], [{ name: 'Environment', expression: 'env', sourceId: { source: 'Logs' } }]),
})

const dashboards = fc.dictionary(fc.constantFrom(...keys), dashboard, { maxKeys: 3 })

interface Wish {
  readonly key: string
  readonly dashboard: number
  readonly tile: number
  readonly threshold: number
  readonly name: string
  readonly message: string | undefined
}

const wish: fc.Arbitrary<Wish> = fc.record({
  key: fc.constantFrom(...keys),
  dashboard: fc.nat(9),
  tile: fc.nat(9),
  threshold: fc.integer({ min: 1, max: 3 }),
  name: fc.constantFrom('Errors', 'Slow'),
  message: fc.constantFrom(undefined, 'Look', 'Two\n\nlines'),
})

const wishes = fc.record({ dashboards, alerts: fc.uniqueArray(wish, { selector: ({ key }) => key, maxLength: 4 }) })

/** Alerts on tiles that there are. */
function toFile(
  { dashboards: declared, alerts }: { dashboards: Record<string, { tiles: readonly { name: string }[] }>; alerts: readonly Wish[] },
  webhookId: string,
) {
  const names = Object.keys(declared)
  const onTiles = alerts.flatMap(({ key, dashboard: d, tile: t, message, ...fields }) => {
    const name = names[d % names.length]
    const tiles = name === undefined ? [] : (declared[name]?.tiles ?? [])
    const target = tiles[t % tiles.length]
    if (name === undefined || target === undefined) return []
    const alert = {
      ...fields,
      ...(message !== undefined && { message }),
      dashboard: name,
      tile: target.name,
      interval: '5m',
      channel: { type: 'webhook', webhookId },
    }
    return [[key, alert] as const]
  })
  return { dashboards: declared, alerts: Object.fromEntries(onTiles) }
}

/** What bears no mark of ours, as the service has it. */
function unowned(emulator: Emulator): string {
  const { dashboards: all, alerts } = storeOf(emulator)
  return JSON.stringify([
    all.filter(({ tags }) => !tags.some((tag) => tag.startsWith('wk:'))),
    alerts.filter((one) => !/watchkeeper: /.test(`${one.note}${one.message}`)),
  ])
}

/** What is wrong, in words; empty when all is well. */
async function convergence(site: Site, emulator: Emulator, content: object): Promise<unknown> {
  const files = { 'a.json': content }
  const before = unowned(emulator)
  const planned = await site.plan(files, { prune: true })
  const applied = await site.apply(files, { prune: true })
  const again = await site.plan(files, { prune: true })
  const { toCreate, toUpdate, toReplace, toDelete, toAdopt } = again
  return {
    errors: planned.findings.filter(({ severity }) => severity === 'error'),
    notDone: applied.objects.filter(({ outcome = '' }) => ['failed', 'unknown', 'skipped'].includes(outcome)),
    serverChanged: applied.objects.flatMap(({ serverChanged = [] }) => serverChanged),
    leftToDo: toCreate + toUpdate + toReplace + toDelete + toAdopt,
    differences: again.objects.flatMap(({ fields }) => fields),
    isUnownedTouched: unowned(emulator) !== before,
  }
}

const allWell = { errors: [], notDone: [], serverChanged: [], leftToDo: 0, differences: [], isUnownedTouched: false }

describe.each(dialects)('%s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })

  it('makes the service as declared, from any state that it left behind, and then has nothing to do', async () => {
    await fc.assert(
      fc.asyncProperty(wishes, wishes, async (first, second) => {
        emulator().reset()
        await withSite(emulator(), dialect, async (site) => {
          const webhookId = storeOf(emulator()).webhooks[0]?.id ?? ''
          // A project with nothing declared and prune is refused, as it is far more likely a wrong glob.
          const keep = { keep: { name: 'Keep', tiles: [] } }
          for (const content of [first, second].map((one) => toFile(one as never, webhookId)))
            expect(await convergence(site, emulator(), { ...content, dashboards: { ...content.dashboards, ...keep } })).toEqual(allWell)
        })
      }),
      { numRuns: 40 },
    )
  }, 120_000)

  it('takes over what it is told to, and leaves every other object alone', async () => {
    await withSite(emulator(), dialect, async (site) => {
      const store = storeOf(emulator())
      const content = {
        dashboards: {
          overview: {
            name: 'Checkout overview',
            adopt: true,
            tiles: [{ name: 'Only this', x: 0, y: 0, w: 4, h: 4, config: { displayType: 'markdown', markdown: 'x' } }],
          },
        },
      }
      const refused = await site.apply({ 'a.json': content })
      expect(refused.findings.map(({ rule }) => rule)).toContain('would-lose-alert')
      expect(refused.changed).toBe(false)
      const before = store.alerts.length
      store.alerts = store.alerts.filter(
        ({ dashboardId }) => dashboardId !== store.dashboards.find(({ name }) => name === 'Checkout overview')?.id,
      )
      expect(store.alerts.length).toBeLessThan(before)
      const applied = await site.apply({ 'a.json': content })
      expect(applied.objects).toMatchObject([{ outcome: 'updated', notes: ['takes over an object that bears no mark'] }])
      expect(await site.plan({ 'a.json': content })).toMatchObject(emptyPlan)
    })
  })
})
