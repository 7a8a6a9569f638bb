// A person can copy the URL of a webhook into the text of any object. What a run shows hides it, although no variable has it.
import { expect, it } from 'vitest'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { useGitHub } from '../../support/github-server.ts'
import { runGitHubStep } from '../../support/notify.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { expectNoSecret } from '../../support/secret-scanner.ts'
import { errors, shop, tile } from '../../support/shop-declaration.ts'

const github = useGitHub()
const servers = {
  hyperdx: useEmulator({ dialect: 'hyperdx', rateLimit: 'off' }),
  'clickhouse-cloud': useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } }),
}

const path = '/services/T1/B1/dup2SECRET888'
const url = `https://hooks.slack.com${path}`
const markdown = { displayType: 'markdown', markdown: 'Call Ada' }
const declared = {
  dashboards: { shop: { ...shop, tiles: [...shop.tiles, tile('Notes', 8, markdown)] } },
  alerts: { errors: { ...errors, message: 'Look' } },
}
const files = { 'a.json': JSON.stringify(declared) }
const common = { files: 'a.json', project: 'shop/observability' }

for (const [dialect, emulator] of Object.entries(servers)) {
  const copied = ` go ${url} x, hooks.slack.com/services`
  const inputs = () => ({ ...inputsFor(emulator(), dialect as keyof typeof servers), ...common, 'max-attempts': '1' })
  const step = (operation: string, more: Readonly<Record<string, string>> = {}, written: Readonly<Record<string, string>> = {}) =>
    runAsAction({ inputs: { ...inputs(), operation, ...more }, files: { ...files, ...written }, secrets: [path] })
  const stored = () => {
    const { alerts, dashboards, webhooks } = serviceOf(emulator())
    const alert = alerts.find(({ name }) => name === 'Errors')
    const dashboard = dashboards.find(({ name }) => name.startsWith('Shop') && name !== 'Shop overview')
    const [webhook] = webhooks
    if (alert === undefined || dashboard === undefined || webhook === undefined) throw new Error('apply made them')
    return { alert, dashboard, webhook }
  }
  const copy = (text: string): void => {
    const { alert, dashboard } = stored()
    alert.message = `${alert.message}${text}`
    alert.note = `${alert.note}${text}`
    dashboard.name += text
    for (const { config } of dashboard.tiles) if ('markdown' in config) config.markdown = `${config.markdown}${text}`
  }

  it(`S1: shows no URL of a webhook that somebody copied into an object, and its host, in plan, drift, apply and pull (${dialect})`, {
    tags: 'slow',
  }, async () => {
    expect((await step('apply')).exitCode).toBe(0)
    Object.assign(stored().webhook, { service: 'slack', url })
    copy(copied)
    const reports = 'markdown=a.md\nhtml=a.html\nsarif=a.sarif'
    const planned = await step('plan', { reports, 'plan-file': 'p.json' })
    const shown = 'go hooks.slack.com*** x, hooks.slack.com/services'
    const { summary, stdout, written, result } = planned
    for (const text of [summary, stdout, written['a.md'], JSON.stringify(result)]) expect(text?.split(shown).length).toBeGreaterThan(4)
    expect(written['a.html']).toContain('hooks&#46;slack&#46;com&#42;&#42;&#42;')
    const commented = await runGitHubStep(github(), {
      inputs: { ...inputs(), operation: 'drift', comment: 'always' },
      files,
      secrets: [path],
    })
    expect(commented.summary).toContain(shown)
    const sent = JSON.stringify(github().received.map(({ body }) => body))
    expect(sent).toContain(shown)
    expectNoSecret(sent, [path])
    expect(JSON.stringify((await step('pull')).result)).toContain('it has the URL of a webhook, which is a secret')
    // The plan file has the digests of what is stored, so it still applies.
    const applied = await step('apply', { 'plan-file': 'p.json' }, { 'p.json': planned.written['p.json'] ?? '' })
    expect([applied.exitCode, applied.outputs.get('changed')]).toEqual([0, 'true'])
    expect(stored().dashboard.name).toBe('Shop')
  })

  it(`hides no host, no short path, and no word of a path, and shows that a hidden text changed (${dialect})`, async () => {
    const other = `https://hooks.slack.com${path.replace('dup', 'new')}`
    const linked = JSON.stringify({ ...declared, alerts: { errors: { ...declared.alerts.errors, message: `Look ${other}` } } })
    const { webhooks } = serviceOf(emulator())
    const [first] = webhooks
    if (first === undefined) throw new Error('the demo has a webhook')
    const urls = [url, other, 'http://relay.internal.example:8080/hooks/0123456789abcdef#top', 'https://relay.example/alerts']
    webhooks.push(...urls.map((one, i) => ({ ...first, id: `65f5e4a35eedc0de00000f0${i}`, name: `Copy ${i}`, url: one })))
    expect((await step('apply', {}, { 'a.json': linked })).exitCode).toBe(0)
    const { alert } = stored()
    const words = 'http://relay.internal.example:8080/health, https://relay.example/alerts, hooks, services'
    alert.message = alert.message?.replace(other, url) ?? ''
    alert.note = `${alert.note} ${words} ${urls[2]}`
    const ran = await step('plan', {}, { 'a.json': linked })
    expect(ran.summary.replaceAll(/\n- +/g, ' ')).toContain(`${words} relay.internal.example:8080***`)
    expect(ran.summary).toContain('Look hooks.slack.com*** → Look hooks.slack.com***')
    expect(ran.summary).not.toContain('0123456789abcdef')
  })

  it(`hides no path, id or word that is in the URL of a webhook, too, and the user of a URL (${dialect})`, async () => {
    expect((await step('apply')).exitCode).toBe(0)
    const { alert, dashboard } = stored()
    const { webhooks } = serviceOf(emulator())
    const [first] = webhooks
    if (first === undefined) throw new Error('the demo has a webhook')
    const paths = ['observability-alerts', `hooks/${dashboard.id}`, 'notify/CheckoutErrorsTeam', 'repos/shop/Observability/dispatches']
    const urls = [...paths.map((one) => `https://relay.example/${one}`), 'https://bob:pa55@hooks.internal.example/x']
    webhooks.push(...urls.map((one, i) => ({ ...first, id: `65f5e4a35eedc0de00000e0${i}`, name: `Path ${i}`, url: one })))
    const words = `config/observability-alerts/all.json CheckoutErrorsTeam github.com/shop/Observability hooks.internal.example/page`
    alert.message = `${words} https://bob:pa55@hooks.internal.example/x`
    dashboard.name = 'Moved'
    const ran = await step('plan')
    expect(ran.summary.replaceAll(/\n- +/g, ' ')).toContain(`${words} hooks.internal.example***`)
    expect(JSON.stringify(ran.result)).toContain(dashboard.id)
    expect(ran.summary).not.toContain('pa55')
  })

  it(`a plan file applies, although the URL of a webhook has an id that is in it (${dialect})`, async () => {
    expect((await step('apply')).exitCode).toBe(0)
    const { alert, webhook } = stored()
    Object.assign(webhook, { service: 'generic', url: `https://relay.example/${alert.id}` })
    alert.threshold = 9
    const planned = await step('plan', { 'plan-file': 'p.json' })
    expect(planned.written['p.json']).toContain(alert.id)
    const applied = await step('apply', { 'plan-file': 'p.json' }, { 'p.json': planned.written['p.json'] ?? '' })
    expect([applied.exitCode, stored().alert.threshold]).toEqual([0, 1])
  })
}
