import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AlertSchedule,
  coverageOf,
  priceAlerts,
  runningAlert,
  type ScheduleChange,
  scheduleOf,
  sleepsThroughAlerts,
} from '../../../../src/cost/idling/price.ts'
import {
  type DailyCompute,
  dailyCompute,
  type Interval,
  intersect,
  lengthMs,
  profileService,
  readTimeline,
  type Segment,
  type ServiceProfile,
  type Timeline,
  union,
} from '../../../../src/cost/idling/profile.ts'
import { addDays, type Day } from '../../../../src/platform/core/dates.ts'
import { dayMs, hourMs, minuteMs } from '../../../../src/platform/core/durations.ts'
import { type CalendarAlert, compareMonths, firstMinute, knownMinutes, type World } from '../../../support/alert-calendar.ts'
import { usageRecord } from '../../../support/usage.ts'

const firstDay = '2026-08-03' as Day
const startMs = Date.parse(firstDay)

const alertEvery = (minutes: number, offsetMinutes = 0): AlertSchedule => ({
  intervalMs: minutes * minuteMs,
  offsetMs: offsetMinutes * minuteMs,
})

const profileWith = (awake: readonly (readonly Interval[])[], timeoutMinutes: readonly [number, number]): ServiceProfile => ({
  days: awake.map((ofDay, i) => {
    const fromMs = startMs + i * dayMs
    return { day: addDays(firstDay, i), fromMs, toMs: fromMs + dayMs, awake: ofDay, credits: 1 }
  }),
  awakeShare: 0.5,
  rate: { low: 1, mean: 1 },
  timeoutMs: { low: timeoutMinutes[0] * minuteMs, high: timeoutMinutes[1] * minuteMs },
})

/** Awake for the first hours of every day, at one credit an hour. */
const profileAwake = (hours: number, minutes = 15): ServiceProfile =>
  profileWith(
    Array.from({ length: 14 }, (_, i) =>
      hours === 0 ? [] : [{ fromMs: startMs + i * dayMs, toMs: startMs + i * dayMs + hours * hourMs }],
    ),
    [minutes, minutes],
  )

/** The price of changes beside alerts that stay. */
const price = (profile: ServiceProfile, changes: readonly ScheduleChange[], others: readonly AlertSchedule[] = []) =>
  priceAlerts({ profile, others, changes })

const adds = (...schedules: readonly AlertSchedule[]): readonly ScheduleChange[] => schedules.map((after) => ({ after }))

describe('the price of alerts', () => {
  it('the price is that of all hours of sleep for an interval of the idle timeout', () => {
    expect(price(profileAwake(8), adds(alertEvery(15))).added.expected).toBe(16 * 30)
  })

  it('the price is that of the timeout after each evaluation for a longer interval', () => {
    // Eight hours are awake anyway. In the other 16, 15 of 60 minutes.
    expect(price(profileAwake(8), adds(alertEvery(60))).added.expected).toBe(4 * 30)
  })

  it('the price counts evaluations at the same time once, and those with another offset apart', () => {
    expect(price(profileAwake(0), adds(alertEvery(60)), [alertEvery(60)]).added.high).toBe(0)
    expect(price(profileAwake(0), adds(alertEvery(60, 30)), [alertEvery(60)]).added.expected).toBe(6 * 30)
  })

  it('the price is a range from the timeout that adds less to the one that adds more, also where the longer one adds less', () => {
    // With a timeout of an hour, the other alert keeps the service awake all the time.
    const profile = profileWith(Array(14).fill([]), [15, 60])
    expect(price(profile, adds(alertEvery(60, 30)), [alertEvery(60)]).added).toEqual({ low: 0, expected: 3 * 30, high: 6 * 30 })
  })

  it('the price adds up what many alerts add that are nothing by themselves', () => {
    const daily = (offset: number) => alertEvery(1440, offset)
    const { added, shareOf } = price(profileAwake(0), adds(...Array.from({ length: 140 }, (_, i) => daily(10 * i))))
    // From the first evaluation to the end of the last one.
    expect(added.expected).toBe(((139 * 10 + 15) / 60) * 30)
    // Between the timeout after the one before, and the next one.
    expect(shareOf({ after: daily(10) })).toBe((5 / 60) * 30)
  })

  it('the price has no credit for a delete, and none below nothing for a longer interval', () => {
    expect(price(profileAwake(24), [{ before: alertEvery(5) }]).added).toEqual({ low: 0, expected: 0, high: 0 })
    expect(price(profileAwake(24), [{ before: alertEvery(5), after: alertEvery(60) }]).added).toEqual({ low: 0, expected: 0, high: 0 })
    const deletedAndAdded = [{ before: alertEvery(60) }, { after: alertEvery(60, 30) }]
    expect(price(profileAwake(0), deletedAndAdded).added.expected).toBe(6 * 30)
  })

  it('an alert has a share below 0 for a removal and for a longer interval: what only this alert keeps awake', () => {
    const [removal, longer] = [{ before: alertEvery(60) }, { before: alertEvery(5), after: alertEvery(60) }]
    expect(price(profileAwake(24), [removal], [alertEvery(360)]).shareOf(removal)).toBe(-(24 - 4) * 0.25 * 30)
    expect(price(profileAwake(24), [longer]).shareOf(longer)).toBe(-18 * 30)
  })

  it('the price is nothing for an alert that is evaluated at other times of the same hour', () => {
    // The service was awake only for this alert.
    const kept = Array.from({ length: 24 }, (_, hour) => hour * hourMs)
    const days = Array.from({ length: 14 }, (_, i) => startMs + i * dayMs)
    const awake = days.map((ms) => kept.map((at) => ({ fromMs: ms + at, toMs: ms + at + 15 * minuteMs })))
    const moved = [{ before: alertEvery(60), after: alertEvery(60, 30) }]
    expect(price(profileWith(awake, [15, 15]), moved).added).toEqual({ low: 0, expected: 0, high: 0 })
  })

  it('the price has ends that are two standard deviations from the mean of the known days', () => {
    const days = Array.from({ length: 14 }, (_, i) => startMs + i * dayMs)
    const profile = profileWith(
      days.map((ms, i) => (i % 2 === 0 ? [] : [{ fromMs: ms, toMs: ms + 12 * hourMs }])),
      [15, 15],
    )
    // 24 and 12 hours of sleep, in turn.
    const margin = 2 * Math.sqrt((36 * 14) / 13) * Math.sqrt(1 / 14 + 1 / 30)
    const { low, expected, high } = price(profile, adds(alertEvery(15))).added
    expect([low, expected, high].map((credits) => credits / 30)).toEqual(
      [18 - margin, 18, 18 + margin].map((one) => expect.closeTo(one, 9)),
    )
  })

  it('the price looks at each known day and each schedule as often for 1,000 alerts as for one, and at each alert a few times', () => {
    const countReads = (count: number) => {
      let [days, alerts] = [0, 0]
      const profile = profileAwake(8)
      for (const day of profile.days) {
        const { awake } = day
        const get = () => {
          days++
          return awake
        }
        Object.defineProperty(day, 'awake', { get })
      }
      const schedules = Array.from({ length: count }, (_, i) => {
        const { intervalMs, offsetMs } = alertEvery(60, i % 60)
        const get = () => {
          alerts++
          return intervalMs
        }
        return Object.defineProperty({ intervalMs, offsetMs }, 'intervalMs', { get })
      })
      const { shareOf } = price(profile, adds(...schedules))
      for (const after of schedules) shareOf({ after })
      return { days, alerts: alerts / count }
    }
    const [one, many] = [countReads(1), countReads(1000)]
    expect(many.days).toBe(one.days)
    expect(many.alerts).toBeLessThanOrEqual(one.alerts)
  })
})

const minutes = fc.nat(24 * 60 - 1)
const start = fc
  .integer({ min: -60 * 24 * 60, max: 60 * 24 * 60 })
  .map((minute) => new Date((firstMinute + minute) * minuteMs + (minute % 3 === 0 ? 20_000 : 0)).toISOString())
const alerts = fc
  .record({
    interval: fc.constantFrom('1m', '5m', '15m', '30m', '1h', '1h', '6h', '6h', '12h', '1d', '1d'),
    place: fc.oneof(fc.constant({}), fc.record({ scheduleOffsetMinutes: minutes }), fc.record({ scheduleStartAt: start })),
  })
  .map(({ interval, place }): CalendarAlert => ({ interval, ...place }))
const activity = fc.array(fc.tuple(minutes, fc.integer({ min: 1, max: 300 })), { maxLength: 6 }).map((spans) => {
  const active = spans.flatMap(([from, length]) => Array.from({ length }, (_, i) => from + i))
  return new Set(active.filter((minute) => minute < 24 * 60))
})
const timeouts = fc.tuple(fc.integer({ min: 5, max: 60 }), fc.integer({ min: 0, max: 60 }))
const worldOf = (changes: fc.Arbitrary<World['changes'][number]>): fc.Arbitrary<World> =>
  fc.record({
    activity: fc.array(activity, { minLength: 1, maxLength: 4 }),
    timeouts: timeouts.map(([low, more]) => [low, low + more] as const),
    others: fc.array(alerts, { maxLength: 4 }),
    changes: fc.array(changes, { minLength: 1, maxLength: 5 }),
  })

const toChange = ({ before, after }: World['changes'][number]): ScheduleChange => ({
  ...(before && { before: scheduleOf({ ...before }) }),
  ...(after && { after: scheduleOf({ ...after }) }),
})

/** The price that the known days of a world give. */
function priceOf(world: World) {
  const days = knownMinutes(world).map((awake, i) => {
    const atMs = (minute: number): number => startMs + i * dayMs + minute * minuteMs
    return union([...awake].map((minute) => ({ fromMs: atMs(minute), toMs: atMs(minute + 1) })))
  })
  const changes = world.changes.map(toChange)
  const { added, shareOf } = price(
    profileWith(days, world.timeouts),
    changes,
    world.others.map((alert) => scheduleOf({ ...alert }) ?? alertEvery(1)),
  )
  return { added, shares: changes.map(shareOf) }
}

/** Credits of a month of 30 days with one credit an hour. */
const credits = (minutesOfDay: readonly number[]): number => ((minutesOfDay[0] ?? 0) + (minutesOfDay[1] ?? 0)) / 4

describe('the price in any world', () => {
  it('V9: the price of new alerts is what a calendar of all evaluations has more with them than without, to the minute', {
    tags: 'slow',
  }, () => {
    fc.assert(
      fc.property(worldOf(fc.record({ after: alerts })), (world) => {
        const months = world.timeouts.map((timeout) => compareMonths(world, world.activity, timeout))
        const { added, shares } = priceOf(world)
        expect(added.expected).toBeCloseTo(credits(months.map((month) => month.added)), 9)
        for (const [i, share] of shares.entries()) expect(share).toBeCloseTo(credits(months.map((month) => month.shares[i] ?? 0)), 9)
      }),
      { numRuns: 60 },
    )
  })

  it('V9: the price of any changes is the difference of both sums over the known days without the alerts that change, and not below 0', {
    tags: 'slow',
  }, () => {
    const update = fc.record({ before: alerts, after: alerts })
    const change = fc.oneof(fc.record({ before: alerts }), fc.record({ after: alerts }), update, update)
    fc.assert(
      fc.property(worldOf(change), (world) => {
        const months = world.timeouts.map((timeout) => compareMonths(world, knownMinutes(world), timeout))
        const { added, shares } = priceOf(world)
        expect(added.expected).toBeCloseTo(Math.max(0, credits(months.map((month) => month.added))), 9)
        for (const [i, share] of shares.entries()) expect(share).toBeCloseTo(credits(months.map((month) => month.shares[i] ?? 0)), 9)
      }),
      { numRuns: 60 },
    )
  })

  it('the price of two plans, one after the other, is that of one plan with the alerts of both', { tags: 'slow' }, () => {
    fc.assert(
      fc.property(worldOf(fc.record({ after: alerts })), fc.nat(5), (world, size) => {
        const [first, second] = [world.changes.slice(0, size), world.changes.slice(size)]
        const known = priceOf({ ...world, changes: [] })
        expect(known.added).toEqual({ low: 0, expected: 0, high: 0 })
        const together = priceOf(world).added.expected
        const before = priceOf({ ...world, changes: first }).added.expected
        const later = { ...world, others: [...world.others, ...first.flatMap(({ after }) => after ?? [])] }
        expect(before + priceOf({ ...later, changes: second }).added.expected).toBeCloseTo(together, 9)
      }),
      { numRuns: 30 },
    )
  })

  it('the price is an ordered range between nothing and the whole month, and nothing without a change', () => {
    fc.assert(
      fc.property(worldOf(fc.record({ before: alerts, after: alerts })), (world) => {
        const { low, expected, high } = priceOf(world).added
        const ordered = [0, low, expected, high, 24 * 30]
        for (const [i, value] of ordered.slice(1).entries()) expect(value).toBeGreaterThanOrEqual((ordered[i] ?? 0) - 1e-6)
        const same = world.changes.flatMap(({ before }) => (before === undefined ? [] : [{ before, after: before }]))
        expect(priceOf({ ...world, changes: same }).added).toEqual({ low: 0, expected: 0, high: 0 })
      }),
      { numRuns: 30 },
    )
  })
})

describe('intervals', () => {
  const lists = fc
    .array(fc.tuple(fc.nat(100), fc.nat(30)), { maxLength: 12 })
    .map((pairs) => pairs.map(([fromMs, length]): Interval => ({ fromMs, toMs: fromMs + length })))
  const points = (list: readonly Interval[]) =>
    new Set(list.flatMap(({ fromMs, toMs }) => Array.from({ length: toMs - fromMs }, (_, i) => fromMs + i)))

  it('intervals are joined and shared as sets of points are', () => {
    fc.assert(
      fc.property(lists, lists, (one, two) => {
        const [a, b] = [union(one), union(two)]
        expect(points(a)).toEqual(points(one))
        expect(lengthMs(a)).toBe(points(one).size)
        expect(points(intersect(a, b))).toEqual(points(one).intersection(points(two)))
        expect(intersect(a, b).filter(({ fromMs, toMs }) => fromMs >= toMs)).toEqual([])
      }),
    )
  })
})

describe('the schedule of an alert', () => {
  it('the schedule of an alert is that of the API or a file', () => {
    expect(scheduleOf({ interval: '5m', scheduleOffsetMinutes: 2, state: 'OK' })).toEqual(alertEvery(5, 2))
  })

  it('the schedule of an alert does not exist for disabled alerts and unknown intervals', () => {
    expect(scheduleOf({ interval: '5m', state: 'DISABLED' })).toBeUndefined()
    expect(scheduleOf({ interval: '7m' })).toBeUndefined()
  })

  it('has the time of a start in place of an offset, also of one that is far away', () => {
    for (const start of ['2026-08-20T10:42:00Z', '1969-12-31T23:42:00Z', '2027-08-20T23:42:00Z'])
      expect(scheduleOf({ interval: '1h', scheduleStartAt: start, scheduleOffsetMinutes: 0 })).toEqual(alertEvery(60, 42))
  })
})

describe('a service that sleeps although alerts are evaluated', () => {
  const since = (day: number) => ({ schedule: alertEvery(5), sinceMs: startMs + day * dayMs })

  it('shows that they query another one, if it sleeps through most of the time that one of them should keep it awake', () => {
    expect(sleepsThroughAlerts(profileAwake(11), [since(0)])).toBe(true)
    expect(sleepsThroughAlerts(profileAwake(13), [since(0)])).toBe(false)
    const [morning, noon] = [
      { ...since(0), schedule: alertEvery(1440, 60) },
      { ...since(0), schedule: alertEvery(1440, 720) },
    ]
    expect(sleepsThroughAlerts(profileAwake(4), [morning])).toBe(false)
    expect(sleepsThroughAlerts(profileAwake(4), [morning, noon])).toBe(true)
  })

  it('shows it on the newest day, where the alert and its start are older', () => {
    const { days } = profileAwake(24)
    const asleepOn = (i: number) => ({ ...profileAwake(24), days: days.map((day, j) => (i === j ? { ...day, awake: [] } : day)) })
    const last = days.length - 1
    expect([0, last, last + 1].map((day) => sleepsThroughAlerts(asleepOn(last), [since(day)]))).toEqual([true, true, false])
    expect(sleepsThroughAlerts(asleepOn(last - 1), [since(0)])).toBe(false)
    const alert = { interval: '5m', createdAt: '2026-02-01T00:00:00Z', updatedAt: '2026-04-01T00:00:00Z' }
    const starts = [undefined, '2026-03-01T00:00:00Z', '2025-03-01T00:00:00Z']
    const known = starts.flatMap((scheduleStartAt) => runningAlert({ ...alert, scheduleStartAt }))
    expect(known.map(({ sinceMs }) => new Date(sinceMs).toISOString().slice(0, 10))).toEqual(['2026-02-01', '2026-03-01', '2026-02-01'])
    expect(runningAlert({ ...alert, createdAt: undefined })).toEqual([])
  })
})

it('evaluations of alerts cover a share of the awake time, each until the idle timeout', () => {
  const coverage = coverageOf(profileAwake(8).days, 15 * minuteMs)
  expect(coverage([alertEvery(60)])).toBe(0.25)
  expect(coverage([alertEvery(60), alertEvery(60, 15), alertEvery(1440, 600)])).toBe(0.5)
})

it('the usage of a service is that of its own records, whether or not they have the id of a service', () => {
  const records = [
    usageRecord(firstDay, 3),
    usageRecord(addDays(firstDay, 1), 4, { entityId: 'b', serviceId: 'a' }),
    usageRecord(addDays(firstDay, 1), 9, { serviceId: 'b' }),
    usageRecord(addDays(firstDay, 1), 9, { entityType: 'datawarehouse' }),
  ]
  const compute = dailyCompute({ unit: 'CHC', records, from: firstDay, to: addDays(firstDay, 1) }, 'a')
  expect(compute.map(({ credits }) => credits)).toEqual([3, 4])
})

describe('the profile of a service', () => {
  const segments = (state: Segment['state'], fromMs: number, toMs: number): Segment => ({ state, fromMs, toMs })
  /** Awake from 0 to 6 on each of ten days. */
  const timeline: Timeline = {
    segments: Array.from({ length: 10 }, (_, i) => startMs + i * dayMs).flatMap((ms) => [
      segments('awake', ms, ms + 6 * hourMs),
      segments('asleep', ms + 6 * hourMs, ms + dayMs),
    ]),
    settingsChangedMs: undefined,
  }
  const usage = Array.from(
    { length: 10 },
    (_, i): DailyCompute => ({ day: addDays(firstDay, i), credits: i === 3 ? 6 : 12, isFinal: true }),
  )
  const options = { timeline, usage, idleTimeoutMinutes: 15, smallestShare: 1 }

  it('the profile of a service has a rate from the cheapest day to the mean of all', () => {
    expect(profileService(options)).toMatchObject({ awakeShare: 0.25, rate: { low: 1, mean: 114 / 60 } })
  })

  /** Awake for so many minutes from 0 on each of the ten days. */
  const awakeFor = (minutesOf: (day: number) => number): Timeline => ({
    ...timeline,
    segments: timeline.segments.map((one, i) => {
      const day = Math.floor(i / 2)
      const borderMs = startMs + day * dayMs + minutesOf(day) * minuteMs
      return one.state === 'awake' ? { ...one, toMs: borderMs } : { ...one, fromMs: borderMs }
    }),
  })

  it('the profile of a service has no rate of a day that was awake for less than an hour, unless all days were', () => {
    const rateWith = (minutesOf: (day: number) => number, used = usage) =>
      profileService({ ...options, timeline: awakeFor(minutesOf), usage: used })
    expect(rateWith((day) => (day === 3 ? 1 : 360))).toMatchObject({ rate: { low: 2, mean: 2 } })
    expect(rateWith(() => 1)).toMatchObject({ rate: { low: 360, mean: 684 } })
    const sleptOnLast = usage.map((one, i) => (i === 9 ? { ...one, credits: 0 } : one))
    expect(rateWith((day) => (day === 9 ? 0 : 1), sleptOnLast)).toMatchObject({ rate: { low: 360, mean: 680 } })
  })

  it('the profile of a service has a lower rate where its days may have had a larger size than the smallest', () => {
    const lowFor = (smallestShare: number): number => {
      const profile = profileService({ ...options, smallestShare })
      return typeof profile === 'string' ? Number.NaN : profile.rate.low
    }
    // The dearest days cost 2 an hour, the cheapest 1.
    expect([1, 0.75, 0.25].map(lowFor)).toEqual([1, 1, 0.5])
  })

  it('the profile of a service does not exist with fewer than seven days that are final, known and after the last change of settings', () => {
    const few = 'too-few-days'
    expect(profileService({ ...options, usage: usage.map((one, i) => ({ ...one, isFinal: i < 6 })) })).toBe(few)
    const changedAfter = (days: number) =>
      profileService({ ...options, timeline: { ...timeline, settingsChangedMs: startMs + days * dayMs } })
    expect([changedAfter(3), changedAfter(3.5)]).toEqual([expect.objectContaining({ awakeShare: 0.25 }), few])
    const unknown = timeline.segments.map((one, i) => ({ ...one, state: i < 8 ? ('unknown' as const) : one.state }))
    expect(profileService({ ...options, timeline: { ...timeline, segments: unknown } })).toBe(few)
  })

  it('the profile of a service has as its longer timeout the shortest awake time between two of sleep, of an hour at most', () => {
    const highWith = (onDay: number, minutes: number): number => {
      const profile = profileService({ ...options, timeline: awakeFor((day) => (day === onDay ? minutes : 360)) })
      return typeof profile === 'string' ? Number.NaN : profile.timeoutMs.high / minuteMs
    }
    // With 3 minutes for the start and the query. The first awake time began before the first day.
    expect([highWith(4, 360), highWith(4, 30), highWith(4, 10), highWith(0, 30)]).toEqual([63, 33, 18, 63])
  })

  it('the profile of a service leaves out days on which it was stopped, such as those before it was created', () => {
    const stopped = timeline.segments.map((one, i) => ({
      ...one,
      state: i < 6 && one.state === 'asleep' ? ('stopped' as const) : one.state,
    }))
    expect(profileService({ ...options, timeline: { ...timeline, segments: stopped } })).toMatchObject({ days: { length: 7 } })
    const created = readTimeline(
      [
        { type: 'user_login', serviceId: undefined },
        { type: 'service_create', serviceId: 's' },
      ].map((one, i) => ({ ...one, actorType: 'user' as const, atMs: startMs + i * 8 * dayMs })),
      { serviceId: 's', currentState: 'running', fromMs: startMs, nowMs: startMs + 10 * dayMs },
    )
    const used = usage.map((one, i) => ({ ...one, credits: i < 8 ? 0 : 12 }))
    expect(profileService({ ...options, timeline: created, usage: used })).toBe('too-few-days')
  })

  it('leaves out days whose usage contradicts their activities', () => {
    const profile = profileService({ ...options, usage: usage.map((one, i) => (i < 3 ? { ...one, credits: 0 } : one)) })
    expect(profile).toMatchObject({ days: { length: 7 } })
  })

  it('the profile of a service does not exist without usage', () => {
    const asleep = { segments: [segments('asleep', startMs, startMs + 10 * dayMs)], settingsChangedMs: undefined }
    expect(profileService({ ...options, timeline: asleep, usage: usage.map((one) => ({ ...one, credits: 0 })) })).toBe('no-compute')
  })
})
