import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import type { KindName } from '../../src/kinds/kind-names.ts'
import { profileNamed } from '../../src/platform/api/profiles.ts'
import { systemClock } from '../../src/platform/core/clock.ts'
import { readSlos } from '../../src/signals/slos/expand-slos.ts'
import { readText } from '../support/declarations.ts'
import { openSession } from '../support/session.ts'
import { type Site, type SiteServer, withSite } from '../support/site.ts'
import { changed, type References, toDeclarations } from './as-declared.ts'
import { openWebApp, type WebApp, type WrittenIds } from './as-web-app.ts'
import { checkHiddenParts } from './hidden-parts.ts'
import { checkImports } from './imports.ts'
import { createIntents, type Intents } from './intents.ts'
import { declareProblems, effectOf, type Prediction, predictionsOf, problemCases, problemKeys } from './problems.ts'
import type { Json, ProductAnswers, ProductRequest } from './product.ts'
import { declaredQueries, twinDashboard } from './queries.ts'
import { type Arrival, arrivalProblems, receiverDeclarations, receiverSecrets, receivers, recordArrivals } from './receivers.ts'
import { compareWithCheckSlo, type SloAccess, type SloEvaluation } from './slos.ts'
import { type Dump, differencesOf, type Written, writtenBy } from './stored.ts'
import { declareValues, explainFact, explainRange, valueCases, warnedKeys } from './values.ts'
import { target, webDashboards } from './web-dashboards.ts'

const help = `Usage: npm run effects -- --server URL --checkout PATH --mongo URI [options]

Writes the same random dashboards, saved searches and alerts once with apply, once as the web app writes them, and once as the web app writes
them and apply adopts them. Compares the stored documents, the queries of the tiles, and what the server's own alert task does with the alerts
in past time. Then changes them all, lets the web app save the dashboards of apply, and compares again. Before that, apply adopts the product's
templates, changes and adds a tile, and may lose only what the plan names. Exits with 1 when anything differs.

  --server URL      a self-hosted server (its API), without dashboards, alerts and saved searches. Everything on it is deleted
  --checkout PATH   a checkout of HyperDX with built packages/api and packages/common-utils, in the version of the server
  --mongo URI       the database of the server
  --cloud URL       applies through a gateway with the paths of ClickHouse Cloud in front of the server, with the profile clickhouse-cloud
  --dashboards N    default: 8
  --seed SEED       to repeat a run; default: the time
  --from TIME       the alert task runs from this time
  --to TIME         … until this time. There should be telemetry, with incidents
  --step SECONDS    … at this distance; default: 60
  --queries-only    only compares alerts with a query of their own with the same alerts of the web app
  --problems-only   only compares what a plan says about queries with what the alert task makes of them
  --values-only     only compares what a plan says about the values of alerts with what the alert task makes of them; the span ends now
  --imports-only    only imports dashboards in the web app and with import and apply: the product's templates, and those of web-dashboards.ts
  --record FILE     writes what is stored of the latter: test/conformance/recorded/imports.json
  --receivers-only  only sends messages to the receivers of the example, and stores what arrives in receivers.json
  --slos-only       only evaluates the example of SLOs, and compares the evaluations with check-slos, for a longer time

The server must accept webhooks to 127.0.0.1 (WEBHOOK_HOSTNAME_ALLOWLIST). Access keys in CONFORMANCE_KEYS, the cookie of a session of the web
app in COOKIE; with --cloud also WATCHKEEPER_ORGANIZATION_ID, WATCHKEEPER_SERVICE_ID, WATCHKEEPER_API_KEY_ID and WATCHKEEPER_API_KEY_SECRET.
`

const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    checkout: { type: 'string' },
    mongo: { type: 'string' },
    cloud: { type: 'string' },
    dashboards: { type: 'string', default: '8' },
    seed: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    step: { type: 'string', default: '60' },
    'queries-only': { type: 'boolean', default: false },
    'problems-only': { type: 'boolean', default: false },
    'receivers-only': { type: 'boolean', default: false },
    'slos-only': { type: 'boolean', default: false },
    'values-only': { type: 'boolean', default: false },
    'imports-only': { type: 'boolean', default: false },
    record: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function required(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`Set ${name}.`)
  return value
}

const parts = ['writers', 'queries', 'problems', 'values', 'receivers', 'slos', 'imports'] as const

type Part = (typeof parts)[number]

interface Options {
  readonly server: string
  readonly checkout: string
  readonly mongo: string
  readonly cloud: string | undefined
  readonly intents: Intents
  readonly parts: readonly Part[]
  readonly span: { readonly from: string; readonly to: string; readonly stepSeconds: number }
}

/** Runs code of the product in a process of its own. */
async function askProduct<R extends ProductRequest>(request: R, { checkout, mongo }: Options): Promise<ProductAnswers[R['command']]> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('product.ts', import.meta.url)), checkout], {
    cwd: `${checkout}/packages/api`,
    stdio: 'pipe',
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TZ: 'UTC',
      NODE_ENV: 'production',
      MONGO_URI: mongo,
      HYPERDX_LOG_LEVEL: 'fatal',
      HYPERDX_API_KEY: 'unused',
      EXPRESS_SESSION_SECRET: 'unused',
      FRONTEND_URL: 'http://hyperdx.example',
      OTEL_SDK_DISABLED: 'true',
      WEBHOOK_HOSTNAME_ALLOWLIST: '127.0.0.1',
    },
  })
  child.stdin.end(JSON.stringify(request))
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(`the code of the product ended with ${code}:\n${errors}`)
  return JSON.parse(output.trim().split('\n').at(-1) ?? '')
}

interface Notification extends Json {
  readonly writer: string
}

/** Receives notifications; the path is the writer of the alert. */
async function openReceiver() {
  const notifications: Notification[] = []
  const server = createServer((request, response) => {
    text(request).then((body) => {
      notifications.push({ writer: decodeURIComponent(request.url ?? '').slice(1), ...(JSON.parse(body) as Json) })
      response.end('ok')
    }, response.destroy)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, notifications, close: () => server.close() }
}

/** Keeps requests as they are; the path is the receiver. */
async function openInbox() {
  const arrivals: Arrival[] = []
  const server = createServer((request, response) => {
    text(request).then((body) => {
      const names = ['content-type', ...receivers.flatMap(({ headerNames }) => headerNames.map((name) => name.toLowerCase()))]
      const headers = Object.fromEntries(names.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : [])))
      arrivals.push({ receiver: (request.url ?? '').slice(1), headers, text: body })
      response.end('ok')
    }, response.destroy)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, arrivals, close: () => server.close() }
}

const template = '{"title":"{{title}}","body":"{{body}}","state":"{{state}}","start":"{{startTime}}","end":"{{endTime}}"}'

const writers = ['apply', 'web app', 'web app, then apply'] as const

type Writer = (typeof writers)[number]

type PerWriter<T> = Readonly<Record<Writer, T>>

async function perWriter<T>(make: (writer: Writer) => Promise<T>): Promise<PerWriter<T>> {
  const made: [Writer, T][] = []
  for (const writer of writers) made.push([writer, await make(writer)])
  return Object.fromEntries(made) as PerWriter<T>
}

interface ApiObject extends Json {
  readonly id: string
  readonly name: string
}

const accessKeys = (): readonly string[] => (process.env.CONFORMANCE_KEYS ?? required('KEYS')).split(',')

/** Requests to the API of the server, with each key in turn: a key has 100 requests a minute. */
function createApi(server: string) {
  const keys = accessKeys()
  let turn = 0
  const send = async (method: string, path: string, body?: Json): Promise<unknown> => {
    const headers = { authorization: `Bearer ${keys[turn++ % keys.length]}`, 'content-type': 'application/json' }
    const response = await fetch(`${server}/api/v2/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { readonly data?: unknown }).data
  }
  return { firstKey: keys[0] ?? '', send, list: async (path: string) => (await send('GET', path)) as readonly ApiObject[] }
}

type Api = ReturnType<typeof createApi>

async function deleteAll({ list, send }: Api): Promise<void> {
  for (const path of ['alerts', 'saved-searches', 'dashboards'])
    for (const { id } of await list(path)) await send('DELETE', `${path}/${id}`)
  const own = new Set(receivers.map(({ declared }) => declared.name))
  for (const { id, name } of await list('webhooks'))
    if (name.startsWith('effects: ') || own.has(name)) await send('DELETE', `webhooks/${id}`)
}

async function createReferences(api: Api, port: number): Promise<PerWriter<References>> {
  const sources = await api.list('sources')
  const sourceOf = (kind: string): ApiObject => {
    const source = sources.find((one) => one.kind === kind)
    if (source === undefined) throw new Error(`the server has no source of the kind ${kind}`)
    return source
  }
  const ids = { log: sourceOf('log').id, trace: sourceOf('trace').id, metric: sourceOf('metric').id }
  return perWriter(async (writer) => {
    const url = `http://127.0.0.1:${port}/${encodeURIComponent(writer)}`
    const webhook = (await api.send('POST', 'webhooks', {
      name: `effects: ${writer}`,
      service: 'generic',
      url,
      body: template,
    })) as ApiObject
    return { sources: ids, connection: String(sourceOf('log').connection), webhook: webhook.id }
  })
}

/** Differences that were found, by what was compared. */
interface Findings {
  readonly counts: Record<
    | 'objects'
    | 'tiles'
    | 'queries'
    | 'evaluations'
    | 'notifications'
    | 'saves'
    | 'hidden parts lost'
    | 'evaluations of queries'
    | 'notifications of queries'
    | 'predictions of plans'
    | 'of them unknown'
    | 'alerts with values'
    | 'values of windows'
    | 'values of days'
    | 'messages to receivers'
    | 'evaluations of SLOs'
    | 'of them firing'
    | 'exact imports'
    | 'changed imports',
    number
  >
  readonly differences: string[]
  /** Errors of the objects that the web app wrote: a query that fails for every writer compares little. */
  readonly failures: Record<'queries' | 'evaluations', number>
}

interface Run extends Options {
  readonly site: Site
  readonly webApp: WebApp
  readonly references: PerWriter<References>
  readonly defaultSelects: ReadonlyMap<string, string>
  readonly notifications: Notification[]
  readonly findings: Findings
}

interface AppliedIds extends WrittenIds {
  /** Keys in the file by id. */
  readonly alertKeys: ReadonlyMap<string, string>
}

async function applyFile(run: Run, declared: Json, project?: string): Promise<AppliedIds> {
  const inputs = project === undefined ? {} : { project }
  const content = project === adopting ? acceptLosses(declared) : declared
  const result = await run.site.apply({ 'effects.json': content }, inputs)
  const problems = [
    ...result.diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    ...result.objects.flatMap(({ key, outcome = '', message }) =>
      ['failed', 'unknown', 'skipped'].includes(outcome) ? [`${key}: ${message}`] : [],
    ),
  ]
  if (problems.length > 0) throw new Error(`apply failed:\n${problems.join('\n')}`)
  const again = await run.site.plan({ 'effects.json': content }, inputs)
  if (again.changed)
    run.findings.differences.push(
      `a plan after apply is not empty: ${JSON.stringify(again.objects.filter(({ action }) => action !== 'unchanged'))}`,
    )
  const idsOf = (kind: KindName): readonly string[] =>
    result.objects.flatMap((one) => (one.kind === kind && one.id !== undefined ? [one.id] : []))
  const alertKeys = result.objects.flatMap(({ kind, id, key }) => (kind === 'alert' && id !== undefined ? [[id, key] as const] : []))
  return { dashboards: idsOf('dashboard'), savedSearches: idsOf('savedSearch'), alertKeys: new Map(alertKeys) }
}

const adopting = 'watchkeeper/effects-adopted'

/** Tiles with alerts are written again, too. The intents have nothing that the API does not show. */
const acceptLosses = (content: Json): Json => ({
  ...content,
  dashboards: Object.fromEntries(
    Object.entries(content.dashboards as Json).map(([key, one]) => [key, { ...(one as Json), rewrite: true }]),
  ),
})

/** The ids of what the web app wrote, by the keys of a file. */
function adoptedIds({ dashboards, savedSearches }: WrittenIds, dump: Dump): ReadonlyMap<string, string> {
  const tileIds = new Map(dump.dashboards.map(({ _id, tiles }) => [String(_id), (tiles as readonly Json[]).map(({ id }) => id)]))
  return new Map([
    ...dashboards.map((id, i) => [`dashboards.d${i}`, id] as const),
    ...savedSearches.map((id, i) => [`savedSearches.s${i}`, id] as const),
    ...dump.alerts.flatMap(({ _id, dashboard, tileId, savedSearch }): (readonly [string, string])[] => {
      const search = savedSearches.indexOf(String(savedSearch))
      if (search >= 0) return [[`alerts.s${search}`, String(_id)]]
      const index = dashboards.indexOf(String(dashboard))
      return index < 0 ? [] : [[`alerts.d${index}-t${tileIds.get(String(dashboard))?.indexOf(tileId)}`, String(_id)]]
    }),
  ])
}

const dump = (run: Options): Promise<Dump> =>
  askProduct({ command: 'dump', collections: ['dashboards', 'savedsearches', 'alerts'] }, run) as Promise<Dump>

async function writeAll(run: Run): Promise<PerWriter<WrittenIds>> {
  const { intents, references, webApp } = run
  return perWriter(async (writer) => {
    if (writer === 'apply') return applyFile(run, toDeclarations(intents, references[writer]))
    const ids = await webApp.create(intents, references[writer])
    if (writer === 'web app, then apply')
      await applyFile(run, toDeclarations(intents, references[writer], adoptedIds(ids, await dump(run))), adopting)
    return ids
  })
}

async function changeAll(run: Run, ids: PerWriter<WrittenIds>): Promise<void> {
  const { references, webApp } = run
  const intents = changed(run.intents)
  await applyFile(run, toDeclarations(intents, references.apply))
  await webApp.update(intents, references['web app'], ids['web app'])
  await applyFile(run, toDeclarations(intents, references['web app, then apply']), adopting)
}

/** The web app saves what apply wrote, and changes nothing by that. */
async function saveInWebApp(run: Run, ids: Partial<PerWriter<WrittenIds>>): Promise<void> {
  for (const writer of ['apply', 'web app, then apply'] as const)
    for (const id of ids[writer]?.dashboards ?? []) {
      const answer = await run.webApp.saveAgain(id)
      run.findings.counts.saves += 1
      if (answer !== '200') run.findings.differences.push(`the web app cannot save a dashboard of ${writer}: ${answer}`)
    }
}

function compareObjects(run: Run, stored: PerWriter<Written>, step: string): void {
  const { counts, differences } = run.findings
  const expected = stored['web app'].objects
  for (const writer of writers) {
    if (writer === 'web app') continue
    const actual = stored[writer].objects
    const names = new Set([...expected.keys(), ...actual.keys()])
    counts.objects += names.size
    counts.tiles += stored[writer].tiles.size
    for (const name of names)
      for (const difference of differencesOf(expected.get(name), actual.get(name)))
        differences.push(`${step}, stored, ${name}, web app / ${writer}: ${difference}`)
  }
}

async function compareQueries(run: Run, stored: PerWriter<Written>, step: string): Promise<void> {
  const isChart = (config: Json): boolean => config.configType === undefined && config.displayType !== 'markdown'
  const render = async (writer: Writer) => {
    const tiles = [...stored[writer].tiles].filter(([, config]) => isChart(config))
    const { from, to } = run.span
    const queries = await askProduct({ command: 'render', configs: tiles.map(([, config]) => config), from, to }, run)
    return new Map(tiles.map(([name], i) => [name, queries[i]]))
  }
  const queries = await perWriter(render)
  run.findings.failures.queries += [...queries['web app'].values()].filter((query) => query?.startsWith('cannot be rendered')).length
  for (const writer of writers) {
    if (writer === 'web app') continue
    for (const [name, query] of queries['web app']) {
      run.findings.counts.queries += 1
      if (query !== queries[writer].get(name))
        run.findings.differences.push(`${step}, query, ${name}, web app / ${writer}: ${firstDifference(query, queries[writer].get(name))}`)
    }
  }
}

/** The texts from where they differ. */
function firstDifference(one = '', other = ''): string {
  const start = [...one].findIndex((character, i) => character !== other[i])
  const excerpt = (text: string): string => text.slice(Math.max(0, start - 20), start + 100).replaceAll(/\s+/g, ' ')
  return `${excerpt(one)} / ${excerpt(other)}`
}

async function compareEvaluations(run: Run, stored: PerWriter<Written>, step: string): Promise<void> {
  run.notifications.length = 0
  const history = await askProduct({ command: 'evaluate', ...run.span }, run)
  const rowsOf = (writer: Writer): readonly string[] =>
    history
      .flatMap(({ alert, createdAt, state, counts, group, lastValues, errors }) => {
        const name = stored[writer].alerts.get(String(alert))
        const values = (lastValues as readonly Json[]).map(({ startTime, count }) => [startTime, count])
        const messages = (Array.isArray(errors) ? errors : []).map(({ type, message }: Json) => [type, message])
        return name === undefined ? [] : [JSON.stringify([name, createdAt, state, counts, group, values, messages])]
      })
      .toSorted()
  const notesOf = (writer: Writer): readonly string[] =>
    run.notifications
      .filter((one) => one.writer === writer)
      .map(({ title, state, start, end }) => JSON.stringify([title, state, start, end]))
      .toSorted()
  const { counts, differences } = run.findings
  const evaluated = new Set(history.map(({ alert }) => String(alert)))
  for (const { _id, name, updatedAt } of (await dump(run)).alerts)
    if (evaluated.has(String(_id)) && !isWithin(run.span, String(updatedAt)))
      differences.push(`${step}, an evaluation did not set the updatedAt of the alert ${String(name)}: ${String(updatedAt)}`)
  run.findings.failures.evaluations += rowsOf('web app').filter((row) => row.includes('"ERROR"')).length
  for (const writer of writers) {
    if (writer === 'web app') continue
    for (const [what, count, expected, actual] of [
      ['evaluation', 'evaluations', rowsOf('web app'), rowsOf(writer)],
      ['notification', 'notifications', notesOf('web app'), notesOf(writer)],
    ] as const) {
      counts[count] += expected.length
      const [lacks, has] = [expected.filter((one) => !actual.includes(one)), actual.filter((one) => !expected.includes(one))]
      differences.push(...lacks.map((one) => `${step}, ${what}, only by the web app: ${one}`))
      differences.push(...has.map((one) => `${step}, ${what}, only by ${writer}: ${one}`))
    }
  }
}

const isWithin = ({ from, to }: Run['span'], time: string): boolean =>
  Date.parse(time) >= Date.parse(from) && Date.parse(time) <= Date.parse(to)

async function compareAll(run: Run, ids: PerWriter<WrittenIds>, step: string): Promise<void> {
  const stored = await readStored(run, ids)
  compareObjects(run, stored, step)
  await compareQueries(run, stored, step)
  await compareEvaluations(run, stored, step)
}

async function readStored(run: Run, ids: PerWriter<WrittenIds>): Promise<PerWriter<Written>> {
  const documents = await dump(run)
  return perWriter(async (writer) => writtenBy(ids[writer], documents, run.defaultSelects))
}

const queriesProject = 'watchkeeper/effects-queries'

/**
 * Alerts with a query, beside the same alerts of the web app: evaluated and notified alike. Then all get other names, another file and
 * another query at once, and keep their ids and their history.
 */
async function compareQueriesOfAlerts(run: Run, api: Api): Promise<void> {
  const { site, webApp, references, findings, notifications } = run
  const board = `Alerts: ${queriesProject}`
  const declare = (version: 'first' | 'next') => declaredQueries('effects: apply', references.apply.connection, version)
  const { alertKeys } = await applyFile(run, declare('first'), queriesProject)
  const twin = await webApp.importDashboard(twinDashboard(board, references['web app']))
  const alerts = (await dump(run)).alerts
  const nameOf = new Map(alerts.map(({ _id, name }) => [String(_id), name]))
  const twins = new Set(alerts.flatMap(({ _id, dashboard }) => (String(dashboard) === twin ? [String(_id)] : [])))
  notifications.length = 0
  const history = await askProduct({ command: 'evaluate', ...run.span }, run)
  const rowsOf = (isOfWriter: (id: string) => boolean): readonly string[] =>
    history
      .filter(({ alert }) => isOfWriter(String(alert)))
      .map((row) =>
        JSON.stringify([nameOf.get(String(row.alert)), row.createdAt, row.state, row.counts, row.group, valuesOf(row), row.errors]),
      )
      .toSorted()
  const notesOf = (writer: Writer): readonly string[] =>
    notifications
      .filter((one) => one.writer === writer)
      .map(({ title, state, start, end }) => JSON.stringify([title, state, start, end]))
      .toSorted()
  for (const [what, count, expected, actual] of [
    ['evaluation', 'evaluations of queries', rowsOf((id) => twins.has(id)), rowsOf((id) => alertKeys.has(id))],
    ['notification', 'notifications of queries', notesOf('web app'), notesOf('apply')],
  ] as const) {
    findings.counts[count] += expected.length
    const [lacks, has] = [expected.filter((one) => !actual.includes(one)), actual.filter((one) => !expected.includes(one))]
    findings.differences.push(...lacks.map((one) => `queries, ${what}, only by the web app: ${one}`))
    findings.differences.push(...has.map((one) => `queries, ${what}, only by apply: ${one}`))
  }
  const silent = [...alertKeys.keys()].filter((id) => !history.some(({ alert }) => String(alert) === id))
  findings.differences.push(...silent.map((id) => `queries, never evaluated: ${nameOf.get(id)}`))
  findings.failures.evaluations += rowsOf((id) => twins.has(id)).filter((row) => row.includes('"ERROR"')).length
  const { id = '' } = (await api.list('dashboards')).find((one) => one.name === board && one.id !== twin) ?? {}
  await saveInWebApp(run, { apply: { dashboards: [id], savedSearches: [] } })
  await applyFile(run, declare('first'), queriesProject)
  await renameAll(run, declare('next'), alertKeys)
  const planned = await site.apply({ 'empty.json': {} }, { project: queriesProject, prune: true, allowEmpty: true })
  const left = (await api.list('dashboards')).filter((one) => one.id === id)
  if (left.length > 0 || planned.toDelete === 0) findings.differences.push('queries, prune did not delete the dashboard of the project')
  await api.send('DELETE', `dashboards/${twin}`)
}

const valuesOf = ({ lastValues }: Json): readonly unknown[] =>
  (lastValues as readonly Json[]).map(({ startTime, count }) => [startTime, count]) // As the server stores them.

async function renameAll(run: Run, content: Json, alertKeys: AppliedIds['alertKeys']): Promise<void> {
  const stateOf = async (): Promise<readonly string[]> => {
    const { alerts, alerthistories = [] } = await askProduct({ command: 'dump', collections: ['alerts', 'alerthistories'] }, run)
    const own = (alerts ?? []).filter(({ _id }) => alertKeys.has(String(_id)))
    return own
      .map(({ _id, tileId }) => `${_id} ${tileId}: ${alerthistories.filter(({ alert }) => alert === _id).length} evaluations`)
      .toSorted()
  }
  const before = await stateOf()
  const inputs = { project: queriesProject }
  const applied = await run.site.apply({ 'other/renamed.json': content }, inputs)
  const changedCount = applied.objects.filter(({ outcome }) => outcome === 'updated').length
  if (changedCount !== alertKeys.size) run.findings.differences.push(`queries, renamed ${changedCount} of ${alertKeys.size} alerts`)
  const after = await stateOf()
  for (const [i, state] of before.entries())
    if (state !== after[i]) run.findings.differences.push(`queries, renamed: ${state} / ${after[i]}`)
  if (before.length !== alertKeys.size || before.every((state) => state.includes(': 0 ')))
    run.findings.differences.push(`queries, no history that a change of names could lose: ${before.length} alerts`)
  if ((await run.site.plan({ 'other/renamed.json': content }, inputs)).changed)
    run.findings.differences.push('queries, a plan after the change of names is not empty')
}

const problemsProject = 'watchkeeper/effects-problems'

/** A diagnostic names at most six alerts. */
const problemsOfPlan = 6

/** What plans say about the queries of new alerts, and what the alert task makes of them. */
async function comparePredictions(run: Run): Promise<void> {
  const { site, references, findings } = run
  const declare = (indexes: readonly number[]) => declareProblems(references.apply, 'effects: apply', indexes)
  const inputs = { project: problemsProject }
  const all = [...problemCases.keys()]
  const said = new Map<string, Prediction>()
  for (let i = 0; i < all.length; i += problemsOfPlan) {
    const content = declare(all.slice(i, i + problemsOfPlan))
    const { diagnostics } = await site.plan({ 'problems.json': content }, inputs)
    for (const [key, prediction] of predictionsOf(diagnostics, Object.keys(content.alerts as Json))) said.set(key, prediction)
  }
  const { alertKeys } = await applyFile(run, declare(all), problemsProject)
  const history = await askProduct({ command: 'evaluate', ...run.span }, run)
  for (const [id, key] of alertKeys) {
    const prediction = said.get(key) ?? 'evaluated'
    findings.counts['predictions of plans'] += 1
    if (prediction === 'unknown') findings.counts['of them unknown'] += 1
    const effect = effectOf(history.filter(({ alert }) => String(alert) === id))
    if (prediction !== 'unknown' && prediction !== effect)
      findings.differences.push(`problems, ${problemKeys.get(key)}: the plan says ${prediction} / the alert task: ${effect}`)
  }
  await site.apply({ 'empty.json': {} }, { ...inputs, prune: true, allowEmpty: true, maxDeletes: 1000 })
}

const valuesProject = 'watchkeeper/effects-values'

/** A plan looks at its alerts for a minute. */
const valuesOfPlan = 25

interface ValuesPlan {
  readonly diagnostics: readonly { readonly severity: string; readonly message: string }[]
  readonly checkedAlerts?: {
    readonly alertCount: number
    readonly checkedCount: number
    readonly facts: readonly { readonly key: string; readonly fact: string }[]
  }
}

/** Half of the alerts are broken. A plan warns of these and of no other, and its facts have the values of the alert task. */
async function compareValues(run: Run): Promise<void> {
  const { site, references, findings } = run
  const declare = (from: number, until: number) => declareValues(references.apply, 'effects: apply', from, until)
  const inputs = { project: valuesProject }
  const diagnostics: ValuesPlan['diagnostics'][number][] = []
  const facts = new Map<string, { readonly fact: string; readonly atMs: number }>()
  for (let from = 0; from < valueCases.length; from += valuesOfPlan) {
    const atMs = Date.now()
    const planned = (await site.plan({ 'values.json': declare(from, from + valuesOfPlan) }, inputs)) as unknown as ValuesPlan
    diagnostics.push(...planned.diagnostics)
    const { alertCount = 0, checkedCount = 0, facts: found = [] } = planned.checkedAlerts ?? {}
    if (checkedCount < Math.min(valuesOfPlan, valueCases.length - from))
      findings.differences.push(`values from ${from}, ${checkedCount} of ${alertCount} alerts checked`)
    for (const { key, fact } of found) facts.set(key, { fact, atMs })
  }
  const warned = warnedKeys(diagnostics)
  for (const [i, { name, isBroken }] of valueCases.entries()) {
    findings.counts['alerts with values'] += 1
    if (warned.has(`a${i}`) !== isBroken)
      findings.differences.push(
        `values, ${name}: ${isBroken ? 'broken, and without a warning' : 'healthy, with a warning'}; ${facts.get(`a${i}`)?.fact}`,
      )
  }
  const { alertKeys } = await applyFile(run, declare(0, valueCases.length), valuesProject)
  const history = await askProduct({ command: 'evaluate', ...run.span }, run)
  compareFacts(run, history, { alertKeys, facts, warned })
  await site.apply({ 'empty.json': {} }, { ...inputs, prune: true, allowEmpty: true, maxDeletes: 1000 })
}

/** The value of the last window in each fact is that of the alert task, which may always fire only with a warning. */
function compareFacts(
  { findings }: Run,
  history: readonly Json[],
  {
    alertKeys,
    facts,
    warned,
  }: Pick<AppliedIds, 'alertKeys'> & {
    readonly facts: ReadonlyMap<string, { readonly fact: string; readonly atMs: number }>
    readonly warned: ReadonlySet<string>
  },
): void {
  for (const [id, key] of alertKeys) {
    const rows = history.filter(({ alert }) => String(alert) === id)
    const { fact = '', atMs = 0 } = facts.get(key) ?? {}
    // A plan can begin in one window and look in the next.
    const starts = [-1, 0].map((i) => (Math.floor(atMs / 300_000) + i) * 300_000)
    const valuesAt = starts.map((startMs) =>
      rows.flatMap(({ lastValues }) =>
        (lastValues as readonly Json[]).flatMap(({ startTime, count }) =>
          Date.parse(String(startTime)) === startMs ? [Number(count)] : [],
        ),
      ),
    )
    const found = valuesAt.filter((values) => values.length > 0).map((values) => explainFact(fact, values))
    const explained = found.length === 0 ? 'unknown' : (found.find((one) => one === 'unknown') ?? found[0])
    const isEqual = found.includes(undefined)
    if (explained === 'unknown') continue
    findings.counts['values of windows'] += 1
    if (!isEqual) findings.differences.push(`values, ${key}: ${explained}`)
    const dayOf = rows.flatMap(({ lastValues }) =>
      (lastValues as readonly Json[]).flatMap(({ startTime, count }) => {
        const age = atMs - Date.parse(String(startTime))
        return age >= 0 && age <= 86_700_000 ? [Number(count)] : []
      }),
    )
    const strange = explainRange(fact, dayOf)
    if (strange !== 'unknown') findings.counts['values of days'] += 1
    if (strange !== undefined && strange !== 'unknown') findings.differences.push(`values of a day, ${key}: ${strange}`)
    if (rows.every(({ state }) => state === 'ALERT') && !warned.has(key))
      findings.differences.push(`values, ${key}: always fires, and without a warning`)
  }
}

const recordedArrivals = new URL('receivers.json', import.meta.url)

const receiversProject = 'watchkeeper/effects-receivers'

/** Two alerts fire and are resolved, and every receiver of the example gets messages that it understands. */
async function checkReceivers(run: Run, arrivals: readonly Arrival[], api: Api): Promise<void> {
  const { name = '' } = (await api.list('sources')).find(({ kind }) => kind === 'log') ?? {}
  const middleMs = (Date.parse(run.span.from) + Date.parse(run.span.to)) / 2
  await applyFile(run, receiverDeclarations(name, middleMs), receiversProject)
  await askProduct({ command: 'evaluate', ...run.span }, run)
  const recorded = recordArrivals(arrivals)
  const problems = arrivalProblems(recorded)
  run.findings.counts['messages to receivers'] = arrivals.length
  run.findings.differences.push(...problems)
  if (problems.length === 0) writeFileSync(recordedArrivals, `${JSON.stringify(recorded, undefined, 2)}\n`)
}

const slosProject = 'watchkeeper/effects-slos'

/**
 * The example of SLOs: applied, saved by the web app, and evaluated. The web app makes nothing that it could be compared with, so the
 * evaluations are compared with check-slos at the same times.
 */
async function checkSlos(run: Run): Promise<void> {
  const example = readFileSync(new URL('../../examples/slos/checkout.yml', import.meta.url), 'utf8')
  const text = example.replaceAll('webhook: oncall', "webhook: 'effects: apply'")
  const content = parse(text) as Json
  const { dashboards, alertKeys } = await applyFile(run, content, slosProject)
  await saveInWebApp(run, { apply: { dashboards, savedSearches: [] } })
  await applyFile(run, content, slosProject)
  const history = await askProduct({ command: 'evaluate', ...run.span }, run)
  const evaluated = history.filter(({ alert }) => alertKeys.has(String(alert)))
  const failed = evaluated.filter(({ state, errors }) => state === 'ERROR' || (Array.isArray(errors) && errors.length > 0))
  const { counts, differences } = run.findings
  counts['evaluations of SLOs'] = evaluated.length
  counts['of them firing'] = evaluated.filter(({ state }) => state === 'ALERT').length
  for (const [alert, key] of alertKeys)
    if (!evaluated.some((row) => String(row.alert) === alert)) differences.push(`an alert of an SLO was not evaluated: ${key}`)
  for (const row of failed) differences.push(`an evaluation of an SLO failed: ${JSON.stringify(row)}`)
  const { slos } = readSlos(readText(text).slos, [])
  const evaluations = evaluated.map((row) => toSloEvaluation(row, alertKeys.get(String(row.alert)) ?? ''))
  const { access, close } = openSessions(run.server)
  try {
    differences.push(...(await compareWithCheckSlo(slos, evaluations, access)))
  } finally {
    await close()
  }
}

function toSloEvaluation({ createdAt, group, lastValues, state }: Json, key: string): SloEvaluation {
  const value = (lastValues as readonly Json[]).at(-1)?.count
  return {
    key,
    endMs: Date.parse(String(createdAt)),
    group: String(group ?? '').replace('Group:', ''),
    value: Number(value ?? 0),
    state: String(state),
  }
}

/** A session for each key, because a key has 100 requests a minute. */
function openSessions(server: string) {
  const address = `${server}/api/v2`
  const sessions = accessKeys().map((accessKey) =>
    openSession(address, { profile: profileNamed('hyperdx'), credentials: { accessKey }, deadlineMs: 3_600_000 }, systemClock),
  )
  let turn = 0
  const access = (): SloAccess => {
    const session = sessions[turn++ % sessions.length]
    if (session === undefined) throw new Error('there are no keys')
    return { api: session.api, service: { serverUrl: address } }
  }
  return { access, close: () => Promise.all(sessions.map((session) => session.close())) }
}

function siteServer({ server, cloud }: Options, accessKey: string, secrets: NonNullable<SiteServer['secrets']>): SiteServer {
  const project = 'watchkeeper/effects'
  if (cloud === undefined) return { url: server, project, secrets, connection: { credentials: { accessKey } } }
  return {
    url: cloud,
    project,
    secrets,
    connection: { credentials: { keyId: required('WATCHKEEPER_API_KEY_ID'), keySecret: required('WATCHKEEPER_API_KEY_SECRET') } },
    service: { organizationId: required('WATCHKEEPER_ORGANIZATION_ID'), serviceId: required('WATCHKEEPER_SERVICE_ID') },
  }
}

async function compareWrites(run: Run): Promise<void> {
  const ids = await writeAll(run)
  await compareAll(run, ids, 'created')
  await saveInWebApp(run, ids)
  await changeAll(run, ids)
  await saveInWebApp(run, ids)
  await compareAll(run, ids, 'changed')
}

/** Dashboards that someone else made lose only what the plan names, and nothing where the server can patch them. */
async function adoptHiddenParts(run: Run, { send }: Api): Promise<void> {
  const { site, webApp, references, checkout, cloud, findings } = run
  const { ids, lost, differences } = await checkHiddenParts({
    site,
    references: references.apply,
    checkout,
    canPatch: cloud === undefined,
    create: webApp.importDashboard,
    dump: async () => (await dump(run)).dashboards,
  })
  findings.counts['hidden parts lost'] = lost
  findings.differences.push(...differences.map((one) => `hidden parts, ${one}`))
  for (const id of ids) await send('DELETE', `dashboards/${id}`)
}

/** What the web app and `import` make of the same documents. */
async function compareImports(run: Run, api: Api): Promise<void> {
  const { site, webApp, checkout, cloud, findings } = run
  const idsOf = async (path: string): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries((await api.list(path)).map(({ id, name }) => [name, id]))
  const ids = { sources: await idsOf('sources'), connections: await idsOf('connections') }
  const dashboards = { [target]: await webApp.importDashboard({ name: target, tags: [], tiles: [] }) }
  const directory = `${checkout}/packages/app/src/dashboardTemplates`
  const templates = readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(`${directory}/${name}`, 'utf8')) as Json)
  const documents = [...templates, ...webDashboards]
  const { differences, stored, ...counts } = await checkImports({
    site,
    profile: cloud === undefined ? 'hyperdx' : 'clickhouse-cloud',
    documents,
    ids,
    async importInWebApp() {
      const converted = await askProduct({ command: 'import', documents, ids: { ...ids, dashboards } }, run)
      const made: string[] = []
      for (const one of converted) made.push(await webApp.importDashboard(one))
      return made
    },
    dump: async () => (await dump(run)).dashboards,
    render: (configs) => askProduct({ command: 'render', configs, from: run.span.from, to: run.span.to }, run),
  })
  findings.counts['exact imports'] = counts.exact
  findings.counts['changed imports'] = counts.changed
  findings.counts.queries += counts.queries
  findings.differences.push(...differences.map((one) => `imports, ${one}`))
  const own = webDashboards.map(({ name }) => String(name))
  const recorded = Object.entries(stored).filter(([name]) => own.includes(name))
  const lines = recorded.map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`)
  if (values.record !== undefined) writeFileSync(values.record, `{\n${lines.join(',\n')}\n}\n`)
}

async function compareWriters(options: Options): Promise<Findings> {
  const api = createApi(options.server)
  await deleteAll(api)
  const receiver = await openReceiver()
  const inbox = await openInbox()
  const findings: Findings = {
    counts: {
      objects: 0,
      tiles: 0,
      queries: 0,
      evaluations: 0,
      notifications: 0,
      saves: 0,
      'hidden parts lost': 0,
      'evaluations of queries': 0,
      'notifications of queries': 0,
      'predictions of plans': 0,
      'of them unknown': 0,
      'alerts with values': 0,
      'values of windows': 0,
      'values of days': 0,
      'messages to receivers': 0,
      'evaluations of SLOs': 0,
      'of them firing': 0,
      'exact imports': 0,
      'changed imports': 0,
    },
    differences: [],
    failures: { queries: 0, evaluations: 0 },
  }
  try {
    const references = await createReferences(api, receiver.port)
    const defaultSelects = new Map(
      (await api.list('sources')).map(({ id, defaultTableSelectExpression }) => [id, String(defaultTableSelectExpression ?? '')]),
    )
    const webApp = openWebApp(options.server, required('COOKIE'), defaultSelects)
    const profile = options.cloud === undefined ? 'hyperdx' : 'clickhouse-cloud'
    await withSite(
      siteServer(options, api.firstKey, receiverSecrets(`http://127.0.0.1:${inbox.port}`)),
      profile,
      async (site) => {
        const run: Run = { ...options, site, webApp, references, defaultSelects, notifications: receiver.notifications, findings }
        if (options.parts.includes('writers')) {
          await adoptHiddenParts(run, api)
          await compareWrites(run)
        }
        if (options.parts.includes('queries')) await compareQueriesOfAlerts(run, api)
        if (options.parts.includes('problems')) await comparePredictions(run)
        if (options.parts.includes('values')) await compareValues(run)
        if (options.parts.includes('receivers')) await checkReceivers(run, inbox.arrivals, api)
        if (options.parts.includes('slos')) await checkSlos(run)
        if (options.parts.includes('imports')) await compareImports(run, api)
      },
      systemClock,
    )
  } finally {
    receiver.close()
    inbox.close()
    await deleteAll(api)
  }
  return findings
}

function chosenParts(): readonly Part[] {
  const only = parts.filter((part) => part !== 'writers' && values[`${part}-only`])
  return only.length > 0 ? only : parts
}
async function main(): Promise<number> {
  const { server, checkout, mongo, cloud, from, to } = values
  if (values.help || server === undefined || checkout === undefined || mongo === undefined || from === undefined || to === undefined) {
    print(help)
    return values.help ? 0 : 2
  }
  const seed = Number(values.seed ?? Date.now() % 1e9)
  const span = { from, to, stepSeconds: Number(values.step) }
  const startedAtMs = performance.now()
  const { counts, differences, failures } = await compareWriters({
    server,
    checkout,
    mongo,
    cloud,
    intents: createIntents(seed, Number(values.dashboards)),
    span,
    parts: chosenParts(),
  })
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0)
  for (const difference of differences) print(difference)
  const compared = Object.entries(counts).map(([what, count]) => `${count} ${what}`)
  print(
    `seed ${seed}, ${cloud === undefined ? 'hyperdx' : 'clickhouse-cloud'}: ${compared.join(', ')}; ${differences.length} differences; ${seconds} s`,
  )
  print(
    `Of the objects that the web app wrote, ${failures.queries} queries cannot be made, and ${failures.evaluations} evaluations failed.`,
  )
  return differences.length === 0 ? 0 : 1
}

process.exitCode = await main()
