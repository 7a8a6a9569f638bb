// Owns what an alert's fields must be to each other and to the rest of the service. Source: HyperDX server code, by way of its 400s.
import { isSame } from '../../kernel/same.ts'
import type { Problem } from '../problems.ts'
import type { Channel, Service } from '../store.ts'
import { type AlertBody, minutesOfInterval } from './alert-body.ts'
import { mayCarryAlert } from './tile-alerts.ts'

const dayMs = 86_400_000

export function checkAlert(body: AlertBody, service: Service, nowMs: number): Problem[] {
  return [
    ...(body.source === 'tile' ? checkTile(body, service) : checkSavedSearch(body, service)),
    ...checkRange(body),
    ...checkSchedule(body, nowMs),
    ...checkChannels(body, service),
  ]
}

function checkTile({ dashboardId, tileId, groupBy }: AlertBody, service: Service): Problem[] {
  if (groupBy != null) return [{ path: 'groupBy', message: 'only alerts on saved searches have groupBy' }]
  if (dashboardId == null) return [{ path: 'dashboardId', message: 'required for source tile' }]
  if (tileId == null) return [{ path: 'tileId', message: 'required for source tile' }]
  const dashboard = service.dashboards.find(({ id }) => id === dashboardId)
  if (dashboard === undefined) return [{ path: 'dashboardId', message: `dashboard ${dashboardId} does not exist` }]
  const tile = dashboard.tiles.find(({ id }) => id === tileId)
  if (tile === undefined) return [{ path: 'tileId', message: `tile ${tileId} does not exist in dashboard ${dashboardId}` }]
  if (!mayCarryAlert(tile)) return [{ path: 'tileId', message: 'alerts need a tile of display type line, stacked_bar or number' }]
  return []
}

function checkSavedSearch({ savedSearchId }: AlertBody, service: Service): Problem[] {
  if (savedSearchId == null) return [{ path: 'savedSearchId', message: 'required for source saved_search' }]
  if (service.savedSearches.some(({ id }) => id === savedSearchId)) return []
  return [{ path: 'savedSearchId', message: `saved search ${savedSearchId} does not exist` }]
}

function checkRange({ thresholdType, threshold, thresholdMax }: AlertBody): Problem[] {
  if (thresholdType !== 'between' && thresholdType !== 'not_between') return []
  if (thresholdMax == null) return [{ path: 'thresholdMax', message: `required for thresholdType ${thresholdType}` }]
  return thresholdMax < threshold ? [{ path: 'thresholdMax', message: 'must be greater than or equal to threshold' }] : []
}

function checkSchedule({ scheduleOffsetMinutes, scheduleStartAt, interval }: AlertBody, nowMs: number): Problem[] {
  const problems: Problem[] = []
  const offset = scheduleOffsetMinutes ?? 0
  const refuse = (path: string, message: string): number => problems.push({ path, message })
  if (scheduleStartAt != null && offset > 0) refuse('scheduleOffsetMinutes', 'must be 0 when scheduleStartAt is set')
  if (offset >= minutesOfInterval[interval]) refuse('scheduleOffsetMinutes', `must be less than the interval of ${interval}`)
  if (scheduleStartAt == null) return problems
  const startMs = Date.parse(scheduleStartAt)
  if (startMs > nowMs + 365 * dayMs) refuse('scheduleStartAt', 'must be within 1 year from now')
  if (startMs < nowMs - 3650 * dayMs) refuse('scheduleStartAt', 'must not be more than 10 years ago')
  return problems
}

function checkChannels(body: AlertBody, service: Service): Problem[] {
  const channels = channelsOf(body)
  if (channels.length === 0) return [{ path: 'channel', message: 'required' }]
  if (body.channel !== undefined && !isSame(body.channel, channels[0])) {
    return [{ path: 'channel', message: 'must equal channels[0] when both are sent' }]
  }
  const targets = channels.map((channel) => (channel.type === 'webhook' ? channel.webhookId : channel.emailRecipients.toSorted().join()))
  if (new Set(targets).size < targets.length) return [{ path: 'channels', message: 'must not name a target twice' }]
  const path = body.channels === undefined ? 'channel.webhookId' : 'channels'
  return channels.flatMap((channel) => {
    if (channel.type === 'email' || service.webhooks.some(({ id }) => id === channel.webhookId)) return []
    return [{ path, message: `webhook ${channel.webhookId} does not exist` }]
  })
}

export const channelsOf = ({ channel, channels }: AlertBody): Channel[] => channels ?? (channel === undefined ? [] : [channel])
