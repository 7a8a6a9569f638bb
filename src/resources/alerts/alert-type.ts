// What plan and apply must know of alerts.

import * as z from 'zod'
import type { Collection } from '../../api/collection.ts'
import { withoutEmpty } from '../compare.ts'
import { readTextMarker, readTextSnapshot, textStyle, withoutTextMarker, withTextMarker, withTextSnapshot } from '../marker.ts'
import type { Body, RemoteObject, ResourceType } from '../resource-type.ts'
import { type Alert, alertBodySchema, alertCollection, toAlertBody } from './alert-wire.ts'

/** `knows` says which fields the product behind the API has. The others belong to whoever put them there. */
export function createAlertType(knows: (field: string) => boolean): ResourceType & { readonly section: 'alerts' } {
  const marked = knows('note') ? 'note' : 'message'
  const textOf = (body: Body): string | undefined => body[marked] as string | undefined
  const clearWith = Object.fromEntries(Object.entries(clearing).filter(([field]) => knows(field)))
  return {
    section: 'alerts',
    noun: 'alert',
    collection: alertCollection as Collection<RemoteObject, Body>,
    schema: z.object(Object.fromEntries(Object.entries(alertBodySchema.shape).filter(([field]) => knows(field)))),
    clearWith,
    toBody: (actual: RemoteObject) => toAlertBody(actual as Alert),
    markerStyle: textStyle,
    // Under another profile the marker was in the other field.
    readMarker: (body) => readTextMarker(body[marked]) ?? readTextMarker(body.note) ?? readTextMarker(body.message),
    withMarker: (body, mark) => ({ ...body, [marked]: withTextMarker(textOf(body), mark) }),
    readSnapshot: (body) => readTextSnapshot(body[marked]),
    withSnapshot: (body, digest) => ({ ...body, [marked]: withTextSnapshot(textOf(body) ?? '', digest) }),
    canonical: (body) =>
      // A marker takes the blanks before it along, so they mean nothing without one either.
      withoutEmpty(effectivePart({ ...body, [marked]: withoutTextMarker(textOf(body)).trimEnd() })) as Body,
    carryOverIds: withChannels,
  }
}

/**
 * The server refuses null as a second threshold or an offset, and before 2.34 as a grouping: left out, the second threshold is kept,
 * which means nothing without a range, and the grouping is cleared. A channel cannot be cleared: the server wants one.
 */
const clearing: Body = {
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

/** Fields that mean nothing beside the others keep whatever they are. */
function effectivePart({
  dashboardId,
  tileId,
  savedSearchId,
  groupBy,
  thresholdMax,
  scheduleStartAt,
  channel,
  channels,
  ...body
}: Body): Body {
  const isRange = typeof body.thresholdType === 'string' && body.thresholdType.endsWith('between')
  return {
    ...body,
    ...(body.source === 'saved_search' ? { savedSearchId, groupBy } : { dashboardId, tileId }),
    ...(isRange && { thresholdMax }),
    scheduleStartAt: typeof scheduleStartAt === 'string' ? toUtc(scheduleStartAt) : scheduleStartAt,
    channels: channelsOf({ channel, channels }).map(targetOf),
  }
}

/** The server takes times in UTC only. */
export function toUtc(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString()
}

export const channelsOf = ({ channel, channels }: Body): readonly Body[] => {
  if (Array.isArray(channels) && channels.length > 0) return channels as readonly Body[]
  return typeof channel === 'object' && channel !== null ? [channel as Body] : []
}

/** The server says itself which service a webhook belongs to. */
const targetOf = ({ webhookService: _, ...channel }: Body): Body => channel

/** A server that answers the first channel twice refuses an update in which the two differ. One that does not knows no `channels`. */
function withChannels(desired: Body, actual: Body): Body {
  const list = channelsOf(desired)
  if (list.length === 0) return desired
  const known = channelsOf(actual)
  const full = list.map((channel) => ({ ...undeclarable(known.find((other) => isSameTarget(other, channel))), ...channel }))
  const { channel: _, channels: __, ...rest } = desired
  return Array.isArray(actual.channels) || full.length > 1 ? { ...rest, channel: full[0], channels: full } : { ...rest, channel: full[0] }
}

/** The fields of a channel that no file can declare; one that a file can declare, and does not, is to go. */
const undeclarable = ({ slackChannelId: _, severity: __, ...channel }: Body = {}): Body => channel

const isSameTarget = (a: Body, b: Body): boolean => a.type === b.type && a.webhookId === b.webhookId
