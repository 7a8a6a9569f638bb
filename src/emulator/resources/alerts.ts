// Owns the five operations on alerts, and what a body makes of an alert that exists.
import { demand, toRefusal } from '../problems.ts'
import { demandById, objectIdOf, removeById, type ServiceCall } from '../route.ts'
import type { Alert } from '../store.ts'
import { type AlertBody, alertBodyOf } from './alert-body.ts'
import { channelsOf, checkAlert } from './alert-rules.ts'
import { toAlertView } from './alert-view.ts'

export const listAlerts = ({ service, world }: ServiceCall): unknown =>
  service.alerts.map((alert) => toAlertView(alert, world.settings.dialect))

export const getAlert = (call: ServiceCall): unknown => view(call, existing(call))

export function createAlert(call: ServiceCall): unknown {
  const { service, world } = call
  const body = demandAlert(call)
  const at = new Date(world.clock.now()).toISOString()
  const alert: Alert = {
    id: world.ids.objectId(),
    teamId: service.teamId,
    ...writtenFields(body),
    thresholdMax: body.thresholdMax ?? null,
    scheduleStartAt: body.scheduleStartAt ?? null,
    scheduleOffsetMinutes: body.scheduleOffsetMinutes ?? 0,
    state: 'OK',
    silenced: null,
    executionErrors: [],
    createdAt: at,
    updatedAt: at,
  }
  service.alerts.push(alert)
  return view(call, alert)
}

/**
 * Replaces, with exceptions. HyperDX server code: name, message, note and numConsecutiveWindows are cleared when omitted;
 * thresholdMax, scheduleStartAt and the schedule's offset are kept when omitted; the ids of the other source are cleared.
 */
export function updateAlert(call: ServiceCall): unknown {
  const alert = existing(call)
  const body = demandAlert(call)
  const { scheduleStartAt, thresholdMax } = body
  Object.assign(alert, writtenFields(body), {
    thresholdMax: thresholdMax === undefined ? alert.thresholdMax : thresholdMax,
    scheduleStartAt: scheduleStartAt === undefined ? alert.scheduleStartAt : scheduleStartAt,
    // A start that is set or cleared leaves no older offset behind.
    scheduleOffsetMinutes: body.scheduleOffsetMinutes ?? (scheduleStartAt === undefined ? alert.scheduleOffsetMinutes : 0),
    updatedAt: new Date(call.world.clock.now()).toISOString(),
  } satisfies Partial<Alert>)
  return view(call, alert)
}

export function deleteAlert(call: ServiceCall): undefined {
  removeById(call.service.alerts, existing(call).id)
}

const existing = (call: ServiceCall): Alert => demandById(call.service.alerts, objectIdOf(call), 'alert')

const view = (call: ServiceCall, alert: Alert): unknown => toAlertView(alert, call.world.settings.dialect)

function demandAlert(call: ServiceCall): AlertBody {
  const { service, world } = call
  const body = demand(alertBodyOf(world.settings.dialect), call.body())
  const problems = checkAlert(body, service, world.clock.now())
  if (problems.length > 0) throw toRefusal(problems)
  return body
}

/** The fields that a create and an update set alike. */
function writtenFields(body: AlertBody) {
  const onTile = body.source === 'tile'
  return {
    source: body.source,
    dashboardId: onTile ? (body.dashboardId ?? null) : null,
    tileId: onTile ? (body.tileId ?? null) : null,
    savedSearchId: onTile ? null : (body.savedSearchId ?? null),
    groupBy: onTile ? null : (body.groupBy ?? null),
    threshold: body.threshold,
    thresholdType: body.thresholdType,
    interval: body.interval,
    channels: channelsOf(body),
    name: body.name ?? null,
    message: body.message ?? null,
    note: body.note ?? null,
    numConsecutiveWindows: body.numConsecutiveWindows ?? null,
  } satisfies Partial<Alert>
}
