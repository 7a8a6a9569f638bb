// Dashboards of a self-hosted server that someone else made: a patch keeps what the API does not show, and a PUT does not.
import { afterEach, describe, expect, it } from 'vitest'
import type { Alert, Dashboard } from '../../../src/emulator/index.ts'
import { startEmulator } from '../../../src/emulator/index.ts'
import { conditions } from '../../support/conditions.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { errorRules, errorsIn, outcomes, watching } from '../../support/shop-declaration.ts'
import { acceptingRewrites, afterPull, decided, emptyPlan, type Site, type SiteFiles, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'hyperdx', use)

type Json = Readonly<Record<string, unknown>>

interface Declared {
  readonly tiles: readonly Json[]
  readonly filters: readonly Json[]
  readonly containers: readonly Json[]
  readonly [field: string]: unknown
}

/** Replaces all objects by a dashboard as the web app stores it. */
function save(more: Partial<Dashboard> = {}): Dashboard {
  const service = serviceOf(emulator())
  Object.assign(service, { dashboards: [], alerts: [], savedSearches: [] })
  const sourceId = service.sources.find(({ kind }) => kind === 'log')?.id
  // As older releases and templates store it: without a language of the series.
  const line = { displayType: 'line', sourceId, select: [{ aggFn: 'count', where: '' }] }
  const hidden = { ...line, where: 'SeverityText:"fatal"', whereLanguage: 'lucene', granularity: '5 minute', limit: { limit: 5 } }
  return emulator().saveInWebApp({
    name: 'By hand',
    tiles: [
      { id: 'first', name: 'First', config: hidden },
      { id: 'second', name: 'Second', config: hidden, containerId: 'group' },
      { id: 'promql', name: 'Hidden', config: { configType: 'promql', displayType: 'line', promqlExpression: 'up' } },
    ],
    filters: [{ type: 'QUERY_EXPRESSION', name: 'Service', expression: 'ServiceName', sourceId: String(sourceId) }] as never,
    containers: [{ id: 'group', title: 'Group', collapsed: false }] as never,
    ...more,
  })
}

const source = () => serviceOf(emulator()).sources.find(({ kind }) => kind === 'log')?.name

/** The declaration of the dashboard as the API shows it, with a change. */
function fileWith(change: (dashboard: Declared) => object = () => ({}), more: object = {}): SiteFiles {
  const config = { displayType: 'line', source: source(), select: [{ aggFn: 'count' }] }
  const declared: Declared = {
    name: 'By hand',
    adopt: true,
    tiles: [
      { name: 'First', x: 0, y: 0, w: 12, h: 6, config },
      { name: 'Second', x: 0, y: 6, w: 12, h: 6, containerId: 'group', config },
    ],
    filters: [{ name: 'Service', expression: 'ServiceName', source: source() }],
    containers: [{ id: 'group', title: 'Group' }],
  }
  return { 'observability/a.json': { dashboards: { 'by-hand': { ...declared, ...change(declared) } }, ...more } }
}

const withTile =
  (name: string, change: (tile: Json) => object) =>
  ({ tiles }: Declared) => ({ tiles: tiles.map((tile) => (tile.name === name ? { ...tile, ...change(tile) } : tile)) })

const withoutTags = ({ tags: _, ...dashboard }: Dashboard): object => structuredClone(dashboard)

/** What was written to dashboards: `PUT`, the id of a patched tile, or the fields of a patch. */
const writes = () =>
  emulator().requests.flatMap(({ method, path, body }) => {
    if (method === 'PUT' && path.includes('/dashboards/')) return ['PUT']
    const { params } = (body ?? {}) as { readonly params?: { readonly name?: string; readonly arguments: Json } }
    if (params?.name !== 'clickstack_patch_dashboard') return []
    const { dashboardId: _, tileId, ...fields } = params.arguments
    return [typeof tileId === 'string' ? tileId : Object.keys(fields).join(', ')]
  })

it('W17: an adoption writes only the marker, and every field that the API does not show stays', () =>
  site(async (one) => {
    const [theirs] = serviceOf(emulator()).alerts
    const stored = save()
    const before = withoutTags(stored)
    serviceOf(emulator()).alerts.push({ ...theirs, dashboardId: stored.id, tileId: 'promql' } as Alert)
    const files = afterPull({}, await one.pull({}))
    // The server is not asked about what is not stored again.
    expect(emulator().requests.filter(({ path }) => path.endsWith('/validate'))).toEqual([])
    const fatal = { alerts: { fatal: { name: 'Fatal', dashboard: { name: 'By hand' }, tile: 'First', ...watching } } }
    Object.assign(files, { 'fatal.json': fatal })
    const planned = await one.plan(files)
    expect(planned).toMatchObject({ toUpdate: 0, toAdopt: 1, diagnostics: [{ rule: 'implausible-alert' }] })
    expect(planned.objects[0]).not.toHaveProperty('rewrites')
    expect(outcomes(await one.apply(files))).toEqual({ 'by-hand': 'adopted', fatal: 'created' })
    expect(withoutTags(stored)).toEqual(before)
    expect(stored.tags[0]).toMatch(/^wk:/)
    expect(writes()).toEqual(['name, tags'])
    expect(await one.plan(files)).toMatchObject(emptyPlan)
    expect(await one.drift(files)).toMatchObject({ changed: false })
  }))

it('W9: an update patches the tiles that differ, the marker last, and a patched tile has its stated defaults', () =>
  site(async (one) => {
    const stored = save()
    await one.apply(fileWith())
    const before = structuredClone(stored)
    const changed = fileWith((dashboard) => ({
      name: 'Renamed',
      ...withTile('First', ({ config }) => ({ config: { ...(config as Json), select: [{ aggFn: 'count', where: 'a:b' }] } }))(dashboard),
    }))
    expect((await one.plan(changed)).objects[0]).toMatchObject({ action: 'update', rewrites: ['First'] })
    const from = writes().length
    expect(outcomes(await one.apply(changed))).toEqual({ 'by-hand': 'updated' })
    expect(writes().slice(from)).toEqual(['first', 'name, tags'])
    const [first, ...others] = before.tiles
    expect(stored.tiles.slice(1)).toEqual(others)
    expect({ ...stored, name: before.name, tags: before.tags, tiles: before.tiles }).toEqual(before)
    expect(stored.tiles[0]?.config.select).toMatchObject([{ where: 'a:b', whereLanguage: 'lucene' }])
    expect(first?.config).toHaveProperty('granularity')
    expect(stored.tiles[0]?.config).not.toHaveProperty('granularity')
    expect(await one.plan(changed)).toMatchObject(emptyPlan)
  }))

it('W17: a patch of a tile with an alert needs a decision, and a patch of another tile does not', () =>
  site(async (one) => {
    const stored = save()
    const fatal = { fatal: { name: 'Fatal', dashboard: 'by-hand', tile: 'First', ...watching } }
    const wider = () => ({ w: 24 })
    await one.apply(fileWith(undefined, { alerts: fatal }))
    const widened = (tile: string, more: object = {}) =>
      fileWith((dashboard) => ({ ...withTile(tile, wider)(dashboard), ...more }), { alerts: fatal })
    const before = structuredClone(stored)
    const [error] = errorsIn(await one.apply(await widened('First')))
    expect(error).toMatchObject({
      rule: 'held',
      message: expect.stringMatching(/: "Fatal" \(\w+\) on the tile "First"\. To /),
    })
    const ways =
      /To accept the loss, set adopt to \S+\.files; to lose nothing, make the change in the web app, then run pull with only: declared; /
    expect(error?.message).toMatch(ways)
    expect(stored).toEqual(before)
    expect(outcomes(await one.apply(await widened('Second')))).toMatchObject({ 'by-hand': 'updated' })
    expect(stored.tiles[0]).toEqual(before.tiles[0])
    expect(outcomes(await one.apply(await decided(one.plan, await widened('First'))))).toMatchObject({ 'by-hand': 'updated' })
    expect(stored.tiles[0]?.config).not.toHaveProperty('where')
    expect(stored.tiles.at(-1)).toEqual(before.tiles.at(-1))
  }))

it('W17: a refused write names all alerts on the tiles that it would store again', () =>
  site(async (one) => {
    const stored = save()
    stored.tiles.push({ ...(stored.tiles[0] as Dashboard['tiles'][number]), id: 'nameless', name: '', y: 40 })
    const on = (name: string, tile: unknown) => ({ name, dashboard: { id: stored.id }, tile, ...watching })
    const alerts = { one: on('One', 'First'), two: on('Two', 'First'), three: on('Three', { id: 'nameless' }) }
    await one.apply({ 'alerts.json': { alerts } })
    const pulled = await one.pull({}, undefined, { select: conditions('kind=dashboard') })
    const text = pulled.writtenFiles.map(({ content }) => content).join('')
    const changed = { 'board.yml': text.replaceAll('12, 6]', '24, 6]'), 'alerts.json': { alerts } }
    const planned = await one.plan(changed)
    const [message = ''] = errorsIn(planned).map((error) => error.message)
    expect(
      message
        .match(/"\w+" \(\w+\) on [\w\s"]+/g)
        ?.map((alert) => alert.replace(/ \(\w+\)/, ''))
        .toSorted(),
    ).toEqual(['"One" on the tile "First"', '"Three" on a tile without a name', '"Two" on the tile "First"'])
    expect(planned.objects[0]).toMatchObject({ action: 'held' })
  }))

describe('a change that no patch can make', () => {
  const note = { name: 'New', x: 0, y: 40, w: 6, h: 4, config: { displayType: 'markdown', markdown: 'Hi' } }
  const added = ({ tiles }: Declared) => ({ tiles: [...tiles, note] })
  const cases: Readonly<Record<string, (dashboard: Declared) => object>> = {
    'a tile is added': added,
    'a tile is removed': ({ tiles }) => ({ tiles: tiles.filter(({ name }) => name !== 'Second') }),
    'a tile leaves its container': withTile('Second', () => ({ containerId: undefined })),
    'a filter changes': ({ filters }) => ({ filters: filters.map((filter) => ({ ...filter, name: 'Renamed' })) }),
    'a container changes': ({ containers }) => ({ containers: containers.map((one) => ({ ...one, title: 'Renamed' })) }),
    'the tool refuses an aggregation': withTile('Second', ({ config }) => ({
      config: {
        ...(config as Json),
        select: [{ aggFn: 'sum', valueExpression: 'Value', metricType: 'histogram', metricName: 'http.server.duration' }],
      },
    })),
    'the tool refuses a query': withTile('Second', () => ({
      config: { configType: 'sql', displayType: 'table', sqlTemplate: 'SELECT count() FROM default.otel_logs WHERE $__filters' },
    })),
    'the tool drops a field of the tile': withTile('Second', ({ config }) => ({
      config: { ...(config as Json), displayType: 'number', select: [{ aggFn: 'sum', valueExpression: 'Duration', periodAggFn: 'delta' }] },
    })),
  }

  it(
    'W17: a change that no patch can make is refused while an alert is on a tile, and accepted, sends the whole dashboard',
    { tags: 'slow' },
    () =>
      site(async (one) => {
        save()
        const fatal = { fatal: { name: 'Fatal', dashboard: 'by-hand', tile: 'First', ...watching } }
        await one.apply(fileWith(undefined, { alerts: fatal }))
        const accept = async (change: (dashboard: Declared) => object) => decided(one.plan, await fileWith(change, { alerts: fatal }))
        for (const [name, change] of Object.entries(cases)) {
          expect(errorRules(await one.plan(fileWith(change, { alerts: fatal }))), name).toEqual(['held'])
          expect((await one.plan(await accept(change))).objects[0]?.rewrites, name).toContain('First')
        }
        const from = writes().length
        expect(errorRules(await one.apply(fileWith(added, { alerts: fatal })))).toEqual(['held'])
        const accepted = await accept(added)
        expect(outcomes(await one.apply(accepted))).toMatchObject({ 'by-hand': 'updated' })
        expect(writes().slice(from)).toEqual(['PUT'])
        expect(await one.plan(accepted)).toMatchObject(emptyPlan)
      }),
  )

  it('a change that no patch can make is one of a tile whose id another tile has', () =>
    site(async (one) => {
      const stored = save()
      stored.tiles = stored.tiles.map((tile) => (tile.id === 'promql' ? tile : { ...tile, id: 'same' }))
      expect((await one.plan(await decided(one.plan, await fileWith(withTile('First', () => ({ w: 24 })))))).objects[0]?.rewrites).toEqual([
        'First',
        'Second',
      ])
      await one.apply(fileWith())
      expect(writes()).toEqual(['name, tags'])
    }))

  it('a change that no patch can make is a rewrite, and the adoption on a server without the tool', async () => {
    await site(async (one) => {
      save()
      const files = fileWith()
      await one.apply(files)
      const from = writes().length
      await one.apply(files, { repair: ['rewrite'] })
      expect(writes().slice(from)).toEqual(['PUT'])
    })
    const old = await startEmulator({ dialect: 'hyperdx', rateLimit: 'off', hasMcp: false })
    stop = () => old.close()
    await withSite(old, 'hyperdx', async ({ plan, pull }) => {
      const pulled = await pull({}, undefined, { select: conditions('kind=dashboard') })
      const { objects, toAdopt } = await plan(acceptingRewrites(afterPull({}, pulled)))
      expect([toAdopt, objects.every(({ rewrites = [] }) => rewrites.length > 0)]).toEqual([0, true])
    })
  })
})

describe.each([true, false])('where the server can patch dashboards: %s,', (hasMcp) => {
  const own = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', hasMcp })

  it.each(['a:same', 'a:other'])('the advice against a loss ends with a plan that writes no tile, also with %s in the web app', (where) =>
    withSite(own(), 'hyperdx', async ({ plan, apply, pull, drift }) => {
      const service = serviceOf(own())
      Object.assign(service, { dashboards: [], alerts: [], savedSearches: [] })
      const sourceId = service.sources.find(({ kind }) => kind === 'log')?.id
      const config = { displayType: 'line', sourceId, granularity: '5 minute', select: [{ aggFn: 'count', where: '' }] }
      const stored = own().saveInWebApp({ name: 'By hand', tiles: [{ id: 'first', name: 'First', config }] })
      const withCondition = (files: SiteFiles, condition: string): SiteFiles => ({
        ...files,
        'observability/by-hand.yml': String(files['observability/by-hand.yml'])
          .replace(/, where: [^ ,}]+/, '')
          .replace('aggFn: count', `aggFn: count, where: ${condition}`),
      })
      const pulled = withCondition(afterPull({}, await pull({})), 'a:first')
      expect(outcomes(await apply(pulled))).toEqual({ 'by-hand': 'updated' })
      const edited = withCondition(pulled, 'a:same')
      expect((await plan(edited)).objects).toMatchObject([{ action: 'update' }])
      Object.assign(stored.tiles[0]?.config ?? {}, { granularity: '1 hour', select: [{ aggFn: 'count', where, whereLanguage: 'lucene' }] })
      const again = await pull(edited, undefined, { only: 'declared' })
      expect(again.diagnostics.map(({ rule }) => rule)).toEqual(where === 'a:same' ? [] : ['edit-replaced'])
      const kept = afterPull(edited, again)
      const [planned, drifted] = [await plan(kept), await drift(kept)]
      for (const { changed, diagnostics } of [planned, drifted])
        expect({ changed, diagnostics }).toEqual({ changed: false, diagnostics: [] })
      await apply(kept)
      expect(stored.tiles[0]?.config).toMatchObject({ granularity: '1 hour', select: [{ where }] })
      // What the file then changes is a change of the file.
      const next = withCondition(kept, 'a:next')
      expect((await plan(next)).objects).toMatchObject([{ action: 'update', origin: 'files' }])
    }),
  )
})

let stop = async (): Promise<unknown> => undefined
afterEach(() => stop())

it('W17: fails the object with the reason where the tool refuses a tile against the plan, and announces the write of all tiles with repair: rewrite', () =>
  site(async (one) => {
    const stored = save()
    await one.apply(fileWith())
    const before = structuredClone(stored)
    const from = writes().length
    const issue = { path: ['tile', 'config', 'select', 0, 'aggFn'], message: 'A newer rule.' }
    const ofType = { path: ['tile', 'config', 'displayType'], message: 'Another type.' }
    const unionErrors = [[ofType, issue], [], [issue]].map((all) => ({ issues: all }))
    const issues = [{ message: 'No path.' }, { path: ['tile'] }, { path: ['tile'], message: 'No type.', unionErrors }]
    const text = `MCP error -32602: Input validation error: Invalid arguments for tool clickstack_patch_dashboard: ${JSON.stringify(issues)}`
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }], isError: true } })
    emulator().addFault({ match: { path: '/mcp' }, effect: { kind: 'body', text: body } })
    const wider = fileWith(withTile('First', () => ({ w: 24 })))
    const [failed] = (await one.apply(wider)).objects
    expect(failed).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining(
        'cannot patch the tile "First" (plan with WATCHKEEPER_REPAIR: rewrite to write all tiles): config.select[0].aggFn: A newer rule',
      ),
    })
    expect(stored).toEqual(before)
    expect((await one.plan(wider, { repair: ['rewrite'] })).objects[0]).toMatchObject({ action: 'update', rewrites: ['First', 'Second'] })
    expect(outcomes(await one.apply(wider, { repair: ['rewrite'] }))).toEqual({ 'by-hand': 'updated' })
    expect(writes().slice(from)).toEqual(['first', 'PUT'])
  }))

it('does not overwrite a tile that another user edits between two patches', () =>
  withSite(
    {
      ...emulator(),
      url: emulator().url,
      through: (api) => ({
        ...api,
        write: async (call) => {
          const answer = await api.write(call)
          const [, second] = serviceOf(emulator()).dashboards[0]?.tiles ?? []
          if (second !== undefined && writes().at(-1) === 'first') second.name = 'Of another user'
          return answer
        },
      }),
    },
    'hyperdx',
    async (one) => {
      const stored = save()
      await one.apply(fileWith())
      const wider = fileWith(({ tiles }) => ({ tiles: tiles.map((tile) => ({ ...tile, h: 9 })) }))
      expect((await one.apply(wider)).objects[0]).toMatchObject({
        outcome: 'failed',
        message: expect.stringContaining('has changed since the plan'),
      })
      expect(stored.tiles.slice(0, 2)).toMatchObject([
        { name: 'First', h: 9 },
        { name: 'Of another user', h: 6 },
      ])
      expect(writes().at(-1)).toBe('first')
    },
  ))

it('warns of a link without a language in a tile that an adoption leaves as it is', () =>
  site(async (one) => {
    const sourceId = serviceOf(emulator()).sources[0]?.id
    const onClick = { type: 'search', target: { mode: 'id', id: sourceId }, whereTemplate: 'a' }
    const config = { displayType: 'table', sourceId, select: [{ aggFn: 'count', where: '', whereLanguage: 'lucene' }], onClick }
    save({ tiles: [{ id: 'table', name: 'Table', x: 0, y: 0, w: 6, h: 6, config }] as never })
    const { diagnostics } = await one.plan(afterPull({}, await one.pull({})))
    expect(diagnostics).toMatchObject([
      { rule: 'missing-language', severity: 'warning', message: expect.stringContaining('WATCHKEEPER_REPAIR: rewrite') },
    ])
  }))
