import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Emulator, JsonObject, Service } from '../../src/emulator/index.ts'
import { alertCollection } from '../../src/kinds/alert/alert.ts'
import { dashboardCollection } from '../../src/kinds/dashboard/dashboard-wire.ts'
import { savedSearchCollection } from '../../src/kinds/saved-search/saved-search.ts'
import { isMapping } from '../../src/platform/core/keys.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { type RandomFile, randomFile } from '../support/random-declarations.ts'
import { runs } from '../support/seeds.ts'
import { startVariant } from '../support/server-variants.ts'
import { service } from '../support/session.ts'
import { shop } from '../support/shop-declaration.ts'
import { afterPull, convergenceProblems, decided, emptyPlan, type Site, type SiteFiles, unownedIn, withSite } from '../support/site.ts'

// Whatever is declared and whatever is there: apply makes the two the same, once, and touches nothing that is not its own.

const dialects = ['clickhouse-cloud'] as const

/** From RANDOM_SEED, to repeat a run that failed. */
const seed = process.env.RANDOM_SEED === undefined ? {} : { seed: Number(process.env.RANDOM_SEED) }

/** What is wrong, in words; empty when all is well. */
async function problemsOf(site: Site, emulator: Emulator, content: object): Promise<readonly unknown[]> {
  const before = unownedIn(emulator)
  const problems = await convergenceProblems(site, content)
  return unownedIn(emulator) === before ? problems : [...problems, 'touched what it does not own']
}

describe.each(dialects)('%s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })

  /** Nothing declared together with prune is refused: it is far more likely a wrong glob. */
  const kept = (file: RandomFile): RandomFile => ({ ...file, dashboards: { ...file.dashboards, keep: { name: 'Keep', tiles: [] } } })

  it('makes the service as declared, from any state that it left behind, and then has nothing to do', async () => {
    const file = randomFile(serviceOf(emulator()))
    await fc.assert(
      fc.asyncProperty(file, file, fc.option(fc.nat(), { nil: undefined }), async (first, second, defaults) => {
        emulator().reset()
        emulator().setUnknownDefaults(defaults)
        await withSite(emulator(), dialect, async (site) => {
          for (const content of [first, second]) expect(await problemsOf(site, emulator(), kept(content))).toEqual([])
        })
      }),
      { numRuns: runs(50), ...seed },
    )
  }, 240_000)

  it('calls every change by hand a difference, and names the field', async () => {
    const file = randomFile(serviceOf(emulator()))
    await fc.assert(
      fc.asyncProperty(file, fc.option(fc.nat(), { nil: undefined }), fc.nat(), async (content, defaults, choice) => {
        emulator().reset()
        emulator().setUnknownDefaults(defaults)
        const { dashboards, savedSearches, alerts } = serviceOf(emulator())
        const strangers = new Set<object>([...dashboards, ...savedSearches, ...alerts])
        await withSite(emulator(), dialect, async (site) => {
          await site.apply({ 'a.json': content })
          const edits = allEdits(serviceOf(emulator()), (object) => !strangers.has(object))
          const edit = edits[choice % edits.length]
          const { api } = site.session
          const shown = async () =>
            JSON.stringify([
              (await dashboardCollection.list(api, service)).items,
              (await alertCollection.list(api, service)).items,
              (await savedSearchCollection.list(api, service)).items,
            ])
          const before = await shown()
          edit?.make()
          // A change that the API does not show cannot be seen.
          fc.pre(before !== (await shown()))
          const planned = await site.plan({ 'a.json': content })
          const changed = planned.objects.filter(({ action }) => action !== 'unchanged')
          // A list whose items have names shows a renamed item under both names.
          const named = edit?.field === 'name' ? ['name', '["changed '] : [edit?.field ?? '']
          const isNamed = changed.some(
            ({ fields, notes }) => fields.some(({ path }) => named.some((name) => path.includes(name))) || notes.length > 0,
          )
          expect(isNamed, JSON.stringify({ path: edit?.path, changed })).toBe(true)
        })
      }),
      { numRuns: runs(50), ...seed },
    )
  }, 240_000)

  it('adopts what the files name, and leaves every other object alone', async () => {
    await withSite(emulator(), dialect, async (site) => {
      const store = serviceOf(emulator())
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
      expect(refused.diagnostics.map(({ rule }) => rule)).toContain('held')
      expect(refused.changed).toBe(false)
      const before = store.alerts.length
      store.alerts = store.alerts.filter(
        ({ dashboardId }) => dashboardId !== store.dashboards.find(({ name }) => name === 'Checkout overview')?.id,
      )
      expect(store.alerts.length).toBeLessThan(before)
      const files = await decided(site.plan, { 'a.json': content })
      const applied = await site.apply(files)
      expect(applied.objects).toMatchObject([{ outcome: 'updated', notes: expect.arrayContaining(['adopts an unmanaged object']) }])
      expect(await site.plan(files)).toMatchObject(emptyPlan)
    })
  })
})

// What somebody may change by hand in a stored object: one field, to another value that the server would take as well.

interface ManualEdit {
  /** As in `tiles.0.config.fillNulls`. */
  readonly path: string
  /** The last name in the path. */
  readonly field: string
  /** Whether the field was stored before. */
  readonly isNew: boolean
  readonly make: () => void
}

/** Fields whose text can be any. */
const texts = (
  'name title alias markdown sqlTemplate message note savedQuery condition label where groupBy orderBy having expression ' +
  'valueExpression countExpression select'
).split(' ')

/** Every edit of what is stored. */
function editsOf(object: JsonObject, path = ''): readonly ManualEdit[] {
  return Object.entries(object).flatMap(([field, value]) => {
    const place = `${path}${field}`
    if (isMapping(value)) return editsOf(value, `${place}.`)
    const next = changedValue(field, value)
    if (next !== undefined) return [{ path: place, field, isNew: false, make: () => void Object.assign(object, { [field]: next }) }]
    return Array.isArray(value) ? value.flatMap((item, i) => (isMapping(item) ? editsOf(item, `${place}.${i}.`) : [])) : []
  })
}

/** Undefined for what is not changed as a whole. */
function changedValue(field: string, value: unknown): unknown {
  if (field === 'level') return value === 0.5 ? 0.9 : 0.5
  if (field === 'tags') return [...(value as readonly string[]), 'changed']
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  // The marker of an alert has a line of its own.
  const separator = field === 'message' || field === 'note' ? '\n' : ' '
  return typeof value === 'string' && texts.includes(field) ? `changed${separator}${value}` : undefined
}

/** Optional fields, and values that none of the server's defaults is. */
const ofConfigs: Readonly<Record<string, JsonObject>> = {
  line: { groupBy: 'changed', seriesLimit: 77, compareToPreviousPeriod: true, fillNulls: false, numberFormat: { output: 'percent' } },
  stacked_bar: { groupBy: 'changed', seriesLimit: 77, alignDateRangeToGranularity: false },
  table: { having: 'changed', orderBy: 'changed', groupByColumnsOnLeft: true },
  number: { color: 'chart-pink', backgroundChart: { type: 'area', color: 'chart-pink' } },
  pie: { limit: 77, orderBy: 'changed' },
  bar: { limit: 77, groupBy: 'changed' },
  heatmap: { where: 'changed' },
  event_patterns: { where: 'changed' },
}
const ofDashboards: JsonObject = { savedQuery: 'changed', savedFilterValues: [{ type: 'sql', condition: 'changed' }] }
const ofAlerts: JsonObject = { numConsecutiveWindows: 77, scheduleOffsetMinutes: 1, name: 'changed' }
const ofSavedSearches: JsonObject = { orderBy: 'changed', where: 'changed' }

/** Every edit that gives a value to a field which is not stored. */
function additionsTo(object: JsonObject, values: JsonObject, path = ''): readonly ManualEdit[] {
  return Object.entries(values).flatMap(([field, value]) =>
    object[field] === undefined || object[field] === null
      ? [{ path: `${path}${field}`, field, isNew: true, make: () => void Object.assign(object, { [field]: value }) }]
      : [],
  )
}

/** Of everything that the service holds and `isOurs`. */
function allEdits({ dashboards, savedSearches, alerts }: Service, isOurs: (object: object) => boolean): readonly ManualEdit[] {
  const maps = (objects: readonly object[]) => objects.filter(isOurs) as readonly JsonObject[]
  return [
    ...maps(dashboards).flatMap((dashboard) => [
      ...editsOf(dashboard),
      ...additionsTo(dashboard, ofDashboards),
      ...(dashboard.tiles as readonly { config: JsonObject }[]).flatMap(({ config }, i) =>
        config.configType === 'sql' ? [] : additionsTo(config, ofConfigs[String(config.displayType)] ?? {}, `tiles.${i}.config.`),
      ),
    ]),
    ...maps(savedSearches).flatMap((search) => [...editsOf(search), ...additionsTo(search, ofSavedSearches)]),
    ...maps(alerts).flatMap((alert) => [...editsOf(alert), ...additionsTo(alert, ofAlerts)]),
  ]
}

// Alerts with a query, while files and people change everything around them.
describe('alerts with a query', () => {
  const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

  const boards = ['', 'bare', 'full'] as const

  interface Declared {
    readonly name: string
    readonly board: (typeof boards)[number]
    readonly query: object
  }

  const queries: readonly object[] = [
    { source: 'Logs', select: [{ aggFn: 'count' }] },
    { source: 'Logs', select: [{ aggFn: 'count', where: 'a' }] },
    { source: 'Traces', select: [{ aggFn: 'avg', valueExpression: 'Duration' }], groupBy: 'ServiceName' },
    { sql: 'SELECT count() FROM t WHERE $__timeFilter(Timestamp)' },
  ]

  const declared = fc.record({
    // Few names, so that alerts swap and share them.
    name: fc.constantFrom('A', 'B', 'Own'),
    board: fc.constantFrom(...boards),
    query: fc.constantFrom(...queries),
  })

  type Declaration = Readonly<Record<string, Declared>>

  interface Step {
    readonly alerts: Declaration
    readonly path: string
    readonly added: { readonly name: string; readonly query: string } | undefined
  }

  const step: fc.Arbitrary<Step> = fc.record({
    alerts: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), declared, { noNullPrototype: true }),
    path: fc.constantFrom('x.json', 'y/z.json'),
    /** What a person adds before the apply. */
    added: fc.option(fc.record({ name: fc.constantFrom('A', 'Mine'), query: fc.constantFrom('copy', 'note') }), { nil: undefined }),
  })

  const own = { name: 'Own', w: 24, h: 2, config: { displayType: 'markdown', markdown: 'x' } }

  function toFile(alerts: Declaration): object {
    const entries = Object.entries(alerts).map(([key, { name, board, query }]) => [
      key,
      {
        name,
        query,
        ...(board !== '' && { dashboard: board }),
        threshold: 1,
        interval: '5m',
        channel: { type: 'webhook', webhook: 'oncall' },
      },
    ])
    const isUsed = Object.values(alerts).some(({ board }) => board === 'bare')
    return {
      dashboards: {
        full: { name: 'Full', tags: ['t'], tiles: [own] },
        ...(isUsed && { bare: { name: 'Bare', tags: ['t'] } }),
      },
      alerts: Object.fromEntries(entries),
    }
  }

  const projectBoard = () => serviceOf(emulator()).dashboards.find(({ name }) => name.startsWith('Alerts: '))

  let count = 0

  /** The id of a tile that a person adds to the dashboard of the project, where there is one. */
  function addTile({ name, query }: { readonly name: string; readonly query: string }): string | undefined {
    const tiles = projectBoard()?.tiles
    const [first] = tiles ?? []
    if (tiles === undefined || first === undefined) return undefined
    const id = (count++).toString(16).padStart(24, 'f')
    const config = query === 'copy' ? structuredClone(first.config) : { displayType: 'markdown', markdown: `Note ${id}` }
    // Every other one overlaps the tiles of queries.
    tiles.push({ ...structuredClone(first), id, name, y: count % 2 === 0 ? 0 : 50 + count, config } as never)
    return id
  }

  type Applied = Awaited<ReturnType<Site['apply']>>

  const idsIn = ({ objects }: Applied): ReadonlyMap<string, string> =>
    new Map(
      objects.flatMap(({ kind, key, id, action }) => (kind === 'alert' && id !== undefined && action !== 'delete' ? [[key, id]] : [])),
    )

  /** The alerts of one step, and their ids in the service. */
  interface Known {
    readonly alerts: Declaration
    readonly ids: ReadonlyMap<string, string>
  }

  /** An alert that moves to another dashboard is created again. */
  const findReplaced = (before: Known, { alerts, ids }: Known): readonly string[] =>
    Object.entries(alerts)
      .filter(([key, { board }]) => before.alerts[key]?.board === board && before.ids.get(key) !== ids.get(key))
      .map(([key]) => `${key} is another alert`)

  async function problemsAfterPull(site: Site, files: SiteFiles): Promise<readonly string[]> {
    const pulled = await site.pull(files, Object.keys(files))
    const { objects } = await site.plan(afterPull(files, pulled))
    return objects.filter(({ action }) => action === 'update' || action === 'create').map(({ key }) => `pull does not write ${key}`)
  }

  async function problemsOf(site: Site, steps: readonly Step[]): Promise<readonly unknown[]> {
    const problems: unknown[] = []
    const notes: string[] = []
    let before: Known = { alerts: {}, ids: new Map() }
    for (const { alerts, path, added } of steps) {
      const id = added && addTile(added)
      // A copy of the tile of an alert may become the tile of an alert.
      if (id !== undefined && added?.query === 'note') notes.push(id)
      const files = { [path]: toFile(alerts) }
      const applied = await site.apply(files, { prune: true })
      const now = { alerts, ids: idsIn(applied) }
      const planned = await site.plan(files, { prune: true })
      const shown = planned.objects.filter(({ key }) => key === 'project-alerts')
      const tiles = projectBoard()?.tiles ?? []
      problems.push(
        ...applied.diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message),
        ...findReplaced(before, now),
        ...planned.objects.filter(({ action }) => action !== 'unchanged'),
        ...shown,
        ...notes.filter((note) => !tiles.some((tile) => tile.id === note)).map((note) => `the tile ${note} is lost`),
        ...(await problemsAfterPull(site, files)),
      )
      before = now
    }
    return problems
  }

  it('W20: alerts with a query keep their ids, and tiles of people stay, whatever files and people change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        emulator().reset()
        const { alerts, dashboards, savedSearches } = serviceOf(emulator())
        for (const objects of [alerts, dashboards, savedSearches]) objects.splice(0)
        const problems = await withSite(emulator(), 'hyperdx', (site) => problemsOf(site, steps))
        expect(problems).toEqual([])
      }),
      { numRuns: Math.max(10, runs(30)) },
    )
  })
})

it('a server that reorders filters and trims their names is not suspected of dropping fields', async () => {
  const filter = { type: 'QUERY_EXPRESSION', name: ' x ', sourceId: { source: 'Logs' } }
  const filters = [
    { ...filter, expression: 'one' },
    { ...filter, expression: 'two', isVariableEnabled: true, variableName: 'env', isBroadcastEnabled: false },
    { ...filter, expression: 'three' },
  ]
  for (let unknownDefaults = 0; unknownDefaults < runs(10); unknownDefaults++) {
    const server = await startVariant({ dialect: 'hyperdx', rateLimit: 'off', unknownDefaults })
    try {
      const problems = await withSite(server, 'hyperdx', (site) =>
        convergenceProblems(site, { dashboards: { shop: { ...shop, filters } } }),
      )
      expect(problems, `seed ${unknownDefaults}`).toEqual([])
    } finally {
      await server.close()
    }
  }
})
