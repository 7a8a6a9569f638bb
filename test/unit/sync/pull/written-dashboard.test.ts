// How a dashboard stands in a file that says some of it already.
import { describe, expect, it } from 'vitest'
import { type DashboardInFile, renderDashboard } from '../../../../src/sync/pull/render.ts'
import { line, tile } from '../../../support/drafts.ts'

const naming = {
  source: (id: unknown) => ({ source: `name of ${id}` }),
  webhook: () => ({}),
  target: () => '',
  tile: () => '',
}

const config = { ...line, sourceId: { source: 'name of s1' } }
const place = { x: 0, y: 0, w: 6, h: 4 }

const saying = (raw: readonly string[], tiles: DashboardInFile['tiles'] = new Map()): DashboardInFile => ({ raw, tiles })

const fieldsOf = (fields: object, said?: DashboardInFile) =>
  renderDashboard({ name: 'D', tiles: [], ...fields }, said === undefined ? { references: naming } : { references: naming, inFile: said })
    .fields

const tilesOf = (tiles: readonly object[], said?: DashboardInFile) => fieldsOf({ tiles }, said).tiles as readonly object[]

describe('the fields of a dashboard', () => {
  it('stand in the order in which somebody reads them, the raw ones last', () => {
    const all = { filters: [], savedQuery: 'x', containers: 5, tags: ['t'], novel: 1 }
    expect(Object.keys(fieldsOf(all, saying(['novel'])))).toEqual(['name', 'tags', 'tiles', 'savedQuery', 'raw'])
    expect(fieldsOf(all, saying(['novel'])).raw).toEqual({ containers: 5, novel: 1 })
  })

  it.each<[string, object, readonly string[], object]>([
    ['goes on to stand in raw', { savedQuery: 'x' }, ['savedQuery'], { raw: { savedQuery: 'x' } }],
    ['stands there although nobody knows it', { novel: { a: [1] } }, ['novel'], { raw: { novel: { a: [1] } } }],
    ['stands there as a number of few digits', { novel: JSON.rawJSON('1.50') }, ['novel'], { raw: { novel: 1.5 } }],
    ['stands there as a list of such numbers', { novel: [JSON.rawJSON('1.50')] }, ['novel'], { raw: { novel: [1.5] } }],
    ['goes from there when the service has it no more', {}, ['novel'], {}],
    ['goes from there when it is nothing', { novel: null }, ['novel'], {}],
    ['stands there once', { containers: 5 }, ['containers'], { raw: { containers: 5 } }],
    ['never stands there, where a mark hangs on it', { tags: ['t'] }, ['tags', 'name', 'tiles'], { tags: ['t'] }],
    ['is left out where nobody said it', { novel: 1 }, [], {}],
  ])('%s', (_, fields, raw, expected) => {
    expect(fieldsOf(fields, saying(raw))).toStrictEqual({ name: 'D', tiles: [], ...expected })
  })

  it('that no schema accepts stand in raw, but never those that a dashboard must have', () => {
    expect(fieldsOf({ name: '', tags: ['x'.repeat(40)] })).toStrictEqual({ name: '', tags: ['x'.repeat(40)], tiles: [] })
  })

  it('are without the mark of this tool', () => {
    expect(fieldsOf({ tags: ['b', 'wk:0a1b2c:key:abcdef', 'a'] })).toStrictEqual({ name: 'D', tags: ['b', 'a'], tiles: [] })
    expect(fieldsOf({ tags: ['wk:0a1b2c:key:abcdef'] })).toStrictEqual({ name: 'D', tiles: [] })
  })
})

describe('the tiles of a dashboard', () => {
  const said = (...names: readonly [string, string, ...string[]][]): DashboardInFile =>
    saying([], new Map(names.map(([id, name, ...raw]) => [id, { name, raw }])))

  const namesOf = (ids: readonly string[], known?: DashboardInFile) =>
    tilesOf(
      ids.map((id) => tile(id, id.toUpperCase())),
      known,
    ).map((one) => (one as { name: string }).name)

  it('stand in the order of the file, and new ones behind them in that of the service', () => {
    expect(namesOf(['n', 'b', 'm', 'a'], said(['a', 'A'], ['gone', 'X'], ['b', 'B']))).toEqual(['A', 'B', 'N', 'M'])
    expect(namesOf(['n', 'b', 'm', 'a'])).toEqual(['N', 'B', 'M', 'A'])
  })

  it('are known by their ids, which stand in no file', () => {
    const { fields, itemIds } = renderDashboard({ name: 'D', tiles: [tile('t1', 'A'), tile('t2', 'A')] }, { references: naming })
    const tiles = fields.tiles as readonly object[]
    expect(tiles.map((one) => itemIds.get(one))).toEqual(['t1', 't2'])
    expect(tiles).toStrictEqual([
      { name: 'A', ...place, config },
      { name: 'A', ...place, config },
    ])
  })

  it.each<[string, object, DashboardInFile | undefined, object]>([
    ['without a name is called by its place', { name: '' }, undefined, { name: 'Tile 1', config, raw: { name: '' } }],
    ['without any name is called by its place', { name: null }, undefined, { name: 'Tile 1', config, raw: { name: '' } }],
    ['without a name is called as the file calls it', { name: '' }, said(['t', 'Mine']), { name: 'Mine', config, raw: { name: '' } }],
    ['with a name is called by it, whatever the file says', { name: 'N' }, said(['t', 'Mine']), { config }],
    ['has in raw what it had there', { w: 6 }, said(['t', 'N', 'w']), { config, raw: { w: 6 } }],
    ['has in raw what nobody knows', { kind: 'beta' }, said(['t', 'N', 'kind']), { config, raw: { kind: 'beta' } }],
    ['has its config in raw where that was there', {}, said(['t', 'N', 'config']), { raw: { config: line } }],
    [
      'has its config in raw where no type accepts it',
      { config: { displayType: 'x' } },
      undefined,
      { raw: { config: { displayType: 'x' } } },
    ],
    ['has its series in raw where there is no config', { config: undefined, series: [1] }, undefined, { raw: { series: [1] } }],
    ['has no series beside a config', { series: [1] }, undefined, { config }],
    ['keeps its place, even one that no grid has', { x: 99 }, undefined, { x: 99, config }],
    ['has nothing of what nobody said', { novel: 1 }, undefined, { config }],
  ])('one %s', (_, fields, known, expected) => {
    expect(tilesOf([{ ...tile('t', 'N'), ...fields }], known)).toStrictEqual([{ name: 'N', ...place, ...expected }])
  })

  it('are numbered by their places in the file where they have no names', () => {
    expect(tilesOf([tile('a', 'A'), tile('b', '')])).toMatchObject([{ name: 'A' }, { name: 'Tile 2' }])
  })
})

describe('the config of a tile', () => {
  const written = (fields: object) => (tilesOf([{ ...tile('t', 'N'), config: fields }])[0] as { config?: unknown }).config

  it.each<[string, object, unknown]>([
    [
      'has the format of its numbers last',
      { ...line, numberFormat: { output: 'percent' }, groupBy: 'x' },
      ['displayType', 'sourceId', 'groupBy', 'select', 'numberFormat'],
    ],
    ['loses what is assumed', { ...line, asRatio: false, groupBy: '' }, ['displayType', 'sourceId', 'select']],
    ['keeps what is not', { ...line, asRatio: true }, ['displayType', 'sourceId', 'asRatio', 'select']],
  ])('%s', (_, fields, expected) => {
    expect(Object.keys(written(fields) as object).toSorted()).toEqual([...(expected as string[])].toSorted())
    expect(Object.keys(written({ ...fields, numberFormat: { output: 'percent' } }) as object).at(-1)).toBe('numberFormat')
  })

  it('keeps what is empty where it must be there', () => {
    const search = { displayType: 'search', sourceId: 's1', select: '', whereLanguage: 'sql', where: '' }
    expect(written(search)).toStrictEqual({ displayType: 'search', sourceId: config.sourceId, select: '', whereLanguage: 'sql' })
  })
})

it('the filters of a dashboard name their sources', () => {
  const filter = { type: 'QUERY_EXPRESSION', name: 'F', expression: 'x', sourceId: 's1', appliesToSourceIds: ['s1', 's2'] }
  expect(fieldsOf({ filters: [{ id: 'f', ...filter }] }).filters).toStrictEqual([
    { name: 'F', expression: 'x', sourceId: config.sourceId, appliesToSourceIds: [config.sourceId, { source: 'name of s2' }] },
  ])
})
