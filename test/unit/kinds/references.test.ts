import { describe, expect, it } from 'vitest'
import { checkReferences, referenceRules } from '../../../src/kinds/references.ts'
import { cpuRatio } from '../../support/clocks.ts'
import { fileWith, lines, messages, readDeclarations, readText, readValue } from '../../support/declarations.ts'

const check = (value: unknown): readonly string[] => {
  const read = readValue(value)
  return messages([...read.diagnostics, ...checkReferences(read)])
}

type Fields = Readonly<Record<string, unknown>>

const nothing = undefined
const search = { savedSearches: { s: { name: 'S', sourceId: 'x' } } }
const onSearch = { dashboard: nothing, tile: nothing, savedSearch: 's' }

it('a previous key is one that no object of its kind has any more, and that only one object had', () => {
  const searches = (keys: Readonly<Record<string, string | undefined>>) =>
    Object.fromEntries(Object.entries(keys).map(([key, previousKey]) => [key, { name: key, sourceId: 'x', previousKey }]))
  const of = (keys: Readonly<Record<string, string | undefined>>, more: object = {}) => check({ savedSearches: searches(keys), ...more })
  expect(of({ a: 'old', b: 'older' })).toEqual([])
  expect(of({ a: 'old', b: 'old' })).toEqual([
    'previous-key: savedSearches.b.previousKey: savedSearches.old is also the previousKey of another object',
  ])
  expect(of({ a: 'b', b: undefined })).toEqual(['previous-key: savedSearches.a.previousKey: savedSearches.b is still declared'])
  expect(of({ a: 'd' }, { dashboards: { e: { name: 'E', tags: ['t'], tiles: [], previousKey: 'a' } } })).toEqual([])
})

describe('what an alert watches', () => {
  it.each([
    ['a tile by name', fileWith()],
    ['a tile by id', fileWith({ alert: { tile: { id: 'x' } } })],
    ['a dashboard that exists, by name', fileWith({ alert: { dashboard: { name: 'x' } } })],
    ['a dashboard that exists, by id', fileWith({ alert: { dashboard: { id: 'x' } } })],
    ['a saved search', fileWith({ alert: onSearch, more: search })],
    ['a saved search that exists', fileWith({ alert: { ...onSearch, savedSearch: { name: 'x' } } })],
    ['a tile that is raw', fileWith({ tile: { config: nothing, raw: { x: 1 } } })],
    ['a saved search, by groups', fileWith({ alert: { ...onSearch, groupBy: 'x' }, more: search })],
    ['a tile from some time on', fileWith({ alert: { scheduleStartAt: '2026-01-31T08:00:00Z', scheduleOffsetMinutes: 0 } })],
  ])('an alert may watch %s', (_, file) => {
    expect(check(file)).toEqual([])
  })

  it.each([
    [{ dashboard: nothing, tile: nothing }, 'alert-target: alerts.a: watches nothing; add a query, dashboard and tile, or savedSearch'],
    [{ tile: nothing }, 'alert-target: alerts.a: watches a tile and needs tile, too'],
    [{ dashboard: nothing }, 'alert-target: alerts.a: watches a tile and needs dashboard, too'],
    [{ savedSearch: 's' }, 'alert-target: alerts.a: must watch either a tile or a savedSearch, not both'],
    [
      { dashboard: 'dd' },
      'dangling-reference: alerts.a.dashboard: "dd" is not a key in these files; did you mean "d"? To refer to an existing one, use { name: … } or { id: … }',
    ],
    [
      { dashboard: 'elsewhere' },
      'dangling-reference: alerts.a.dashboard: "elsewhere" is not a key in these files; to refer to an existing one, use { name: … } or { id: … }',
    ],
    [{ tile: 't' }, 'dangling-reference: alerts.a.tile: dashboard d has no tile named "t"; did you mean "T"?'],
    [
      { channels: [{ type: 'email', emailRecipients: ['a@b.c'] }] },
      'conflicting-fields: alerts.a.channels: cannot be combined with channel; use one of the two',
    ],
    [{ groupBy: 'x' }, 'conflicting-fields: alerts.a.groupBy: is only for alerts on a savedSearch; a tile has its own grouping'],
    [
      { scheduleStartAt: '2026-01-31T08:00:00Z', scheduleOffsetMinutes: 3 },
      'conflicting-fields: alerts.a.scheduleOffsetMinutes: must be 0 if scheduleStartAt is set',
    ],
  ])('an alert may not watch %j', (alert, message) => {
    expect(check(fileWith({ alert }))).toEqual([message])
  })

  it('an alert may not watch one of two tiles with the same name', () => {
    const file = fileWith()
    const { d } = file.dashboards
    const twice = { ...file, dashboards: { d: { ...d, tiles: [...d.tiles, ...d.tiles] } } }
    expect(check(twice)).toEqual([
      'ambiguous-tile: alerts.a.tile: dashboard d has several tiles named "T"; rename them so that each name is unique',
    ])
  })

  it('a message has 60 characters of a name', () => {
    const name = 'x'.repeat(100)
    const cut = `"${'x'.repeat(60)}… (40 more characters)"`
    const dashboardWith = (tile: Fields) => fileWith({ alert: { tile: name }, tile })
    const { d } = dashboardWith({ name }).dashboards
    const sql = { configType: 'sql', displayType: 'line', connectionId: 'c', sqlTemplate: 'SELECT 1' }
    const inContainer = (fields: Fields) => fileWith({ tile: fields, dashboard: { containers: [{ id: name, title: 'C' }] } })
    const cases: readonly [object, string][] = [
      [dashboardWith({}), `alerts.a.tile: dashboard d has no tile named ${cut}`],
      [
        { ...dashboardWith({ name }), dashboards: { d: { ...d, tiles: [...d.tiles, ...d.tiles] } } },
        `has several tiles named ${cut}; rename`,
      ],
      [dashboardWith({ name, config: sql }), `the SQL of tile ${cut} must use the interval`],
      [fileWith({ alert: { dashboard: name } }), `alerts.a.dashboard: ${cut} is not a key in these files`],
      [inContainer({ containerId: `${name}y` }), `no container has the id ${cut.replace('40', '41')}`],
      [inContainer({ containerId: name, tabId: name }), `container ${cut} has no tab ${cut}`],
    ]
    for (const [file, message] of cases) expect(check(file).join('\n')).toContain(message)
  })

  it('an alert may not watch a tile that cannot have alerts', () => {
    expect(check(fileWith({ tile: { config: { displayType: 'markdown', markdown: 'x' } } }))).toEqual([
      'tile-without-alerts: alerts.a.tile: a tile of type markdown cannot have alerts; types that can: line, stacked_bar, number',
    ])
  })

  it('an alert may watch an object in another file, in any order', () => {
    const { dashboards, alerts } = fileWith()
    const files = [{ alerts }, { dashboards }].map((part, i) => ({ path: `${i}.json`, text: JSON.stringify(part) }))
    const read = readDeclarations(files, () => undefined)
    expect(checkReferences(read)).toEqual([])
  })

  it('does not report a watched object as missing when it has another error', () => {
    expect(check(fileWith({ dashboard: { nam: 'x' } }))).toEqual(['schema: dashboards.d: "nam" is an unknown field; did you mean "name"?'])
  })

  it('does not report a watched object as missing while a file that may declare it cannot be read', () => {
    const files = [
      { path: 'a.json', text: JSON.stringify({ alerts: fileWith().alerts }) },
      { path: 'b.yml', text: 'a: [' },
    ]
    expect(checkReferences(readDeclarations(files, () => undefined))).toEqual([])
  })

  it('a missing object is reported at the location of the reference', () => {
    const read = readText('alerts:\n  a:\n    name: A\n    threshold: 1\n    interval: 5m\n    dashboard: x\n    tile: T\n')
    expect(lines(checkReferences(read))[0]).toMatch(/^f\.yml:6:16 dangling-reference/)
  })

  it('reports a reference to a missing object in about the same time among hundreds and among thousands of others', {
    tags: 'slow',
  }, async () => {
    const { d } = fileWith().dashboards
    const { a } = fileWith().alerts
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
    const prepare = (count: number) => {
      const read = readValue({
        dashboards: Object.fromEntries(numbers(count).map((i) => [`d${i}`, { ...d, tiles: [] }])),
        alerts: Object.fromEntries(numbers(40).map((i) => [`a${i}`, { ...a, dashboard: `missing-${i}` }])),
      })
      return () => expect(checkReferences(read)).toHaveLength(40)
    }
    expect(await cpuRatio(prepare(3000), prepare(300), 4)).toBeLessThanOrEqual(4)
  })
})

it('the list of rules has a description of every rule', () => {
  expect(Object.values(referenceRules).every(({ description }) => /^[A-Z].*\.$/.test(description))).toBe(true)
})
