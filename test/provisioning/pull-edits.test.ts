// A pull over files that people wrote: what changed in the service changes in the text, and every other byte stays.
import { diffLines } from 'diff'
import { describe, expect, it } from 'vitest'
import type { Alert } from '../../src/emulator/index.ts'
import { useEmulator } from '../support/emulator.ts'
import { afterPull, emptyPlan, type SiteFiles, storeOf, withSite } from '../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const path = 'observability/payments.yml'

/** By somebody with a hand of their own: four columns, comments everywhere, one channel for several alerts. */
const file = `# The payments team, ask #payments
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

const only = (): SiteFiles => ({ [path]: file })

/** Leaves nothing in the service but what the file declares. */
function trim() {
  const store = storeOf(emulator())
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
async function pullOver(files: SiteFiles = only(), name = path) {
  return withSite(emulator(), 'clickhouse-cloud', async (site) => {
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

describe('a pull over a file that says the same in its own words', () => {
  it('writes nothing', async () => {
    trim()
    const { pulled, planned } = await pullOver()
    expect(pulled).toMatchObject({ changed: false, unchanged: 3, added: 0, updated: 0, writtenFiles: [] })
    expect(planned).toMatchObject(emptyPlan)
  })

  it.each([
    ['carriage returns', file.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${file}`],
    ['no end to its last line', file.trimEnd()],
  ])('writes nothing where it has %s', async (_, text) => {
    trim()
    expect((await pullOver({ [path]: text })).pulled.changed).toBe(false)
  })
})

describe('a pull over a file when the service has changed', () => {
  it('changes a number, and keeps the comment beside it', async () => {
    trim().declined.threshold = 75
    const { lines, pulled } = await pullOver()
    expect(lines).toEqual(['-        threshold: 50.0         # agreed with finance', '+        threshold: 75 # agreed with finance'])
    expect(pulled).toMatchObject({ updated: 1, unchanged: 2 })
  })

  it('takes away what the service no longer says, and adds what it says now where people look for it', async () => {
    const { declined } = trim()
    Object.assign(declined, { thresholdType: 'below', numConsecutiveWindows: 3, note: 'Call the bank.\n\nThen call again.', message: null })
    expect((await pullOver()).lines).toEqual([
      '-        thresholdType: above',
      '+        thresholdType: below',
      '+        numConsecutiveWindows: 3',
      '-        message: Many payments are declined',
      '+        note: |-',
      '+            Call the bank.',
      '+            Then call again.',
      '+',
    ])
  })

  it('says what the defaults no longer say, and only there', async () => {
    trim().declined.interval = '5m'
    expect((await pullOver()).lines).toEqual(['+        interval: 5m'])
  })

  it('moves an alert to another tile and channel', async () => {
    const { declined, dashboard, store } = trim()
    declined.tileId = dashboard.tiles.find(({ name }) => name === 'Payments by provider')?.id ?? ''
    declined.channels = [
      { type: 'webhook', webhookId: store.webhooks[1]?.id ?? '' },
      { type: 'email', emailRecipients: ['a@shop.example'] },
    ]
    expect((await pullOver()).lines).toEqual([
      '-        tile: Declined payments',
      '+        tile: Payments by provider',
      '+        channels:',
      '+            - { type: webhook, webhook: incidents }',
      '+            - { type: email, emailRecipients: [a@shop.example] }',
      '-        channel: &oncall { type: webhook, webhook: oncall }',
    ])
  })

  it('follows tiles that were moved, renamed, removed and added, each with its comment', async () => {
    const { dashboard, queue } = trim()
    const [first, second, third, fourth] = dashboard.tiles
    Object.assign(fourth ?? {}, { name: 'Queue' })
    Object.assign(first ?? {}, { w: 24 })
    const added = {
      ...(second ?? {}),
      id: 'f'.repeat(24),
      name: 'What to do',
      config: { displayType: 'markdown', markdown: 'Call\nthe bank' },
    }
    dashboard.tiles = [fourth, added, first, second].filter((one) => one !== undefined) as typeof dashboard.tiles
    expect(third?.name).toBe('Declines by reason')
    const { lines, pulled } = await pullOver()
    expect(lines.filter((line) => line.startsWith('-')).map((line) => line.trim())).toMatchInlineSnapshot(`
      [
        "-        -   name: Payments by provider      # the big one",
        "-            x: 0",
        "-            y: 0",
        "-            w: 12",
        "-            h: 6",
        "-            config: { displayType: line, sourceId: { source: Traces }, select: [ { aggFn: count, where: "SpanName:Charge", whereLanguage: lucene } ], groupBy: "SpanAttributes['payment.provider']" }",
        "-        # asked for by finance",
        "-        -   { name: Declined payments, x: 12, y: 0, w: 12, h: 6, config: { displayType: line, sourceId: { source: Logs }, select: [ { aggFn: count, where: "event:payment_declined", whereLanguage: lucene } ] } }",
        "-        -   name: 'Declines by reason'",
        "-            x: 0",
        "-            y: 6",
        "-            w: 12",
        "-            h: 6",
        "-            config:",
        "-                displayType: table",
        "-                sourceId: { source: Logs }",
        "-                select: [ { aggFn: count, where: "event:payment_declined", whereLanguage: lucene } ]",
        "-                groupBy: LogAttributes['reason']",
        "-                orderBy: count() DESC",
        "-        -   name: Payment queue",
        "-            x: 12",
        "-            y: 6",
        "-            w: 12",
        "-            h: 6",
        "-            config:",
        "-                displayType: number",
        "-                sourceId: { source: Metrics }",
        "-                select: [ { aggFn: avg, valueExpression: Value, metricName: payments.queue.depth, metricType: gauge } ]",
        "-                colorRules: [ { operator: gt, value: 5e2, color: chart-red } ]",
        "-        tile: Payment queue",
      ]
    `)
    expect(lines.filter((line) => line.startsWith('+'))).toMatchInlineSnapshot(`
      [
        "+            - name: Payments by provider # the big one",
        "+              x: 0",
        "+              y: 0",
        "+              w: 24",
        "+              h: 6",
        "+              config: { displayType: line, sourceId: { source: Traces }, select: [{ aggFn: count, where: "SpanName:Charge", whereLanguage: lucene }], groupBy: "SpanAttributes['payment.provider']" }",
        "+            # asked for by finance",
        "+            - { name: Declined payments, x: 12, y: 0, w: 12, h: 6, config: { displayType: line, sourceId: { source: Logs }, select: [{ aggFn: count, where: "event:payment_declined", whereLanguage: lucene }] } }",
        "+            - name: Queue",
        "+              x: 12",
        "+              y: 6",
        "+              w: 12",
        "+              h: 6",
        "+              config:",
        "+                  displayType: number",
        "+                  sourceId: { source: Metrics }",
        "+                  select: [{ aggFn: avg, valueExpression: Value, metricName: payments.queue.depth, metricType: gauge }]",
        "+                  colorRules: [{ operator: gt, value: 5e+2, color: chart-red }]",
        "+            - name: What to do",
        "+              x: 12",
        "+              y: 0",
        "+              w: 12",
        "+              h: 6",
        "+              config:",
        "+                  displayType: markdown",
        "+                  markdown: |-",
        "+                      Call",
        "+                      the bank",
        "+        tile: Queue",
      ]
    `)
    expect(pulled.objects.filter(({ what }) => what === 'updated').map(({ key }) => key)).toEqual(['payments', 'queue'])
    expect(queue.tileId).toBe(fourth?.id)
  })

  it('leaves the text of others alone where one of them gave it a name', async () => {
    const { declined } = trim()
    const shared = file.replace('channel: { type: webhook, webhook: audit }', 'channel: *oncall')
    const { queue } = trim()
    queue.channels = [...declined.channels]
    declined.channels = [{ type: 'email', emailRecipients: ['a@shop.example'] }]
    const { after } = await pullOver({ [path]: shared })
    expect(String(after[path])).toContain('channel: { type: email, emailRecipients: [a@shop.example] }')
    expect(String(after[path])).toContain('channel: &oncall { type: webhook, webhook: oncall }')
    expect(String(after[path])).not.toContain('*oncall')
  })

  it('puts new objects where their neighbours are', async () => {
    const { store, dashboard, declined } = trim()
    store.alerts.push({ ...declined, id: 'f'.repeat(24), name: 'No payments', threshold: 1, thresholdType: 'below' })
    store.dashboards.push({ ...dashboard, id: 'f'.repeat(24), name: 'Refunds', tiles: [], tags: [], filters: [] })
    const { after, lines, pulled } = await pullOver()
    expect(lines).toEqual([
      '+',
      '+    no-payments:',
      '+        name: No payments',
      '+        adopt: true',
      '+        dashboard: payments',
      '+        tile: Declined payments',
      '+        threshold: 1',
      '+        thresholdType: below',
      '+        channel: { type: webhook, webhook: oncall }',
      '+        message: Many payments are declined',
    ])
    expect(pulled).toMatchObject({ added: 2, updated: 0, filesWritten: 2 })
    expect(after['observability/refunds.yml']).toContain('  refunds:\n    name: Refunds\n    adopt: true\n    tiles: []\n')
  })

  it('leaves what is gone from the service in the file, and says so', async () => {
    const { store, queue } = trim()
    store.alerts = store.alerts.filter(({ id }) => id !== queue.id)
    const { pulled } = await pullOver()
    expect(pulled).toMatchObject({ changed: false, missing: 1 })
    expect(pulled.objects.find(({ what }) => what === 'missing')).toMatchObject({ section: 'alerts', key: 'queue' })
  })

  it('says what a declaration of something gone refers to in vain', async () => {
    const { store, queue, dashboard } = trim()
    store.alerts = store.alerts.filter(({ id }) => id !== queue.id)
    dashboard.tiles = dashboard.tiles.filter(({ name }) => name !== 'Payment queue')
    const text = file.replace('dashboard: { name: Payments }', 'dashboard: payments')
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const pulled = await site.pull({ [path]: text })
      expect(pulled).toMatchObject({ updated: 1, missing: 1, findings: [{ rule: 'dangling-reference', severity: 'warning' }] })
    })
  })
})
