import * as z from 'zod'
import { defineCollection } from '../../platform/api/collection.ts'
import { wireId, wireNumber } from '../../platform/api/wire.ts'
import { isEmpty, withoutUndefined } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'

import { alertQuery } from '../alert-query/alert-query.ts'
import { raw } from '../dashboard/dashboard.ts'
import { adoption, byKey, nameDescription, word } from '../fields.ts'
import { type Body, type StoredObject, withoutServerFields } from '../kind.ts'
import { kindLabels } from '../kind-names.ts'
import { alertIntervals, executionErrorList } from './schedule.ts'

export const alertSources = ['tile', 'saved_search'] as const
export const alertStates = ['ALERT', 'OK', 'INSUFFICIENT_DATA', 'DISABLED', 'PENDING'] as const
/** Recorded on HyperDX 2.36, which refuses `30s` for a team without the feature. */
export const shortIntervalNote = '30s requires a feature that most services do not have; their server refuses it'
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
export type ThresholdType = (typeof thresholdTypes)[number]

/** The type `above` of the server includes the threshold, and `below` does not. */
const thresholdSigns: Readonly<Record<string, string>> = {
  above: '≥',
  above_exclusive: '>',
  below: '<',
  below_or_equal: '≤',
  equal: '=',
  not_equal: '≠',
}

export const comparisons: Readonly<Record<string, ThresholdType>> = {
  ...({ gt: 'above_exclusive', '>': 'above_exclusive', gte: 'above', ge: 'above', '>=': 'above', lt: 'below', '<': 'below' } as const),
  ...({ lte: 'below_or_equal', le: 'below_or_equal', '<=': 'below_or_equal', eq: 'equal', '==': 'equal', ne: 'not_equal' } as const),
}

type Threshold = Readonly<Partial<Record<'thresholdType' | 'threshold' | 'thresholdMax', unknown>>>

/** `≥ 5`, `between 5 and 9`, `not between 5 and 9`. */
export function describeThreshold({ thresholdType, threshold, thresholdMax }: Threshold): string {
  const type = String(thresholdType ?? '–')
  const max = type.endsWith('between') && thresholdMax != null ? ` and ${String(thresholdMax)}` : ''
  const words = type.replaceAll('_', ' ')
  return `${Object.hasOwn(thresholdSigns, type) ? thresholdSigns[type] : words} ${String(threshold ?? '–')}${max}`
}

/** How a server newer than HyperDX 2.36 finds what is wrong, where it compares no threshold: `anomaly`. */
const modeOf = ({ detectionMode, anomalyConfig }: Body) =>
  detectionMode != null && detectionMode !== 'threshold' ? String(detectionMode) : isEmpty(anomalyConfig) ? undefined : 'anomaly'

/** `≥ 5 over 5m`, `between 5 and 9 in 5m`, `anomaly on 5m`. */
export function describeCondition(alert: Body, preposition: 'over' | 'in'): string {
  const mode = modeOf(alert)
  const interval = String(alert.interval ?? '–')
  return mode === undefined ? `${describeThreshold(alert)} ${preposition} ${interval}` : `${mode} on ${interval}`
}

const optionalText = z.string().nullish()

const answeredChannel = z.looseObject({ type: optionalText, webhookId: optionalText })

/** An alert as the API returns it. Unknown fields are kept. */
export const alertSchema = z.looseObject({
  id: wireId,
  name: optionalText,
  /** Servers newer than HyperDX 2.36 answer both for every alert: those that were stored, or else made of what the alert watches. */
  displayName: optionalText,
  tags: z.array(z.string()).nullish().catch(undefined),
  state: optionalText,
  dashboardId: optionalText,
  tileId: optionalText,
  threshold: wireNumber.nullish(),
  thresholdMax: wireNumber.nullish(),
  thresholdType: optionalText,
  interval: optionalText,
  source: optionalText,
  channel: answeredChannel.nullish(),
  /** Channels are only shown, so an unexpected form is ignored. */
  channels: z.array(answeredChannel).nullish().catch(undefined),
  message: optionalText,
  /** They are only shown, so an unexpected form is ignored. */
  executionErrors: executionErrorList.nullish().catch(undefined),
})

export type Alert = z.output<typeof alertSchema>

/**
 * What an alert has that this version does not know, and that decides what the alert does: a write could change it without a trace.
 * Undefined where there is nothing like that, and where `declared` states it in `raw`. Other unknown fields are kept. Newer servers than
 * HyperDX 2.36 have these.
 */
export function unknownFormOf(stored: StoredObject, declared: { readonly raw?: DeclaredAlert['raw'] } = {}): string | undefined {
  const unstated = Object.entries(stored).filter(([field]) => !Object.hasOwn(declared.raw ?? {}, field))
  const { source, detectionMode, anomalyConfig }: Body = Object.fromEntries(unstated)
  if (source != null && !alertSources.some((known) => known === source)) return `the source ${quote(String(source))}`
  if (detectionMode != null && detectionMode !== 'threshold') return `the detectionMode ${quote(String(detectionMode))}`
  return isEmpty(anomalyConfig) ? undefined : 'an anomalyConfig'
}

/** A gateway refuses the fields that the server sets. */
export function toAlertBody(alert: StoredObject): Body {
  const { state: _state, silenced: _silenced, executionErrors: _errors, ...body } = withoutServerFields(alert)
  return body
}

const targetIds = { dashboard: 'dashboardId', tile: 'tileId', savedSearch: 'savedSearchId' } as const

/** An alert in the form of files, made of a request or an answer of the API; undefined for one that is in the form of files. */
export function alertFromApi(document: Body): Body | undefined {
  const { source, channel, channels, ...fields } = toAlertBody({ id: '', ...document })
  const isOfApi = Object.values(targetIds).some((name) => name in fields) || alertSources.some((known) => known === source)
  if (!isOfApi || Object.keys(targetIds).some((name) => name in fields)) return undefined
  const { dashboardId, tileId, savedSearchId, ...others } = fields
  const ids = source === 'saved_search' ? { savedSearchId } : source === 'tile' ? { dashboardId, tileId } : fields
  const targets = Object.entries(targetIds).map(([name, wire]) => [name, ids[wire] == null ? undefined : { id: ids[wire] }])
  // An answer has the first channel twice, and a server before 2.36 has only that one.
  return withoutUndefined({ ...others, ...Object.fromEntries(targets), ...(channels == null ? { channel } : { channels }) })
}

/** The time in UTC, the only zone that the server accepts. An invalid time is returned unchanged. */
export function toUtc(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString()
}

export const alertCollection = defineCollection<Alert, Body>({
  name: 'alerts',
  noun: kindLabels.alert,
  listing: 'paged',
  schema: alertSchema,
  toBody: toAlertBody,
})

/** The API accepts 4096 characters in a message or a note. The markers of this tool need part of them. */
const maxTextLength = 3800

const reference = { id: z.string().min(1) }

const webhookChannel = z
  .strictObject({
    type: z.literal('webhook'),
    webhook: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Name of the webhook.', ref: { to: 'webhook', wire: 'webhookId', by: 'name' } }),
    webhookId: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Id of the webhook.', ref: { to: 'webhook', wire: 'webhookId', by: 'id' } }),
    webhookService: z.string().nullish(),
    slackChannelId: z.string().nullish(),
    severity: z.enum(['critical', 'error', 'warning', 'info']).nullish(),
  })
  .refine((channel) => (channel.webhook === undefined) !== (channel.webhookId === undefined), {
    message: 'must have either webhook or webhookId',
    params: { isComplete: true, needs: ['webhook', 'webhookId'] },
  })

export const channel = z
  .discriminatedUnion('type', [
    webhookChannel,
    z.strictObject({ type: z.literal('email'), emailRecipients: z.array(z.string().min(3)).min(1) }),
  ])
  .meta({ id: 'channel', accepts: 'a map such as { type: webhook, webhook: oncall }' })

/**
 * The fields of an alert, in the order of a file. The server refuses null as a second threshold or an offset, and before 2.34 as a grouping. An
 * update without a second threshold keeps it, and only a range uses it. An update without a grouping clears it. A channel cannot be cleared,
 * because the server wants one. A start is never cleared because a file has none (see `carryOverStart`).
 */
export const declaredAlert = z
  .strictObject({
    name: word(512)
      .optional()
      .meta({
        description: `${nameDescription} Without it, the title of a notification has the tile, the dashboard and the value.`,
        clear: null,
      }),
    displayName: word(512).optional().meta({
      description: 'Name on the page of alerts, and title of notifications without a name. Only newer servers have it.',
      keepIfAbsent: true,
    }),
    query: alertQuery.optional().meta({
      description:
        'What is compared with the threshold, instead of a tile or a saved search: the fields of a chart, or `sql`. With it, `dashboard` is the key of a dashboard in these files that shows the query; without, one for all such alerts of the project does.',
      isLocal: true,
    }),
    dashboard: byKey('dashboard', 'The dashboard').meta({ clear: null }),
    tile: z
      .union([z.string().min(1), z.strictObject(reference)])
      .optional()
      .meta({
        description: 'Name of the tile of the dashboard.',
        accepts: 'a name, or { id: … }; a tile without a name needs one, or the alert a query',
        ref: { to: 'tile', wire: 'tileId', by: 'name' },
        clear: null,
      }),
    savedSearch: byKey('savedSearch', 'The saved search').meta({ clear: null }),
    groupBy: z.string().nullish().meta({
      description: 'Raises one alert for each value of this expression. Only for saved searches.',
      clear: undefined,
    }),
    threshold: z.number().meta({ description: 'Value that the alert is compared with.', accepts: 'a number' }),
    thresholdMax: z.number().nullish().meta({ description: 'Upper end of the range, for between and not_between.', clear: undefined }),
    thresholdType: z.enum(thresholdTypes).meta({ synonyms: comparisons }).default('above').meta({
      description:
        'How the value is compared with the threshold: `above` is ≥, `above_exclusive` is >, `below` is <, `below_or_equal` is ≤. `between` includes both ends, and `not_between` neither.',
    }),
    interval: z.enum(alertIntervals).meta({
      description: `How often the alert is evaluated, and over which period. ${shortIntervalNote}.`,
      // Messages leave out the interval that most servers refuse.
      accepts: alertIntervals.slice(1).join(', '),
    }),
    scheduleOffsetMinutes: z.int().min(0).max(1439).nullish().meta({
      description: 'Minutes after the start of each interval. Must be less than the interval.',
      serverDefault: 0,
      clear: 0,
    }),
    scheduleStartAt: z.iso
      .datetime({ offset: true })
      .nullish()
      .meta({
        description: 'Start of the evaluation. The first one comes one interval later.',
        accepts: 'a time such as 2026-01-31T08:00:00Z',
        toWire: (text) => toUtc(String(text)),
      }),
    numConsecutiveWindows: z
      .int()
      .min(1)
      .nullish()
      .meta({ description: 'Number of consecutive intervals that must violate the threshold.', clear: null, serverDefault: 1 }),
    channel: channel.optional().meta({ description: 'Where the alert sends its notifications.' }),
    channels: z.array(channel).min(1).max(10).optional().meta({ description: 'Several channels, instead of channel.' }),
    message: word(maxTextLength).nullable().optional().meta({ description: 'Text of the notification.', clear: null }),
    note: word(maxTextLength).nullable().optional().meta({ description: 'What the person on call should do, as Markdown.', clear: null }),
    tags: z.array(word(32)).max(50).optional().meta({
      description: 'Tags of the alert. Only newer servers have them.',
      accepts: 'at most 50 tags of at most 32 characters',
      keepIfAbsent: true,
    }),
    raw: raw.optional(),
    ...adoption,
  })
  .meta({ aliases: { id: 'adopt', for: 'write numConsecutiveWindows, a number of intervals', severity: 'it is a field of channel' } })

export type DeclaredAlert = z.output<typeof declaredAlert>
