import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { wireId, wireNumber } from '../../api/wire.ts'

// Owns what may be sent of an alert: fields, enums and limits as the API documents and its server enforces them.

export const alertSources = ['tile', 'saved_search'] as const
export const alertStates = ['ALERT', 'OK', 'INSUFFICIENT_DATA', 'DISABLED', 'PENDING'] as const
/** `30s` needs a feature of the team; the server says so if it lacks it. */
export const alertIntervals = ['30s', '1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'] as const
export const thresholdTypes = [
  'above',
  'below',
  'above_exclusive',
  'below_or_equal',
  'equal',
  'not_equal',
  'between',
  'not_between',
] as const
export const channelTypes = ['webhook', 'email'] as const

const channel = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('webhook'),
    webhookId: z.string().min(1),
    webhookService: z.string().nullish(),
    slackChannelId: z.string().nullish(),
    severity: z.enum(['critical', 'error', 'warning', 'info']).nullish(),
  }),
  z.strictObject({ type: z.literal('email'), emailRecipients: z.array(z.string().min(3)).min(1) }),
])

const text = (longest: number) => z.string().min(1).max(longest).nullish()

const id = z.string().min(1).max(128)

/** An alert as people write it, in the API's own names. Every field may be left out: what is needed depends on the rest. */
export const alertBodySchema = z.strictObject({
  source: z.enum(alertSources).optional(),
  dashboardId: id.nullish(),
  tileId: id.nullish(),
  savedSearchId: id.nullish(),
  groupBy: z.string().nullish(),
  threshold: z.number().optional(),
  thresholdMax: z.number().nullish(),
  thresholdType: z.enum(thresholdTypes).optional(),
  interval: z.enum(alertIntervals).optional(),
  scheduleOffsetMinutes: z.int().min(0).max(1439).nullish().meta({ serverDefault: 0 }),
  scheduleStartAt: z.iso.datetime({ offset: true }).nullish(),
  channel: channel.optional(),
  channels: z.array(channel).min(1).max(10).optional(),
  name: text(512),
  message: text(4096),
  note: text(4096),
  numConsecutiveWindows: z.int().min(1).nullish(),
})

export type AlertFields = z.output<typeof alertBodySchema>

/** What the server would refuse although each field by itself is right. */
export function missingInAlert(alert: AlertFields): readonly (keyof AlertFields)[] {
  const { source = 'tile', thresholdType } = alert
  const needed: (keyof AlertFields)[] = ['threshold', 'thresholdType', 'interval']
  if (source === 'tile') needed.push('dashboardId', 'tileId')
  else needed.push('savedSearchId')
  if (thresholdType === 'between' || thresholdType === 'not_between') needed.push('thresholdMax')
  const missing = needed.filter((field) => alert[field] === undefined || alert[field] === null)
  return alert.channel === undefined && alert.channels === undefined ? [...missing, 'channel'] : missing
}

// Owns the wire shape of alerts. The server's own fields are known by name, so that they are never sent back.

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

export const alertCollection = defineCollection<Alert, AlertBody>({
  name: 'alerts',
  noun: 'alert',
  listing: 'paged',
  schema: alertSchema,
  toBody: toAlertBody,
})
