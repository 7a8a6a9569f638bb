// What apply stores has the same meaning for every reader, not only for the API that reads it back. test/effects does the same with a real
// server; here the emulator stores like the server, and its readers misread what is stored without a language.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../../src/emulator/index.ts'
import { inputsFor, serviceOf } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { outcomes } from '../../support/shop-declaration.ts'
import { decided, emptyPlan, type Site, withSite } from '../../support/site.ts'

type Json = Readonly<Record<string, unknown>>

type Dialect = NonNullable<EmulatorOptions['dialect']>

const everyField = readFileSync(new URL('../../corpus/every-field.yml', import.meta.url), 'utf8')

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : [])

const isLanguage = (field: string): boolean => field === 'whereLanguage' || field === 'savedQueryLanguage'

const withoutLanguages = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withoutLanguages)
    : isJson(value)
      ? Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (isLanguage(key) ? [] : [[key, withoutLanguages(item)]])))
      : value

/** Every field that a file can have, but no language. The queries of SLOs are SQL, which has none. */
function fileWithoutLanguages(emulator: Emulator): Json {
  const { connections, webhooks } = serviceOf(emulator)
  const text = everyField
    .replaceAll(/\$\{\{ env.CONNECTION \}\}/g, String(connections[0]?.id))
    .replaceAll(/\$\{\{ env.WEBHOOK \}\}/g, String(webhooks[0]?.name))
  const { slos: _, ...file } = parse(text) as Json
  return withoutLanguages(file) as Json
}

/** The languages that a dashboard or a saved search needs, by path. Written without the schemas of files. */
function languagesNeeded(body: Json): Readonly<Record<string, string>> {
  if (!Array.isArray(body.tiles)) return { whereLanguage: 'lucene' }
  const filters = [...listOf(body.filters).entries()].filter(([, { where }]) => where)
  return {
    ...(body.savedQuery ? { savedQueryLanguage: 'lucene' } : {}),
    ...Object.fromEntries(filters.map(([i]) => [`filters.${i}.whereLanguage`, 'sql'])),
    ...Object.assign({}, ...listOf(body.tiles).map(({ config }, i) => languagesOfTile(config as Json, `tiles.${i}.config`))),
  }
}

function languagesOfTile({ displayType, configType, select, onClick }: Json, at: string): Readonly<Record<string, string>> {
  const hasOwn = ['heatmap', 'search', 'event_patterns'].includes(String(displayType))
  const items = hasOwn || configType === 'sql' ? [] : [...listOf(select).keys()]
  return {
    ...(isJson(onClick) && onClick.type !== 'external' ? { [`${at}.onClick.whereLanguage`]: 'lucene' } : {}),
    ...(hasOwn && { [`${at}.whereLanguage`]: 'lucene' }),
    ...Object.fromEntries(items.map((j) => [`${at}.select.${j}.whereLanguage`, 'lucene'])),
  }
}

function languagesIn(value: unknown, path: readonly PropertyKey[] = []): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.assign(
    {},
    ...Object.entries(value).map(([key, item]) =>
      isLanguage(key) && item !== null ? { [[...path, key].join('.')]: item } : languagesIn(item, [...path, key]),
    ),
  )
}

const written = ({ requests }: Emulator, method: string): readonly Json[] =>
  requests
    .filter((one) => one.method === method && /\/(?:dashboards|saved-searches)(?:\/\w{24})?$/.test(one.path) && one.status === 200)
    .map(({ body }) => body as Json)

async function withEmulator<T>(dialect: Dialect, use: (emulator: Emulator, site: Site) => Promise<T>): Promise<T> {
  const emulator = await startEmulator({ dialect, rateLimit: 'off' })
  try {
    return await withSite(emulator, dialect, (site) => use(emulator, site))
  } finally {
    await emulator.close()
  }
}

const retagged = (file: Json, tag: string): Json => ({
  ...file,
  ...Object.fromEntries(
    ['dashboards', 'savedSearches'].map((section) => [
      section,
      Object.fromEntries(Object.entries(file[section] as Json).map(([key, object]) => [key, { ...(object as Json), tags: [tag] }])),
    ]),
  ),
})

const profiles = ['clickhouse-cloud', 'hyperdx'] as const

/** A patch of tags writes no tile, and the patch of a tile is in patched-dashboards.test.ts. */
const writesWhole = (dialect: Dialect, run: string): boolean => dialect !== 'hyperdx' || run === 'create' || run === 'rewrite'

describe('the languages that a file leaves out', () => {
  it('W9: sends the stated defaults with every request that creates a dashboard or a saved search, or writes it whole', {
    tags: 'slow',
  }, async () => {
    for (const dialect of profiles)
      await withEmulator(dialect, async (emulator, site) => {
        const file = fileWithoutLanguages(emulator)
        const adopted = retagged(file, 'every-field')
        const objects = ['dashboards', 'savedSearches'].flatMap((section) => Object.values(adopted[section] as Record<string, Json>))
        const runs: Readonly<Record<string, () => Promise<unknown>>> = {
          create: () => site.apply({ 'a.json': file }),
          update: () => site.apply({ 'a.json': retagged(file, 'changed') }),
          rewrite: () => site.apply({ 'a.json': retagged(file, 'changed') }, { repair: ['rewrite'] }),
          adopt: async () => {
            const { dashboards, savedSearches } = serviceOf(emulator)
            for (const one of [...dashboards, ...savedSearches]) one.tags = one.tags?.filter((tag) => !tag.startsWith('wk:')) ?? []
            for (const one of objects) Object.assign(one, { adopt: true })
            await site.apply(await decided(site.plan, { 'a.json': adopted }))
          },
        }
        for (const [name, run] of Object.entries(runs).filter(([one]) => writesWhole(dialect, one))) {
          const method = name === 'create' ? 'POST' : 'PUT'
          const before = written(emulator, method).length
          await run()
          const bodies = written(emulator, method).slice(before)
          expect(bodies.length, `${dialect}: ${name}`).toBe(2)
          for (const body of bodies) expect(languagesIn(body), `${dialect}: ${name}`).toEqual(languagesNeeded(body))
        }
      })
  })

  it('W9: sends the stated defaults with create-dashboard and update-dashboard', async () => {
    for (const dialect of profiles)
      await withEmulator(dialect, async (emulator) => {
        const file = fileWithoutLanguages(emulator)
        const [source] = serviceOf(emulator).sources.filter(({ kind }) => kind === 'trace')
        const text = JSON.stringify((file.dashboards as Json)['every-field']).replace(/\{"source":"\w+"\}/g, JSON.stringify(source?.id))
        const dashboard = JSON.parse(text) as Json
        const document: Json = { ...dashboard, filters: listOf(dashboard.filters).map((one) => ({ type: 'QUERY_EXPRESSION', ...one })) }
        const containers = listOf(document.containers).map((one) => ({ collapsed: false, ...one }))
        const inputs = { ...inputsFor(emulator, dialect), dashboard: JSON.stringify({ ...document, containers }) }
        const created = await invokeText({ inputs: { ...inputs, operation: 'create-dashboard' } })
        expect(created.reason).toBe('')
        const renamed = { ...inputs, dashboard: inputs.dashboard.replace('Every field', 'Renamed') }
        const id = serviceOf(emulator).dashboards.at(-1)?.id ?? ''
        const updated = await invokeText({ inputs: { ...renamed, operation: 'update-dashboard', id: id } })
        expect(updated.reason).toBe('')
        for (const method of ['POST', 'PUT']) {
          const [body = {}] = written(emulator, method)
          expect(Object.keys(languagesNeeded(body)).length, method).toBeGreaterThan(15)
          expect(languagesIn(body), `${dialect}: ${method}`).toEqual(languagesNeeded(body))
        }
      })
  })

  it('stated defaults do not make a plan, and are not pulled', () =>
    withEmulator('hyperdx', async (emulator, site) => {
      const files = { 'observability/a.json': fileWithoutLanguages(emulator) }
      await site.apply(files)
      expect(await site.plan(files)).toMatchObject({ toUpdate: 0, changed: false })
      const { writtenFiles } = await site.pull(files)
      const pulled = writtenFiles.find(({ path }) => path === 'observability/a.json')
      expect(Object.keys(languagesIn(pulled === undefined ? {} : JSON.parse(pulled.content)))).toEqual([])
    }))

  it('W9: a reader needs every stated default, because a reader notices each that is missing', () =>
    withEmulator('hyperdx', async (emulator, site) => {
      await site.apply({ 'a.json': fileWithoutLanguages(emulator) })
      const dashboard = serviceOf(emulator).dashboards.find(({ name }) => name === 'Every field')
      if (dashboard === undefined) throw new Error('apply did not create the dashboard')
      const readers = () => [emulator.readInWebApp(dashboard.id, 'sql'), emulator.readInWebApp(dashboard.id, 'lucene')]
      const [first, second] = readers()
      expect(first).toEqual(second)
      const paths = Object.keys(languagesIn(dashboard)).filter((path) => !path.includes('onClick'))
      expect(paths.length).toBeGreaterThan(8)
      for (const path of paths) {
        const fields = path.split('.')
        const holder = fields.slice(0, -1).reduce<Record<string, unknown>>((value, key) => value[key] as never, dashboard as never)
        const field = fields.at(-1) ?? ''
        const hasText = [holder.where, holder.savedQuery].some((text) => typeof text === 'string' && text !== '')
        const stored = holder[field]
        Reflect.deleteProperty(holder, field)
        const [sql, lucene] = readers()
        const isNoticed = JSON.stringify(sql) !== JSON.stringify(lucene)
        holder[field] = null
        const isRefused = emulator.saveAgainInWebApp(dashboard.id).status === 400
        holder[field] = stored
        expect(isNoticed || isRefused, path).toBe(hasText || path.includes('.select.'))
      }
    }))
})

const _withSource = (tile: Json, sourceId: unknown): Json => ({
  ...tile,
  containerId: undefined,
  tabId: undefined,
  config: { ...(tile.config as Json), sourceId },
})

/** In the emulated week: `cart` logs five errors in every second minute from 06:00 to 06:30 on Monday. */
const incidentMs = Date.parse('2026-11-09T06:10:00Z')

const alertFor = (fields: Json): Json => ({
  name: 'Errors',
  threshold: 5,
  interval: '5m',
  channel: { type: 'webhook', webhook: 'oncall' },
  ...fields,
})

const lucene = { aggFn: 'count', where: 'ServiceName:cart SeverityText:error' }

const alertsFile = (more: Json = {}): Json => ({
  dashboards: {
    shop: {
      name: 'Cart',
      tiles: [
        { name: 'Line', config: { displayType: 'line', source: 'Logs', select: [lucene] } },
        {
          name: 'Bars',
          config: { displayType: 'stacked_bar', source: 'Logs', select: [lucene, { aggFn: 'count', where: 'ServiceName:cart' }] },
        },
        { name: 'Number', config: { displayType: 'number', source: 'Logs', select: [lucene] } },
      ],
      ...more,
    },
  },
  savedSearches: { errors: { name: 'Cart errors', source: 'Logs', where: lucene.where, ...more } },
  alerts: {
    line: alertFor({ dashboard: 'shop', tile: 'Line' }),
    bars: alertFor({ dashboard: 'shop', tile: 'Bars' }),
    number: alertFor({ dashboard: 'shop', tile: 'Number' }),
    search: alertFor({ savedSearch: 'errors' }),
  },
})

const unchangedAlerts = { line: 'unchanged', bars: 'unchanged', number: 'unchanged', search: 'unchanged' }

/** The states and errors of the alerts of this test, after one run of the alert task. */
function evaluate(emulator: Emulator): readonly string[] {
  emulator.runAlertTask(incidentMs)
  return serviceOf(emulator)
    .alerts.filter(({ note }) => note?.includes('watchkeeper:'))
    .map(({ state, executionErrors = [] }) => [state, ...executionErrors.map(({ type }) => type)].join(' '))
}

describe('alerts on conditions without a language', () => {
  it('W9: fires alerts after their dashboard was created, updated and rewritten, and the web app can save it', {
    tags: 'slow',
  }, async () => {
    for (const dialect of profiles)
      await withEmulator(dialect, async (emulator, site) => {
        const inputs = [{}, { tags: ['changed'] }, { tags: ['changed'] }]
        for (const [i, more] of inputs.entries()) {
          await site.apply({ 'a.json': alertsFile(more) }, i === 2 ? { repair: ['rewrite'] } : {})
          const { id = '' } = serviceOf(emulator).dashboards.find(({ name }) => name === 'Cart') ?? {}
          expect(emulator.saveAgainInWebApp(id), `${dialect} ${i}`).toEqual({ status: 200 })
          expect(evaluate(emulator), `${dialect} ${i}`).toEqual(['ALERT', 'ALERT', 'ALERT', 'ALERT'])
        }
      })
  })

  it('alerts on conditions without a language cannot be evaluated once the language is gone from the store, although the plan is empty; a rewrite repairs them', () =>
    withEmulator('hyperdx', async (emulator, site) => {
      const files = { 'a.json': alertsFile() }
      await site.apply(files)
      const dashboard = serviceOf(emulator).dashboards.find(({ name }) => name === 'Cart')
      for (const { config } of dashboard?.tiles ?? [])
        for (const item of config.select as Record<string, unknown>[]) item.whereLanguage = null
      const failing = ['ALERT', 'OK QUERY_ERROR', 'OK QUERY_ERROR', 'OK QUERY_ERROR']
      expect(evaluate(emulator).toSorted()).toEqual(failing)
      expect(await site.plan(files)).toMatchObject(emptyPlan)
      expect(outcomes(await site.apply(files))).toEqual({ shop: 'unchanged', errors: 'unchanged', ...unchangedAlerts })
      expect(evaluate(emulator).toSorted()).toEqual(failing)
      const before = serviceOf(emulator).dashboards.map(({ tags }) => tags)
      expect(outcomes(await site.apply(files, { repair: ['rewrite'] }))).toEqual({ shop: 'updated', errors: 'updated', ...unchangedAlerts })
      expect(serviceOf(emulator).dashboards.map(({ tags }) => tags)).toEqual(before)
      expect(evaluate(emulator)).toEqual(['ALERT', 'ALERT', 'ALERT', 'ALERT'])
      expect(await site.plan(files)).toMatchObject(emptyPlan)
    }))
})
