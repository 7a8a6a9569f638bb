import type { ListedService } from '../../platform/api/services.ts'
import type { LintSettings } from '../../platform/core/diagnostics.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { mean } from '../../platform/core/statistics.ts'
import { plural } from '../../platform/core/text.ts'
import { formatDuration } from '../../platform/report/format.ts'
import { type AuditRule, auditRules } from './audit-result.ts'
import { dailyCompute, profileOf, type Usage } from './facts.ts'
import {
  type AuditOptions,
  type AuditSubject,
  type Finding,
  findStoppedWarehouses,
  goneStates,
  type ServiceRule,
  serviceLabelOf,
  serviceRules,
  type UnratedFinding,
  unusedDays,
} from './findings.ts'
import { monthDays } from './price.ts'
import { intersect, lengthMs, type Reason, reasons, type ServiceProfile } from './profile.ts'

interface Unchecked {
  /** Trusted. */
  readonly what: string
  readonly name?: string
  readonly reason: string
  /** Whether it is a failure, and not a choice of the user. */
  readonly isFailure: boolean
}

interface AuditedService {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly idling: string
  readonly isAlwaysOn: boolean
  readonly profile: ServiceProfile | Reason
  readonly monthlyCompute: number | undefined
}

export interface Audit {
  readonly findings: readonly Finding[]
  readonly unchecked: readonly Unchecked[]
  readonly services: readonly AuditedService[]
  readonly savings: { readonly low: number; readonly high: number }
}

export function auditServices(options: AuditOptions): Audit {
  const { facts, settings } = options
  const present = facts.services.filter(({ state }) => !goneStates.includes(state ?? ''))
  const subjects = present.map((service) => auditSubject(service, options))
  const findings = [
    ...subjects.flatMap((subject) => keysOf<ServiceRule>(serviceRules).flatMap((rule) => toFinding(rule, subject, settings))),
    ...findStoppedWarehouses(present, facts).flatMap((found) => withSeverity('stopped-warehouse', found, settings)),
  ]
  return {
    findings: findings.toSorted((a, b) => highOf(b) - highOf(a)),
    unchecked: listUnchecked(options, present),
    services: subjects.map(toAudited),
    savings: sumSavings(findings),
  }
}

const highOf = ({ estimate }: Finding) => (estimate === undefined || 'reason' in estimate ? -1 : estimate.high)

/** Two findings about the same awake hours count once, with the higher limits. */
export function sumSavings(findings: readonly Finding[]): { readonly low: number; readonly high: number } {
  const ends = [...Map.groupBy(findings, ({ about }) => about).values()].map((same) => {
    const known = same.flatMap(({ estimate }) => (estimate === undefined || 'reason' in estimate ? [] : [estimate]))
    return { low: Math.max(0, ...known.map(({ low }) => low)), high: Math.max(0, ...known.map(({ high }) => high)) }
  })
  return { low: ends.reduce((sum, { low }) => sum + low, 0), high: ends.reduce((sum, { high }) => sum + high, 0) }
}

function auditSubject(service: ListedService, options: AuditOptions): AuditSubject {
  const { facts, alerts, isAlwaysOn } = options
  const listed = alerts.get(service.id)
  const { alerts: ownAlerts, isTargetUnknown } =
    listed === undefined || 'failure' in listed ? { alerts: [], isTargetUnknown: false } : listed
  const compute = 'failure' in facts.usage ? [] : dailyCompute(facts.usage, service.id)
  const final = compute.filter(({ isFinal }) => isFinal).map(({ credits }) => credits)
  return {
    ...options,
    service,
    profile: profileOf(facts, service),
    ownAlerts,
    isTargetUnknown,
    alwaysOn: isAlwaysOn(service),
    compute,
    monthlyCompute: final.length === 0 ? undefined : mean(final) * monthDays,
  }
}

function toAudited({ service, facts, profile, alwaysOn, monthlyCompute }: AuditSubject): AuditedService {
  const { id, state, idleScaling, idleTimeoutMinutes } = service
  const timeout = idleTimeoutMinutes === undefined ? '' : `after ${formatDuration(idleTimeoutMinutes * minuteMs)}`
  return {
    id,
    name: serviceLabelOf(service, facts.services),
    state: state ?? 'unknown',
    idling: idleScaling === undefined ? 'unknown' : idleScaling ? timeout : 'off',
    isAlwaysOn: alwaysOn,
    profile,
    monthlyCompute,
  }
}

function toFinding(rule: ServiceRule, subject: AuditSubject, settings: LintSettings): readonly Finding[] {
  const found = serviceRules[rule](subject)
  const { service, facts, monthlyCompute = Number.POSITIVE_INFINITY } = subject
  if (found === undefined) return []
  const { about = `awake ${service.id}`, estimate } = found
  // The rate of an awake hour is a mean, so that the hours of some days may seem to cost more than they did.
  const isAboveCompute = found.about === undefined && estimate !== undefined && 'high' in estimate && estimate.high > monthlyCompute
  const limited = isAboveCompute ? { estimate: { low: 0, high: monthlyCompute } } : {}
  return withSeverity(rule, { serviceId: service.id, name: serviceLabelOf(service, facts.services), ...found, about, ...limited }, settings)
}

function withSeverity(rule: AuditRule, found: UnratedFinding, settings: LintSettings): readonly Finding[] {
  const severity = settings[rule] ?? auditRules[rule].severity
  return severity === 'off' ? [] : [{ rule, severity, ...found }]
}

function tooFewDays(usage: Usage) {
  const count = dailyCompute(usage, '').filter(({ isFinal }) => isFinal).length
  return count >= unusedDays ? [] : [`there are ${plural(count, 'final day')} of usage, and the check needs ${unusedDays}`]
}

function listUnchecked({ facts, alerts, budgets, settings }: AuditOptions, services: readonly ListedService[]): readonly Unchecked[] {
  const { activities, usage } = facts
  const isOn = (rule: AuditRule): boolean => (settings[rule] ?? auditRules[rule].severity) !== 'off'
  const failed = (what: string, reason: string, service?: ListedService): Unchecked => ({
    what,
    reason,
    isFailure: true,
    ...(service && { name: serviceLabelOf(service, facts.services) }),
  })
  return [
    ...('failure' in activities ? [failed('how long services sleep', activities.failure)] : []),
    ...('failure' in usage ? [failed('costs, unused services and stopped warehouses', usage.failure)] : []),
    ...(services.length === 0 ? [failed('services', 'the API lists none; the key may be limited to others')] : []),
    ...('failure' in usage || !isOn('unused-service') ? [] : tooFewDays(usage).map((reason) => failed('unused services', reason))),
    ...services.flatMap((service) => {
      const listed = alerts.get(service.id)
      return listed !== undefined && 'failure' in listed ? [failed('alerts', listed.failure, service)] : []
    }),
    ...services.flatMap((service) => (service.idleScaling === undefined ? [failed('idling', reasons['no-settings'], service)] : [])),
    ...(budgets === undefined && isOn('no-budget')
      ? [{ what: 'services without a budget', reason: 'the input budgets is not set', isFailure: false }]
      : []),
  ]
}

/** Awake hours of each day that is known of every service with a profile. */
export function awakeByDay(services: readonly AuditedService[]): readonly { readonly day: string; readonly hours: number }[] {
  const profiles = services.flatMap(({ profile }) => (typeof profile === 'string' ? [] : [profile]))
  const [first, ...others] = profiles
  return (first?.days ?? []).flatMap(({ day, fromMs }) => {
    const same = [first, ...others].map((profile) => profile?.days.find((one) => one.day === day))
    if (same.some((one) => one === undefined)) return []
    const whole = [{ fromMs, toMs: fromMs + dayMs }]
    return [{ day, hours: same.reduce((sum, one) => sum + lengthMs(intersect(one?.awake ?? [], whole)), 0) / hourMs }]
  })
}
