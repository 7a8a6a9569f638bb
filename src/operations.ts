// Each operation is loaded on demand, so that a run does not load the others.

import { keysOf } from './platform/core/keys.ts'

const alerts = () => import('./objects/alert-operations.ts')
const dashboards = () => import('./objects/dashboard-operations.ts')
const backups = () => import('./backups/backups.ts')

/** Help and documents have these first. */
const main = {
  validate: async () => (await import('./changes/validate.ts')).validate,
  plan: async () => (await import('./changes/plan.ts')).plan,
  apply: async () => (await import('./changes/apply.ts')).apply,
  drift: async () => (await import('./changes/drift.ts')).drift,
  pull: async () => (await import('./changes/pull.ts')).pull,
  'usage-cost': async () => (await import('./cost/usage/usage-cost.ts')).usageCost,
  doctor: async () => (await import('./tools/doctor/doctor.ts')).doctor,
} as const

const asCode = {
  backtest: async () => (await import('./changes/backtest.ts')).backtest,
  import: async () => (await import('./tools/import/import.ts')).importFiles,
  'check-slos': async () => (await import('./changes/check-slos.ts')).checkSlos,
} as const

const cost = {
  'audit-costs': async () => (await import('./cost/idling/audit-costs.ts')).auditCosts,
  'check-credits': async () => (await import('./cost/usage/check-credits.ts')).checkCredits,
} as const

const backupOperations = {
  'check-backups': async () => (await import('./backups/check-backups.ts')).checkBackups,
  'list-backups': async () => (await backups()).listBackups,
  'get-backup': async () => (await backups()).getBackup,
  'verify-restore': async () => (await import('./backups/verify-restore.ts')).verifyRestore,
} as const

const singleObjects = {
  'list-alerts': async () => (await alerts()).listAlerts,
  'get-alert': async () => (await alerts()).getAlert,
  'create-alert': async () => (await alerts()).createAlert,
  'update-alert': async () => (await alerts()).updateAlert,
  'delete-alert': async () => (await alerts()).deleteAlert,
  'silence-alerts': async () => (await import('./objects/silence-operations.ts')).silenceAlerts,
  'list-dashboards': async () => (await dashboards()).listDashboards,
  'get-dashboard': async () => (await dashboards()).getDashboard,
  'create-dashboard': async () => (await dashboards()).createDashboard,
  'update-dashboard': async () => (await dashboards()).updateDashboard,
  'delete-dashboard': async () => (await dashboards()).deleteDashboard,
  'list-saved-searches': async () => (await import('./objects/saved-search-operations.ts')).listSavedSearches,
  'list-sources': async () => (await import('./objects/list-sources.ts')).listSources,
  'list-webhooks': async () => (await import('./objects/list-webhooks.ts')).listWebhooks,
} as const

/** Everything else is in the file of the operation. */
export const operations = { ...main, ...asCode, ...cost, ...backupOperations, ...singleObjects } as const

export type OperationName = keyof typeof operations

export type Operations = { readonly [Name in OperationName]: Awaited<ReturnType<(typeof operations)[Name]>> }

const namesOf = (group: Partial<typeof operations>) => keysOf<OperationName>(group)

export const operationNames = namesOf(operations)

export const mainOperationNames = namesOf(main)

interface OperationGroup {
  readonly title: string
  readonly names: readonly OperationName[]
  /** The list of commands has these only, and a line about the others. */
  readonly inHelp?: { readonly names: readonly OperationName[]; readonly others: string }
}

export const operationGroups: readonly OperationGroup[] = [
  { title: 'Main operations', names: mainOperationNames },
  { title: 'Alerts and dashboards as code', names: namesOf(asCode) },
  { title: 'Cost', names: namesOf(cost) },
  { title: 'Backups', names: namesOf(backupOperations) },
  {
    title: 'Single objects',
    names: namesOf(singleObjects),
    inHelp: {
      names: ['silence-alerts', 'list-sources', 'list-webhooks'],
      others: 'list-alerts, get-alert, create-dashboard and others: watchkeeper schema',
    },
  },
]

export const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name)

/** For programs that write files as JSON. */
export type { DeclarationsFile } from './sync/declarations/file-schema.ts'
