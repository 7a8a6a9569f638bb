import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod/v3'
import { dayMs, minuteMs } from '../../platform/core/durations.ts'
import { type Alert, isJsonObject, type JsonObject, type Service, type Tile } from '../store.ts'
import { ChartError, type ChartRequest, checkConditions, computeSeries } from './charts.ts'
import { addIssue, badRequest, findById, isObjectId, notFound, requireById, routesOf, stampOf, toObjectId } from './request.ts'
import { isUsableOverTime } from './sql-template.ts'

const minutesOf = { '1m': 1, '5m': 5, '15m': 15, '30m': 30, '1h': 60, '6h': 360, '12h': 720, '1d': 1440 } as const

type AlertInterval = keyof typeof minutesOf

const channel = z.object({ type: z.literal('webhook'), webhookId: z.string().nonempty("Webhook ID can't be empty") })

const channels = z
  .array(channel)
  .min(1, 'At least one notification channel is required')
  .max(10, 'An alert supports at most 10 notification channels')

function createStartSchema(nowMs: number) {
  const msOf = (value: string | null | undefined): number => (value == null ? nowMs : Date.parse(value))
  return z
    .union([z.string().datetime(), z.null()])
    .optional()
    .refine((value) => msOf(value) <= nowMs + 365 * dayMs, 'scheduleStartAt must be within 1 year from now')
    .refine((value) => msOf(value) >= nowMs - 3650 * dayMs, 'scheduleStartAt must be within 10 years in the past')
}

const onSavedSearch = z.object({ source: z.literal('saved_search'), groupBy: z.string().nullish(), savedSearchId: z.string().min(1) })

const tileTarget = z.object({ source: z.literal('tile'), tileId: z.string().min(1), dashboardId: z.string().min(1) })

const onEveryAlert = {
  channel: channel.optional(),
  channels: channels.optional(),
  interval: z.enum(Object.keys(minutesOf) as [AlertInterval, ...AlertInterval[]]), // zod 3 asks for a tuple.
  scheduleOffsetMinutes: z.number().int().min(0).max(1439).optional(),
  scheduleStartAt: z.unknown(),
  threshold: z.number(),
  thresholdType: z.nativeEnum({
    above: 'above',
    below: 'below',
    above_exclusive: 'above_exclusive',
    below_or_equal: 'below_or_equal',
    equal: 'equal',
    not_equal: 'not_equal',
    between: 'between',
    not_between: 'not_between',
  } as const),
  thresholdMax: z.number().optional(),
  // The default is never used, because both forms below require a source.
  source: z.nativeEnum({ saved_search: 'saved_search', tile: 'tile' } as const).default('saved_search'),
  name: z.string().min(1).max(512).nullish(),
  message: z.string().min(1).max(4096).nullish(),
  note: z.string().min(1).max(4096).nullish(),
  numConsecutiveWindows: z.number().int().min(1).nullish(),
}

/** The limits of `scheduleStartAt` depend on the server's clock. */
const onAnything = (nowMs: number) => z.object({ ...onEveryAlert, scheduleStartAt: createStartSchema(nowMs) })

/** The fields that a body can have. */
export const alertFields: z.ZodRawShape = { ...onEveryAlert, ...onSavedSearch.shape, ...tileTarget.shape }

type AnyAlert = z.output<ReturnType<typeof onAnything>>

const createAlertSchema = (nowMs: number) =>
  onAnything(nowMs)
    .and(onSavedSearch.or(tileTarget))
    .superRefine((body, context) => {
      const problem = findChannelProblem(body)
      if (problem !== undefined) addIssue(context, problem, ['channels'])
    })
    .superRefine(checkSchedule)
    .superRefine(checkRange)

export type AlertBody = z.output<ReturnType<typeof createAlertSchema>>

function findChannelProblem({ channel: single, channels: list }: AnyAlert) {
  if (single === undefined && list === undefined) return 'Provide either "channel" or "channels"'
  if (single !== undefined && list !== undefined && !isDeepStrictEqual(single, list[0]))
    return 'When both "channel" and "channels" are provided, "channel" must match the first entry of "channels"'
  const isRepeated = list?.some((one, index) => list.findIndex((other) => isDeepStrictEqual(one, other)) < index)
  return isRepeated ? 'Duplicate notification channels are not allowed' : undefined
}

function checkSchedule({ interval, scheduleOffsetMinutes = 0, scheduleStartAt }: AnyAlert, context: z.RefinementCtx) {
  const minutes = minutesOf[interval]
  const path = ['scheduleOffsetMinutes']
  if (scheduleStartAt != null && scheduleOffsetMinutes > 0)
    addIssue(context, 'scheduleOffsetMinutes must be 0 when scheduleStartAt is provided', path)
  if (scheduleOffsetMinutes >= minutes)
    addIssue(context, `scheduleOffsetMinutes must be less than ${minutes} minute${minutes === 1 ? '' : 's'}`, path)
}

function checkRange({ thresholdType: type, threshold, thresholdMax }: AnyAlert, context: z.RefinementCtx) {
  if (type !== 'between' && type !== 'not_between') return
  if (thresholdMax === undefined) addIssue(context, 'thresholdMax is required for between/not_between threshold types', ['thresholdMax'])
  else if (thresholdMax < threshold) addIssue(context, 'thresholdMax must be greater than or equal to threshold', ['thresholdMax'])
}

/**
 * An update replaces the alert, but keeps thresholdMax, scheduleStartAt and scheduleOffsetMinutes when the body leaves them out. References
 * are checked before the alert itself is looked up.
 */
export const alerts = routesOf<Alert, AlertBody>({
  name: 'alerts',
  itemsOf: (service) => service.alerts,
  toView: toAlertView,
  missing: () => notFound('Alert not found'),
  schema: ({ nowMs }) => createAlertSchema(nowMs),
  check: demandTargets,
  write: (request, body, existing) =>
    Object.assign(existing ?? { teamId: request.service.teamId, state: 'OK' as const }, toFields(body), stampOf(request, existing)),
})

function demandTargets(service: Service, body: AlertBody) {
  if (body.source === 'tile') {
    if (!isObjectId(body.dashboardId)) throw badRequest('Invalid dashboard ID')
    const dashboard = requireById(service.dashboards, body.dashboardId, () => badRequest('Dashboard not found'))
    const tile = dashboard.tiles.find(({ id }) => id === body.tileId)
    if (tile === undefined) throw badRequest('Tile not found')
    demandSqlTile(tile)
  } else {
    if (!isObjectId(body.savedSearchId)) throw badRequest('Invalid saved search ID')
    requireById(service.savedSearches, body.savedSearchId, () => badRequest('Saved search not found'))
  }
  const webhookIds = new Set(toChannels(body).map(({ webhookId }) => webhookId))
  for (const id of webhookIds) if (!isObjectId(id)) throw badRequest('Invalid webhook ID')
  const found = new Set([...webhookIds].flatMap((id) => findById(service.webhooks, id)?.id ?? []))
  if (found.size !== webhookIds.size) throw badRequest('Webhook not found')
}

/** Checks SQL tiles only. An alert on a table or a text is accepted, and the next update of the dashboard deletes it. */
function demandSqlTile({ config: { configType, displayType, sqlTemplate } }: Tile) {
  if (configType !== 'sql') return
  const isOverTime = displayType === 'line' || displayType === 'stacked_bar'
  if (!isOverTime && displayType !== 'number')
    throw badRequest('Alerts on Raw SQL tiles are only supported for Line, Stacked Bar, or Number display types')
  if (isOverTime && !isUsableOverTime(String(sqlTemplate)))
    throw badRequest('Raw SQL alert query is invalid: SQL used for alerts must include an interval parameter or macro.')
}

const toChannels = ({ channel, channels }: AlertBody) => channels ?? (channel === undefined ? [] : [channel])

/** Fields that are stored and shown as a body has them, and null without a value. */
const plainPart = ({ name, message, note, threshold, interval, numConsecutiveWindows, thresholdType }: AlertBody | Alert) => ({
  ...{ name: name ?? null, message: message ?? null, note: note ?? null, threshold, interval, thresholdType },
  numConsecutiveWindows: numConsecutiveWindows ?? null,
})

/** The fields that a body sets. An update keeps the other fields. */
export const toFields = (body: AlertBody) =>
  ({
    source: body.source,
    ...{ dashboardId: null, tileId: null, savedSearchId: null, groupBy: null },
    ...(body.source === 'tile'
      ? { dashboardId: toObjectId(body.dashboardId), tileId: body.tileId }
      : { savedSearchId: toObjectId(body.savedSearchId), groupBy: body.groupBy ?? null }),
    channels: toChannels(body).map((channel) => ({ ...channel })),
    ...plainPart(body),
    ...(body.thresholdMax !== undefined && { thresholdMax: body.thresholdMax }),
    ...toSchedule(body),
  }) satisfies Partial<Alert>

/** Setting or clearing the start also clears an older offset. */
function toSchedule({ scheduleStartAt, scheduleOffsetMinutes }: AlertBody) {
  if (scheduleStartAt === undefined) return scheduleOffsetMinutes === undefined ? {} : { scheduleOffsetMinutes }
  if (scheduleStartAt === null) return { scheduleStartAt, scheduleOffsetMinutes: scheduleOffsetMinutes ?? 0 }
  return { scheduleStartAt: new Date(scheduleStartAt).toISOString(), scheduleOffsetMinutes: 0 }
}

/** A field that is not set is null or absent, depending on the field. */
function toAlertView(alert: Alert): JsonObject {
  const { id, teamId, thresholdMax, scheduleStartAt, source, state, channels, executionErrors, createdAt, updatedAt } = alert
  const { dashboardId, tileId, savedSearchId, groupBy, scheduleOffsetMinutes, silenced } = alert
  const [channel] = channels
  return {
    id,
    ...plainPart(alert),
    thresholdMax,
    scheduleStartAt,
    source,
    state,
    ...(channel !== undefined && { channel, channels }),
    teamId,
    ...Object.fromEntries(
      Object.entries({ dashboardId, tileId, savedSearchId, groupBy, scheduleOffsetMinutes, silenced }).filter(([, value]) => value != null),
    ),
    executionErrors,
    createdAt,
    updatedAt,
    ...alert.newer,
  }
}

export function deleteAlertsWhere(service: Service, isDeleted: (alert: Alert) => boolean): void {
  service.alerts = service.alerts.filter((alert) => !isDeleted(alert))
}

export const deleteAlertsOfTiles = (service: Service, dashboardId: string, tileIds: readonly (string | null)[]): void =>
  deleteAlertsWhere(service, (alert) => alert.source === 'tile' && alert.dashboardId === dashboardId && tileIds.includes(alert.tileId))

// The part of the product's alert task that reads stored tiles and saved searches. A condition is evaluated twice: inside of each aggregate,
// where an absent language means Lucene, and, if every series has one, in WHERE, where an absent language means SQL.

/** Evaluates each started alert for its last whole window before this time, and sets its time. An error of the query leaves the state as it is. */
export function runAlertTask(service: Service, nowMs: number): void {
  for (const alert of service.alerts) {
    if (Date.parse(alert.scheduleStartAt ?? '') > nowMs) continue
    alert.updatedAt = new Date(nowMs).toISOString()
    try {
      const values = valuesOfAlert(alert, service, nowMs)
      alert.state = values.some((value) => isBreached(alert, value)) ? 'ALERT' : 'OK'
      alert.executionErrors = []
    } catch (cause) {
      if (!(cause instanceof ChartError)) throw cause
      alert.executionErrors = [{ timestamp: alert.updatedAt, type: 'QUERY_ERROR', message: cause.message }]
    }
  }
}

function valuesOfAlert(alert: Alert, service: Service, nowMs: number) {
  const series = alert.source === 'tile' ? seriesOfTile(alert, service) : seriesOfSavedSearch(alert, service)
  const [first] = series
  if (first === undefined) return []
  const withLanguage = (usual: 'sql' | 'lucene'): TaskSeries[] =>
    series.map((one) => ({ ...one, whereLanguage: one.whereLanguage ?? usual }))
  const windowMs = minutesOf[alert.interval as AlertInterval] * minuteMs // A stored alert was validated.
  const endTime = nowMs - (nowMs % windowMs)
  const request: ChartRequest = {
    series: withLanguage('lucene'),
    startTime: endTime - windowMs,
    endTime: endTime - 1,
    granularity: alert.interval as ChartRequest['granularity'], // Each interval is a granularity.
  }
  if (series.every(({ where }) => where.trim() !== ''))
    checkConditions(withLanguage('sql'), findById(service.sources, first.sourceId)?.kind)
  const rows = computeSeries(request, service.sources, { oldestMs: 0, newestMs: nowMs })
  const values = rows.map((row) => Number(row[`series_${series.length - 1}.data`] ?? 0))
  return values.length === 0 ? [0] : values
}

type TaskSeries = ChartRequest['series'][number]

/** Empty for a tile that the task does not evaluate, or that this emulator cannot. */
function seriesOfTile({ dashboardId, tileId }: Alert, { dashboards }: Service): readonly TaskSeries[] {
  const config = findById(dashboards, dashboardId ?? '')?.tiles.find(({ id }) => id === tileId)?.config
  const select = config?.configType === undefined && Array.isArray(config?.select) ? config.select.filter(isJsonObject) : []
  return select.map((item) => ({
    sourceId: String(config?.sourceId),
    // The web app stores only these values.
    aggFn: item.aggFn as TaskSeries['aggFn'],
    where: String(item.where ?? ''),
    whereLanguage: (item.whereLanguage ?? undefined) as TaskSeries['whereLanguage'], // As for aggFn.
    groupBy: config?.groupBy ? [String(config.groupBy)] : [],
    ...(item.valueExpression ? { field: String(item.valueExpression) } : {}),
    ...(typeof item.level === 'number' && { level: item.level }),
    ...(typeof item.metricName === 'string' && {
      metricName: item.metricName,
      metricDataType: item.metricType as TaskSeries['metricDataType'], // As for aggFn.
    }),
  }))
}

function seriesOfSavedSearch({ savedSearchId, groupBy }: Alert, { savedSearches }: Service): readonly TaskSeries[] {
  const search = findById(savedSearches, savedSearchId ?? '')
  if (search === undefined) return []
  const { sourceId, where = '' } = search
  const whereLanguage = search.whereLanguage === 'lucene' ? 'lucene' : 'sql'
  return [{ sourceId, aggFn: 'count', where, whereLanguage, groupBy: groupBy ? [groupBy] : [] }]
}

function isBreached({ threshold, thresholdMax, thresholdType }: Alert, value: number) {
  const isInRange = value >= threshold && value <= (thresholdMax ?? threshold)
  const breaches: Readonly<Record<string, boolean>> = {
    above: value >= threshold,
    above_exclusive: value > threshold,
    below: value < threshold,
    below_or_equal: value <= threshold,
    equal: value === threshold,
    not_equal: value !== threshold,
    between: isInRange,
    not_between: !isInRange,
  }
  return breaches[thresholdType] === true
}
