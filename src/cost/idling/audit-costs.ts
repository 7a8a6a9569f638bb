import * as z from 'zod'
import { alertCollection } from '../../kinds/alert/alert.ts'
import { readWatchedNames } from '../../kinds/collections.ts'
import { sourceCollection } from '../../kinds/source/source-wire.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { drillTag, isOfDrill, type ListedService, tagsOf } from '../../platform/api/services.ts'
import { dayOf } from '../../platform/core/dates.ts'
import { type Decimal, fromEstimate } from '../../platform/core/decimal.ts'
import { type LintSettings, type Severity, severities } from '../../platform/core/diagnostics.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import { causeOf, toFailure } from '../../platform/core/errors.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { didYouMean } from '../../platform/core/names.ts'
import { mean } from '../../platform/core/statistics.ts'
import { plural } from '../../platform/core/text.ts'
import type { Files } from '../../platform/operation/files.ts'
import { lines, noted, variable } from '../../platform/operation/inputs.ts'
import { defineOperation, noFields } from '../../platform/operation/operation.ts'
import { formatDuration } from '../../platform/report/format.ts'
import { amountInput, budgetsInput } from '../usage/amounts.ts'
import { resolvePeriod } from '../usage/periods.ts'
import { type AuditResult, type AuditRule, auditDetails, auditRules, findingLines, judgeAudit, reportAudit } from './audit-report.ts'
import {
  type AuditOptions,
  type AuditSubject,
  type Finding,
  findStoppedWarehouses,
  goneStates,
  maySleep,
  type ServiceAlerts,
  type ServiceRule,
  serviceLabelOf,
  serviceRules,
  type UnratedFinding,
  unusedDays,
} from './findings.ts'
import { monthDays } from './price.ts'
import {
  type CostFacts,
  dailyCompute,
  hasUnknownTarget,
  intersect,
  lengthMs,
  profileOf,
  type ReadFailure,
  readCostFacts,
  reasons,
  sharesWarehouse,
  type Usage,
} from './profile.ts'

const ruleSeverities = [...severities, 'off'] as const

const auditInput = z.strictObject({
  maxSavings: amountInput(
    'Fails when the findings of the audit would save more than this each month, in credits. The lowest estimate of each finding counts. An equal amount passes.',
  ).optional(),
  alwaysOn: variable(
    lines(
      'Exempts services that must not sleep from the rules about idling, by name, id or tag.',
      'names, ids, or tag:Key=Value or tag:Key, one per line',
      z.string().regex(/^[^\u0000-\u001f\u007f]{1,256}$/),
    ).optional(),
  ),
  severities: variable(
    lines(
      'Sets the severities of rules, or turns rules `off`. An error fails the run, and a note changes nothing.',
      `rule=severity, one per line, such as idling-off=error; the severities are ${ruleSeverities.join(', ')}`,
      z.templateLiteral([z.string(), '=', z.enum(ruleSeverities)]).superRefine((text, context) => {
        const rule = text.replace(/=[a-z]+$/, '')
        if (Object.hasOwn(auditRules, rule)) return
        const message = `has no rule of the audit${didYouMean(rule, keysOf(auditRules))}`
        context.addIssue({ code: 'custom', message, params: { isComplete: true } })
      }),
    ).optional(),
  ),
  budgets: noted(budgetsInput, 'Services that no budget counts are findings.'),
})

export const auditCosts = defineOperation({
  title: 'Cost audit',
  summary: 'Finds services that cost credits without need, such as services that alerts keep awake, with the command that changes it.',
  effect: 'read',
  scope: 'organization',
  input: auditInput,
  output: noFields,
  details: auditDetails,
  example: { maxSavings: '100000' },
  async run({ api, organizationId, clock, files }, given) {
    const nowMs = clock.now()
    const budgets = given.budgets === undefined ? undefined : await readScopes(files, given.budgets, nowMs)
    const read = await readCostFacts(api, organizationId, nowMs)
    const { drills = [], services = [] } = Object.groupBy(read.services, (service) => (isOfDrill(service) ? 'drills' : 'services'))
    const facts = { ...read, services }
    const selectors = given.alwaysOn ?? []
    const namesOf = (service: ListedService) => [service.name, service.id, ...tagsOf(service).map((tag) => `tag:${tag}`)]
    const isMetBy = (service: ListedService) => (one: string) => namesOf(service).includes(one) || one.toLowerCase() === service.id
    const isAlwaysOn = (service: ListedService) => selectors.some(isMetBy(service))
    const idlers = facts.services.filter((service) => maySleep(service) && !isAlwaysOn(service))
    const listed = await Promise.all(
      idlers.map(
        async (service) => [service.id, await alertsOfService(api, service, { organizationId, services: facts.services })] as const,
      ),
    )
    const audit = auditServices({
      facts,
      alerts: new Map(listed),
      budgets,
      isAlwaysOn,
      // The form of the input.
      settings: Object.fromEntries((given.severities ?? []).map((one) => one.split('=') as [AuditRule, Severity | 'off'])),
    })
    const ofDrills = drills.map(({ id, name }) => ({
      what: 'a service of a restore drill',
      name: name || id,
      reason: `its tag ${drillTag} says that it is deleted soon`,
      isFailure: false,
    }))
    const unmet = selectors.filter((one) => !read.services.some((service) => isMetBy(service)(one)))
    const ofNobody = unmet.map((name) => {
      const reason = `no service has this name, id or tag${didYouMean(name, read.services.flatMap(namesOf))}`
      return { what: 'the exemption', name, reason, isFailure: true }
    })
    return toResult({ ...audit, unchecked: [...audit.unchecked, ...ofDrills, ...ofNobody] }, given, facts)
  },
  judge: judgeAudit,
  report: reportAudit,
  keyLines: findingLines,
  toDocument: (result) => z.encode(auditDetails, result),
})

async function readScopes(files: Files, path: string, nowMs: number) {
  const { readBudgets } = await import('../usage/budgets-file.ts')
  const today = dayOf(nowMs)
  const period = resolvePeriod('month-to-date', today, undefined)
  return readBudgets(await files.read(path, 'budgets'), path, { today, billingCycleDay: undefined, period })
}

/** Undefined for a service without ClickStack. Only alerts of a shared warehouse need the sources. */
async function alertsOfService(
  api: ReadApi,
  service: ListedService,
  { organizationId, services }: { readonly organizationId: string; readonly services: readonly ListedService[] },
): Promise<ServiceAlerts | ReadFailure | undefined> {
  const target = { organizationId, serviceId: service.id }
  try {
    const { items } = await alertCollection.list(api, target)
    const alerts = await readWatchedNames(api, target, items)
    if (alerts.length === 0 || !sharesWarehouse(service, services)) return { alerts, isTargetUnknown: false }
    const { items: sources } = await sourceCollection.list(api, target)
    return { alerts, isTargetUnknown: hasUnknownTarget(service, services, sources) }
  } catch (thrown) {
    const failure = toFailure(thrown)
    if (failure.kind === 'not-served' || failure.kind === 'not-found') return undefined
    return { failure: causeOf(failure) }
  }
}

function toResult(
  { findings, services, unchecked }: ReturnType<typeof auditServices>,
  { maxSavings }: z.output<typeof auditInput>,
  { nowMs, usage }: CostFacts,
): AuditResult {
  const savings = sumSavings(findings)
  const count = (severity: Finding['severity']) => findings.filter((one) => one.severity === severity).length
  return {
    findingCount: findings.length,
    errorCount: count('error'),
    warningCount: count('warning'),
    noteCount: count('note'),
    ...('unit' in usage && { unit: usage.unit, savingsLow: fromEstimate(savings.low), savingsHigh: fromEstimate(savings.high) }),
    auditedAt: new Date(nowMs).toISOString(),
    ...(maxSavings !== undefined && { maxSavings }),
    findings: findings.map(({ about: _, estimate: amounts, names, ...rest }) => ({
      ...rest,
      ...(names && { names: [...names] }),
      ...amountsOf(amounts),
    })),
    services: services.map(({ service, facts, alwaysOn, profile, monthlyCompute }) => ({
      id: service.id,
      name: serviceLabelOf(service, facts.services),
      state: service.state ?? 'unknown',
      idling: idlingOf(service),
      alwaysOn,
      ...(typeof profile === 'string'
        ? { knownDays: 0, notEstimable: reasons[profile] }
        : { knownDays: profile.days.length, awakePercent: Math.round(profile.awakeShare * 1000) / 10 }),
      ...(monthlyCompute !== undefined && { monthlyCompute: fromEstimate(monthlyCompute) }),
    })),
    awakeByDay: awakeByDay(services).map(({ day, hours }) => ({ day, hours: Math.round(hours * 100) / 100 })),
    unchecked: [...unchecked],
  }
}

function idlingOf({ idleScaling, idleTimeoutMinutes }: ListedService) {
  if (idleScaling !== true) return idleScaling === undefined ? 'unknown' : 'off'
  return idleTimeoutMinutes === undefined ? '' : `after ${formatDuration(idleTimeoutMinutes * minuteMs)}`
}

function amountsOf(amounts: Finding['estimate']): { low?: Decimal; high?: Decimal; notEstimable?: string } {
  if (amounts === undefined) return {}
  return 'reason' in amounts ? { notEstimable: amounts.reason } : { low: fromEstimate(amounts.low), high: fromEstimate(amounts.high) }
}

type Unchecked = AuditResult['unchecked'][number]

export function auditServices(options: AuditOptions) {
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
    services: subjects,
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
  const isOn = (rule: AuditRule) => (settings[rule] ?? auditRules[rule].severity) !== 'off'
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

export function awakeByDay(services: readonly AuditSubject[]) {
  const profiles = services.flatMap(({ profile }) => (typeof profile === 'string' ? [] : [profile]))
  const [first, ...others] = profiles
  return (first?.days ?? []).flatMap(({ day, fromMs }) => {
    const same = [first, ...others].map((profile) => profile?.days.find((one) => one.day === day))
    if (same.some((one) => one === undefined)) return []
    const whole = [{ fromMs, toMs: fromMs + dayMs }]
    return [{ day, hours: same.reduce((sum, one) => sum + lengthMs(intersect(one?.awake ?? [], whole)), 0) / hourMs }]
  })
}
