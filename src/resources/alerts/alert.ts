import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import type { Profile } from '../../api/profiles.ts'
import { wireId, wireNumber } from '../../api/wire.ts'
import { didYouMean } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import { isEmpty, isFields, withoutEmpty } from '../compare.ts'
import { adoption, nameDescription, word } from '../declaration-fields.ts'
import type { Noun } from '../directory.ts'
import { readTextMarker, readTextSnapshot, textStyle, withoutTextMarker, withTextMarker, withTextSnapshot } from '../marker.ts'
import { createResolver, type Resolver } from '../resolve.ts'
import {
  type AlertTarget,
  type Body,
  type DeclaredObject,
  listOf,
  type RemoteObject,
  type ResolveContext,
  type ResolvedDeclaration,
  type ResourceType,
  withoutServerFields,
} from '../resource-type.ts'
import { PendingId } from '../section.ts'
import { executionErrorSchema } from './evaluation.ts'
import { alertIntervals, settleStart, withoutHarmlessStart, withoutUnpulledStart } from './schedule.ts'

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

interface Threshold {
  readonly thresholdType?: string | null | undefined
  readonly threshold?: number | null | undefined
  readonly thresholdMax?: number | null | undefined
}

/** `≥ 5`, `between 5 and 9`, `not between 5 and 9`. */
export function describeThreshold({ thresholdType, threshold, thresholdMax }: Threshold): string {
  const type = thresholdType ?? '–'
  const max = type.endsWith('between') && thresholdMax != null ? ` and ${thresholdMax}` : ''
  const words = type.replaceAll('_', ' ')
  return `${Object.hasOwn(thresholdSigns, type) ? thresholdSigns[type] : words} ${threshold ?? '–'}${max}`
}

/** For descriptions of fields and inputs. */
export const thresholdTypeMeaning =
  '`above` is ≥, `above_exclusive` is >, `below` is <, `below_or_equal` is ≤. `between` includes both ends, and `not_between` neither.'
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
  interval: z.enum(alertIntervals).meta({ description: `How often the alert is evaluated, and over which period. ${shortIntervalNote}.` }),
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
  hyperdx: alertBodySchema.keyof().options,
}

/** The fields that the server behind the API supports. A gateway may refuse others. */
export const alertFieldsOf = ({ name }: Pick<Profile, 'name'>): ReadonlySet<string> => new Set(fieldsByProfile[name])

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

const optionalText = z.string().nullish()

const answeredChannel = z.looseObject({ type: optionalText, webhookId: optionalText })

/** An alert as the API returns it. Unknown fields are kept. */
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
  channel: answeredChannel.nullish(),
  /** Only shown, so an unexpected form is ignored. */
  channels: z.array(answeredChannel).nullish().catch(undefined),
  message: optionalText,
  /** Errors of the last evaluation. Read-only, and absent before the first evaluation (HyperDX 2.36). They are only shown, so an unexpected form is ignored. */
  executionErrors: z.array(executionErrorSchema).nullish().catch(undefined),
})

export type Alert = z.output<typeof alertSchema>

/**
 * What an alert has that this version does not know, and that decides what the alert does: a write could change it without a trace.
 * Undefined where there is nothing like that. Other unknown fields are kept. Newer servers than HyperDX 2.36 have these.
 */
export function unknownFormOf({ source, detectionMode, anomalyConfig }: RemoteObject): string | undefined {
  if (source != null && !alertSources.some((known) => known === source)) return `the source ${quote(String(source), 40)}`
  if (detectionMode != null && detectionMode !== 'threshold') return `the detectionMode ${quote(String(detectionMode), 40)}`
  return isEmpty(anomalyConfig) ? undefined : 'an anomalyConfig'
}

/** The part of a returned alert that may be sent again. A gateway refuses the fields that the server sets. */
export function toAlertBody(alert: RemoteObject): Body {
  const { state: _state, silenced: _silenced, executionErrors: _errors, ...body } = withoutServerFields(alert)
  return body
}

/** The time in UTC, the only zone that the server accepts. An invalid time is returned unchanged. */
export function toUtc(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString()
}

/** The requests for alerts. */
export const alertCollection = defineCollection<Alert, Body>({
  name: 'alerts',
  noun: 'alert',
  listing: 'paged',
  schema: alertSchema,
  toBody: toAlertBody,
})

/** Display types whose tiles keep their alerts: an update of the dashboard deletes alerts on any other. */
export const alertableTypes: readonly string[] = ['line', 'stacked_bar', 'number']

/** The display type in a tile's configuration; undefined without one. */
export const displayTypeOf = ({ config }: Body): unknown => (isFields(config) ? config.displayType : undefined)

/** A tile of an unknown type is assumed to carry alerts. */
export function canCarryAlerts(tile: Body): boolean {
  const type = displayTypeOf(tile)
  return typeof type !== 'string' || alertableTypes.includes(type)
}

/** The API accepts 4096 characters in a message or a note. The markers of this tool need part of them. */
const maxTextLength = 3800

const reference = (noun: string) =>
  z.union([z.string().min(1), z.strictObject({ id: z.string().min(1) }), z.strictObject({ name: z.string().min(1) })]).meta({
    description: `${noun}: its key in these files, or { id: … } or { name: … } of an existing one.`,
    accepts: 'a key, { id: … } or { name: … }',
  })

const webhookChannel = z
  .strictObject({
    type: z.literal('webhook'),
    webhook: z.string().min(1).optional().meta({ description: 'Name of the webhook.' }),
    webhookId: z.string().min(1).optional().meta({ description: 'Id of the webhook.' }),
    ...webhookChannelFields,
  })
  .refine((channel) => (channel.webhook === undefined) !== (channel.webhookId === undefined), {
    message: 'must have either webhook or webhookId',
    params: { isComplete: true, needs: ['webhook', 'webhookId'] },
  })

const channel = z
  .discriminatedUnion('type', [webhookChannel, emailChannel])
  .meta({ id: 'channel', accepts: 'a map such as { type: webhook, webhook: oncall }' })

/** Files have the fields in this order. */
export const declaredAlert = z.strictObject({
  name: word(512).meta({ description: nameDescription }),
  dashboard: reference('The dashboard').optional(),
  tile: z
    .union([z.string().min(1), z.strictObject({ id: z.string().min(1) })])
    .optional()
    .meta({ description: 'Name of the tile of the dashboard.', accepts: 'a name, or { id: … }' }),
  savedSearch: reference('The saved search').optional(),
  ...conditionFields,
  thresholdType: conditionFields.thresholdType.default('above'),
  channel: channel.optional().meta({ description: 'Where the alert sends its notifications.' }),
  channels: z.array(channel).min(1).max(10).optional().meta({ description: 'Several channels, instead of channel.' }),
  message: word(maxTextLength).nullable().optional().meta({ description: 'Text of the notification.' }),
  note: word(maxTextLength).nullable().optional().meta({ description: 'What the person on call should do, as Markdown.' }),
  ...adoption,
})

export type DeclaredAlert = z.output<typeof declaredAlert>

/** Translates a declared alert into the API's names, and its references into ids. References that cannot be resolved become diagnostics. */
function resolveAlert(declared: DeclaredObject<DeclaredAlert>, context: ResolveContext): ResolvedDeclaration {
  const resolver = createResolver(declared, context.directory)
  const { adopt: _, id: __, previousKey: ___, dashboard, tile, savedSearch, channel, channels, ...fields } = declared.value
  const watched =
    savedSearch === undefined
      ? { source: 'tile', ...tileIds({ dashboard, tile }, context, resolver) }
      : { source: 'saved_search', savedSearchId: objectId('savedSearch', savedSearch, context.savedSearches, resolver) }
  const body = {
    ...fields,
    ...(fields.scheduleStartAt != null && { scheduleStartAt: toUtc(fields.scheduleStartAt) }),
    ...watched,
    ...(channel && { channel: toChannel(channel, ['channel'], resolver) }),
    ...(channels && toChannels(channels.map((one, i) => toChannel(one, ['channels', i], resolver)))),
  }
  return { body: Object.fromEntries(Object.entries(body).filter(([, value]) => value != null)), diagnostics: resolver.diagnostics }
}

type Reference = NonNullable<DeclaredAlert['savedSearch']>

function objectId(
  noun: Extract<Noun, 'dashboard' | 'savedSearch'>,
  reference: Reference,
  declared: ReadonlyMap<string, AlertTarget>,
  resolver: Resolver,
): string | PendingId | undefined {
  if (typeof reference !== 'string')
    return 'id' in reference ? resolver.byId(noun, reference.id, [noun]) : resolver.byName(noun, reference.name, [noun])
  const target = declared.get(reference)
  if (target === undefined) return resolver.report([noun], `"${quote(reference, 60)}" is not a key in these files`)
  return target.id ?? new PendingId(noun === 'dashboard' ? 'dashboards' : 'savedSearches', reference)
}

type Watched = Pick<DeclaredAlert, 'dashboard' | 'tile'>

function tileIds({ dashboard, tile }: Watched, context: ResolveContext, resolver: Resolver): Body {
  if (dashboard === undefined || tile === undefined) return {}
  const dashboardId = objectId('dashboard', dashboard, context.dashboards, resolver)
  if (dashboardId === undefined) return {}
  const key = typeof dashboard === 'string' ? dashboard : undefined
  const tiles = key === undefined ? context.tilesOf(String(dashboardId)) : (context.dashboards.get(key)?.tiles ?? [])
  return { dashboardId, tileId: tileId({ tile, tiles, key }, resolver) }
}

interface TileSearch {
  readonly tile: NonNullable<DeclaredAlert['tile']>
  readonly tiles: readonly Body[]
  /** Key of the dashboard, where these files declare it. */
  readonly key: string | undefined
}

function tileId({ tile, tiles, key }: TileSearch, resolver: Resolver): unknown {
  if (typeof tile !== 'string') {
    const known = tiles.find(({ id }) => id === tile.id)
    if (known === undefined) return resolver.report(['tile'], `the dashboard has no tile ${quote(tile.id, 60)}`)
    return canCarryAlerts(known) ? tile.id : resolver.report(['tile'], cannotCarry(known))
  }
  const [found, second] = tiles.filter(({ name }) => name === tile)
  if (found === undefined) {
    const nearest = didYouMean(
      tile,
      tiles.map(({ name }) => String(name)),
    )
    return resolver.report(['tile'], `the dashboard has no tile named "${quote(tile, 60)}"${nearest}`)
  }
  if (second !== undefined) return resolver.report(['tile'], `the dashboard has several tiles named "${quote(tile, 60)}"; use { id: … }`)
  if (!canCarryAlerts(found)) return resolver.report(['tile'], cannotCarry(found))
  return found.id ?? (key === undefined ? undefined : new PendingId('dashboards', key, tile))
}

const cannotCarry = (tile: Body): string =>
  `a tile of type ${quote(String(displayTypeOf(tile)), 40)} cannot have alerts; types that can: ${alertableTypes.join(', ')}`

/** Servers before 2.36 do not support `channels`, so a single channel is sent as `channel`. */
const toChannels = (channels: readonly Body[]): Body => (channels.length === 1 ? { channel: channels[0] } : { channels })

type Channel = NonNullable<DeclaredAlert['channel']>

function toChannel(channel: Channel, path: readonly PropertyKey[], resolver: Resolver): Body {
  if (channel.type !== 'webhook') return channel
  const { webhook, ...fields } = channel
  if (webhook !== undefined) return { ...fields, webhookId: resolver.byName('webhook', webhook, [...path, 'webhook']) ?? webhook }
  if (resolver.listsWebhooks && fields.webhookId !== undefined) resolver.byId('webhook', fields.webhookId, [...path, 'webhookId'])
  return fields
}

/** The resource type of alerts. The profile decides which fields exist, and which of them holds the markers; the time decides which starts have no effect. */
export function createAlertType(
  profile: Pick<Profile, 'name' | 'statesDefaults'>,
  nowMs: number,
): ResourceType<DeclaredObject<DeclaredAlert>> {
  const fields = alertFieldsOf(profile)
  const markedField = fields.has('note') ? 'note' : 'message'
  const markedText = ({ [markedField]: text }: Body): string => (typeof text === 'string' ? text : '')
  // Under another profile the marker was in the other field.
  const readMarker = (body: Body) => readTextMarker(body[markedField]) ?? readTextMarker(body.note) ?? readTextMarker(body.message)
  const onlyKnown = <T>(map: Readonly<Record<string, T>>) => Object.fromEntries(Object.entries(map).filter(([field]) => fields.has(field)))
  return {
    section: 'alerts',
    noun: 'alert',
    collection: alertCollection,
    schema: z.object(onlyKnown<z.ZodType>(alertBodySchema.shape)),
    statesDefaults: profile.statesDefaults,
    clearWith: onlyKnown(clearWith),
    resolve: resolveAlert,
    explainUndeclarable(alert) {
      const form = unknownFormOf(alert)
      return form && `files cannot declare an alert with ${form}`
    },
    toBody: toAlertBody,
    ownership: 'marker',
    tokenOf: (body) => readMarker(body)?.token,
    markerStyle: textStyle,
    readMarker,
    withMarker: (body, marker) => ({ ...body, [markedField]: withTextMarker(markedText(body), marker) }),
    // Under another profile the marker was in the other field.
    withoutMarker: ({ note, message, ...body }) => {
      const [ownNote, ownMessage] = [note, message].map((text) => (typeof text === 'string' ? withoutTextMarker(text) : ''))
      return { ...body, ...(ownNote !== '' && { note: ownNote }), ...(ownMessage !== '' && { message: ownMessage }) }
    },
    readSnapshot: (body) => readTextSnapshot(body[markedField]),
    withSnapshot: (body, digest) => ({ ...body, [markedField]: withTextSnapshot(markedText(body), digest) }),
    canonical: (body) =>
      // The line of a marker includes the blanks before it, so trailing blanks do not count without a marker either.
      withoutEmpty(effectiveFields({ ...body, [markedField]: withoutTextMarker(markedText(body)).trimEnd() })),
    carryOverIds: (desired, stored) => {
      const merged = mergeChannels(desired, stored)
      return fields.has('scheduleStartAt') ? settleStart(merged, stored, nowMs) : merged
    },
    comparedPart: (stored, declared) => withoutHarmlessStart(stored, declared, nowMs),
    pulledPart: (stored, desired) => withoutUnpulledStart(stored, desired, nowMs),
  }
}

/**
 * The server refuses null as a second threshold or an offset, and before 2.34 as a grouping: left out, the second threshold is kept,
 * which means nothing without a range, and the grouping is cleared. A channel cannot be cleared: the server wants one. A start is never
 * cleared because a file has none (see `settleStart`).
 */
const clearWith: Body = {
  name: null,
  message: null,
  note: null,
  groupBy: undefined,
  thresholdMax: undefined,
  scheduleOffsetMinutes: 0,
  numConsecutiveWindows: null,
  dashboardId: null,
  tileId: null,
  savedSearchId: null,
}

/** Without the fields that have no effect in combination with the others, because the server keeps any value in them. */
function effectiveFields(body: Body): Body {
  const { dashboardId, tileId, savedSearchId, groupBy, thresholdMax, scheduleStartAt, channel, channels, ...fields } = body
  const isRange = typeof fields.thresholdType === 'string' && fields.thresholdType.endsWith('between')
  return {
    ...fields,
    ...(fields.source === 'saved_search' ? { savedSearchId, groupBy } : { dashboardId, tileId }),
    ...(isRange && { thresholdMax }),
    scheduleStartAt: typeof scheduleStartAt === 'string' ? toUtc(scheduleStartAt) : scheduleStartAt,
    channels: channelsOf(body).map(withoutWebhookService),
  }
}

/**
 * Keeps the fields of channels that no file can declare, and sends the first channel twice to a server that answers it twice: it refuses
 * an update in which the two differ. A server that does not answer `channels` knows a single channel only.
 */
function mergeChannels(desired: Body, stored: Body): Body {
  const [first, ...others] = channelsOf(desired).map((channel) => ({
    ...undeclarableFields(channelsOf(stored).find((other) => isSameTarget(other, channel))),
    ...channel,
  }))
  if (first === undefined) return desired
  const { channel: _, channels: __, ...fields } = desired
  const hasList = Array.isArray(stored.channels) || others.length > 0
  return { ...fields, channel: first, ...(hasList && { channels: [first, ...others] }) }
}

function channelsOf({ channel, channels }: Body): readonly Body[] {
  const list = listOf(channels)
  if (list.length > 0) return list
  return isFields(channel) ? [channel] : []
}

/** The server itself sets which service a webhook belongs to. */
const withoutWebhookService = ({ webhookService: _, ...channel }: Body): Body => channel

/** A field that a file could declare, and does not, is removed. */
const undeclarableFields = ({ slackChannelId: _, severity: __, ...channel }: Body = {}): Body => channel

const isSameTarget = (a: Body, b: Body): boolean => a.type === b.type && a.webhookId === b.webhookId
