import {
  type AlertPrice,
  type AlertSchedule,
  presentScheduleOf,
  priceAlerts,
  runningAlert,
  type ScheduleChange,
  scheduleOf,
  sleepsThroughAlerts,
} from '../../cost/idling/price.ts'
import {
  type CostFacts,
  hasUnknownTarget,
  isAwakeOrAsleep,
  profileOf,
  readCostFacts,
  reasons,
  type ServiceProfile,
} from '../../cost/idling/profile.ts'
import { alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import { composeUpdate } from '../../kinds/compare.ts'
import type { Kind } from '../../kinds/kind.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Service } from '../../platform/api/path.ts'
import type { ListedService } from '../../platform/api/services.ts'
import { causeOf, toFailure } from '../../platform/core/errors.ts'
import { type Change, changesOf, staysAsItIs } from '../../sync/decide/change.ts'
import type { PlanningResult } from '../../sync/plan/make-plan.ts'
import type { StoredObjects } from '../../sync/plan/stored-objects.ts'
import type { PlanPrice, PricedAlert } from './price-report.ts'

// What alerts add to the bill, by how much longer they keep the service awake.

interface AlertChange extends ScheduleChange {
  readonly change: Change
  readonly interval: string
}

const nothing = { low: 0, expected: 0, high: 0 }

/** Three requests, and none without a changed schedule. A failure is part of the result. */
export async function pricePlan(
  { plan, kinds, storedObjects }: PlanningResult,
  { api, service, nowMs }: { readonly api: ReadApi; readonly service: Service; readonly nowMs: number },
): Promise<PlanPrice> {
  const changes = changesOf(plan.changes, 'alert').flatMap((change) => alertChangeOf(change, kinds.alert, nowMs))
  const mayAdd = changes.some(({ after }) => after !== undefined)
  const none = { service: service.serviceId, knownDays: 0, isAtMost: true, alerts: [], ...(!mayAdd && { total: nothing }) }
  if (storedObjects === undefined || changes.length === 0) return none
  try {
    const facts = await readCostFacts(api, service.organizationId, nowMs)
    const own = facts.services.find(({ id }) => id === service.serviceId)
    if (own === undefined) return { ...none, message: 'the list of services does not contain it' }
    const named = { ...none, service: own.name || own.id, isAtMost: own.isReadonly !== true }
    if (!isAwakeOrAsleep(own.state))
      return { ...named, message: `its state is ${own.state ?? 'unknown'}, which does not show how it sleeps` }
    if (own.idleScaling === false) return { ...named, total: nothing, message: 'idling is off, so it never sleeps' }
    const profile = profileIn(facts, own, storedObjects)
    if (typeof profile === 'string') return { ...named, message: profile }
    const changedIds = new Set(changes.flatMap(({ change }) => change.id ?? []))
    const others = storedObjects.alert.filter(({ id }) => !changedIds.has(id)).flatMap((alert) => presentScheduleOf(alert, nowMs) ?? [])
    return {
      ...named,
      ...('unit' in facts.usage && { unit: facts.usage.unit }),
      idleTimeoutMinutes: own.idleTimeoutMinutes,
      knownDays: profile.days.length,
      sleptPercent: 100 * (1 - profile.awakeShare),
      ...priceChanges(changes, profile, others, named.isAtMost),
    }
  } catch (thrown) {
    return { ...none, message: causeOf(toFailure(thrown)) }
  }
}

function alertChangeOf(change: Change, kind: Kind, nowMs: number): readonly AlertChange[] {
  const { action, stored, desired } = change
  if (staysAsItIs(change)) return []
  // An update leaves a disabled alert disabled, because files have no state.
  const isKept = stored !== undefined && action !== 'replace'
  const next = desired && (isKept ? { ...composeUpdate(kind, desired, stored), state: stored.state } : desired)
  const [before, after] = [stored && presentScheduleOf(stored, nowMs), next && scheduleOf(next)]
  const isSame = JSON.stringify(stored && scheduleOf(stored)) === JSON.stringify(after)
  return isSame || (before ?? after) === undefined ? [] : [{ change, before, after, interval: String((next ?? stored)?.interval) }]
}

function profileIn(facts: CostFacts, own: ListedService, storedObjects: StoredObjects): ServiceProfile | string {
  const failed = [facts.activities, facts.usage].find((one) => 'failure' in one)
  if (failed !== undefined && 'failure' in failed) return failed.failure
  const profile = own.idleScaling === undefined ? 'no-settings' : profileOf(facts, own)
  if (typeof profile === 'string') return reasons[profile]
  if (hasUnknownTarget(own, facts.services, storedObjects.source)) return reasons['target-unknown']
  return sleepsThroughAlerts(profile, storedObjects.alert.flatMap(runningAlert)) ? reasons['alerts-do-not-wake'] : profile
}

function priceChanges(changes: readonly AlertChange[], profile: ServiceProfile, others: readonly AlertSchedule[], isAtMost: boolean) {
  const price = priceAlerts({ profile, others, changes })
  return {
    total: { ...price.added, ...(isAtMost && { low: 0 }) },
    alerts: changes.map((one): PricedAlert => {
      const { key, name, action } = one.change
      const share = price.shareOf(one)
      return {
        key,
        name,
        action: action === 'create' || action === 'replace' || action === 'delete' ? action : 'update',
        interval: one.interval,
        share,
        alternative: alternativeTo(one, share, profile, price),
      }
    }),
  }
}

/** The shortest longer interval between whose evaluations the service can sleep. */
function alternativeTo({ before, after }: AlertChange, share: number, { timeoutMs }: ServiceProfile, { shareOf }: AlertPrice) {
  if (after === undefined || share <= 0) return undefined
  const interval = alertIntervals.find((name) => intervalMs[name] > Math.max(after.intervalMs, timeoutMs.high))
  return interval && { interval, share: shareOf({ before, after: { ...after, intervalMs: intervalMs[interval] } }) }
}
