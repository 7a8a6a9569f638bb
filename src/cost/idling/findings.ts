import type { Alert } from '../../kinds/alert/alert.ts'
import { alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import { storedLabelOf } from '../../kinds/kind.ts'
import { hasTag, type ListedService } from '../../platform/api/services.ts'
import { addDays } from '../../platform/core/dates.ts'
import type { LintSettings, Severity } from '../../platform/core/diagnostics.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import { mean } from '../../platform/core/statistics.ts'
import { plural } from '../../platform/core/text.ts'
import { formatDuration } from '../../platform/report/format.ts'
import type { BudgetScope } from '../usage/budgets-file.ts'
import { recordsInScope } from '../usage/records.ts'
import type { AuditRule } from './audit-report.ts'
import { coverageOf, monthDays, presentScheduleOf, runningAlert, scheduleOf, sleepsThroughAlerts } from './price.ts'
import {
  type CostFacts,
  type DailyCompute,
  lengthMs,
  minDays,
  type ReadFailure,
  type Reason,
  reasons,
  type ServiceProfile,
  type Usage,
} from './profile.ts'

/** Credits of a month of 30 days, or why there is no number. */
type CostEstimate = { readonly low: number; readonly high: number } | { readonly reason: string }

interface ServiceFinding {
  /** What was found, without the full stop. Trusted. */
  readonly evidence: string
  readonly names?: readonly string[]
  readonly estimate?: CostEstimate
  readonly command?: string
  /** What to know before the change, or how to make it without a command. A whole sentence. */
  readonly advice?: string
  /** Findings with the same text are about the same awake hours or storage, so only one of them counts for a sum. */
  readonly about?: string
}

export interface UnratedFinding extends ServiceFinding {
  readonly serviceId?: string
  readonly name: string
  readonly about: string
}

export interface Finding extends UnratedFinding {
  readonly rule: AuditRule
  readonly severity: Severity
}

export interface ServiceAlerts {
  readonly alerts: readonly Alert[]
  /** Whether they may query another service of the warehouse. */
  readonly isTargetUnknown: boolean
}

export interface AuditOptions {
  readonly facts: CostFacts
  /** Alerts by the id of their service. Undefined for services without ClickStack, and for those whose alerts were not needed. */
  readonly alerts: ReadonlyMap<string, ServiceAlerts | ReadFailure | undefined>
  readonly budgets: readonly { readonly scope: BudgetScope }[] | undefined
  readonly isAlwaysOn: (service: ListedService) => boolean
  readonly settings: LintSettings
}

export const goneStates: readonly string[] = ['terminating', 'terminated', 'softdeleting', 'softdeleted']

export const isStopped = ({ state }: ListedService): boolean => state === 'stopped' || state === 'stopping'

export const maySleep = (service: ListedService): boolean =>
  service.idleScaling === true && !isStopped(service) && !goneStates.includes(service.state ?? '')

export interface AuditSubject extends AuditOptions {
  readonly service: ListedService
  readonly profile: ServiceProfile | Reason
  readonly ownAlerts: readonly Alert[]
  readonly isTargetUnknown: boolean
  readonly alwaysOn: boolean
  readonly compute: readonly DailyCompute[]
  /** Compute of a month like the final days; undefined without them. */
  readonly monthlyCompute: number | undefined
}

export type ServiceRule = Exclude<AuditRule, 'stopped-warehouse'>

export const serviceRules: Readonly<Record<ServiceRule, (subject: AuditSubject) => ServiceFinding | undefined>> = {
  'idling-off'({ service, alwaysOn, monthlyCompute, facts }) {
    if (service.idleScaling !== false || alwaysOn || isStopped(service)) return undefined
    const estimate: CostEstimate =
      monthlyCompute === undefined
        ? { reason: reasons['failure' in facts.usage ? 'no-usage' : 'no-compute'] }
        : { low: 0, high: monthlyCompute }
    return {
      evidence: 'Idling is off, so the service is billed for every hour, whether or not it is queried',
      estimate,
      command: scaleCommand(service.id, '--idle-scaling true --idle-timeout-minutes 15'),
      advice:
        'Refreshable materialized views and S3Queue stop while a service sleeps, and the first query waits for its start. List services that need them in WATCHKEEPER_ALWAYS_ON, or --always-on.',
    }
  },

  'open-to-scanners'(subject) {
    const { service, profile } = subject
    const open = (service.ipAccessList ?? []).map(({ source }) => source).filter((source) => ['0.0.0.0/0', '::/0'].includes(source))
    if (!isIdler(subject) || open.length === 0) return undefined
    const high = typeof profile === 'string' ? undefined : shortWakesOf(profile)
    return {
      evidence: 'Any address may connect, and scanners of the internet wake such services',
      ...(typeof profile === 'string' && { estimate: { reason: reasons[profile] } }),
      // A service that other queries keep awake has no awake times of its own for scanners.
      ...(high !== undefined && high > 0 && { estimate: { low: 0, high } }),
      command: updateCommand(service.id, `--add-ip-allow YOUR_CIDR ${open.map((source) => `--remove-ip-allow ${source}`).join(' ')}`),
      advice: 'Add the addresses of your clients before you remove the open entry.',
    }
  },

  'rarely-sleeps'(subject) {
    const { service, profile, ownAlerts, monthlyCompute = 0 } = subject
    const evidence = isIdler(subject)
      ? (neverSeenAsleep(subject) ??
        (typeof profile === 'string' || profile.awakeShare < 0.9
          ? undefined
          : `The service was awake ${percent(profile.awakeShare)} of ${plural(profile.days.length, 'known day')}`))
      : undefined
    if (evidence === undefined) return undefined
    const hasFrequentAlert = ownAlerts.some((alert) => (scheduleOf(alert)?.intervalMs ?? dayMs) <= minTimeoutMs)
    return {
      evidence: `${evidence}, although it may sleep`,
      estimate: { low: 0, high: typeof profile === 'string' ? monthlyCompute : costOfAwake(profile) },
      // A shorter timeout does not help where alerts are evaluated as often.
      ...((service.idleTimeoutMinutes ?? 0) > 5 && !hasFrequentAlert && { command: scaleCommand(service.id, '--idle-timeout-minutes 5') }),
      advice:
        'To see who keeps it awake, group system.query_log by http_user_agent and user. Queries of alerts have the user agent hyperdx-alerts.',
    }
  },

  'alert-prevents-idling'(subject) {
    if (!isIdler(subject)) return undefined
    const { service, profile, ownAlerts, isTargetUnknown, facts } = subject
    const timeoutMs = (service.idleTimeoutMinutes ?? 0) * minuteMs
    const scheduled = ownAlerts.flatMap((alert) => {
      const schedule = presentScheduleOf(alert, facts.nowMs)
      return schedule === undefined ? [] : [{ alert, schedule }]
    })
    // A service with unknown awake times is awake at least as long as its alerts keep it awake.
    const day = { fromMs: 0, toMs: dayMs }
    const coveredBy = coverageOf(typeof profile === 'string' ? [{ ...day, awake: [day] }] : profile.days, timeoutMs)
    // Alerts whose evaluations cover less of the awake time do not matter much.
    const frequent = scheduled.filter((one) => coveredBy([one.schedule]) >= 0.2)
    if (frequent.length === 0) return undefined
    const schedules = frequent.map(({ schedule }) => schedule)
    const shortestMs = Math.min(...schedules.map((schedule) => schedule.intervalMs))
    const longer = alertIntervals.find((name) => intervalMs[name] > Math.max(timeoutMs, shortestMs))
    const estimate = (): CostEstimate => {
      if (typeof profile === 'string') return { reason: reasons[profile] }
      if (isTargetUnknown) return { reason: reasons['target-unknown'] }
      if (sleepsThroughAlerts(profile, ownAlerts.flatMap(runningAlert))) return { reason: reasons['alerts-do-not-wake'] }
      const others = scheduled.filter((one) => !frequent.includes(one)).map(({ schedule }) => schedule)
      const onlyTheirs = [profile.timeoutMs.low, profile.timeoutMs.high]
        .map((ms) => coverageOf(profile.days, ms))
        .map((shareOf) => shareOf([...others, ...schedules]) - shareOf(others))
      return { low: 0, high: Math.max(...onlyTheirs) * costOfAwake(profile) }
    }
    const whole = typeof profile === 'string' ? 'the time' : 'the awake time'
    return {
      evidence: `With the idle timeout of ${formatDuration(timeoutMs)}, evaluations of ${plural(frequent.length, 'alert')} cover ${percent(coveredBy(schedules))} of ${whole}`,
      names: frequent.map(({ alert }) => storedLabelOf(alert) || alert.id),
      estimate: estimate(),
      ...(Math.min(shortestMs, timeoutMs) > minTimeoutMs && { command: scaleCommand(service.id, '--idle-timeout-minutes 5') }),
      advice: `${longer === undefined ? 'Longer intervals let' : `An interval of ${longer} or longer lets`} the service sleep longer. Change the interval in the file of the alert, or in the settings of the alert in ClickStack. Activities do not say who woke the service, so the saving may be less.`,
    }
  },

  'unused-service'({ service, compute, facts }) {
    const since = compute.filter(({ isFinal }) => isFinal).at(-unusedDays)?.day
    // Usage that is not final yet is use, too, and a service that is younger than the days had no chance.
    if ('failure' in facts.usage || since === undefined || compute.some(({ day, credits }) => day >= since && credits > 0)) return undefined
    if (Date.parse(service.createdAt ?? '') > Date.parse(since)) return undefined
    const inWarehouse = facts.services.filter(({ dataWarehouseId }) => dataWarehouseId === service.dataWarehouseId)
    // A warehouse whose services are all stopped is a finding of its own.
    if (inWarehouse.every(isStopped)) return undefined
    const storage = inWarehouse.length === 1 ? storageOf(facts.usage, service.dataWarehouseId) : undefined
    return {
      about: `storage ${service.dataWarehouseId}`,
      evidence: `No compute usage on the last ${plural(unusedDays, 'final day')}`,
      ...(storage !== undefined && { estimate: storage }),
      command: `clickhousectl cloud service delete ${service.id}`,
      advice: 'A deleted service and its data cannot be restored. Keep a backup or an export if you may need them.',
    }
  },

  'no-budget'({ service, budgets, facts }) {
    if (budgets === undefined || 'failure' in facts.usage) return undefined
    const { records } = facts.usage
    const own = records.filter((record) => (record.serviceId ?? record.entityId) === service.id && !record.total.eq(0))
    const isCounted = budgets.some(
      ({ scope }) =>
        (scope.tag === undefined || scope.tag.some((tag) => hasTag(service, tag))) && recordsInScope(own, scope, records).length > 0,
    )
    if (own.length === 0 || isCounted) return undefined
    return {
      about: `budget ${service.id}`,
      evidence: 'No budget of the budgets file counts the usage of this service',
      advice: 'Add a budget whose scope has the service, or a budget without a scope.',
    }
  },

  'no-tags'({ service }) {
    if (service.tags?.length !== 0) return undefined
    return {
      about: `tags ${service.id}`,
      evidence: 'The service has no tags, so that its usage cannot be counted by team or environment',
      command: updateCommand(service.id, '--add-tag team=YOUR_TEAM'),
    }
  },
}

const isIdler = ({ service, alwaysOn }: AuditSubject) => !alwaysOn && maySleep(service)

const scaleCommand = (id: string, settings: string) => `clickhousectl cloud service scale ${id} ${settings}`

const updateCommand = (id: string, settings: string) => `clickhousectl cloud service update ${id} ${settings}`

/** The awake times that one query explains: about as long as the idle timeout. */
function shortWakesOf({ days, timeoutMs, rate }: ServiceProfile) {
  const short = days.map(({ awake }) => lengthMs(awake.filter((one) => lengthMs([one]) <= timeoutMs.high + 5 * minuteMs)))
  return (mean(short) / hourMs) * monthDays * rate.mean
}

/** The shortest idle timeout that can be set. Source: the vendor's OpenAPI document of 2026-07-31. */
const minTimeoutMs = 5 * minuteMs

const costOfAwake = ({ awakeShare, rate }: ServiceProfile) => awakeShare * 24 * monthDays * rate.mean

/** A service that is always awake may have no activities, so that they do not say since when it is awake. Its usage indicates it. */
function neverSeenAsleep({ service, profile, compute, facts: { activities } }: AuditSubject) {
  const final = compute.filter(({ isFinal }) => isFinal)
  if (service.state !== 'running' || profile !== 'too-few-days' || final.length < minDays || final.some(({ credits }) => credits <= 0))
    return undefined
  if ('failure' in activities || activities.activities.some(({ serviceId }) => serviceId === service.id)) return undefined
  return `The service has no activities, and used compute on each of ${plural(final.length, 'final day')}`
}

const percent = (share: number) => `${Math.round(share * 100)}%`

export const unusedDays = 14

/** What the warehouse itself costs: storage and backups, from the cheapest final day to the mean. Undefined if it cost nothing in a week. */
function storageOf({ records, to }: Usage, warehouseId: string | undefined): CostEstimate | undefined {
  const own = records.filter((one) => one.entityType === 'datawarehouse' && (one.warehouseId ?? one.entityId) === warehouseId)
  const days = own.filter(({ locked }) => locked).map(({ total }) => total.toNumber())
  if (days.length === 0 || !own.some(({ date, total }) => date > addDays(to, -7) && total.gt(0))) return undefined
  return { low: Math.min(...days) * monthDays, high: mean(days) * monthDays }
}

export function findStoppedWarehouses(services: readonly ListedService[], { usage }: CostFacts): readonly UnratedFinding[] {
  const byWarehouse = Map.groupBy(services, ({ dataWarehouseId }) => dataWarehouseId)
  return [...byWarehouse].flatMap(([id, members]): readonly UnratedFinding[] => {
    if (id === undefined || 'failure' in usage || !members.every(isStopped)) return []
    const estimate = storageOf(usage, id)
    if (estimate === undefined || 'reason' in estimate || estimate.high <= 0) return []
    return [
      {
        name: usage.records.find(({ entityType, warehouseId }) => entityType === 'datawarehouse' && warehouseId === id)?.entityName || id,
        evidence: 'Every service of the warehouse is stopped, and its storage and backups still cost credits',
        names: members.map((member) => serviceLabelOf(member, services)),
        estimate,
        command: members.map((member) => `clickhousectl cloud service delete ${member.id}`).join('\n'),
        advice: 'A deleted service and its data cannot be restored. Keep an export if you may need the data.',
        about: `storage ${id}`,
      },
    ]
  })
}

/** The name of a service, with the id where another one has that name. */
export function serviceLabelOf({ name, id }: ListedService, all: readonly ListedService[]): string {
  if (!name) return id
  return all.some((other) => other.name === name && other.id !== id) ? `${name} (${id})` : name
}
