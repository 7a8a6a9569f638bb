// Owns changing an alert that exists: what was declared replaces, what nobody mentioned stays, nothing is sent for nothing.
import type { AlertFields } from '../api/alert-body.ts'
import { type Alert, toAlertBody } from '../api/alerts.ts'
import type { WriteApi } from '../api/client.ts'
import type { Service } from '../api/service.ts'
import { isSame } from '../kernel/same.ts'

export async function changeAlert(
  api: WriteApi,
  service: Service,
  current: Alert,
  declared: AlertFields,
): Promise<{ readonly alert: Alert; readonly changed: boolean }> {
  const before = toAlertBody(current)
  const after = { ...before, ...declared, ...channelsOf(current, declared) }
  if (isSame(before, after)) return { alert: current, changed: false }
  return { alert: await api.alerts.update(service, current, after), changed: true }
}

// The server adds fields to a channel, and newer ones answer it twice and refuse an update in which the two differ.
function channelsOf({ channel: before, channels }: Alert, { channel: declared, channels: declaredList }: AlertFields) {
  if (declared === undefined || declaredList !== undefined) return {}
  const channel = before?.type === declared.type ? { ...before, ...declared } : declared
  return { channel, ...(Array.isArray(channels) && { channels: [channel] }) }
}
