import type { Body } from '../../kinds/kind.ts'
import { type Activities, type Activity, listActivities } from '../../platform/api/activities.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { type ListedService, listServices } from '../../platform/api/services.ts'
import { addDays, type Day, dayOf, eachDay, plainDays } from '../../platform/core/dates.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import { causeOf, toFailure } from '../../platform/core/errors.ts'
import { mean } from '../../platform/core/statistics.ts'
import { whyNotTrusted } from '../usage/phrases.ts'
import type { UsageRecord } from '../usage/records.ts'
import { readUsageCost } from '../usage/usage-api.ts'

export interface DailyCompute {
  readonly day: Day
  readonly credits: number
  readonly isFinal: boolean
}

export const reasons = {
  'no-settings': 'the API does not say whether the service may sleep',
  'no-activities': 'the activities could not be read',
  'no-usage': 'the usage could not be read',
  'activities-without-time': 'activities without a time may hide when the service slept',
  'too-few-days':
    'fewer than 7 final days are completely known: activities do not reach back, contradict each other or are late, idling or scaling changed, the service was stopped, or records are provisional',
  'no-compute': 'the service has no compute usage while it is awake',
  'target-unknown': 'several services share the warehouse, and the sources use more than one connection, so the queried service is unknown',
  'alerts-do-not-wake': 'the service slept although alerts were evaluated, so its alerts seem to query another service',
} as const satisfies Readonly<Record<string, string>>

export type Reason = keyof typeof reasons

/** The times of a day at which a service was awake. */
export interface ObservedDay extends Interval {
  readonly awake: readonly Interval[]
}

/** A day whose usage is final, and on which the service was awake or asleep all the time. A stopped service does not show how it sleeps. */
interface KnownDay extends ObservedDay {
  readonly day: Day
  readonly credits: number
}

export interface ServiceProfile {
  readonly days: readonly KnownDay[]
  readonly awakeShare: number
  /** Credits per awake hour: at the smallest size that the days allow, and of all days together. */
  readonly rate: { readonly low: number; readonly mean: number }
  /** How long the service stays awake after a query: the setting, and what its shortest awake times show. */
  readonly timeoutMs: { readonly low: number; readonly high: number }
}

export const minDays = 7

interface ProfileOptions {
  readonly timeline: Timeline
  readonly usage: readonly DailyCompute[]
  readonly idleTimeoutMinutes: number
  /** The smallest size that autoscaling may choose, as a share of the largest. */
  readonly smallestShare: number
}

export function profileService({ timeline, usage, idleTimeoutMinutes, smallestShare }: ProfileOptions): ServiceProfile | Reason {
  const [awake, known] = [timeIn(timeline, 'awake'), timeIn(timeline, 'awake', 'asleep')]
  const days = usage.flatMap(({ day, credits, isFinal }): readonly KnownDay[] => {
    const whole = { fromMs: startMsOfDay(day), toMs: startMsOfDay(addDays(day, 1)) }
    if (!isFinal || whole.fromMs < (timeline.settingsChangedMs ?? 0) || lengthMs(intersect([whole], known)) < dayMs) return []
    const awakeThen = intersect([whole], awake)
    // Usage without awake time: an activity was lost. Awake time without usage: a record is missing.
    if (credits > 0 !== lengthMs(awakeThen) > 0) return []
    return [{ ...whole, day, credits, awake: awakeThen }]
  })
  if (days.length < minDays) return 'too-few-days'
  const rate = rateRange(days, smallestShare)
  if (rate === undefined) return 'no-compute'
  return {
    days,
    awakeShare: mean(days.map((day) => lengthMs(day.awake))) / dayMs,
    rate,
    timeoutMs: timeoutOf(timeline, idleTimeoutMinutes),
  }
}

const startMsOfDay = (day: Day) => Date.parse(day)

/**
 * A service that only runs for alerts has its smallest size. It costs no more than on the cheapest day, and no less than if the dearest day
 * had the largest size throughout.
 */
function rateRange(days: readonly KnownDay[], smallestShare: number): ServiceProfile['rate'] | undefined {
  const awakeDays = days.filter(({ awake }) => lengthMs(awake) > 0)
  // A day with less awake time has too coarse a rate, because usage is billed by the minute or coarser.
  const longDays = awakeDays.filter(({ awake }) => lengthMs(awake) >= hourMs)
  const rated = longDays.length > 0 ? longDays : awakeDays
  const hours = rated.map(({ awake }) => lengthMs(awake) / hourMs)
  const credits = rated.map((day) => day.credits)
  const total = credits.reduce((sum, one) => sum + one, 0)
  if (total <= 0) return undefined
  const rates = credits.map((one, i) => one / (hours[i] ?? 1))
  return {
    low: Math.min(...rates, Math.max(...rates) * smallestShare),
    mean: total / hours.reduce((sum, one) => sum + one, 0),
  }
}

/**
 * After slow starts, the timeout is 15, 30 or 60 minutes whatever the setting is (the vendor's page about idling). A service does not sleep
 * before its timeout, so that its shortest awake times show it.
 */
function timeoutOf(timeline: Timeline, idleTimeoutMinutes: number): ServiceProfile['timeoutMs'] {
  const low = idleTimeoutMinutes * minuteMs
  const lengths = timeline.segments
    .filter(({ state }, i, all) => state === 'awake' && all[i - 1]?.state === 'asleep' && all[i + 1]?.state === 'asleep')
    .map(({ fromMs, toMs }) => toMs - fromMs)
  const shortest = lengths.length === 0 ? low : Math.min(...lengths)
  // Starting, the query itself and noticing that the timeout has passed take minutes. How many is not documented.
  return { low, high: Math.max(low, Math.min(shortest, hourMs)) + 3 * minuteMs }
}

/** The last complete days before now that can be final: 31 at most, which one request can read. */
function usageDays(nowMs: number): { readonly from: Day; readonly to: Day } {
  const today = dayOf(nowMs)
  return { from: addDays(today, -31), to: addDays(today, -1) }
}

/** A part of time in milliseconds since the epoch. The end is not included. */
export interface Interval {
  readonly fromMs: number
  readonly toMs: number
}

/** The time that any of the intervals covers: sorted, and without overlaps. */
export function union(intervals: readonly Interval[]): readonly Interval[] {
  const joined: Interval[] = []
  for (const one of intervals.filter(({ fromMs, toMs }) => fromMs < toMs).toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1)
    if (last !== undefined && one.fromMs <= last.toMs)
      joined[joined.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, one.toMs) }
    else joined.push(one)
  }
  return joined
}

/** The time that both lists cover. Each list is sorted and without overlaps. */
export function intersect(a: readonly Interval[], b: readonly Interval[]): readonly Interval[] {
  const shared: Interval[] = []
  let [i, j] = [0, 0]
  for (let [left, right] = [a[i], b[j]]; left !== undefined && right !== undefined; [left, right] = [a[i], b[j]]) {
    const [fromMs, toMs] = [Math.max(left.fromMs, right.fromMs), Math.min(left.toMs, right.toMs)]
    if (fromMs < toMs) shared.push({ fromMs, toMs })
    if (left.toMs < right.toMs) i++
    else j++
  }
  return shared
}

export const lengthMs = (intervals: readonly Interval[]): number => intervals.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)

/** What a service did. `unknown` where activities contradict each other or do not reach back. */
type ServiceState = 'awake' | 'asleep' | 'stopped' | 'unknown'

export interface Segment extends Interval {
  readonly state: ServiceState
}

/** The states of a service over time: segments without gaps and overlaps. */
export interface Timeline {
  readonly segments: readonly Segment[]
  /** Time of the last change of idling or scaling. Earlier days say nothing about the present settings. */
  readonly settingsChangedMs: number | undefined
}

interface Transition {
  readonly after: ServiceState
  readonly before: readonly ServiceState[]
}

/** Source of the types: the vendor's OpenAPI document of 2026-07-31. What each of them does to the state is their plain meaning. */
const transitions: Readonly<Record<string, Transition>> = {
  service_idle: { after: 'asleep', before: ['awake'] },
  service_awaken: { after: 'awake', before: ['asleep'] },
  service_start: { after: 'awake', before: ['stopped', 'asleep'] },
  service_running: { after: 'awake', before: ['awake', 'asleep', 'stopped'] },
  service_partially_running: { after: 'awake', before: ['awake', 'asleep', 'stopped'] },
  service_create: { after: 'awake', before: ['stopped'] },
  service_stop: { after: 'stopped', before: ['awake', 'asleep'] },
  service_delete: { after: 'stopped', before: ['awake', 'asleep', 'stopped'] },
}

const currentStates: Readonly<Record<string, ServiceState>> = {
  running: 'awake',
  partially_running: 'awake',
  degraded: 'awake',
  starting: 'awake',
  awaking: 'awake',
  idle: 'asleep',
  stopped: 'stopped',
  stopping: 'stopped',
}

interface TimelineOptions {
  readonly serviceId: string
  readonly currentState: string | undefined
  readonly fromMs: number
  readonly nowMs: number
}

/** Whether a service in this state is awake or asleep. Any other state does not show what alerts would change. */
export const isAwakeOrAsleep = (state: string | undefined): boolean => ['awake', 'asleep'].includes(currentStates[state ?? ''] ?? 'unknown')

/**
 * The states of a service by the activities of its whole organization, sorted by time. The oldest activity proves how far the answer
 * reaches back, because the API does not document how long it keeps them. Two activities that cannot follow each other make the time
 * between them unknown: one in between was lost. The last state must be that of the list of services, otherwise it is unknown, too.
 */
export function readTimeline(activities: readonly Activity[], { serviceId, currentState, fromMs, nowMs }: TimelineOptions): Timeline {
  const own = activities.filter((activity) => activity.serviceId === serviceId)
  const changes = own.flatMap(({ type, atMs }) => {
    const transition = transitions[type]
    return transition === undefined || atMs > nowMs ? [] : [{ ...transition, atMs }]
  })
  const current = currentStates[currentState ?? ''] ?? 'unknown'
  const reachesMs = Math.max(fromMs, Math.min(nowMs, activities[0]?.atMs ?? nowMs))
  const segments: Segment[] = []
  let state: ServiceState = stateBefore(changes[0], current)
  let sinceMs = reachesMs
  for (const { atMs, after, before } of changes) {
    // A start is reported by more than one activity, such as `service_awaken` and `service_running`.
    const isRepeated = after === state && atMs - sinceMs <= 15 * minuteMs
    if (isRepeated) continue
    segments.push({ fromMs: sinceMs, toMs: atMs, state: before.includes(state) ? state : 'unknown' })
    state = after
    sinceMs = atMs
  }
  segments.push({ fromMs: sinceMs, toMs: nowMs, state: state === current ? state : 'unknown' })
  return {
    segments: [{ fromMs, toMs: reachesMs, state: 'unknown' as const }, ...segments].filter((one) => one.fromMs < one.toMs),
    settingsChangedMs: own.findLast(({ type }) =>
      ['service_update_autoscaling_idling', 'service_update_autoscaling_memory', 'service_update_autoscaling_replicas'].includes(type),
    )?.atMs,
  }
}

/** Without any activity, the service has been in its present state all the time. */
function stateBefore(first: Transition | undefined, current: ServiceState): ServiceState {
  if (first === undefined) return current
  return first.before.length === 1 ? (first.before[0] ?? 'unknown') : 'unknown'
}

const timeIn = ({ segments }: Timeline, ...states: readonly ServiceState[]): readonly Interval[] =>
  union(segments.filter(({ state }) => states.includes(state)))

/** Why something could not be read: the first line of the error, which names the missing permission. */
export interface ReadFailure {
  readonly failure: string
}

export interface Usage {
  readonly unit: string
  readonly records: readonly UsageRecord[]
  readonly from: Day
  readonly to: Day
}

/** What the API says about the services of an organization: three requests. */
export interface CostFacts {
  readonly services: readonly ListedService[]
  readonly activities: Activities | ReadFailure
  readonly usage: Usage | ReadFailure
  readonly nowMs: number
  readonly fromMs: number
}

/** Throws an ApiError when the services cannot be read. A key may lack the permission for the others. */
export async function readCostFacts(api: ReadApi, organizationId: string, nowMs: number): Promise<CostFacts> {
  // The state of a service on the first day of usage is known by its last change in the two weeks before it.
  const fromMs = Date.parse(usageDays(nowMs).from) - 14 * dayMs
  const [services, activities, usage] = await Promise.all([
    listServices(api, organizationId),
    orFailure(() => listActivities(api, organizationId, fromMs, nowMs)),
    orFailure(() => readCompute(api, organizationId, nowMs)),
  ])
  return { services, activities, usage, nowMs, fromMs }
}

async function readCompute(api: ReadApi, organizationId: string, nowMs: number): Promise<Usage | ReadFailure> {
  const { from, to } = usageDays(nowMs)
  const { unit, grandTotal, records } = await readUsageCost(api, organizationId, { from, to }, [])
  const failure = whyNotTrusted({ period: { from, to }, grandTotal, records }, unit, dayOf(nowMs))
  if (failure !== undefined) return { failure }
  // Usage without a final day would look as if services cost nothing.
  if (!records.some(({ locked }) => locked)) return { failure: `there are no final usage records for ${plainDays(from, to)}` }
  return { unit, records, from, to }
}

/** Whether alerts may query another service of the warehouse: the connections of sources do not say which one they lead to. */
export const hasUnknownTarget = (service: ListedService, services: readonly ListedService[], sources: readonly Body[]): boolean =>
  sharesWarehouse(service, services) &&
  new Set(sources.flatMap(({ connection }) => (typeof connection === 'string' ? connection : []))).size > 1

export const sharesWarehouse = ({ id, dataWarehouseId }: ListedService, services: readonly ListedService[]): boolean =>
  dataWarehouseId !== undefined && services.some((other) => other.id !== id && other.dataWarehouseId === dataWarehouseId)

async function orFailure<T>(read: () => Promise<T | ReadFailure>): Promise<T | ReadFailure> {
  try {
    return await read()
  } catch (thrown) {
    return { failure: causeOf(toFailure(thrown)) }
  }
}

/**
 * The compute usage of a service for each day. A day is final when the organization has final records for it, and none of the service can
 * change any more. A service that slept has no record.
 */
export function dailyCompute({ records, from, to }: Usage, serviceId: string): readonly DailyCompute[] {
  const final = new Set(records.filter(({ locked }) => locked).map(({ date }) => date))
  const own = Map.groupBy(
    records.filter((record) => record.entityType === 'service' && (record.serviceId ?? record.entityId) === serviceId),
    ({ date }) => date,
  )
  return [...eachDay(from, to)].map((day) => {
    const ofDay = own.get(day) ?? []
    return {
      day,
      credits: ofDay.reduce((sum, { metrics }) => sum + (metrics.compute?.toNumber() ?? 0), 0),
      isFinal: final.has(day) && ofDay.every(({ locked }) => locked),
    }
  })
}

export function profileOf(facts: CostFacts, service: ListedService): ServiceProfile | Reason {
  const { activities, usage, nowMs, fromMs } = facts
  if (service.idleTimeoutMinutes === undefined) return 'no-settings'
  if ('failure' in activities) return 'no-activities'
  if ('failure' in usage) return 'no-usage'
  if (activities.withoutTime > 0) return 'activities-without-time'
  const timeline = readTimeline(activities.activities, { serviceId: service.id, currentState: service.state, fromMs, nowMs })
  const { minReplicaMemoryGb = 1, maxReplicaMemoryGb = minReplicaMemoryGb, autoscalingMode } = service
  return profileService({
    timeline,
    usage: dailyCompute(usage, service.id),
    idleTimeoutMinutes: service.idleTimeoutMinutes,
    smallestShare: autoscalingMode === 'horizontal' ? 0 : minReplicaMemoryGb / maxReplicaMemoryGb,
  })
}
