import type { Alert, JsonObject, Service, Tile } from '../store.ts'
import { type AlertBody, createAlertSchema, type WebhookChannel } from './alert-schema.ts'
import { badRequest, notFound } from './errors.ts'
import { findById, isObjectId, removeById, toObjectId } from './object-id.ts'
import { answerPage } from './paging.ts'
import { deleted, nowOf, ok, type ProductRequest, type ProductResponse, validate } from './request.ts'
import { isUsableOverTime } from './sql-template.ts'

export const listAlerts = (request: ProductRequest): ProductResponse => answerPage(request, request.service.alerts, toAlertView)

export function getAlert(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  return ok(toAlertView(requireAlert(request)))
}

export function createAlert(request: ProductRequest): ProductResponse {
  const { service, ids } = request
  const body = validate(request, { body: createAlertSchema(request.nowMs) })
  checkReferences(service, body)
  const at = nowOf(request)
  const alert: Alert = { id: ids.objectId(), teamId: service.teamId, ...toFields(body), state: 'OK', createdAt: at, updatedAt: at }
  service.alerts.push(alert)
  return ok(toAlertView(alert))
}

/**
 * Replaces, with exceptions: thresholdMax, scheduleStartAt and scheduleOffsetMinutes are kept when they are left out. The references of the
 * alert are checked before the alert itself is looked up.
 */
export function updateAlert(request: ProductRequest): ProductResponse {
  const body = validate(request, { body: createAlertSchema(request.nowMs), hasId: true })
  checkReferences(request.service, body)
  const alert = requireAlert(request)
  Object.assign(alert, toFields(body), { updatedAt: nowOf(request) })
  return ok(toAlertView(alert))
}

export function deleteAlert(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  if (removeById(request.service.alerts, request.id) === undefined) throw alertNotFound()
  return deleted
}

const alertNotFound = () => notFound('Alert not found')

function requireAlert({ service, id }: ProductRequest): Alert {
  const alert = findById(service.alerts, id)
  if (alert === undefined) throw alertNotFound()
  return alert
}

function checkReferences(service: Service, body: AlertBody): void {
  if (body.source === 'tile') checkTile(requireTile(service, body))
  else {
    if (!isObjectId(body.savedSearchId)) throw badRequest('Invalid saved search ID')
    if (findById(service.savedSearches, body.savedSearchId) === undefined) throw badRequest('Saved search not found')
  }
  const webhookIds = new Set(channelsOf(body).map(({ webhookId }) => webhookId))
  for (const id of webhookIds) if (!isObjectId(id)) throw badRequest('Invalid webhook ID')
  const found = new Set([...webhookIds].flatMap((id) => findById(service.webhooks, id)?.id ?? []))
  if (found.size !== webhookIds.size) throw badRequest('Webhook not found')
}

function requireTile(service: Service, { dashboardId, tileId }: Extract<AlertBody, { readonly source: 'tile' }>): Tile {
  if (!isObjectId(dashboardId)) throw badRequest('Invalid dashboard ID')
  const dashboard = findById(service.dashboards, dashboardId)
  if (dashboard === undefined) throw badRequest('Dashboard not found')
  const tile = dashboard.tiles.find(({ id }) => id === tileId)
  if (tile === undefined) throw badRequest('Tile not found')
  return tile
}

/** Only SQL tiles are judged: an alert on a table or a text is accepted, and goes with the next update of its dashboard. */
function checkTile({ config: { configType, displayType, sqlTemplate } }: Tile): void {
  if (configType !== 'sql') return
  const isOverTime = displayType === 'line' || displayType === 'stacked_bar'
  if (!isOverTime && displayType !== 'number')
    throw badRequest('Alerts on Raw SQL tiles are only supported for Line, Stacked Bar, or Number display types')
  if (isOverTime && !isUsableOverTime(String(sqlTemplate)))
    throw badRequest('Raw SQL alert query is invalid: SQL used for alerts must include an interval parameter or macro.')
}

const channelsOf = ({ channel, channels }: AlertBody): readonly WebhookChannel[] => channels ?? (channel === undefined ? [] : [channel])

/** What a body makes of an alert. A field that is left out here stays as it is. */
const toFields = (body: AlertBody) =>
  ({
    ...toTarget(body),
    channels: channelsOf(body).map((channel) => ({ ...channel })),
    interval: body.interval,
    threshold: body.threshold,
    thresholdType: body.thresholdType,
    name: body.name ?? null,
    message: body.message ?? null,
    note: body.note ?? null,
    numConsecutiveWindows: body.numConsecutiveWindows ?? null,
    ...(body.thresholdMax !== undefined && { thresholdMax: body.thresholdMax }),
    ...toSchedule(body),
  }) satisfies Partial<Alert>

/** The ids of the other source are cleared. */
const toTarget = (body: AlertBody) =>
  body.source === 'tile'
    ? { source: body.source, dashboardId: toObjectId(body.dashboardId), tileId: body.tileId, savedSearchId: null, groupBy: null }
    : {
        source: body.source,
        dashboardId: null,
        tileId: null,
        savedSearchId: toObjectId(body.savedSearchId),
        groupBy: body.groupBy ?? null,
      }

/** A start that is set or cleared leaves no older offset behind. */
function toSchedule({ scheduleStartAt, scheduleOffsetMinutes }: AlertBody): Pick<Alert, 'scheduleStartAt' | 'scheduleOffsetMinutes'> {
  if (scheduleStartAt === undefined) return scheduleOffsetMinutes === undefined ? {} : { scheduleOffsetMinutes }
  if (scheduleStartAt === null) return { scheduleStartAt, scheduleOffsetMinutes: scheduleOffsetMinutes ?? 0 }
  return { scheduleStartAt: new Date(scheduleStartAt).toISOString(), scheduleOffsetMinutes: 0 }
}

/** Which fields are null and which are absent where nothing is set differs from field to field. */
export function toAlertView(alert: Alert): JsonObject {
  const { id, teamId, source, state, interval, threshold, thresholdType, thresholdMax, scheduleStartAt, channels } = alert
  const { name, message, note, numConsecutiveWindows, executionErrors, createdAt, updatedAt } = alert
  const { dashboardId, tileId, savedSearchId, groupBy, scheduleOffsetMinutes, silenced } = alert
  const [channel] = channels
  return {
    id,
    name,
    message,
    note: note ?? null,
    threshold,
    thresholdMax,
    interval,
    scheduleStartAt,
    numConsecutiveWindows: numConsecutiveWindows ?? null,
    thresholdType,
    source,
    state,
    ...(channel !== undefined && { channel, channels }),
    teamId,
    ...withoutNulls({ dashboardId, tileId, savedSearchId, groupBy, scheduleOffsetMinutes, silenced }),
    executionErrors,
    createdAt,
    updatedAt,
  }
}

const withoutNulls = (fields: JsonObject): JsonObject => Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))

export function deleteAlertsOfSavedSearch(service: Service, savedSearchId: string): void {
  service.alerts = service.alerts.filter((alert) => alert.savedSearchId !== savedSearchId)
}

export function deleteAlertsOfDashboard(service: Service, dashboardId: string): void {
  service.alerts = service.alerts.filter((alert) => alert.source !== 'tile' || alert.dashboardId !== dashboardId)
}

export function deleteAlertsOfTiles(service: Service, dashboardId: string, tileIds: readonly string[]): void {
  service.alerts = service.alerts.filter(
    ({ source, dashboardId: id, tileId }) => source !== 'tile' || id !== dashboardId || tileId === null || !tileIds.includes(tileId),
  )
}
