import * as z from 'zod'
import type { Profile } from '../../platform/api/profiles.ts'
import { formatMoment } from '../../platform/core/dates.ts'
import { isSame } from '../../platform/core/equality.ts'
import { getById, isMapping, withoutUndefined } from '../../platform/core/keys.ts'
import { ownValue, valueAt } from '../../platform/documents/schema.ts'
import { describeQuery, queryDashboardKey } from '../alert-query/alert-query.ts'
import { comparable, withoutDefaults, withoutEmpty } from '../compare.ts'
import { builtConfig, writtenConfig } from '../dashboard/dashboard.ts'
import { effectiveTile } from '../dashboard/tiles.ts'
import { clearing, encode, fieldsLeftToService, spellFields, uniqueNameOf, wireSchema, withPlainNumbers } from '../derive.ts'
import {
  type Body,
  type DeclaredObject,
  type FileContext,
  type Kind,
  listOf,
  pageFor,
  type ResolveContext,
  type ResolvedDeclaration,
  watchedPlaceOf,
} from '../kind.ts'
import { kindLabels } from '../kind-names.ts'
import { type StoredMarker, textMarkers, withoutMarkerTags, withoutTextMarker, withQueryTile } from '../marker.ts'
import { PendingId } from '../name-index.ts'
import {
  alertCollection,
  alertSources,
  type DeclaredAlert,
  declaredAlert,
  describeCondition,
  toAlertBody,
  toUtc,
  unknownFormOf,
} from './alert.ts'
import { carryOverStart, undeclaredSilenceOf, withoutHarmlessStart, withoutUnpulledStart, withSilenceOf } from './schedule.ts'

/** Servers before 2.36 do not know `channels`, so a single channel is sent as `channel`. */
function resolveAlert(declared: DeclaredObject<DeclaredAlert>, context: ResolveContext, definition: z.ZodObject): ResolvedDeclaration {
  const { body, diagnostics } = encode(definition, declared, context)
  const { name, channels, raw, ...fields } = body
  const whole = {
    name,
    source: declared.value.savedSearch === undefined ? 'tile' : 'saved_search',
    ...fields,
    ...(Array.isArray(channels) && (channels.length === 1 ? { channel: channels[0] } : { channels })),
    ...(isMapping(raw) && raw),
  }
  return { body: Object.fromEntries(Object.entries(whole).filter(([, value]) => value != null)), diagnostics }
}

/** The kind of alerts. The profile decides what an update keeps; the time decides which starts have no effect. */
export function createAlertKind(
  profile: Pick<Profile, 'isSelfHosted'>,
  nowMs: number,
  definition: z.ZodObject = declaredAlert,
): Kind<DeclaredObject<DeclaredAlert>> {
  const left = fieldsLeftToService(definition)
  const markers = textMarkers('note')
  const kind: Kind<DeclaredObject<DeclaredAlert>> = {
    name: 'alert',
    label: kindLabels.alert,
    collection: alertCollection,
    schema: wireSchema(definition).extend({ source: z.enum(alertSources).optional() }),
    clearsBy: clearing(definition),
    resolve: (declared, context) => resolveAlert(declared, context, definition),
    explainUndeclarable(alert, declared) {
      const form = unknownFormOf(alert, declared)
      return form && `files have no field but raw for ${form}, and a write could lose it`
    },
    summarize: summarizeAlert,
    toBody: toAlertBody,
    placeOf: watchedPlaceOf,
    ...markers,
    withMarker: (body, marker, declared) =>
      markers.withMarker(body, { ...marker, ...(declared?.query !== undefined && { queryTile: '-' }) }),
    completeMarker({ note, ...body }) {
      const finalNote = typeof note === 'string' && typeof body.tileId === 'string' ? withQueryTile(note, body.tileId) : note
      return { ...body, ...(note !== undefined && { note: finalNote }) }
    },
    withoutMarker: ({ note, tags, ...body }) => {
      const own = withoutTextMarker(note)
      return { ...body, ...(own !== '' && { note: own }), ...ownTags(tags) }
    },
    canonical: (body) =>
      // The line of a marker includes the blanks before it, so trailing blanks do not count without a marker either.
      withoutEmpty(effectiveFields({ ...body, note: withoutTextMarker(body.note).trimEnd() })),
    withStoredIds: (desired, stored) => {
      // If an update leaves out display name and tags, the server makes new ones of what the alert watches. A gateway may answer these fields, and
      // refuse them in a request.
      const own = { ...stored, ...ownTags(stored.tags) }
      const kept = profile.isSelfHosted ? left.filter((field) => !Object.hasOwn(desired, field) && own[field] != null) : []
      const merged = mergeChannels({ ...desired, ...Object.fromEntries(kept.map((field) => [field, own[field]])) }, stored)
      return carryOverStart(merged, stored, nowMs)
    },
    comparedPart(stored, declared) {
      const compared = Object.entries(stored).filter(([field]) => !left.includes(field) || Object.hasOwn(declared, field))
      return withoutHarmlessStart(Object.fromEntries(compared), declared, nowMs)
    },
    // A silence is a start, and no change of what the alert is.
    basePart: ({ scheduleStartAt: _, ...body }) => body,
    newerFields: left,
    pulledPart: (stored, desired) => withoutUnpulledStart(stored, desired, nowMs),
    file: {
      name: 'alerts',
      beside: ({ dashboard: key }) => (typeof key === 'string' ? { kind: 'dashboard', key } : undefined),
      defaultFields: ['dashboard', 'interval', 'channel'],
    },
    toFile(body, context) {
      return spellAlert(comparable(kind, body), withoutQueriesOfOthers(context, markers.readMarker(body), body), definition)
    },
    check(desired, stored) {
      const untilMs = stored && undeclaredSilenceOf(stored, desired, nowMs)
      return untilMs === undefined ? [] : [{ rule: 'silenced', message: `silenced until ${formatMoment(untilMs)}` }]
    },
    recreate: (desired, stored) => withSilenceOf(stored, desired, nowMs),
    // An alert has no page of its own: https://github.com/hyperdxio/hyperdx, `packages/app/pages`.
    page: ({ dashboardId, savedSearchId }) => pageFor('dashboards', dashboardId) ?? pageFor('search', savedSearchId),
  }
  return kind
}

function spellAlert(body: Body, context: FileContext, definition: z.ZodObject): Body {
  const alert = withPlainNumbers(body)
  const channels = listOf(alert.channels).map((channel) => spellChannel(channel, context))
  const [channel] = channels
  const raw = Object.keys(ownValue(context.spelled, 'raw') ?? {}).flatMap((field) =>
    alert[field] === undefined ? [] : [[field, alert[field]] as const],
  )
  const isSingle = channels.length === 1 && ownValue(context.spelled, 'channels') === undefined
  const values: Body = {
    ...alert,
    ...spellTarget(alert, context),
    raw: raw.length === 0 ? undefined : Object.fromEntries(raw),
    thresholdType: alert.thresholdType === 'above' ? undefined : alert.thresholdType,
    scheduleStartAt: typeof alert.scheduleStartAt === 'string' ? alert.scheduleStartAt.replace(/\.000Z$/, 'Z') : undefined,
    channel: isSingle ? channel : undefined,
    channels: isSingle || channels.length === 0 ? undefined : channels,
  }
  const left = fieldsLeftToService(definition).filter((field) => isLeftOut(field, alert, context))
  const written = Object.keys(definition.shape).filter((field) => !left.includes(field))
  return withoutUndefined(Object.fromEntries(written.map((field) => [field, values[field]])))
}

/** Whether a file needs no value: it declares none, or the server would make the same one of what a new alert watches. */
function isLeftOut(field: string, alert: Body, { spelled, nameIndex }: FileContext) {
  if (spelled !== undefined) return ownValue(spelled, field) === undefined
  const { source, savedSearchId, dashboardId, tileId, name } = alert
  const [kind, id] = source === 'saved_search' ? (['savedSearch', savedSearchId] as const) : (['dashboard', dashboardId] as const)
  const watched = getById(nameIndex.all(kind), id)
  if (watched === undefined) return false
  if (field === 'tags') return isSame(alert.tags, withoutMarkerTags(ownValue(watched, 'tags')).toSorted())
  const tile = kind === 'dashboard' ? ` - ${nameIndex.nameOf(watchedPlaceOf({ dashboardId: id, tileId }))?.trim() || 'Tile'}` : ''
  return [name, `${watched.name?.trim()}${tile}`].includes(alert[field])
}

function spellChannel({ type, webhookId, ...others }: Body, { nameIndex }: FileContext): Body {
  const name = uniqueNameOf(nameIndex, 'webhook', webhookId)
  return withoutUndefined({ type, ...(name === undefined ? { webhookId } : { webhook: name }), ...others })
}

/** The object that an alert watches: by its key in these files, else by its name if that is unique, else by its id. */
function spellTarget(alert: Body, context: FileContext): Body {
  const { source, dashboardId, tileId, savedSearchId } = alert
  const spell = (kind: 'dashboard' | 'savedSearch', id: unknown): unknown => {
    if (id == null) return undefined
    const key = id instanceof PendingId ? id.key : context.keyOf(kind, id)
    const name = uniqueNameOf(context.nameIndex, kind, id)
    return key ?? (name === undefined ? { id } : { name })
  }
  if (source === 'saved_search') return { savedSearch: spell('savedSearch', savedSearchId) }
  const queried = spellQuery(alert, context)
  const dashboard = spell('dashboard', dashboardId)
  if (queried !== undefined) return { ...queried, dashboard: dashboard === queryDashboardKey ? undefined : dashboard }
  return { dashboard, tile: tileId == null ? undefined : spellTile(dashboardId, tileId, context) }
}

/** A tile by its name, unless the file has its id, or another tile has the name. */
function spellTile(dashboardId: unknown, tileId: unknown, { spelled, tilesOf }: FileContext): unknown {
  if (tileId instanceof PendingId) return tileId.tile
  const tiles = tilesOf(dashboardId)
  const name = tiles.find(({ id }) => id === tileId)?.name
  const isUnique = typeof name === 'string' && name !== '' && tiles.filter((tile) => tile.name === name).length === 1
  return isUnique && valueAt(spelled, ['tile', 'id']) !== tileId ? name : { id: tileId }
}

/** `Errors on Checkout ≥ 5 in 5m, 2 times in a row → webhook oncall`. */
function summarizeAlert(body: Body, nameOf: (id: unknown) => string, { query }: DeclaredAlert) {
  const { savedSearchId, dashboardId, tileId, groupBy, numConsecutiveWindows: repeats } = body
  const place = watchedPlaceOf({ dashboardId, tileId })
  // A reference that means nothing is as the file spells it, and a place of it has no name.
  const tile = place === undefined ? nameOf(tileId) : nameOf(place) === place ? String(tileId) : nameOf(place)
  const onTile = query === undefined ? `${tile} on ${nameOf(dashboardId)}` : describeQuery(query)
  const watched = savedSearchId === undefined ? onTile : `${nameOf(savedSearchId)}${groupBy === undefined ? '' : ` by ${String(groupBy)}`}`
  const inARow = typeof repeats === 'number' && repeats > 1 ? `, ${repeats} times in a row` : ''
  const channels = channelsOf(body).map(({ type, webhookId, emailRecipients }) =>
    type === 'webhook' ? `webhook ${nameOf(webhookId)}` : `email ${String(emailRecipients)}`,
  )
  return `${watched} ${describeCondition(body, 'in')}${inARow} → ${channels.join(', ') || 'no channel'}`
}

/** Drops the fields that have no effect in combination with the others, because the server keeps any value in them. */
function effectiveFields(body: Body): Body {
  const { dashboardId, tileId, savedSearchId, groupBy, thresholdMax, scheduleStartAt, channel, channels, tags, ...fields } = body
  const isRange = typeof fields.thresholdType === 'string' && fields.thresholdType.endsWith('between')
  return {
    ...fields,
    ...(fields.source === 'saved_search' ? { savedSearchId, groupBy } : { dashboardId, tileId }),
    ...(isRange && { thresholdMax }),
    scheduleStartAt: typeof scheduleStartAt === 'string' ? toUtc(scheduleStartAt) : scheduleStartAt,
    // The server itself sets which service a webhook belongs to.
    channels: channelsOf(body).map(({ webhookService: _, ...channel }) => channel),
    ...ownTags(tags),
  }
}

/** The tags without markers: a server gives an alert those of its dashboard. */
const ownTags = (tags: unknown): Body => (Array.isArray(tags) ? { tags: withoutMarkerTags(tags).toSorted() } : {})

/**
 * Keeps the fields of channels that no file can declare, and sends the first channel twice to a server that answers it twice: it refuses
 * an update in which the two differ. A server that does not answer `channels` knows a single channel only.
 */
function mergeChannels(desired: Body, stored: Body): Body {
  const [first, ...others] = channelsOf(desired).map((channel) => ({
    ...undeclarableFields(channelsOf(stored).find((other) => other.type === channel.type && other.webhookId === channel.webhookId)),
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
  return isMapping(channel) ? [channel] : []
}

/** A field that a file could declare, and does not, is removed. */
const undeclarableFields = ({ slackChannelId: _, severity: __, ...channel }: Body = {}): Body => channel

/**
 * The context of an alert of a project that is on the tile of a person. A new file does not name a dashboard for queries by its key, because the
 * dashboard that files declare under the key does not have this tile.
 */
function withoutQueriesOfOthers(context: FileContext, marker: StoredMarker | undefined, { tileId }: Body): FileContext {
  if (marker === undefined || marker.queryTile === tileId) return context
  return {
    ...context,
    isForQueries: () => false,
    keyOf: (kind, id) => (context.spelled === undefined && context.isForQueries?.(id) ? undefined : context.keyOf(kind, id)),
  }
}

const chart = z.union([builtConfig, writtenConfig])

/** The query of an alert as its file has it. Undefined for an alert without one; its `query` is undefined where the tile is unknown. */
function spellQuery({ dashboardId, tileId }: Body, context: FileContext): { readonly query: Body | undefined } | undefined {
  const spelled = ownValue(context.spelled, 'query')
  if (spelled === undefined && (context.spelled !== undefined || !context.isForQueries?.(dashboardId, tileId))) return undefined
  const tile = context.tilesOf(dashboardId).find(({ id, name }) => (tileId instanceof PendingId ? name === tileId.tile : id === tileId))
  const value = tile && effectiveTile(tile).config
  if (!isMapping(value)) return { query: undefined }
  const inFile = { ...(isMapping(spelled) && spelled), sqlTemplate: ownValue(spelled, 'sql') }
  const config = spellFields({ value, normalized: withoutDefaults(value, chart), spelled: inFile }, chart, context)
  const { configType: _, displayType: __, sqlTemplate: sql, ...fields } = config
  return { query: { ...(sql !== undefined && { sql }), ...fields } }
}
