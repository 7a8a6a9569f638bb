import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromText } from '../../../src/core/decimal.ts'
import { auditServices, type Finding, sumSavings } from '../../../src/idling/audit.ts'
import { historyDays, nowMs, observe, randomWorkload, run, serviceId, startMs } from '../../support/sleepy-service.ts'
import { usageRecord } from '../../support/usage.ts'

const finding = (about: string, low: number, high: number): Finding => ({
  rule: 'rarely-sleeps',
  severity: 'warning',
  name: 'search',
  evidence: '',
  estimate: { low, high },
  about,
})

const findings = fc.array(
  fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(100), fc.nat(100)).map(([about, low, more]) => finding(about, low, low + more)),
)

describe('the sum of savings', () => {
  it('counts findings about the same awake hours once', () => {
    expect(sumSavings([finding('a', 0, 80), finding('a', 20, 30), finding('b', 5, 7)])).toEqual({ low: 25, high: 87 })
    expect(sumSavings([{ ...finding('a', 0, 0), estimate: { reason: 'unknown' } }])).toEqual({ low: 0, high: 0 })
  })

  it('is never more than the sum of all, and never less than any finding', () => {
    fc.assert(
      fc.property(findings, (some) => {
        const { low, high } = sumSavings(some)
        const amounts = some.flatMap(({ estimate }) => (estimate !== undefined && 'low' in estimate ? [estimate] : []))
        expect(low).toBeLessThanOrEqual(high)
        expect(low).toBeLessThanOrEqual(amounts.reduce((sum, one) => sum + one.low, 0))
        for (const one of amounts) expect(high).toBeGreaterThanOrEqual(one.high)
      }),
    )
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
      unusedDays: 14,
      isAlwaysOn: () => isAlwaysOn,
      settings: {},
    })
  }
  const seeds = Array.from({ length: 200 }, (_, i) => i + 1)

  it('has no finding about the idling of services that must not sleep', () => {
    for (const seed of seeds)
      expect(
        auditOf(seed, true).findings.filter(({ rule }) => rule !== 'unused-service'),
        String(seed),
      ).toEqual([])
  })

  it('never claims to save more than the compute of the service', () => {
    for (const seed of seeds) {
      const { findings: found, services } = auditOf(seed, false)
      const compute = services[0]?.monthlyCompute ?? 0
      expect(found.length, String(seed)).toBeGreaterThan(0)
      for (const { rule, estimate } of found)
        if (estimate !== undefined && 'low' in estimate) {
          expect(estimate.low, rule).toBeLessThanOrEqual(estimate.high)
          expect(estimate.high, `${rule} ${seed}`).toBeLessThanOrEqual(compute * 1.15 + 0.01)
        }
    }
  })
})
