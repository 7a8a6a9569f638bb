import type { Activity } from '../../platform/api/activities.ts'
import { minuteMs } from '../../platform/core/durations.ts'
import { type Interval, union } from './intervals.ts'

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

const settingTypes: readonly string[] = [
  'service_update_autoscaling_idling',
  'service_update_autoscaling_memory',
  'service_update_autoscaling_replicas',
]

/** A start is reported by more than one activity, such as `service_awaken` and `service_running`. */
const repeatedMs = 15 * minuteMs

/** The state that the list of services shows, by the state of the API. */
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
    const isRepeated = after === state && atMs - sinceMs <= repeatedMs
    if (isRepeated) continue
    segments.push({ fromMs: sinceMs, toMs: atMs, state: before.includes(state) ? state : 'unknown' })
    state = after
    sinceMs = atMs
  }
  segments.push({ fromMs: sinceMs, toMs: nowMs, state: state === current ? state : 'unknown' })
  return {
    segments: [{ fromMs, toMs: reachesMs, state: 'unknown' as const }, ...segments].filter((one) => one.fromMs < one.toMs),
    settingsChangedMs: own.findLast(({ type }) => settingTypes.includes(type))?.atMs,
  }
}

/** Without any activity, the service has been in its present state all the time. */
function stateBefore(first: Transition | undefined, current: ServiceState): ServiceState {
  if (first === undefined) return current
  return first.before.length === 1 ? (first.before[0] ?? 'unknown') : 'unknown'
}

/** The time in any of the states. */
export const timeIn = ({ segments }: Timeline, ...states: readonly ServiceState[]): readonly Interval[] =>
  union(segments.filter(({ state }) => states.includes(state)))
