// Owns the API as one value: what can be read, what can also be written, and the way from the second to the first.

import type { BackupConfigurationApi, BackupsApi } from '../backups/backups-api.ts'
import type { Clock } from '../core/clock.ts'
import { basicPair, createRedact } from '../core/secrets.ts'
import { type ProxySettings, proxyHost, proxySecrets } from '../http/proxy.ts'
import { pacerFor, type WindowNews } from '../http/rate-limit.ts'
import { createTransport } from '../http/transport.ts'
import type { Alert, AlertBody } from '../resources/alerts/alert-wire.ts'
import type { CheckDashboard } from '../resources/dashboards/dashboard-check.ts'
import type { Dashboard, DashboardBody } from '../resources/dashboards/dashboard-wire.ts'
import type { SavedSearch, SavedSearchBody } from '../resources/saved-searches/saved-search-wire.ts'
import type { Source } from '../resources/sources/source-wire.ts'
import type { Webhook } from '../resources/webhooks/webhook-wire.ts'
import type { UsageApi } from '../usage/usage-api.ts'
import type { ReadCollection, WriteCollection } from './collection.ts'
import type { Profile } from './profiles.ts'
import { type Cancellation, createRequester } from './requester.ts'
import { createResources } from './resources.ts'

export interface ReadApi {
  readonly alerts: ReadCollection<Alert>
  /** `check` persists nothing. */
  readonly dashboards: ReadCollection<Dashboard> & { readonly check: CheckDashboard }
  /** Where the profile has them. */
  readonly savedSearches: ReadCollection<SavedSearch>
  /** Where the profile has them. */
  readonly webhooks: Pick<ReadCollection<Webhook>, 'list'>
  readonly sources: Pick<ReadCollection<Source>, 'list'>
  readonly backups: BackupsApi
  readonly backupConfiguration: BackupConfigurationApi
  readonly usage: UsageApi
  /** What the last answer said of the key's rate limit; undefined where the service does not tell. */
  rateLimit(): WindowNews | undefined
  /** What is left of the time for the whole operation: to wait longer than that is in vain. */
  remainingMs(): number
}

export interface WriteApi extends ReadApi {
  readonly alerts: WriteCollection<Alert, AlertBody>
  readonly dashboards: WriteCollection<Dashboard, DashboardBody> & { readonly check: CheckDashboard }
  readonly savedSearches: WriteCollection<SavedSearch, SavedSearchBody>
}

/** The reading half, method by method: what is not listed here cannot be reached from a read-only operation. */
export const readOnly = (api: WriteApi): ReadApi => ({
  alerts: { list: api.alerts.list, get: api.alerts.get },
  dashboards: { list: api.dashboards.list, get: api.dashboards.get, check: api.dashboards.check },
  savedSearches: { list: api.savedSearches.list, get: api.savedSearches.get },
  webhooks: { list: api.webhooks.list },
  sources: { list: api.sources.list },
  backups: { list: api.backups.list, get: api.backups.get },
  backupConfiguration: { get: api.backupConfiguration.get },
  usage: { read: api.usage.read },
  rateLimit: api.rateLimit,
  remainingMs: api.remainingMs,
})

export interface Connection {
  /** Base url that `parseApiUrl` accepted. */
  readonly baseUrl: URL
  readonly profile: Profile
  readonly observabilityPath: string
  readonly apiKeyId: string
  readonly apiKeySecret: string
  readonly proxy: ProxySettings
  readonly userAgent: string
  readonly maxAttempts: number
  /** For all requests of this client together. */
  readonly deadlineMs: number
}

export interface Surroundings {
  readonly clock: Clock
  readonly random: () => number
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
}

export interface ApiSession {
  readonly api: WriteApi
  lastRequestId(): string | undefined
  close(): Promise<void>
}

export function openApi(connection: Connection, surroundings: Surroundings): ApiSession {
  const { baseUrl, profile, observabilityPath, apiKeyId, apiKeySecret, proxy, userAgent, maxAttempts, deadlineMs } = connection
  const { clock } = surroundings
  const pair = basicPair(apiKeyId, apiKeySecret)
  const transport = createTransport(baseUrl, proxy, clock)
  // When one of several requests failed for good, the others would go on, and try again, long after the report.
  const closing = new AbortController()
  const { stop, abort } = surroundings.cancellation
  const requester = createRequester({
    ...surroundings,
    cancellation: { stop: AbortSignal.any([stop, closing.signal]), abort: AbortSignal.any([abort, closing.signal]) },
    baseUrl,
    userAgent,
    maxAttempts,
    deadlineMs,
    authorization: `Basic ${pair}`,
    keyName: shortenKeyId(apiKeyId),
    proxyHost: proxyHost(baseUrl, proxy),
    pacer: pacerFor(clock, baseUrl.origin, apiKeyId),
    transport,
    redact: createRedact([apiKeySecret, pair, ...proxySecrets(proxy)]),
  })
  return {
    api: {
      ...createResources({ requester, profile, observabilityPath }),
      rateLimit: requester.lastWindow,
      remainingMs: requester.remainingMs,
    },
    lastRequestId: requester.lastRequestId,
    async close() {
      closing.abort()
      await transport.close()
    },
  }
}

/** Enough of the key id to find it in the service's list; the log masks the whole one. */
export const shortenKeyId = (keyId: string): string => (keyId.length <= 12 ? keyId : `${keyId.slice(0, 4)}…${keyId.slice(-4)}`)
