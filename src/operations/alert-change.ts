// Changing an alert that exists: what was declared replaces, what was not mentioned stays, nothing is sent for nothing.
import type { AlertFields } from '../api/alert-body.ts'
import { type Alert, toAlertBody } from '../api/alerts.ts'
import type { WriteApi } from '../api/client.ts'
import type { Profile } from '../api/profiles.ts'
import type { Service } from '../api/service.ts'
import { composeUpdate, sidesOf } from '../provision/compose.ts'
import { unexplained } from '../provision/convergence.ts'
import { toUtc } from '../provision/kinds/alert-kind.ts'
import type { Body } from '../provision/kinds/kind.ts'
import { createKinds } from '../provision/kinds/kinds.ts'
import { withMarkersOf } from '../provision/marker.ts'

export interface AlertWriter {
  readonly api: WriteApi
  readonly service: Service
  readonly profile: Profile
}

export async function changeAlert(
  { api, service, profile }: AlertWriter,
  current: Alert,
  declared: AlertFields,
): Promise<{ readonly alert: Alert; readonly changed: boolean }> {
  const kind = createKinds(profile).alerts
  const desired = merge(toAlertBody(current), declared)
  if (unexplained(kind, sidesOf(kind, desired, current)).length === 0) return { alert: current, changed: false }
  return { alert: await api.alerts.update(service, current, composeUpdate(kind, desired, current)), changed: true }
}

/** What a new alert sends: the server refuses null, and any time that is not in UTC. */
export const toAlertRequest = (declared: AlertFields): Body => withoutNulls(inUtc(declared))

const inUtc = ({ scheduleStartAt, ...fields }: AlertFields): AlertFields =>
  scheduleStartAt == null
    ? { ...fields, ...(scheduleStartAt === null && { scheduleStartAt }) }
    : { ...fields, scheduleStartAt: toUtc(scheduleStartAt) }

const withoutNulls = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined))

/** Null clears. A text keeps the markers by which plan and apply know the alert. */
function merge(before: Body, declared: AlertFields): Body {
  const { channel, channels, ...others } = before
  const isTold = declared.channel !== undefined || declared.channels !== undefined
  const texts = (['note', 'message'] as const).flatMap((field) =>
    Object.hasOwn(declared, field) ? [[field, withMarkersOf(declared[field] ?? '', before[field])] as const] : [],
  )
  return withoutNulls({
    ...others,
    ...(!isTold && { channel, channels }),
    ...inUtc(declared),
    ...Object.fromEntries(texts.map(([field, text]) => [field, text || null])),
  })
}
