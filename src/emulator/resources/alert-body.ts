// Owns the fields that an alert's body may have in each dialect, and the type and range of each by itself.
import { z } from 'zod'
import type { Dialect } from '../options.ts'

/** Minutes of every interval. The specification's later revision adds `30s`, which needs a feature that the demo team lacks. */
export const minutesOfInterval = { '1m': 1, '5m': 5, '15m': 15, '30m': 30, '1h': 60, '6h': 360, '12h': 720, '1d': 1440 } as const

export type Interval = keyof typeof minutesOfInterval

const thresholdTypes = ['above', 'below', 'above_exclusive', 'below_or_equal', 'equal', 'not_equal', 'between', 'not_between'] as const

const documentedFields = {
  dashboardId: z.string().nullish(),
  tileId: z.string().nullish(),
  threshold: z.number(),
  interval: z.enum(Object.keys(minutesOfInterval) as [Interval, ...Interval[]]),
  // HyperDX server code; the specification names no default.
  source: z.enum(['saved_search', 'tile']).default('saved_search'),
  thresholdType: z.enum(thresholdTypes),
  name: z.string().min(1).max(512).nullish(),
  message: z.string().min(1).max(4096).nullish(),
}

const plainChannel = z.strictObject({ type: z.literal('webhook'), webhookId: z.string() })

const cloudChannel = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('email'), emailRecipients: z.array(z.string()) }),
  z.strictObject({
    type: z.literal('webhook'),
    webhookId: z.string(),
    webhookService: z.string().nullable().exactOptional(),
    slackChannelId: z.string().nullable().exactOptional(),
    severity: z.enum(['critical', 'error', 'warning', 'info']).nullable().exactOptional(),
  }),
])

/** The nine fields that the neutral contract shows, and no other. */
const neutralBody = z.strictObject({ ...documentedFields, channel: plainChannel.optional() })

const cloudBody = z.strictObject({
  ...documentedFields,
  channel: cloudChannel.optional(),
  // One channel was followed by a list of up to ten in the specification of 2026-09; the single one is still accepted.
  channels: z.array(cloudChannel).min(1).max(10).optional(),
  savedSearchId: z.string().nullish(),
  groupBy: z.string().nullish(),
  thresholdMax: z.number().nullish(),
  scheduleOffsetMinutes: z.int().min(0).max(1439).nullish(),
  scheduleStartAt: z.iso.datetime({ offset: true }).nullish(),
  note: z.string().min(1).max(4096).nullish(),
  numConsecutiveWindows: z.int().min(1).nullish(),
})

export type AlertBody = z.output<typeof cloudBody>

/** Every neutral body is a cloud body with fields left out. */
export const alertBodyOf = (dialect: Dialect): z.ZodType<AlertBody> => (dialect === 'clickhouse-cloud' ? cloudBody : neutralBody)
