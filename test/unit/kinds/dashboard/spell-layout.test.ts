import { describe, expect, it } from 'vitest'
import { linesBetween } from '../../../support/edits.ts'
import { verifiedPull } from '../../../support/plans.ts'

const file = 'o/a.yml'
const config = { displayType: 'line', sourceId: 's1', select: [{ aggFn: 'count' }] }

const tile = (name: string, [x, y, w = 12, h = 6]: readonly number[], containerId?: string) => ({
  ...{ id: `id-of-${name}`, name, x, y, w, h, config },
  ...(containerId !== undefined && { containerId }),
})

const dashboard = (tiles: readonly object[], containers: readonly object[] = []) => ({
  id: 'd1',
  name: 'Shop',
  tags: [],
  tiles,
  containers,
})

const box = (title: string, fields: object = {}) => ({ id: title.toLowerCase(), title, collapsed: false, ...fields })

const newFile = (tiles: readonly object[], containers?: readonly object[], options = {}): string =>
  Object.values(verifiedPull({ dashboard: [dashboard(tiles, containers)] }, {}, options).after)[0] ?? ''

/** Names and layout, without the charts. */
const layoutLines = (text: string): readonly string[] =>
  text.split('\n').filter((line) => /name:|at:|w:|h:|rows:|tiles:|containers?|id:|collapsed:/.test(line))

describe('a new file', () => {
  it('a new file has the place of each tile, and the containers of the service', () => {
    const tiles = [tile('B', [0, 0], 'details'), tile('A', [0, 7, 8])]
    const containers = [box('Details', { collapsed: true }), { ...box('Other'), id: 'x' }]
    expect(layoutLines(newFile(tiles, containers))).toEqual([
      ...['    name: Shop', '    tiles:'],
      ...['      - name: B', '        at: [0, 0, 12, 6]', '        containerId: details'],
      ...['      - name: A', '        at: [0, 7, 8, 6]'],
      ...['    containers:', '      - { id: details, title: Details, collapsed: true }', '      - { id: x, title: Other }'],
    ])
  })

  it('keeps the order of tiles with the same name, by which plan matches them', () => {
    const tiles = [tile('A', [0, 6]), { ...tile('A', [0, 0]), id: 'second' }]
    expect(layoutLines(newFile(tiles)).filter((line) => line.includes('at:'))).toEqual([
      '        at: [0, 6, 12, 6]',
      '        at: [0, 0, 12, 6]',
    ])
  })
})

const chart = 'config: { displayType: line, source: Logs, select: [{ aggFn: count }] }'

const head = ['dashboards:', '  shop:', '    name: Shop', '    adopt: d1']

const changes = (text: string, tiles: readonly object[], containers?: readonly object[]): readonly string[] =>
  linesBetween(text, verifiedPull({ dashboard: [dashboard(tiles, containers)] }, { [file]: text }).after[file] ?? '')

describe('an existing file', () => {
  const automatic = [...head, '    tiles:', `      - { name: A, ${chart} }`, `      - { name: B, h: 9, ${chart} }`, ''].join('\n')

  it('an existing file stays the same where its layout has the places of the service', () => {
    expect(changes(automatic, [tile('A', [0, 0]), tile('B', [12, 0, 12, 9])])).toEqual([])
  })

  it('an existing file gets a place for a tile that moved', () => {
    const lines = changes(automatic, [tile('A', [0, 0]), tile('B', [0, 20, 12, 9])])
    expect(lines).toEqual([`-      - { name: B, h: 9, ${chart} }`, `+      - { name: B, at: [0, 20, 12, 9], ${chart} }`])
  })

  it('an existing file gets the places of all tiles where one that moved would move the others', () => {
    const lines = changes(automatic, [tile('A', [0, 30]), tile('B', [12, 0, 12, 9])])
    expect(lines.filter((line) => line.startsWith('+')).map((line) => /at: \[[^\]]*\]/.exec(line)?.[0])).toEqual([
      'at: [0, 30, 12, 6]',
      'at: [12, 0, 12, 9]',
    ])
  })

  it('keeps x, y, w and h, and has at for a new tile', () => {
    const text = [...head, '    tiles:', `      - { name: A, x: 0, y: 0, w: 6, h: 4, ${chart} }`, ''].join('\n')
    const lines = changes(text, [tile('A', [6, 0, 6, 4]), tile('B', [0, 4])])
    expect(lines.slice(0, 2)).toEqual([
      `-      - { name: A, x: 0, y: 0, w: 6, h: 4, ${chart} }`,
      `+      - { name: A, x: 6, y: 0, w: 6, h: 4, ${chart} }`,
    ])
    expect(lines).toEqual(expect.arrayContaining(['+        at: [0, 4, 12, 6]']))
  })

  it('keeps the spelling of sources', () => {
    const text = [
      ...[...head, '    tiles:', `      - { name: A, at: [0, 0, 12, 6], ${chart} }`],
      `      - { name: B, at: [12, 0, 12, 6], ${chart.replace('source: Logs', 'sourceId: { source: Logs }')} }`,
      '',
    ].join('\n')
    const sources = [
      { id: 's1', name: 'Logs' },
      { id: 's2', name: 'Traces' },
    ]
    const moved = { config: { ...config, sourceId: 's2' } }
    const tiles = [
      { ...tile('A', [0, 0]), ...moved },
      { ...tile('B', [12, 0]), ...moved },
    ]
    const { after } = verifiedPull({ dashboard: [dashboard(tiles)], source: sources }, { [file]: text })
    expect(after[file]).toBe(text.replaceAll('source: Logs', 'source: Traces'))
  })

  const rows = [
    ...[...head, '    rows:', '      - name: Top # the first row', '        tiles:', `          - { name: A, ${chart} }`],
    ...['      - tiles:', `          - { name: B, ${chart} }`, `          - { name: C, ${chart} }`, ''],
  ].join('\n')
  const inRows = [tile('A', [0, 0], 'top'), tile('B', [0, 0]), tile('C', [12, 0])]

  it('keeps its rows, and their comments', () => {
    expect(changes(rows, inRows, [box('Top')])).toEqual([])
    expect(changes(rows, inRows, [box('Top', { title: 'First' })])).toEqual([
      '-      - name: Top # the first row',
      '+      - id: top',
      '+        name: First # the first row',
    ])
    expect(changes(rows, inRows, [box('Top', { collapsed: true })])).toEqual(['+        collapsed: true'])
  })

  it('an existing file keeps its rows without tiles, and gets no others', () => {
    const tiles = (name: string): string => `        tiles: [{ name: ${name}, ${chart} }]`
    const [top, bottom] = [box('Top'), box('Bottom')]
    const stored = [tile('A', [0, 0], 'top'), tile('B', [0, 0], 'bottom')]
    const named = [...head, '    rows:', '      - name: Top', tiles('A'), '      - name: Bottom', tiles('B'), ''].join('\n')
    expect(changes(named, stored, [top, bottom])).toEqual([])
    const moved = changes(named, [...stored.slice(0, 1), tile('B', [12, 0], 'bottom')], [top, bottom])
    expect(moved.map((line) => /^(.) +(?:tiles: )?.*name: B(?:, at: .{14})?/.exec(line)?.[0])).toEqual([
      '-        tiles: [{ name: B',
      '+        tiles: [{ name: B, at: [12, 0, 12, 6]',
    ])
    const withEmpty = `${named}      - tiles: []\n`
    expect(changes(withEmpty, stored, [top, bottom])).toEqual([])
    expect(changes(withEmpty, [...stored.slice(0, 1), tile('B', [12, 0], 'bottom')], [top, bottom])).toEqual(moved)
  })

  it('an existing file moves a tile to the row of its container', () => {
    const [, b = {}, c = {}] = inRows
    const lines = changes(rows, [tile('A', [0, 0]), { ...b, x: 12 }, { ...c, x: 0, y: 6 }], [box('Top')])
    expect(lines).toEqual(expect.arrayContaining(['+        tiles: []']))
    expect(changes(rows, [...inRows, tile('D', [12, 0], 'new')], [box('Top'), box('New')])).toEqual([
      ...['+      - name: New', '+        tiles:', '+          - name: D', '+            at: [12, 0, 12, 6]', '+            config:'],
      ...['+              displayType: line', '+              source: Logs', '+              select: [{ aggFn: count }]'],
    ])
  })

  it('loses its rows where tiles of rows without a name changed their order', () => {
    const text = [...head, '    rows:', `      - tiles: [{ name: A, ${chart} }]`, `      - tiles: [{ name: B, ${chart} }]`, ''].join('\n')
    expect(changes(text, [tile('A', [0, 0]), tile('B', [0, 6])])).toEqual([])
    for (const [a, b] of [
      [6, 0],
      [7, 6],
    ] as const) {
      const tiles = [tile('A', [0, a]), tile('B', [0, b])]
      const { after } = verifiedPull({ dashboard: [dashboard(tiles)] }, { [file]: text })
      const lines = layoutLines(after[file] ?? '')
      expect(lines).not.toContain('    rows:')
      expect(lines.filter((line) => /name: [AB]|at:/.test(line)).map((line) => line.trim())).toEqual([
        ...['- name: A', `at: [0, ${a}, 12, 6]`],
        ...['- name: B', `at: [0, ${b}, 12, 6]`],
      ])
    }
  })

  it('loses its rows where they cannot express the containers', () => {
    const withTabs = box('Top', { tabs: [{ id: 't', title: 'T' }] })
    const lines = changes(rows, inRows, [withTabs])
    expect(lines).toEqual(
      expect.arrayContaining(['-    rows:', '+    tiles:', '+    containers: [{ id: top, title: Top, tabs: [{ id: t, title: T }] }]']),
    )
  })
})
