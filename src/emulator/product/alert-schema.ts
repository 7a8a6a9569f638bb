import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod/v3'

/** Minutes of every interval. */
const minutesOf = { '1m': 1, '5m': 5, '15m': 15, '30m': 30, '1h': 60, '6h': 360, '12h': 720, '1d': 1440 } as const

type Interval = keyof typeof minutesOf

const thresholdType = z.nativeEnum({
  above: 'above',
  below: 'below',
  above_exclusive: 'above_exclusive',
  below_or_equal: 'below_or_equal',
  equal: 'equal',
  not_equal: 'not_equal',
  between: 'between',
  not_between: 'not_between',
} as const)

const channel = z.object({ type: z.literal('webhook'), webhookId: z.string().nonempty("Webhook ID can't be empty") })

const channels = z
  .array(channel)
  .min(1, 'At least one notification channel is required')
  .max(10, 'An alert supports at most 10 notification channels')

export type WebhookChannel = z.output<typeof channel>

const dayMs = 86_400_000

function createStartSchema(nowMs: number) {
  const msOf = (value: string | null | undefined): number => (value == null ? nowMs : Date.parse(value))
  return z
    .union([z.string().datetime(), z.null()])
    .optional()
    .refine((value) => msOf(value) <= nowMs + 365 * dayMs, 'scheduleStartAt must be within 1 year from now')
    .refine((value) => msOf(value) >= nowMs - 3650 * dayMs, 'scheduleStartAt must be within 10 years in the past')
}

const onSavedSearch = z.object({ source: z.literal('saved_search'), groupBy: z.string().nullish(), savedSearchId: z.string().min(1) })

const onTile = z.object({ source: z.literal('tile'), tileId: z.string().min(1), dashboardId: z.string().min(1) })

/** The rules for the body of an alert. Those about its start depend on the server's clock. */
export const createAlertSchema = (nowMs: number) =>
  z
    .object({
      channel: channel.optional(),
      channels: channels.optional(),
      interval: z.enum(Object.keys(minutesOf) as [Interval, ...Interval[]]),
      scheduleOffsetMinutes: z.number().int().min(0).max(1439).optional(),
      scheduleStartAt: createStartSchema(nowMs),
      threshold: z.number(),
      thresholdType,
      thresholdMax: z.number().optional(),
      // The default is never used: neither form below accepts a body without a source.
      source: z.nativeEnum({ saved_search: 'saved_search', tile: 'tile' } as const).default('saved_search'),
      name: z.string().min(1).max(512).nullish(),
      message: z.string().min(1).max(4096).nullish(),
      note: z.string().min(1).max(4096).nullish(),
      numConsecutiveWindows: z.number().int().min(1).nullish(),
    })
    .and(onSavedSearch.or(onTile))
    .superRefine(checkChannels)
    .superRefine(checkSchedule)
    .superRefine(checkRange)

export type AlertBody = z.output<ReturnType<typeof createAlertSchema>>

interface ChannelFields {
  readonly channel?: WebhookChannel | undefined
  readonly channels?: readonly WebhookChannel[] | undefined
}

function checkChannels({ channel: single, channels: list }: ChannelFields, context: z.RefinementCtx): void {
  const problem = findChannelProblem(single, list)
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['channels'], message: problem })
}

function findChannelProblem(single: WebhookChannel | undefined, list: readonly WebhookChannel[] | undefined): string | undefined {
  if (single === undefined && list === undefined) return 'Provide either "channel" or "channels"'
  if (single !== undefined && list !== undefined && !isDeepStrictEqual(single, list[0]))
    return 'When both "channel" and "channels" are provided, "channel" must match the first entry of "channels"'
  const isRepeated = list?.some((one, index) => list.findIndex((other) => isDeepStrictEqual(one, other)) < index)
  return isRepeated ? 'Duplicate notification channels are not allowed' : undefined
}

interface ScheduleFields {
  readonly interval: Interval
  readonly scheduleOffsetMinutes?: number | undefined
  readonly scheduleStartAt?: string | null | undefined
}

function checkSchedule({ interval, scheduleOffsetMinutes = 0, scheduleStartAt }: ScheduleFields, context: z.RefinementCtx): void {
  const refuse = (message: string): void => context.addIssue({ code: 'custom', path: ['scheduleOffsetMinutes'], message })
  const minutes = minutesOf[interval]
  if (scheduleStartAt != null && scheduleOffsetMinutes > 0) refuse('scheduleOffsetMinutes must be 0 when scheduleStartAt is provided')
  if (scheduleOffsetMinutes >= minutes) refuse(`scheduleOffsetMinutes must be less than ${minutes} minute${minutes === 1 ? '' : 's'}`)
}

interface RangeFields {
  readonly thresholdType: string
  readonly threshold: number
  readonly thresholdMax?: number | undefined
}

function checkRange({ thresholdType: type, threshold, thresholdMax }: RangeFields, context: z.RefinementCtx): void {
  if (type !== 'between' && type !== 'not_between') return
  const refuse = (message: string): void => context.addIssue({ code: 'custom', path: ['thresholdMax'], message })
  if (thresholdMax === undefined) refuse('thresholdMax is required for between/not_between threshold types')
  else if (thresholdMax < threshold) refuse('thresholdMax must be greater than or equal to threshold')
}
