import * as z from 'zod'
import { word } from '../fields.ts'
import { alertSources, shortIntervalNote, thresholdTypeMeaning, thresholdTypes } from './alert.ts'
import { alertIntervals } from './schedule.ts'

export const channelTypes = ['webhook', 'email'] as const

/** The fields of a webhook channel besides its webhook. */
const webhookChannelFields = {
  webhookService: z.string().nullish(),
  slackChannelId: z.string().nullish(),
  severity: z.enum(['critical', 'error', 'warning', 'info']).nullish(),
}

const emailChannel = z.strictObject({ type: z.literal('email'), emailRecipients: z.array(z.string().min(3)).min(1) })

const bodyChannel = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('webhook'), webhookId: z.string().min(1), ...webhookChannelFields }),
  emailChannel,
])

/** The condition and schedule of an alert, with the limits of the API. Files of declarations have the same fields. */
const conditionFields = {
  groupBy: z.string().nullish().meta({ description: 'Raises one alert for each value of this expression. Only for saved searches.' }),
  threshold: z.number().meta({ description: 'Value that the alert is compared with.', accepts: 'a number' }),
  thresholdMax: z.number().nullish().meta({ description: 'Upper end of the range, for between and not_between.' }),
  thresholdType: z.enum(thresholdTypes).meta({ description: `How the value is compared with the threshold: ${thresholdTypeMeaning}` }),
  interval: z.enum(alertIntervals).meta({
    description: `How often the alert is evaluated, and over which period. ${shortIntervalNote}.`,
    // Without the one that most servers refuse.
    accepts: alertIntervals.slice(1).join(', '),
  }),
  scheduleOffsetMinutes: z
    .int()
    .min(0)
    .max(1439)
    .nullish()
    .meta({ description: 'Minutes after the start of each interval. Must be less than the interval.', serverDefault: 0 }),
  scheduleStartAt: z.iso.datetime({ offset: true }).nullish().meta({
    description: 'Start of the evaluation. The first one comes one interval later.',
    accepts: 'a time such as 2026-01-31T08:00:00Z',
  }),
  numConsecutiveWindows: z.int().min(1).nullish().meta({ description: 'Number of consecutive intervals that must violate the threshold.' }),
}

const id = word(128)

/** An alert as users write it for the operations, with the API's names. All fields are optional here, because the required ones depend on the others. */
export const alertBodySchema = z.strictObject({
  source: z.enum(alertSources).optional(),
  dashboardId: id.nullish(),
  tileId: id.nullish(),
  savedSearchId: id.nullish(),
  ...z.object(conditionFields).partial().shape,
  channel: bodyChannel.optional(),
  channels: z.array(bodyChannel).min(1).max(10).optional(),
  name: word(512).nullish(),
  message: word(4096).nullish(),
  note: word(4096).nullish(),
})

export type AlertFields = z.output<typeof alertBodySchema>

/** The required fields that are not given. */
export function missingInAlert(alert: AlertFields): readonly (keyof AlertFields)[] {
  const { source = 'tile', thresholdType } = alert
  const needed: (keyof AlertFields)[] = ['threshold', 'thresholdType', 'interval']
  if (source === 'tile') needed.push('dashboardId', 'tileId')
  else needed.push('savedSearchId')
  if (thresholdType === 'between' || thresholdType === 'not_between') needed.push('thresholdMax')
  const missing = needed.filter((field) => alert[field] === undefined || alert[field] === null)
  return alert.channel === undefined && alert.channels === undefined ? [...missing, 'channel'] : missing
}
