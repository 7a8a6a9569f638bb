import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../../src/kinds/kind-names.ts'
import { isOf } from '../../../../src/kinds/kinds.ts'
import { profileNamed } from '../../../../src/platform/api/profiles.ts'
import type { Diagnostic } from '../../../../src/platform/core/diagnostics.ts'
import { createCheckpoint } from '../../../../src/platform/http/cancellation.ts'
import { readingRules } from '../../../../src/sync/declarations/declarations.ts'
import { findDeclarations } from '../../../../src/sync/declarations/find-declarations.ts'
import { readIncidents } from '../../../../src/sync/declarations/incidents.ts'
import { fileWith, lines, messages, readDeclarations, readText, readValue, written } from '../../../support/declarations.ts'

const profile = profileNamed('clickhouse-cloud')

/** Files that all have the same text. */
function filesWith(text: string, ...paths: readonly string[]) {
  return {
    find: async () => ({ paths, skipped: [] }),
    read: async () => text,
    variable: () => undefined,
    workflowRepository: undefined,
    mayBeFromFork: async () => false,
    ranBy: {},
    secret: () => undefined,
    repository: async () => undefined,
    remoteRepository: async () => undefined,
    demandCheckout: async () => {},
    configAbove: async () => undefined,
  }
}

/** Everything that a run finds in a file. */
async function checkText(text: string): Promise<readonly Diagnostic[]> {
  const [files, lintSettings] = [filesWith(text, 'f.yml'), { 'missing-runbook': 'off' } as const]
  const { diagnostics } = await findDeclarations(['*.yml'], { files, profile, lintSettings, checkpoint: async () => undefined })
  return diagnostics
}

it('R4, R6: a run can end after each of its files, at its time limit and after a signal', async () => {
  const read: string[] = []
  const files = filesWith('alerts: {}', ...Array.from({ length: 100 }, (_, i) => `${i}.yml`))
  const stop = new AbortController()
  const noting = { ...files, read: async (path: string) => String(read.push(path) && (await files.read())) }
  const find = (remainingMs: () => number) =>
    findDeclarations(['*.yml'], { files: noting, profile, lintSettings: {}, checkpoint: createCheckpoint(stop.signal, remainingMs) })
  await expect(find(() => 3 - read.length)).rejects.toMatchObject({ kind: 'deadline' })
  expect(read).toHaveLength(3)
  setImmediate(() => stop.abort())
  await expect(find(() => 1)).rejects.toMatchObject({ kind: 'canceled' })
  expect(read.length).toBeLessThan(6)
})

describe('a file', () => {
  it('a file becomes its objects, with their keys, their places and the standards of their fields', () => {
    const { objects, diagnostics } = readText('alerts:\n  a:\n    name: A\n    threshold: 5\n    interval: 5m\n')
    expect(diagnostics).toEqual([])
    expect(objects).toMatchObject([
      { kind: 'alert', key: 'a', location: { file: 'f.yml', line: 2, column: 3 }, value: { name: 'A', thresholdType: 'above' } },
    ])
    expect(objects[0]?.locationOf(['threshold'])).toEqual({ file: 'f.yml', line: 4, column: 16 })
  })

  it('a file may be JSON, and name its schema', () => {
    const { objects, diagnostics } = readValue({ $schema: './x.json', ...fileWith() })
    expect(diagnostics).toEqual([])
    expect(objects.map(({ kind, key }) => addressOf({ kind, key }))).toEqual(['dashboards.d', 'alerts.a'])
  })

  it('has the alerts of an incident by patterns, in which only * is special and no pattern is slow', () => {
    const alertsOf = (pattern: string, keys: readonly string[]) => {
      const incident = { name: 'I', start: '2026-01-01T00:00:00Z', end: '2026-01-01T01:00:00Z', within: '10m', alerts: [pattern] }
      const { incidents: ofFile } = readValue({ incidents: { i: incident } })
      return readIncidents(ofFile, keys).incidents[0]?.alerts ?? []
    }
    const keys = ['a.b', 'a-b', 'ab', 'aba', 'b']
    const expected = {
      'a.b': ['a.b'],
      '*': keys,
      'a*b': ['a-b', 'a.b', 'ab'],
      'a*': ['a-b', 'a.b', 'ab', 'aba'],
      '*a*b*': ['a-b', 'a.b', 'ab', 'aba'],
      'ab*b': [],
      '*b*b*': [],
      '**a': ['aba'],
    }
    for (const [pattern, found] of Object.entries(expected)) expect(alertsOf(pattern, keys), pattern).toEqual(found.toSorted())
    // A regular expression would take minutes.
    expect(alertsOf(`${'*a'.repeat(30)}*b`, ['a'.repeat(60)])).toEqual([])
  })

  it('keeps what is right beside what is wrong', () => {
    const { objects, broken, diagnostics } = readText(
      'alerts:\n  a: { name: A, threshold: 1, interval: 5m }\n  b: { name: B, threshold: 1 }\n',
    )
    expect(objects.map(({ key }) => key)).toEqual(['a'])
    expect(broken.map(({ key }) => key)).toEqual(['b'])
    expect(lines(diagnostics)).toEqual(['f.yml:3:3 schema: alerts.b.interval: is missing; accepted: 1m, 5m, 15m, 30m, 1h, 6h, 12h, 1d'])
  })

  it('a file gets all of its diagnostics at once, also of references and of rules for what is valid', async () => {
    const text = `dashboards:
  d:
    name: D
    tags: shop
    tiles:
      - { name: A, at: [20, 0, 6, 4], config: { displayType: line, source: S, select: [{ aggFn: count, filed: x }] } }
      - { name: B, y: 3, config: { displayType: line, source: S, select: [{ aggFn: count }] } }
alerts:
  a: { name: A, dashboard: d, tile: C, treshold: 1, interval: 10m, channel: { type: webhook, webhook: w } }
  b: { name: B, dashboard: e, tile: C, threshold: x, interval: 5m, channel: { type: webhook, webhook: w } }
  c: { name: C, dashboard: d, tile: A, threshold: 1, interval: 5m, thresholdMax: x }
`
    const diagnostics = await checkText(text)
    expect(lines(diagnostics).map((line) => line.split(' is ')[0]?.split('; ')[0])).toEqual([
      'f.yml:4:11 schema: dashboards.d.tags: "shop"',
      'f.yml:6:9 tile-outside-grid: dashboards.d.tiles["A"]: ends at column 26, but the grid has 24 columns',
      'f.yml:6:104 schema: dashboards.d.tiles["A"].config.select[0]: "filed"',
      'f.yml:7:23 schema: dashboards.d.tiles["B"].y: 3 needs both x and y',
      'f.yml:9:37 dangling-reference: alerts.a.tile: dashboard d has no tile named "C"',
      'f.yml:9:40 schema: alerts.a: "treshold"',
      'f.yml:9:63 schema: alerts.a.interval: "10m"',
      'f.yml:10:28 dangling-reference: alerts.b.dashboard: "e"',
      'f.yml:10:51 schema: alerts.b.threshold: "x"',
      'f.yml:11:3 alert-without-channel: alerts.c: has no channel, so it sends no notifications',
      'f.yml:11:82 schema: alerts.c.thresholdMax: "x"',
    ])
  })

  it('a file gets a diagnostic for two sources, whatever is wrong beside them', () => {
    const { diagnostics } = readText(`dashboards:
  d: { name: D, tiles: [{ name: A, config: { displayType: line, source: Logs, sourceId: abc, select: [{ aggFn: cnt }] } }] }
savedSearches:
  s: { source: Logs, sourceId: abc, select: 5 }
`)
    expect(diagnostics.map(({ message }) => message.split(';')[0])).toEqual([
      'dashboards.d.tiles["A"].config.select[0].aggFn: "cnt" is not accepted',
      'dashboards.d.tiles["A"].config.sourceId: "abc" cannot be combined with source',
      'savedSearches.s.name: is missing',
      'savedSearches.s.select: 5 is not accepted',
      'savedSearches.s.sourceId: "abc" cannot be combined with source',
    ])
  })

  it('a file gets no diagnostic that only follows from a wrong field beside it', () => {
    const tile = 'config: { displayType: line, source: S, select: [{ aggFn: count }] }'
    const { diagnostics } = readText(`dashboards:
  d: { name: D, tiles: [{ name: A, x: -1, y: 0, ${tile} }, { name: B, x: 0, y: a, ${tile} }, { name: C, y: 3, ${tile} }] }
alerts:
  a: { name: A, dashboard: d, tile: A, threshold: 1, interval: 5m, channel: { type: webhook, webhook: 5 } }
  b: { name: B, dashboard: d, tile: A, threshold: 1, interval: 5m, channel: { type: webhook, webhook: w, webhookId: i, field: 1 } }
`)
    expect(diagnostics.map(({ message }) => message.split(';')[0])).toEqual([
      'dashboards.d.tiles["A"].x: -1 is not accepted',
      'dashboards.d.tiles["B"].y: "a" is not accepted',
      'dashboards.d.tiles["C"].y: 3 needs both x and y',
      'alerts.a.channel.webhook: 5 is not accepted',
      'alerts.b.channel: "field" is an unknown field',
      expect.stringContaining('must have either webhook or webhookId'),
    ])
  })

  it('a file gets one diagnostic for the same message about many tiles', async () => {
    const tiles = Array.from({ length: 12 }, (_, i) => `      - { name: T${i}, config: { displayType: line, source: S, selct: x } }`)
    const text = ['dashboards:', '  d:', '    name: D', '    tags: [t]', '    tiles:', ...tiles, ''].join('\n')
    const diagnostics = await checkText(text)
    expect(lines(diagnostics)).toEqual([
      'f.yml:6:61 schema: dashboards.d.tiles["T0"].config: "selct" is an unknown field; did you mean "select"? (12 times; also in lines 7, 8, 9, …)',
    ])
  })

  it('a file that cannot be read may declare any object', () => {
    const { unread, diagnostics } = readText('a: [')
    expect(unread).toEqual(['f.yml'])
    expect(diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([['syntax', 'error']])
  })

  it.each([
    ['- a', 'f.yml:1:1 schema: ["a"] is not accepted; accepted: a map'],
    ['alerts:', 'f.yml:1:8 schema: alerts: null is not accepted; accepted: a map; indent the lines below it'],
    ['alert: {}', 'f.yml:1:1 schema: "alert" is an unknown field; did you mean "alerts"?'],
    [
      '__proto__: {}',
      'f.yml:1:1 schema: "__proto__" is an unknown field; accepted: $schema, defaults, instances, dashboards, savedSearches, alerts, webhooks, sources, slos, incidents',
    ],
  ])('a file is rejected with an unknown section: %s', (text, line) => {
    expect(lines(readText(text).diagnostics)).toEqual([line])
  })

  it('a file gets a diagnostic for each of its first unknown keys, and one for the number of the others', { tags: 'slow' }, () => {
    const { diagnostics } = readText(Array.from({ length: 5000 }, (_, i) => `dashboard${i}: 1`).join('\n'))
    expect(diagnostics).toHaveLength(21)
    expect(diagnostics.at(-1)?.message).toBe('4980 more unknown fields')
  })
})

describe('a key', () => {
  it.each(['a', '0', 'a.b-c_d', 'a'.repeat(63), 'constructor', 'length', 'then'])('a key may be %s', (key) => {
    const { objects, diagnostics } = readValue({ alerts: { [key]: fileWith().alerts.a } })
    expect(diagnostics).toEqual([])
    expect(objects[0]?.key).toBe(key)
  })

  it.each(['A', '-a', '', 'a b', 'a'.repeat(64), 'ä', 'a/b', '__proto__', 'toString', written('‹env.X›')])('a key may not be %j', (key) => {
    const { objects, diagnostics } = readText(`alerts: { ${JSON.stringify(key)}: {} }`)
    expect(objects).toEqual([])
    expect(lines(diagnostics)).toEqual([
      expect.stringMatching(/^f\.yml:1:11 schema: alerts: ".*" is not a key; accepted: lower-case letters/),
    ])
  })

  it('a key is declared once in all files, and both places are named', () => {
    const text = JSON.stringify({ alerts: { a: fileWith().alerts.a } })
    const { diagnostics } = readDeclarations(
      [
        { path: 'one.json', text },
        { path: 'two.json', text },
      ],
      () => undefined,
    )
    expect(lines(diagnostics)).toEqual(['two.json:1:12 duplicate-key: alerts.a is already declared in one.json:1:12'])
  })

  it('a key of an SLO or an incident is declared once in all files', () => {
    const text = JSON.stringify({ slos: { s: {} }, incidents: { i: {} } })
    const { diagnostics } = readDeclarations(
      [
        { path: 'one.json', text },
        { path: 'two.json', text },
      ],
      () => undefined,
    )
    expect(lines(diagnostics)).toEqual([
      'two.json:1:10 duplicate-key: slos.s is already declared in one.json:1:10',
      'two.json:1:31 duplicate-key: incidents.i is already declared in one.json:1:31',
    ])
  })

  it('a key is declared also where its object is wrong', () => {
    const { diagnostics } = readDeclarations(
      [
        { path: 'one.yml', text: 'alerts: { a: { name: 1 } }' },
        { path: 'two.json', text: JSON.stringify({ alerts: { a: fileWith().alerts.a } }) },
      ],
      () => undefined,
    )
    expect(diagnostics.map(({ rule }) => rule)).toContain('duplicate-key')
  })

  it('a key may be the same in two sections', () => {
    const { d } = fileWith().dashboards
    expect(readValue({ dashboards: { a: d }, alerts: { a: fileWith().alerts.a } }).diagnostics).toEqual([])
  })
})

describe('defaults', () => {
  const { interval: _, channel: __, ...bare } = fileWith().alerts.a
  const defaults = { alerts: { interval: '1h', channel: { type: 'webhook', webhook: 'all' } } }
  const alertOf = (value: unknown) => {
    const { objects, diagnostics } = readValue(value)
    return diagnostics.length === 0 ? objects.find(isOf('alert'))?.value : diagnostics
  }

  it('defaults fill in what an object does not say', () => {
    expect(alertOf({ defaults, alerts: { a: bare } })).toMatchObject({ interval: '1h', channel: { webhook: 'all' } })
  })

  it('defaults give way as whole fields', () => {
    const alert = alertOf({ defaults, alerts: { a: { ...bare, channel: { type: 'email', emailRecipients: ['a@b.c'] } } } })
    expect(alert).toMatchObject({ channel: { type: 'email', emailRecipients: ['a@b.c'] } })
  })

  it('defaults give way to what contradicts them', () => {
    const channels = [{ type: 'webhook', webhook: 'x' }]
    const several = alertOf({ defaults, alerts: { a: { ...bare, channels } } })
    expect(several).toMatchObject({ channels })
    expect(several).not.toHaveProperty('channel')
    const single = alertOf({ defaults: { alerts: { interval: '1h', channels } }, alerts: { a: fileWith().alerts.a } })
    expect(single).toMatchObject({ channel: fileWith().alerts.a.channel })
    expect(single).not.toHaveProperty('channels')
    const { dashboard: _d, tile: _t, ...unbound } = bare
    const onTile = { alerts: { ...defaults.alerts, dashboard: 'd', tile: 'T' } }
    const onSearch = alertOf({ defaults: onTile, alerts: { a: { ...unbound, savedSearch: 's' } } })
    expect(onSearch).toMatchObject({ savedSearch: 's' })
    expect(onSearch).not.toHaveProperty('tile')
    const onDashboard = alertOf({ defaults: { alerts: { ...defaults.alerts, savedSearch: 's' } }, alerts: { a: bare } })
    expect(onDashboard).toMatchObject({ dashboard: 'd', tile: 'T' })
    expect(onDashboard).not.toHaveProperty('savedSearch')
  })

  it('defaults with errors are reported once, not once for each object', () => {
    const { objects, broken, diagnostics } = readText(
      'defaults:\n  alerts: { interval: 5min }\nalerts:\n  a: { name: A, threshold: 1 }\n  b: { name: B, threshold: 1 }\n',
    )
    expect(lines(diagnostics)).toEqual([
      'f.yml:2:23 schema: defaults.alerts.interval: "5min" is not accepted; accepted: 1m, 5m, 15m, 30m, 1h, 6h, 12h, 1d; did you mean "5m"?',
    ])
    expect([objects.length, broken.length]).toEqual([0, 2])
  })

  it('defaults with errors do not hide the errors of objects that defaults cannot cause', () => {
    const { diagnostics } = readText(`defaults: { dashboards: { tiles: 5 }, alerts: { interval: 5min } }
dashboards:
  d: { nam: D }
  e: { name: 5 }
  f: 7
  g: { name: G }
alerts:
  a: { name: A, threshold: x, interval: 1h }
`)
    expect(diagnostics.map(({ message }) => message.split(';')[0])).toEqual([
      'defaults.dashboards.tiles: 5 is not accepted',
      'defaults.alerts.interval: "5min" is not accepted',
      'dashboards.d: "nam" is an unknown field',
      'dashboards.e.name: 5 is not accepted',
      'dashboards.f: 7 is not accepted',
      'alerts.a.threshold: "x" is not accepted',
    ])
  })

  it('wrong defaults do not hide the valid ones, and cause no error in what leaves a field to them', async () => {
    const check = async (alerts: string, search: string) => {
      const diagnostics = await checkText(`defaults:
  alerts: ${alerts}
  savedSearches: ${search}
  slos: { objective: 200, window: 7d }
dashboards:
  d: { name: D, tags: [x], tiles: [{ name: T, config: { displayType: line, sourceId: s, select: [{ aggFn: count }] } }] }
savedSearches:
  s: { name: S }
alerts:
  a: { name: A, tile: T, threshold: 1 }
  b: { name: B, tile: U, threshold: 1 }
  c: { name: C, tile: T, threshold: 1, interval: 5m, scheduleOffsetMinutes: 7 }
  e: { name: E, tile: T }
  f: { name: F, savedSearch: 5, groupBy: x, threshold: 1, interval: 5m }
slos:
  s: { name: S, source: s, good: a }
`)
      return diagnostics.map(({ message }) => message.split('; ')[0])
    }
    const channel = 'channel: { type: webhook, webhook: w }'
    expect(await check(`{ interval: 7m, dashboard: d, ${channel} }`, '{ sourceId: 5 }')).toEqual([
      'defaults.alerts.interval: "7m" is not accepted',
      'defaults.savedSearches.sourceId: 5 is not accepted',
      'defaults.slos.objective: 200 is not accepted',
      'alerts.b.tile: dashboard d has no tile named "U"',
      'alerts.c.scheduleOffsetMinutes: must be less than the interval of 5m',
      'alerts.e.threshold: is missing',
      'alerts.f.savedSearch: 5 is not accepted',
      'slos.s.total: is missing',
    ])
    // An unknown field may be any of the missing ones.
    expect(await check('{ interval: 5m, dashbord: d, channel: { type: webhook, webhok: w } }', '{ sorce: S }')).toEqual([
      'defaults.alerts: "dashbord" is an unknown field',
      'defaults.alerts.channel: "webhok" is an unknown field',
      'defaults.savedSearches: "sorce" is an unknown field',
      'defaults.slos.objective: 200 is not accepted',
      'alerts.c.scheduleOffsetMinutes: must be less than the interval of 5m',
      'alerts.f.savedSearch: 5 is not accepted',
      'slos.s.total: is missing',
    ])
  })

  it('defaults of one kind do not spoil the objects of another', () => {
    const { objects } = readValue({ defaults: { dashboards: { nam: 'x' } }, ...fileWith() })
    expect(objects.map(({ kind }) => kind)).toEqual(['alert'])
  })
})

describe('a variable', () => {
  it('a variable may be a number where a number belongs, and a text where a text does', () => {
    const { objects, diagnostics } = readValue(fileWith({ alert: { name: written('‹env.N›'), threshold: written('‹env.N›') } }), { N: '7' })
    expect(diagnostics).toEqual([])
    expect(objects.find(isOf('alert'))?.value).toMatchObject({ name: '7', threshold: 7 })
  })

  it('variables that are not set share one diagnostic, which names all of them', () => {
    const { diagnostics } = readValue(
      fileWith({ alert: { name: written('‹env.A›'), threshold: written('‹env.N›'), note: written('‹env.A›') } }),
    )
    expect(messages(diagnostics)).toEqual(['variable: 2 variables of this file are not set; set WATCHKEEPER_VAR_A, WATCHKEEPER_VAR_N'])
  })

  it('a variable that is not set is the only thing that is wrong with its value', () => {
    expect(messages(readValue(fileWith({ alert: { threshold: written('‹env.N›') } })).diagnostics)).toEqual([
      written('variable: alerts.a.threshold: ‹env.N› is not set; set WATCHKEEPER_VAR_N'),
    ])
  })
})

it('uses the rules that it describes, and no others', () => {
  const texts = ['a: [', 'a: 1', 'instances: { a: }\nalerts: { b: }', written('alerts: { a: { name: "‹env.X›" } }')]
  const rules = texts.flatMap((text) => readText(text).diagnostics.map(({ rule }) => rule))
  expect([...new Set([...rules, 'unknown-adoption'])].sort()).toEqual(Object.keys(readingRules).sort())
})

describe('webhooks and sources', () => {
  const webhook = { name: 'W', service: 'generic', urlFrom: 'WEBHOOK_URL' }

  it.each(['url', 'headers', 'queryParams'])('webhooks and sources reject a literal %s with the way out, and do not repeat it', (field) => {
    const [message, ...others] = messages(
      readValue({ webhooks: { w: { ...webhook, [field]: 'https://hooks.example/secret' } } }).diagnostics,
    )
    expect(others).toEqual([])
    expect(message).toMatch(/^schema: webhooks\.w\.\w+: is a secret and must not be in a file\. .*write its name, such as \w+From: /)
    expect(message).not.toContain('hooks.example')
  })

  it.each(['SLACK_URL', 'webhook_url', 'WEBHOOK_', written('‹env.URL›')])(
    'webhooks and sources accept no variable such as %s',
    (urlFrom) => {
      expect(readValue({ webhooks: { w: { ...webhook, urlFrom } } }, { URL: 'https://hooks.example/secret' }).objects).toEqual([])
    },
  )

  it('webhooks and sources reject what a webhook for Slack cannot have', () => {
    const slack = { ...webhook, service: 'slack', body: '{}', headersFrom: { A: 'WEBHOOK_A' } }
    expect(messages(readValue({ webhooks: { w: slack } }).diagnostics)).toHaveLength(2)
  })

  it('webhooks and sources need the fields of the kind of a source, and have no others', () => {
    const source = { name: 'S', kind: 'session', from: { databaseName: 'd' }, timestampValueExpression: 't', bodyExpression: 'b' }
    expect(messages(readValue({ sources: { s: source } }).diagnostics)).toEqual([
      'schema: sources.s.traceSource: is missing; accepted: the name of a source, or { id: … }',
      'schema: sources.s.from.tableName: is missing: a source of the kind session needs it',
      'schema: sources.s.bodyExpression: "b" is not a field of a source of the kind session',
    ])
  })

  it('W4: webhooks and sources have no setting for queries whose value could be SQL, or name a file', () => {
    const source = {
      name: 'S',
      kind: 'log',
      from: { databaseName: 'd', tableName: 't' },
      timestampValueExpression: 't',
      defaultTableSelectExpression: 'b',
    }
    const find = (setting: string, value: string) =>
      messages(readValue({ sources: { s: { ...source, querySettings: [{ setting, value }] } } }).diagnostics).filter((one) =>
        one.includes('querySettings'),
      )
    for (const value of ['1', '-1.5', 'true', 'false']) expect(find('max_threads', value)).toEqual([])
    for (const [setting, value] of [
      ['additional_result_filter', "'1'"],
      ['additional_table_filters', "{'t': '1'}"],
      ['format_schema', '/etc/passwd'],
      ['max_threads', '1, format_schema = a'],
      ['max_threads', '1 FORMAT TSV'],
      ['max_threads = 1, `format_schema`', '1'],
      ['"max_threads"', '1'],
    ] as const)
      expect(find(setting, value), `${setting} = ${value}`).toEqual([
        expect.stringMatching(/querySettings\[?.?0\]?\.value: .*must be a number, true or false, for a setting with a plain name/),
      ])
  })
})
