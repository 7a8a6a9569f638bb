// Runs inside of a process of its own, with code of a built HyperDX checkout: reads stored documents, renders the queries of tiles, and steps
// the product's alert task through past time. Reads one request as JSON from stdin, and prints the answer as JSON.
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

/** The documents of these collections, as they are stored. */
interface DumpRequest {
  readonly command: 'dump'
  readonly collections: readonly string[]
}

/** The SQL of builder tiles, by the code that the charts and the alert task use. */
interface RenderRequest {
  readonly command: 'render'
  readonly configs: readonly Json[]
  readonly from: string
  readonly to: string
}

/** All alerts are evaluated from `from` to `to`, without a history before it. */
interface EvaluateRequest {
  readonly command: 'evaluate'
  readonly from: string
  readonly to: string
  readonly stepSeconds: number
}

/** What the import page of the web app sends for documents. Names become ids; `ids` has them by name. */
interface ImportRequest {
  readonly command: 'import'
  readonly documents: readonly Json[]
  readonly ids: Readonly<Record<'sources' | 'connections' | 'dashboards', Readonly<Record<string, string>>>>
}

export type ProductRequest = DumpRequest | RenderRequest | EvaluateRequest | ImportRequest

export type Json = Readonly<Record<string, unknown>>

/** `errors` are those of queries that could not be rendered. */
export interface ProductAnswers {
  readonly dump: Readonly<Record<string, readonly Json[]>>
  readonly render: readonly string[]
  readonly evaluate: readonly Json[]
  readonly import: readonly Json[]
}

interface Collection {
  find(filter?: Json): { toArray(): Promise<readonly Json[]> }
  deleteMany(filter: Json): Promise<unknown>
  updateMany(filter: Json, update: Json): Promise<unknown>
}

interface Mongoose {
  connect(uri: string): Promise<unknown>
  readonly connection: { readonly db: { collection(name: string): Collection } }
}

interface AlertTask {
  execute(): Promise<void>
}

type Render = (config: Json, metadata: unknown, settings: unknown) => Promise<{ readonly sql: string; readonly params: Json }>

const checkout = process.argv[2] ?? ''
const load = createRequire(pathToFileURL(`${checkout}/packages/api/package.json`))

/** `Date` answers this time; timers stay as they are. */
function setTime(timeMs: number): void {
  const RealDate = realDate
  globalThis.Date = class extends RealDate {
    // Mongoose stores a time as a number unless its class has this name. The task would then find none of its own evaluations.
    static override readonly name = 'Date'
    constructor(...args: readonly number[]) {
      super(...((args.length === 0 ? [timeMs] : args) as [number]))
    }
    static override now(): number {
      return timeMs
    }
    static override [Symbol.hasInstance](value: unknown): boolean {
      return RealDate[Symbol.hasInstance](value)
    }
  } as DateConstructor
}

const realDate = Date

/** The alert task runs shortly after the minute. */
const tickMs = 500

async function evaluate({ from, to, stepSeconds }: EvaluateRequest, db: Mongoose['connection']['db']): Promise<readonly Json[]> {
  const { default: Task } = load('./build/tasks/checkAlerts/index.js') as {
    readonly default: new (options: Json) => AlertTask
  }
  await db.collection('alerthistories').deleteMany({})
  await db.collection('alerts').updateMany({}, { $set: { state: 'OK' }, $unset: { executionErrors: 1 } })
  for (let timeMs = realDate.parse(from); timeMs < realDate.parse(to); timeMs += stepSeconds * 1000) {
    setTime(timeMs + tickMs)
    await new Task({ taskName: 'check-alerts', concurrency: 4 }).execute()
  }
  globalThis.Date = realDate
  return db.collection('alerthistories').find().toArray()
}

/** The SQL of each chart, or why it has none. */
async function render({ configs, from, to }: RenderRequest, db: Mongoose['connection']['db']): Promise<readonly string[]> {
  const { renderChartConfig } = load('@hyperdx/common-utils/dist/core/renderChartConfig') as { readonly renderChartConfig: Render }
  const { getMetadata } = load('@hyperdx/common-utils/dist/core/metadata') as { readonly getMetadata: (client: unknown) => unknown }
  const { ClickhouseClient } = load('./build/clickhouse') as { readonly ClickhouseClient: new (options: Json) => unknown }
  const byId = (documents: readonly Json[]) => new Map(documents.map((one) => [String(one._id), one]))
  const sources = byId(await db.collection('sources').find().toArray())
  const connections = byId(await db.collection('connections').find().toArray())
  const queries: string[] = []
  for (const config of configs) {
    const source = sources.get(String(config.source)) ?? {}
    const { host, username, password } = connections.get(String(source.connection)) ?? {}
    const metadata = getMetadata(new ClickhouseClient({ host, username, password }))
    try {
      const { sql, params } = await renderChartConfig(
        toChart(config, source, [new Date(from), new Date(to)]),
        metadata,
        source.querySettings,
      )
      queries.push(`${sql} ${JSON.stringify(params)}`)
    } catch (thrown) {
      queries.push(`cannot be rendered: ${thrown instanceof Error ? thrown.message : thrown}`)
    }
  }
  return queries
}

const overTime: readonly string[] = ['line', 'stacked_bar']

const converters: Readonly<Record<string, string>> = {
  number: 'convertToNumberChartConfig',
  table: 'convertToTableChartConfig',
  pie: 'convertToCategoricalChartConfig',
  bar: 'convertToCategoricalChartConfig',
}

/** As a dashboard adds to a stored tile what its source has. */
function toChart(config: Json, source: Json, dateRange: readonly Date[]): Json {
  const utils = load('@hyperdx/common-utils/dist/core/utils') as Readonly<Record<string, (config: Json) => Json>>
  const displayType = String(config.displayType)
  const [first] = Array.isArray(config.select) ? (config.select as readonly Json[]) : []
  const tables = source.metricTables as Json | undefined
  const chart = {
    ...config,
    connection: String(source.connection),
    from: { ...(source.from as Json | undefined), ...(tables !== undefined && { tableName: tables[String(first?.metricType)] ?? '' }) },
    timestampValueExpression: source.timestampValueExpression,
    implicitColumnExpression: source.implicitColumnExpression,
    bodyExpression: source.kind === 'log' ? source.bodyExpression : undefined,
    metricTables: tables,
    dateRange,
    granularity: overTime.includes(displayType) ? '5 minute' : undefined,
  }
  const convert = utils[converters[displayType] ?? '']
  return convert === undefined ? chart : convert(chart)
}

/** As DBDashboardImportPage.tsx of the web app does, where every name is found. */
function toImported(document: Json, ids: ImportRequest['ids']): Json {
  const { DashboardTemplateSchema, resolveChartPaletteToken, walkRawDashboardTileColors } = load('@hyperdx/common-utils/dist/types') as {
    readonly DashboardTemplateSchema: { parse(document: unknown): Json }
    resolveChartPaletteToken(color: string): string | undefined
    walkRawDashboardTileColors(document: Json, change: (color: string) => string): unknown
  }
  const { convertToDashboardDocument } = load('@hyperdx/common-utils/dist/core/utils') as Readonly<Record<string, (document: Json) => Json>>
  const template = DashboardTemplateSchema.parse(walkRawDashboardTileColors(document, (color) => resolveChartPaletteToken(color) ?? color))
  const idOf = (noun: keyof typeof ids, name: unknown): unknown => ids[noun][String(name)] ?? name
  const toOnClick = (onClick: Json | undefined): Json | undefined => {
    const { mode, id } = (onClick?.target ?? {}) as Json
    return mode === 'id' ? { ...onClick, target: { mode, id: idOf(onClick?.type === 'search' ? 'sources' : 'dashboards', id) } } : onClick
  }
  const tiles = (template.tiles as readonly Json[]).map(({ config, ...tile }) => {
    const { source, connection, onClick, ...chart } = config as Json
    const references = { source: idOf('sources', source), connection: idOf('connections', connection), onClick: toOnClick(onClick as Json) }
    return { ...tile, config: { ...chart, ...references } }
  })
  const filters = (template.filters as readonly Json[] | undefined)?.map(({ source, appliesToSourceIds, ...filter }) => ({
    ...filter,
    source: idOf('sources', source),
    appliesToSourceIds: (appliesToSourceIds as readonly string[] | undefined)?.map((name) => idOf('sources', name)),
  }))
  return convertToDashboardDocument?.({ ...template, tiles, filters }) ?? {}
}

async function answer(request: ProductRequest): Promise<unknown> {
  if (request.command === 'import') return request.documents.map((document) => toImported(document, request.ids))
  const mongoose = load('mongoose') as Mongoose
  await mongoose.connect(process.env.MONGO_URI ?? '')
  const { db } = mongoose.connection
  if (request.command === 'evaluate') return evaluate(request, db)
  if (request.command === 'render') return render(request, db)
  const documents = request.collections.map(async (name) => [name, await db.collection(name).find().toArray()] as const)
  return Object.fromEntries(await Promise.all(documents))
}

const answered = await answer(JSON.parse(await text(process.stdin)) as ProductRequest)
// The product's logger writes to stdout as well.
process.stdout.write(`\n${JSON.stringify(answered)}\n`, () => process.exit(0))
