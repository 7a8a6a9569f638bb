// A value without a text of its own is a mistake in a message: `undefined on Orders`, `NaN days`.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { demo } from '../../src/emulator/index.ts'
import { renderMarkdown } from '../../src/platform/report/markdown.ts'
import { renderTerminal } from '../../src/platform/report/terminal.ts'
import { inputsFor, serviceOf, useEmulator } from '../support/emulator.ts'
import { type Invoked, invokeText } from '../support/invoke.ts'
import { runs, sample } from '../support/seeds.ts'

const emulators = {
  'clickhouse-cloud': useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' }),
  hyperdx: useEmulator({ dialect: 'hyperdx', rateLimit: 'off' }),
}

const line = { displayType: 'line', source: 'Logs', select: [{ aggFn: 'count', where: 'level:error' }] }
const alert = { threshold: 5, interval: '5m', channel: { type: 'webhook', webhook: 'oncall' } }
const slo = { name: 'Orders', source: 'Traces', total: "ServiceName = 'a'", good: "StatusCode != 'Error'", objective: 99.9, window: '7d' }

const content = {
  dashboards: {
    shop: {
      name: 'Shop',
      tags: ['shop'],
      tiles: [
        { name: 'Errors', x: 0, y: 0, w: 6, h: 4, config: line },
        { name: 'Rows', config: { displayType: 'number', configType: 'sql', sqlTemplate: 'SELECT 1' } },
      ],
    },
    rows: {
      name: 'In rows',
      rows: [{ name: 'Row', tiles: [{ name: 'One', config: line }] }],
      filters: [{ name: 'Service', expression: 'ServiceName', source: 'Logs' }],
    },
  },
  savedSearches: { slow: { name: 'Slow', source: 'Logs', where: 'duration:>1', orderBy: 'Timestamp DESC' } },
  alerts: {
    tile: { ...alert, name: 'On a tile', dashboard: 'shop', tile: 'Errors', note: 'n' },
    named: {
      ...alert,
      name: 'On a named tile',
      dashboard: { name: 'Checkout overview' },
      tile: 'Orders',
      thresholdType: 'between',
      thresholdMax: 9,
    },
    search: { ...alert, name: 'On a search', savedSearch: 'slow', groupBy: 'ServiceName' },
    other: { ...alert, name: 'On another search', savedSearch: { name: 'Errors in checkout' }, numConsecutiveWindows: 2 },
    query: { ...alert, name: 'With a query', query: { source: 'Logs', select: [{ aggFn: 'count' }] } },
  },
  webhooks: { pager: { name: 'pager', service: 'generic', urlFrom: 'WEBHOOK_PAGER_URL', description: 'd' } },
  sources: {
    logs: {
      name: 'More logs',
      kind: 'log',
      from: { databaseName: 'default', tableName: 'otel_logs' },
      timestampValueExpression: 'Timestamp',
      defaultTableSelectExpression: 'Body',
    },
  },
  slos: {
    orders: {
      ...slo,
      alerts: { page: { channel: alert.channel }, ticket: { channel: alert.channel } },
      noData: { channel: alert.channel },
    },
  },
  incidents: { down: { name: 'Down', start: '2026-11-14T12:00:00Z', end: '2026-11-14T12:15:00Z', alerts: ['tile'], within: '10m' } },
}

type Json = Record<string | number, unknown>

type Path = readonly (string | number)[]

/** All places in a value. */
const placesIn = (value: unknown, path: Path = []): readonly Path[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, item]) => [[...path, key], ...placesIn(item, [...path, key])])
    : []

const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const absent = Symbol('absent')

function put(root: unknown, at: number, value: unknown, isPlace: (path: Path) => boolean = () => true): void {
  const places = placesIn(root).filter(isPlace)
  const path = places[at % places.length] ?? []
  const parent = path.slice(0, -1).reduce<Json>((inner, key) => inner[key] as Json, root as Json)
  const key = path.at(-1) ?? ''
  if (value !== absent) parent[key] = value
  else if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else delete parent[key]
}

const wrong = fc.constantFrom<unknown>(
  'No such',
  '',
  0,
  -1,
  1.5,
  true,
  [],
  {},
  [{}],
  ['No such'],
  { name: 'No such' },
  { id: 'a'.repeat(24) },
  Number.NaN,
  absent,
)
const missing = fc.constantFrom<unknown>(null, absent, '')

const edits = (value: fc.Arbitrary<unknown>, maxLength: number) => fc.array(fc.tuple(fc.nat(100_000), value), { maxLength })

const isReference = (path: Path): boolean => ['dashboard', 'tile', 'savedSearch', 'source', 'webhook', 'name'].includes(String(path.at(-1)))

const given = fc.record({
  dialect: fc.constantFrom('clickhouse-cloud', 'hyperdx'),
  isApplied: fc.boolean(),
  inFiles: edits(wrong, 2),
  inService: edits(missing, 2),
})

const operations = [
  'validate',
  'plan',
  'drift',
  'pull',
  'backtest',
  'check-slos',
  'audit-costs',
  'list-alerts',
  'list-dashboards',
  'list-saved-searches',
  'list-webhooks',
  'list-sources',
  'doctor',
  'apply',
] as const

/** The lines of a report and a result that have no text for a value. */
function placeholders({ blocks, document, reason, warnings, files }: Invoked): readonly string[] {
  const messages: string[] = []
  JSON.stringify(document, (key, value) => {
    if (typeof value === 'string' && ['message', 'reason', 'failureReason', 'summary', 'name', 'notes'].includes(key)) messages.push(value)
    return value
  })
  const text = [...renderTerminal(blocks, { color: false }), renderMarkdown(blocks), reason, ...warnings, ...messages].join('\n')
  // Words of the server.
  const own = text.replace(/received null/g, '')
  // A pull keeps a value of a form that it does not know.
  const stored = new Set(files.flatMap(({ content }) => content.match(/\S.*: null$/gm) ?? []))
  const found = own.match(/.*(?:\bundefined\b|\bNaN\b|\[object \w+\]|\bnull\b|a bug).*/g) ?? []
  return [...new Set(found)].filter((line) => !stored.has(line.replace(/^\+ +/, '')))
}

type Dialect = keyof typeof emulators

function run(dialect: Dialect, operation: string, file: object): Promise<Invoked> {
  const emulator = emulators[dialect]()
  const sql = { 'sql-key-id': demo.apiKeyId, 'sql-key-secret': demo.apiKeySecret, 'sql-url': emulator.url }
  const readsFiles = !operation.startsWith('list') && operation !== 'doctor'
  return invokeText({
    inputs: {
      ...inputsFor(emulator, dialect),
      ...(dialect === 'clickhouse-cloud' && sql),
      ...(readsFiles && { files: 'o/a.yml', ...(operation !== 'validate' && { project: 'shop/texts' }) }),
      operation,
    },
    env: { WEBHOOK_PAGER_URL: 'https://hooks.example.com/pager' },
    files: { 'o/a.yml': stringify(file) },
  })
}

it('no report shows undefined, NaN, null or an object in place of a reference that means nothing', async () => {
  const values = ['No such', { name: 'No such' }, { id: 'a'.repeat(24) }]
  const cases = [...placesIn(content).filter(isReference).keys()].flatMap((at) => values.map((value) => ({ at, value })))
  for (const { at, value } of sample(cases)) {
    const file = structuredClone(content)
    put(file, at, value, isReference)
    emulators.hyperdx().reset()
    for (const operation of ['plan', 'pull']) {
      const found = placeholders(await run('hyperdx', operation, file))
      expect(found, JSON.stringify([placesIn(content).filter(isReference)[at], value])).toEqual([])
    }
  }
}, 240_000)

it('no report shows undefined, NaN, null or an object in place of any value that a file or the service lacks', async () => {
  await fc.assert(
    fc.asyncProperty(given, async ({ dialect, isApplied, inFiles, inService }) => {
      const emulator = emulators[dialect]()
      emulator.reset()
      if (isApplied) await run(dialect, 'apply', content)
      const { dashboards, alerts, savedSearches, webhooks, sources } = serviceOf(emulator)
      const stored = { dashboards, alerts, savedSearches, webhooks, sources }
      const valueAt = (path: Path): unknown => path.reduce<unknown>((inner, key) => (inner as Json)[key], stored)
      // A list of the API has no such items. An object has an id, and a name unless it is an alert.
      const isField = (path: Path): boolean =>
        path.length > 2 &&
        isMap(valueAt(path.slice(0, -1))) &&
        !isMap(valueAt(path)) &&
        !Array.isArray(valueAt(path)) &&
        !(path.length === 3 && (path[2] === 'id' || (path[2] === 'name' && path[0] !== 'alerts')))
      for (const [at, value] of inService) put(stored, at, value, isField)
      const file = structuredClone(content)
      for (const [at, value] of inFiles) put(file, at, value)
      for (const operation of operations) {
        expect(placeholders(await run(dialect, operation, file)), operation).toEqual([])
      }
    }),
    { numRuns: runs(25) },
  )
}, 240_000)
