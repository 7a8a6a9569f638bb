import { describe, expect, it } from 'vitest'
import { renderMarkdown } from '../../../src/platform/report/markdown.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const file = `dashboards:
  shop: { name: Shop, tags: [shop], tiles: [{ name: A, config: { displayType: line, source: Logs, select: [{ aggFn: count }] } }] }
savedSearches:
  a-key-of-more-than-15-letters: { name: Failed logins, source: Logs, select: Body, tags: [shop] }
alerts:
  failures: { name: Failures, savedSearch: a-key-of-more-than-15-letters, threshold: 1, interval: 5m, note: n, channel: { type: webhook, webhook: oncall } }
webhooks:
  pager: { name: Pager, service: generic, urlFrom: WEBHOOK_PAGER }
`

const files = { 'observability/a.yml': file }

const run = (operation: string, inputs: Readonly<Record<string, string>> = {}, more: Readonly<Record<string, string>> = {}) =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, ...inputs },
    files: { ...files, ...more },
    env: { WEBHOOK_PAGER: 'https://pager.example/hook-0123456789' },
  })

const applied = () => run('apply', { project: 'shop/infra' })

const textOf = (blocks: unknown): string => JSON.stringify(blocks)

describe('a list', () => {
  it('W12: shows the owner of managed objects, and no markers', async () => {
    await applied()
    const [dashboards, searches, alerts] = await Promise.all(
      ['list-dashboards', 'list-saved-searches', 'list-alerts'].map((name) => run(name)),
    )
    for (const { blocks = [] } of [dashboards, searches, alerts].filter((one) => one !== undefined)) {
      expect(textOf(blocks)).toContain('"Owner"')
      expect(textOf(blocks)).not.toMatch(/wk:|watchkeeper: shop/)
    }
    expect(Object.values(alerts?.document.owners ?? {})).toEqual([{ project: 'shop/infra', key: 'failures' }])
    expect(Object.values(dashboards?.document.owners ?? {})).toEqual([{ project: 'shop/infra', key: 'shop' }])
    expect(Object.values(searches?.document.owners ?? {})).toEqual([
      { project: 'shop/infra', key: expect.stringMatching(/^#[0-9a-f]{10}$/) },
    ])
    // A tag has a hash of the project, and its name is in an alert.
    emulator().addFault({ match: { path: '/alerts' }, effect: { kind: 'status', status: 403 } })
    const { document } = await run('list-dashboards')
    expect([document.status, Object.values(document.owners ?? {})]).toEqual([
      'pass',
      [{ project: expect.stringMatching(/^[0-9a-f]{6}$/), key: 'shop' }],
    ])
  })

  it.each(['list-dashboards', 'list-saved-searches', 'list-alerts', 'list-webhooks'])(
    '%s can be filtered by managed, unmanaged and project',
    async (operation) => {
      const { document: before } = await run(operation)
      await applied()
      const countOf = async (inputs: Readonly<Record<string, string>>) => (await run(operation, inputs)).document.count
      expect(await countOf({})).toBe(Number(before.count) + 1)
      expect(await countOf({ select: 'managed' })).toBe(1)
      expect(await countOf({ select: 'unmanaged' })).toBe(before.count)
      expect(await countOf({ select: 'project=shop/infra' })).toBe(1)
      expect(await countOf({ select: 'project=shop/other' })).toBe(0)
      const { document, blocks } = await run(operation, { select: 'project=shop/infra' })
      expect([document.unmet, renderMarkdown(blocks)]).toEqual(['', expect.not.stringContaining('(empty)')])
      const none = await run(operation, { select: 'project=shop/infra\nkey=none' })
      expect([none.document.unmet, textOf(none.blocks)]).toEqual(['key=none', expect.stringContaining('key=none')])
      expect(Object.values(document.owners as object)).toMatchObject([{ project: 'shop/infra' }])
    },
  )

  it('shows until when an alert is silenced', async () => {
    await applied()
    const silenced = serviceOf(emulator()).alerts.find(({ name }) => name === 'Failures')
    expect(textOf((await run('list-alerts')).blocks)).not.toContain('Silenced until')
    Object.assign(silenced ?? {}, { scheduleStartAt: new Date(Date.now() + 3_600_000).toISOString() })
    const { document, blocks } = await run('list-alerts')
    expect(document.silencedUntil).toEqual({ [silenced?.id ?? '']: silenced?.scheduleStartAt })
    expect(textOf(blocks)).toContain('Silenced until')
  })
})

it.each(['plan', 'drift'])('%s counts the unmanaged objects of the service', async (operation) => {
  await applied()
  const { dashboards, savedSearches, alerts, webhooks } = serviceOf(emulator())
  const { document } = await run(operation, { project: 'shop/infra' })
  expect(document).toMatchObject({
    status: 'pass',
    unmanaged: dashboards.length + savedSearches.length + alerts.length + webhooks.length - 4,
  })
})

describe('pull', () => {
  const pulled = async (inputs: Readonly<Record<string, string>>) => {
    const { document, blocks } = await invokeText({
      inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'pull', project: 'mine', ...inputs },
    })
    const objects = document.objects as readonly {
      readonly kind: string
      readonly name: string
      readonly key: string
      readonly outcome: string
    }[]
    return { document, blocks, added: objects.filter(({ outcome }) => outcome === 'added') }
  }

  it('W12: leaves out objects of other owners, with their number', async () => {
    await applied()
    const { document, blocks, added } = await pulled({})
    expect(document).toMatchObject({ otherOwners: 3 })
    const shown = JSON.stringify(blocks)
    expect(shown).toContain('Of other projects')
    for (const { name, outcome } of document.objects as readonly { readonly name: string; readonly outcome: string }[])
      if (outcome === 'other-project') expect(shown).not.toContain(JSON.stringify(name))
    expect(added.map(({ name }) => name)).not.toContain('Shop')
  })

  it('takes only objects of a name, a tag, a kind or a key', async () => {
    const all = (await pulled({})).added
    const [first] = all.filter(({ kind }) => kind === 'dashboard')
    expect((await pulled({ select: `name~${first?.name.toUpperCase()}` })).added.map(({ name }) => name)).toEqual(
      all.map(({ name }) => name).filter((name) => name.toLowerCase().includes(first?.name.toLowerCase() ?? '')),
    )
    expect((await pulled({ select: `key=${first?.key}` })).added.every(({ key }) => key === first?.key)).toBe(true)
    const alerts = (await pulled({ select: 'kind=alert' })).added
    expect([alerts.length, alerts.every(({ kind }) => kind === 'alert')]).toEqual([all.filter(({ kind }) => kind === 'alert').length, true])
    const [tag] = serviceOf(emulator()).dashboards.flatMap(({ tags }) => tags)
    const tagged = (await pulled({ select: `tag=${tag}` })).added
    expect([tagged.length > 0, tagged.length < all.length]).toEqual([true, true])
  })

  it('does not touch declarations that the filter leaves out', async () => {
    await applied()
    for (const alert of serviceOf(emulator()).alerts) if (alert.name === 'Failures') alert.threshold = 99
    const inputs = { project: 'shop/infra', only: 'declared' }
    expect((await run('pull', { ...inputs, select: 'kind=dashboard' })).document).toMatchObject({ updated: 0, changed: false })
    expect((await run('pull', { ...inputs, select: 'key=failures' })).document).toMatchObject({ updated: 1, changed: true })
  })
})
