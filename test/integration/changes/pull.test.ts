import { diffLines } from 'diff'
import { describe, expect, it } from 'vitest'
import { judgePull } from '../../../src/changes/pull/pull-report.ts'
import type { Alert, Dashboard, Emulator } from '../../../src/emulator/index.ts'
import type { WriteApi } from '../../../src/platform/api/client.ts'
import { digestOfText } from '../../../src/platform/core/digest.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import type { TestSession } from '../../support/session.ts'
import { acceptingRewrites, afterPull, differing, emptyPlan, project, type SiteFiles, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', newFieldPrefix: 'novel' })

const path = 'observability/payments.yml'

/** With unusual indentation, and comments everywhere. */
const file = `# The payments team, ask #payments
defaults:
    alerts:
        interval:   1h      # they are slow

dashboards:
    payments:   # see the wiki
        name: "Payments"
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
        -   { name: Declined payments, x: 12, y: 0, w: 12, h: 6, config: { displayType: line, sourceId: { source: Logs }, select: [ { aggFn: count, where: "LogAttributes.event:payment_declined", whereLanguage: lucene } ] } }
        -   name: 'Declines by reason'
            x: 0
            y: 6
            w: 12
            h: 6
            config:
                displayType: table
                sourceId: { source: Logs }
                select: [ { aggFn: count, where: "LogAttributes.event:payment_declined", whereLanguage: lucene } ]
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
        dashboard: payments
        tile: Declined payments
        threshold: 50.0         # agreed with finance
        thresholdType: above
        channel: { type: webhook, webhook: oncall }
        message: Many payments are declined

    # paged at night
    queue:
        name: Payment queue grows
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
function trim(emulator: Emulator) {
  const store = serviceOf(emulator)
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
async function pullOver(emulator: Emulator, files: SiteFiles = { [path]: file }, name = path) {
  return withSite(emulator, 'clickhouse-cloud', async (site) => {
    const pulled = await site.pull(files, ['observability/*.yml', name])
    const after = afterPull(files, pulled)
    const planned = await site.plan(after)
    const created = planned.objects.filter(({ action }) => action === 'create').map(({ key }) => key)
    const leftToDo = differing(planned).filter((key) => !created.includes(key))
    const wasWritten = pulled.writtenFiles.length > 0
    if (leftToDo.length > 0 || (wasWritten && (await site.pull(after)).writtenFiles.length > 0))
      throw new Error('the pull left something to do')
    const lines = diffLines(String(files[name]), String(after[name])).flatMap(({ added, removed, value }) =>
      added || removed
        ? value
            .replace(/\n$/, '')
            .split('\n')
            .map((line) => `${added ? '+' : '-'}${line}`)
            // The ids in `adopt` have a test of their own.
            .filter((line) => !/^[-+] +adopt: /.test(line))
        : [],
    )
    return { pulled, after, lines, planned }
  })
}

describe('F2: pull keeps the comments, the order and the formatting of a file', () => {
  it('writes nothing when nothing changed', async () => {
    const texts = {
      'as written': file,
      'with CRLF line endings': file.replaceAll('\n', '\r\n'),
      'with a byte order mark': `\ufeff${file}`,
      'without a newline at the end': file.trimEnd(),
    }
    trim(emulator())
    for (const [name, text] of Object.entries(texts)) {
      const { pulled, planned } = await pullOver(emulator(), { [path]: text })
      expect(pulled, name).toMatchObject({ changed: false, unchanged: 3, added: 0, updated: 0, writtenFiles: [] })
      expect(differing(planned), name).toEqual([])
    }
  })

  it('changes only the fields that changed', async () => {
    const { declined } = trim(emulator())
    Object.assign(declined, {
      threshold: 75,
      thresholdType: 'below',
      numConsecutiveWindows: 3,
      interval: '5m',
      note: 'Call\n\nagain.',
      message: null,
    })
    const { lines, pulled } = await pullOver(emulator())
    expect(lines).toEqual([
      '-        threshold: 50.0         # agreed with finance',
      '-        thresholdType: above',
      '+        threshold: 75         # agreed with finance',
      '+        thresholdType: below',
      '+        interval: 5m',
      '+        numConsecutiveWindows: 3',
      '-        message: Many payments are declined',
      '+        note: |-',
      '+            Call',
      '+            again.',
      '+',
    ])
    expect(pulled).toMatchObject({ updated: 1, unchanged: 2 })
  })

  it('changes the tile and the channels of an alert', async () => {
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
      '-        channel: { type: webhook, webhook: oncall }',
    ])
  })

  it('keeps the comments of tiles that are moved, renamed, removed and added', async () => {
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
        "-            w: 12",
        "-        -   name: 'Declines by reason'",
        "-            x: 0",
        "-            y: 6",
        "-            w: 12",
        "-            h: 6",
        "-            config:",
        "-                displayType: table",
        "-                sourceId: { source: Logs }",
        "-                select: [ { aggFn: count, where: "LogAttributes.event:payment_declined", whereLanguage: lucene } ]",
        "-                groupBy: LogAttributes['reason']",
        "-                orderBy: count() DESC",
        "-        -   name: Payment queue",
        "-        tile: Payment queue",
      ]
    `)
    expect(lines.filter((line) => line.startsWith('+'))).toMatchInlineSnapshot(`
      [
        "+            w: 24",
        "+        -   name: Queue",
        "+        - name: What to do",
        "+          at: [12, 0, 12, 6]",
        "+          config:",
        "+              displayType: markdown",
        "+              markdown: |-",
        "+                  Call",
        "+                  the bank",
        "+        tile: Queue",
      ]
    `)
    expect(pulled.objects.filter(({ outcome }) => outcome === 'updated').map(({ key }) => key)).toEqual(['payments', 'queue'])
    expect(queue.tileId).toBe(fourth?.id)
  })

  it('adds a new alert to the file of its dashboard, and a new dashboard to a new file', async () => {
    const { store, dashboard, declined } = trim(emulator())
    store.alerts.push({ ...declined, id: 'f'.repeat(24), name: 'No payments', threshold: 1, thresholdType: 'below' })
    store.dashboards.push({ ...dashboard, id: 'f'.repeat(24), name: 'Refunds', tiles: [], tags: [], filters: [] })
    const { after, lines, pulled } = await pullOver(emulator())
    expect(lines).toEqual([
      '+',
      '+    no-payments:',
      '+        name: No payments',
      '+        dashboard: payments',
      '+        tile: Declined payments',
      '+        threshold: 1',
      '+        thresholdType: below',
      '+        channel: { type: webhook, webhook: oncall }',
      '+        message: Many payments are declined',
    ])
    expect(pulled).toMatchObject({ added: 2, updated: 0, filesWritten: 2 })
    expect(after['observability/refunds.yml']).toMatch(
      / {2}refunds:\n {4}name: Refunds\n {4}adopt: f{24}@2\.[0-9a-f]{10}\.[0-9a-f]{6}\n {4}tiles: \[\]\n/,
    )
  })

  it('keeps the declaration of a deleted alert, and leaves out the dashboard that lost its tile', async () => {
    const { store, queue, dashboard } = trim(emulator())
    store.alerts = store.alerts.filter(({ id }) => id !== queue.id)
    const { pulled, lines } = await pullOver(emulator())
    expect(pulled).toMatchObject({ missing: 1 })
    expect(lines).toEqual([])
    expect(pulled.objects.find(({ outcome }) => outcome === 'missing')).toMatchObject({ kind: 'alert', key: 'queue' })
    dashboard.tiles = dashboard.tiles.filter(({ name }) => name !== 'Payment queue')
    const text = file.replace('dashboard: { name: Payments }', 'dashboard: payments')
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const again = await site.pull({ [path]: text })
      expect(again).toMatchObject({ changed: false, updated: 0, missing: 1, leftOut: 1 })
      expect(again.objects.find(({ outcome }) => outcome === 'left-out')).toMatchObject({
        kind: 'dashboard',
        key: 'payments',
        reason:
          'the files would have an error: alerts.queue.tile: dashboard payments has no tile named "Payment queue"; the service does not have this alert, so remove its declaration',
      })
    })
  })
})

const id = (digit: string): string => digit.repeat(24)

/** Replaces all dashboards and alerts of the service, and deletes its saved searches. */
function put(dashboards: readonly Partial<Dashboard>[], alerts: readonly Partial<Alert>[] = []): void {
  const store = serviceOf(emulator())
  const [dashboard] = store.dashboards
  const [alert] = store.alerts
  if (dashboard === undefined || alert === undefined) throw new Error('the shop has changed')
  store.dashboards = dashboards.map((one, i) => ({ ...dashboard, id: id(String(i)), ...one }))
  store.alerts = alerts.map((one, i) => ({ ...alert, id: id('abcdef'[i] ?? ''), ...one }))
  store.savedSearches = []
}

const pullInto = (files: SiteFiles = {}) =>
  withSite(emulator(), 'clickhouse-cloud', async (site) => {
    const pulled = await site.pull(files)
    const after = afterPull(files, pulled)
    return {
      pulled,
      text: Object.values(after).join('\n'),
      left: Object.keys(after).length === 0 ? undefined : differing(await site.plan(after)),
    }
  })

const marker = (key: string, of: string): string => `wk:${digestOfText(of, 6)}:${key}:abcdef`

describe('a pull of a service', () => {
  it('adds managed and unmanaged objects, and no objects of other projects', async () => {
    put([
      { name: 'Managed', tags: [marker('key', project)] },
      { name: 'Unmanaged' },
      { name: 'Theirs', tags: [marker('key', 'other/project')] },
    ])
    const { pulled, left } = await pullInto()
    expect(pulled.objects.map(({ name, outcome, key }) => [name, outcome, key])).toEqual([
      ['Managed', 'added', 'key'],
      ['Unmanaged', 'added', 'unmanaged'],
      ['Theirs', 'other-project', ''],
    ])
    expect(pulled.leftOut).toBe(0)
    expect(left).toEqual([])
  })

  it('leaves out a declaration whose marker two objects have, and pulls the others', async () => {
    put([{ name: 'A', tags: [marker('a', project)] }, { name: 'B', tags: [marker('a', project)] }, { name: 'C' }])
    const { pulled } = await pullInto({ 'observability/a.yml': 'dashboards:\n  a:\n    name: A\n    tiles: []\n' })
    expect(pulled.objects.find(({ key }) => key === 'a')).toMatchObject({
      outcome: 'left-out',
      reason: expect.stringMatching(
        /^2 dashboards have this ownership marker \(\w+, \w+\); to name the one to manage, set adopt to its id/,
      ),
    })
    expect(pulled).toMatchObject({ added: 1 })
  })

  it('R4, R6: ends at the time limit and after a signal, also where no request is left to send', async () => {
    // The server is asked about objects to adopt.
    put([{ name: 'Managed', tags: [marker('key', project)] }])
    /** Pulls, with something that happens after each answer. */
    const pullWith = (onAnswer: (count: number, session: TestSession) => Promise<void> | void) => {
      let [count, session]: [number, TestSession | undefined] = [0, undefined]
      const through = (api: WriteApi): WriteApi => ({
        ...api,
        async read(call) {
          const answer = await api.read(call)
          count += 1
          if (session !== undefined) await onAnswer(count, session)
          return answer
        },
      })
      return withSite({ url: emulator().url, through }, 'clickhouse-cloud', (site) => {
        ;({ session } = site)
        return site.pull({})
      })
    }
    let last = 0
    await pullWith((count) => {
      last = count
    })
    const late = pullWith((count, { clock }) => (count === last ? clock.sleep(3_600_000) : undefined))
    await expect(late).rejects.toMatchObject({ kind: 'deadline', message: expect.stringContaining('Nothing was written') })
    const canceled = pullWith((count, { stop }) => (count === last ? stop() : undefined))
    await expect(canceled).rejects.toMatchObject({ kind: 'canceled', message: expect.stringContaining('Nothing was written') })
  })

  it('writes nothing when the service is empty', async () => {
    put([])
    expect((await pullInto()).pulled).toMatchObject({ changed: false, objects: [], diagnostics: [] })
  })

  it('refers by id when names are not unique', async () => {
    const store = serviceOf(emulator())
    const tiles = (store.dashboards[0]?.tiles ?? []).map((tile) => ({ ...tile, name: 'Same' }))
    const webhook = store.webhooks[0]?.id ?? ''
    store.webhooks = store.webhooks.map((one) => ({ ...one, name: 'hook' }))
    store.sources = store.sources.map((one) => ({ ...one, name: 'Source' }))
    const theirs = { name: 'D', tiles, tags: [marker('d', 'other/project')] }
    put([theirs, theirs, { name: 'Ours' }], [{ dashboardId: id('0'), tileId: tiles[0]?.id ?? '' }])
    const { text, left } = await pullInto()
    expect(text).toContain(`dashboard: { id: '${id('0')}' }\n    tile: { id: ${tiles[0]?.id} }`)
    expect(text).toContain(`channel: { type: webhook, webhookId: ${webhook} }`)
    expect(text).not.toContain('source: Source')
    expect(left).toEqual([])
  })

  it('leaves out alerts that a file cannot declare, with the reason', async () => {
    const { tiles = [] } = serviceOf(emulator()).dashboards[0] ?? {}
    const [tile] = tiles
    const cases: readonly [string, Partial<Alert>, RegExp][] = [
      ['without channels', { channels: [] }, /has no channel/],
      ['without a tile', { dashboardId: null, tileId: null }, /watches nothing/],
      ['without the end of its range', { thresholdType: 'between' }, /between needs thresholdMax/],
      ['without space for a marker', { note: 'x'.repeat(4000) }, /^note: .*at most 3800 characters/],
    ]
    put(
      [{ tiles }],
      cases.map(([, alert]) => ({ dashboardId: id('0'), tileId: tile?.id ?? '', ...alert })),
    )
    const { pulled, left } = await pullInto()
    expect(pulled).toMatchObject({ added: 1, leftOut: cases.length })
    const { sentence = [], reasons } = judgePull(pulled)
    expect([toPlainText(sentence), ...reasons]).toEqual([
      `Pulled into 1 file for shop/observability: 1 added, ${cases.length} objects left out.`,
    ])
    expect(pulled.diagnostics).toEqual([])
    for (const [i, [name, , reason]] of cases.entries())
      expect(
        pulled.objects.find((one) => one.id === id('abcdef'[i] ?? '')),
        name,
      ).toMatchObject({
        outcome: 'left-out',
        reason: expect.stringMatching(reason),
      })
    expect(left).toEqual([])
  })

  it('leaves out a saved search whose source was deleted, and apply takes over the others', async () => {
    const store = serviceOf(emulator())
    const [search] = store.savedSearches
    store.sources = store.sources.filter(({ id }) => id !== search?.sourceId)
    const others = store.savedSearches.filter(({ sourceId }) => sourceId === search?.sourceId)
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const pulled = await site.pull({})
      const left = pulled.objects.filter(({ kind, outcome }) => kind === 'savedSearch' && outcome === 'left-out')
      expect(left.map(({ id }) => id).toSorted()).toEqual(others.map(({ id }) => id).toSorted())
      expect(left[0]?.reason).toMatch(/^sourceId: source \w+ does not exist$/)
      const applied = await site.apply(acceptingRewrites(afterPull({}, pulled)))
      expect(applied.objects.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    })
  })

  it('leaves out an alert on a tile without alerts', async () => {
    const { tiles = [] } = serviceOf(emulator()).dashboards[0] ?? {}
    put([{ tiles }], [{ dashboardId: id('0'), tileId: tiles.find(({ config }) => config.displayType === 'markdown')?.id ?? '' }])
    expect((await pullInto()).pulled.objects).toMatchObject([
      { kind: 'dashboard', outcome: 'added' },
      { kind: 'alert', outcome: 'left-out', reason: expect.stringContaining('a tile of type markdown cannot have alerts') },
    ])
  })

  it('adds a dashboard that the server would not store again, because apply does not write it until it changes', async () => {
    const [tile] = serviceOf(emulator()).dashboards[0]?.tiles ?? []
    const broken = { ...tile, config: { ...tile?.config, formulas: [{ expression: 'A / B' }] } } as Dashboard['tiles'][number]
    put([{ name: 'Bad', tiles: [broken, { ...broken, id: 'other', name: 'Other' }] }], [])
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const files = afterPull({}, await site.pull({}))
      expect(await site.plan(files)).toMatchObject({ ...emptyPlan, tracked: 1, diagnostics: [{ rule: 'overlapping-tiles' }] })
      const [[path, text] = []] = Object.entries(files)
      const changed = await site.plan({ [path ?? '']: String(text).replace('name: Bad', 'name: Worse') })
      expect(changed.diagnostics.map(({ rule, message }) => [rule, message])).toContainEqual([
        'server-refuses',
        expect.stringContaining('Unknown series "B" — this chart only has series A through A'),
      ])
    })
  })

  it('writes the value of a metric that the web app left empty, and apply stores it', async () => {
    const config = {
      displayType: 'line',
      sourceId: serviceOf(emulator()).sources.find(({ kind }) => kind === 'metric')?.id,
      select: [
        { aggFn: 'avg', valueExpression: '', metricName: 'jvm.memory.used', metricType: 'sum', where: '', whereLanguage: 'lucene' },
        { aggFn: 'count', valueExpression: '', metricName: 'jvm.memory.used', metricType: 'gauge', where: '', whereLanguage: 'lucene' },
      ],
    }
    put([], [])
    const { id } = emulator().saveInWebApp({ name: 'JVM', tiles: [{ name: 'Heap', config }] })
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const files = acceptingRewrites(afterPull({}, await site.pull({})))
      expect(differing(await site.plan(files))).toEqual([])
      expect(await site.apply(files)).toMatchObject({ objects: [{ id, outcome: 'updated' }] })
      const [tile] = serviceOf(emulator()).dashboards.find((one) => one.id === id)?.tiles ?? []
      expect(tile?.config.select).toMatchObject([{ aggFn: 'avg', valueExpression: 'Value' }, { aggFn: 'count' }])
      expect(await site.plan(files)).toMatchObject({ ...emptyPlan, toAdopt: 0 })
    })
  })

  it('a pull of a service gives tiles with the same id ids of their own with the next apply, and keeps the alert on the first of them', async () => {
    const [tile] = serviceOf(emulator()).dashboards[0]?.tiles ?? []
    const names = ['A', 'B', 'C']
    const tiles = names.map((name, i) => ({ ...tile, id: 'same', name, y: i * 6 })) as Dashboard['tiles']
    put([{ tiles }], [{ dashboardId: id('0'), tileId: 'same' }])
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const files = acceptingRewrites(afterPull({}, await site.pull({})))
      expect(await site.plan(files)).toMatchObject({ toUpdate: 1, toAdopt: 1, diagnostics: [] })
      expect(await site.apply(files)).toMatchObject({ objects: [{ outcome: 'updated' }, { outcome: 'adopted' }] })
      const { dashboards, alerts } = serviceOf(emulator())
      const stored = dashboards[0]?.tiles ?? []
      expect(stored.map((one) => one.name)).toEqual(names)
      expect(stored[0]?.id).toBe('same')
      expect(new Set(stored.map((one) => one.id)).size).toBe(3)
      expect(alerts).toMatchObject([{ tileId: 'same' }])
      expect(await site.plan(files)).toMatchObject({ ...emptyPlan, toAdopt: 0, diagnostics: [] })
    })
  })

  it('writes JSON when the globs ask for it', async () => {
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const globs = ['o/*.json']
      const pulled = await site.pull({}, globs)
      expect(pulled.writtenFiles.map(({ path }) => path)).toEqual([
        'o/alerts.json',
        'o/checkout-logs.json',
        'o/checkout-overview.json',
        'o/payments.json',
        'o/saved-searches.json',
      ])
      const files = afterPull({}, pulled)
      expect(await site.plan(files)).toMatchObject({ toCreate: 0, toUpdate: 0, toAdopt: 7, tracked: 3 })
      const [dashboard] = serviceOf(emulator()).dashboards
      if (dashboard !== undefined) dashboard.tags = ['new']
      const again = await site.pull(files, globs)
      expect(again).toMatchObject({ filesWritten: 1, updated: 1 })
      expect(differing(await site.plan(afterPull(files, again)))).toEqual([])
    })
  })

  it('a pull of a service needs a place for new files only when there are new objects', async () => {
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      await expect(site.pull({}, ['o/[ab]*.yml'])).rejects.toMatchObject({ kind: 'input' })
      const files = afterPull({}, await site.pull({}))
      expect(await site.pull(files, ['o/[ab]*.yml'])).toMatchObject({ changed: false, unchanged: 10 })
    })
  })
})

it('S8: leaves out an object whose file is a link, and writes the other files', async () => {
  const inputs = { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'pull', project, files: 'observability/*.yml' }
  const declare = (key: string, name: string) => `dashboards:\n  ${key}:\n    adopt: true\n    name: ${name}\n    tiles: []\n`
  const ran = await invokeText({
    inputs,
    files: { 'observability/logs.yml': declare('logs', 'Checkout logs'), 'shared/payments.yml': declare('payments', 'Payments') },
    links: { 'observability/payments.yml': '../shared/payments.yml' },
  })
  expect(ran.document.objects).toContainEqual(
    expect.objectContaining({
      key: 'payments',
      outcome: 'left-out',
      reason: 'the file is a link, which pull does not write; change the file that it leads to',
    }),
  )
  expect(ran.document.objects).toContainEqual(expect.objectContaining({ key: 'logs', outcome: 'updated' }))
  const written = ran.files.map((file) => file.path)
  expect(written).toContain('observability/logs.yml')
  expect(written).not.toContain('observability/payments.yml')
  expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
})

describe('a server without patches', () => {
  const old = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', hasMcp: false })

  it('stores a dashboard again to take it over, which pull leaves out where the server would refuse that, with the places', async () => {
    const store = serviceOf(old())
    const [dashboard] = store.dashboards
    const [tile] = dashboard?.tiles ?? []
    if (dashboard === undefined || tile === undefined) throw new Error('the shop has changed')
    const odd = { ...tile.config, numberFormat: { output: 'number', mantissa: 0.5 } }
    const put = (key: string, configs: Readonly<Record<string, object>>): Dashboard => ({
      ...{ ...dashboard, id: id(String(key.length)), name: key, tags: [marker(`${key}-before`, project)] },
      tiles: Object.entries(configs).map(([name, config], i) => ({
        ...tile,
        id: id('abcdef'[i] ?? ''),
        name,
        config,
      })) as Dashboard['tiles'],
    })
    store.dashboards = [
      put('odd', { A: odd, B: tile.config, C: odd, '': odd }),
      put('gone', { A: { ...tile.config, sourceId: id('9') } }),
      put('right', { A: tile.config }),
    ]
    ;[store.alerts, store.savedSearches] = [[], []]
    const files = ['odd', 'gone', 'right'].map((key) => `  ${key}: { name: ${key}, previousKey: ${key}-before, tiles: [] }`)
    files.push('  new: { name: new, tiles: [] }')
    await withSite(old(), 'hyperdx', async (site) => {
      const { objects } = await site.pull({ 'observability/a.yml': ['dashboards:', ...files].join('\n') })
      const advice = 'Correct it in the web app, then pull again'
      const places = [`tiles["A"]`, `tiles["C"]`, 'tiles.3'].map((place) => `${place}.config.numberFormat.mantissa`).join(', ')
      const refused = (why: string): string => `the server refuses to store this dashboard again: ${why}. ${advice}`
      expect(objects.map(({ key, outcome, reason }) => [key, outcome, reason])).toEqual([
        ['odd', 'left-out', refused(`Expected integer, received float (${places})`)],
        ['gone', 'left-out', refused(`Could not find the following source IDs: ${id('9')}`)],
        ['right', 'updated', undefined],
        ['new', 'missing', undefined],
      ])
      // Not about what pull has not taken over.
      expect(old().requests.filter(({ path }) => path.endsWith('/validate'))).toHaveLength(3)
    })
  })
})
