// Dashboards of the web app as declarations. The API has fewer fields than the web app, and what it has no field for is a loss. Facts are
// from hyperdxio/hyperdx 2.36: packages/common-utils/src/types.ts, and the conversions of the external API in packages/api.
import * as z from 'zod'
import { alertFromApi, declaredAlert, unknownFormOf } from '../../kinds/alert/alert.ts'
import { builtConfig, declaredDashboard, writtenConfig } from '../../kinds/dashboard/dashboard.ts'
import { isApiDashboard, isWebAppDashboard } from '../../kinds/dashboard/dashboard-file.ts'
import { explainTypeWithoutAlerts, toDashboardBody, typeWithoutAlerts } from '../../kinds/dashboard/dashboard-wire.ts'
import { type Body, type Kind, listOf } from '../../kinds/kind.ts'
import { createNameIndex, type NameIndex } from '../../kinds/name-index.ts'
import { isEmpty, isMapping, mapItems, withoutUndefined } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'
import { elementOf, fieldOf, formOf, isInForm, ownValue, type Schema } from '../../platform/documents/schema.ts'
import { schemaDiagnostics } from '../../platform/documents/validate.ts'

export const dashboardOutcome = z.object({
  title: z.string(),
  location: z.string(),
  result: z.enum(['exact', 'changed', 'refused']),
  losses: z.array(z.object({ tile: z.string().optional(), loss: z.string() })).describe('Each loss in a sentence.'),
  reason: z.string().optional().describe('Why the dashboard is refused.'),
})

export type DashboardOutcome = z.output<typeof dashboardOutcome> & {
  readonly declared?: Body
  readonly alerts?: readonly Body[]
}

type Lose = (loss: string) => void

type Rename = (given: unknown) => unknown

interface Choices {
  readonly kind: Kind
  /** Pairs of a name and an id, of which the file has one and the declaration gets the other. */
  readonly connections: ReadonlyMap<string, string>
  /** Names of sources by their ids in the file. */
  readonly sources?: ReadonlyMap<string, string>
  /** Names of webhooks by id, or by another name. */
  readonly webhooks: ReadonlyMap<string, string>
}

const { shape } = declaredDashboard

const replaceIds = (value: unknown, names: ReadonlyMap<string, string>): unknown =>
  typeof value === 'string' ? (names.get(value) ?? value) : mapItems(value, (item) => replaceIds(item, names))

export function translateDashboard(document: Body, location: string, choices: Choices): DashboardOutcome {
  const { kind, connections, webhooks, sources = new Map() } = choices
  const isApi = !isWebAppDashboard(document) && isApiDashboard(document)
  const { name, tiles, ...fields } = isApi ? (replaceIds(toDashboardBody({ id: '', ...document }), sources) as Body) : document // A map stays one.
  const losses: { tile?: string; loss: string }[] = []
  const lose: Lose = (loss) => void losses.push({ loss })
  const title = typeof name === 'string' ? name : ''
  const common = { title: title || 'dashboard without name', location, losses }
  if (title === '' || title.length > 1024)
    return { ...common, result: 'refused', reason: 'its name is missing, or has more than 1024 characters' }
  const { tags, containers, filters, savedFilterValues, ...query } = carry(
    fields,
    declaredDashboard,
    isApi ? apiFields : dashboardFields,
    lose,
  )
  const accept = (field: keyof typeof itemFields, items: unknown): readonly Body[] =>
    listOf(items).flatMap((item) => {
      const element = elementOf(shape[field])
      const carried = isMapping(item) ? carry(item, element, isApi ? apiFields : itemFields[field], lose) : item
      return isAccepted(element, carried, `${field} ${describe(item)}`, lose) ? [carried] : []
    })
  const boxes = accept('containers', containers)
  const connectionOf: Rename = (given) =>
    connections.get(String(given)) ?? [...connections].find(([, other]) => other === given)?.[0] ?? given
  const kept = listOf(tiles).flatMap((tile, i): readonly KeptTile[] => {
    const label = (isApi ? String(tile.name ?? '') : nameOf(tile)) || `Tile ${i + 1}`
    const own: string[] = []
    const loseOf: Lose = (loss) => void own.push(loss)
    const body = isApi ? toApiTile(tile, connectionOf, loseOf) : toTile(tile, boxes, connectionOf, loseOf)
    const isKept = body !== undefined && isAccepted(elementOf(shape.tiles), { ...body, name: label }, 'the tile', loseOf)
    losses.push(...(isKept ? own : own.slice(-1)).map((loss) => ({ tile: label, loss })))
    return isKept ? [{ body, label, alert: ownValue(ownValue(tile, 'config'), 'alert') }] : []
  })
  if (kept.length === 0 && !isEmpty(tiles)) return { ...common, result: 'refused', reason: 'the API has none of its tiles' }
  const lists = {
    ...{ tags: accept('tags', tags), tiles: kept.map(({ body }) => body), filters: accept('filters', filters) },
    ...{ savedFilterValues: accept('savedFilterValues', savedFilterValues), containers: boxes },
  }
  // Spelled as by `pull`.
  const nothing = { spelled: undefined, declared: undefined, sources: [], keyOf: () => undefined, tilesOf: () => [] }
  const declared = kind.toFile({ name: title, ...lists, ...query }, { ...nothing, key: '', nameIndex: namesAsIds })
  const names = listOf(declared.tiles).map((tile) => tile.name)
  const alerts = kept.flatMap(({ body, label, alert }, i): readonly Body[] => {
    const unnamed =
      isEmpty(names[i]) || names.indexOf(names[i]) !== names.lastIndexOf(names[i]) ? 'its tile has no name of its own' : undefined
    const type = typeWithoutAlerts(body)
    const reason = unnamed ?? (type && explainTypeWithoutAlerts(type))
    const found = isMapping(alert) ? toAlert(alert, reason, webhooks, (loss) => void losses.push({ tile: label, loss })) : undefined
    return found === undefined ? [] : [{ ...found, tile: names[i] }]
  })
  return { ...common, result: losses.length === 0 ? 'exact' : 'changed', declared, alerts }
}

interface KeptTile {
  readonly body: Body
  readonly label: string
  readonly alert: unknown
}

/** The alert that the web app and the provisioner keep in the chart of a tile; undefined where files cannot declare it. */
function toAlert(alert: Body, whyNot: string | undefined, webhooks: Choices['webhooks'], lose: Lose): Body | undefined {
  const form = unknownFormOf({ id: '', ...alert })
  const reason = whyNot ?? (form && `it has ${form}`)
  if (reason !== undefined) {
    lose(`its alert is left out: ${reason}`)
    return undefined
  }
  const toChannel = (channel: unknown): unknown => {
    const { webhookName, webhookId = webhookName, ...others } = isMapping(channel) ? channel : {}
    const webhook = webhooks.get(String(webhookId)) ?? webhookName
    return withoutUndefined({ ...others, ...(webhook === undefined ? { webhookId } : { webhook }) })
  }
  const fields: Conversions = {
    channel: (value) => ({ channel: toChannel(value) }),
    channels: (value) => ({ channels: listOf(value).map(toChannel) }),
  }
  const carried = carry(alertFromApi({ ...alert, source: 'tile' }) ?? alert, declaredAlert, fields, lose)
  return isAccepted(declaredAlert, carried, 'its alert', lose) ? carried : undefined
}

const nameOf = (tile: Body) => String(ownValue(ownValue(tile, 'config'), 'name') ?? '')

const describe = (value: unknown) => quote(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

function isAccepted(schema: Schema | undefined, value: unknown, what: string, lose: Lose) {
  const error = schema && z.safeParse(schema, value).error
  if (schema === undefined || error === undefined) return true
  const place = { file: '' }
  const document = { value, locationOf: () => place, locationOfKey: () => place }
  // Every schema here was made with zod's classic API.
  const [first] = schemaDiagnostics(error as z.ZodError, document, schema as z.ZodType)
  lose(`${what} is left out: ${first?.message}`)
  return false
}

/** The exports of the web app have names of sources where the service has ids. */
const namesAsIds: NameIndex = {
  ...createNameIndex({}),
  byName: (_, name) => ({ id: name }),
  nameOf: (id) => (typeof id === 'string' && !isId(id) ? id : undefined),
}

const isId = (text: unknown) => /^[0-9a-f]{24}$/.test(String(text))

/** The fields of the API for a field of the web app: none where every reader assumes the value, and one that no schema has for a loss. */
type Convert = (value: unknown, web: Body, lose: Lose) => Body

type Conversions = Readonly<Record<string, Convert>>

/** The fields under the API's names. What the schema does not have is a loss. `fields` are those that differ between the two. */
function carry(web: Body, schema: Schema | undefined, fields: Conversions, lose: Lose): Body {
  const form = schema instanceof z.ZodObject ? schema : formOf(schema, web)
  if (form === undefined) return web
  const carried = Object.entries(web).flatMap(([field, value]) => {
    if (isEmpty(value) || assumedValues[field] === value) return []
    const convert = Object.hasOwn(fields, field) ? fields[field] : undefined
    const converted = Object.entries(convert?.(value, web, lose) ?? { [field]: value })
    if (converted.every(([name]) => isInForm(form, name))) return converted
    if (field.endsWith('Language') && isEmpty(ownValue(web, field.replace(/Language$/, '')))) return []
    lose(`${field} ${describe(value)} is left out${ownValue(effects, field) ?? ': the API has no field for it'}`)
    return []
  })
  return Object.fromEntries(carried)
}

/** Values that mean the same as none. test/effects/stored.ts names the readers. */
const assumedValues: Readonly<Record<string, unknown>> = {
  ...{ granularity: 'auto', alignDateRangeToGranularity: true, compareToPreviousPeriod: false, fitYAxisToData: false },
  ...{ groupByColumnsOnLeft: false, alternateRowBackground: false, isDelta: false },
  ...{ havingLanguage: 'sql', seriesReturnType: 'column', ratioMode: 'per_group' },
}

const effects: Readonly<Record<string, string>> = {
  where: ', so that rows without it count, too',
  limit: ', so that the tile can have more rows',
  granularity: ', which only the editor of the web app reads',
  alternateRowBackground: ', which tints every other row',
  ratioMode: ', so that each group has a ratio of its own',
  havingLanguage: ', so that having is read as SQL',
  seriesReturnType: ', which needs two series',
  valueExpression: ', which a count does not read',
  variableName: ', which has no effect without isVariableEnabled',
  appliesToSourceIds: ', which has no effect without isBroadcastEnabled',
  containerId: ', because there is no such container',
  tabId: ', because there is no such tab',
}

const drop: Convert = () => ({})

const lost = { '': undefined }

/** The API has texts where the web app also has lists. */
const textOnly =
  (name: string): Convert =>
  (value) =>
    typeof value === 'string' ? { [name]: value } : lost

/** Lucene and SQL read the same text differently, so a declaration states the language. */
const condition =
  (field: string, standard: 'sql' | 'lucene', name = field): Convert =>
  (value, web, lose) => {
    const language = web[`${field}Language`]
    if (isEmpty(language)) lose(`${field} ${describe(value)} has no language, and is read as ${standard === 'sql' ? 'SQL' : 'Lucene'}`)
    return { [name]: value, [`${name}Language`]: language || standard }
  }

/** Some are set by the server, and an import in the web app leaves the description out. */
const dashboardFields: Conversions = {
  ...{ version: drop, description: drop, id: drop, _id: drop, __v: drop, team: drop, $schema: drop },
  ...{ createdAt: drop, updatedAt: drop, createdBy: drop, updatedBy: drop, provisioned: drop },
  ...{ savedQuery: condition('savedQuery', 'lucene'), savedQueryLanguage: drop },
}

const itemFields = {
  ...{ tags: {}, containers: {}, savedFilterValues: {} },
  filters: {
    ...{ id: drop, where: condition('where', 'sql'), whereLanguage: drop },
    source: (value) => ({ sourceId: value }),
    variableName: (value, { isVariableEnabled }) => (isVariableEnabled === true ? { variableName: value } : lost),
    appliesToSourceIds: (value, { isBroadcastEnabled }) => (isBroadcastEnabled === false ? lost : { appliesToSourceIds: value }),
  },
} satisfies Readonly<Record<string, Conversions>>

/** The form of a chart, and the schema of its series. */
function chartForm(chart: Body) {
  const form = formOf(schemaOf(chart), chart)
  return { form, element: form && elementOf(fieldOf(form, 'select')) }
}

const isRanked = ({ displayType }: Body) => displayType === 'pie' || displayType === 'bar'

const schemaOf = ({ configType }: Body): Schema => (configType === 'sql' ? writtenConfig : builtConfig)

const chartFields: Conversions = {
  ...{ name: drop, alert: drop },
  configType: (value) => (value === 'sql' ? { configType: value } : {}),
  source: (value, { displayType }) => (displayType === 'markdown' ? {} : { sourceId: value }),
  select: toSelect,
  whereLanguage: drop,
  groupBy: textOnly('groupBy'),
  orderBy: textOnly('orderBy'),
  limit: () => lost,
  seriesLimit: (value, web) => ({ [isRanked(web) ? 'limit' : 'seriesLimit']: value }),
  seriesReturnType: (value, { select }) => (value === 'ratio' && listOf(select).length === 2 ? { asRatio: true } : lost),
  fillNulls: (value) => (value === false ? { fillNulls: value } : {}),
  showOperandSeries: (value, { formulas, displayType }) =>
    isEmpty(formulas) || displayType === 'number' ? {} : { showOperandSeries: value },
  color: (value) => ({ color: toColor(value) }),
  onClick: toOnClick,
}

const colors = ['green', 'blue', 'orange', 'red', 'cyan', 'pink', 'purple', 'light-blue', 'brown', 'gray']

/** Older versions of the web app had numbers: `chart-1` is green. */
function toColor(color: unknown): unknown {
  const number = /^chart-([1-9]|10)$/.exec(String(color))?.[1]
  return number === undefined ? color : `chart-${colors[Number(number) - 1]}`
}

/** The API opens other dashboards by id or by name, and exports have names. */
function toOnClick(onClick: unknown, _: Body, lose: Lose): Body {
  const id = ownValue(ownValue(onClick, 'target'), 'id')
  if (!isMapping(onClick) || onClick.type !== 'dashboard' || id === undefined || isId(id)) return { onClick }
  lose(`a click finds the dashboard ${describe(id)} by its name, and not by its id`)
  return { onClick: { ...onClick, target: { mode: 'template', template: id } } }
}

const seriesFields: Conversions = {
  aggCondition: condition('aggCondition', 'lucene', 'where'),
  aggConditionLanguage: drop,
  isDelta: () => ({ periodAggFn: 'delta' }),
  level: (value, { aggFn }) => (aggFn === 'quantile' ? { level: value } : {}),
  valueExpression: (value, { aggFn }) => (aggFn === 'count' ? lost : { valueExpression: value }),
}

const heatmapFields: Conversions = { aggFn: (value) => (value === 'count' ? {} : lost), aggConditionLanguage: drop }

function toSelect(select: unknown, web: Body, lose: Lose): Body {
  const { element } = chartForm(web)
  if (!Array.isArray(select) || element === undefined) return { select }
  const isHeatmap = web.displayType === 'heatmap'
  const all = select.map((series: unknown, i) => {
    if (!isMapping(series)) return series
    const carried = carry(series, element, isHeatmap ? heatmapFields : seriesFields, (loss) => lose(`series ${i + 1}: ${loss}`))
    // Templates leave out the value of a metric, which no query reads and the API requires.
    return isEmpty(series.metricName) || series.aggFn === 'count' ? carried : { valueExpression: 'Value', ...carried }
  })
  const isOne = isHeatmap || isRanked(web) || (web.displayType === 'number' && isEmpty(web.formulas))
  for (const one of isOne ? select.slice(1) : []) lose(`the series ${describe(one)} is left out, because a tile of its type has one`)
  return { select: isOne ? all.slice(0, 1) : all }
}

const apiFields: Conversions = { id: drop }

function toApiTile({ config, ...others }: Body, connectionOf: Rename, lose: Lose): Body {
  const chart = isMapping(config) ? config : {}
  const { form, element } = chartForm(chart)
  const toItems = (items: unknown): unknown =>
    element === undefined ? items : listOf(items).map((item) => carry(item, element, {}, (loss) => lose(`a series: ${loss}`)))
  const fields = {
    select: (value: unknown) => ({ select: toItems(value) }),
    connectionId: (value: unknown) => ({ connectionId: connectionOf(value) }),
  }
  const empty = form !== undefined && isInForm(form, 'select') && element === undefined ? { select: '' } : {}
  return { ...carry(others, elementOf(shape.tiles), apiFields, lose), config: { ...empty, ...carry(chart, form, fields, lose) } }
}

/** Queries of HyperDX have the conditions of all series in their WHERE (renderWhere), so they read the same rows, except those of metrics. */
function moveCondition(web: Body, form: z.ZodObject, lose: Lose): Body {
  const { where, whereLanguage, ...others } = web
  const series = isInForm(form, 'where') || isEmpty(where) || isEmpty(whereLanguage) ? [] : listOf(web.select)
  if (series.length === 0 || series.some(({ aggCondition, metricName }) => !isEmpty(aggCondition) || !isEmpty(metricName))) return web
  lose(`where ${describe(where)} becomes the condition of each series`)
  return { ...others, select: series.map((one) => ({ ...one, aggCondition: where, aggConditionLanguage: whereLanguage })) }
}

/** The tile in the API's fields; undefined where the API has no such tile. */
function toTile(tile: Body, containers: readonly Body[], connectionOf: Rename, lose: Lose): Body | undefined {
  const { id: _, x, y, w, h, config, ...others } = isMapping(tile) ? tile : {}
  const web = isMapping(config) ? config : {}
  const form = web.configType === 'promql' ? undefined : formOf(schemaOf(web), web)
  if (form === undefined) {
    lose(`the tile is left out: the API has no tiles of type ${describe([web.configType, web.displayType].filter(Boolean).join(' '))}`)
    return undefined
  }
  const container = containers.find(({ id }) => id === others.containerId)
  const hasTab = listOf(container?.tabs).some(({ id }) => id === others.tabId)
  const exists = {
    containerId: (value: unknown) => (container ? { containerId: value } : lost),
    tabId: (value: unknown) => (hasTab ? { tabId: value } : lost),
  }
  const fields = {
    ...chartFields,
    ...(isInForm(form, 'where') && { where: condition('where', 'lucene') }),
    connection: (value: unknown) => ({ connectionId: connectionOf(value) }),
  }
  // A search without columns shows those of its source.
  const chart = { ...(web.displayType === 'search' && { select: '' }), ...carry(moveCondition(web, form, lose), form, fields, lose) }
  return { name: nameOf(tile), x, y, w, h, ...carry(others, elementOf(shape.tiles), exists, lose), config: chart }
}
