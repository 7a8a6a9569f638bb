import * as z from 'zod'
import { type Rules, severities } from '../../platform/core/diagnostics.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { estimate, exactAmount } from '../usage/amounts.ts'

/** Rules of `audit-costs`. Its input `severities` changes their severity or turns them off. */
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
  alwaysOn: z.boolean().describe('Whether the input always-on has it.'),
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
