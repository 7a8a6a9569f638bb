import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../../src/kinds/marker.ts'
import { lines, messages, readText, readValue } from '../../../support/declarations.ts'

const chart = { displayType: 'line', select: [{ aggFn: 'count' }] }
const config = { ...chart, source: 'Logs' }
const longConfig = { ...chart, sourceId: { source: 'Logs' } }

const expandedOf = (dashboard: object): unknown => {
  const { objects, diagnostics } = readValue({ dashboards: { d: { name: 'D', ...dashboard } } })
  return diagnostics.length > 0 ? messages(diagnostics) : objects[0]?.value
}

const problemsOf = (dashboard: object): readonly string[] =>
  messages(readValue({ dashboards: { d: { name: 'D', ...dashboard } } }).diagnostics)

describe('the spelling of a dashboard', () => {
  it('the spelling of a dashboard does not change its digest, which the ownership marker contains', () => {
    const long = {
      tiles: [
        { name: 'A', x: 0, y: 0, w: 12, h: 6, config: longConfig },
        { name: 'B', x: 12, y: 0, w: 6, h: 6, config: longConfig },
      ],
    }
    const spellings = [
      {
        tiles: [
          { name: 'A', at: [0, 0, 12, 6], config: longConfig },
          { name: 'B', at: [12, 0, 6, 6], config },
        ],
      },
      {
        tiles: [
          { name: 'A', config },
          { name: 'B', w: 6, config },
        ],
      },
      {
        rows: [
          {
            tiles: [
              { name: 'A', config },
              { name: 'B', w: 6, config },
            ],
          },
        ],
      },
    ]
    for (const spelling of spellings) expect(expandedOf(spelling)).toEqual(expandedOf(long))
    // The digest that earlier versions wrote for this declaration.
    expect(digestOf(expandedOf(long))).toBe('7d6f7b')
  })

  it('the spelling of a dashboard has a container for each row with a name, and coordinates from 0 inside it', () => {
    const long = {
      tiles: [
        { name: 'A', x: 0, y: 0, w: 12, h: 6, config },
        { name: 'B', x: 0, y: 0, w: 12, h: 6, config, containerId: 'error-rate-99' },
        { name: 'C', x: 0, y: 6, w: 12, h: 6, config },
      ],
      containers: [{ id: 'error-rate-99', title: ' Error rate (99 %)', collapsed: true }],
    }
    const rows = [
      { tiles: [{ name: 'A', config }] },
      { name: ' Error rate (99 %)', collapsed: true, tiles: [{ name: 'B', config }] },
      { tiles: [{ name: 'C', config }] },
    ]
    expect(expandedOf({ rows })).toEqual(expandedOf(long))
    expect(expandedOf({ rows: [{ name: '!', id: 'x', tiles: [] }] })).toEqual(
      expandedOf({ tiles: [], containers: [{ id: 'x', title: '!' }] }),
    )
  })

  it('the spelling of a dashboard has a grid for each container and tab', () => {
    const tiles = [
      { name: 'A', config },
      { name: 'B', config, containerId: 'c' },
    ]
    const value = expandedOf({ tiles, containers: [{ id: 'c', title: 'C' }] })
    expect(value).toMatchObject({
      tiles: [
        { x: 0, y: 0 },
        { x: 0, y: 0 },
      ],
    })
  })

  it('the spelling of a dashboard can name sources by name everywhere', () => {
    const filter = { name: 'F', expression: 'x' }
    const sources = [{ source: 'Logs' }, { source: 'Traces' }]
    expect(expandedOf({ tiles: [], filters: [{ ...filter, source: 'Logs', appliesToSources: ['Logs', 'Traces'] }] })).toEqual(
      expandedOf({ tiles: [], filters: [{ ...filter, sourceId: sources[0], appliesToSourceIds: sources }] }),
    )
    const [search] = readValue({ savedSearches: { s: { name: 'S', source: 'Logs' } } }).objects
    expect(search?.value).toEqual({ name: 'S', sourceId: { source: 'Logs' } })
    expect(expandedOf({ tiles: [], raw: { source: 'Logs' } })).toMatchObject({ raw: { source: 'Logs' } })
  })
})

it('counts only rows with a name, of which a dashboard has fifty', () => {
  const rows = Array.from({ length: 60 }, (_, i) => ({ ...(i < 50 && { name: `R ${i}` }), tiles: [] }))
  expect(readValue({ dashboards: { d: { name: 'D', rows } } }).diagnostics.map(({ message }) => message)).not.toContainEqual(
    expect.stringContaining('rows with a name'),
  )
})

describe('a wrong layout', () => {
  const tile = (fields: object) => ({ tiles: [{ name: 'A', ...fields }] })

  it.each([
    [{ rows: [{ tiles: [] }], tiles: [] }, 'dashboards.d.tiles: [] cannot be combined with rows'],
    [{ rows: [{ tiles: [] }], containers: [] }, 'dashboards.d.containers: [] cannot be combined with rows'],
    [
      { rows: Array.from({ length: 51 }, (_, i) => ({ name: `R ${i}`, tiles: [] })) },
      expect.stringMatching(/dashboards\.d\.rows: .* must have at most 50 rows with a name$/),
    ],
    [
      { containers: Array.from({ length: 51 }, (_, i) => ({ id: `${i}`, title: 'C' })) },
      expect.stringMatching(/dashboards\.d\.containers: .* at most 50 items$/),
    ],
    [
      { tiles: Array.from({ length: 501 }, (_, i) => ({ name: `T ${i}`, config })) },
      expect.stringMatching(/dashboards\.d\.tiles: .* at most 500 items$/),
    ],
    [
      { containers: [{ id: 'c', title: 'C', tabs: Array.from({ length: 21 }, (_, i) => ({ id: `${i}`, title: 'T' })) }] },
      expect.stringMatching(/dashboards\.d\.containers.*\.tabs: .* at most 20 items$/),
    ],
    [tile({ at: [0, 0, 25, 6] }), 'dashboards.d.tiles["A"].at[2]: 25 is not accepted; accepted: at most 24'],
    [tile({ at: '0 0 12 6' }), 'dashboards.d.tiles["A"].at: "0 0 12 6" is not accepted; accepted: [x, y, w, h], such as [0, 0, 12, 6]'],
    [tile({ at: [0, 0, 12, 6], w: 6 }), 'dashboards.d.tiles["A"].at: [0,0,12,6] cannot be combined with w'],
    [tile({ y: 4 }), 'dashboards.d.tiles["A"].y: 4 needs both x and y; without a position, the tile is placed automatically'],
    [{ rows: [{ collapsed: true, tiles: [] }] }, 'dashboards.d.rows[0].collapsed: true is only for rows with a name'],
    [
      { rows: [{ name: 'R', tiles: [{ name: 'A', containerId: 'c' }] }] },
      'dashboards.d.rows["R"].tiles["A"].containerId: "c" is only for tiles outside of rows',
    ],
    [
      {
        rows: [
          { name: 'a b', tiles: [] },
          { name: 'A-B', tiles: [] },
        ],
      },
      'dashboards.d.rows["A-B"].name: "A-B" has the same id "a-b" as the row "a b"',
    ],
    [
      { rows: [{ name: '!', tiles: [] }] },
      'dashboards.d.rows["!"].name: "!" has no letter and no digit that an id could be made of; add an id',
    ],
    [tile({ config: chart }), 'dashboards.d.tiles["A"].config.source: is missing; accepted: the name of a source'],
    [tile({ config: { ...config, sourceId: 'x' } }), 'dashboards.d.tiles["A"].config.sourceId: "x" cannot be combined with source'],
  ])('a wrong layout is explained: %j', (dashboard, message) => {
    expect(problemsOf(dashboard).map((line) => line.replace('schema: ', ''))).toEqual([message])
  })

  it('a wrong layout has its location in the file, also below a row', () => {
    const text = `dashboards:
  d:
    name: D
    rows:
      - tiles: []
      - name: R
        tiles:
          - { name: A, containerId: c }
`
    expect(lines(readText(text).diagnostics)).toEqual([
      'f.yml:8:37 schema: dashboards.d.rows["R"].tiles["A"].containerId: "c" is only for tiles outside of rows',
    ])
  })
})
