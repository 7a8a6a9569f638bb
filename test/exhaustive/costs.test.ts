import { describe, expect, it } from 'vitest'
import { auditServices } from '../../src/cost/idling/audit-costs.ts'
import { type AlertPrice, type AlertSchedule, priceAlerts } from '../../src/cost/idling/price.ts'
import { profileService, readTimeline, type ServiceProfile } from '../../src/cost/idling/profile.ts'
import { totalOf } from '../../src/cost/usage/records.ts'
import { findSpikes } from '../../src/cost/usage/spikes.ts'
import { addDays, type Day, weekdayOf } from '../../src/platform/core/dates.ts'
import { fromText } from '../../src/platform/core/decimal.ts'
import { minuteMs } from '../../src/platform/core/durations.ts'
import { randomFrom } from '../support/random.ts'
import { seeds } from '../support/seeds.ts'
import {
  creditsOfNextMonth,
  historyDays,
  nowMs,
  observe,
  randomWorkload,
  run,
  serviceId,
  startMs,
  type Workload,
} from '../support/sleepy-service.ts'
import { usageRecord } from '../support/usage.ts'

// Fewer than 20 say little about a share.
const numbers = seeds(400).slice(0, 200)
const days = historyDays + 31

function profileIn(seed: number, workload: Workload) {
  const without = run(seed, workload, workload.alerts, days)
  const { activities, usage, currentState } = observe(seed, workload, without)
  const timeline = readTimeline(activities, { serviceId, currentState, fromMs: startMs, nowMs })
  const { idleTimeoutMinutes, scaledUp } = workload
  return { without, profile: profileService({ timeline, usage, idleTimeoutMinutes, smallestShare: 1 / scaledUp }) }
}

const schedule = (minutes: number): AlertSchedule => ({ intervalMs: minutes * minuteMs, offsetMs: 0 })

interface Outcome {
  readonly seed: number
  readonly truth: number
  readonly price: AlertPrice
}

function priceIn(seed: number): Outcome | string {
  const workload = randomWorkload(seed)
  const { profile, without } = profileIn(seed, workload)
  if (typeof profile === 'string') return profile
  const alert = schedule([5, 15, 30, 60, 360][Math.floor(randomFrom(seed + 1)() * 5)] ?? 5)
  const withAlert = run(seed, workload, [...workload.alerts, alert], days)
  const truth = creditsOfNextMonth(withAlert) - creditsOfNextMonth(without)
  return { seed, truth, price: priceAlerts({ profile, others: workload.alerts, changes: [{ after: alert }] }) }
}

describe('the price of an alert in 200 services that sleep and wake by known causes', () => {
  const outcomes = numbers.map(priceIn)
  const estimated = outcomes.filter((one) => typeof one !== 'string')

  it('the price has the truth inside its range in at least 90% of the estimated cases', () => {
    const missed = estimated.filter(({ truth, price: { added } }) => truth < added.low - 0.01 || truth > added.high + 0.01)
    expect(missed.length / estimated.length, JSON.stringify(missed)).toBeLessThanOrEqual(0.1)
  })

  it('the price has a range that is less wide than the price itself in most cases', () => {
    const widths = estimated
      .filter(({ truth }) => truth > 1)
      .map(({ truth, price: { added } }) => (added.high - added.low) / truth)
      .toSorted((a, b) => a - b)
    expect(widths[widths.length >> 1]).toBeLessThan(0.8)
  })

  it('the price is estimated in at least 80% of the cases in which the service ran and no event was lost', () => {
    const sufficient = numbers.filter((seed) => {
      const { queries, ingestion, alerts, lostShare } = randomWorkload(seed)
      return lostShare === 0 && queries.workday + queries.weekend + ingestion.everyMinutes + alerts.length > 0
    })
    const refused = sufficient.filter((seed) => typeof outcomes[seed - 1] === 'string')
    expect(sufficient.length).toBeGreaterThan(0.4 * numbers.length)
    expect(refused.length / sufficient.length).toBeLessThanOrEqual(0.2)
  })
})

describe('a service that queries keep awake all the time', () => {
  const busy = (seed: number): Workload => ({
    ...randomWorkload(seed),
    ingestion: { everyMinutes: 2, minutes: 2 },
    isReadonly: false,
    lostShare: 0,
    lateHours: 0,
  })

  it('pays nothing for another alert, in 200 services', () => {
    for (const seed of numbers) {
      const { profile } = profileIn(seed, busy(seed))
      expect(profile).not.toBeTypeOf('string')
      const price = priceAlerts({ profile: profile as ServiceProfile, others: [], changes: [{ after: schedule(5) }] })
      expect(price.added.high, String(seed)).toBe(0)
    }
  })
})

describe('an audit of 200 services that sleep and wake by known causes', () => {
  const auditOf = (seed: number, isAlwaysOn: boolean) => {
    const workload = randomWorkload(seed)
    const { activities, usage, currentState } = observe(seed, workload, run(seed, workload, workload.alerts, historyDays + 1))
    const days = usage.map(({ day, credits, isFinal }) =>
      usageRecord(day, 0, {
        entityId: serviceId,
        serviceId,
        locked: isFinal,
        metrics: { compute: fromText(credits.toFixed(6)) },
        total: fromText(credits.toFixed(6)),
      }),
    )
    const service = {
      id: serviceId,
      name: 'search',
      state: currentState,
      idleScaling: seed % 3 !== 0,
      idleTimeoutMinutes: workload.idleTimeoutMinutes,
      ipAccessList: [{ source: '0.0.0.0/0' }],
      tags: [{ key: 'team' }],
    }
    const [from, to] = [usage[0]?.day, usage.at(-1)?.day]
    if (from === undefined || to === undefined) throw new Error('no days')
    return auditServices({
      facts: {
        services: [service as Parameters<typeof auditServices>[0]['facts']['services'][number]],
        activities: { activities, withoutTime: 0 },
        usage: { unit: 'CHC', records: days, from, to },
        nowMs,
        fromMs: startMs,
      },
      alerts: new Map([[serviceId, { alerts: [{ id: 'a', name: 'Slow', interval: '5m' }], isTargetUnknown: false }]]),
      budgets: undefined,
      isAlwaysOn: () => isAlwaysOn,
      settings: {},
    })
  }

  it('has no finding about the idling of services that must not sleep', () => {
    for (const seed of numbers)
      expect(
        auditOf(seed, true).findings.filter(({ rule }) => rule !== 'unused-service'),
        String(seed),
      ).toEqual([])
  })

  it('never claims to save more than the compute of the service', () => {
    for (const seed of numbers) {
      const { findings: found, services } = auditOf(seed, false)
      const compute = services[0]?.monthlyCompute ?? 0
      expect(found.length, String(seed)).toBeGreaterThan(0)
      for (const { rule, estimate } of found)
        if (estimate !== undefined && 'low' in estimate) {
          expect(estimate.low, rule).toBeLessThanOrEqual(estimate.high)
          expect(estimate.high, `${rule} ${seed}`).toBeLessThanOrEqual(compute + 0.01)
        }
    }
  })
})

/** Numbers of the standard normal distribution. */
const normalFrom = (random: () => number) => (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** Seeds. */
const months = Array.from({ length: 300 }, (_, i) => i + 1)

const first = '2026-05-04' as Day
const twoMonths = Array.from({ length: 56 }, (_, i) => addDays(first, i))

/** Share of the organization's usage from which on a service must be found at five times its usual usage. */
const minShare = 0.005

/**
 * Two months of services of very different sizes. The smallest of those that must be found has `factor` times its usual usage on one day of
 * the second month.
 */
function simulate(seed: number, factor: number) {
  const random = randomFrom(seed)
  const chance = normalFrom(random)
  const count = [5, 20, 60, 150][Math.floor(random() * 4)] ?? 1
  const deviation = 0.05 + 0.15 * random()
  const sizes = Array.from({ length: count }, () => Math.exp(1.2 * chance()))
  const sum = sizes.reduce((total, size) => total + size, 0)
  const spiking = sizes.indexOf(Math.min(...sizes.filter((size) => size >= minShare * sum)))
  const spikeDay = twoMonths[28 + Math.floor(random() * 28)]
  const weekend = 0.5 + 0.5 * random()
  const records = twoMonths.flatMap((date) =>
    sizes.map((size, k) => {
      const usual = size * (weekdayOf(date) > 5 ? weekend : 1)
      const amount = k === spiking && date === spikeDay ? factor * usual : usual * Math.max(0.1, 1 + deviation * chance())
      return usageRecord(date, amount.toFixed(6), { entityId: String(k), entityName: `service ${k}` })
    }),
  )
  const totals = twoMonths.map((date) => ({ date, total: totalOf(records.filter((one) => one.date === date)) }))
  const found = findSpikes(records, totals, addDays(first, 28))
  const isRight = (one: (typeof found)[number]): boolean => one.date === spikeDay && one.driver.entityName === `service ${spiking}`
  return { isFound: found.some(isRight), others: found.filter((one) => !isRight(one)).length }
}

it('a service with at least 0.5% of the usage is found on a day with five times its usual usage, in all of 300 simulated months', () => {
  const simulated = months.map((seed) => simulate(seed, 5))
  expect(months.filter((_, i) => !simulated[i]?.isFound)).toEqual([])
  expect(simulated.filter(({ others }) => others > 0).length).toBeLessThanOrEqual(3)
})
