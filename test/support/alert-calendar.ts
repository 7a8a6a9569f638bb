// A calendar of the evaluations of alerts, minute by minute since the epoch. It shares no code with the prices that it checks.

/** An alert as the API has it. */
export interface CalendarAlert {
  readonly interval: string
  readonly scheduleOffsetMinutes?: number
  readonly scheduleStartAt?: string
}

export interface CalendarChange {
  readonly before?: CalendarAlert
  readonly after?: CalendarAlert
}

export interface World {
  /** Minutes of each day in which the service is awake for other reasons. */
  readonly activity: readonly ReadonlySet<number>[]
  /** The timeout that counts: the setting, and one that the days show. */
  readonly timeouts: readonly [number, number]
  readonly others: readonly CalendarAlert[]
  readonly changes: readonly CalendarChange[]
}

export const dayLength = 24 * 60

/** The minute of the first known day: 3 August 2026. */
export const firstMinute = Date.UTC(2026, 7, 3) / 60_000

const lengths: Readonly<Record<string, number>> = { '1m': 1, '5m': 5, '15m': 15, '30m': 30, '1h': 60, '6h': 360, '12h': 720, '1d': 1440 }

const startOf = ({ scheduleStartAt }: CalendarAlert): number | undefined =>
  scheduleStartAt === undefined ? undefined : Date.parse(scheduleStartAt) / 60_000

/** How many of the alerts keep the service awake in each minute from `from` on. */
function countKeeping(alerts: readonly CalendarAlert[], from: number, minutes: number, timeout: number): Uint8Array {
  const counts = new Uint8Array(minutes)
  for (const alert of alerts) {
    const start = startOf(alert)
    const every = lengths[alert.interval] ?? Number.NaN
    // The task of the server ticks once a minute, so the evaluation is in the first whole minute after the start.
    const first = Math.ceil(start ?? alert.scheduleOffsetMinutes ?? 0)
    let last = Number.NEGATIVE_INFINITY
    for (let minute = from - timeout; minute < from + minutes; minute++) {
      if ((minute - first) % every === 0 && (start === undefined || minute >= start)) last = minute
      if (minute >= from && minute - last < timeout) counts[minute - from] = (counts[minute - from] ?? 0) + 1
    }
  }
  return counts
}

const present = (alerts: readonly (CalendarAlert | undefined)[]): readonly CalendarAlert[] => alerts.flatMap((one) => one ?? [])

const beforeOf = ({ changes }: World) => present(changes.map(({ before }) => before))

/** The minutes of each known day in which the service was awake, with the alerts that were evaluated then. */
export function knownMinutes(world: World): readonly ReadonlySet<number>[] {
  const [timeout] = world.timeouts
  const days = world.activity.length
  const kept = countKeeping([...world.others, ...beforeOf(world)], firstMinute, days * dayLength, timeout)
  return world.activity.map((active, day) => {
    const minutes = Array.from({ length: dayLength }, (_, i) => i)
    return new Set(minutes.filter((i) => active.has(i) || (kept[day * dayLength + i] ?? 0) > 0))
  })
}

/** A month of so many days later, in which each alert has started. */
function monthAfter(alerts: readonly CalendarAlert[]): number {
  const starts = alerts.flatMap((alert) => startOf(alert) ?? [])
  return Math.ceil((Math.max(firstMinute, ...starts) + 2 * dayLength) / dayLength) * dayLength
}

interface Sums {
  /** Minutes that the change adds to a mean day; below 0 where it takes away more. */
  readonly added: number
  /** What each change adds in minutes that only its alert keeps awake. */
  readonly shares: readonly number[]
}

/**
 * What the alerts keep awake after the change less what they keep awake before it, in a month whose days are like the given ones without the
 * evaluations of the alerts that change. Deleted alerts stay in it.
 */
export function compareMonths(world: World, days: readonly ReadonlySet<number>[], timeout: number): Sums {
  const before = [...world.others, ...beforeOf(world)]
  const after = [...world.others, ...present(world.changes.map((one) => one.after ?? one.before))]
  const from = monthAfter([...before, ...after])
  const length = days.length * dayLength
  const own = countKeeping(beforeOf(world), from, length, timeout)
  const [without, withChange] = [countKeeping(before, from, length, timeout), countKeeping(after, from, length, timeout)]
  const isAwake = (i: number): boolean => days[Math.floor(i / dayLength)]?.has(i % dayLength) === true && own[i] === 0
  const minutes = Array.from({ length }, (_, i) => i).filter((i) => !isAwake(i))
  const awakeIn = (counts: Uint8Array): number => minutes.filter((i) => (counts[i] ?? 0) > 0).length
  const onlyBy = (alert: CalendarAlert | undefined, counts: Uint8Array): number => {
    const kept = countKeeping(present([alert]), from, length, timeout)
    return minutes.filter((i) => kept[i] === 1 && counts[i] === 1).length
  }
  return {
    added: (awakeIn(withChange) - awakeIn(without)) / days.length,
    shares: world.changes.map((one) => (onlyBy(one.after, withChange) - onlyBy(one.before, without)) / days.length),
  }
}
