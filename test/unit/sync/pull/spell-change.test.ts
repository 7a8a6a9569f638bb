import { describe, expect, it } from 'vitest'
import { linesBetween, parsed } from '../../../support/edits.ts'
import { errors, type Lists, line, search, shop, tile, verifiedPull } from '../../../support/plans.ts'

const file = 'o/a.yml'

const text = `dashboards:
  shop:
    name: Shop
    adopt: d1
    tags: [ shop ]
    tiles:
      - { name: A, x: 0, y: 0, w: 6, h: 4, config: { displayType: line, sourceId: { source: Logs }, select: [{ aggFn: count }] } }
      - { name: B, x: 0, y: 4, w: 6, h: 4, config: { displayType: line, sourceId: s1, select: [{ aggFn: count }], groupBy: '' } }
savedSearches:
  slow: { name: Slow, adopt: q1, sourceId: s1, where: x, tags: [] }
alerts:
  errors:
    name: Errors
    adopt: a1
    dashboard: { name: Shop }
    tile: A
    threshold: 5.0
    thresholdType: above
    interval: 5m
    scheduleOffsetMinutes: 0
    channels: [{ type: webhook, webhookId: w1 }]
    note: Call
`

const storedObjects = { dashboard: [shop], alert: [errors], savedSearch: [search] }

const changed = (parts: Lists, from = text): readonly string[] => {
  const { after } = verifiedPull({ ...storedObjects, ...parts }, { [file]: from })
  return linesBetween(from, after[file] ?? '')
}

const alerts = (fields: object) => ({ alert: [{ ...errors, ...fields }] })
const dashboards = (fields: object) => ({ dashboard: [{ ...shop, ...fields }] })

describe('a file', () => {
  it('a file stays the same when only its wording differs from the service', () => {
    const cases: readonly [string, Lists][] = [
      ['says the same in other words', {}],
      ['has its tiles in another order', dashboards({ tiles: shop.tiles.toReversed() })],
      ['has its tags in another order', dashboards({ tags: ['shop'] })],
      ['knows nothing of a field', dashboards({ novel: 1, tiles: shop.tiles.map((one) => ({ ...one, novel: 1 })) })],
      ['knows nothing of a field of an alert', alerts({ state: 'ALERT', teamId: 'x', novel: 1 })],
      [
        'says no more than the server fills in',
        alerts({ scheduleOffsetMinutes: 0, message: null, groupBy: '', numConsecutiveWindows: null }),
      ],
      ['names a channel by its id', alerts({ channels: [{ type: 'webhook', webhookId: 'w1', webhookService: 'slack' }] })],
    ]
    for (const [name, parts] of cases) {
      expect(changed(parts), name).toEqual([])
    }
  })

  it('a file gets the value of the service', () => {
    const cases: readonly [string, Lists, readonly string[]][] = [
      ['a threshold', alerts({ threshold: 6 }), ['-    threshold: 5.0', '+    threshold: 6']],
      ['the other tile', alerts({ tileId: 't2' }), ['-    tile: A', '+    tile: B']],
      ['no note', alerts({ note: null }), ['-    note: Call']],
      ['a message', alerts({ message: 'M' }), ['+    message: M']],
      [
        'another channel, in the list where the file has a list',
        alerts({ channels: [{ type: 'email', emailRecipients: ['a@b'] }] }),
        ['-    channels: [{ type: webhook, webhookId: w1 }]', '+    channels: [{ type: email, emailRecipients: [a@b] }]'],
      ],
      ['other tags', dashboards({ tags: ['shop', 'new'] }), ['-    tags: [ shop ]', '+    tags: [ shop, new ]']],
      [
        'another search',
        { savedSearch: [{ ...search, where: 'z' }] },
        [
          '-  slow: { name: Slow, adopt: q1, sourceId: s1, where: x, tags: [] }',
          '+  slow: { name: Slow, adopt: q1, sourceId: s1, where: z, tags: [] }',
        ],
      ],
    ]
    for (const [name, parts, lines] of cases) {
      expect(changed(parts), name).toEqual(lines)
    }
  })

  it('a file gets the new name of a tile, also in references', () => {
    const tiles = [{ ...tile('t1', 'New'), config: { ...line, select: [{ aggFn: 'max', valueExpression: 'x' }] } }, tile('t2', 'B', 4)]
    const byName = text.replace('{ aggFn: count }', '{ aggFn: max, valueExpression: x }')
    for (const from of [byName, byName.replace('{ name: Shop }', 'shop')])
      expect(changed(dashboards({ tiles }), from)).toEqual([
        expect.stringMatching(/^- {6}- \{ name: A, .*max/),
        expect.stringMatching(/^\+ {6}- \{ name: New, .*max/),
        '-    tile: A',
        '+    tile: New',
      ])
  })

  it('a file gets new tiles and loses deleted ones', () => {
    const tiles = [tile('t1', 'A'), { ...tile('t3', 'C', 8), config: { displayType: 'markdown', markdown: 'm' } }]
    expect(changed(dashboards({ tiles })).map((one) => one.trim())).toEqual([
      expect.stringMatching(/^- {6}- \{ name: B/),
      '+      - name: C',
      '+        at: [0, 8, 6, 4]',
      '+        config:',
      '+          displayType: markdown',
      '+          markdown: m',
    ])
  })

  it('a file has tiles with equal names in the order of the service', () => {
    const cases = ['', 'Twin'] as const
    for (const name of cases) {
      const one = text.replace(/ {6}- \{ name: B.*\n/, '')
      const tiles = [{ ...tile('t2', name, 4), config: { ...line, groupBy: 'x' } }, tile('t1', name)]
      const { after } = verifiedPull({ ...storedObjects, ...dashboards({ tiles }), alert: [] }, { [file]: one })
      expect(parsed(after[file] ?? ''), name).toMatchObject({ dashboards: { shop: { tiles: [{ at: [0, 4, 6, 4] }, { y: 0 }] } } })
    }
  })

  it('keeps fields in raw', () => {
    const raw = text
      .replace('    tags: [ shop ]\n', '    tags: [ shop ]\n    raw: { novel: [1], savedQuery: x }\n')
      .replace('{ name: A, x: 0, y: 0, w: 6, h: 4,', '{ name: A, x: 0, y: 0, w: 6, h: 4, raw: { kind: beta },')
    const tiles = (kind: string) => [{ ...tile('t1', 'A'), kind, more: 1 }, tile('t2', 'B', 4)]
    const had = { novel: [1], savedQuery: 'x', tiles: tiles('beta'), unknown: 1 }
    expect(changed(dashboards(had), raw)).toEqual([])
    expect(changed(dashboards({ ...had, novel: [2], savedQuery: 'y z' }), raw)).toEqual([
      '-    raw: { novel: [1], savedQuery: x }',
      '+    raw: { novel: [2], savedQuery: y z }',
    ])
    expect(changed(dashboards({ ...had, tiles: tiles('gamma') }), raw)).toEqual([
      expect.stringContaining('raw: { kind: beta }'),
      expect.stringContaining('raw: { kind: gamma }'),
    ])
  })

  it('refers to one of its dashboards by key when the reference changes', () => {
    const more = { ...shop, id: 'd2', name: 'More', tiles: [tile('t9', 'A')] }
    const twice = text.replace('savedSearches:', '  more:\n    name: More\n    adopt: d2\n    tiles: []\nsavedSearches:')
    const { after } = verifiedPull(
      { ...storedObjects, dashboard: [shop, more], ...alerts({ dashboardId: 'd2', tileId: 't9' }) },
      { [file]: twice },
    )
    expect(after[file]).toContain('    dashboard: more\n    tile: A\n')
  })
})

describe('wording that only the file has', () => {
  const webhooks = [
    { id: 'w1', name: 'oncall' },
    { id: 'w2', name: 'incidents' },
  ]
  const more = { ...shop, id: 'd2', name: 'More', tiles: [tile('t9', 'A')] }
  const alertOnly = text.slice(text.indexOf('alerts:'))

  it('wording that only the file has is replaced when the reference changes', () => {
    const cases: readonly [string, string, object, readonly string[]][] = [
      [
        'a webhook by its id',
        alertOnly.replace('channels: [{ type: webhook, webhookId: w1 }]', 'channel: { type: webhook, webhookId: w1 } # who'),
        { channels: [{ type: 'webhook', webhookId: 'w2' }] },
        ['-    channel: { type: webhook, webhookId: w1 } # who', '+    channel: { type: webhook, webhook: incidents } # who'],
      ],
      [
        'a webhook by its id, on lines of its own',
        alertOnly.replace('channels: [{ type: webhook, webhookId: w1 }]', 'channel:\n      type: webhook\n      webhookId: w1'),
        { channels: [{ type: 'webhook', webhookId: 'w2' }] },
        ['-    channel:', '-      type: webhook', '-      webhookId: w1', '+    channel: { type: webhook, webhook: incidents }'],
      ],
      [
        'a dashboard by its id',
        alertOnly.replace('{ name: Shop }', '{ id: d1 }'),
        { dashboardId: 'd2', tileId: 't9' },
        ['-    dashboard: { id: d1 }', '+    dashboard: { name: More }'],
      ],
      [
        'a tile by its id',
        alertOnly.replace('tile: A', 'tile: { id: t1 } # which'),
        { tileId: 't2' },
        ['-    tile: { id: t1 } # which', '+    tile: B # which'],
      ],
    ]
    for (const [name, from, fields, lines] of cases) {
      const theirs = [shop, more].map((one) => ({ ...one, tags: ['wk:0a1b2c:other:abcdef'] }))
      expect(changed({ webhook: webhooks, dashboard: theirs, savedSearch: [], ...alerts(fields) }, from), name).toEqual(lines)
    }
  })

  it('wording that only the file has is replaced when the source changes', () => {
    const sources = [
      { id: 's1', name: 'Logs' },
      { id: 's2', name: 'Traces' },
    ]
    const from = text.slice(text.indexOf('savedSearches:'), text.indexOf('alerts:'))
    expect(changed({ source: sources, dashboard: [], alert: [], savedSearch: [{ ...search, sourceId: 's2' }] }, from)).toEqual([
      '-  slow: { name: Slow, adopt: q1, sourceId: s1, where: x, tags: [] }',
      '+  slow: { name: Slow, adopt: q1, sourceId: { source: Traces }, where: x, tags: [] }',
    ])
  })

  it('wording that only the file has is replaced when a list with a repeated item changes', () => {
    const from = text.replace('[ shop ]', '[ shop, shop ]')
    expect(changed({}, from)).toEqual([])
    expect(changed(dashboards({ tags: ['shop', 'new'] }), from)).toEqual(['-    tags: [ shop, shop ]', '+    tags: [shop, new]'])
  })

  it('stays beside a value that changes', () => {
    const from = text.replace("groupBy: ''", "groupBy: '', asRatio: false")
    const tiles = [tile('t1', 'A'), { ...tile('t2', 'B', 4), config: { ...line, select: [{ aggFn: 'max', valueExpression: 'v' }] } }]
    expect(changed(dashboards({ tiles }), from)).toEqual([
      expect.stringContaining("select: [{ aggFn: count }], groupBy: '', asRatio: false }"),
      expect.stringContaining("select: [{ aggFn: max, valueExpression: v }], groupBy: '', asRatio: false }"),
    ])
  })

  it('wording that only the file has is removed when the new kind of chart has no such field', () => {
    const cases = [
      ['text', { displayType: 'markdown', markdown: 'm' }],
      ['numbers', { ...line, displayType: 'number' }],
    ] as const
    for (const [name, config] of cases) {
      const from = text.replace("groupBy: ''", "groupBy: '', compareToPreviousPeriod: false")
      const after = changed(dashboards({ tiles: [tile('t1', 'A'), { ...tile('t2', 'B', 4), config }] }), from)
      expect(after[1], name).toContain(`config: { displayType: ${config.displayType}`)
      expect(after.join(), name).not.toMatch(/\+.*groupBy/)
    }
  })
})
