// Owns what plan and apply must know of alerts.
import * as z from 'zod'
import { alertBodySchema } from '../../api/alert-body.ts'
import { type Alert, toAlertBody } from '../../api/alerts.ts'
import { markInText, markText, textStyle, withoutMarkLine } from '../marker.ts'
import { normalForm } from '../normal-form.ts'
import type { Actual, Body, Kind } from './kind.ts'

/** `knows` says which fields the product behind the API has. The others belong to whoever put them there. */
export function createAlertKind(knows: (field: string) => boolean): Kind & { readonly section: 'alerts' } {
  const marked = knows('note') ? 'note' : 'message'
  const clearWith = Object.fromEntries(Object.entries(clearing).filter(([field]) => knows(field)))
  return {
    section: 'alerts',
    noun: 'alert',
    schema: z.object(Object.fromEntries(Object.entries(alertBodySchema.shape).filter(([field]) => knows(field)))),
    clearWith,
    bodyOf: (actual: Actual) => toAlertBody(actual as Alert),
    markStyle: textStyle,
    markIn: (body) => markInText(body[marked]),
    withMark: (body, mark) => ({ ...body, [marked]: markText(body[marked] as string | undefined, mark) }),
    comparable: (body) =>
      normalForm(relevantPart({ ...body, [marked]: withoutMarkLine(body[marked] as string | undefined) }), assumed) as Body,
    withIds: withBothChannels,
  }
}

// A channel cannot be cleared: the server wants one.
const clearing = {
  name: null,
  message: null,
  note: null,
  groupBy: null,
  thresholdMax: null,
  scheduleStartAt: null,
  scheduleOffsetMinutes: 0,
  numConsecutiveWindows: null,
  dashboardId: null,
  tileId: null,
  savedSearchId: null,
}

const assumed = { scheduleOffsetMinutes: 0 }

/** Fields that mean nothing beside the others keep whatever they are. */
function relevantPart({
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
    scheduleStartAt: typeof scheduleStartAt === 'string' ? instantOf(scheduleStartAt) : scheduleStartAt,
    channels: channelsOf({ channel, channels }).map(targetOf),
  }
}

function instantOf(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString()
}

const channelsOf = ({ channel, channels }: Body): readonly Body[] => {
  if (Array.isArray(channels) && channels.length > 0) return channels as readonly Body[]
  return typeof channel === 'object' && channel !== null ? [channel as Body] : []
}

/** The server says itself which service a webhook belongs to. */
const targetOf = ({ webhookService: _, ...channel }: Body): Body => channel

/** Newer servers answer the first channel twice, and refuse an update in which the two differ. */
function withBothChannels(desired: Body, actual: Body): Body {
  const list = channelsOf(desired)
  if (list.length === 0) return desired
  const known = channelsOf(actual)
  const full = list.map((channel) => ({ ...unsaid(known.find((other) => isSameTarget(other, channel))), ...channel }))
  const { channel: _, channels: __, ...rest } = desired
  return Array.isArray(actual.channels) || full.length > 1 ? { ...rest, channel: full[0], channels: full } : { ...rest, channel: full[0] }
}

/** What no file can say of a channel; what one can and does not is to go. */
const unsaid = ({ slackChannelId: _, severity: __, ...channel }: Body = {}): Body => channel

const isSameTarget = (a: Body, b: Body): boolean => a.type === b.type && a.webhookId === b.webhookId
