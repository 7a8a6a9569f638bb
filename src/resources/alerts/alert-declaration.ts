import * as z from 'zod'
import { adoption } from '../declaration-fields.ts'
import { alertIntervals, thresholdTypes } from './alert-wire.ts'

/** The API takes 4096 characters of a message or a note, and the markers of this tool need room in one of them. */
const longestText = 3800

const text = (longest: number) => z.string().min(1).max(longest)

const reference = (noun: string) =>
  z.union([z.string().min(1), z.strictObject({ id: z.string().min(1) }), z.strictObject({ name: z.string().min(1) })]).meta({
    description: `${noun}: its key in these files, or { id: … } or { name: … } of one that exists.`,
    accepts: 'a key, { id: … } or { name: … }',
  })

const webhook = z
  .strictObject({
    type: z.literal('webhook'),
    webhook: z.string().min(1).optional().meta({ description: 'The webhook by its name.' }),
    webhookId: z.string().min(1).optional().meta({ description: 'The webhook by its id.' }),
    webhookService: z.string().nullable().optional(),
    slackChannelId: z.string().nullable().optional(),
    severity: z.enum(['critical', 'error', 'warning', 'info']).nullable().optional(),
  })
  .refine((channel) => (channel.webhook === undefined) !== (channel.webhookId === undefined), {
    message: 'must name one of webhook and webhookId',
    params: { isComplete: true },
  })

const email = z.strictObject({ type: z.literal('email'), emailRecipients: z.array(z.string().min(3)).min(1) })

const channel = z.discriminatedUnion('type', [webhook, email]).meta({ id: 'channel' })

export const declaredAlert = z.strictObject({
  name: text(512).meta({ description: 'What it is called; can be changed, the key stays.' }),
  dashboard: reference('The dashboard').optional(),
  tile: z
    .union([z.string().min(1), z.strictObject({ id: z.string().min(1) })])
    .optional()
    .meta({ description: 'The tile of the dashboard, by its name.', accepts: 'a name, or { id: … }' }),
  savedSearch: reference('The saved search').optional(),
  groupBy: z.string().nullable().optional().meta({ description: 'One alert for each value of this expression; for saved searches.' }),
  threshold: z.number().meta({ description: 'The value that it is about.', accepts: 'a number' }),
  thresholdMax: z.number().nullable().optional().meta({ description: 'The other end of the range, for between and not_between.' }),
  thresholdType: z.enum(thresholdTypes).default('above').meta({ description: 'On which side of the threshold it fires.' }),
  interval: z.enum(alertIntervals).meta({ description: 'How often it looks, and over which time.' }),
  scheduleOffsetMinutes: z
    .int()
    .min(0)
    .max(1439)
    .nullable()
    .optional()
    .meta({ description: 'Minutes after the start of each interval; less than the interval.' }),
  scheduleStartAt: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .meta({ description: 'When the first look is.', accepts: 'a time such as 2026-01-31T08:00:00Z' }),
  channel: channel.optional().meta({ description: 'Whom it notifies.' }),
  channels: z.array(channel).min(1).max(10).optional().meta({ description: 'Several of them, instead of channel.' }),
  message: text(longestText).nullable().optional().meta({ description: 'Text of the notification.' }),
  note: text(longestText).nullable().optional().meta({ description: 'A note for whoever is woken: what to do. Markdown.' }),
  numConsecutiveWindows: z
    .int()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'How many intervals in a row must be beyond the threshold.' }),
  ...adoption,
})

export type DeclaredAlert = z.output<typeof declaredAlert>
