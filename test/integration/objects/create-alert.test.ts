import { describe, expect, it } from 'vitest'
import { ids, inputsFor, methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })
const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const channel = { type: 'webhook', webhookId: ids.webhook }

const alertNamed = (name: string, more: object = {}): string =>
  JSON.stringify({ name, dashboard: ids.dashboard, tile: ids.tile, threshold: 5, interval: '1h', channel, ...more })

const fields = { alert: alertNamed('Checkout errors') }

const create = (inputs: Readonly<Record<string, string>>, more: Omit<InvokeOptions, 'inputs'> = {}) =>
  invokeText({ inputs: { ...inputsFor(emulator()), operation: 'create-alert', ...inputs }, ...more })

const alerts = () => emulator().store.organizations[0]?.services[0]?.alerts ?? []

describe('create-alert', () => {
  it('creates without looking, even when there is one of that name', async () => {
    const ran = await create(fields)
    expect(ran.document).toMatchObject({ status: 'pass', changed: true, outcome: 'created' })
    expect(methodsOf(emulator())).toEqual(['POST'])
  })

  it.each([
    [
      'YAML',
      `name: Rate\ndashboard: ${ids.dashboard}\ntile: ${ids.tile}\nthreshold: 0.1\ninterval: 1h\nthresholdType: below\nchannel: { type: webhook, webhook: ${ids.webhook} }`,
    ],
    ['JSON', alertNamed('Rate', { threshold: 0.1, thresholdType: 'below' })],
  ])('takes %s', async (_, alert) => {
    const ran = await create({ alert })
    expect(ran.document.status).toBe('pass')
    expect(alerts().at(-1)).toMatchObject({ threshold: 0.1, thresholdType: 'below', interval: '1h' })
    expect(methodsOf(emulator())).toEqual(['POST'])
  })

  it('takes a file of the workspace', async () => {
    const text = `name: Seven\ndashboard: ${ids.dashboard}\ntile: ${ids.tile}\nthreshold: 7\ninterval: 5m\nchannel: { type: webhook, webhookId: ${ids.webhook} }\n`
    const ran = await create({ alert: 'alert.yml' }, { files: { 'alert.yml': text } })
    expect(ran.document.status).toBe('pass')
    expect(alerts().at(-1)).toMatchObject({ threshold: 7, thresholdType: 'above' })
  })

  it('finds the dashboard, the tile and the webhook by their names, too', async () => {
    const server = serviceOf(cloud())
    const [dashboard, webhook] = [server.dashboards[0], server.webhooks[0]]
    const names = { dashboard: dashboard?.name, tile: dashboard?.tiles[0]?.name, channel: { type: 'webhook', webhook: webhook?.name } }
    const inputs = { ...inputsFor(cloud(), 'clickhouse-cloud'), operation: 'create-alert', alert: alertNamed('By name', names) }
    expect((await invokeText({ inputs })).document).toMatchObject({ status: 'pass', outcome: 'created' })
    expect(server.alerts.at(-1)).toMatchObject({ dashboardId: dashboard?.id, tileId: dashboard?.tiles[0]?.id })
    const missing = { ...inputs, alert: alertNamed('By name', { ...names, dashboard: 'Chekout' }) }
    expect((await invokeText({ inputs: missing })).reason).toContain('"Chekout" is not the id or the only name of an object of the service')
  })

  it('R7: names the file and the line where a field is missing', async () => {
    const missing = await create({ alert: 'alerts/one.yml' }, { files: { 'alerts/one.yml': '\nname: x\nthreshold: 7\ninterval: 5m\n' } })
    expect(missing.reason).toContain('alerts/one.yml:2:1: dashboard: is missing')
  })

  it.each<[string, Record<string, string>, RegExp]>([
    ['nothing', {}, /alert: is missing/],
    ['a text that is neither', { alert: 'Checkout errors' }, /alert/],
    ['a document that lacks something', { alert: 'threshold: 1' }, /alert:1:1: interval: is missing/],
    ['an unknown field', { alert: 'treshold: 1' }, /alert:1:\d+: "treshold" is an unknown field; did you mean "threshold"\?/],
    ['an unknown value', { alert: 'interval: 2h' }, /alert:1:11: interval: "2h" is not accepted; accepted: 1m/],
    ['broken YAML', { alert: 'a: [1, 2' }, /alert:\d+:\d+: /],
    [
      'a file outside the workspace',
      { alert: '../../etc/passwd.yml' },
      /alert: "\.\.\/\.\.\/etc\/passwd\.yml" (?:is outside of the workspace|does not exist)/,
    ],
    ['a range without its end', { alert: alertNamed('Range', { thresholdType: 'between' }) }, /thresholdMax: is missing/],
  ])('refuses %s before any request', async (_, inputs, reason) => {
    const ran = await create(inputs)
    expect(ran.exitCode).toBe(2)
    expect(ran.reason).toMatch(reason)
    expect(emulator().requests).toHaveLength(0)
  })
})

describe('if-exists', () => {
  const existing = () => alerts().find(({ name }) => name === 'Checkout errors')

  it('if-exists: skip leaves the one that is there', async () => {
    const ran = await create({ ...fields, 'if-exists': 'skip' })
    expect(ran.document).toMatchObject({ changed: false, outcome: 'skipped', id: existing()?.id })
    expect(methodsOf(emulator())).toEqual(['GET'])
  })

  it('if-exists: update changes the one that is there, and a second time nothing', async () => {
    expect((await create({ ...fields, 'if-exists': 'update' })).document).toMatchObject({ changed: true, outcome: 'updated' })
    expect(existing()).toMatchObject({ threshold: 5, message: 'More than 2% of checkouts fail' })
    expect((await create({ ...fields, 'if-exists': 'update' })).document).toMatchObject({ changed: false, outcome: 'unchanged' })
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET'])
  })

  it('if-exists: fail creates nothing and names the one that is there', async () => {
    const ran = await create({ ...fields, 'if-exists': 'fail' })
    expect(ran.exitCode).toBe(1)
    expect(ran.reason).toContain(existing()?.id)
    expect(methodsOf(emulator())).toEqual(['GET'])
  })

  it.each(['skip', 'update', 'fail'])('if-exists: %s creates when the alert does not exist', async (wish) => {
    const ran = await create({ alert: alertNamed('Another'), 'if-exists': wish })
    expect(ran.document).toMatchObject({ changed: true, outcome: 'created' })
    expect(methodsOf(emulator())).toEqual(['GET', 'POST'])
  })

  it('if-exists: update does not guess between two', async () => {
    const twin = existing()
    if (twin) alerts().push({ ...twin, id: 'f'.repeat(24) })
    const ran = await create({ ...fields, 'if-exists': 'update' })
    expect(ran.reason).toContain('Several alerts have this name, dashboard and tile')
    expect(methodsOf(emulator())).toEqual(['GET'])
  })

  /** A gateway that does not forward the parameters of pages. */
  const onePage = useEmulator({ rateLimit: 'off', paging: 'ignored', totalCount: 'hidden', pageLimit: 1000 })

  it('creates nothing when the list may not be whole, which list-alerts reports', async () => {
    const all = serviceOf(onePage()).alerts
    const [first] = all
    if (first) all.splice(0, all.length, ...Array.from({ length: 1200 }, (_, i) => ({ ...first, id: i.toString(16).padStart(24, '0') })))
    const inputs = { ...inputsFor(onePage()), operation: 'create-alert', alert: alertNamed('Another'), 'if-exists': 'skip' }
    expect((await invokeText({ inputs })).reason).toContain('The list of alerts may be incomplete')
    expect(onePage().requests.some(({ method }) => method !== 'GET')).toBe(false)
    const listed = await invokeText({ inputs: { ...inputsFor(onePage()), operation: 'list-alerts' } })
    expect(listed.document).toMatchObject({ status: 'warn', count: 1000, mayBeCut: true })
    expect(listed.reason).toBe('1000 alerts: the list may be incomplete, because it is as long as the page limit of 1000')
  })
})

describe('when the answer is lost', () => {
  it('names the alerts that match, and never sends it again', async () => {
    emulator().addFault({ act: 'after', effect: { kind: 'reset' } })
    const ran = await create({ alert: alertNamed('Lost') })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'may-exist' } })
    expect(ran.reason).toContain(`Currently, these alerts match it: ${alerts().at(-1)?.id}.`)
    expect(methodsOf(emulator())).toEqual(['POST', 'GET'])
  })

  it('reports that no alert matches after a lost answer', async () => {
    emulator().addFault({ effect: { kind: 'status', status: 502 } })
    expect((await create({ alert: alertNamed('Lost') })).reason).toContain('Currently, no alert matches it.')
  })

  it('reports that the alerts cannot be read after a lost answer', async () => {
    emulator().addFault({ effect: { kind: 'reset' } })
    emulator().addFault({ match: { method: 'GET' }, times: 5, effect: { kind: 'status', status: 500 } })
    expect((await create({ alert: alertNamed('Lost') })).reason).toContain(
      'The list of alerts could not be read, so it is unknown whether an alert matches it.',
    )
  })
})
