// The suite itself needs a real server. Here, its files are applied to the emulator, so that a change of the product's rules or of the file
// schemas does not leave it with files that cannot be applied; and its comparison is shown to find what it is for.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { readSlos } from '../../src/signals/slos/expand-slos.ts'
import { readValue } from '../support/declarations.ts'
import { serviceOf } from '../support/emulator.ts'
import { convergenceProblems, withSite } from '../support/site.ts'
import { changed, type References, toDeclarations } from './as-declared.ts'
import { createIntents } from './intents.ts'
import { declareProblems, effectOf, predictionsOf, problemCases } from './problems.ts'
import type { Json } from './product.ts'
import { declaredQueries, twinDashboard } from './queries.ts'
import { arrivalProblems, type RecordedArrivals, receiverDeclarations, receiverSecrets } from './receivers.ts'
import { compareWithCheckSlo, type SloEvaluation } from './slos.ts'
import { type Dump, differencesOf, writtenBy } from './stored.ts'

function referencesIn(emulator: Emulator): References {
  const { sources, webhooks } = serviceOf(emulator)
  const sourceOf = (kind: string): string => sources.find((one) => one.kind === kind)?.id ?? ''
  return {
    sources: { log: sourceOf('log'), trace: sourceOf('trace'), metric: sourceOf('metric') },
    connection: String(sources.find(({ kind }) => kind === 'log')?.connection),
    webhook: webhooks[0]?.id ?? '',
  }
}

describe('the files of the effect suite', () => {
  it('the generated files are the same for the same seed', () => {
    expect(createIntents(7, 3)).toEqual(createIntents(7, 3))
    expect(createIntents(7, 3)).not.toEqual(createIntents(8, 3))
  })

  it('W9: applies and changes objects of the web app in both profiles, and the web app can save their dashboards', async () => {
    for (const [seed, dialect] of ['hyperdx', 'clickhouse-cloud', 'hyperdx', 'clickhouse-cloud'].entries()) {
      const emulator = await startEmulator({ dialect: dialect as 'hyperdx', rateLimit: 'off' })
      try {
        const intents = createIntents(seed, 3)
        for (const one of [intents, changed(intents)]) {
          const file = toDeclarations(one, referencesIn(emulator))
          const problems = await withSite(emulator, dialect as 'hyperdx', (site) => convergenceProblems(site, file))
          expect(problems, `seed ${seed}`).toEqual([])
          for (const { id } of serviceOf(emulator).dashboards)
            expect(emulator.saveAgainInWebApp(id), `seed ${seed}`).toEqual({ status: 200 })
        }
      } finally {
        await emulator.close()
      }
    }
  })
})

describe('the alerts with a query of the effect suite', () => {
  it('are applied and changed, and their twins have the same names', async () => {
    const emulator = await startEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
    try {
      const references = referencesIn(emulator)
      const declare = (version: 'first' | 'next') => declaredQueries('oncall', references.connection, version)
      for (const version of ['first', 'next'] as const)
        expect(await withSite(emulator, 'hyperdx', (site) => convergenceProblems(site, declare(version)))).toEqual([])
      const names = Object.values(declare('first').alerts as Json).map((one) => (one as Json).name)
      const { tiles } = twinDashboard('Twin', references) as { readonly tiles: readonly { readonly config: Json }[] }
      expect(tiles.map(({ config }) => config.name)).toEqual(names)
      expect(new Set(names).size).toBe(names.length)
    } finally {
      await emulator.close()
    }
  })
})

describe('the queries whose effect a plan predicts', () => {
  it('can be applied, and the diagnostics of a plan say for each alert what it is', async () => {
    const emulator = await startEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
    try {
      const file = declareProblems(referencesIn(emulator), 'oncall', [...problemCases.keys()])
      const applied = await withSite(emulator, 'hyperdx', (site) => site.apply({ 'problems.json': file }))
      expect(applied.objects.filter(({ outcome }) => outcome !== 'created')).toEqual([])
      expect(applied.objects.filter(({ kind }) => kind === 'alert')).toHaveLength(problemCases.length)
    } finally {
      await emulator.close()
    }
    const said = predictionsOf([
      { rule: 'failing-query', message: 'alerts.a1: it would never fire: why' },
      { rule: 'never-evaluated', message: 'alerts.a4: the server would never evaluate it: why' },
      { rule: 'failing-query', message: 'dashboards.d5.tiles["T"]: it would show an error' },
    ])
    expect(Object.fromEntries(said)).toEqual({ a1: 'fails', a4: 'never' })
    expect([effectOf([]), effectOf([{ state: 'OK' }]), effectOf([{ state: 'ERROR' }])]).toEqual(['never', 'evaluated', 'fails'])
  })
})

describe('the receivers of the example', () => {
  const recorded = JSON.parse(readFileSync(new URL('receivers.json', import.meta.url), 'utf8')) as RecordedArrivals

  /** Replaces a text in all messages to a receiver. */
  const problemsAfter = (receiver: string, text: string, by: string): readonly string[] =>
    arrivalProblems({
      ...recorded,
      arrivals: recorded.arrivals.map((one) => (one.receiver === receiver ? { ...one, text: one.text.replaceAll(text, by) } : one)),
    })

  it('get from HyperDX 2.36 what they document, with one id for an alert that fires and is resolved', () => {
    expect(arrivalProblems(recorded)).toEqual([])
  })

  it('a message that its receiver would not understand is a problem', () => {
    const { arrivals, templates } = recorded
    const unknown: readonly (readonly [string, string, string, string])[] = [
      ['pagerduty', '"resolve"', '"resolved"', 'event_action: Invalid option'],
      ['pagerduty', '"dedup_key"', '"dedupKey"', 'dedup_key: Invalid input'],
      ['incidents', '"firing"', '"resolved"', 'the states are resolved,resolved'],
      ['opsgenie', '"alias": "', '"alias": "\\n', 'alias: Invalid string'],
      ['discord', '"url": "http:', '"url": "', 'url: Invalid URL'],
      ['teams', '"wrap": true }', '"wrap": true, }', 'is not JSON'],
      ['google-chat', '@here', '', 'text: Invalid string'],
      ['receiver', 'a', 'b', 'text'],
    ]
    for (const [receiver, text, by, problem] of unknown)
      expect(problemsAfter(receiver, text, by).join('\n'), receiver).toMatch(new RegExp(`^${receiver}.*${problem}`, 'm'))
    const withoutKey = arrivals.map((one) => ({ ...one, headers: {} }))
    expect(arrivalProblems({ ...recorded, arrivals: withoutKey })).toContain(
      'pagerduty, query firing: the header X-Routing-Key is undefined',
    )
    expect(arrivalProblems({ ...recorded, arrivals: arrivals.slice(1) })).toEqual(['discord: nothing arrived for query firing'])
    const ids = /"(?:dedup_key|alias|id|threadKey|deduplication_key)": "[0-9a-f]+"/g
    const sameId = arrivals.map((one) => ({
      ...one,
      text: one.text.replace(ids, (field) => field.replace(/"[0-9a-f]+"$/, '"0123456789"')),
    }))
    expect(arrivalProblems({ ...recorded, arrivals: sameId })).toHaveLength(5)
    expect(arrivalProblems({ arrivals, templates: { ...templates, teams: '' } })).toEqual(['teams: the template has changed since'])
  })

  it('are applied with their secrets, and alerts that notify all of them', async () => {
    const emulator = await startEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
    try {
      const name = serviceOf(emulator).sources.find(({ kind }) => kind === 'log')?.name ?? ''
      const server = { url: emulator.url, project: 'shop/infra', secrets: receiverSecrets('https://hooks.example.com') }
      expect(await withSite(server, 'hyperdx', (site) => convergenceProblems(site, receiverDeclarations(name, Date.now())))).toEqual([])
    } finally {
      await emulator.close()
    }
  })
})

describe('the comparison of stored documents', () => {
  const item = { aggFn: 'count', aggCondition: 'ServiceName:cart', aggConditionLanguage: 'lucene', valueExpression: '' }
  const config = { displayType: 'line', source: 's', where: '', name: 'Tile', select: [item] }
  const tile = { id: 't', x: 0, y: 0, w: 12, h: 6, config }
  const dashboard = { _id: 'd', name: 'Dashboard', tags: ['shop'], tiles: [tile], filters: [] }
  const alert = { _id: 'a', source: 'tile', dashboard: 'd', tileId: 't', threshold: 1, channel: { type: 'webhook', webhookId: 'w' } }

  const differences = (changes: Json, alertChanges: Json = {}): readonly string[] => {
    const dump: Dump = {
      dashboards: [dashboard, { ...dashboard, _id: 'other', ...changes }],
      savedsearches: [],
      alerts: [alert, { ...alert, _id: 'b', dashboard: 'other', ...alertChanges }],
    }
    const [one, other] = ['d', 'other'].map((id) => writtenBy({ dashboards: [id], savedSearches: [] }, dump, new Map()).objects)
    return differencesOf(Object.fromEntries(one ?? []), Object.fromEntries(other ?? []))
  }

  const withItem = (changes: Json): Json => ({ tiles: [{ ...tile, config: { ...config, select: [{ ...item, ...changes }] } }] })

  it('finds no difference in ids, times, markers, and values that every reader assumes', () => {
    const same: readonly (readonly [Json, Json?])[] = [
      [{}],
      [{ updatedAt: '2026-01-01', __v: 3, tags: ['shop', 'wk:abcdef:a:abcdef'] }],
      [withItem({ isDelta: false })],
      [{ tiles: [{ ...tile, config: { ...config, granularity: 'auto', whereLanguage: 'sql', fillNulls: 0 } }] }],
      [{}, { note: 'watchkeeper: shop/x a abcdef', channel: { type: 'webhook', webhookId: 'v' } }],
    ]
    for (const changes of same) expect(differences(...changes), JSON.stringify(changes)).toEqual([])
  })

  it('finds a lost language, condition, setting and threshold', () => {
    const { aggConditionLanguage: _, ...bare } = item
    const different: readonly (readonly [Json, Json?])[] = [
      [{ tiles: [{ ...tile, config: { ...config, select: [bare] } }] }],
      [withItem({ aggConditionLanguage: null })],
      [withItem({ aggCondition: '' })],
      [{ tiles: [{ ...tile, config: { ...config, fillNulls: false } }] }],
      [{ tiles: [{ ...tile, config: { ...config, where: 'x', whereLanguage: 'sql' } }] }],
      [{ filters: [{ id: 'f', name: 'F', where: 'x' }] }],
      [{}, { threshold: 2 }],
      [{}, { note: 'Call Ada' }],
    ]
    for (const changes of different) expect(differences(...changes), JSON.stringify(changes)).not.toEqual([])
  })
})

describe('the comparison of SLOs', () => {
  it('finds an evaluation of the alert task with a value or a state that check-slos does not have', async () => {
    const payment = {
      name: 'Payment',
      source: 'Traces',
      total: "ServiceName = 'payment'",
      good: "StatusCode != 'Error'",
      objective: 99,
      window: '7d',
    }
    const { slos } = readSlos(readValue({ slos: { payment } }).slos, [])
    const emulator = await startEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
    const weekMs = 7 * 86_400_000
    const monday = Date.parse('2026-11-09T00:00:00Z')
    // Of the telemetry, which repeats every week: after 40 minutes in which every fourth span fails.
    const endMs = monday + (Math.floor((Date.now() - monday) / weekMs) - 1) * weekMs + (3 * 24 * 60 + 9 * 60 + 40) * 60_000
    const right = { key: 'payment.page-1h', endMs, group: '', value: (25 * 40) / 60, state: 'ALERT' }
    try {
      await withSite(emulator, 'hyperdx', async ({ session: { api }, target }) => {
        const differences = (one: SloEvaluation) => compareWithCheckSlo(slos, [one], () => ({ api, service: target }))
        expect(await differences(right)).toEqual([])
        expect(await differences({ ...right, value: 16 })).toHaveLength(1)
        expect(await differences({ ...right, state: 'OK' })).toHaveLength(1)
        expect(await differences({ ...right, key: 'payment.no-data', value: 240, state: 'OK' })).toEqual([])
        expect(await differences({ ...right, key: 'payment.no-data', value: 0 })).toHaveLength(1)
      })
    } finally {
      await emulator.close()
    }
  })
})
