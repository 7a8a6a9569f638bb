// Owns what the demo shows: the main operations against the emulator's shop, and at last two gates that fail.
import { demo, type Emulator } from '../../emulator/index.ts'

export interface DemoStep {
  readonly title: string
  readonly operation: string
  /** Inputs by kebab-case name. */
  readonly inputs: Readonly<Record<string, string>>
  /** Files of the repository that it runs in, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** Whether the step is there to fail. */
  readonly fails?: boolean
}

/** Settings that a job would set once, as environment variables. */
export const demoEnvironment = ({ url }: Emulator): Readonly<Record<string, string>> => ({
  WATCHKEEPER_API_URL: url,
  WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
  WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
  WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
  WATCHKEEPER_SERVICE_ID: demo.services.checkout,
})

export function demoSteps({ store }: Emulator): readonly DemoStep[] {
  const service = store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)
  const dashboard = service?.dashboards.find(({ name }) => name === 'Checkout overview')
  const tile = dashboard?.tiles.find(({ name }) => name === 'Error rate')
  const webhook = service?.webhooks[0]
  if (dashboard === undefined || tile === undefined || webhook === undefined) throw new Error('the shop has no checkout overview')
  return [
    { title: 'List the dashboards that bear a tag', operation: 'list-dashboards', inputs: { tag: 'shop' } },
    { title: 'List the sources', operation: 'list-sources', inputs: {} },
    {
      title: 'Report the usage cost of 30 days, within its budget',
      operation: 'usage-cost',
      inputs: { period: 'last-30-days', budget: '500' },
    },
    { title: 'Read the latest backup', operation: 'get-backup', inputs: { 'backup-id': 'latest' } },
    {
      title: 'Create an alert on a tile, with a single request',
      operation: 'create-alert',
      inputs: {
        'dashboard-id': dashboard.id,
        'tile-id': tile.id,
        threshold: '0.05',
        interval: '1h',
        'webhook-id': webhook.id,
        name: 'Error rate in checkout',
        message: 'More than 5 % of checkouts failed within an hour',
      },
    },
    {
      title: 'Show what a file of alerts and dashboards would change: nothing is written',
      operation: 'plan',
      inputs: { project: 'demo/shop' },
      files: declared(webhook.id),
    },
    {
      title: 'Make the service as the file says',
      operation: 'apply',
      inputs: { project: 'demo/shop' },
      files: declared(webhook.id),
    },
    {
      title: 'The same cost against a smaller budget, and against the days before: the gate fails',
      operation: 'usage-cost',
      inputs: { period: 'last-30-days', budget: '300', compare: 'previous-period' },
      fails: true,
    },
    {
      title: 'The backups of three services, of which one alone is fresh: the gate fails',
      operation: 'check-backups',
      inputs: { services: Object.values(demo.services).join(', '), 'max-age-hours': '26' },
      fails: true,
    },
  ]
}

const declared = (webhookId: string) => ({
  'observability/orders.yml': `dashboards:
  orders:
    name: Orders
    tags: [shop]
    tiles:
      - name: Failed orders
        x: 0
        y: 0
        w: 24
        h: 6
        config:
          displayType: line
          sourceId: { source: Logs }
          select: [{ aggFn: count, where: 'ServiceName:orders level:error', whereLanguage: lucene }]
alerts:
  failed-orders:
    name: Failed orders
    dashboard: orders
    tile: Failed orders
    threshold: 10
    interval: 5m
    channel: { type: webhook, webhookId: ${webhookId} }
    message: More than 10 orders failed in 5 minutes
`,
})
