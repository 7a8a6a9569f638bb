// The recording has what HyperDX 2.36 stores for each document: imported in its web app, and applied from the declaration. Record it again
// with `npm run effects -- --imports-only --record`.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { comparable } from '../../../../src/kinds/compare.ts'
import { dashboardInFile, expandDashboard, isWebAppDashboard } from '../../../../src/kinds/dashboard/dashboard-file.ts'
import { createKinds } from '../../../../src/kinds/kinds.ts'
import type { NameIndex } from '../../../../src/kinds/name-index.ts'
import { profileNamed } from '../../../../src/platform/api/profiles.ts'
import { translateDashboard } from '../../../../src/tools/import/web-app.ts'
import { toDeclarations } from '../../../effects/as-declared.ts'
import { toExport } from '../../../effects/as-web-app.ts'
import { type StoredTwice, unexplained } from '../../../effects/imports.ts'
import { createIntents } from '../../../effects/intents.ts'
import type { Json } from '../../../effects/product.ts'
import { webDashboards } from '../../../effects/web-dashboards.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { mutate, randomFrom } from '../../../support/random.ts'

const path = new URL('../../../conformance/recorded/imports.json', import.meta.url)

const recorded: Readonly<Record<string, StoredTwice>> = JSON.parse(readFileSync(path, 'utf8'))

const kind = createKinds(profileNamed('hyperdx'), 0).dashboard

const translate = (document: Json, connections: readonly (readonly [string, string])[] = []) =>
  translateDashboard(document, 'a.json', { kind, connections: new Map(connections), webhooks: new Map([['w1', 'oncall']]) })

const named = (name: string): Json => {
  const found = webDashboards.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no dashboard ${name}`)
  return found
}

/** What is written into a file. */
const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('a dashboard of the web app', () => {
  it('is declared as it was when a real server stored it, and its losses are the differences to an import in the web app', () =>
    forEachEntry(webDashboards, (document) => {
      const { title, result, losses, declared } = translate(document)
      const stored = recorded[title]
      if (stored === undefined) throw new Error(`${title} is not recorded`)
      expect(toJson(declared)).toEqual(stored.declared)
      expect({ title, unexplained: unexplained(stored, losses) }).toEqual({ title, unexplained: [] })
      expect(result).toBe(losses.length === 0 ? 'exact' : 'changed')
      expect(dashboardInFile.safeParse(declared).error).toBeUndefined()
    }))

  it('has each loss in a sentence', () => {
    const shown = webDashboards.flatMap((one) => translate(one).losses).map(({ tile, loss }) => [tile, loss])
    expect(shown).toEqual([
      ['Gone', 'containerId gone is left out, because there is no such container'],
      ['Gone', 'tabId first is left out, because there is no such tab'],
      [undefined, 'variableName unused is left out, which has no effect without isVariableEnabled'],
      [undefined, "where ServiceName != '' has no language, and is read as SQL"],
      [
        undefined,
        expect.stringMatching(/^savedFilterValues \{"type":"lucene".* is left out: type: "lucene" is not accepted; accepted: sql$/),
      ],
      [
        undefined,
        expect.stringMatching(/^savedFilterValues \{"type":"sql_ast".* is left out: type: "sql_ast" is not accepted; accepted: sql$/),
      ],
      ['Lucene', 'where SeverityText:error becomes the condition of each series'],
      ['SQL', "where SeverityText = 'error' becomes the condition of each series"],
      ['Of two series', 'where SeverityText:error becomes the condition of each series'],
      ['Beside a series', 'where SeverityText:error is left out, so that rows without it count, too'],
      ['Granularity', 'granularity 5 minute is left out, which only the editor of the web app reads'],
      ['Limit', 'limit {"limit":20} is left out, so that the tile can have more rows'],
      ['Limit of a pie', 'limit {"limit":3} is left out, so that the tile can have more rows'],
      ['Stripes', 'alternateRowBackground true is left out, which tints every other row'],
      ['Share', 'ratioMode share_of_total is left out, so that each group has a ratio of its own'],
      ['Having in Lucene', 'havingLanguage lucene is left out, so that having is read as SQL'],
      ['Colored column', 'series 1: color chart-red is left out: the API has no field for it'],
      ['Gaps of a pie', 'fillNulls false is left out: the API has no field for it'],
      ['Expression', 'series 1: valueExpression Duration is left out, which a count does not read'],
      ['Second series', expect.stringMatching(/^the series \{"aggFn":"count".* is left out, because a tile of its type has one$/)],
      ['Ratio of one', 'seriesReturnType ratio is left out, which needs two series'],
      ['No language', 'series 1: aggCondition SeverityText:error has no language, and is read as Lucene'],
      ['Groups', 'groupBy [{"valueExpression":"ServiceName"}] is left out: the API has no field for it'],
      ['Order', 'orderBy [{"valueExpression":"ServiceName","ordering":"ASC"}] is left out: the API has no field for it'],
      ['Text', 'the tile is left out: config.select: "count()" is not accepted; accepted: a list of maps, such as [{ aggFn: … }]'],
      ['PromQL', 'the tile is left out: the API has no tiles of type promql line'],
      ['Level', 'the tile is left out: config.select[0].level: 0.42 is not accepted; accepted: 0.5, 0.9, 0.95, 0.99'],
      [
        'Combinator',
        expect.stringContaining('the tile is left out: config.select[0].aggFn: "avgIfState" is not accepted; accepted: avg, count'),
      ],
      ['Opens a dashboard', 'a click finds the dashboard Target by its name, and not by its id'],
    ])
  })

  it('that the editor saved is exact, and becomes the body of its declaration', { tags: 'slow' }, () => {
    const references = {
      sources: { log: 'Logs', trace: 'Traces', metric: 'Metrics' },
      connection: 'Local ClickHouse',
      webhook: '',
    }
    for (let seed = 1; seed <= 20; seed++) {
      const intents = createIntents(seed, 4)
      const { dashboards = {} } = toDeclarations(intents, references) as { readonly dashboards?: Readonly<Record<string, Json>> }
      for (const [i, intent] of intents.dashboards.entries()) {
        const { result, losses, declared = {} } = translate(toExport(intent, references))
        expect([seed, result, losses]).toEqual([seed, 'exact', []])
        expect(bodyOf(declared), `seed ${seed}, dashboard ${i}`).toEqual(bodyOf(dashboards[`d${i}`] ?? {}))
      }
    }
  })

  it('has the condition of a chart in each of its series, unless one has its own', () => {
    const { tiles } = translate(named('Conditions of charts')).declared ?? {}
    const conditions = (tiles as readonly Json[]).map(({ config }) => toJson((config as Json).select) as readonly Json[])
    expect(conditions.map((series) => series.map(({ where, whereLanguage = 'lucene' }) => [where, whereLanguage]))).toEqual([
      [['SeverityText:error', 'lucene']],
      [["SeverityText = 'error'", 'sql']],
      [
        ['SeverityText:error', 'lucene'],
        ['SeverityText:error', 'lucene'],
      ],
      [['ServiceName:checkout', 'lucene']],
    ])
  })

  it('keeps the condition of a chart of metrics out of its series', () => {
    const series = { aggFn: 'avg', metricName: 'a', metricType: 'gauge', valueExpression: 'Value' }
    const chart = { name: 'A', source: 'Metrics', displayType: 'line', select: [series], where: 'a:b', whereLanguage: 'lucene' }
    const { losses, declared } = translate({ name: 'A', tiles: [{ x: 0, y: 0, w: 6, h: 6, config: chart }] })
    expect(losses).toEqual([{ tile: 'A', loss: 'where a:b is left out, so that rows without it count, too' }])
    expect(JSON.stringify(declared)).not.toContain('a:b')
  })

  it('says of a lost condition only that it is lost', () => {
    const chart = { name: 'A', source: 'Logs', displayType: 'line', select: [{ aggFn: 'count' }], where: 'a:b' }
    const { losses } = translate({ name: 'A', tiles: [{ x: 0, y: 0, w: 6, h: 6, config: chart }] })
    expect(losses).toEqual([{ tile: 'A', loss: 'where a:b is left out, so that rows without it count, too' }])
  })

  it('loses fields that nothing here knows, and none that the server sets', () => {
    const chart = { name: 'A', displayType: 'markdown', markdown: 'x', later: { a: 1 } }
    const tile = { id: 't', x: 0, y: 0, w: 6, h: 6, minW: 2, config: chart }
    const set = { _id: '1', team: '2', provisioned: true, createdAt: 'x', description: 'y', __v: 3 }
    const { losses, declared } = translate({ name: 'A', constructor: 'x', ...set, tiles: [tile, 5] })
    expect(losses.map(({ loss }) => loss)).toEqual([
      'constructor x is left out: the API has no field for it',
      'later {"a":1} is left out: the API has no field for it',
      'minW 2 is left out: the API has no field for it',
      'the tile is left out: the API has no tiles of type ',
    ])
    expect(declared).toMatchObject({ name: 'A', tiles: [{ name: 'A', at: [0, 0, 6, 6] }] })
  })

  it('in the form of the API keeps a search without columns', () => {
    const config = { displayType: 'search', sourceId: 'Logs', where: '' }
    const { result, declared } = translate({ name: 'A', tiles: [{ id: 't', name: 'All', x: 0, y: 0, w: 6, h: 6, config }] })
    expect([result, toJson(declared)]).toMatchObject(['exact', { tiles: [{ name: 'All', config: { displayType: 'search', select: '' } }] }])
  })

  it('has the alerts of its tiles, with webhooks by name, by a given name, or by id', () => {
    const alert = { interval: '5m', threshold: 0, thresholdType: 'below', name: 'Errors', message: null }
    const stored = { id: 'a', state: 'ALERT', silenced: { by: 'x', at: 'y', until: 'z' }, createdAt: 'x', numConsecutiveWindows: 2 }
    const alertsOf = (...given: readonly Json[]) => {
      const chart = { source: 'Logs', displayType: 'line', select: [{ aggFn: 'count' }] }
      const tiles = given.map(({ of = {}, ...one }, i) => ({
        x: 0,
        y: 0,
        w: 6,
        h: 6,
        config: { name: `T${i}`, ...chart, ...(of as Json), alert: one },
      }))
      const { result, losses, alerts } = translate({ name: 'A', tiles })
      return { result, losses: losses.map(({ loss }) => loss), alerts: toJson(alerts) as readonly Json[] }
    }
    const webhook = (more: Json) => ({ type: 'webhook', ...more })
    const declared = { interval: '5m', threshold: 0, thresholdType: 'below', name: 'Errors' }
    expect(
      alertsOf(
        { ...alert, ...stored, channel: webhook({ webhookName: 'oncall' }) },
        { ...alert, channel: webhook({ webhookId: 'w1', severity: 'error' }) },
        { ...alert, channels: [webhook({ webhookId: 'w2' }), { type: 'email', emailRecipients: ['a@b.c'] }] },
      ),
    ).toEqual({
      result: 'exact',
      losses: [],
      alerts: [
        { ...declared, tile: 'T0', numConsecutiveWindows: 2, channel: webhook({ webhook: 'oncall' }) },
        { ...declared, tile: 'T1', channel: webhook({ webhook: 'oncall', severity: 'error' }) },
        { ...declared, tile: 'T2', channels: [webhook({ webhookId: 'w2' }), { type: 'email', emailRecipients: ['a@b.c'] }] },
      ],
    })
    const channel = webhook({ webhookName: 'oncall' })
    expect(
      alertsOf(
        { ...alert, channel, later: 1 },
        { ...alert, channel, of: { name: 'T2' } },
        { ...alert, channel },
        { ...alert, channel, of: { displayType: 'table' } },
        { ...alert, channel, detectionMode: 'anomaly' },
        { ...alert, channel, threshold: 'many' },
      ),
    ).toEqual({
      result: 'changed',
      losses: [
        'later 1 is left out: the API has no field for it',
        'its alert is left out: its tile has no name of its own',
        'its alert is left out: its tile has no name of its own',
        'its alert is left out: a tile of type table cannot have alerts; types that can: line, stacked_bar, number',
        'its alert is left out: it has the detectionMode anomaly',
        'its alert is left out: threshold: "many" is not accepted; accepted: a number',
      ],
      alerts: [{ ...declared, tile: 'T0', channel: webhook({ webhook: 'oncall' }) }],
    })
  })

  it('keeps the ids of a file of the provisioner, and gets names or ids of connections that are given', () => {
    const [source, connection] = ['6b09e4312122b597b0ab5b30', '6b09e4312122b597b0ab5b31']
    const sql = { configType: 'sql', displayType: 'table', sqlTemplate: 'SELECT 1', name: 'SQL' }
    const withConnection = (id: string): Json => ({
      name: 'Ids',
      tiles: [{ id: 't', x: 0, y: 0, w: 6, h: 6, config: { ...sql, connection: id, source } }],
      filters: [{ id: 'f', type: 'QUERY_EXPRESSION', name: 'F', expression: 'a', source, appliesToSourceIds: [source] }],
    })
    const declaredWith = (id: string, ...pairs: readonly (readonly [string, string])[]) =>
      toJson(translate(withConnection(id), pairs).declared)
    expect(declaredWith(connection)).toMatchObject({
      tiles: [{ config: { connection, sourceId: source } }],
      filters: [{ sourceId: source, appliesToSourceIds: [source] }],
    })
    const pair = ['Local ClickHouse', connection] as const
    expect(declaredWith(connection, pair)).toMatchObject({ tiles: [{ config: { connection: 'Local ClickHouse' } }] })
    expect(declaredWith('Local ClickHouse', pair)).toMatchObject({ tiles: [{ config: { connection } }] })
  })

  it('is refused without a name, and where the API has none of its tiles', () => {
    for (const name of [undefined, 'x'.repeat(1025)])
      expect(translate({ name, tiles: [] })).toMatchObject({ result: 'refused', reason: expect.stringContaining('its name is missing') })
    expect(translate({ name: 'x'.repeat(1024), tiles: [] }).result).not.toBe('refused')
    const promql = { ...named('Not in the API'), tiles: [(named('Not in the API').tiles as readonly Json[])[0]] }
    expect(translate(promql)).toMatchObject({ result: 'refused', reason: 'the API has none of its tiles', losses: [{ tile: 'PromQL' }] })
    expect(translate({ name: 'Empty', tiles: [] })).toMatchObject({ result: 'exact' })
  })

  it('that is broken never ends the translation with an error, and what is declared is valid', { tags: 'slow' }, () => {
    for (let seed = 1; seed <= 25; seed++) {
      const random = randomFrom(seed)
      for (const document of webDashboards) {
        const broken = mutate(document, random)
        if (!isWebAppDashboard(broken)) continue
        const { declared } = translate(broken as Json)
        if (declared !== undefined)
          expect(dashboardInFile.safeParse(declared).error, `seed ${seed}: ${JSON.stringify(broken)}`).toBeUndefined()
      }
    }
  })
})

describe('a file', () => {
  it('is a dashboard of the web app, unless its tiles have names of their own', () => {
    const chart = { name: 'A', displayType: 'line', source: 'Logs', select: [], where: '' }
    return forEachEntry<[unknown, boolean]>(
      [
        [{ version: '0.1.0', name: 'A', tiles: [] }, true],
        [{ name: 'A', tiles: [{ id: 't', config: chart }] }, true],
        [{ name: 'A', tiles: [{ name: 'A', config: { displayType: 'line', source: 'Logs', select: [] } }] }, false],
        [{ name: 'A', tiles: [] }, false],
        [{ dashboards: {} }, false],
        [{ version: '0.1.0', tiles: 'x' }, false],
        [{ tiles: [null, 5] }, false],
        [[], false],
      ],
      (document, expected) => expect(isWebAppDashboard(document)).toBe(expected),
    )
  })
})

/** The body of a request, in a service whose objects have their names for ids. */
function bodyOf(written: Json): Json {
  const { value } = expandDashboard(dashboardInFile.parse(written))
  const nameIndex: NameIndex = {
    byName: (_, name) => ({ id: name }),
    byId: (_, id) => ({ id }),
    nameOf: (id) => String(id),
    all: () => [{ id: 'Local ClickHouse', name: 'Local ClickHouse' }],
    withPlanned: () => nameIndex,
    withoutNames: () => nameIndex,
  }
  const location = { file: 'a.json' }
  const declared = { kind: 'dashboard' as const, key: 'a', location, value, spelled: written, locationOf: () => location, pathOf: () => '' }
  const nothing = { get: () => undefined }
  const context = { secret: () => undefined, nameIndex, sources: [], dashboards: nothing, savedSearches: nothing, tilesOf: () => [] }
  return comparable(kind, kind.resolve(declared, context).body)
}
