// A file of the payments team, written by somebody with a hand of their own, and what a pull makes of it.
import { diffLines } from 'diff'
import type { Alert, Emulator } from '../../src/emulator/index.ts'
import { afterPull, type SiteFiles, storeOf, withSite } from './site.ts'

export const path = 'observability/payments.yml'

/** By somebody with a hand of their own: four columns, comments everywhere, one channel for several alerts. */
export const file = `# The payments team, ask #payments
defaults:
    alerts:
        interval:   1h      # they are slow

dashboards:
    payments:   # see the wiki
        name: "Payments"
        adopt: true
        tags: [ shop,checkout ]
        filters: [{ name: Environment, expression: "ResourceAttributes['deployment.environment']", sourceId: { source: Logs } }]
        tiles:
        -   name: Payments by provider      # the big one
            x: 0
            y: 0
            w: 12
            h: 6
            config: { displayType: line, sourceId: { source: Traces }, select: [ { aggFn: count, where: "SpanName:Charge", whereLanguage: lucene } ], groupBy: "SpanAttributes['payment.provider']" }
        # asked for by finance
        -   { name: Declined payments, x: 12, y: 0, w: 12, h: 6, config: { displayType: line, sourceId: { source: Logs }, select: [ { aggFn: count, where: "event:payment_declined", whereLanguage: lucene } ] } }
        -   name: 'Declines by reason'
            x: 0
            y: 6
            w: 12
            h: 6
            config:
                displayType: table
                sourceId: { source: Logs }
                select: [ { aggFn: count, where: "event:payment_declined", whereLanguage: lucene } ]
                groupBy: LogAttributes['reason']
                orderBy: count() DESC
        -   name: Payment queue
            x: 12
            y: 6
            w: 12
            h: 6
            config:
                displayType: number
                sourceId: { source: Metrics }
                select: [ { aggFn: avg, valueExpression: Value, metricName: payments.queue.depth, metricType: gauge } ]
                colorRules: [ { operator: gt, value: 5e2, color: chart-red } ]

alerts:
    declined:
        name: Declined payments
        adopt: true
        dashboard: payments
        tile: Declined payments
        threshold: 50.0         # agreed with finance
        thresholdType: above
        channel: &oncall { type: webhook, webhook: oncall }
        message: Many payments are declined

    # paged at night
    queue:
        name: Payment queue grows
        adopt: true
        dashboard: { name: Payments }
        tile: Payment queue
        threshold: 500
        interval: 30m
        channel: { type: webhook, webhook: audit }
        message: >-
            The queue is longer
            than 500
`

/** Leaves nothing in the service but what the file declares. */
export function trim(emulator: Emulator) {
  const store = storeOf(emulator)
  const payments = store.dashboards.filter(({ name }) => name === 'Payments')
  const [dashboard] = payments
  if (dashboard === undefined) throw new Error('the shop has changed')
  store.dashboards = payments
  store.savedSearches = []
  store.alerts = store.alerts.filter(({ dashboardId }) => dashboardId === dashboard.id)
  const alert = (name: string): Alert => {
    const found = store.alerts.find((one) => one.name === name)
    if (found === undefined) throw new Error('the shop has changed')
    return found
  }
  return { store, dashboard, declined: alert('Declined payments'), queue: alert('Payment queue grows') }
}

/** What a pull makes of the file: the lines that go and those that come; and what plan and another pull would then do. */
export async function pullOver(emulator: Emulator, files: SiteFiles = { [path]: file }, name = path) {
  return withSite(emulator, 'clickhouse-cloud', async (site) => {
    const pulled = await site.pull(files, ['observability/*.yml', name])
    const after = afterPull(files, pulled)
    const planned = await site.plan(after)
    const leftToDo = planned.objects.filter(({ id, action }) => id !== undefined && !['adopt', 'unchanged'].includes(action))
    if (leftToDo.length > 0 || (await site.pull(after)).writtenFiles.length > 0) throw new Error('the pull left something to do')
    const lines = diffLines(String(files[name]), String(after[name])).flatMap(({ added, removed, value }) =>
      added || removed
        ? value
            .replace(/\n$/, '')
            .split('\n')
            .map((line) => `${added ? '+' : '-'}${line}`)
        : [],
    )
    return { pulled, after, lines, planned }
  })
}
