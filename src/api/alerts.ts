// Owns the wire shape of alerts. The server's own fields are known by name, so that they are never sent back.
import * as z from 'zod'
import { wireId, wireNumber } from './wire.ts'

const optionalText = z.string().nullish()

/** An alert as answered. Fields that are not named here are kept. */
export const alertSchema = z.looseObject({
  id: wireId,
  name: optionalText,
  state: optionalText,
  dashboardId: optionalText,
  tileId: optionalText,
  threshold: wireNumber.nullish(),
  thresholdMax: wireNumber.nullish(),
  thresholdType: optionalText,
  interval: optionalText,
  source: optionalText,
  channel: z.looseObject({ type: optionalText, webhookId: optionalText }).nullish(),
  message: optionalText,
})

export type Alert = z.output<typeof alertSchema>

/** What the user declares of an alert, in the API's own names. */
export type AlertBody = Readonly<Record<string, unknown>>

/** The part of an answered alert that may be sent again: a gateway refuses bodies that bear what the server keeps itself. */
export function toAlertBody(alert: Alert): AlertBody {
  const {
    id: _id,
    teamId: _team,
    state: _state,
    silenced: _silenced,
    executionErrors: _errors,
    createdAt: _created,
    updatedAt: _updated,
    ...body
  } = alert
  return body
}
