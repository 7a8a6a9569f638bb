import type { ServiceName } from '../demo.ts'
import type { DemoIds } from '../ids.ts'
import type { Dialect } from '../options.ts'
import type { Alert, Service } from '../store.ts'

interface Deviation {
  readonly thresholdType?: string
  readonly state?: Alert['state']
  /** Default `oncall`. */
  readonly webhook?: string
}

type AlertText = readonly [
  name: string,
  dashboard: string,
  tile: string,
  threshold: number,
  interval: string,
  message: string,
  deviation?: Deviation,
]

const quiet: Deviation = { webhook: 'audit' }
const below: Deviation = { thresholdType: 'below' }

const alertsOf: Readonly<Record<ServiceName, readonly AlertText[]>> = {
  checkout: [
    ['Checkout errors', 'Checkout overview', 'Error rate', 0.02, '5m', 'More than 2 % of checkouts fail', { state: 'ALERT' }],
    ['Checkout is slow', 'Checkout overview', 'Latency', 1.5, '15m', 'p99 above 1.5 s'],
    [
      'No orders',
      'Checkout overview',
      'Orders per minute',
      1,
      '15m',
      'Nobody has ordered for 15 minutes',
      { ...below, webhook: 'incidents' },
    ],
    ['Declined payments', 'Payments', 'Declined payments', 50, '1h', 'Many payments are declined', { state: 'PENDING' }],
    ['Payment queue grows', 'Payments', 'Payment queue', 500, '30m', 'The queue is longer than 500', { ...quiet, state: 'DISABLED' }],
  ],
  catalog: [
    ['Catalog errors', 'Catalog overview', 'Error rate', 0.05, '5m', 'More than 5 % of requests fail'],
    ['Catalog error logs', 'Catalog overview', 'Errors in logs', 200, '1h', 'Unusually many errors in the logs', quiet],
    [
      'Imports fail',
      'Catalog imports',
      'Failed imports',
      0,
      '1d',
      'An import failed',
      { thresholdType: 'above_exclusive', state: 'ALERT' },
    ],
    ['Imports stopped', 'Catalog imports', 'Imported products', 1, '12h', 'Nothing came', { ...below, state: 'INSUFFICIENT_DATA' }],
  ],
  search: [
    ['Search errors', 'Search overview', 'Error rate', 0.05, '5m', 'More than 5 % of searches fail'],
    ['Search is slow', 'Search overview', 'Latency', 0.8, '15m', 'p99 above 0.8 s'],
    ['Empty results', 'Search quality', 'Searches without results', 0.2, '6h', 'A fifth of the searches find nothing', quiet],
    ['Index is old', 'Search quality', 'Index age', 60, '30m', 'The index is older than an hour', { state: 'INSUFFICIENT_DATA' }],
  ],
}

const hourMs = 3_600_000

export function createAlerts(ids: DemoIds, service: Service, atMs: number, dialect: Dialect): Alert[] {
  const name = service.name as ServiceName
  const before = (hours: number): string => new Date(atMs - hours * hourMs).toISOString()
  const alerts = alertsOf[name].map(
    (text): Alert => ({ ...createAlert(ids, service, text), createdAt: before(1200), updatedAt: before(400) }),
  )
  const [first] = alerts
  if (name === 'catalog' && first) first.silenced = { by: 'ops@shop.example', at: before(2), until: before(-6) }
  if (name === 'search' && first) {
    first.executionErrors = [{ timestamp: before(1), type: 'QUERY_ERROR', message: "Unknown identifier 'StatusCod' in the query" }]
  }
  // The neutral contract knows no saved searches, and so no alerts on them.
  if (dialect !== 'neutral' && first) alerts.push(toSavedSearchAlert(first, ids, service))
  return alerts
}

function createAlert(ids: DemoIds, { dashboards, webhooks, teamId }: Service, text: AlertText): Omit<Alert, 'createdAt' | 'updatedAt'> {
  const [name, dashboardName, tileName, threshold, interval, message, { thresholdType = 'above', state = 'OK', webhook = 'oncall' } = {}] =
    text
  const dashboard = dashboards.find((one) => one.name === dashboardName)
  return {
    id: ids.objectId(),
    teamId,
    source: 'tile',
    dashboardId: dashboard?.id ?? null,
    tileId: dashboard?.tiles.find((tile) => tile.name === tileName)?.id ?? null,
    savedSearchId: null,
    groupBy: null,
    threshold,
    thresholdType,
    interval,
    channels: [{ type: 'webhook', webhookId: webhooks.find((one) => one.name === webhook)?.id ?? '' }],
    name,
    message,
    note: null,
    numConsecutiveWindows: null,
    state,
  }
}

const toSavedSearchAlert = (
  { silenced: _, executionErrors: __, ...like }: Alert,
  ids: DemoIds,
  { name, savedSearches }: Service,
): Alert => ({
  ...like,
  id: ids.objectId(),
  source: 'saved_search',
  dashboardId: null,
  tileId: null,
  savedSearchId: savedSearches[0]?.id ?? null,
  name: `Errors in ${name}`,
  message: null,
  threshold: 100,
  interval: '1h',
  state: 'OK',
})
