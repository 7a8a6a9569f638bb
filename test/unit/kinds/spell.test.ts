import { describe, expect, it } from 'vitest'
import type { Body, FileContext } from '../../../src/kinds/kind.ts'
import { createKinds } from '../../../src/kinds/kinds.ts'
import { createNameIndex, PendingId } from '../../../src/kinds/name-index.ts'
import { written } from '../../support/declarations.ts'
import { cloud, line, nowMs, remoteStateOf, search, shop, tile } from '../../support/plans.ts'

const kinds = createKinds(cloud, nowMs)

const named = (ids: readonly string[]) => ids.map((id) => ({ id, name: `name of ${id}` }))

/** Every object has a name, and a key in the files. */
const context: FileContext = {
  key: 'any',
  spelled: undefined,
  declared: undefined,
  nameIndex: createNameIndex(remoteStateOf({ source: named(['s1', 's2']), webhook: named(['w1']) })),
  sources: [],
  keyOf: (kind, id) => `${kind} ${id}`,
  tilesOf: (dashboard) => [{ id: 't1', name: `tile t1 of ${dashboard}` }],
}

/** Without the ids of items, which nothing writes. */
const toFile = (name: 'dashboard' | 'alert' | 'savedSearch' | 'source', body: Body, more: Partial<FileContext> = {}): Body =>
  structuredClone(kinds[name].toFile(body, { ...context, ...more }))

describe('a dashboard in a file', () => {
  const { sourceId: _, ...chart } = line
  const config = { ...chart, source: 'name of s1' }
  const place = { at: [0, 0, 6, 4] }

  const rawOf = (names: readonly string[]) => ({ raw: Object.fromEntries(names.map((name) => [name, 'any'])) })

  /** A file with these fields in `raw`. */
  const saying = (raw: readonly string[]): Partial<FileContext> => ({ spelled: rawOf(raw), declared: {} })

  const fieldsOf = (fields: object, said?: Partial<FileContext>) => toFile('dashboard', { name: 'D', tiles: [], ...fields }, said)

  const tilesOf = (tiles: readonly object[], said?: Partial<FileContext>) => fieldsOf({ tiles }, said).tiles as readonly object[]

  describe('the fields of a dashboard', () => {
    it('the fields of a dashboard have a fixed order that ends with raw', () => {
      const all = { filters: [], savedQuery: 'x', containers: 5, tags: ['t'], novel: 1 }
      expect(Object.keys(fieldsOf(all, saying(['novel'])))).toEqual(['name', 'tags', 'tiles', 'savedQuery', 'raw'])
      expect(fieldsOf(all, saying(['novel'])).raw).toEqual({ containers: 5, novel: 1 })
    })

    it('the fields of a dashboard stay in raw when the file has them there', () => {
      const cases: readonly [string, object, readonly string[], object][] = [
        ['goes on to stand in raw', { savedQuery: 'x' }, ['savedQuery'], { raw: { savedQuery: 'x' } }],
        ['is kept although it is unknown', { novel: { a: [1] } }, ['novel'], { raw: { novel: { a: [1] } } }],
        ['stands there as a number of few digits', { novel: JSON.rawJSON('1.50') }, ['novel'], { raw: { novel: 1.5 } }],
        ['stands there as a list of such numbers', { novel: [JSON.rawJSON('1.50')] }, ['novel'], { raw: { novel: [1.5] } }],
        ['goes from there when the service has it no more', {}, ['novel'], {}],
        ['goes from there when it is nothing', { novel: null }, ['novel'], {}],
        ['stands there once', { containers: 5 }, ['containers'], { raw: { containers: 5 } }],
        ['is never kept where it contains an ownership marker', { tags: ['t'] }, ['tags', 'name', 'tiles'], { tags: ['t'] }],
        ['is left out where the file does not declare it', { novel: 1 }, [], {}],
      ]
      for (const [title, fields, raw, expected] of cases) {
        expect(fieldsOf(fields, saying(raw)), title).toStrictEqual({ name: 'D', tiles: [], ...expected })
      }
    })

    it('never move to raw when a dashboard needs them', () => {
      expect(fieldsOf({ name: '', tags: ['x'.repeat(40)] })).toStrictEqual({ name: '', tags: ['x'.repeat(40)], tiles: [] })
    })

    it('the fields of a dashboard do not contain the ownership marker', () => {
      expect(fieldsOf({ tags: ['b', 'wk:0a1b2c:key:abcdef', 'a'] })).toStrictEqual({ name: 'D', tags: ['b', 'a'], tiles: [] })
      expect(fieldsOf({ tags: ['wk:0a1b2c:key:abcdef'] })).toStrictEqual({ name: 'D', tiles: [] })
    })
  })

  it('omits defaults of the server and unknown fields', () => {
    expect(
      fieldsOf({
        savedQuery: null,
        savedQueryLanguage: null,
        savedFilterValues: [],
        containers: [{ id: 'c', title: 'C', collapsed: false, collapsible: true, bordered: true }],
        filters: [{ id: 'f', type: 'QUERY_EXPRESSION', name: 'F', expression: 'x', sourceId: 's1', isBroadcastEnabled: true }],
        novel: 1,
      }),
    ).toEqual({
      name: 'D',
      tiles: [],
      filters: [{ name: 'F', expression: 'x', source: 'name of s1' }],
      containers: [{ id: 'c', title: 'C' }],
    })
  })

  it('moves fields that the schema rejects to raw', () => {
    const containers = [{ id: 'c', title: 'C', layout: 5, collapsed: 'sometimes' }]
    expect(fieldsOf({ containers })).toEqual({ name: 'D', tiles: [], raw: { containers } })
  })

  describe('the tiles of a dashboard', () => {
    /** A file with tiles of these ids and names, and these fields in their `raw`. */
    const said = (...tiles: readonly [string, string, ...string[]][]): Partial<FileContext> => ({
      spelled: { tiles: tiles.map(([, name, ...raw]) => ({ name, ...place, ...rawOf(raw) })) },
      declared: { tiles: tiles.map(([id, name]) => tile(id, name)) },
    })

    const namesOf = (ids: readonly string[], known?: Partial<FileContext>) =>
      tilesOf(
        ids.map((id) => tile(id, id.toUpperCase())),
        known,
      ).map((one) => (one as { name: string }).name)

    it('the tiles of a dashboard have the order of the file, new ones last', () => {
      expect(namesOf(['n', 'b', 'm', 'a'], said(['a', 'A'], ['gone', 'X'], ['b', 'B']))).toEqual(['A', 'B', 'N', 'M'])
      expect(namesOf(['n', 'b', 'm', 'a'])).toEqual(['N', 'B', 'M', 'A'])
    })

    it('the tiles of a dashboard have a name, a place and a config, or fields in raw', () => {
      const cases: readonly [string, object, Partial<FileContext> | undefined, object][] = [
        ['has no name where it has none', { name: '' }, undefined, { name: undefined, config }],
        ['has no name where it has null', { name: null }, undefined, { name: undefined, config }],
        ['loses a name that it does not have any more', { name: '' }, said(['t', 'Mine']), { name: undefined, config }],
        [
          'keeps a name of files beside none in raw',
          { name: '' },
          { ...said(), spelled: { tiles: [{ name: 'Mine', ...place, raw: { name: '' } }] }, declared: { tiles: [tile('t', '')] } },
          { name: 'Mine', config, raw: { name: '' } },
        ],
        ['with a name is called by it, whatever the file says', { name: 'N' }, said(['t', 'Mine']), { config }],
        ['has in raw what it had there', { w: 6 }, said(['t', 'N', 'w']), { config, raw: { w: 6 } }],
        ['has unknown fields in raw', { kind: 'beta' }, said(['t', 'N', 'kind']), { config, raw: { kind: 'beta' } }],
        ['has its config in raw where that was there', {}, said(['t', 'N', 'config']), { raw: { config: line } }],
        [
          'has its config in raw where no type accepts it',
          { config: { displayType: 'x' } },
          undefined,
          { raw: { config: { displayType: 'x' } } },
        ],
        ['has its series in raw where there is no config', { config: undefined, series: [1] }, undefined, { raw: { series: [1] } }],
        ['has no series beside a config', { series: [1] }, undefined, { config }],
        ['keeps its place, even one that no grid has', { x: 99 }, undefined, { at: undefined, x: 99, y: 0, w: 6, h: 4, config }],
        ['leaves out fields that the file does not declare', { novel: 1 }, undefined, { config }],
        ['loses unknown fields of its config', { config: { ...line, asRatio: false, novel: 1 } }, undefined, { config }],
        [
          'has its config in raw where a word in it is not accepted',
          { config: { ...line, select: [{ aggFn: 'entropy' }] } },
          undefined,
          { raw: { config: { ...line, select: [{ aggFn: 'entropy' }] } } },
        ],
        [
          'has rounded numbers',
          { config: { ...line, numberFormat: { output: 'number', factor: JSON.rawJSON('0.12345678901234567890') } } },
          undefined,
          { config: { ...config, numberFormat: { output: 'number', factor: 0.12345678901234568 } } },
        ],
      ]
      for (const [title, fields, known, expected] of cases) {
        expect(tilesOf([{ ...tile('t', 'N'), ...fields }], known), title).toEqual([{ name: 'N', ...place, ...expected }])
      }
    })

    it('the tiles of a dashboard have no name where they have none, or the one that a file has beside an empty name in raw', () => {
      const [named, nameless] = tilesOf([tile('a', 'A'), tile('b', '')])
      expect([(named as { readonly name?: string } | undefined)?.name, Object.keys(nameless ?? {})]).toEqual(['A', ['at', 'config']])
    })
  })

  describe('the config of a tile', () => {
    const written = (fields: object) => (tilesOf([{ ...tile('t', 'N'), config: fields }])[0] as { config?: unknown }).config

    it('omits defaults of the server and ends with the number format', () => {
      const cases: readonly [string, object, unknown][] = [
        [
          'has the format of its numbers last',
          { ...line, numberFormat: { output: 'percent' }, groupBy: 'x' },
          ['displayType', 'source', 'groupBy', 'select', 'numberFormat'],
        ],
        ['loses what is assumed', { ...line, asRatio: false, groupBy: '' }, ['displayType', 'source', 'select']],
        ['keeps what is not', { ...line, asRatio: true }, ['displayType', 'source', 'asRatio', 'select']],
      ]
      for (const [name, fields, expected] of cases) {
        expect(Object.keys(written(fields) as object).toSorted(), name).toEqual([...(expected as string[])].toSorted())
        expect(Object.keys(written({ ...fields, numberFormat: { output: 'percent' } }) as object).at(-1), name).toBe('numberFormat')
      }
    })

    it('keeps empty fields that are required', () => {
      const search = { displayType: 'search', sourceId: 's1', select: '', whereLanguage: 'sql', where: '' }
      expect(written(search)).toStrictEqual({ displayType: 'search', source: 'name of s1', select: '', whereLanguage: 'sql' })
    })
  })

  it('refers to the sources of filters by name', () => {
    const filter = { type: 'QUERY_EXPRESSION', name: 'F', expression: 'x', sourceId: 's1', appliesToSourceIds: ['s1', 's2'] }
    expect(fieldsOf({ filters: [{ id: 'f', ...filter }] }).filters).toStrictEqual([
      { name: 'F', expression: 'x', source: 'name of s1', appliesToSources: ['name of s1', 'name of s2'] },
    ])
  })
})

describe('an alert and a saved search in a file', () => {
  const webhook = { type: 'webhook', webhookId: 'w1' }
  const email = { type: 'email', emailRecipients: ['a@b'] }

  const bare = {
    name: 'A',
    source: 'tile',
    dashboardId: 'd1',
    tileId: 't1',
    threshold: 1,
    thresholdType: 'above',
    interval: '5m',
    channels: [webhook],
  }

  const writtenBare = {
    name: 'A',
    dashboard: 'dashboard d1',
    tile: 'tile t1 of d1',
    threshold: 1,
    interval: '5m',
    channel: { type: 'webhook', webhook: 'name of w1' },
  }

  const alert = (fields: object, usesList = false) => toFile('alert', { ...bare, ...fields }, usesList ? { spelled: { channels: [] } } : {})

  describe('an alert', () => {
    it('an alert has the fields that are not defaults of the server', () => {
      const cases: readonly [string, object, object][] = [
        ['that says little', {}, {}],
        ['whose fields are empty', { message: '', note: null, groupBy: null, thresholdMax: null, scheduleOffsetMinutes: 0 }, {}],
        ['on the other side of its threshold', { thresholdType: 'below' }, { thresholdType: 'below' }],
        ['of a range', { thresholdType: 'between', thresholdMax: 5 }, { thresholdType: 'between', thresholdMax: 5 }],
        ['with the other end of a range that it has not', { thresholdMax: 5 }, {}],
        ['with texts', { message: 'm', note: 'n' }, { message: 'm', note: 'n' }],
        ['with a mark', { note: 'n\n\nwatchkeeper: shop/x a abcdef' }, { note: 'n' }],
        ['with nothing but a mark', { note: 'watchkeeper: shop/x a abcdef' }, {}],
        ['that waits', { numConsecutiveWindows: 3, scheduleOffsetMinutes: 2 }, { numConsecutiveWindows: 3, scheduleOffsetMinutes: 2 }],
        ['that begins at a time', { scheduleStartAt: '2026-01-31T08:00:00+02:00' }, { scheduleStartAt: '2026-01-31T06:00:00Z' }],
        ['that begins within a second', { scheduleStartAt: '2026-01-31T08:00:00.500Z' }, { scheduleStartAt: '2026-01-31T08:00:00.500Z' }],
        ['of a tile, with a group', { groupBy: 'host' }, {}],
        ['without a tile', { tileId: null }, { tile: undefined }],
        ['without a dashboard', { dashboardId: null, tileId: null }, { dashboard: undefined, tile: undefined }],
        ['of a number that only its text holds', { threshold: JSON.rawJSON('1.50') }, { threshold: 1.5 }],
        ['without a channel', { channels: [] }, { channel: undefined }],
        ['with one channel, in the old field', { channels: undefined, channel: email }, { channel: email }],
        [
          'with more said of its channel',
          { channels: [{ ...webhook, severity: 'error' }] },
          { channel: { ...writtenBare.channel, severity: 'error' } },
        ],
        ['whose channel names its service', { channels: [{ ...webhook, webhookService: 'slack' }] }, {}],
        ['whose webhook is not said', { channels: [{ type: 'webhook' }] }, { channel: { type: 'webhook' } }],
        ['with several channels', { channels: [webhook, email] }, { channel: undefined, channels: [writtenBare.channel, email] }],
      ]
      for (const [name, fields, expected] of cases) {
        const full = Object.entries({ ...writtenBare, ...expected }).filter(([, value]) => value !== undefined)
        expect(alert(fields), name).toStrictEqual(Object.fromEntries(full))
      }
    })

    it('refers to its saved search and has its group', () => {
      const fields = { source: 'saved_search', savedSearchId: 'q1', groupBy: 'host' }
      const { dashboard: _, tile: __, ...others } = writtenBare
      expect(alert(fields)).toStrictEqual({ ...others, savedSearch: 'savedSearch q1', groupBy: 'host' })
      expect(alert({ ...fields, savedSearchId: null })).toStrictEqual({ ...others, groupBy: 'host' })
    })

    it('an alert of a newer server has its display name and tags where they say more than what it watches, or where the file has them', () => {
      const nameIndex = createNameIndex(
        remoteStateOf({
          dashboard: [{ ...shop, name: 'Shop ', tags: ['b', 'wk:0a1b2c:key:abcdef', 'a'], tiles: [tile('t1', ' A'), tile('t2', '')] }],
          savedSearch: [{ ...search, name: 'Slow', tags: ['b', 'a'] }],
        }),
      )
      const newer = (fields: object, spelled?: object) => {
        const { displayName, tags } = toFile('alert', { ...bare, ...fields }, { nameIndex, spelled })
        return [displayName, tags]
      }
      const onSearch = { source: 'saved_search', savedSearchId: 'q1', dashboardId: undefined, tileId: undefined }
      const cases: readonly [object, object | undefined, readonly unknown[]][] = [
        [{ displayName: 'Shop - A', tags: ['wk:0a1b2c:key:abcdef', 'a', 'b'] }, undefined, [undefined, undefined]],
        [{ displayName: 'A', tags: ['a', 'b'] }, undefined, [undefined, undefined]],
        [{ name: 'Own', displayName: 'A', tags: ['a'] }, undefined, ['A', ['a']]],
        [{ tileId: 't2', displayName: 'Shop - Tile' }, undefined, [undefined, undefined]],
        [{ tileId: 't2', displayName: 'Shop - t2' }, undefined, ['Shop - t2', undefined]],
        [{ ...onSearch, displayName: 'Slow', tags: ['a', 'b'] }, undefined, [undefined, undefined]],
        [{ ...onSearch, displayName: 'Slow - Tile' }, undefined, ['Slow - Tile', undefined]],
        [{ dashboardId: 'gone', displayName: 'A', tags: ['a'] }, undefined, ['A', ['a']]],
        [{ displayName: 'Shop - A', tags: ['a', 'b'] }, { displayName: 'x', tags: [] }, ['Shop - A', ['a', 'b']]],
        [{ displayName: 'Other', tags: ['c'] }, {}, [undefined, undefined]],
      ]
      for (const [fields, spelled, expected] of cases) expect(newer(fields, spelled), JSON.stringify(fields)).toEqual(expected)
    })

    it('an alert has a list of channels when the file has one', () => {
      const { channel, ...others } = writtenBare
      expect(alert({}, true)).toStrictEqual({ ...others, channels: [channel] })
      expect(alert({}, false)).toStrictEqual(writtenBare)
      expect(alert({ channels: [] }, true)).toStrictEqual(others)
    })

    it('an alert has its fields in the order in which people read them', () => {
      const all = {
        note: 'n',
        message: 'm',
        numConsecutiveWindows: 3,
        thresholdType: 'between',
        thresholdMax: 3,
        scheduleStartAt: '2026-01-31T08:00:00Z',
        scheduleOffsetMinutes: 1,
      }
      expect(Object.keys(alert(all)).join(' ')).toBe(
        'name dashboard tile threshold thresholdMax thresholdType interval scheduleOffsetMinutes scheduleStartAt numConsecutiveWindows channel message note',
      )
    })
  })

  describe('a saved search', () => {
    const saved = (fields: object) => toFile('savedSearch', { name: 'S', sourceId: 's1', ...fields })
    const few = { name: 'S', source: 'name of s1' }

    it('a saved search has the fields that are not defaults of the server', () => {
      const cases: readonly [string, object, object][] = [
        ['that says little', {}, {}],
        ['whose fields are empty', { where: '', select: null, tags: [], filters: [] }, {}],
        ['with tags in their order', { tags: ['b', 'a'] }, { tags: ['b', 'a'] }],
        ['with a mark among its tags', { tags: ['b', 'wk:0a1b2c:key:abcdef', 'a'] }, { tags: ['b', 'a'] }],
        ['with nothing but a mark', { tags: ['wk:0a1b2c:key:abcdef'] }, {}],
        ['with filters', { filters: [{ type: 'sql', condition: 'x' }] }, { filters: [{ condition: 'x' }] }],
        ['that finds something', { where: 'x', whereLanguage: 'sql', orderBy: 'y' }, { where: 'x', whereLanguage: 'sql', orderBy: 'y' }],
        ['with an unknown field', { novel: 1 }, {}],
      ]
      for (const [name, fields, expected] of cases) {
        expect(saved(fields), name).toStrictEqual({ ...few, ...expected })
      }
    })

    it('a saved search has its name and its tags first', () => {
      expect(Object.keys(saved({ where: 'x', tags: ['a'] }))).toEqual(['name', 'tags', 'source', 'where'])
    })
  })
})

describe('a reference in a file', () => {
  const expression = written('‹env.X›')

  const storedObjects = remoteStateOf({
    dashboard: [
      { ...shop, tiles: [tile('t1', 'A'), tile('t2', 'Twin'), tile('t3', 'Twin'), tile('t4', ''), tile('t5', expression)] },
      { ...shop, id: 'd2', name: 'Twins' },
      { ...shop, id: 'd3', name: 'Twins' },
      { ...shop, id: 'd4', name: 'Logs' },
    ],
    savedSearch: [
      { id: 'q1', name: 'Slow' },
      { id: 'q2', name: 'Shop' },
    ],
    source: [
      { id: 's1', name: 'Logs' },
      { id: 's2', name: 'Twins' },
      { id: 's3', name: 'Twins' },
      { id: 's4', name: expression },
      { id: 's5', name: '' },
    ],
    webhook: [
      { id: 'w1', name: 'oncall' },
      { id: 'w2', name: 'hook' },
      { id: 'w3', name: 'hook' },
    ],
  })

  const { dashboard: dashboards, source: sources } = storedObjects
  const real: FileContext = {
    ...context,
    nameIndex: createNameIndex(storedObjects),
    sources,
    keyOf: (kind, id) => (kind === 'dashboard' && id === 'd2' ? 'twins' : undefined),
    tilesOf: (dashboardId) => dashboards.find(({ id }) => id === dashboardId)?.tiles ?? [],
  }
  const alertWith = (fields: object) => toFile('alert', { source: 'tile', ...fields }, real)

  it('a reference to a source is its unique name or its id', () => {
    const cases = [
      ['s1', { source: 'Logs' }],
      ['s2', { sourceId: 's2' }],
      ['s4', { source: written('‹env.X›') }],
      ['s5', { sourceId: 's5' }],
      ['gone', { sourceId: 'gone' }],
      ['w1', { sourceId: 'w1' }],
      ['d4', { sourceId: 'd4' }],
    ] as const
    for (const [id, expected] of cases) {
      expect(toFile('savedSearch', { name: 'S', sourceId: id }, real), id).toEqual({ name: 'S', ...expected })
    }
  })

  it('a source refers to another by a name that only one of its kind has, or by its id, and to one of several connections', () => {
    const known = remoteStateOf({
      source: [
        { id: 's1', name: 'Logs', kind: 'log', connection: 'c1' },
        ...[2, 3].map((i) => ({ id: `s${i}`, name: 'Twins', kind: 'log', connection: 'c1' })),
        { id: 's4', name: 'Twins', kind: 'trace', connection: 'c2' },
        { id: 's5', name: 'Logs', kind: 'trace', connection: 'c1' },
      ],
      connection: ['First', 'Twin', 'Twin'].map((name, i) => ({ id: `c${i + 1}`, name })),
    })
    const around = { nameIndex: createNameIndex(known), sources: known.source }
    const spelled = (fields: object, more: Partial<FileContext> = {}) => toFile('source', { name: 'S', ...fields }, { ...around, ...more })
    const cases: readonly [object, object][] = [
      [
        { logSourceId: 's1', traceSourceId: 's4' },
        { logSource: 'Logs', traceSource: 'Twins' },
      ],
      [
        { logSourceId: 's2', traceSourceId: 's1' },
        { logSource: { id: 's2' }, traceSource: { id: 's1' } },
      ],
      [{ logSourceId: 'gone', traceSourceId: '' }, { logSource: { id: 'gone' } }],
      [{ connection: 'c1' }, { connection: 'First' }],
      [{ connection: 'c2' }, { connection: 'c2' }],
    ]
    for (const [body, fields] of cases) expect(spelled(body), JSON.stringify(body)).toEqual({ name: 'S', ...fields })
    const pending = { logSourceId: new PendingId('source', 'new') }
    expect(spelled(pending, { spelled: { logSource: 'New' } })).toEqual({ name: 'S', logSource: 'New' })
    const alone = known.source.slice(0, 3)
    expect(
      [undefined, { connection: 'c1' }, { connection: 'Old' }].map((one) =>
        spelled({ connection: 'c1' }, { sources: alone, spelled: one }),
      ),
    ).toEqual([...[{ name: 'S' }, { name: 'S', connection: 'c1' }, { name: 'S', connection: 'First' }]])
    expect(spelled({ connection: 'c2' }, { sources: alone })).toEqual({ name: 'S', connection: 'c2' })
  })

  it('a reference is in the long form where one of several sources has no unique name', () => {
    const filter = { id: 'f', name: 'F', expression: 'x', sourceId: 's1', appliesToSourceIds: ['s1', 's2'] }
    expect(toFile('dashboard', { name: 'D', tiles: [], filters: [filter] }, real).filters).toEqual([
      { name: 'F', expression: 'x', source: 'Logs', appliesToSourceIds: [{ source: 'Logs' }, 's2'] },
    ])
  })

  it('a reference to a webhook is its unique name or its id', () => {
    const cases = [
      ['w1', { webhook: 'oncall' }],
      ['w2', { webhookId: 'w2' }],
      ['gone', { webhookId: 'gone' }],
      ['s1', { webhookId: 's1' }],
    ] as const
    for (const [id, expected] of cases) {
      expect(alertWith({ channels: [{ type: 'webhook', webhookId: id }] }), id).toMatchObject({ channel: { type: 'webhook', ...expected } })
    }
  })

  it('a reference to a dashboard or saved search is its key, its unique name or its id', () => {
    const dashboardCases: readonly [unknown, unknown][] = [
      ['d1', { name: 'Shop' }],
      ['d2', 'twins'],
      ['d3', { id: 'd3' }],
      ['gone', { id: 'gone' }],
      ['q1', { id: 'q1' }],
      [new PendingId('dashboard', 'new'), 'new'],
    ]
    for (const [id, expected] of dashboardCases) expect(alertWith({ dashboardId: id }).dashboard, `${id}`).toEqual(expected)
    const searchCases: readonly [unknown, unknown][] = [
      ['q1', { name: 'Slow' }],
      ['q2', { name: 'Shop' }],
      ['d2', { id: 'd2' }],
    ]
    for (const [id, expected] of searchCases)
      expect(alertWith({ source: 'saved_search', savedSearchId: id }).savedSearch, `${id}`).toEqual(expected)
  })

  it('a reference to a tile is its unique name or its id', () => {
    const cases: readonly [unknown, unknown, unknown][] = [
      ['d1', 't1', 'A'],
      ['d1', 't2', { id: 't2' }],
      ['d1', 't4', { id: 't4' }],
      ['d1', 't5', written('‹env.X›')],
      ['d1', 'gone', { id: 'gone' }],
      ['d9', 't1', { id: 't1' }],
      [new PendingId('dashboard', 'new'), new PendingId('dashboard', 'new', 'T'), 'T'],
    ]
    for (const [dashboardId, tileId, expected] of cases) expect(alertWith({ dashboardId, tileId }).tile, `${tileId}`).toEqual(expected)
  })

  it('a reference to a tile by its id stays while it is the same tile', () => {
    const spelled = { tile: { id: 't1' } }
    const tileOf = (tileId: string) => toFile('alert', { source: 'tile', dashboardId: 'd1', tileId }, { ...real, spelled }).tile
    expect(['t1', 't5'].map(tileOf)).toEqual([{ id: 't1' }, expression])
  })
})
