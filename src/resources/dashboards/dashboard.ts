import * as z from 'zod'
import type { ReadApi } from '../../api/client.ts'
import { collectionPath, defineCollection } from '../../api/collection.ts'
import { type Target, under } from '../../api/path.ts'
import type { Profile } from '../../api/profiles.ts'
import { nameOrEmpty, readOne, wireId } from '../../api/wire.ts'
import { digestOfText } from '../../core/digest.ts'
import { isEmpty, isFields, managedPart, normalForm, withoutEmpty } from '../compare.ts'
import { adoption, declaredTags, sourceFields, sourceReference, withOneSource } from '../declaration-fields.ts'
import { canonicalText, tagMarkers, withoutMarkerTags } from '../marker.ts'
import { createResolver, resolveSources } from '../resolve.ts'
import {
  type Body,
  type DeclaredObject,
  listOf,
  type RemoteObject,
  type ResolveContext,
  type ResolvedDeclaration,
  type ResourceType,
} from '../resource-type.ts'

const word = (longest: number) => z.string().min(1).max(longest)

const bodyTile = z.looseObject({
  name: z.string(),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  w: z.int().min(1).max(24),
  h: z.int().min(1),
  /** Kept only if the dashboard has a tile with this id. Otherwise, the server assigns a new one. */
  id: z.string().max(36).optional(),
  config: z.looseObject({}).optional(),
})

const bodyContainer = z.looseObject({ id: word(256), title: word(256) })

/** A dashboard as users write it for the operations, with the API's names. The API checks the configuration of tiles. */
export const dashboardBodySchema = z.strictObject({
  name: word(1024),
  tiles: z.array(bodyTile).max(500),
  tags: z.array(z.string().min(1).max(32)).max(50).optional(),
  filters: z.array(z.looseObject({ name: z.string(), id: z.string().optional() })).optional(),
  savedQuery: z.string().nullish(),
  savedQueryLanguage: z.enum(['sql', 'lucene']).nullish(),
  savedFilterValues: z.array(z.looseObject({})).optional(),
  containers: z.array(bodyContainer).max(50).optional(),
})

export type DashboardFields = z.output<typeof dashboardBodySchema>

/** A dashboard as the API returns it. Unknown fields are kept. */
export const dashboardSchema = z.looseObject({
  id: wireId,
  name: nameOrEmpty,
  tiles: z
    .array(z.looseObject({ id: wireId, name: z.string().nullish() }))
    .nullish()
    .transform((tiles) => tiles ?? []),
  tags: z
    .array(z.string())
    .nullish()
    .transform((tags) => tags ?? []),
})

export type Dashboard = z.output<typeof dashboardSchema>

/** The part of a returned dashboard that may be sent again. A gateway refuses the top-level id. */
export function toDashboardBody(dashboard: RemoteObject): Body {
  const { id: _id, teamId: _team, createdAt: _created, updatedAt: _updated, createdBy: _creator, ...body } = dashboard
  return Array.isArray(body.tiles) ? { ...body, tiles: toWritableTiles(listOf(body.tiles)) } : body
}

/** The tiles in the form in which the server accepts them again, with the same meaning. */
function toWritableTiles(tiles: readonly Body[]): readonly Body[] {
  const seen = new Set<unknown>()
  return tiles.map((tile) => {
    const { id, ...rest } = tile
    // An alert on several tiles with one id watches the first of them. The server gives the others new ids.
    const isRepeated = id !== undefined && seen.has(id)
    seen.add(id)
    return withMetricValues(isRepeated ? rest : tile)
  })
}

/** The server refuses an empty value of a metric. Its queries ignore the value, and the editor of the web app writes `Value`. */
function withMetricValues(tile: Body): Body {
  const { config } = tile
  if (!isFields(config) || !listOf(config.select).some(lacksMetricValue)) return tile
  const select = listOf(config.select).map((item) => (lacksMetricValue(item) ? { ...item, valueExpression: 'Value' } : item))
  return { ...tile, config: { ...config, select } }
}

const lacksMetricValue = ({ aggFn, metricName, metricType, valueExpression }: Body): boolean =>
  Boolean(metricName) && Boolean(metricType) && aggFn !== 'count' && valueExpression === ''

/** The requests for dashboards. */
export const dashboardCollection = defineCollection<Dashboard, Body>({
  name: 'dashboards',
  noun: 'dashboard',
  listing: 'whole',
  schema: dashboardSchema,
  toBody: toDashboardBody,
})

const validationSchema = z.object({
  valid: z.boolean(),
  errors: z
    .array(z.object({ path: z.string().nullish(), message: z.string() }))
    .nullish()
    .transform((errors) => errors ?? []),
})

export interface InvalidField {
  /** A path in the body: `tiles.0.config.select`; may be empty. */
  readonly path: string
  readonly message: string
}

/** Lets the server validate the body of a create. The server stores nothing, so the request may be repeated like a read. */
export async function checkDashboard(api: ReadApi, service: Target, body: Body): Promise<readonly InvalidField[]> {
  const { valid, errors } = await api.read({
    method: 'POST',
    isSafe: true,
    path: under(collectionPath(api, service, 'dashboards'), 'validate'),
    body,
    read: readOne(validationSchema),
    noun: 'dashboard',
    missing: 'service',
    permission: api.profile.permissions.observability,
  })
  if (valid) return []
  const invalid = errors.map((error) => ({ path: error.path ?? '', message: error.message }))
  return invalid.length > 0 ? invalid : [{ path: '', message: 'is not valid; the server gives no reason' }]
}

// The configuration of tiles by the API's specification of 2026-07-31, with its additions of 2026-09. Field names are those of the API.
// Sources can also be given by name. `serverDefault` is the value that the server returns or assumes where a body lacks the field:
// observed on HyperDX 2.36, see test/conformance.

const text = (longest: number) => z.string().max(longest)
const sql = text(10_000)
const language = z.enum(['sql', 'lucene'])
const metricType = z.enum(['sum', 'gauge', 'histogram', 'summary', 'exponential histogram'])

const chartColors = [
  'blue',
  'orange',
  'red',
  'cyan',
  'green',
  'pink',
  'purple',
  'light-blue',
  'brown',
  'gray',
  'success',
  'warning',
  'error',
] as const
const color = z.enum(chartColors.map((name) => `chart-${name}` as const)).meta({ id: 'color' })

const sizeUnits = [
  'bytes_iec',
  'bytes_si',
  'bits_iec',
  'bits_si',
  'kibibytes',
  'kilobytes',
  'mebibytes',
  'megabytes',
  'gibibytes',
  'gigabytes',
  'tebibytes',
  'terabytes',
  'pebibytes',
  'petabytes',
] as const
const rateUnits = [
  'packets_sec',
  'bytes_sec_iec',
  'bytes_sec_si',
  'bits_sec_iec',
  'bits_sec_si',
  'kibibytes_sec',
  'kibibits_sec',
  'kilobytes_sec',
  'kilobits_sec',
  'mebibytes_sec',
  'mebibits_sec',
  'megabytes_sec',
  'megabits_sec',
  'gibibytes_sec',
  'gibibits_sec',
  'gigabytes_sec',
  'gigabits_sec',
  'tebibytes_sec',
  'tebibits_sec',
  'terabytes_sec',
  'terabits_sec',
  'pebibytes_sec',
  'pebibits_sec',
  'petabytes_sec',
  'petabits_sec',
  'cps',
  'ops',
  'rps',
  'reads_sec',
  'wps',
  'iops',
  'cpm',
  'opm',
  'rpm_reads',
  'wpm',
] as const

const numberFormat = z
  .strictObject({
    output: z.enum(['currency', 'percent', 'byte', 'time', 'number', 'data_rate', 'throughput', 'duration']),
    mantissa: z.int().optional(),
    thousandSeparated: z.boolean().optional(),
    average: z.boolean().optional(),
    decimalBytes: z.boolean().optional(),
    factor: z.number().optional(),
    currencySymbol: z.string().optional(),
    numericUnit: z.enum([...sizeUnits, ...rateUnits]).optional(),
    unit: z.string().optional(),
  })
  .meta({ id: 'numberFormat' })

/** An optional field. Without it, the server stores or assumes the given default. */
const defaulted = <T extends z.ZodType>(schema: T, serverDefault: z.output<T>) => schema.optional().meta({ serverDefault })

/**
 * The language of a condition. The web app always stores one. For an item of a select, the server stores no language that a body
 * lacks, and answers lucene. The alert task and the charts then read the condition as SQL in one half of their query.
 */
const whereLanguage = language.optional().meta({ serverDefault: 'lucene', stateDefault: true })

/** Words of other tools for aggregate functions. */
const otherAggregates: Readonly<Record<string, string>> = {
  ...Object.fromEntries([50, 90, 95, 99].map((percent) => [`p${percent}`, `quantile, with level: ${percent / 100}`])),
  median: 'quantile, with level: 0.5',
  average: 'avg',
  mean: 'avg',
  distinct: 'count_distinct',
  uniq: 'count_distinct',
  rate: 'increase',
  last: 'last_value',
}

const select = z
  .strictObject({
    aggFn: z
      .enum(['avg', 'count', 'count_distinct', 'increase', 'last_value', 'max', 'min', 'quantile', 'sum', 'any', 'none'])
      .meta({ synonyms: otherAggregates }),
    valueExpression: sql.optional(),
    alias: sql.optional(),
    level: z.literal([0.5, 0.9, 0.95, 0.99]).optional(),
    where: sql.optional(),
    whereLanguage,
    metricName: z.string().optional(),
    metricType: metricType.optional(),
    periodAggFn: z.literal('delta').optional(),
    numberFormat: numberFormat.optional(),
  })
  .superRefine(({ aggFn, valueExpression, level }, context) => {
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message, params: { isComplete: true } })
    if (aggFn === 'count' && valueExpression) refuse('valueExpression', 'must not be given for aggFn count')
    if (aggFn !== 'count' && !valueExpression) refuse('valueExpression', `is required for aggFn ${aggFn}`)
    if (level !== undefined && aggFn !== 'quantile') refuse('level', 'is for aggFn quantile only')
  })
  .meta({
    id: 'select',
    aliases: { field: 'valueExpression', column: 'valueExpression', expression: 'valueExpression', metric: 'metricName' },
  })

const several = z.array(select).min(1).max(20)
const single = z.array(select).length(1)
const formula = z
  .strictObject({ expression: z.string().min(1).max(1024), alias: sql.optional(), numberFormat: numberFormat.optional() })
  .meta({ id: 'formula' })

const ruleResult = { color, label: text(40).optional() }

const colorRule = z.discriminatedUnion('operator', [
  z.strictObject({ operator: z.enum(['gt', 'gte', 'lt', 'lte']), value: z.number(), ...ruleResult }),
  z.strictObject({ operator: z.literal('between'), value: z.array(z.number()).length(2), ...ruleResult }),
  z.strictObject({ operator: z.enum(['eq', 'neq']), value: z.union([z.number(), text(200)]), ...ruleResult }),
])

const template = sql.min(1)

const clickTarget = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('id'), id: z.string() }),
  z.strictObject({ mode: z.literal('template'), template }),
])

const clickThrough = {
  target: clickTarget,
  whereTemplate: sql.optional(),
  whereLanguage,
  filters: z
    .array(z.strictObject({ kind: z.literal('expressionTemplate'), expression: template, template }))
    .max(50)
    .optional(),
}

const onClick = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('search'), ...clickThrough }),
    z.strictObject({ type: z.literal('dashboard'), ...clickThrough }),
    z.strictObject({ type: z.literal('external'), urlTemplate: template }),
  ])
  .meta({ id: 'onClick' })

const sourced = { ...sourceFields, numberFormat: numberFormat.optional() }
const combined = {
  asRatio: defaulted(z.boolean(), false),
  formulas: z.array(formula).max(10).optional(),
  showOperandSeries: defaulted(z.boolean(), true),
}
const overTime = { alignDateRangeToGranularity: defaulted(z.boolean(), true), fillNulls: defaulted(z.boolean(), true) }
const asLine = { ...overTime, fitYAxisToData: defaulted(z.boolean(), false), compareToPreviousPeriod: defaulted(z.boolean(), false) }
const limited = { seriesLimit: z.int().min(0).optional() }
const filtered = { where: sql.optional(), whereLanguage }
const ranked = { groupBy: sql.optional(), orderBy: sql.optional(), limit: z.int().min(0).optional() }
const timeSeries = { ...sourced, select: several, groupBy: sql.optional(), ...combined, ...limited }

const show = <const Name extends string, Shape extends z.ZodRawShape>(displayType: Name, shape: Shape) =>
  z.strictObject({ displayType: z.literal(displayType), ...shape })

const showSource = <const Name extends string, Shape extends z.ZodRawShape>(displayType: Name, shape: Shape) =>
  withOneSource(show(displayType, shape))

const heatmapFields = {
  valueExpression: template,
  countExpression: sql.optional(),
  heatmapScaleType: z.enum(['log', 'linear']).optional(),
}

// Other charts have an aggregation in its place.
const heatmapSelect = z.strictObject(heatmapFields).meta({ accepts: Object.keys(heatmapFields).join(', ') })

/** Charts that the web app's builder makes. */
export const builtConfig = z
  .discriminatedUnion('displayType', [
    showSource('line', { ...timeSeries, ...asLine }),
    showSource('stacked_bar', { ...timeSeries, ...overTime }),
    showSource('table', {
      ...sourced,
      select: several,
      groupBy: sql.optional(),
      having: sql.optional(),
      orderBy: sql.optional(),
      ...combined,
      groupByColumnsOnLeft: defaulted(z.boolean(), false),
      onClick: onClick.optional(),
    }),
    showSource('number', {
      ...sourced,
      select: several,
      formulas: z.array(formula).max(1).optional(),
      color: color.optional(),
      colorRules: z.array(colorRule).max(10).optional(),
      backgroundChart: z.strictObject({ type: z.enum(['line', 'area']), color: color.optional() }).optional(),
    }),
    showSource('pie', { ...sourced, select: single, ...ranked }),
    showSource('bar', { ...sourced, select: single, ...ranked }),
    showSource('heatmap', { ...sourced, select: z.array(heatmapSelect).length(1), ...filtered }),
    showSource('search', { ...sourceFields, select: sql, ...filtered }),
    showSource('event_patterns', { ...sourceFields, select: sql.optional(), ...filtered }),
    show('markdown', { markdown: text(50_000).optional() }),
  ])
  .meta({ id: 'chart' })

const written = {
  configType: z.literal('sql'),
  connectionId: z.string().min(1),
  sqlTemplate: text(100_000),
  ...sourceFields,
  numberFormat: numberFormat.optional(),
}

/** Charts of a query in SQL. */
export const writtenConfig = z
  .discriminatedUnion('displayType', [
    show('line', { ...written, ...asLine, ...limited }),
    show('stacked_bar', { ...written, ...overTime, ...limited }),
    show('table', { ...written, onClick: onClick.optional() }),
    show('number', { ...written, color: color.optional() }),
    show('pie', written),
    show('bar', written),
  ])
  .meta({ id: 'writtenChart' })

export const filterFields = {
  type: z.literal('QUERY_EXPRESSION').default('QUERY_EXPRESSION'),
  name: z.string().min(1),
  expression: z.string().min(1),
  ...sourceFields,
  sourceMetricType: metricType.optional(),
  where: sql.optional(),
  // Everywhere else the default is lucene. The editor of the web app takes the language that its user prefers for an absent one.
  whereLanguage: language.optional().meta({ serverDefault: 'sql', stateDefault: { beside: 'where' } }),
  appliesToSources: z.array(z.string().min(1)).optional().meta({ description: 'Names of the sources that the filter applies to.' }),
  appliesToSourceIds: z.array(sourceReference).optional(),
  isBroadcastEnabled: defaulted(z.boolean(), true),
  isVariableEnabled: defaulted(z.boolean(), false),
  variableName: z
    .string()
    .max(64)
    .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
    .optional(),
}

/** For fields that these schemas do not have yet. They are passed on unchanged. */
const raw = z.record(z.string(), z.unknown()).meta({ description: 'Fields that are passed on to the API unchecked.' })

export const declaredTile = z
  .strictObject({
    name: word(1024).meta({ description: 'Name of the tile. Alerts refer to it, and the tile keeps its id as long as the name stays.' }),
    x: z
      .int()
      .min(0)
      .max(23)
      .meta({ description: 'Column of its left edge. The grid has 24 columns.', accepts: 'a whole number from 0 to 23' }),
    y: z.int().min(0).meta({ description: 'Row of its upper edge.', accepts: 'a whole number from 0' }),
    w: z.int().min(1).max(24).meta({ description: 'Width in columns.', accepts: 'a whole number from 1 to 24' }),
    h: z.int().min(1).meta({ description: 'Height in rows.', accepts: 'a whole number from 1' }),
    config: z.union([builtConfig, writtenConfig]).optional().meta({ description: 'The chart or text of the tile.' }),
    containerId: word(256).optional(),
    tabId: word(256).optional(),
    raw: raw.optional(),
  })
  .meta({ id: 'placedTile' })

export const containerStyle = {
  collapsed: z.boolean().default(false),
  collapsible: z.boolean().optional().meta({ serverDefault: true }),
  bordered: z.boolean().optional().meta({ serverDefault: true }),
}

const container = z.strictObject({
  id: word(256),
  title: word(256),
  ...containerStyle,
  tabs: z
    .array(z.strictObject({ id: word(256), title: word(256) }))
    .max(20)
    .optional(),
})

const savedFilterValue = z.union([
  z.strictObject({ type: z.literal('sql').optional().meta({ serverDefault: 'sql' }), condition: sql }),
  z.strictObject({ type: z.literal('variable'), name: z.string(), values: z.array(z.string()) }),
])

/** The form in which dashboards are compared with the service. Files can also have shorter forms: see dashboard-file.ts. */
export const declaredDashboard = z.strictObject({
  name: word(1024).meta({ description: 'Name in the service. It can change, because the key identifies the object.' }),
  tags: declaredTags,
  tiles: z.array(declaredTile).max(500),
  filters: z.array(withOneSource(z.strictObject(filterFields))).optional(),
  savedQuery: z.string().nullable().optional(),
  savedQueryLanguage: z
    .enum(['sql', 'lucene'])
    .nullable()
    .optional()
    .meta({ serverDefault: 'lucene', stateDefault: { beside: 'savedQuery' } }),
  savedFilterValues: z.array(savedFilterValue).optional(),
  containers: z.array(container).max(50).optional(),
  raw: raw.optional(),
  ...adoption,
})

export type DeclaredDashboard = z.output<typeof declaredDashboard>

/** Translates a declared dashboard into the API's names, and named sources into ids. Unknown names become diagnostics. */
export function resolveDashboard(
  declared: DeclaredObject<DeclaredDashboard>,
  { directory }: Pick<ResolveContext, 'directory'>,
): ResolvedDeclaration {
  const resolver = createResolver(declared, directory)
  const { adopt: _, id: __, previousKey: ___, raw, ...fields } = declared.value
  const body = resolveSources(fields, resolver)
  return { body: { ...body, tiles: listOf(body.tiles).map(withRaw), ...raw }, diagnostics: resolver.diagnostics }
}

const withRaw = ({ raw, ...tile }: Body): Body => ({ ...tile, ...(isFields(raw) && raw) })

/** The resource type of dashboards. */
export const createDashboardType = ({
  statesDefaults,
}: Pick<Profile, 'statesDefaults'>): ResourceType<DeclaredObject<DeclaredDashboard>> => ({
  section: 'dashboards',
  noun: 'dashboard',
  collection: dashboardCollection,
  schema: declaredDashboard,
  statesDefaults,
  canRewrite: true,
  // The server resets the language with the query, and refuses null as the language of a query.
  clearWith: { tags: [], tiles: [], filters: [], savedQuery: null, savedQueryLanguage: undefined, savedFilterValues: [], containers: [] },
  resolve: resolveDashboard,
  toBody: toDashboardBody,
  ...tagMarkers,
  canonical: ({ tags, tiles, ...body }) =>
    withoutEmpty({
      ...body,
      tags: withoutMarkerTags(tags).toSorted(),
      tiles: Array.isArray(tiles) ? listOf(tiles).map(effectiveTile).toSorted(byId) : tiles,
    }),
  // A tile that loses its id loses its alerts.
  carryOverIds: (desired, stored) => ({
    ...desired,
    tiles: withTileIds(listOf(desired.tiles), listOf(stored.tiles)),
    ...(Array.isArray(desired.filters) && { filters: withFilterIds(listOf(desired.filters), listOf(stored.filters)) }),
  }),
})

const byId = (a: Body, b: Body): number => (String(a.id ?? a.name) < String(b.id ?? b.name) ? -1 : 1)

/** Removes `showOperandSeries` from a tile without formulas, where it has no effect and the server drops it. */
function effectiveTile(tile: Body): Body {
  const { config } = tile
  if (!isFields(config) || !isEmpty(config.formulas) || !Object.hasOwn(config, 'showOperandSeries')) return tile
  const { showOperandSeries: _, ...effective } = config
  return { ...tile, config: effective }
}

/** Gives tiles the ids that they already have. They are matched by id or name, and the rest by content, because a renamed tile is the same tile. */
export function withTileIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const hasTwins = new Set(before.map(nameOf)).size < before.length
  const { ids, left } = pair(desired, before, [idOf, ...(hasTwins ? [nameAndContentOf] : []), nameOf, trimmedNameOf])
  const rest = desired.filter((tile) => !ids.has(tile))
  if (rest.length > 0 && left.size > 0) {
    const [wanted, known] = [Map.groupBy(rest, contentOf), Map.groupBy(left, contentOf)]
    for (const [content, [tile, second]] of wanted) {
      const [only, another] = known.get(content) ?? []
      // Two tiles with the same content could be mistaken for each other.
      if (tile !== undefined && only !== undefined && second === undefined && another === undefined) ids.set(tile, only.id)
    }
  }
  return desired.map((tile) => (ids.has(tile) ? { ...tile, id: ids.get(tile) } : tile))
}

/** Gives every filter an id, as an update requires. The server replaces unknown ids. */
export function withFilterIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const { ids } = pair(desired, before, [idOf, nameOf, trimmedNameOf])
  return desired.map((filter) => ({ ...filter, id: ids.get(filter) ?? filter.id ?? digestOfText(String(filter.name), 24) }))
}

interface Pairing {
  /** The ids of stored items, by the desired ones that they belong to. */
  readonly ids: Map<Body, unknown>
  /** The stored items without a desired one. */
  readonly left: ReadonlySet<Body>
}

/** Pairs items by each key in turn. */
function pair(desired: readonly Body[], before: readonly Body[], keys: readonly ((item: Body) => unknown)[]): Pairing {
  const ids = new Map<Body, unknown>()
  const left = new Set(before)
  for (const keyOf of keys) {
    const known = Map.groupBy(left, keyOf)
    for (const one of desired) {
      const key = keyOf(one)
      const found = ids.has(one) || key === undefined ? undefined : known.get(key)?.shift()
      if (found === undefined) continue
      ids.set(one, found.id)
      left.delete(found)
    }
  }
  return { ids, left }
}

const idOf = ({ id }: Body): unknown => id
const nameOf = ({ name }: Body): unknown => name
/** Two tiles may have the same name. */
const nameAndContentOf = (tile: Body): unknown => `${String(tile.name)}\n${contentOf(tile)}`
/** Some servers trim names. */
const trimmedNameOf = ({ name }: Body): unknown => (typeof name === 'string' ? name.trim() : undefined)

const chart = z.union([builtConfig, writtenConfig])

/** The content that files can declare, as text. Fields that the server adds do not make it another tile. */
const contentOf = ({ config }: Body): string => canonicalText(normalForm(managedPart(config, undefined, chart), chart))
