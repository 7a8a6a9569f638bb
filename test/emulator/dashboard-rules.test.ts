import { describe, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/index.ts'
import { call, dashboardBody, type Json, lineConfig, logsId, observability, start, tile } from './support.ts'

const missing = 'ffffffffffffffffffffffff'
const unknown = (name: string): string => `400 BAD_REQUEST: request body property can't be validated: ${name}`

async function refusal(emulator: Emulator, more: Json): Promise<string> {
  const { status, json } = await call(emulator, 'POST', `${observability}/dashboards`, { body: dashboardBody(emulator, more) })
  return `${status} ${json.error ?? 'created'}`
}

const note: Json = { displayType: 'markdown', markdown: 'x' }
const notes = (count: number, more: Json = {}) => Array.from({ length: count }, () => tile(note, more))
const container = (more: Json = {}): Json => ({ id: 'c', title: 'C', collapsed: false, ...more })
const repeat = <T>(item: T, count: number): T[] => Array.from({ length: count }, () => item)

describe('the body of a dashboard', () => {
  it.each([
    ['an id', { id: missing }, 'id'],
    ['a field of the answer of others', { createdAt: null }, 'createdAt'],
    ['a key of the language itself', JSON.parse('{"__proto__": 1}') as Json, '__proto__'],
    ['something in a tile', { tiles: [tile(note, { color: 'red' })] }, 'tiles.0.color'],
    ['something in a config', { tiles: [tile({ ...note, title: 'x' })] }, 'tiles.0.config.title'],
    ['something in a config, other mistakes or not', { name: 7, tiles: [tile({ ...note, title: 'x' })] }, 'tiles.0.config.title'],
    ['the deprecated series of a tile', { tiles: [tile(note, { series: [] })] }, 'tiles.0.series'],
    ['the id of a new filter', { filters: [{ id: missing }] }, 'filters.0.id'],
    ['something in a container', { containers: [container({ color: 'red' })] }, 'containers.0.color'],
  ])('may not hold %s', async (_, more, name) => {
    expect(await refusal(await start(), more)).toBe(unknown(name))
  })

  it.each([
    ['no name', { name: undefined }, 'name'],
    ['a name of 1025', { name: 'x'.repeat(1025) }, 'name'],
    ['no tiles', { tiles: undefined }, 'tiles'],
    ['501 tiles', { tiles: notes(501) }, 'tiles'],
    ['a tile without a config', { tiles: [{ name: 'x', x: 0, y: 0, w: 1, h: 1 }] }, 'tiles.0.config'],
    ['a tile without a name', { tiles: notes(1, { name: undefined }) }, 'tiles.0.name'],
    ['two tiles of one id', { tiles: notes(2, { id: 'same' }) }, 'tiles'],
    ['a tile id of 37', { tiles: notes(1, { id: 'x'.repeat(37) }) }, 'tiles.0.id'],
    ['x = -1', { tiles: notes(1, { x: -1 }) }, 'tiles.0.x'],
    ['x = 24', { tiles: notes(1, { x: 24 }) }, 'tiles.0.x'],
    ['x = 1.5', { tiles: notes(1, { x: 1.5 }) }, 'tiles.0.x'],
    ['y = -1', { tiles: notes(1, { y: -1 }) }, 'tiles.0.y'],
    ['w = 0', { tiles: notes(1, { w: 0 }) }, 'tiles.0.w'],
    ['w = 25', { tiles: notes(1, { w: 25 }) }, 'tiles.0.w'],
    ['h = 0', { tiles: notes(1, { h: 0 }) }, 'tiles.0.h'],
    ['51 tags', { tags: repeat('t', 51) }, 'tags'],
    ['a tag of 33', { tags: ['x'.repeat(33)] }, 'tags.0'],
    ['51 containers', { containers: repeat(container(), 51) }, 'containers'],
    ['an empty container title', { containers: [container({ title: '' })] }, 'containers.0.title'],
    ['21 tabs', { containers: [container({ tabs: repeat({ id: 't', title: 'T' }, 21) })] }, 'containers.0.tabs'],
    ['another query language', { savedQueryLanguage: 'kql' }, 'savedQueryLanguage'],
  ])('is refused with %s', async (_, more, path) => {
    expect(await refusal(await start(), more)).toMatch(new RegExp(`^400 BAD_REQUEST: ${path.replaceAll('.', '\\.')}: `))
  })

  it.each([
    { name: 'x'.repeat(1024), tiles: notes(500) },
    { tiles: [tile(note, { id: 'x'.repeat(36), x: 23, y: 10_000, w: 24, h: 500, containerId: 'c', tabId: 't' })] },
    { tags: repeat('x'.repeat(32), 50), tiles: [] },
    { containers: repeat(container({ id: 'x'.repeat(256), tabs: repeat({ id: 't', title: 'T' }, 20) }), 50) },
  ])('is accepted at the limits: %#', async (more) => {
    expect(await refusal(await start(), more)).toBe('200 created')
  })
})

describe('the filters of a dashboard', () => {
  it.each([
    [{ type: 'OTHER' }, 'type'],
    [{ name: '' }, 'name'],
    [{ expression: '' }, 'expression'],
    [{ sourceId: missing }, 'sourceId'],
    [{ variableName: '1st' }, 'variableName'],
    [{ variableName: 'x'.repeat(65) }, 'variableName'],
    [{ sourceMetricType: 'rate' }, 'sourceMetricType'],
  ])('are refused with %j', async (change, path) => {
    const emulator = await start()
    const filter = { type: 'QUERY_EXPRESSION', name: 'n', expression: 'e', sourceId: logsId(emulator), ...change }
    expect(await refusal(emulator, { filters: [filter] })).toMatch(new RegExp(`^400 BAD_REQUEST: filters.0.${path}: `))
  })

  it('must each have an id in an update', async () => {
    const emulator = await start()
    const { json } = await call(emulator, 'POST', `${observability}/dashboards`, { body: dashboardBody(emulator) })
    const filter = { type: 'QUERY_EXPRESSION', name: 'n', expression: 'e', sourceId: logsId(emulator) }
    const put = (one: Json) =>
      call(emulator, 'PUT', `${observability}/dashboards/${json.id}`, { body: { name: 'N', tiles: [], filters: [one] } })
    expect((await put(filter)).json.error).toMatch(/^BAD_REQUEST: filters\.0\.id: /)
    expect((await put({ ...filter, id: 'any' })).status).toBe(200)
  })
})

describe('the config of a tile', () => {
  const count: Json = { aggFn: 'count' }
  const average: Json = { aggFn: 'avg', valueExpression: 'Duration' }
  const configOf = (emulator: Emulator, more: Json): Json => ({ ...lineConfig(emulator), ...more })
  const refusalOf = (emulator: Emulator, config: Json) => refusal(emulator, { tiles: [tile(config)] })

  it.each([
    ['an unknown display type', { displayType: 'radar' }, 'displayType'],
    ['no display type', { displayType: undefined }, 'displayType'],
    ['no source', { sourceId: undefined }, 'sourceId'],
    ['a source that does not exist', { sourceId: missing }, 'sourceId'],
    ['nothing selected', { select: [] }, 'select'],
    ['21 items', { select: repeat(count, 21) }, 'select'],
    ['an unknown function', { select: [{ aggFn: 'median', valueExpression: 'x' }] }, 'select.0.aggFn'],
    ['a level that is none', { select: [{ aggFn: 'quantile', valueExpression: 'x', level: 0.8 }] }, 'select.0.level'],
    ['a level beside another function', { select: [{ ...average, level: 0.5 }] }, 'select.0.level'],
    ['a value to count', { select: [{ aggFn: 'count', valueExpression: 'x' }] }, 'select.0.valueExpression'],
    ['no value to average', { select: [count, { aggFn: 'avg' }] }, 'select.1.valueExpression'],
    ['a ratio of one', { asRatio: true }, 'asRatio'],
    ['a ratio of three', { asRatio: true, select: repeat(count, 3) }, 'asRatio'],
    ['a ratio beside a formula', { asRatio: true, select: repeat(count, 2), formulas: [{ expression: 'A' }] }, 'formulas'],
    ['11 formulas', { formulas: repeat({ expression: 'A' }, 11) }, 'formulas'],
    ['a formula of 1025', { formulas: [{ expression: 'A'.repeat(1025) }] }, 'formulas.0.expression'],
    ['a where of 10001', { select: [{ ...count, where: 'x'.repeat(10_001) }] }, 'select.0.where'],
    ['a groupBy of 10001', { groupBy: 'x'.repeat(10_001) }, 'groupBy'],
    ['two items in a number', { displayType: 'number', select: repeat(count, 2) }, 'select'],
    ['two formulas in a number', { displayType: 'number', formulas: repeat({ expression: 'A' }, 2) }, 'formulas'],
    ['two items in a pie', { displayType: 'pie', select: repeat(count, 2) }, 'select'],
    ['two items in a bar', { displayType: 'bar', select: repeat(count, 2) }, 'select'],
    ['two items in a heatmap', { displayType: 'heatmap', select: repeat({ valueExpression: 'x' }, 2) }, 'select'],
    ['11 colour rules', { displayType: 'number', colorRules: repeat({ operator: 'gt', value: 1, color: 'chart-red' }, 11) }, 'colorRules'],
  ])('is refused with %s', async (_, more, path) => {
    const emulator = await start()
    const pattern = `tiles.0.config.${path}`.replaceAll('.', '\\.')
    expect(await refusalOf(emulator, configOf(emulator, more))).toMatch(new RegExp(`^400 BAD_REQUEST: ${pattern}: `))
  })

  it.each([
    ['line', { fitYAxisToData: true, compareToPreviousPeriod: true, seriesLimit: 0, select: [average], numberFormat: { output: 'byte' } }],
    ['stacked_bar', { fillNulls: true, formulas: [{ expression: 'A / B', alias: 'r' }], showOperandSeries: false, select: [count, count] }],
    [
      'table',
      { having: 'count() > 1', orderBy: '1', groupByColumnsOnLeft: true, onClick: { type: 'external', urlTemplate: 'https://x.example' } },
    ],
    [
      'number',
      { color: 'chart-green', colorRules: [{ operator: 'between', value: [1, 2], color: 'chart-red' }], backgroundChart: { type: 'area' } },
    ],
    ['pie', { limit: 5, select: [{ aggFn: 'quantile', level: 0.95, valueExpression: 'Duration' }] }],
    ['bar', { groupBy: 'ServiceName' }],
    ['heatmap', { select: [{ valueExpression: 'Duration', heatmapScaleType: 'log' }], where: 'x', whereLanguage: 'sql' }],
    ['search', { select: 'Body', whereLanguage: 'lucene' }],
    ['event_patterns', { select: undefined, where: 'x' }],
  ])('of display type %s takes its own fields', async (displayType, more) => {
    const emulator = await start()
    expect(await refusalOf(emulator, configOf(emulator, { displayType, ...more }))).toBe('200 created')
  })

  it.each([
    ['number', { groupBy: 'x' }, 'groupBy'],
    ['pie', { asRatio: true }, 'asRatio'],
    ['bar', { having: 'x' }, 'having'],
    ['stacked_bar', { fitYAxisToData: true }, 'fitYAxisToData'],
    ['line', { onClick: { type: 'external', urlTemplate: 'x' } }, 'onClick'],
    ['line', { select: [{ aggFn: 'count', color: 'chart-red' }] }, 'select.0.color'],
    ['line', { numberFormat: { decimals: 2 } }, 'numberFormat.decimals'],
  ])('of display type %s takes no other: %j', async (displayType, more, name) => {
    const emulator = await start()
    expect(await refusalOf(emulator, configOf(emulator, { displayType, ...more }))).toBe(unknown(`tiles.0.config.${name}`))
  })

  it('may be raw SQL for six display types', async () => {
    const emulator = await start()
    const raw = (displayType: string, more: Json = {}): Json => ({
      configType: 'sql',
      connectionId: 'c',
      sqlTemplate: 'SELECT 1',
      displayType,
      ...more,
    })
    for (const name of ['line', 'stacked_bar', 'table', 'number', 'pie', 'bar'])
      expect(await refusalOf(emulator, raw(name))).toBe('200 created')
    expect(await refusalOf(emulator, raw('heatmap'))).toContain('tiles.0.config.displayType: is no display type for raw SQL')
    expect(await refusalOf(emulator, raw('line', { connectionId: undefined }))).toContain('tiles.0.config.connectionId: ')
    expect(await refusalOf(emulator, raw('line', { sqlTemplate: 'x'.repeat(100_001) }))).toContain('tiles.0.config.sqlTemplate: ')
    expect(await refusalOf(emulator, raw('line', { select: [] }))).toBe(unknown('tiles.0.config.select'))
    expect(await refusalOf(emulator, raw('line', { sourceId: missing }))).toContain('tiles.0.config.sourceId: source')
  })

  it('may be markdown of 50,000 characters, and no more', async () => {
    const emulator = await start()
    expect(await refusalOf(emulator, { ...note, markdown: 'x'.repeat(50_000) })).toBe('200 created')
    expect(await refusalOf(emulator, { ...note, markdown: 'x'.repeat(50_001) })).toContain('400 BAD_REQUEST: tiles.0.config.markdown: ')
  })
})
