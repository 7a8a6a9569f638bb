import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import type { Profile } from '../../api/profiles.ts'
import { wireId, wireNumber } from '../../api/wire.ts'
import type { Body, RemoteObject } from '../resource-type.ts'

export const alertSources = ['tile', 'saved_search'] as const
export const alertStates = ['ALERT', 'OK', 'INSUFFICIENT_DATA', 'DISABLED', 'PENDING'] as const
/** `30s` needs a feature of the team; the server refuses it without. */
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

/** The fields of a webhook channel besides its webhook. */
export const webhookChannelFields = {
  webhookService: z.string().nullish(),
  slackChannelId: z.string().nullish(),
  severity: z.enum(['critical', 'error', 'warning', 'info']).nullish(),
}

export const emailChannel = z.strictObject({ type: z.literal('email'), emailRecipients: z.array(z.string().min(3)).min(1) })

const channel = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('webhook'), webhookId: z.string().min(1), ...webhookChannelFields }),
  emailChannel,
])

/** The condition and schedule of an alert, with the limits of the API. Files of declarations have the same fields. */
export const conditionFields = {
  groupBy: z.string().nullish().meta({ description: 'One alert for each value of this expression; for saved searches.' }),
  threshold: z.number().meta({ description: 'The value that it is about.', accepts: 'a number' }),
  thresholdMax: z.number().nullish().meta({ description: 'The other end of the range, for between and not_between.' }),
  thresholdType: z.enum(thresholdTypes).meta({ description: 'On which side of the threshold it fires.' }),
  interval: z.enum(alertIntervals).meta({ description: 'How often it looks, and over which time.' }),
  scheduleOffsetMinutes: z
    .int()
    .min(0)
    .max(1439)
    .nullish()
    .meta({ description: 'Minutes after the start of each interval; less than the interval.', serverDefault: 0 }),
  scheduleStartAt: z.iso
    .datetime({ offset: true })
    .nullish()
    .meta({ description: 'When the first look is.', accepts: 'a time such as 2026-01-31T08:00:00Z' }),
  numConsecutiveWindows: z.int().min(1).nullish().meta({ description: 'How many intervals in a row must be beyond the threshold.' }),
}

const id = z.string().min(1).max(128)

const text = (maxLength: number) => z.string().min(1).max(maxLength).nullish()

/** An alert as users write it for the operations, in the API's own names. All fields are optional: which are needed depends on the rest. */
export const alertBodySchema = z.strictObject({
  source: z.enum(alertSources).optional(),
  dashboardId: id.nullish(),
  tileId: id.nullish(),
  savedSearchId: id.nullish(),
  ...z.object(conditionFields).partial().shape,
  channel: channel.optional(),
  channels: z.array(channel).min(1).max(10).optional(),
  name: text(512),
  message: text(4096),
  note: text(4096),
})

export type AlertFields = z.output<typeof alertBodySchema>

type AlertField = keyof AlertFields

/** The fields that the neutral contract documents. */
const neutralFields: readonly AlertField[] = [
  'dashboardId',
  'tileId',
  'threshold',
  'interval',
  'source',
  'thresholdType',
  'channel',
  'name',
  'message',
]

const fieldsByProfile: Readonly<Record<Profile['name'], readonly AlertField[]>> = {
  neutral: neutralFields,
  'clickhouse-cloud': alertBodySchema.keyof().options,
}

/** The fields that the product behind the API knows. A gateway may refuse others. */
export const alertFieldsOf = ({ name }: Pick<Profile, 'name'>): ReadonlySet<string> => new Set(fieldsByProfile[name])

/** The fields that the server requires beside those that are given. */
export function missingInAlert(alert: AlertFields): readonly (keyof AlertFields)[] {
  const { source = 'tile', thresholdType } = alert
  const needed: (keyof AlertFields)[] = ['threshold', 'thresholdType', 'interval']
  if (source === 'tile') needed.push('dashboardId', 'tileId')
  else needed.push('savedSearchId')
  if (thresholdType === 'between' || thresholdType === 'not_between') needed.push('thresholdMax')
  const missing = needed.filter((field) => alert[field] === undefined || alert[field] === null)
  return alert.channel === undefined && alert.channels === undefined ? [...missing, 'channel'] : missing
}

const optionalText = z.string().nullish()

/** Why an evaluation failed: `type` is QUERY_ERROR, QUERY_TIMEOUT, WEBHOOK_ERROR, INVALID_ALERT or UNKNOWN. */
const executionError = z.looseObject({ timestamp: optionalText, type: optionalText, message: optionalText })

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
  /** Errors of the last evaluation. Read-only; absent before the first evaluation (HyperDX 2.36). Only shown: an odd one fails nothing. */
  executionErrors: z.array(executionError).nullish().catch(undefined),
})

export type Alert = z.output<typeof alertSchema>

/** The part of an answered alert that may be sent again: a gateway refuses the fields that the server sets itself. */
export function toAlertBody(alert: RemoteObject): Body {
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

/** The server takes times in UTC only. */
export function toUtc(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString()
}

export const alertCollection = defineCollection<Alert, Body>({
  name: 'alerts',
  noun: 'alert',
  listing: 'paged',
  schema: alertSchema,
  toBody: toAlertBody,
})
