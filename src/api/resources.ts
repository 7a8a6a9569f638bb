// Owns the resources of the API behind their names. What tells of one is loaded with the first request for it: most operations need
// one or two of them.
import { once } from '../core/once.ts'
import type { Alert, AlertBody } from '../resources/alerts/alert-wire.ts'
import type { Dashboard, DashboardBody } from '../resources/dashboards/dashboard-wire.ts'
import type { SavedSearch, SavedSearchBody } from '../resources/saved-searches/saved-search-wire.ts'
import type { Source } from '../resources/sources/source-wire.ts'
import type { Webhook } from '../resources/webhooks/webhook-wire.ts'
import type { WriteApi } from './client.ts'
import { type CollectionOptions, createCollection } from './collection.ts'

type Shared = Pick<CollectionOptions<unknown>, 'requester' | 'profile' | 'observabilityPath'>

export function createResources(shared: Shared): Omit<WriteApi, 'rateLimit' | 'remainingMs'> {
  const { requester, profile } = shared
  const check = once(async () => (await import('../resources/dashboards/dashboard-check.ts')).createDashboardCheck(shared))
  const backups = once(async () => (await import('../backups/backups-api.ts')).createBackupApis(requester, profile))
  const usage = once(async () => (await import('../usage/usage-api.ts')).createUsageApi(requester, profile))
  const { paged, whole } = profile.lists
  return {
    alerts: createCollection<Alert, AlertBody>({
      ...shared,
      name: 'alerts',
      noun: 'alert',
      listing: paged,
      wire: async () => {
        const { alertSchema: schema, toAlertBody: toBody } = await import('../resources/alerts/alert-wire.ts')
        return { schema, toBody }
      },
    }),
    dashboards: {
      ...createCollection<Dashboard, DashboardBody>({
        ...shared,
        name: 'dashboards',
        noun: 'dashboard',
        listing: whole,
        wire: async () => {
          const { dashboardSchema: schema, toDashboardBody: toBody } = await import('../resources/dashboards/dashboard-wire.ts')
          return { schema, toBody }
        },
      }),
      check: async (...request) => (await check())(...request),
    },
    savedSearches: createCollection<SavedSearch, SavedSearchBody>({
      ...shared,
      name: 'saved-searches',
      noun: 'saved search',
      listing: paged,
      wire: async () => {
        const { savedSearchSchema: schema, toSavedSearchBody: toBody } = await import('../resources/saved-searches/saved-search-wire.ts')
        return { schema, toBody }
      },
    }),
    webhooks: createCollection<Webhook, never>({
      ...shared,
      name: 'webhooks',
      noun: 'webhook',
      listing: paged,
      wire: async () => ({ schema: (await import('../resources/webhooks/webhook-wire.ts')).webhookSchema }),
    }),
    sources: createCollection<Source, never>({
      ...shared,
      name: 'sources',
      noun: 'source',
      listing: whole,
      wire: async () => ({ schema: (await import('../resources/sources/source-wire.ts')).sourceSchema }),
    }),
    backups: {
      list: async (...request) => (await backups()).backups.list(...request),
      get: async (...request) => (await backups()).backups.get(...request),
    },
    backupConfiguration: { get: async (...request) => (await backups()).backupConfiguration.get(...request) },
    usage: { read: async (...request) => (await usage()).read(...request) },
  }
}
