// A source has no field for a marker: docs/ownership.md has the reasons. Its kind and its name identify it.
import * as z from 'zod'
import { isEmpty, isMapping, keysOf, withoutUndefined } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { comparable, withoutEmpty } from '../compare.ts'
import { encode, spellConnection, wireSchema } from '../derive.ts'
import { connectionField, refuseField } from '../fields.ts'
import {
  type Body,
  type DeclaredObject,
  type FileContext,
  type Kind,
  type ResolveContext,
  type ResolvedDeclaration,
  withoutServerFields,
} from '../kind.ts'
import { kindLabels } from '../kind-names.ts'
import { noMarkers } from '../marker.ts'
import { PendingId } from '../name-index.ts'
import { sourceCollection } from './source-wire.ts'

const declaredTypes = ['log', 'trace', 'metric', 'session'] as const

type SourceType = (typeof declaredTypes)[number]

const expression = (description: string) => z.string().optional().meta({ description })

const required = (description: string) => z.string().min(1).optional().meta({ description })

const interval = z
  .string()
  .regex(/^\d{1,4}[smhd]$/)
  .meta({ accepts: 'a duration such as 15m' })

const highlights = z
  .array(z.strictObject({ sqlExpression: z.string().min(1), luceneExpression: z.string().optional(), alias: z.string().optional() }))
  .optional()

const materializedView = z.strictObject({
  databaseName: z.string().min(1),
  tableName: z.string().min(1),
  dimensionColumns: z.string(),
  minGranularity: interval,
  minDate: z.iso.datetime().nullish(),
  timestampColumn: z.string().min(1),
  aggregatedColumns: z
    .array(z.strictObject({ sourceColumn: z.string().optional(), aggFn: z.string().min(1), mvColumn: z.string().min(1) }))
    .min(1),
})

const plainFields = {
  section: z.string().max(256).optional().meta({ description: 'Heading under which the web app lists the source.' }),
  from: z
    .strictObject({ databaseName: z.string().min(1), tableName: z.string().optional() })
    .meta({ description: 'Database and table. Metrics have no table here, but metricTables.' }),
  disabled: z.boolean().optional().meta({ description: 'Whether the web app hides the source.', serverDefault: false }),
  querySettings: z
    .array(z.strictObject({ setting: z.string().min(1), value: z.string().min(1) }))
    .max(10)
    .optional()
    .meta({ description: 'Settings of ClickHouse for every query of the source, each with a number, `true` or `false`.' }),
  timestampValueExpression: z.string().min(1).meta({ description: 'Column with the time.' }),
  defaultTableSelectExpression: required('Columns that a search shows.'),
  serviceNameExpression: expression('Name of the service.'),
  serviceVersionExpression: expression('Version of the service.'),
  severityTextExpression: expression('Level of a log.'),
  bodyExpression: expression('Text of a log.'),
  eventAttributesExpression: expression('Attributes of an event.'),
  resourceAttributesExpression: expression('Attributes of the resource.'),
  displayedTimestampValueExpression: expression('Time that is shown, where that is another column.'),
  implicitColumnExpression: expression('Column that a search without a field is about.'),
  knownColumnsListExpression: expression('Columns that every query selects.'),
  orderByExpression: expression('Order of a search.'),
  tableFilterExpression: expression('SQL condition on every query.'),
  sampleRateExpression: expression('Sample rate of a trace.'),
  useTextIndexForImplicitColumn: z.enum(['auto', 'enabled', 'disabled']).optional(),
  traceIdExpression: required('Id of the trace.'),
  spanIdExpression: required('Id of the span.'),
  parentSpanIdExpression: required('Id of the parent span.'),
  spanNameExpression: required('Name of the span.'),
  spanKindExpression: required('Kind of the span.'),
  durationExpression: required('Duration of the span.'),
  durationPrecision: z
    .int()
    .min(0)
    .max(9)
    .optional()
    .meta({ description: 'Digits of a second in the duration: 9 for nanoseconds.', serverDefault: 3 }),
  statusCodeExpression: expression('Status of the span.'),
  statusMessageExpression: expression('Message of the status.'),
  spanEventsValueExpression: expression('Events of the span.'),
  spanLinksValueExpression: expression('Links of the span.'),
  highlightedTraceAttributeExpressions: highlights,
  highlightedRowAttributeExpressions: highlights,
  materializedViews: z.array(materializedView).optional(),
  metadataMaterializedViews: z
    .strictObject({
      keyRollupTable: z.string().nullish(),
      kvRollupTable: z.string().min(1),
      granularity: interval,
    })
    .optional(),
  metricTables: z
    .strictObject({
      gauge: z.string().optional(),
      histogram: z.string().optional(),
      sum: z.string().optional(),
      summary: z.string().optional(),
      'exponential histogram': z.string().optional(),
    })
    .optional()
    .meta({ description: 'Tables of metrics, by their type.' }),
  seriesTable: expression('Table with the series of metrics.'),
}

const references = declaredTypes.map((type) => [`${type}Source`, `${type}SourceId`, type] as const)

const reference = (type: SourceType) =>
  z
    .union([z.string().min(1), z.strictObject({ id: z.string().min(1) })])
    .optional()
    .meta({
      description: `The ${type} source: its name, or { id: … }.`,
      accepts: 'the name of a source, or { id: … }',
      ref: { to: 'source', wire: `${type}SourceId`, by: 'name', sourceType: type },
    })

export const declaredSource = z.strictObject({
  name: z.string().min(1).meta({ description: 'Name in the service. Together with the kind, it identifies the source.' }),
  kind: z.enum(declaredTypes).meta({ description: 'What the source holds.' }),
  connection: connectionField('connection'),
  ...plainFields,
  logSource: reference('log'),
  traceSource: reference('trace'),
  metricSource: reference('metric'),
  sessionSource: reference('session'),
  adopt: z
    .boolean()
    .optional()
    .meta({ description: 'Lets apply change a source that exists. Without it, apply only creates the source.', isLocal: true }),
  id: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'Id of the source to manage, where several have this kind and name.', isLocal: true }),
  previousName: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Name of the source before a rename. It can be removed after apply.', isLocal: true }),
})

export type DeclaredSource = z.output<typeof declaredSource>

type Field = keyof DeclaredSource

const ofEvents: readonly Field[] = [
  'defaultTableSelectExpression',
  'serviceNameExpression',
  'serviceVersionExpression',
  'eventAttributesExpression',
  'resourceAttributesExpression',
  'displayedTimestampValueExpression',
  'implicitColumnExpression',
  'knownColumnsListExpression',
  'orderByExpression',
  'useTextIndexForImplicitColumn',
  'traceIdExpression',
  'spanIdExpression',
  'highlightedTraceAttributeExpressions',
  'highlightedRowAttributeExpressions',
  'materializedViews',
  'metadataMaterializedViews',
  'metricSource',
]

/** The fields of each kind besides those that all kinds have, as the server of HyperDX 2.36 requires and stores them. */
export const fieldsByKind: Readonly<Record<SourceType, Readonly<Record<'required' | 'optional', readonly Field[]>>>> = {
  log: {
    required: ['defaultTableSelectExpression'],
    optional: [...ofEvents, 'severityTextExpression', 'bodyExpression', 'tableFilterExpression', 'traceSource'],
  },
  trace: {
    required: [
      'defaultTableSelectExpression',
      'durationExpression',
      'traceIdExpression',
      'spanIdExpression',
      'parentSpanIdExpression',
      'spanNameExpression',
      'spanKindExpression',
    ],
    optional: [
      ...ofEvents,
      'durationPrecision',
      'sampleRateExpression',
      'statusCodeExpression',
      'statusMessageExpression',
      'spanEventsValueExpression',
      'spanLinksValueExpression',
      'logSource',
      'sessionSource',
    ],
  },
  metric: {
    required: ['metricTables', 'resourceAttributesExpression'],
    optional: ['serviceNameExpression', 'seriesTable', 'logSource'],
  },
  session: { required: ['traceSource'], optional: ['resourceAttributesExpression'] },
}

/**
 * Fields that the vendor's document of ClickHouse Cloud does not have (2026-07-31, with the additions of 2026-09). Its gateway refuses such
 * fields with 400 (terraform-provider-clickhouse PR#654).
 */
export const undocumentedInCloud: Readonly<Record<SourceType, readonly Field[]>> = {
  log: ['orderByExpression', 'tableFilterExpression'],
  trace: ['displayedTimestampValueExpression', 'orderByExpression', 'sampleRateExpression', 'spanLinksValueExpression'],
  metric: ['serviceNameExpression', 'seriesTable'],
  session: ['resourceAttributesExpression'],
}

/** HyperDX appends settings to queries, without escapes. A text could be SQL, or name a file. */
const isPlainSetting = ({ setting, value }: NonNullable<DeclaredSource['querySettings']>[number]) =>
  /^[A-Za-z_]\w*$/.test(setting) && /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(value)

const ofSomeKinds = new Set(Object.values(fieldsByKind).flatMap((fields) => [...fields.required, ...fields.optional]))

/** A source of a file: with all fields that its kind needs, and no others. */
export const sourceInFile = declaredSource.superRefine((source, context) => {
  const { required: needed, optional } = fieldsByKind[source.kind]
  const demand = (...path: string[]) => context.addIssue({ code: 'custom', path, message: `a source of the kind ${source.kind} needs it` })
  for (const field of needed) if (source[field] === undefined) demand(field)
  if (source.kind !== 'metric' && !source.from.tableName) demand('from', 'tableName')
  for (const field of keysOf<Field>(source))
    if (source[field] !== undefined && !needed.includes(field) && !optional.includes(field) && ofSomeKinds.has(field))
      refuseField(context, [field], `is not a field of a source of the kind ${source.kind}`)
  for (const [i, one] of (source.querySettings ?? []).entries())
    if (!isPlainSetting(one))
      context.addIssue({
        code: 'custom',
        path: ['querySettings', i, 'value'],
        message: 'must be a number, true or false, for a setting with a plain name; a text could be SQL, or name a file of the server',
      })
})

function resolveSource(declared: DeclaredObject<DeclaredSource>, context: ResolveContext): ResolvedDeclaration {
  const { body, diagnostics } = encode(declaredSource, declared, context)
  const from = { ...(declared.value.kind === 'metric' && { tableName: '' }), ...declared.value.from }
  return { body: withoutUndefined({ ...body, from }), diagnostics }
}

/** `log source of default.otel_logs`. */
function summarizeSource({ kind, from }: Body) {
  const { databaseName, tableName } = isMapping(from) ? from : {}
  return `${String(kind)} source of ${[databaseName, tableName].filter(Boolean).join('.')}`
}

/** Other sources by name, and the connection only where there are several. */
function toFile(body: Body, context: FileContext): Body {
  const { spelled, nameIndex } = context
  const fields = comparable(sourceKind, body)
  const targets = references.flatMap(([field, idField, kind]) => {
    const id = body[idField]
    if (isEmpty(id)) return []
    if (id instanceof PendingId) return [[field, ownValue(spelled, field)] as const]
    const name = nameIndex.nameOf(id)
    const [only, second] = nameIndex.all('source').filter((one) => one.name === name && one.kind === kind)
    return [[field, name !== undefined && second === undefined && only?.id === id ? name : { id }] as const]
  })
  const values: Body = { ...fields, connection: spellConnection(body.connection, context), ...Object.fromEntries(targets) }
  return withoutUndefined(Object.fromEntries(Object.keys(declaredSource.shape).map((field) => [field, values[field]])))
}

const bodySchema = wireSchema(declaredSource)

export const sourceKind: Kind<DeclaredObject<DeclaredSource>> = {
  name: 'source',
  label: kindLabels.source,
  collection: sourceCollection,
  schema: bodySchema,
  referredToAs: 'source',
  // An update replaces the whole object, so leaving a field out clears it.
  clearsBy: Object.fromEntries(
    Object.keys(bodySchema.shape).flatMap((field) => (['name', 'kind', 'connection', 'from'].includes(field) ? [] : [[field, undefined]])),
  ),
  resolve: resolveSource,
  summarize: summarizeSource,
  explainUndeclarable: ({ kind }) =>
    declaredTypes.some((known) => known === kind) ? undefined : `files cannot declare a source of the kind ${quote(String(kind))}`,
  explainHidden({ querySettings }) {
    const { data = [] } = declaredSource.shape.querySettings.safeParse(querySettings ?? undefined)
    const text = data.find((one) => !isPlainSetting(one))
    return text && `files cannot have the text of its setting ${quote(text.setting)}`
  },
  toBody: withoutServerFields,
  ...noMarkers,
  tokenOf: ({ kind, name }) => `${String(kind)} ${String(name)}`,
  canonical: withoutEmpty,
  withStoredIds: (desired) => desired,
  file: { name: 'sources', isOnRequest: true },
  toFile,
  // A session cannot be stored without its traces.
  deferredFields: ({ kind }) => references.map(([, field]) => field).filter((field) => !(kind === 'session' && field === 'traceSourceId')),
}
