// The table of defaults in docs/defaults.md: which fields of files have one, what is stored without them, and who reads that.
import * as z from 'zod'
import { declaredAlert } from '../../src/kinds/alert/alert.ts'
import { declaredDashboard } from '../../src/kinds/dashboard/dashboard.ts'
import { declaredSavedSearch } from '../../src/kinds/saved-search/saved-search.ts'
import { coreOf, defaultOf, metaOf, type Schema, type Shape } from '../../src/platform/documents/schema.ts'

interface Default {
  /** `dashboards.tiles[].config`. */
  readonly place: string
  readonly field: string
  readonly value: unknown
  /** The display types of tiles, or types of filters, that have the field; empty where all have it. */
  readonly displayTypes: readonly string[]
  /** `always` for a default of the file, which is a part of every write. */
  readonly stated: 'always' | 'never' | { readonly beside: string }
}

interface Evidence {
  /** What HyperDX 2.36 stores where a write has no value. */
  readonly stored: string
  /** What the readers of the stored object assume, by their source. */
  readonly readers: string
}

const nothing = 'nothing'

/** Evidence by place and field, from the source of HyperDX 2.36, or of newer ones. `npm run effects` compares each of 2.36. */
const evidence: Readonly<Record<string, Evidence>> = {
  'dashboards.savedQueryLanguage': { stored: '`lucene`', readers: 'web app: the language that its user prefers, if none is stored' },
  'dashboards.savedFilterValues[].type': { stored: '`sql`', readers: 'web app: needs a type' },
  'dashboards.filters[].type': { stored: 'the server refuses the write', readers: 'web app: needs a type' },
  'dashboards.filters[].whereLanguage': {
    stored: nothing,
    readers: 'queries of filter values: SQL; editor of the web app: the language that its user prefers',
  },
  'dashboards.filters[].isBroadcastEnabled': { stored: nothing, readers: 'web app, alert task: compare with `false`' },
  'dashboards.filters[].isVariableEnabled': { stored: nothing, readers: 'web app, alert task: compare with `true`' },
  'dashboards.filters[].minSelections': { stored: nothing, readers: 'newer servers: 0, and answered from 1 on' },
  'dashboards.filters[].isGlobalRequirement': {
    stored: nothing,
    readers: 'newer servers: test for `true`, and answered with minSelections',
  },
  'dashboards.tiles[].name': { stored: 'the server refuses the write', readers: 'web app: shows no title' },
  'dashboards.containers[].collapsed': { stored: 'the server refuses the write', readers: 'web app: needs a value' },
  'dashboards.containers[].collapsible': { stored: nothing, readers: 'web app: compares with `false`' },
  'dashboards.containers[].bordered': { stored: nothing, readers: 'web app: compares with `false`' },
  'dashboards.tiles[].config.whereLanguage': { stored: '`lucene`', readers: 'charts: SQL, if none is stored' },
  'dashboards.tiles[].config.select[].whereLanguage': {
    stored: 'nothing; `null` after an update',
    readers:
      'API: Lucene; alert task and charts: Lucene in aggregates, SQL in WHERE; editor of the web app: the language that its user prefers; the web app cannot save `null`',
  },
  'dashboards.tiles[].config.onClick.whereLanguage': {
    stored: nothing,
    readers: 'links, editor of the web app: Lucene; the web app always stores one',
  },
  'dashboards.tiles[].config.asRatio': { stored: nothing, readers: 'alert task, charts: test for a ratio' },
  'dashboards.tiles[].config.showOperandSeries': {
    stored: nothing,
    readers: 'charts: compare with `false`; alert task: never shows operands',
  },
  'dashboards.tiles[].config.alignDateRangeToGranularity': {
    stored: nothing,
    readers: 'charts: compare with `false`; alert task: does not read it',
  },
  'dashboards.tiles[].config.fillNulls': {
    stored: 'nothing, for `true` as well',
    readers: 'charts: compare with `false`; alert task: does not read it',
  },
  'dashboards.tiles[].config.fitYAxisToData': { stored: nothing, readers: 'charts: test for `true`' },
  'dashboards.tiles[].config.compareToPreviousPeriod': { stored: nothing, readers: 'charts: test for `true`' },
  'dashboards.tiles[].config.groupByColumnsOnLeft': { stored: nothing, readers: 'tables: test for `true`' },
  'savedSearches.whereLanguage': { stored: '`lucene`', readers: 'alert task: SQL, if none is stored; web app: Lucene' },
  'savedSearches.filters[].type': { stored: '`sql`', readers: 'web app: needs a type' },
  'alerts.thresholdType': { stored: 'the server refuses the write', readers: 'alert task: needs a type' },
  'alerts.scheduleOffsetMinutes': { stored: nothing, readers: 'alert task: 0' },
  'alerts.numConsecutiveWindows': { stored: nothing, readers: 'alert task: 1' },
}

/** Every default of the file schemas, each field once for each place. */
function defaultsOfFiles(): readonly Default[] {
  const found = [
    ...walk(declaredDashboard, 'dashboards', []),
    ...walk(declaredSavedSearch, 'savedSearches', []),
    // A query is stored as a tile.
    ...walk(declaredAlert.omit({ query: true }), 'alerts', []),
  ]
  const places = Map.groupBy(found, ({ place, field, value }) => `${place}.${field} ${JSON.stringify(value)}`)
  return [...places.values()].flatMap((same) => {
    const [first] = same
    const isGeneral = same.some(({ displayTypes }) => displayTypes.length === 0)
    const types = isGeneral ? [] : [...new Set(same.flatMap(({ displayTypes }) => displayTypes))]
    return first === undefined ? [] : [{ ...first, displayTypes: types }]
  })
}

function* walk(schema: Schema, place: string, displayTypes: readonly string[]): Generator<Default> {
  const core = coreOf(schema)
  if (core instanceof z.ZodNullable) yield* walk(core.def.innerType, place, displayTypes)
  else if (core instanceof z.ZodArray) yield* walk(core.element, `${place}[]`, displayTypes)
  else if (core instanceof z.ZodUnion) for (const option of core.options) yield* walk(option, place, displayTypes)
  else if (core instanceof z.ZodObject) yield* walkFields(core.shape, place, displayTypes)
}

function* walkFields(shape: Shape, place: string, displayTypes: readonly string[]): Generator<Default> {
  const own = displayTypeOf(shape)
  const types = own === undefined ? displayTypes : [own]
  for (const [field, schema] of Object.entries(shape)) {
    const value = metaOf(schema).serverDefault ?? defaultOf(schema)
    if (value !== undefined) yield { place, field, value, displayTypes: types, stated: whenStated(schema) }
    yield* walk(schema, `${place}.${field}`, types)
  }
}

function whenStated(field: Schema): Default['stated'] {
  const { serverDefault, writeDefault } = metaOf(field)
  if (writeDefault === undefined) return serverDefault === undefined ? 'always' : 'never'
  const { beside = '', isOptional } = writeDefault
  return isOptional === true ? { beside } : 'always'
}

/** Undefined for what is neither the configuration of a tile nor a filter that names its type. */
function displayTypeOf({ displayType, configType, type, options }: Shape): string | undefined {
  const spelled = displayType ?? (options && type)
  const literal = spelled === undefined ? undefined : coreOf(spelled)
  if (!(literal instanceof z.ZodLiteral)) return undefined
  return configType === undefined ? String(literal.value) : `SQL ${literal.value}`
}

/** Throws where a default has no evidence, or evidence is about nothing. */
export function defaultsTable(): string {
  const defaults = defaultsOfFiles()
  const unused = new Set(Object.keys(evidence))
  const rows = defaults.map(({ place, field, value, displayTypes, stated }) => {
    const key = `${place}.${field}`
    const { stored, readers } = evidence[key] ?? {}
    if (stored === undefined || readers === undefined) throw new Error(`scripts/reference/defaults.ts lacks evidence for ${key}`)
    unused.delete(key)
    const types = displayTypes.length === 0 ? '' : ` (${displayTypes.join(', ')})`
    const sent = stated === 'always' ? 'yes' : stated === 'never' ? 'no' : `with \`${stated.beside}\``
    return `| \`${key}\`${types} | \`${JSON.stringify(value).replaceAll('"', '')}\` | ${sent} | ${stored} | ${readers} |`
  })
  if (unused.size > 0) throw new Error(`scripts/reference/defaults.ts has evidence for ${[...unused].join(', ')}, which have no default`)
  return ['| field | default | sent | stored if absent | what its readers assume |', '| --- | --- | --- | --- | --- |', ...rows].join('\n')
}
