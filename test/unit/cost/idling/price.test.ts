import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Interval, intersect, lengthMs, subtract, union } from '../../../../src/cost/idling/intervals.ts'
import { priceAlerts, sleepsThroughAlerts } from '../../../../src/cost/idling/price.ts'
import { type DailyCompute, profileService, type ServiceProfile } from '../../../../src/cost/idling/profile.ts'
import { type AlertSchedule, awakeBy, scheduleOf } from '../../../../src/cost/idling/schedules.ts'
import type { Segment, Timeline } from '../../../../src/cost/idling/timeline.ts'
import { addDays, type Day } from '../../../../src/platform/core/dates.ts'
import { dayMs, hourMs, minuteMs } from '../../../../src/platform/core/durations.ts'

const firstDay = '2026-08-03' as Day
const startMs = Date.parse(firstDay)
const nowMs = startMs + 14 * dayMs

const alertEvery = (minutes: number, more: Partial<AlertSchedule> = {}): AlertSchedule => ({
  intervalMs: minutes * minuteMs,
  offsetMs: 0,
  startMs: undefined,
  ...more,
})

/** Awake for the first hours of every day, at one credit an hour. */
function profileAwake(hours: number, minutes = 15): ServiceProfile {
  const days = Array.from({ length: 14 }, (_, i) => {
    const fromMs = startMs + i * dayMs
    const awake = hours === 0 ? [] : [{ fromMs, toMs: fromMs + hours * hourMs }]
    return { day: addDays(firstDay, i), fromMs, toMs: fromMs + dayMs, awake, stopped: [], credits: hours }
  })
  const timeoutMs = minutes * minuteMs
  return { days, awakeShare: hours / 24, rate: { low: 1, mean: 1 }, timeoutMs: { low: timeoutMs, high: timeoutMs } }
}

const price = (profile: ServiceProfile, change: Partial<Record<'others' | 'before' | 'after', readonly AlertSchedule[]>>) =>
  priceAlerts({ profile, others: [], before: [], after: [], nowMs, ...change })

describe('the price of alerts', () => {
  it('the price of alerts is that of all hours of sleep for an interval of the idle timeout', () => {
    expect(price(profileAwake(8), { after: [alertEvery(15)] }).added.expected).toBeCloseTo(16 * 30)
  })

  it('the price of alerts is that of the timeout after each evaluation for a longer interval', () => {
    // Eight hours are awake anyway. In the other 16, 15 of 60 minutes.
    expect(price(profileAwake(8), { after: [alertEvery(60)] }).added.expected).toBeCloseTo(4 * 30)
  })

  it('counts evaluations at the same time once, and those with another offset apart', () => {
    const others = [alertEvery(60)]
    expect(price(profileAwake(0), { others, after: [alertEvery(60)] }).added.high).toBe(0)
    expect(price(profileAwake(0), { others, after: [alertEvery(60, { offsetMs: 30 * minuteMs })] }).added.expected).toBeCloseTo(6 * 30)
  })

  it('the price of alerts is nothing where another alert keeps the service awake', () => {
    expect(price(profileAwake(3), { others: [alertEvery(5)], after: [alertEvery(1)] }).added.high).toBe(0)
  })

  it('counts a silenced alert after its silence', () => {
    const silenced = (days: number) => alertEvery(5, { startMs: nowMs + days * dayMs })
    expect(price(profileAwake(0), { after: [silenced(15)] }).added.expected).toBeCloseTo(24 * 15)
    expect(price(profileAwake(0), { others: [silenced(10)], after: [alertEvery(5)] }).added.expected).toBeCloseTo(24 * 10)
    expect(price(profileAwake(0), { after: [silenced(31)] }).added.high).toBe(0)
  })

  it('the price of alerts of a removal is an upper limit: the awake hours that no other alert explains', () => {
    const { added, savedUpTo } = price(profileAwake(24), { before: [alertEvery(60)], others: [alertEvery(360)] })
    expect(added.high).toBe(0)
    expect(savedUpTo).toBeCloseTo((24 - 4) * 0.25 * 30)
  })

  it('the price of alerts of a longer interval is an upper limit, too', () => {
    const { added, savedUpTo } = price(profileAwake(24), { before: [alertEvery(5)], after: [alertEvery(60)] })
    expect(added.high).toBe(0)
    expect(savedUpTo).toBeCloseTo(18 * 30)
  })

  it('the price of alerts is nothing while the service is stopped', () => {
    const profile = profileAwake(0)
    const stopped = { ...profile, days: profile.days.map((day) => ({ ...day, stopped: [{ fromMs: day.fromMs, toMs: day.toMs }] })) }
    expect(price(stopped, { after: [alertEvery(5)] }).added.high).toBe(0)
  })
})

const schedules = fc.array(
  fc.record({
    intervalMs: fc.constantFrom(1, 5, 15, 30, 60, 360, 1440).map((minutes) => minutes * minuteMs),
    offsetMs: fc.nat(50).map((minutes) => minutes * minuteMs),
    startMs: fc.option(
      fc.nat(40 * 24).map((hours) => nowMs + hours * hourMs),
      { nil: undefined },
    ),
  }),
  { maxLength: 4 },
)
const profiles = fc.tuple(fc.nat(24), fc.integer({ min: 5, max: 60 })).map(([hours, minutes]) => profileAwake(hours, minutes))

describe('for any services and alerts, the price', () => {
  it('the price of any alerts is an ordered range between nothing and the whole month', () => {
    fc.assert(
      fc.property(profiles, schedules, schedules, schedules, (profile, others, before, after) => {
        const { added, savedUpTo, awakeShareAfter } = price(profile, { others, before, after })
        const { low, expected, high } = added
        const ordered = [0, low, expected, high, 24 * 30]
        for (const [i, value] of ordered.slice(1).entries()) expect(value).toBeGreaterThanOrEqual((ordered[i] ?? 0) - 1e-6)
        expect(savedUpTo).toBeGreaterThanOrEqual(0)
        expect(savedUpTo).toBeLessThanOrEqual(24 * 30 * profile.awakeShare + 1e-6)
        expect(awakeShareAfter).toBeLessThanOrEqual(1 + 1e-9)
      }),
      { numRuns: 30 },
    )
  })

  it('the price of any alerts is not lower with another alert, and not higher than the sum of both', () => {
    fc.assert(
      fc.property(profiles, schedules, schedules, schedules, (profile, others, one, two) => {
        const expected = (after: readonly AlertSchedule[]) => price(profile, { others, after }).added.expected
        const together = expected([...one, ...two])
        expect(together).toBeGreaterThanOrEqual(expected(one) - 1e-6)
        expect(together).toBeLessThanOrEqual(expected(one) + expected(two) + 1e-6)
      }),
      { numRuns: 30 },
    )
  })

  it('the price of any alerts is nothing without a change', () => {
    fc.assert(
      fc.property(profiles, schedules, schedules, (profile, others, same) => {
        const { added, savedUpTo } = price(profile, { others, before: same, after: same })
        expect(added.high).toBe(0)
        expect(savedUpTo).toBe(0)
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

  it('intervals are joined, shared and subtracted as sets of points are', () => {
    fc.assert(
      fc.property(lists, lists, (one, two) => {
        const [a, b] = [union(one), union(two)]
        expect(points(a)).toEqual(points(one))
        expect(lengthMs(a)).toBe(points(one).size)
        expect(points(intersect(a, b))).toEqual(points(one).intersection(points(two)))
        expect(points(subtract(a, b))).toEqual(points(one).difference(points(two)))
      }),
    )
  })
})

describe('the schedule of an alert', () => {
  it('the schedule of an alert is that of the API or a file', () => {
    expect(scheduleOf({ interval: '5m', scheduleOffsetMinutes: 2 })).toEqual(alertEvery(5, { offsetMs: 2 * minuteMs }))
    expect(scheduleOf({ interval: '1h', scheduleStartAt: '2026-08-20T00:00:00Z', state: 'OK' })?.startMs).toBe(Date.parse('2026-08-20'))
  })

  it('the schedule of an alert does not exist for disabled alerts and unknown intervals', () => {
    expect(scheduleOf({ interval: '5m', state: 'DISABLED' })).toBeUndefined()
    expect(scheduleOf({ interval: '7m' })).toBeUndefined()
  })

  it('keeps a service awake from the evaluation before midnight on', () => {
    const awake = awakeBy([alertEvery(60, { offsetMs: 55 * minuteMs })], { fromMs: startMs, toMs: startMs + dayMs }, 15 * minuteMs)
    expect(awake[0]).toEqual({ fromMs: startMs, toMs: startMs + 10 * minuteMs })
    expect(lengthMs(awake)).toBe(24 * 15 * minuteMs)
  })
})

describe('a service that sleeps although alerts are evaluated', () => {
  it('shows that they query another one', () => {
    const running = [{ schedule: alertEvery(5), sinceMs: startMs }]
    expect(sleepsThroughAlerts(profileAwake(4), running)).toBe(true)
    expect(sleepsThroughAlerts(profileAwake(24), running)).toBe(false)
    expect(sleepsThroughAlerts(profileAwake(4), [{ schedule: alertEvery(5), sinceMs: nowMs }])).toBe(false)
  })
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

  it('the profile of a service has no rate of a day that was awake for less than an hour, unless all days were', () => {
    const minuteLong = (isShort: (day: number) => boolean): Timeline => ({
      ...timeline,
      segments: timeline.segments.map((one, i) => {
        const borderMs = startMs + Math.floor(i / 2) * dayMs + (isShort(Math.floor(i / 2)) ? minuteMs : 6 * hourMs)
        return one.state === 'awake' ? { ...one, toMs: borderMs } : { ...one, fromMs: borderMs }
      }),
    })
    const rateWith = (isShort: (day: number) => boolean) => profileService({ ...options, timeline: minuteLong(isShort) })
    expect(rateWith((day) => day === 3)).toMatchObject({ rate: { low: 2, mean: 2 } })
    expect(rateWith(() => true)).toMatchObject({ rate: { low: 360, mean: 684 } })
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
    expect(profileService({ ...options, timeline: { ...timeline, settingsChangedMs: startMs + 3.5 * dayMs } })).toBe(few)
    const unknown = timeline.segments.map((one, i) => ({ ...one, state: i < 8 ? ('unknown' as const) : one.state }))
    expect(profileService({ ...options, timeline: { ...timeline, segments: unknown } })).toBe(few)
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
