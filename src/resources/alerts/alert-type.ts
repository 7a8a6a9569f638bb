import * as z from 'zod'
import type { Profile } from '../../api/profiles.ts'
import { isMap, withoutEmpty } from '../compare.ts'
import { readTextMarker, readTextSnapshot, textStyle, withoutTextMarker, withTextMarker, withTextSnapshot } from '../marker.ts'
import { type Body, type DeclaredObject, listOf, type ResourceType } from '../resource-type.ts'
import { type DeclaredAlert, resolveAlert } from './alert-declaration.ts'
import { alertBodySchema, alertCollection, alertFieldsOf, toAlertBody, toUtc } from './alert-wire.ts'

export function createAlertType(profile: Pick<Profile, 'name'>): ResourceType<DeclaredObject<DeclaredAlert>> {
  const fields = alertFieldsOf(profile)
  const markedField = fields.has('note') ? 'note' : 'message'
  const markedText = ({ [markedField]: text }: Body): string => (typeof text === 'string' ? text : '')
  const onlyKnown = <T>(map: Readonly<Record<string, T>>) => Object.fromEntries(Object.entries(map).filter(([field]) => fields.has(field)))
  return {
    section: 'alerts',
    noun: 'alert',
    collection: alertCollection,
    schema: z.object(onlyKnown<z.ZodType>(alertBodySchema.shape)),
    clearWith: onlyKnown(clearWith),
    resolve: resolveAlert,
    toBody: toAlertBody,
    markerStyle: textStyle,
    // Under another profile the marker was in the other field.
    readMarker: (body) => readTextMarker(body[markedField]) ?? readTextMarker(body.note) ?? readTextMarker(body.message),
    withMarker: (body, marker) => ({ ...body, [markedField]: withTextMarker(markedText(body), marker) }),
    readSnapshot: (body) => readTextSnapshot(body[markedField]),
    withSnapshot: (body, digest) => ({ ...body, [markedField]: withTextSnapshot(markedText(body), digest) }),
    canonical: (body) =>
      // The line of a marker includes the blanks before it, so trailing blanks do not count without a marker either.
      withoutEmpty(effectiveFields({ ...body, [markedField]: withoutTextMarker(markedText(body)).trimEnd() })),
    carryOverIds: mergeChannels,
  }
}

/**
 * The server refuses null as a second threshold or an offset, and before 2.34 as a grouping: left out, the second threshold is kept,
 * which means nothing without a range, and the grouping is cleared. A channel cannot be cleared: the server wants one.
 */
const clearWith: Body = {
  name: null,
  message: null,
  note: null,
  groupBy: undefined,
  thresholdMax: undefined,
  scheduleStartAt: null,
  scheduleOffsetMinutes: 0,
  numConsecutiveWindows: null,
  dashboardId: null,
  tileId: null,
  savedSearchId: null,
}

/** Without the fields that have no effect beside the others: they keep any value. */
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
  return isMap(channel) ? [channel] : []
}

/** The server itself sets which service a webhook belongs to. */
const withoutWebhookService = ({ webhookService: _, ...channel }: Body): Body => channel

/** A field that a file can declare, and does not, is to go. */
const undeclarableFields = ({ slackChannelId: _, severity: __, ...channel }: Body = {}): Body => channel

const isSameTarget = (a: Body, b: Body): boolean => a.type === b.type && a.webhookId === b.webhookId
