import * as z from 'zod/v3'
import { type Connection, isJsonObject, type JsonObject, type Source } from '../store.ts'
import { badRequest, internalError, isObjectId, notFound, plainNotFound, requireById, routesOf, stampOf, toObjectId } from './request.ts'
import { aggregateFunctions } from './tile-schema.ts'

const text = z.string().optional()
const anyTexts = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, text]))
const filled = (message: string) => z.string().min(1, message)

/** The stored form. Requests and responses have `5m` for `5 minute`. */
const sqlInterval = z.string().regex(/^\d+ (second|minute|hour|day)$/)

const commonFields = {
  connection: filled('Server Connection is required'),
  from: z.object({ databaseName: filled('Database is required'), tableName: filled('Table is required') }),
  disabled: z.boolean().optional(),
  querySettings: z
    .array(z.object({ setting: z.string().min(1), value: z.string().min(1) }))
    .max(10)
    .optional(),
  timestampValueExpression: filled('Timestamp Column is required'),
}

const kind = <const K extends string>(name: K) => ({
  name: filled('Name is required'),
  section: z.string().max(256).optional(),
  kind: z.literal(name),
  ...commonFields,
})

const attributeList = z
  .array(z.object({ sqlExpression: filled('Attribute SQL Expression is required'), luceneExpression: text, alias: text }))
  .optional()

const aggregatedColumn = z
  .object({
    sourceColumn: text,
    aggFn: z.enum([...aggregateFunctions, 'histogram']),
    mvColumn: filled('Materialized View Column is required'),
  })
  .refine(({ sourceColumn, aggFn }) => aggFn === 'count' || Boolean(sourceColumn), 'Materialized View Source Column is required')

const materializedViews = z
  .array(
    z.object({
      databaseName: filled('Materialized View Database is required'),
      tableName: filled('Materialized View Table is required'),
      dimensionColumns: z.string(),
      minGranularity: sqlInterval,
      minDate: z.string().datetime().nullish(),
      timestampColumn: filled('Materialized View Timestamp column is required'),
      aggregatedColumns: z.array(aggregatedColumn).min(1, 'At least one aggregated column is required'),
    }),
  )
  .optional()

const metadataMaterializedViews = z
  .object({
    keyRollupTable: z.string().nullish(),
    kvRollupTable: filled('KV rollup table name is required'),
    granularity: sqlInterval,
  })
  .optional()

const events = {
  highlightedTraceAttributeExpressions: attributeList,
  highlightedRowAttributeExpressions: attributeList,
  materializedViews,
  metadataMaterializedViews,
  useTextIndexForImplicitColumn: z.nativeEnum({ auto: 'auto', enabled: 'enabled', disabled: 'disabled' } as const).optional(),
  ...anyTexts(
    'orderByExpression serviceNameExpression serviceVersionExpression eventAttributesExpression resourceAttributesExpression displayedTimestampValueExpression metricSourceId implicitColumnExpression knownColumnsListExpression',
  ),
}

const log = z.object({
  ...kind('log'),
  defaultTableSelectExpression: filled('Default Select Expression is required'),
  ...events,
  ...anyTexts('severityTextExpression bodyExpression traceSourceId traceIdExpression spanIdExpression tableFilterExpression'),
})

const trace = z.object({
  ...kind('trace'),
  defaultTableSelectExpression: filled('Default Select Expression is required'),
  durationExpression: filled('Duration Expression is required'),
  durationPrecision: z.number().min(0).max(9).default(3),
  traceIdExpression: filled('Trace ID Expression is required'),
  spanIdExpression: filled('Span ID Expression is required'),
  parentSpanIdExpression: filled('Parent span ID expression is required'),
  spanNameExpression: filled('Span Name Expression is required'),
  spanKindExpression: filled('Span Kind Expression is required'),
  logSourceId: z.string().optional().nullable(),
  ...events,
  ...anyTexts(
    'sampleRateExpression sessionSourceId statusCodeExpression statusMessageExpression spanEventsValueExpression spanLinksValueExpression',
  ),
})

const session = z.object({
  ...kind('session'),
  traceSourceId: z.string({ message: 'Correlated Trace Source is required' }).min(1, 'Correlated Trace Source is required'),
  resourceAttributesExpression: text,
})

const metricTables = z
  .object({ gauge: text, histogram: text, sum: text, summary: text, 'exponential histogram': text })
  .refine((tables) => Object.values(tables).some(Boolean), 'At least one metric table must be specified')

const metric = z.object({
  ...kind('metric'),
  from: z.object({ databaseName: filled('Database is required'), tableName: z.string() }),
  metricTables,
  resourceAttributesExpression: filled('Resource Attributes is required'),
  serviceNameExpression: text,
  logSourceId: text,
  seriesTable: text,
})

export const sourceBody = z.discriminatedUnion('kind', [log, trace, session, metric, z.object(kind('promql'))])

/** The list leaves out a source that the product cannot read. An update replaces the source. A delete succeeds also when something uses it. */
export const sources = routesOf<Source, z.output<typeof sourceBody>>({
  name: 'sources',
  itemsOf: (service) => service.sources,
  toView(stored) {
    const view = toSourceView(stored)
    if (view === undefined) throw internalError()
    return view
  },
  list: (items) => items.flatMap((stored) => toSourceView(stored) ?? []),
  missing: () => notFound('Source not found'),
  schema: () => z.preprocess((body) => (isJsonObject(body) ? mapIntervals(body, toSqlInterval) : body), sourceBody),
  check({ connections }, { connection }) {
    if (!isObjectId(connection)) throw badRequest('connection must be a valid connection id')
    requireById(connections, connection, () => badRequest('connection must be an existing connection id'))
  },
  write: ({ ids }, body, existing) => ({ ...body, connection: toObjectId(body.connection), id: existing?.id ?? ids.objectId() }),
})

/** Defaults of the database for fields that a body leaves out. */
const defaultsOf = ({ kind }: Source) => ({
  disabled: false,
  querySettings: [],
  ...((kind === 'log' || kind === 'trace') && {
    highlightedTraceAttributeExpressions: [],
    highlightedRowAttributeExpressions: [],
    materializedViews: [],
  }),
  // Sessions of older versions have none.
  ...(kind === 'session' && { timestampValueExpression: 'TimestampTime' }),
})

function toSourceView(stored: Source) {
  const parsed = sourceBody.safeParse(mapIntervals({ ...defaultsOf(stored), ...stored }, toSqlInterval))
  return parsed.success
    ? {
        ...mapIntervals(parsed.data, (text) =>
          text.replace(/^(\d+) (second|minute|hour|day)$/, (_, amount, unit) => `${amount}${unit[0]}`),
        ),
        id: stored.id,
      }
    : undefined
}

function mapIntervals(body: JsonObject, toInterval: (text: string) => string): JsonObject {
  const map = (value: unknown, field: string): unknown =>
    isJsonObject(value) && typeof value[field] === 'string' ? { ...value, [field]: toInterval(value[field]) } : value
  const { materializedViews, metadataMaterializedViews } = body
  return {
    ...body,
    ...(Array.isArray(materializedViews) && { materializedViews: materializedViews.map((view: unknown) => map(view, 'minGranularity')) }),
    ...(isJsonObject(metadataMaterializedViews) && { metadataMaterializedViews: map(metadataMaterializedViews, 'granularity') }),
  }
}

const unitOf: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' }

function toSqlInterval(text: string) {
  const [, amount, letter = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  return amount === undefined ? text : `${amount} ${unitOf[letter]}`
}

const connectionBody = (isUpdate: boolean) => {
  const prefix = z.string().regex(/^[a-z0-9_]+$/i)
  return z.object({
    name: z.string(),
    host: z.string(),
    username: z.string(),
    password: z.string().optional(),
    // An empty prefix clears the stored one.
    hyperdxSettingPrefix: (isUpdate ? prefix.or(z.literal('')) : prefix).optional().nullable(),
    isPrometheusEndpoint: z.boolean().optional(),
  })
}

/** An update keeps the password when the body has none. A delete succeeds also when sources use the connection. */
export const connections = routesOf<Connection, z.output<ReturnType<typeof connectionBody>>>({
  name: 'connections',
  itemsOf: (service) => service.connections,
  toView: toConnectionView,
  list: (items) => items.map(toConnectionView),
  missing: plainNotFound,
  schema: (_, isUpdate) => connectionBody(isUpdate),
  write(request, { hyperdxSettingPrefix, password, ...body }, existing) {
    const { hyperdxSettingPrefix: stored, ...kept } = existing ?? {}
    const prefix = hyperdxSettingPrefix === undefined ? stored : hyperdxSettingPrefix
    return {
      ...kept,
      ...body,
      ...(password && { password }),
      ...(prefix && { hyperdxSettingPrefix: prefix }),
      ...stampOf(request, existing),
    }
  },
})

function toConnectionView({ password: _, ...shown }: Connection): JsonObject {
  return shown
}
