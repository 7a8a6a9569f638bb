import * as z from 'zod'
import { alertCollection } from '../../kinds/alert/alert.ts'
import { readWatchedNames } from '../../kinds/collections.ts'
import { sourceCollection } from '../../kinds/source/source-wire.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { drillTag, hasTag, isOfDrill, type ListedService } from '../../platform/api/services.ts'
import { dayOf } from '../../platform/core/dates.ts'
import { type Decimal, fromEstimate } from '../../platform/core/decimal.ts'
import { type Severity, severities } from '../../platform/core/diagnostics.ts'
import { causeOf, toFailure } from '../../platform/core/errors.ts'
import { keysOf } from '../../platform/core/keys.ts'
import type { Files } from '../../platform/operation/files.ts'
import { lines, noted, variable } from '../../platform/operation/inputs.ts'
import { defineOperation, noFields } from '../../platform/operation/operation.ts'
import { amountInput, budgetsInput } from '../usage/amounts.ts'
import { type Audit, auditServices, awakeByDay } from './audit.ts'
import { findingLines, judgeAudit, reportAudit } from './audit-report.ts'
import { type AuditResult, type AuditRule, auditDetails, auditRules } from './audit-result.ts'
import { hasUnknownTarget, type ReadFailure, readCostFacts, sharesWarehouse } from './facts.ts'
import { type Finding, maySleep, type ServiceAlerts } from './findings.ts'
import { reasons } from './profile.ts'

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
      z.templateLiteral([z.enum(keysOf<AuditRule>(auditRules)), '=', z.enum(ruleSeverities)]),
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
    const tags = selectors.flatMap((one) => (one.startsWith('tag:') ? [one.slice('tag:'.length)] : []))
    const isAlwaysOn = (service: ListedService) =>
      selectors.includes(service.name) ||
      selectors.some((one) => one.toLowerCase() === service.id) ||
      tags.some((tag) => hasTag(service, tag))
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
    return toResult(
      {
        ...audit,
        unchecked: [
          ...audit.unchecked,
          ...drills.map(({ id, name }) => ({
            what: 'a service of a restore drill',
            name: name || id,
            reason: `its tag ${drillTag} says that it is deleted soon`,
            isFailure: false,
          })),
        ],
      },
      given,
      {
        nowMs,
        unit: 'failure' in facts.usage ? undefined : facts.usage.unit,
      },
    )
  },
  judge: judgeAudit,
  report: reportAudit,
  keyLines: findingLines,
  toDocument: (result) => z.encode(auditDetails, result),
})

async function readScopes(files: Files, path: string, nowMs: number) {
  const { readBudgets } = await import('../usage/budgets-file.ts')
  const { resolvePeriod } = await import('../usage/periods.ts')
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
  audit: Audit,
  { maxSavings }: z.output<typeof auditInput>,
  { nowMs, unit }: { readonly nowMs: number; readonly unit: string | undefined },
): AuditResult {
  const { findings, services, unchecked, savings } = audit
  const count = (severity: Finding['severity']): number => findings.filter((one) => one.severity === severity).length
  return {
    findingCount: findings.length,
    errorCount: count('error'),
    warningCount: count('warning'),
    noteCount: count('note'),
    ...(unit !== undefined && { unit, savingsLow: fromEstimate(savings.low), savingsHigh: fromEstimate(savings.high) }),
    auditedAt: new Date(nowMs).toISOString(),
    ...(maxSavings !== undefined && { maxSavings }),
    findings: findings.map(({ about: _, estimate: amounts, names, ...rest }) => ({
      ...rest,
      ...(names && { names: [...names] }),
      ...amountsOf(amounts),
    })),
    services: services.map(({ id, name, state, idling, isAlwaysOn, profile, monthlyCompute }) => ({
      id,
      name,
      state,
      idling,
      alwaysOn: isAlwaysOn,
      ...(typeof profile === 'string'
        ? { knownDays: 0, notEstimable: reasons[profile] }
        : { knownDays: profile.days.length, awakePercent: Math.round(profile.awakeShare * 1000) / 10 }),
      ...(monthlyCompute !== undefined && { monthlyCompute: fromEstimate(monthlyCompute) }),
    })),
    awakeByDay: awakeByDay(services).map(({ day, hours }) => ({ day, hours: Math.round(hours * 100) / 100 })),
    unchecked: [...unchecked],
  }
}

function amountsOf(amounts: Finding['estimate']): { low?: Decimal; high?: Decimal; notEstimable?: string } {
  if (amounts === undefined) return {}
  return 'reason' in amounts ? { notEstimable: amounts.reason } : { low: fromEstimate(amounts.low), high: fromEstimate(amounts.high) }
}
