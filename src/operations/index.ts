// THE LIST. Each operation is loaded when it is asked for, so that a run pays for no other.

// `eager` keeps the bundle one file: what is loaded later is evaluated later, but not read from another place.
const alerts = () => import(/* webpackMode: "eager" */ './alerts.ts')
const createAlert = () => import(/* webpackMode: "eager" */ './create-alert.ts')
const updateAlert = () => import(/* webpackMode: "eager" */ './update-alert.ts')
const dashboards = () => import(/* webpackMode: "eager" */ './dashboards.ts')
const sources = () => import(/* webpackMode: "eager" */ './sources.ts')
const usageCost = () => import(/* webpackMode: "eager" */ './usage/usage-cost.ts')
const getBackup = () => import(/* webpackMode: "eager" */ './backups/get-backup.ts')
const listBackups = () => import(/* webpackMode: "eager" */ './backups/list-backups.ts')
const checkBackups = () => import(/* webpackMode: "eager" */ './backups/check-backups.ts')
const validate = () => import(/* webpackMode: "eager" */ './validate.ts')
const plan = () => import(/* webpackMode: "eager" */ './provisioning/plan.ts')
const apply = () => import(/* webpackMode: "eager" */ './provisioning/apply.ts')
const drift = () => import(/* webpackMode: "eager" */ './provisioning/drift.ts')
const matrix = () => import(/* webpackMode: "eager" */ './fleet/matrix.ts')
const report = () => import(/* webpackMode: "eager" */ './fleet/report.ts')
const doctor = () => import(/* webpackMode: "eager" */ './doctor.ts')

/** One line for each operation; everything else about it is in its file. */
export const operations = {
  'create-alert': async () => (await createAlert()).createAlert,
  'list-dashboards': async () => (await dashboards()).listDashboards,
  'list-sources': async () => (await sources()).listSources,
  'usage-cost': async () => (await usageCost()).usageCost,
  'get-backup': async () => (await getBackup()).getBackup,
  'list-backups': async () => (await listBackups()).listBackups,
  'check-backups': async () => (await checkBackups()).checkBackups,
  'list-alerts': async () => (await alerts()).listAlerts,
  'get-alert': async () => (await alerts()).getAlert,
  'update-alert': async () => (await updateAlert()).updateAlert,
  'delete-alert': async () => (await alerts()).deleteAlert,
  'get-dashboard': async () => (await dashboards()).getDashboard,
  'create-dashboard': async () => (await dashboards()).createDashboard,
  'update-dashboard': async () => (await dashboards()).updateDashboard,
  'delete-dashboard': async () => (await dashboards()).deleteDashboard,
  validate: async () => (await validate()).validate,
  plan: async () => (await plan()).plan,
  apply: async () => (await apply()).apply,
  drift: async () => (await drift()).drift,
  matrix: async () => (await matrix()).matrix,
  report: async () => (await report()).report,
  doctor: async () => (await doctor()).doctor,
} as const

export type OperationName = keyof typeof operations

/** The operations by name, as they are typed in their files. */
export type Operations = { readonly [Name in OperationName]: Awaited<ReturnType<(typeof operations)[Name]>> }

export const operationNames = Object.keys(operations) as readonly OperationName[]

export const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name)
