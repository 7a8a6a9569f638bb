// Patches of dashboards through the tool of a self-hosted server, which keep what the API does not show.
import { afterEach, expect, it } from 'vitest'
import { demo, type Emulator, type EmulatorOptions, type Fault, startEmulator } from '../../../../src/emulator/index.ts'
import { dashboardCollection } from '../../../../src/kinds/dashboard/dashboard-wire.ts'
import { canPatchTile, type DashboardPatch, patchDashboard } from '../../../../src/kinds/dashboard/patch-dashboard.ts'
import type { Body } from '../../../../src/kinds/kind.ts'
import { profileNamed } from '../../../../src/platform/api/profiles.ts'
import { holds } from '../../../../src/platform/core/equality.ts'
import { storesNothing } from '../../../support/emulator.ts'
import { apiErrorOf, openSession, type TestSession } from '../../../support/session.ts'

let started: Emulator | undefined
let opened: TestSession | undefined

afterEach(async () => {
  await opened?.close()
  await started?.close()
})

async function open(options: EmulatorOptions = {}) {
  const emulator = await startEmulator({ dialect: 'hyperdx', rateLimit: 'off', ...options })
  started = emulator
  const { sources = [] } = emulator.store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout) ?? {}
  const sourceId = sources.find(({ kind }) => kind === 'log')?.id ?? ''
  const url = `${emulator.url}/api/v2`
  const session = openSession(url, { profile: profileNamed('hyperdx'), credentials: { accessKey: demo.apiKeySecret } })
  opened = session
  const line = { displayType: 'line', sourceId, select: [{ aggFn: 'count', where: '', whereLanguage: 'lucene' }] }
  const hidden = { ...line, where: 'SeverityText:"fatal"', whereLanguage: 'lucene', granularity: '5 minute' }
  const stored = emulator.saveInWebApp({
    name: 'Made by hand',
    tiles: [
      { id: 'first', name: 'First', config: hidden },
      { id: 'second', name: 'Second', config: hidden },
      { id: 'third', name: 'Third', config: { configType: 'promql', displayType: 'line', promqlExpression: 'up' } },
    ],
  })
  const before = structuredClone(stored)
  const target = { serverUrl: url }
  const patch = (given: DashboardPatch) => patchDashboard(session.api, target, { id: stored.id, compose: () => given })
  const sent = () => emulator.requests.filter(({ path }) => path === '/mcp').map(({ body }) => (body as { method: string }).method)
  return { emulator, session, target, stored, before, line, patch, sent }
}

it('W4: writes the name and the tags, and every tile stays as it is stored', async () => {
  const { stored, before, patch, emulator, session } = await open()
  const { object } = await patch({ name: 'Renamed', tags: ['owned'] })
  expect(object).toMatchObject({ id: stored.id, name: 'Renamed', tags: ['owned'] })
  expect(stored).toEqual({ ...before, name: 'Renamed', tags: ['owned'] })
  // W4: the tool is a write, and the list of tools is not.
  await session.api.hasPatchTool()
  expect(emulator.requests.filter((one) => one.path === '/mcp').map(storesNothing)).toEqual([false, true])
})

it('writes one tile, and only that tile loses what the API does not show', async () => {
  const { stored, before, line, patch } = await open()
  const { object } = await patch({ tileId: 'second', tile: { name: 'Patched', x: 0, y: 9, w: 6, h: 4, config: line } })
  expect(object.tiles).toMatchObject([{ name: 'First' }, { id: 'second', name: 'Patched', y: 9 }])
  expect(stored.tiles).toEqual([
    before.tiles[0],
    { id: 'second', name: 'Patched', x: 0, y: 9, w: 6, h: 4, config: expect.anything() },
    before.tiles[2],
  ])
  expect(stored.tiles[1]?.config).not.toHaveProperty('where')
})

const lost = (act: 'before' | 'after'): Fault => ({ match: { method: 'POST' }, act, effect: { kind: 'reset' } })

it('sends a patch again after a lost answer only if it was not applied', async () => {
  for (const act of ['before', 'after'] as const) {
    const { stored, patch, sent, emulator } = await open()
    emulator.addFault(lost(act))
    await patch({ name: 'Renamed', tags: [] })
    expect(stored.name, act).toBe('Renamed')
    expect(sent(), act).toHaveLength(act === 'before' ? 2 : 1)
    await opened?.close()
    await emulator.close()
  }
})

it('does not know the outcome after a lost answer when another user changed the dashboard', async () => {
  const { stored, session, target, sent, emulator } = await open()
  emulator.addFault(lost('before'))
  // After the dashboard was read.
  const compose = () => {
    stored.savedQuery = 'theirs'
    return { name: 'Renamed', tags: [] }
  }
  expect(await apiErrorOf(patchDashboard(session.api, target, { id: stored.id, compose }))).toMatchObject({
    kind: 'network',
    outcomeUnknown: true,
  })
  expect(sent()).toHaveLength(1)
})

it('reports a refusal of the tool with its words, and does not repeat it', async () => {
  const { patch, before, stored, line, sent } = await open()
  const failed = await apiErrorOf(patch({ tileId: 'gone', tile: { name: 'T', config: line } }))
  expect(failed).toMatchObject({ kind: 'refused', outcomeUnknown: false, message: expect.stringContaining('Tile not found: gone') })
  expect(stored).toEqual(before)
  expect(sent()).toHaveLength(1)
})

it('cuts a refusal of the input to the reason for this type of tile, and says how the plan announces another write', async () => {
  const { patch, before, stored, line } = await open()
  const select = [{ aggFn: 'count' }, { aggFn: 'sum', valueExpression: 'Value', metricType: 'histogram', metricName: 'm' }]
  const { message } = await apiErrorOf(patch({ tileId: 'first', tile: { name: 'T', config: { ...line, select } } }))
  expect(message).toContain(
    'cannot patch the tile "T" (plan with WATCHKEEPER_REPAIR: rewrite to write all tiles): config.select[1].aggFn: Histogram metrics only support aggFn "quantile" (with level) or "count" today',
  )
  expect(message).not.toContain('expected "pie"')
  expect(stored).toEqual(before)
})

it('is not sent after a stop', async () => {
  const { session, patch, sent } = await open()
  session.stop()
  await expect(patch({ name: 'Renamed', tags: [] })).rejects.toMatchObject({ kind: 'canceled' })
  expect(sent()).toEqual([])
})

it('asks for the tool once, and a server without it has none', async () => {
  const first = await open()
  expect(await Promise.all([first.session.api.hasPatchTool(), first.session.api.hasPatchTool()])).toEqual([true, true])
  expect(first.sent()).toEqual(['tools/list'])
  await opened?.close()
  await started?.close()
  const { session } = await open({ hasMcp: false })
  expect(await session.api.hasPatchTool()).toBe(false)
})

it('does not know whether a server that is out of order has the tool', async () => {
  const { session, emulator } = await open()
  emulator.addFault({ match: { path: '/mcp' }, effect: { kind: 'status', status: 500 }, times: 100 })
  await expect(session.api.hasPatchTool()).rejects.toMatchObject({ kind: 'server' })
})

it('knows which tiles the tool keeps', async () => {
  const { session, target, stored, line, patch } = await open()
  const connectionId = started?.store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)?.connections[0]?.id ?? ''
  const average = { aggFn: 'avg', valueExpression: 'Duration', where: '', whereLanguage: 'lucene' }
  const sql = { configType: 'sql', displayType: 'line', connectionId, sqlTemplate: 'SELECT 1' }
  const item = (more: Body): Body => ({ ...line, select: [average, { ...average, ...more }] })
  const metric = (more: Body): Body => item({ metricType: 'gauge', metricName: 'm', ...more })
  const histograms = ['histogram', 'exponential histogram']
  const kept: readonly Body[] = [
    line,
    { ...line, seriesLimit: 3, numberFormat: { output: 'byte', mantissa: 1 } },
    sql,
    { ...sql, sourceId: line.sourceId, sqlTemplate: 'SELECT 1 FROM $__sourceTable WHERE $__filters' },
    { ...sql, sqlTemplate: 'SELECT 1 WHERE $__filtersX' },
    metric({ aggFn: 'quantile' }),
    metric({ aggFn: 'increase', metricType: 'sum' }),
    item({ metricName: '' }),
    ...histograms.map((metricType) => metric({ metricType, aggFn: 'quantile', level: 0.5 })),
    ...histograms.map((metricType) => metric({ metricType, aggFn: 'count', valueExpression: undefined })),
  ]
  const others: readonly Body[] = [
    item({ periodAggFn: 'delta' }),
    { ...line, numberFormat: { output: 'byte', numericUnit: 'bytes_si' } },
    { ...sql, seriesLimit: 3 },
    item({ whereLanguage: 'promql' }),
    metric({ metricType: 'summary' }),
    { ...sql, sqlTemplate: "SELECT '$__filters'" },
    { ...sql, sqlTemplate: 'SELECT 1 -- $__sourceTable' },
    metric({ metricName: undefined }),
    metric({ metricType: undefined }),
    metric({ aggFn: 'increase' }),
    item({ aggFn: 'increase' }),
    ...histograms.map((metricType) => metric({ metricType, aggFn: 'sum' })),
    ...histograms.map((metricType) => metric({ metricType, aggFn: 'quantile' })),
  ]
  for (const config of [...kept, ...others]) {
    const tile = { name: 'T', x: 0, y: 0, w: 6, h: 4, config }
    const { object } = await patch({ tileId: 'first', tile }).catch(() => ({ object: undefined }))
    const { tiles } = await dashboardCollection.get(session.api, target, stored.id)
    const isKept = object !== undefined && holds(tiles[0]?.config, JSON.parse(JSON.stringify(config)))
    expect([canPatchTile(tile), isKept], JSON.stringify(config)).toEqual([kept.includes(config), kept.includes(config)])
  }
  expect(canPatchTile({ name: '', config: line })).toBe(false)
})
