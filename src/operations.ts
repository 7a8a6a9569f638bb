// The list of operations. Each one is loaded on demand, so that a run does not load the others.

const alerts = () => import('./resources/alerts/alert-operations.ts')
const createAlert = () => import('./resources/alerts/alert-operations.ts')
const updateAlert = () => import('./resources/alerts/alert-operations.ts')
const silences = () => import('./resources/alerts/silence-operations.ts')
const dashboards = () => import('./resources/dashboards/dashboard-operations.ts')
const sources = () => import('./resources/sources/list-sources.ts')
const webhooks = () => import('./resources/webhooks/list-webhooks.ts')
const usageCost = () => import('./usage/usage-cost.ts')
const getBackup = () => import('./backups/backups.ts')
const listBackups = () => import('./backups/backups.ts')
const checkBackups = () => import('./backups/check-backups.ts')
const validate = () => import('./sync/validate.ts')
const plan = () => import('./sync/plan.ts')
const apply = () => import('./sync/apply.ts')
const drift = () => import('./sync/drift.ts')
const backtest = () => import('./sync/backtest.ts')
const pull = () => import('./sync/pull/pull.ts')
const matrix = () => import('./fleet/matrix.ts')
const report = () => import('./fleet/report.ts')
const doctor = () => import('./doctor/doctor.ts')

/** One line for each operation. Everything else is in the file of the operation. */
export const operations = {
  'create-alert': async () => (await createAlert()).createAlert,
  'list-dashboards': async () => (await dashboards()).listDashboards,
  'list-sources': async () => (await sources()).listSources,
  'list-webhooks': async () => (await webhooks()).listWebhooks,
  'usage-cost': async () => (await usageCost()).usageCost,
  'get-backup': async () => (await getBackup()).getBackup,
  'list-backups': async () => (await listBackups()).listBackups,
  'check-backups': async () => (await checkBackups()).checkBackups,
  'list-alerts': async () => (await alerts()).listAlerts,
  'get-alert': async () => (await alerts()).getAlert,
  'update-alert': async () => (await updateAlert()).updateAlert,
  'delete-alert': async () => (await alerts()).deleteAlert,
  'silence-alerts': async () => (await silences()).silenceAlerts,
  'unsilence-alerts': async () => (await silences()).unsilenceAlerts,
  'get-dashboard': async () => (await dashboards()).getDashboard,
  'create-dashboard': async () => (await dashboards()).createDashboard,
  'update-dashboard': async () => (await dashboards()).updateDashboard,
  'delete-dashboard': async () => (await dashboards()).deleteDashboard,
  validate: async () => (await validate()).validate,
  plan: async () => (await plan()).plan,
  apply: async () => (await apply()).apply,
  drift: async () => (await drift()).drift,
  backtest: async () => (await backtest()).backtest,
  pull: async () => (await pull()).pull,
  matrix: async () => (await matrix()).matrix,
  report: async () => (await report()).report,
  doctor: async () => (await doctor()).doctor,
} as const

/** The schema of `rules` in a config file. */
export const loadLintSettingsSchema = async () => (await import('./sync/lint.ts')).lintSettingsSchema

/** Reads the file of an environment. */
export const loadEnvironmentReader = async () => (await import('./sync/environment.ts')).readEnvironment

export type OperationName = keyof typeof operations

/** The operations by name, as they are typed in their files. */
export type Operations = { readonly [Name in OperationName]: Awaited<ReturnType<(typeof operations)[Name]>> }

export const operationNames = Object.keys(operations) as readonly OperationName[]

export const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name)
