import type { Rules } from '../../platform/core/diagnostics.ts'

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
