// A service that sleeps and wakes by known causes, minute by minute. The same causes run with and without other alerts, so that the true
// price of alerts is known.

import type { AlertSchedule } from '../../src/cost/idling/price.ts'
import type { DailyCompute } from '../../src/cost/idling/profile.ts'
import { demo, type Emulator } from '../../src/emulator/index.ts'
import type { Activity } from '../../src/platform/api/activities.ts'
import { addDays, type Day, dayOf } from '../../src/platform/core/dates.ts'
import { dayMs, minuteMs } from '../../src/platform/core/durations.ts'
import { randomFrom } from './random.ts'

export const serviceId = 'c0ffee00-0000-4000-8000-0000000000c3'

/** A Monday. */
export const startMs = Date.parse('2026-08-03T00:00:00Z')
export const historyDays = 45
export const nowMs = startMs + historyDays * dayMs + 12 * 60 * minuteMs

export interface Workload {
  readonly idleTimeoutMinutes: number
  /** The timeout that the platform applies: longer after slow starts. */
  readonly effectiveTimeoutMinutes: number
  readonly isReadonly: boolean
  /** Ingestion every so many minutes, for so long; 0 for none. */
  readonly ingestion: { readonly everyMinutes: number; readonly minutes: number }
  /** Queries of people on a working day, and on a day of the weekend. */
  readonly queries: { readonly workday: number; readonly weekend: number }
  /** Minutes that merges go on after ingestion. */
  readonly mergeMinutes: number
  /** Size under load, by the size without load. */
  readonly scaledUp: number
  readonly creditsPerHour: number
  /** Share of events that never appear. */
  readonly lostShare: number
  /** Events of the last hours appear later. */
  readonly lateHours: number
  readonly alerts: readonly AlertSchedule[]
}

/** A service that people query on working days. It sleeps at night, and nothing about it is wasteful. */
export const office: Workload = {
  idleTimeoutMinutes: 5,
  effectiveTimeoutMinutes: 5,
  isReadonly: true,
  ingestion: { everyMinutes: 0, minutes: 0 },
  queries: { workday: 40, weekend: 4 },
  mergeMinutes: 0,
  scaledUp: 1,
  creditsPerHour: 0.3,
  lostShare: 0,
  lateHours: 0,
  alerts: [],
}

const pick = <T>(random: () => number, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T // In range.

export function randomWorkload(seed: number): Workload {
  const random = randomFrom(seed)
  const idleTimeoutMinutes = pick(random, [5, 10, 15, 15, 30])
  const isReadonly = random() < 0.5
  const slow = random()
  return {
    idleTimeoutMinutes,
    effectiveTimeoutMinutes: slow < 0.85 ? idleTimeoutMinutes : Math.max(idleTimeoutMinutes, pick(random, [15, 30, 60])),
    isReadonly,
    ingestion: isReadonly
      ? { everyMinutes: 0, minutes: 0 }
      : { everyMinutes: pick(random, [0, 60, 180, 720, 1440]), minutes: pick(random, [2, 10, 30]) },
    queries: { workday: pick(random, [0, 5, 30, 100]), weekend: pick(random, [0, 2, 10]) },
    mergeMinutes: isReadonly ? 0 : pick(random, [0, 5, 20]),
    scaledUp: pick(random, [1, 1, 1.5, 2, 3]),
    creditsPerHour: 0.2 + random() * 2,
    lostShare: pick(random, [0, 0, 0, 0.002, 0.01]),
    lateHours: pick(random, [0, 0, 0.2, 3]),
    alerts: random() < 0.3 ? [{ intervalMs: pick(random, [6, 12, 24]) * 60 * minuteMs, offsetMs: 0 }] : [],
  }
}

/** A service scales down after a quiet window of three hours: the vendor's page about scaling recommendations. */
const scaleDownMinutes = 3 * 60

interface Run {
  /** Awake or asleep, for every minute. */
  readonly awake: Uint8Array
  readonly credits: Float64Array
}

interface Causes {
  /** Minutes with a query or a merge. */
  readonly busy: Uint8Array
  /** Minutes with much load. */
  readonly load: Uint8Array
}

/** `days` from the start on. The same seed has the same causes, whatever the alerts are. */
export function run(seed: number, workload: Workload, alerts: readonly AlertSchedule[], days: number): Run {
  const random = randomFrom(seed * 7919)
  const causes = { busy: new Uint8Array(days * 1440), load: new Uint8Array(days * 1440) }
  addQueries(causes, workload, random)
  addIngestion(causes, workload, random)
  for (const { intervalMs, offsetMs } of alerts)
    for (let at = Math.floor(offsetMs / minuteMs); at < causes.busy.length; at += intervalMs / minuteMs) causes.busy[at] = 1
  return sleepAndWake(causes, workload)
}

function addQueries({ busy, load }: Causes, { queries }: Workload, random: () => number): void {
  for (let day = 0; day * 1440 < busy.length; day++) {
    const usual = day % 7 < 5 ? queries.workday : queries.weekend
    const count = Math.round(usual * (0.7 + 0.6 * random()))
    for (let i = 0; i < count; i++) {
      // Most queries are in working hours.
      const at = day * 1440 + Math.floor(random() < 0.9 ? 480 + random() * 600 : random() * 1440)
      busy[at] = 1
      if (random() < 0.3) load.fill(1, at, Math.min(load.length, at + 20))
    }
  }
}

function addIngestion({ busy, load }: Causes, { ingestion, mergeMinutes }: Workload, random: () => number): void {
  if (ingestion.everyMinutes === 0) return
  for (let at = 7; at < busy.length; at += ingestion.everyMinutes) {
    const until = at + ingestion.minutes + Math.floor(random() * 5)
    busy.fill(1, at, Math.min(busy.length, until + mergeMinutes))
    load.fill(1, at, Math.min(load.length, until))
  }
}

function sleepAndWake({ busy, load }: Causes, { effectiveTimeoutMinutes, creditsPerHour, scaledUp }: Workload): Run {
  const [awake, credits] = [new Uint8Array(busy.length), new Float64Array(busy.length)]
  let quietFor = Number.POSITIVE_INFINITY
  let lag = 0
  let scaledFor = 0
  for (let at = 0; at < busy.length; at++) {
    // The platform notices some minutes later that the timeout has passed.
    if (busy[at] === 1) lag = (at * 7919) % 4
    quietFor = busy[at] === 1 ? 0 : quietFor + 1
    scaledFor = load[at] === 1 ? scaleDownMinutes : Math.max(0, scaledFor - 1)
    if (quietFor >= effectiveTimeoutMinutes + lag) continue
    awake[at] = 1
    credits[at] = (creditsPerHour / 60) * (scaledFor > 0 ? scaledUp : 1)
  }
  return { awake, credits }
}

/** What the API knows at `nowMs`: with events that are lost or late, and provisional records. */
export function observe(seed: number, workload: Workload, { awake, credits }: Run) {
  const random = randomFrom(seed * 104_729)
  const until = Math.floor((nowMs - startMs) / minuteMs)
  const activities: Activity[] = [{ type: 'user_login', atMs: startMs, serviceId: undefined, actorType: 'user' }]
  for (let at = 1; at < until; at++) {
    if (awake[at] === awake[at - 1]) continue
    const atMs = startMs + at * minuteMs
    if (random() < workload.lostShare || atMs > nowMs - workload.lateHours * 60 * minuteMs) continue
    activities.push({ type: awake[at] === 1 ? 'service_awaken' : 'service_idle', atMs, serviceId, actorType: 'system' })
  }
  const today = dayOf(nowMs)
  const usage = Array.from({ length: 31 }, (_, i): DailyCompute => {
    const day: Day = addDays(today, i - 31)
    const first = (Date.parse(day) - startMs) / minuteMs
    return { day, credits: credits.subarray(first, first + 1440).reduce((sum, one) => sum + one, 0), isFinal: i < 28 }
  })
  return { activities, usage, currentState: awake[until - 1] === 1 ? 'running' : 'idle' }
}

/** The credits of the 30 days after `nowMs`. */
export const creditsOfNextMonth = ({ credits }: Run): number => {
  const first = Math.floor((nowMs - startMs) / minuteMs)
  return credits.subarray(first, first + 30 * 1440).reduce((sum, one) => sum + one, 0)
}

/** What was observed of a workload. It is simulated minute by minute, and the same in every test. */
const observed = new WeakMap<Workload, ReturnType<typeof observe>>()

/** Makes a service of the emulator sleep and wake as the workload does. The emulator's clock must be at `nowMs`. */
export function putToSleep({ store }: Pick<Emulator, 'store'>, name: keyof typeof demo.services, workload: Workload): void {
  const [organization] = store.organizations
  const service = organization?.services.find(({ id }) => id === demo.services[name])
  if (organization === undefined || service === undefined) throw new Error(`the demo has no service ${name}`)
  const seen = observed.get(workload) ?? observe(1, workload, run(1, workload, workload.alerts, historyDays + 1))
  observed.set(workload, seen)
  const { activities, usage, currentState } = seen
  Object.assign(service, {
    state: currentState,
    idleScaling: true,
    idleTimeoutMinutes: workload.idleTimeoutMinutes,
    isReadonly: workload.isReadonly,
  })
  organization.activities = [
    ...organization.activities.filter(({ serviceId: of }) => of !== service.id),
    ...activities.map(({ type, atMs, serviceId: of, actorType }, i) => ({
      id: `${name}-${i}`,
      type,
      createdAt: new Date(atMs).toISOString(),
      actorType: actorType === 'user' ? ('user' as const) : ('system' as const),
      ...(of !== undefined && { serviceId: service.id }),
    })),
  ]
  organization.usage = [
    ...organization.usage.filter((record) => record.serviceId !== service.id),
    ...usage.map(({ day, credits }) => ({
      dataWarehouseId: service.dataWarehouseId,
      serviceId: service.id,
      date: day,
      entityType: 'service' as const,
      entityId: service.id,
      entityName: name,
      micro: { compute: Math.round(credits * 1_000_000) },
    })),
  ]
}
