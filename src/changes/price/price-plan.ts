import { type CostFacts, hasUnknownTarget, profileOf, readCostFacts } from '../../cost/idling/facts.ts'
import { type AlertPrice, priceAlerts, sleepsThroughAlerts } from '../../cost/idling/price.ts'
import { type Reason, reasons, type ServiceProfile } from '../../cost/idling/profile.ts'
import { type AlertSchedule, runningAlert, scheduleOf } from '../../cost/idling/schedules.ts'
import { alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Service } from '../../platform/api/path.ts'
import type { ListedService } from '../../platform/api/services.ts'
import { causeOf, toFailure } from '../../platform/core/errors.ts'
import { type Change, changesOf } from '../../sync/plan/change.ts'
import type { PlanningResult } from '../../sync/plan/make-plan.ts'
import type { StoredObjects } from '../../sync/plan/stored-objects.ts'
import type { PlanPrice, PricedAlert } from './price-report.ts'

// What the alerts of a plan add to the bill, by how much longer they keep the service awake.

interface PriceContext {
  readonly api: ReadApi
  readonly service: Service
  readonly nowMs: number
}

/** An alert of the plan whose schedule differs after it. */
interface ScheduleChange {
  readonly change: Change
  readonly before: AlertSchedule | undefined
  readonly after: AlertSchedule | undefined
  readonly interval: string
}

/** Three requests, and none without a changed schedule. A failure is part of the result, because a plan does not depend on its prices. */
export async function pricePlan({ plan, storedObjects }: PlanningResult, { api, service, nowMs }: PriceContext): Promise<PlanPrice> {
  const none = { service: service.serviceId, knownDays: 0, isAtMost: true, alerts: [] }
  const changes = changesOf(plan, 'alert').flatMap(scheduleChangeOf)
  if (storedObjects === undefined || changes.length === 0) return none
  try {
    const facts = await readCostFacts(api, service.organizationId, nowMs)
    const own = facts.services.find(({ id }) => id === service.serviceId)
    if (own === undefined) return { ...none, message: 'The list of services does not contain this service.' }
    const failed = [facts.activities, facts.usage].find((one) => 'failure' in one)
    if (failed !== undefined && 'failure' in failed) return { ...none, message: failed.failure }
    const unit = 'failure' in facts.usage ? undefined : facts.usage.unit
    return {
      ...none,
      unit,
      service: own.name || own.id,
      isAtMost: own.isReadonly !== true,
      ...priceChanges({ storedObjects, facts, own, changes }),
    }
  } catch (thrown) {
    return { ...none, message: causeOf(toFailure(thrown)) }
  }
}

function scheduleChangeOf(change: Change): readonly ScheduleChange[] {
  const { action, stored, desired } = change
  const before = stored && scheduleOf(stored)
  // A disabled alert stays disabled, because files have no state.
  const after = action === 'delete' ? undefined : scheduleOf({ ...stored, ...desired })
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  return [{ change, before, after, interval: String((action === 'delete' ? stored : { ...stored, ...desired })?.interval) }]
}

interface PricedPlan {
  readonly storedObjects: StoredObjects
  readonly facts: CostFacts
  readonly own: ListedService
  readonly changes: readonly ScheduleChange[]
}

type Priced = Pick<PlanPrice, 'idleTimeoutMinutes' | 'knownDays' | 'sleptPercent' | 'alerts' | 'total'>

function priceChanges(priced: PricedPlan): Priced {
  const { own, changes, facts, storedObjects } = priced
  const idleTimeoutMinutes = own.idleTimeoutMinutes
  const nothing = whyNothing(own)
  const all = (fields: Pick<PricedAlert, 'status' | 'reason'>): Priced => ({
    idleTimeoutMinutes,
    knownDays: 0,
    alerts: changes.map((one) => ({ ...namesOf(one), ...fields })),
  })
  if (nothing !== undefined) return all({ status: 'adds-nothing', reason: nothing })
  const profile = profileOf(facts, own)
  if (typeof profile === 'string') return all({ status: 'not-estimable', reason: reasons[profile] })
  const reason = whyUnknown(priced, profile)
  if (reason !== undefined) return all({ status: 'not-estimable', reason: reasons[reason] })
  const changed = new Set(changes.flatMap(({ change }) => change.id ?? []))
  const unchanged = storedObjects.alert.filter(({ id }) => !changed.has(id)).flatMap((alert) => scheduleOf(alert) ?? [])
  const price = (
    wanted: readonly ScheduleChange[],
    after: readonly AlertSchedule[] = wanted.flatMap((one) => one.after ?? []),
  ): AlertPrice =>
    priceAlerts({
      profile,
      // Other alerts that change count as they are now.
      others: [...unchanged, ...changes.filter((one) => !wanted.includes(one)).flatMap((one) => one.before ?? [])],
      before: wanted.flatMap((one) => one.before ?? []),
      after,
      nowMs: facts.nowMs,
    })
  const atMost = own.isReadonly !== true
  const alerts = changes.map((one) => ({ ...namesOf(one), ...priceOf(one, { profile, price, atMost }) }))
  const adding = alerts.filter(({ status }) => status === 'adds').length
  return {
    idleTimeoutMinutes,
    knownDays: profile.days.length,
    sleptPercent: round(100 * (1 - profile.awakeShare)),
    alerts,
    ...(adding > 1 && { total: rangeOf(price(changes).added, atMost) }),
  }
}

const namesOf = ({
  change: { key, name, action },
  interval,
}: ScheduleChange): Pick<PricedAlert, 'key' | 'name' | 'action' | 'interval'> => ({
  key,
  name,
  action: action === 'create' || action === 'replace' || action === 'delete' ? action : 'update',
  interval,
})

const round = (value: number): number => Math.round(value * 100) / 100

const rangeOf = ({ low, expected, high }: AlertPrice['added'], atMost: boolean) => ({
  low: atMost ? 0 : round(low),
  expected: round(expected),
  high: round(high),
})

interface PricingTools {
  readonly profile: ServiceProfile
  readonly price: (wanted: readonly ScheduleChange[], after?: readonly AlertSchedule[]) => AlertPrice
  readonly atMost: boolean
}

/** A smaller share of the awake time is within the error of an estimate. */
const minShare = 0.005

function priceOf(one: ScheduleChange, { profile, price, atMost }: PricingTools): Omit<PricedAlert, 'key' | 'name' | 'action' | 'interval'> {
  const { added, savedUpTo } = price([one])
  const minCredits = minShare * 24 * 30 * profile.rate.mean
  if (added.high >= minCredits) {
    const alternative = alternativeTo(one, { profile, price, atMost }, added.expected)
    return { status: 'adds', ...rangeOf(added, atMost), ...(alternative && { alternative }) }
  }
  if (savedUpTo >= minCredits) return { status: 'saves', low: 0, savedUpTo: round(savedUpTo) }
  const reason =
    profile.awakeShare > 1 - minShare ? 'the service does not sleep' : 'other alerts or queries keep the service awake at the same times'
  return { status: 'adds-nothing', reason: one.after === undefined ? 'the alert is disabled' : reason }
}

/** The shortest longer interval between whose evaluations the service can sleep, where it is at least a fifth cheaper. */
function alternativeTo(one: ScheduleChange, { profile, price }: PricingTools, expected: number): PricedAlert['alternative'] {
  const { after } = one
  if (after === undefined) return undefined
  const interval = alertIntervals.find((name) => intervalMs[name] > Math.max(after.intervalMs, profile.timeoutMs.high))
  if (interval === undefined) return undefined
  const longer = price([one], [{ ...after, intervalMs: intervalMs[interval] }]).added.expected
  return longer < 0.8 * expected ? { interval, expected: round(longer) } : undefined
}

function whyNothing({ idleScaling, state }: ListedService): string | undefined {
  if (idleScaling === false) return 'idling is off, so the service never sleeps'
  return state === 'stopped' ? 'the service is stopped' : undefined
}

function whyUnknown({ own, facts, storedObjects, changes }: PricedPlan, profile: ServiceProfile): Reason | undefined {
  if (own.idleScaling === undefined) return 'no-settings'
  if (hasUnknownTarget(own, facts.services, storedObjects.source)) return 'target-unknown'
  const running = storedObjects.alert.flatMap(runningAlert)
  const removed = new Set(changes.flatMap(({ change, after }) => (after === undefined ? (change.id ?? []) : [])))
  const isRemovalOnly = changes.every(({ change }) => removed.has(change.id ?? ''))
  return !isRemovalOnly && sleepsThroughAlerts(profile, running) ? 'alerts-do-not-wake' : undefined
}
