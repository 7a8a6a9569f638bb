// A pull over a file that people wrote: what changed in the service changes in the text, and every other byte stays.
import { describe, expect, it } from 'vitest'
import { useEmulator } from '../../support/emulator.ts'
import { file, path, pullOver, trim } from '../../support/payments.ts'
import { emptyPlan, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', newFieldPrefix: 'novel' })

describe('a pull over a file that says the same in its own words', () => {
  it('writes nothing', async () => {
    trim(emulator())
    const { pulled, planned } = await pullOver(emulator())
    expect(pulled).toMatchObject({ changed: false, unchanged: 3, added: 0, updated: 0, writtenFiles: [] })
    expect(planned).toMatchObject(emptyPlan)
  })

  it.each([
    ['carriage returns', file.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${file}`],
    ['no end to its last line', file.trimEnd()],
  ])('writes nothing where it has %s', async (_, text) => {
    trim(emulator())
    expect((await pullOver(emulator(), { [path]: text })).pulled.changed).toBe(false)
  })
})

describe('a pull over a file when the service has changed', () => {
  it('changes a number, and keeps the comment beside it', async () => {
    trim(emulator()).declined.threshold = 75
    const { lines, pulled } = await pullOver(emulator())
    expect(lines).toEqual(['-        threshold: 50.0         # agreed with finance', '+        threshold: 75 # agreed with finance'])
    expect(pulled).toMatchObject({ updated: 1, unchanged: 2 })
  })

  it('takes away what the service no longer says, and adds what it says now where people look for it', async () => {
    const { declined } = trim(emulator())
    Object.assign(declined, { thresholdType: 'below', numConsecutiveWindows: 3, note: 'Call the bank.\n\nThen call again.', message: null })
    expect((await pullOver(emulator())).lines).toEqual([
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
    trim(emulator()).declined.interval = '5m'
    expect((await pullOver(emulator())).lines).toEqual(['+        interval: 5m'])
  })

  it('moves an alert to another tile and channel', async () => {
    const { declined, dashboard, store } = trim(emulator())
    declined.tileId = dashboard.tiles.find(({ name }) => name === 'Payments by provider')?.id ?? ''
    declined.channels = [
      { type: 'webhook', webhookId: store.webhooks[1]?.id ?? '' },
      { type: 'email', emailRecipients: ['a@shop.example'] },
    ]
    expect((await pullOver(emulator())).lines).toEqual([
      '-        tile: Declined payments',
      '+        tile: Payments by provider',
      '+        channels:',
      '+            - { type: webhook, webhook: incidents }',
      '+            - { type: email, emailRecipients: [a@shop.example] }',
      '-        channel: &oncall { type: webhook, webhook: oncall }',
    ])
  })

  it('follows tiles that were moved, renamed, removed and added, each with its comment', async () => {
    const { dashboard, queue } = trim(emulator())
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
    const { lines, pulled } = await pullOver(emulator())
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
    expect(pulled.objects.filter(({ outcome: what }) => what === 'updated').map(({ key }) => key)).toEqual(['payments', 'queue'])
    expect(queue.tileId).toBe(fourth?.id)
  })

  it('leaves the text of others alone where one of them gave it a name', async () => {
    const { declined } = trim(emulator())
    const shared = file.replace('channel: { type: webhook, webhook: audit }', 'channel: *oncall')
    const { queue } = trim(emulator())
    queue.channels = [...declined.channels]
    declined.channels = [{ type: 'email', emailRecipients: ['a@shop.example'] }]
    const { after } = await pullOver(emulator(), { [path]: shared })
    expect(String(after[path])).toContain('channel: { type: email, emailRecipients: [a@shop.example] }')
    expect(String(after[path])).toContain('channel: &oncall { type: webhook, webhook: oncall }')
    expect(String(after[path])).not.toContain('*oncall')
  })

  it('puts new objects where their neighbours are', async () => {
    const { store, dashboard, declined } = trim(emulator())
    store.alerts.push({ ...declined, id: 'f'.repeat(24), name: 'No payments', threshold: 1, thresholdType: 'below' })
    store.dashboards.push({ ...dashboard, id: 'f'.repeat(24), name: 'Refunds', tiles: [], tags: [], filters: [] })
    const { after, lines, pulled } = await pullOver(emulator())
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

  it('changes what stands in raw where it stands', async () => {
    const { dashboard } = trim(emulator())
    const text = file
      .replace('        tags: [ shop,checkout ]\n', '        tags: [ shop,checkout ]\n        raw:  { novel: [1] }   # since May\n')
      .replace(
        '            h: 6\n            config: { displayType: line',
        '            h: 6\n            raw:\n                novelKind:  beta\n            config: { displayType: line',
      )
    const [tile] = dashboard.tiles
    Object.assign(dashboard, { novel: [1] })
    Object.assign(tile ?? {}, { novelKind: 'beta', novelOther: 1 })
    expect((await pullOver(emulator(), { [path]: text })).pulled.changed).toBe(false)
    Object.assign(dashboard, { novel: [1, 2] })
    Object.assign(tile ?? {}, { novelKind: 'gamma', novelOther: 2 })
    const { after } = await pullOver(emulator(), { [path]: text })
    expect(String(after[path])).toMatch(/raw: {1,2}\{ novel: \[1, 2\] \} +# since May\n/)
    expect(String(after[path])).toMatch(/raw:\n +novelKind: gamma\n/)
    expect(String(after[path])).not.toContain('novelOther')
  })

  it('leaves what is gone from the service in the file, and says so', async () => {
    const { store, queue } = trim(emulator())
    store.alerts = store.alerts.filter(({ id }) => id !== queue.id)
    const { pulled } = await pullOver(emulator())
    expect(pulled).toMatchObject({ changed: false, missing: 1 })
    expect(pulled.objects.find(({ outcome: what }) => what === 'missing')).toMatchObject({ section: 'alerts', key: 'queue' })
  })

  it('says what a declaration of something gone refers to in vain', async () => {
    const { store, queue, dashboard } = trim(emulator())
    store.alerts = store.alerts.filter(({ id }) => id !== queue.id)
    dashboard.tiles = dashboard.tiles.filter(({ name }) => name !== 'Payment queue')
    const text = file.replace('dashboard: { name: Payments }', 'dashboard: payments')
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const pulled = await site.pull({ [path]: text })
      expect(pulled).toMatchObject({ updated: 1, missing: 1, diagnostics: [{ rule: 'dangling-reference', severity: 'warning' }] })
    })
  })
})
