// What a pull of drift never writes: it runs on a schedule, and its files go into a pull request.
import { beforeEach, describe, expect, it } from 'vitest'
import type { Alert, Dashboard, Emulator, Webhook } from '../../../src/emulator/index.ts'
import { passed, written } from '../../support/declarations.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const path = 'observability/shop.yml'

const text = written(`defaults:
  alerts:
    channel: { type: webhook, webhook: pager }
    numConsecutiveWindows: ‹env.WINDOWS›
webhooks:
  pager:
    name: pager
    service: generic
    urlFrom: WEBHOOK_PAGER_URL
    headersFrom: { Authorization: WEBHOOK_PAGER_TOKEN }
    queryParamsFrom: { key: WEBHOOK_PAGER_KEY }
    description: The team
dashboards:
  overview:
    name: Overview
    tags: ['‹env.STAGE›', shop]
    tiles:
      - { name: Errors, x: 0, y: 0, w: 12, h: 6, config: { displayType: line, sourceId: { source: Logs }, select: [{ aggFn: count }] } }
alerts:
  errors:
    name: Errors (‹env.STAGE›)
    dashboard: overview
    tile: Errors
    threshold: ‹env.LIMIT›
    interval: 5m
    message: More than ‹env.LIMIT› errors
    note: Look at the logs.
  many:
    name: Many errors
    dashboard: overview
    tile: Errors
    threshold: 100
    interval: 5m
    note: Call the team.
`)

const secrets = {
  WEBHOOK_PAGER_URL: 'https://hooks.example.com/pager/secret-in-the-url',
  WEBHOOK_PAGER_TOKEN: 'Bearer secret-in-the-header',
  WEBHOOK_PAGER_KEY: 'secret-in-the-query',
}

/** A file without the bases of `adopt`, which a pull writes for each object that it changes. */
const withoutBases = (content = ''): string => content.replaceAll(/^ +adopt: \S+@2\.\S+\n/gm, '')

describe('a pull of drift', () => {
  const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

  const run = (
    operation: string,
    inputs: Readonly<Record<string, string>> = {},
    env: Readonly<Record<string, string>> = {},
    content = text,
  ) =>
    invokeText({
      inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, project: 'shop', files: path, ...inputs },
      env: { ...passed({ STAGE: 'staging', LIMIT: '50', WINDOWS: '2' }), ...env },
      files: { [path]: content },
    })

  /** The text of the file after the pull, and why objects were left out. */
  async function pullDrift(env?: Readonly<Record<string, string>>) {
    const { document, files } = await run('pull', { only: 'drifted' }, env)
    return { document, reason: document.failureReason, text: withoutBases(files[0]?.content ?? text) }
  }

  function find<T extends Alert | Dashboard | Webhook>(all: readonly T[], name: string): T {
    const found = all.find((one) => one.name === name)
    if (found === undefined) throw new Error(`the service has no ${name}`)
    return found
  }
  const alert = (name = 'Errors (staging)'): Alert => find(serviceOf(emulator()).alerts, name)
  const dashboard = (): Dashboard => find(serviceOf(emulator()).dashboards, 'Overview')
  const webhook = (): Webhook => find(serviceOf(emulator()).webhooks, 'pager')

  const set = <T extends Alert | Dashboard>(one: T, fields: Partial<T>): void => void Object.assign(one, fields)

  /** A change that belongs in the file, so that a pull has something to write. */
  const raise = (): void => set(alert('Many errors'), { threshold: 200 })
  const raised = text.replace('threshold: 100', 'threshold: 200')

  // Applied once, because the digests of its secrets take time on purpose.
  let applied: Emulator['store'] | undefined
  const restore = (): void => void Object.assign(emulator().store, structuredClone(applied))
  beforeEach(async () => {
    if (applied !== undefined) return restore()
    const { document } = await run('apply', {}, secrets)
    if (document.status !== 'pass') throw new Error(document.failureReason)
    applied = structuredClone(emulator().store)
  })

  const changes: readonly [string, () => void, string][] = [
    ['a field of an alert', () => set(alert(), { threshold: 60 }), 'env.LIMIT'],
    ['a part of a text', () => set(alert(), { message: 'More than 60 errors' }), 'env.LIMIT'],
    ['the defaults of the file', () => set(alert(), { numConsecutiveWindows: 5 }), 'env.WINDOWS'],
    ['a list', () => set(dashboard(), { tags: dashboard().tags.filter((tag) => tag !== 'staging') }), 'env.STAGE'],
  ]

  it('F4: a pull of drift writes no value over an expression, and names the variable', { tags: 'slow' }, async () => {
    for (const [what, change, variable] of changes) {
      restore()
      raise()
      change()
      const pulled = await pullDrift()
      expect(pulled.text, what).toBe(raised)
      expect(pulled.document, what).toMatchObject({ status: 'warn', updated: 1, leftOut: 1 })
      expect(JSON.stringify(pulled.document.objects)).toMatch(new RegExp(`another value than [^"]*${variable}[^"]*; change the variable`))
    }
  })

  it('a pull of drift has the text of a pull request as its report in Markdown, also where it removes declarations', async () => {
    raise()
    const { alerts } = serviceOf(emulator())
    alerts.splice(alerts.indexOf(alert()), 1)
    for (const only of ['drifted', 'drifted-or-deleted']) {
      const { document, files } = await run('pull', { only, reports: 'markdown=drift.md' })
      expect(document, only).toMatchObject({ updated: 1, removed: only === 'drifted' ? 0 : 1 })
      const report = files.find((one) => one.path === 'drift.md')?.content ?? ''
      expect(report, only).toContain('To revert them, run apply on the default branch')
    }
  })

  it('a pull of drift finds the next change of an object, too, once the file of the last one was applied', async () => {
    raise()
    const { document } = await run('apply', {}, secrets, raised)
    expect(document).toMatchObject({ status: 'pass', toUpdate: 0, toMark: 1 })
    set(alert('Many errors'), { threshold: 300 })
    const { files } = await run('pull', { only: 'drifted' }, {}, raised)
    expect(withoutBases(files[0]?.content)).toBe(text.replace('threshold: 100', 'threshold: 300'))
    expect((await run('apply', {}, secrets, raised)).document).toMatchObject({ toUpdate: 1, toMark: 0 })
    expect((await run('apply', {}, secrets, raised)).document).toMatchObject({ unchanged: 4, toMark: 0 })
  })

  it('a pull of drift finds the next change of a dashboard, too, whose marker no apply renews', async () => {
    let content = text
    for (const h of [7, 8]) {
      set(dashboard(), { tiles: dashboard().tiles.map((tile) => ({ ...tile, h })) })
      const { document, files } = await run('pull', { only: 'drifted' }, {}, content)
      expect(document, `height ${h}`).toMatchObject({ updated: 1, leftOut: 0 })
      content = files[0]?.content ?? ''
      expect((await run('apply', {}, secrets, content)).document).toMatchObject({ status: 'pass', unchanged: 4, toMark: 0 })
    }
  })

  it('a pull with only: declared keeps a change of the service, and adds no object of others', async () => {
    raise()
    expect((await run('pull', { only: 'declared' })).document).toMatchObject({ updated: 1, added: 0 })
    expect((await run('pull')).document.added).toBeGreaterThan(0)
  })

  it('a pull keeps the byte order mark of a file', async () => {
    raise()
    expect(withoutBases((await run('pull', { only: 'drifted' }, {}, `\ufeff${text}`)).files[0]?.content)).toBe(`\ufeff${raised}`)
  })

  it('a pull without a match names the condition that no object meets, and a near value', async () => {
    const unmetOf = async (...select: readonly string[]) => {
      const { document } = await run('pull', { select: select.join('\n') })
      expect(document).toMatchObject({ status: 'pass', objects: [] })
      return document.unmet
    }
    expect(await unmetOf('kind=dashboard', 'name=exotic')).toBe('name=exotic')
    expect(await unmetOf('tag=chekout')).toBe('tag=chekout; did you mean "checkout"?')
    expect(await unmetOf('tag=checkout', 'kind=webhook')).toBe('tag=checkout, kind=webhook')
  })

  it('a pull of drift keeps the expressions next to what it writes', async () => {
    dashboard().tags = [...dashboard().tags, 'payments']
    expect((await pullDrift()).text).toBe(text.replace('shop]', 'shop, payments]'))
  })

  it('F4: a pull of drift writes no silence, also for an alert with another change', async () => {
    raise()
    const end = new Date(Math.ceil(Date.now() / 900_000) * 900_000 + 86_400_000).toISOString()
    for (const one of serviceOf(emulator()).alerts) one.scheduleStartAt = end
    expect((await pullDrift()).text).toBe(raised)
  })

  it('F4: a pull of drift writes nothing for parts of a tile that the API hides', async () => {
    const [tile] = dashboard().tiles
    if (tile === undefined) throw new Error('the dashboard has no tile')
    Object.assign(tile.config, { granularity: '5 minute', alternateRowBackground: true })
    const promql = { configType: 'promql', displayType: 'line', promqlExpression: 'up' }
    dashboard().tiles.push({ ...tile, id: 'hidden', name: 'Hidden', y: 6, config: promql })
    expect((await pullDrift()).text).toBe(text)
    dashboard().name = 'Overview'
    dashboard().tags = [...dashboard().tags, 'payments']
    expect((await pullDrift()).text).toBe(text.replace('shop]', 'shop, payments]'))
  })

  it('F4: a pull of drift writes no URL, header or parameter of a webhook, with the secrets of the file or without', async () => {
    Object.assign(webhook(), { headers: { Authorization: 'Bearer secret-of-another-run' }, queryParams: { key: 'secret-of-another-run' } })
    webhook().url = 'https://hooks.example.com/pager/moved'
    webhook().description = String(webhook().description).replace('The team', 'Another team')
    for (const env of [secrets, {}]) {
      const pulled = await pullDrift(env)
      // A changed secret is no reason to write the rest: the run that knows it has to decide.
      expect(pulled.text).toBe('WEBHOOK_PAGER_URL' in env ? text : text.replace('The team', 'Another team'))
      expect(JSON.stringify(pulled.document)).not.toMatch(/pager\/moved|secret-of-another-run/)
    }
  })

  const texts: readonly [string, string, string][] = [
    ['the URL of a webhook of the service', secrets.WEBHOOK_PAGER_URL, 'it has the URL of a webhook, which is a secret'],
    ['a token', 'Bearer abcdefghijklmnop', 'it seems to have an Authorization header'],
    ['a password', 'Log in with password=hunter22', 'it seems to have a text with a password or key'],
  ]

  it('F4: a pull of drift leaves out an object whose text has a secret', async () => {
    raise()
    const note = String(alert().note)
    for (const [what, secret, reason] of texts) {
      alert().note = note.replace('Look at the logs.', secret)
      const pulled = await pullDrift()
      expect(pulled.text, what).toBe(raised)
      expect(JSON.stringify(pulled.document.objects), what).toContain(`${reason}; remove it from the service`)
    }
  })

  it('a pull of drift writes no file that would have a secret of the run', async () => {
    alert().note = String(alert().note).replace('Look at the logs.', `Token ${secrets.WEBHOOK_PAGER_KEY}`)
    const pulled = await pullDrift(secrets)
    expect(pulled).toMatchObject({ text, reason: expect.stringContaining('would contain a secret of this run') })
    expect(pulled.document.status).toBe('error')
  })
})
