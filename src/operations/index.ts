// THE LIST. Each operation is loaded when it is asked for, so that a run pays for no other.

/** One line for each operation; everything else about it is in its file. */
export const operations = {
  'create-alert': async () => (await import('./create-alert.ts')).createAlert,
  'list-dashboards': async () => (await import('./dashboards.ts')).listDashboards,
  'list-sources': async () => (await import('./sources.ts')).listSources,
  'usage-cost': async () => (await import('./usage-cost.ts')).usageCost,
  'get-backup': async () => (await import('./backups.ts')).getBackup,
  'list-alerts': async () => (await import('./alerts.ts')).listAlerts,
  'get-alert': async () => (await import('./alerts.ts')).getAlert,
  'update-alert': async () => (await import('./update-alert.ts')).updateAlert,
  'delete-alert': async () => (await import('./alerts.ts')).deleteAlert,
  'get-dashboard': async () => (await import('./dashboards.ts')).getDashboard,
  'create-dashboard': async () => (await import('./dashboards.ts')).createDashboard,
  'update-dashboard': async () => (await import('./dashboards.ts')).updateDashboard,
  'delete-dashboard': async () => (await import('./dashboards.ts')).deleteDashboard,
  doctor: async () => (await import('./doctor.ts')).doctor,
} as const

export type OperationName = keyof typeof operations

/** The operations by name, as they are typed in their files. */
export type Operations = { readonly [Name in OperationName]: Awaited<ReturnType<(typeof operations)[Name]>> }

export const operationNames = Object.keys(operations) as readonly OperationName[]

export const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name)
