import * as z from 'zod'
import { isDay } from '../../platform/core/dates.ts'
import type { Decimal } from '../../platform/core/decimal.ts'
import { type Rules, severities } from '../../platform/core/diagnostics.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { counted, join, joinAtMost, joinSome, type Line, say, strong, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { fold, type Part, severityStyles } from '../../platform/report/blocks.ts'
import { formatMoney, formatMoneyPair, formatRange, formatShortDay } from '../../platform/report/format.ts'
import { type Reason, type Report, type Verdict, verdictOf } from '../../platform/report/report.ts'
import { facts, shown, table } from '../../platform/report/table.ts'
import { estimate, exactAmount } from '../usage/amounts.ts'
import { amountWords as creditWords, unitWords } from '../usage/phrases.ts'

/** Rules of `audit-costs`. `WATCHKEEPER_SEVERITIES`, or `--severities`, changes their severity or turns them off. */
export const auditRules = {
  'idling-off': { severity: 'warning', description: 'A service is not allowed to sleep.' },
  'open-to-scanners': {
    severity: 'warning',
    description: 'A service that may sleep accepts connections from anywhere, so scanners of the internet wake it.',
  },
  'rarely-sleeps': { severity: 'warning', description: 'A service that may sleep is awake at least 90% of the time.' },
  'alert-prevents-idling': {
    severity: 'warning',
    description: 'Evaluations of alerts cover at least 20% of the awake time of a service that may sleep, each until its idle timeout.',
  },
  'stopped-warehouse': {
    severity: 'warning',
    description: 'All services of a warehouse are stopped, and its storage or backups still cost credits.',
  },
  'unused-service': { severity: 'note', description: 'A service had no compute usage for 14 final days.' },
  'no-budget': { severity: 'note', description: 'No budget of the budgets file counts the usage of a service.' },
  'no-tags': { severity: 'note', description: 'A service has no tags, so its usage cannot be filtered by team or environment.' },
} as const satisfies Rules

export type AuditRule = keyof typeof auditRules

const severityCount = (what: string) => z.int().describe(`Number of findings with the severity ${what}.`)

const finding = z.object({
  rule: z.enum(keysOf<AuditRule>(auditRules)),
  severity: z.enum(severities),
  serviceId: z.string().optional(),
  name: z.string().describe('Name of the service or the warehouse.'),
  evidence: z.string(),
  names: z.array(z.string()).optional().describe('The alerts or services that the evidence is about.'),
  low: estimate('What the change saves each month with certainty.').optional(),
  high: estimate('What the change saves each month at most.').optional(),
  notEstimable: z.string().optional().describe('Why there is no amount.'),
  command: z.string().optional().describe('The change as a command of clickhousectl.'),
  advice: z.string().optional(),
})

const auditedService = z.object({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  idling: z.string().describe('When the service falls asleep, or `off`.'),
  alwaysOn: z.boolean().describe('Whether `WATCHKEEPER_ALWAYS_ON`, or `--always-on`, has it.'),
  knownDays: z.int().describe('Final days whose states are completely known.'),
  awakePercent: z.number().optional().describe('Share of the known days in which the service was awake.'),
  monthlyCompute: estimate('Compute of a month like the final days.').optional(),
  notEstimable: z.string().optional().describe('Why the awake share is not known.'),
})

export const auditDetails = z.object({
  findingCount: z.int().describe('Number of findings.'),
  errorCount: severityCount('error'),
  warningCount: severityCount('warning'),
  noteCount: severityCount('note'),
  savingsLow: estimate('What the findings save each month with certainty. Findings about the same awake hours count once.').optional(),
  savingsHigh: estimate('What the findings save each month at most.').optional(),
  unit: z.string().optional().describe('Unit of all amounts as the API names it, such as CHC.'),
  auditedAt: z.string().describe('The time of the audit, ISO 8601 in UTC.'),
  maxSavings: exactAmount('The input max-savings, if it was given.').optional(),
  findings: z.array(finding).describe('The findings, the most expensive first.'),
  services: z.array(auditedService).describe('Every service with its idle setting, awake share and compute.'),
  awakeByDay: z.array(z.object({ day: z.string(), hours: z.number() })).describe('Awake hours of all services with known days.'),
  unchecked: z
    .array(z.object({ what: z.string(), name: z.string().optional(), reason: z.string(), isFailure: z.boolean() }))
    .describe('What was not checked, and why. A missing permission limits only what needs it.'),
})

export type AuditResult = z.output<typeof auditDetails>

export const judgeAudit = (result: AuditResult): Verdict =>
  verdictOf([
    ...savingsReasons(result),
    ...result.unchecked.filter(({ isFailure }) => isFailure).map((one) => ({ level: 'warn' as const, line: uncheckedWords(one) })),
  ])

function savingsReasons(result: AuditResult): readonly Reason[] {
  const { errorCount, warningCount, findings, services, maxSavings, savingsLow, unit = '' } = result
  if (maxSavings !== undefined && (savingsLow === undefined || services.length === 0))
    return [{ level: 'fail', line: say`max-savings cannot be judged.` }]
  if (maxSavings !== undefined && savingsLow?.gt(maxSavings)) {
    const [savings, limit] = formatMoneyPair(savingsLow, maxSavings)
    const line = trusted(`Savings of at least ${savings} ${unit} a month exceed max-savings of ${limit} ${unit}.`)
    return [{ level: 'fail', line: [line], cause: say`savings exceed max-savings` }]
  }
  const line = auditHeadline(result)
  if (errorCount === 0) return warningCount === 0 ? [] : [{ level: 'warn', line }]
  const named = findings.filter(({ severity }) => severity === 'error').map(({ name, rule }) => say`${name}: ${trusted(rule)}`)
  return [{ level: 'fail', line, cause: joinSome(named, 2) }, ...named.map((one) => ({ level: 'fail' as const, line: one }))]
}

/** `3 findings on checkout, search could save up to 210.00 CHC a month.` */
function auditHeadline({ findings, findingCount, services, savingsHigh, savingsLow, unit = '' }: AuditResult) {
  if (findingCount === 0) return say`No findings on ${counted(services.length, 'service')}.`
  const names = joinAtMost(2, [...new Set(findings.map(({ name }) => name))])
  const savings =
    savingsHigh === undefined || savingsLow === undefined || savingsHigh.lte(0)
      ? ''
      : ` could save ${amountRange(savingsLow, savingsHigh)} ${unit} a month`
  return say`${counted(findingCount, 'finding')} on ${names}${trusted(`${savings}.`)}`
}

/** `up to 84.00`, `70.0–95.0`. */
const amountRange = (low: Decimal, high: Decimal) => (low.lte(0) ? `up to ${formatMoney(high)}` : formatRange(low, high))

export const reportAudit = (result: AuditResult): Report => ({
  headline: auditHeadline(result),
  blocks: [
    auditFacts(result),
    auditTable(result),
    chartOf(result),
    changeList(result),
    { kind: 'list', items: result.unchecked.map(uncheckedWords) },
    result.findings.some(({ high }) => high !== undefined) && limitsOf(result),
  ],
})

export const findingLines = ({ findings }: AuditResult): readonly Line[] =>
  findings.slice(0, 3).map((one) => say`${one.name}: ${evidenceOf(one)}`)

/** `1 alert evaluated at least once in the idle timeout of 15 min: Catalog errors.` */
const evidenceOf = ({ evidence, names = [] }: AuditFinding) =>
  names.length === 0 ? [trusted(`${evidence}.`)] : say`${trusted(evidence)}: ${joinAtMost(3, names)}.`

const uncheckedWords = ({ what, name, reason }: AuditResult['unchecked'][number]) =>
  say`Not checked: ${trusted(what)}${name === undefined ? [] : say` of ${name}`}: ${untrustedSentence(reason)}`

const limitsOf = ({ unit = '', maxSavings }: AuditResult) => [
  trusted(
    `Estimates in ${unitWords(unit) ?? unit}, for a month of 30 days like the last final days. Activities do not say who woke a service, so findings about awake time have no lower limit. Findings about the same awake hours count once in the sum.${maxSavings === undefined ? '' : ' max-savings is compared with "at least", the sum of the lower limits.'}`,
  ),
]

const auditFacts = ({ savingsLow, unit = '', maxSavings }: AuditResult) =>
  maxSavings &&
  facts({
    'Savings a month, at least': shown(savingsLow, (value) => creditWords(value, unit)),
    'Limit (max-savings)': trusted(creditWords(maxSavings, unit)),
  })

type AuditFinding = AuditResult['findings'][number]

/** Findings without an amount that differ only in their service are one row. */
function foldFindings(findings: readonly AuditFinding[]): readonly (readonly [AuditFinding, ...AuditFinding[]])[] {
  const keyOf = ({ name, serviceId, command, ...rest }: AuditFinding) =>
    JSON.stringify(rest.high === undefined ? rest : [name, serviceId, rest])
  return [...Map.groupBy(findings, keyOf).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others] as const],
  )
}

interface AuditRow {
  readonly name: string
  /** The most expensive first. */
  readonly findings: readonly AuditFinding[]
  /** Undefined for a warehouse. */
  readonly service?: AuditResult['services'][number] | undefined
}

function auditRows({ findings, services }: AuditResult): readonly AuditRow[] {
  const found = [...Map.groupBy(findings, ({ serviceId, name }) => serviceId ?? name)].map(([key, same]) => ({
    name: same[0]?.name ?? '',
    findings: same,
    service: services.find(({ id }) => id === key),
  }))
  const others = services.filter((service) => found.every((one) => one.service !== service))
  return [...found, ...others.map((service) => ({ name: service.name, findings: [], service }))]
}

const worstFinding = ({ findings }: AuditRow) =>
  (['error', 'warning', 'note'] as const).find((wanted) => findings.some(({ severity }) => severity === wanted))

function auditTable(result: AuditResult): Part {
  const { unit = '' } = result
  return table(
    'Services',
    auditRows(result),
    {
      Service: (row) => {
        const worst = worstFinding(row)
        return worst === undefined ? row.name : say`${trusted(severityStyles[worst].sign)} ${row.name}`
      },
      Findings: ({ findings }) =>
        findings.length === 0
          ? undefined
          : join(
              findings.map((one) => findingWords(one, unit)),
              '\n',
            ),
      [`>Compute (${unit} a month)`]: ({ service }) => shown(service?.monthlyCompute, formatMoney),
      '>Awake': ({ service }) => service && trusted(service.awakePercent === undefined ? 'not estimable' : `${service.awakePercent}%`),
      Sleeps: ({ service }) => service && trusted(service.alwaysOn ? `${service.idling} (always on)` : service.idling),
      State: ({ service }) => service?.state,
      '>Known days': ({ service }) => service?.knownDays,
    },
    (row) => severityStyles[worstFinding(row) ?? 'note'].status,
  )
}

/** `idling-off, up to 145.44 CHC a month: Idling is off.` The amount does not break, so that a narrow window keeps the column readable. */
function findingWords(finding: AuditFinding, unit: string) {
  const { rule, low, high, notEstimable } = finding
  const amount = notEstimable !== undefined ? ', not estimable' : low && high ? `, ${amountRange(low, high)} ${unit} a month` : ''
  return say`${strong(rule)}${trusted(amount.replaceAll(' ', '\u00a0'))}: ${evidenceOf(finding)}`
}

function chartOf({ awakeByDay, services }: AuditResult): Part {
  if (awakeByDay.length < 2) return undefined
  const last = awakeByDay.at(-1)?.day ?? ''
  const count = services.filter(({ awakePercent }) => awakePercent !== undefined).length
  return {
    kind: 'chart',
    title: `Awake hours per day (${count === 1 ? '1 service' : `${count} services together`})`,
    unit: 'h',
    valueName: 'Awake',
    points: awakeByDay.flatMap(({ day, hours }) => (isDay(day) && isDay(last) ? [{ label: formatShortDay(day, last), value: hours }] : [])),
  }
}

const maxOpen = 10

function changeList({ findings }: AuditResult): Part {
  const parts = foldFindings(
    findings.filter(({ command, advice, notEstimable }) => [command, advice, notEstimable].some((one) => one !== undefined)),
  ).map(changeOf)
  if (parts.length === 0) return undefined
  return [[strong('What to change')], parts.slice(0, maxOpen), fold(`${parts.length - maxOpen} more changes`, parts.slice(maxOpen))]
}

function changeOf(same: readonly [AuditFinding, ...AuditFinding[]]): Part {
  const [{ rule, advice, notEstimable }] = same
  const names = joinAtMost(
    10,
    same.map(({ name }) => name),
  )
  const why = notEstimable === undefined ? '' : ` Not estimable: ${notEstimable}.`
  return [
    say`${names} (${trusted(rule)}):${trusted(`${advice === undefined ? '' : ` ${advice}`}${why}`)}`,
    { kind: 'preformatted', text: same.flatMap(({ command }) => command ?? []).join('\n') },
  ]
}
