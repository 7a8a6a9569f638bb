import type { Body } from '../../kinds/kind.ts'
import { type Activities, listActivities } from '../../platform/api/activities.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { type ListedService, listServices } from '../../platform/api/services.ts'
import { type Day, dayOf, eachDay, plainDays } from '../../platform/core/dates.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { causeOf, toFailure } from '../../platform/core/errors.ts'
import { whyNotTrusted } from '../usage/phrases.ts'
import type { UsageRecord } from '../usage/records.ts'
import { readUsageCost } from '../usage/usage-api.ts'
import { type DailyCompute, profileService, type Reason, readTimeline, type ServiceProfile, usageDays } from './profile.ts'

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

/** Days of activities before the first day of usage: the state of a service on that day is known by its last change before. */
const earlierDays = 14

/** Throws an ApiError when the services cannot be read. A key may lack the permission for the others. */
export async function readCostFacts(api: ReadApi, organizationId: string, nowMs: number): Promise<CostFacts> {
  const fromMs = Date.parse(usageDays(nowMs).from) - earlierDays * dayMs
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

/** How the service slept and what its awake hours cost, or why this is not known. */
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
    smallestShare: autoscalingMode === 'horizontal' ? 0 : Math.min(1, minReplicaMemoryGb / maxReplicaMemoryGb),
  })
}
