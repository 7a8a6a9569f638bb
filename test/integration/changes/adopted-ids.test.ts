// What `adopt` says after a pull, and what apply then overwrites.
import { describe, expect, it } from 'vitest'
import { renderMarkdown } from '../../../src/platform/report/markdown.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'

type Files = Readonly<Record<string, string>>

interface Planned {
  readonly kind: string
  readonly key: string
  readonly name: string
  readonly action?: string
  readonly outcome?: string
  readonly reason?: string
}

function notFound(what: string): never {
  throw new Error(`the demo has the ${what}`)
}

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('the ids in adopt, %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })

  const run = (operation: string, files: Files, inputs: Readonly<Record<string, string>> = {}, secrets: Files = {}): Promise<Invoked> =>
    invokeText({
      inputs: { ...inputsFor(emulator(), dialect), operation, project: 'shop', files: 'o/**/*.yml', ...inputs },
      env: secrets,
      files,
    })
  const withWritten = (files: Files, { files: written }: Invoked): Files => ({
    ...files,
    ...Object.fromEntries(written.filter(({ path }) => path.startsWith('o/')).map(({ path, content }) => [path, content])),
  })
  const pull = async (files: Files, inputs: Readonly<Record<string, string>> = {}): Promise<Files> =>
    withWritten(files, await run('pull', files, inputs))
  const objectOf = ({ document }: Invoked, name: string): Planned | undefined =>
    (document.objects as readonly Planned[]).find((one) => one.name === name)
  const replace = (files: Files, from: string, to: string): Files =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replaceAll(from, to)]))
  const alert = () => serviceOf(emulator()).alerts.find(({ name }) => name === 'Checkout errors') ?? notFound('alert')
  const dashboard = () => serviceOf(emulator()).dashboards.find(({ name }) => name === 'Checkout overview')
  const tile = () => dashboard()?.tiles.find(({ name }) => name === 'Error rate') ?? notFound('tile')
  const textOf = (files: Files): string => Object.values(files).join('\n')
  const entryOf = (files: Files): string => new RegExp(`${alert().id}@\\S+`).exec(textOf(files))?.[0] ?? ''

  it.each([{ select: 'kind=dashboard' }, { only: 'drifted' }])(
    'W21: stay those of the values in the file where only the name of a tile is pulled, with %o',
    { tags: 'slow' },
    async (inputs) => {
      const pulled = await pull({})
      const files = 'only' in inputs ? replace(pulled, 'More than 2% of checkouts fail', 'Edited in the file') : pulled
      tile().name = 'Err rate'
      alert().threshold = 0.07
      const again = await pull(files, inputs)
      expect(textOf(again)).toContain('Err rate')
      expect(objectOf(await run('plan', again), 'Checkout errors')).toMatchObject({ action: 'held' })
      await run('apply', again)
      expect(alert().threshold).toBe(0.07)
    },
  )

  it('W21: a person’s note of an object that was never managed is not taken for what is left of a marker', { tags: 'slow' }, async () => {
    const files = await pull({})
    alert().note = 'Runbook: call Kim'
    expect(objectOf(await run('plan', files), 'Checkout errors')).toMatchObject({ action: 'held' })
    await run('apply', files)
    await run('apply', files)
    expect(alert().note).toBe('Runbook: call Kim')
  })

  it('a silence is no change of the service', { tags: 'slow' }, async () => {
    const files = await pull({})
    alert().scheduleStartAt = '2031-01-01T00:00:00.000Z'
    const changed = replace(files, 'threshold: 0.02', 'threshold: 0.03')
    expect(objectOf(await run('plan', changed), 'Checkout errors')).toMatchObject({ action: 'update' })
  })

  it('stay where the file has an expression or an anchor', { tags: 'slow' }, async () => {
    const pulled = await pull({})
    const variable = replace(pulled, `adopt: ${entryOf(pulled)}`, `adopt: $\{{ env.ALERT_ID }}`)
    const environment = { 'environments/staging.yml': `variables: { ALERT_ID: '${alert().id}' }\n` }
    expect(await pull({ ...variable, ...environment }, { env: 'staging', only: 'declared' })).toMatchObject(variable)
    const anchored = replace(pulled, `adopt: ${entryOf(pulled)}`, 'adopt: true')
    const shared = replace(anchored, 'checkout-errors:\n', 'checkout-errors: &shared\n')
    const again = await run('pull', shared, { only: 'declared' })
    expect([withWritten(shared, again), objectOf(again, 'Checkout errors')?.outcome]).toEqual([shared, 'unchanged'])
  })

  it('a declaration that could be one of several objects stays, also where others are removed', async () => {
    const { alerts } = serviceOf(emulator())
    alerts.push({ ...structuredClone(alert()), id: '65f5e4a35eedc0de000000ff', threshold: 0.3 })
    const files = {
      'o/a.yml': `alerts:
  errors:
    name: Checkout errors
    dashboard: { name: Checkout overview }
    tile: Error rate
    threshold: 0.5
    interval: 5m
    channel: { type: webhook, webhook: oncall }
`,
    }
    const pulled = await run('pull', files, { only: 'drifted-or-deleted' })
    expect(pulled.files.filter(({ path }) => path.startsWith('o/'))).toEqual([])
    const found = (pulled.document.objects as readonly Planned[]).find(({ key }) => key === 'errors')
    expect(found).toMatchObject({ outcome: 'left-out', reason: expect.stringContaining('could be one of the unmanaged') })
  })

  it('say which of two dashboards with one marker is meant, and the copy stays as it is', { tags: 'slow' }, async () => {
    const files = await pull({})
    const marked = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replace(/(@2\.\w+)\.\w+/g, '$1.files')]))
    await run('apply', marked)
    const copy = { ...structuredClone(dashboard() ?? notFound('dashboard')), id: '65f5e4a35eedc0de000000fe', name: 'Copy' }
    serviceOf(emulator()).dashboards.unshift(copy)
    const planned = await run('plan', marked)
    expect(planned.document.diagnostics).toContainEqual(
      expect.objectContaining({ rule: 'duplicate-marker', severity: 'note', message: expect.stringContaining(`${copy.id} has`) }),
    )
    expect([planned.document.status, planned.document.changed]).not.toContain('error')
    expect(objectOf(planned, 'Checkout overview')).toMatchObject({ action: 'unchanged', id: dashboard()?.id })
  })

  it('warn that a dashboard which is gone is created without what the API does not return', async () => {
    const files = await pull({})
    const { id } = dashboard() ?? notFound('dashboard')
    const { alerts, dashboards } = serviceOf(emulator())
    Object.assign(serviceOf(emulator()), {
      dashboards: dashboards.filter((one) => one.id !== id),
      alerts: alerts.filter(({ dashboardId }) => dashboardId !== id),
    })
    const { document } = await run('plan', files)
    expect(document.diagnostics).toContainEqual(
      expect.objectContaining({ rule: 'recreated', severity: 'warning', message: expect.stringContaining(id) }),
    )
  })

  it('a report says that an object without a marker changed since pull, and what to do about a held one in sentences', async () => {
    const files = replace(await pull({}), 'name: Errors in checkout', 'name: Errors of checkout')
    alert().threshold = 0.07
    const textFrom = async (operation: string) => renderMarkdown((await run(operation, files)).blocks)
    const drift = await textFrom('drift')
    expect(drift).toContain('Changed in the files since pull. Review the plan, then apply')
    expect(drift).toMatch(
      /: changed in the service since pull \(threshold\)\. To keep the values of the file, set adopt to .*; to take those of the service, /,
    )
    expect(drift).toContain('| alert `checkout-errors` | Held, for the reason above |')
    expect(drift.match(/changed in the service since pull \(threshold\)/g)).toHaveLength(1)
    expect(await textFrom('plan')).toContain('# changed in the files since pull')
  })

  it('an object of another project is only an error, and not one to create', async () => {
    const files = await pull({})
    await run('apply', files, { project: 'other' })
    const { document } = await run('plan', files)
    const rules = (document.diagnostics as readonly { readonly rule: string }[]).map(({ rule }) => rule)
    expect(rules).toContain('held')
    expect(rules).not.toContain('recreated')
    expect(document.toCreate).toBe(0)
  })

  it('alerts on tiles with one id have the names of the tiles of their dashboards', async () => {
    const { id } = tile()
    const other = serviceOf(emulator()).dashboards.find((one) => one !== dashboard()) ?? notFound('dashboard')
    Object.assign(other.tiles[0] ?? {}, { id })
    const files = await pull({})
    const created = replace(files, `adopt: ${entryOf(files)}`, 'adopt: gone')
    alert().name = 'Renamed'
    const planned = await run('plan', created)
    const summaries = (planned.document.objects as readonly { readonly name: string; readonly summary?: string }[]).filter(
      ({ name }) => name === 'Checkout errors',
    )
    expect(summaries).toMatchObject([{ summary: expect.stringContaining('Error rate on Checkout overview') }])
  })

  // ClickHouse Cloud has no webhooks in files.
  if (dialect === 'hyperdx')
    it('W21: a digest does not say that the secret of a webhook is what it was', async () => {
      const [webhook = notFound('webhook')] = serviceOf(emulator()).webhooks.filter(({ name }) => name === 'oncall')
      const fields = 'service: slack, adopt: true, urlFrom: WEBHOOK_ONCALL_URL, description: On-call channel of the checkout team'
      const file = { 'o/a.yml': `webhooks:\n  oncall: { name: oncall, ${fields} }\n` }
      const secrets = { WEBHOOK_ONCALL_URL: webhook.url ?? '' }
      const pulled = withWritten(file, await run('pull', file, { only: 'declared' }, secrets))
      expect(textOf(pulled)).toContain(`adopt: ${webhook.id}@`)
      webhook.url = 'https://hooks.slack.com/services/T0DEMO000/B0DEMO000/new-url-of-a-person'
      expect(objectOf(await run('plan', pulled, {}, secrets), 'oncall')).toMatchObject({ action: 'held' })
    })
})
