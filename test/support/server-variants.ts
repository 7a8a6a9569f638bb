import { hashOf } from '../../src/emulator/deterministic.ts'
import { type Emulator, startVariantOf } from '../../src/emulator/emulator.ts'
import type { EmulatorOptions, ServerVariant, VariantRequest } from '../../src/emulator/options.ts'
import type { ProductRequest, ProductResponse } from '../../src/emulator/product/request.ts'
import { isJsonObject, type JsonObject, type Service } from '../../src/emulator/store.ts'
import { acceptsNewerField, handleNewer } from './newer-server.ts'

// Servers that differ from the recorded product, to test clients against what may come.

export interface VariantOptions extends EmulatorOptions {
  /** `ignored`: `limit` and `offset` have no effect, as if a gateway did not forward them. Default `supported`. */
  readonly paging?: 'supported' | 'ignored'
  /** `hidden`: lists that are paged come without `X-Total-Count` and `meta`, as if a gateway dropped them. Default `shown`. */
  readonly totalCount?: 'shown' | 'hidden'
  /**
   * A server with unknown defaults. The seed decides which optional fields of tiles, alerts and saved searches are filled in
   * and with what, how lists are ordered, and how texts and times are written. The same object is always shown in the same way, and
   * every shown object can be sent back. Can be changed while the emulator runs.
   */
  readonly unknownDefaults?: number
  /**
   * A newer server: fields of dashboards, alerts and saved searches whose names begin with this are accepted anywhere in a
   * body, kept until an update leaves them out, and shown. Default: none.
   */
  readonly newFieldPrefix?: string
  /** A server of September 2026: see newer-server.ts. Default: false. */
  readonly isNewer?: boolean
  /** An older server: fields with these names are dropped from every body without an error. Default: none. */
  readonly unknownFields?: readonly string[]
}

export interface EmulatorVariant extends Emulator {
  /** From now on the server fills in unknown defaults, chosen by the seed; `undefined` for none. `reset` restores the option. */
  setUnknownDefaults(seed: number | undefined): void
}

export async function startVariant(options: VariantOptions = {}): Promise<EmulatorVariant> {
  const { paging, totalCount, unknownDefaults, newFieldPrefix, isNewer = false, unknownFields = [], ...others } = options
  let seed = unknownDefaults
  const variant: ServerVariant = {
    acceptsField: (name) => (newFieldPrefix !== undefined && name.startsWith(newFieldPrefix)) || (isNewer && acceptsNewerField(name)),
    handle(request, productOf236) {
      const product = (passed: ProductRequest): ProductResponse =>
        isNewer ? handleNewer({ ...request, ...passed }, productOf236) : productOf236(passed)
      const known: VariantRequest = {
        ...request,
        query: paging === 'ignored' ? {} : request.query,
        body: withoutFields(request.body, (name) => unknownFields.includes(name)),
      }
      const isWrite = request.method !== 'GET'
      const response = newFieldPrefix === undefined ? product(known) : withNewFields(newFieldPrefix, known, { isWrite }, product)
      const { total: _, ...rest } = response
      const shown = totalCount === 'hidden' && response.total !== undefined ? { ...rest, body: withoutMeta(response.body) } : response
      if (seed === undefined || shown.status !== 200 || !isJsonObject(shown.body) || !('data' in shown.body)) return shown
      return { ...shown, body: { ...shown.body, data: withUnknownDefaults(seed, request.resource, shown.body.data) } }
    },
  }
  const emulator = await startVariantOf(others, variant)
  return {
    ...emulator,
    setUnknownDefaults(next) {
      seed = next
    },
    reset() {
      seed = unknownDefaults
      emulator.reset()
    },
  }
}

const withoutMeta = (body: unknown): unknown => (isJsonObject(body) ? { data: body.data } : body)

/** A newer server, with fields whose names begin with the prefix. They are stripped before the product sees the body, and added again. */
function withNewFields(
  prefix: string,
  request: ProductRequest,
  { isWrite }: { readonly isWrite: boolean },
  handle: (request: ProductRequest) => ProductResponse,
): ProductResponse {
  const isNew = (name: string): boolean => name.startsWith(prefix)
  const response = handle({ ...request, body: withoutFields(request.body, isNew) })
  const data = isJsonObject(response.body) ? response.body.data : undefined
  if (response.status !== 200 || data === undefined) return response
  if (isWrite) keepFields(request.body, findStored(request.service, data), isNew)
  const shown = Array.isArray(data)
    ? data.map((item) => showFields(findStored(request.service, item), item, isNew))
    : showFields(findStored(request.service, data), data, isNew)
  return { ...response, body: { ...(response.body as JsonObject), data: shown } }
}

type IsNew = (name: string) => boolean

/** Fields that the server does not know, at any depth: it drops them without an error. */
function withoutFields(value: unknown, isUnknown: (name: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, isUnknown))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => (isUnknown(name) ? [] : [[name, withoutFields(item, isUnknown)]])),
  )
}

function findStored({ dashboards, alerts, savedSearches }: Service, view: unknown): unknown {
  const id = isJsonObject(view) ? view.id : undefined
  return [...dashboards, ...alerts, ...savedSearches].find((one) => one.id === id)
}

/** An update replaces: fields that were not sent again are removed. */
function keepFields(sent: unknown, stored: unknown, isNew: IsNew): void {
  if (Array.isArray(sent) && Array.isArray(stored)) {
    for (const [index, item] of stored.entries()) keepFields(sent[index], item, isNew)
    return
  }
  if (!isJsonObject(sent) || !isJsonObject(stored)) return
  for (const name of Object.keys(stored)) if (isNew(name)) Reflect.deleteProperty(stored, name)
  for (const [name, item] of Object.entries(sent)) {
    if (isNew(name)) stored[name] = item
    else keepFields(item, stored[name], isNew)
  }
}

function showFields(stored: unknown, view: unknown, isNew: IsNew): unknown {
  if (Array.isArray(stored) && Array.isArray(view)) {
    return view.map((item, index) => showFields(findById(stored, item) ?? stored[index], item, isNew))
  }
  if (!isJsonObject(stored) || !isJsonObject(view)) return view
  const known = Object.entries(view).map(([name, item]) => [name, showFields(stored[name], item, isNew)])
  const shown = Object.fromEntries([...known, ...Object.entries(stored).filter(([name]) => isNew(name))])
  // The first channel of an alert is shown twice, and stored once.
  return Array.isArray(shown.channels) ? { ...shown, channel: shown.channels[0] } : shown
}

// By id, because hidden tiles shift the positions of the others.
const findById = (stored: readonly unknown[], view: unknown): unknown =>
  isJsonObject(view) && view.id !== undefined ? stored.find((one) => isJsonObject(one) && one.id === view.id) : undefined

/** Optional fields, and the values that a server might fill in. Every value can be sent back. */
type Choices = Readonly<Record<string, readonly unknown[]>>

const flags = [true, false]
const texts = ['']
const formats = [{ output: 'number' }, { output: 'number', mantissa: 2 }, { output: 'duration', factor: 1 }]

/** Unknown defaults by display type. */
const configDefaults: Readonly<Record<string, Choices>> = {
  line: {
    groupBy: texts,
    alignDateRangeToGranularity: flags,
    fitYAxisToData: flags,
    compareToPreviousPeriod: flags,
    numberFormat: formats,
    seriesLimit: [0, 20],
  },
  stacked_bar: { groupBy: texts, alignDateRangeToGranularity: flags, numberFormat: formats, seriesLimit: [0, 50] },
  table: { groupBy: texts, having: texts, orderBy: texts, groupByColumnsOnLeft: flags, numberFormat: formats },
  number: { color: ['chart-blue', 'chart-gray'], numberFormat: formats, backgroundChart: [{ type: 'line' }, { type: 'area' }] },
  pie: { groupBy: texts, orderBy: texts, limit: [0, 10], numberFormat: formats },
  bar: { groupBy: texts, orderBy: texts, limit: [0, 10], numberFormat: formats },
  heatmap: { numberFormat: formats },
}

const sqlConfigDefaults: Readonly<Record<string, Choices>> = {
  line: { alignDateRangeToGranularity: flags, fitYAxisToData: flags, compareToPreviousPeriod: flags, numberFormat: formats },
  stacked_bar: { alignDateRangeToGranularity: flags, numberFormat: formats },
  table: { numberFormat: formats },
  number: { color: ['chart-blue', 'chart-gray'], numberFormat: formats },
  pie: { numberFormat: formats },
  bar: { numberFormat: formats },
}

const itemDefaults: Choices = { alias: texts, numberFormat: formats }
const heatmapItemDefaults: Choices = { countExpression: ['count()'], heatmapScaleType: ['log', 'linear'] }
const filterDefaults: Choices = { where: texts, whereLanguage: ['sql', 'lucene'], isBroadcastEnabled: [true], isVariableEnabled: [false] }
const containerDefaults: Choices = { collapsible: flags, bordered: flags }
const alertDefaults: Choices = { scheduleOffsetMinutes: [0], numConsecutiveWindows: [1] }

/** Dashboards, alerts and saved searches as a server with unknown defaults shows them. */
function withUnknownDefaults(seed: number, resource: string, data: unknown): unknown {
  if (Array.isArray(data)) return data.map((item) => withUnknownDefaults(seed, resource, item))
  const rewrite = rewriters[resource]
  return rewrite !== undefined && isJsonObject(data) ? rewriteTexts(seed, rewrite(seed, data)) : data
}

const rewriters: Readonly<Record<string, (seed: number, view: JsonObject) => JsonObject>> = {
  dashboards: rewriteDashboard,
  alerts: rewriteAlert,
  'saved-searches': (seed, view) => ({ ...view, ...reorder(seed, view, 'tags') }),
}

function rewriteDashboard(seed: number, view: JsonObject): JsonObject {
  const tiles = itemsOf(view, 'tiles').map((tile) => ({
    ...tile,
    ...(isJsonObject(tile.config) && { config: rewriteConfig(seed, tile.config) }),
  }))
  const filters = itemsOf(view, 'filters').map((filter) => fill(seed, 'filters', filter, filterDefaults))
  const containers = itemsOf(view, 'containers').map((container) => fill(seed, 'containers', container, containerDefaults))
  return {
    ...view,
    ...reorder(seed, { tiles }, 'tiles'),
    ...reorder(seed, { filters }, 'filters'),
    ...reorder(seed, view, 'tags'),
    ...(view.containers !== undefined && { containers }),
  }
}

function rewriteConfig(seed: number, config: JsonObject): JsonObject {
  const { displayType, configType } = config
  const isSql = configType === 'sql'
  const place = `${isSql ? 'sql ' : ''}${displayType}`
  const choices = (isSql ? sqlConfigDefaults : configDefaults)[String(displayType)] ?? {}
  const items = displayType === 'heatmap' ? heatmapItemDefaults : itemDefaults
  return {
    ...fill(seed, place, config, choices),
    ...(Array.isArray(config.select) && { select: itemsOf(config, 'select').map((item) => fill(seed, `${place} select`, item, items)) }),
  }
}

function rewriteAlert(seed: number, view: JsonObject): JsonObject {
  // A field that is not set is absent or null, depending on the field.
  const filled = {
    ...view,
    ...fill(seed, 'alerts', Object.fromEntries(Object.entries(view).filter(([, value]) => value !== null)), alertDefaults),
  }
  if (view.channels === undefined) return filled
  const { channels } = reorder(seed, view, 'channels')
  return { ...filled, channels, channel: (channels as readonly unknown[])[0] }
}

/** About half of the fields get a default. It depends on the place only, as a server's defaults do. */
function fill(seed: number, place: string, view: JsonObject, choices: Choices): JsonObject {
  const missing = Object.entries(choices).flatMap(([field, values]) => {
    const hash = hashOf(`${seed} ${place} ${field}`)
    return view[field] === undefined && hash % 2 === 0 ? [[field, values[(hash >>> 1) % values.length]]] : []
  })
  return { ...view, ...Object.fromEntries(missing) }
}

const itemsOf = (view: JsonObject, field: string): readonly JsonObject[] => {
  const items = view[field]
  return Array.isArray(items) ? items.filter(isJsonObject) : []
}

function reorder(seed: number, view: JsonObject, field: string): JsonObject {
  const items = view[field]
  if (!Array.isArray(items)) return {}
  const keyOf = (item: unknown): number => hashOf(`${seed} ${isJsonObject(item) && item.id !== undefined ? item.id : JSON.stringify(item)}`)
  return { [field]: items.toSorted((a, b) => keyOf(a) - keyOf(b)) }
}

const trimmedFields = ['name', 'title', 'alias', 'message', 'note', 'markdown', 'where', 'groupBy', 'orderBy', 'savedQuery']
const timeFields = ['createdAt', 'updatedAt', 'scheduleStartAt']

/** Trims texts, and writes times with or without milliseconds. */
function rewriteTexts(seed: number, value: JsonObject): JsonObject {
  const rewrite = (item: unknown, name: string): unknown => {
    if (Array.isArray(item)) return item.map((one) => rewrite(one, ''))
    if (isJsonObject(item)) return rewriteTexts(seed, item)
    if (typeof item !== 'string') return item
    if (timeFields.includes(name)) return seed % 2 === 0 ? item : item.replace(/\.000Z$/, 'Z')
    return trimmedFields.includes(name) && item.trim() !== '' ? item.trim() : item
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewrite(item, name)]))
}
