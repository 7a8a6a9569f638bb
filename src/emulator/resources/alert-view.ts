// Owns which fields of an alert each dialect answers.
import type { Dialect } from '../options.ts'
import type { Alert, JsonObject } from '../store.ts'

export function toAlertView(alert: Alert, dialect: Dialect): JsonObject {
  const { channels, ...fields } = alert
  const channel = channels[0] ?? null
  if (dialect === 'clickhouse-cloud') return { ...fields, channel, channels }
  const { id, teamId, state, dashboardId, tileId, threshold, interval, source, thresholdType, name, message } = fields
  return { id, teamId, state, dashboardId, tileId, threshold, interval, source, thresholdType, channel, name, message }
}
