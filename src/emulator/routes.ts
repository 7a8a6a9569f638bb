// Owns the list of what is served in each dialect. Everything else is the gateway's 404 page.
import type { Settings } from './options.ts'
import { createAlert, deleteAlert, getAlert, listAlerts, updateAlert } from './resources/alerts.ts'
import { getBackup, getBackupConfiguration, listBackups } from './resources/backups.ts'
import {
  createDashboard,
  deleteDashboard,
  getDashboard,
  listDashboards,
  updateDashboard,
  validateDashboard,
} from './resources/dashboards.ts'
import { getOrganization, listServices } from './resources/organizations.ts'
import { createSavedSearch, deleteSavedSearch, getSavedSearch, listSavedSearches, updateSavedSearch } from './resources/saved-searches.ts'
import { getSource, listSources } from './resources/sources.ts'
import { getUsageCost } from './resources/usage.ts'
import { listWebhooks } from './resources/webhooks.ts'
import { type Route, type ServiceCall, withService } from './route.ts'
import type { Permission } from './store.ts'

const organization = '/v1/organizations/:organizationId'
const service = `${organization}/services/:serviceId`

export function createRoutes(settings: Settings): readonly Route[] {
  return settings.dialect === 'clickhouse-cloud' ? [...contractRoutes(settings), ...cloudRoutes(settings)] : contractRoutes(settings)
}

/** The neutral contract's guaranteed part, and the list of backups. */
function contractRoutes({ segment }: Settings): readonly Route[] {
  const observe = observeUnder(segment)
  return [
    platform('GET', `${organization}/usageCost`, 'control-plane:organization:view-billing', getUsageCost),
    platform('GET', `${service}/backups`, 'control-plane:service:view-backups', withService(listBackups)),
    platform('GET', `${service}/backups/:id`, 'control-plane:service:view-backups', withService(getBackup)),
    observe('GET', 'sources', listSources),
    observe('GET', 'dashboards', listDashboards),
    observe('POST', 'dashboards', createDashboard),
    observe('GET', 'dashboards/:id', getDashboard),
    observe('PUT', 'dashboards/:id', updateDashboard),
    observe('DELETE', 'dashboards/:id', deleteDashboard),
    observe('GET', 'alerts', listAlerts),
    observe('POST', 'alerts', createAlert),
    observe('GET', 'alerts/:id', getAlert),
    observe('PUT', 'alerts/:id', updateAlert),
    observe('DELETE', 'alerts/:id', deleteAlert),
  ]
}

function cloudRoutes({ segment }: Settings): readonly Route[] {
  const observe = observeUnder(segment)
  return [
    platform('GET', organization, 'control-plane:organization:view', getOrganization),
    platform('GET', `${organization}/services`, 'control-plane:service:view', listServices),
    platform('GET', `${service}/backupConfiguration`, 'control-plane:service:view-backups', withService(getBackupConfiguration)),
    observe('POST', 'dashboards/validate', validateDashboard),
    observe('GET', 'sources/:id', getSource),
    observe('GET', 'webhooks', listWebhooks),
    observe('GET', 'saved-searches', listSavedSearches),
    observe('POST', 'saved-searches', createSavedSearch),
    observe('GET', 'saved-searches/:id', getSavedSearch),
    observe('PUT', 'saved-searches/:id', updateSavedSearch),
    observe('DELETE', 'saved-searches/:id', deleteSavedSearch),
  ]
}

const platform = (method: string, pathname: string, permission: Permission, handle: Route['handle']): Route => ({
  method,
  pattern: new URLPattern({ pathname }),
  permission,
  wrap: 'envelope',
  handle,
})

// One permission for reading and writing: every operation seen in the product's own command line asks for this one.
const observeUnder =
  (segment: string) =>
  (method: string, path: string, handle: (call: ServiceCall) => unknown): Route => ({
    method,
    pattern: new URLPattern({ pathname: `${service}/${segment}/${path}` }),
    permission: 'control-plane:service:manage-clickstack-api',
    wrap: 'observability',
    handle: withService(handle),
  })
