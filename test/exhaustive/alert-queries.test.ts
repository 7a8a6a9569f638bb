// Alerts with a query, while files and people change everything around them.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { afterPull, type Site, type SiteFiles, withSite } from '../support/site.ts'

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
  new Map(objects.flatMap(({ kind, key, id, action }) => (kind === 'alert' && id !== undefined && action !== 'delete' ? [[key, id]] : [])))

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
    { numRuns: 30 },
  )
})
