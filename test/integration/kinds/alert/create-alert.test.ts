import { describe, expect, it } from 'vitest'
import { ids, inputsFor, methodsOf, useEmulator } from '../../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator()

const fields = {
  'dashboard-id': ids.dashboard,
  'tile-id': ids.tile,
  threshold: '5',
  interval: '1h',
  'webhook-id': ids.webhook,
  name: 'Checkout errors',
}

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
      'inline YAML',
      `source: tile\ndashboardId: ${ids.dashboard}\ntileId: ${ids.tile}\nthreshold: 0.1\ninterval: 1h\nthresholdType: below\nchannel: { type: webhook, webhookId: ${ids.webhook} }`,
    ],
    [
      'inline JSON',
      JSON.stringify({
        dashboardId: ids.dashboard,
        tileId: ids.tile,
        threshold: 0.1,
        interval: '1h',
        thresholdType: 'below',
        channel: { type: 'webhook', webhookId: ids.webhook },
      }),
    ],
  ])('takes %s', async (_, alert) => {
    const ran = await create({ alert })
    expect(ran.document.status).toBe('pass')
    expect(alerts().at(-1)).toMatchObject({ threshold: 0.1, thresholdType: 'below', interval: '1h' })
  })

  it('takes a file of the workspace', async () => {
    const text = `dashboardId: ${ids.dashboard}\ntileId: ${ids.tile}\nthreshold: 7\ninterval: 5m\nchannel: { type: webhook, webhookId: ${ids.webhook} }\n`
    const ran = await create({ 'alert-file': 'alert.yml' }, { files: { 'alert.yml': text } })
    expect(ran.document.status).toBe('pass')
    expect(alerts().at(-1)).toMatchObject({ threshold: 7, thresholdType: 'above' })
  })

  it('names the file and the line where a field is missing or does not belong', async () => {
    const missing = await create({ 'alert-file': 'alerts/one.yml' }, { files: { 'alerts/one.yml': '\nthreshold: 7\ninterval: 5m\n' } })
    expect(missing.reason).toContain('alerts/one.yml:2:1: dashboardId: is missing\n- alerts/one.yml:2:1: tileId: is missing')
    const beyond = await create({ 'alert-file': 'one.yml' }, { files: { 'one.yml': 'threshold: 7\nnote: x\n' } })
    expect(beyond.reason).toMatch(/^one\.yml:2:1: note: is not a field of the neutral contract/)
    const text = `dashboardId: a\ntileId: b\nthreshold: 7\ninterval: 5m\nchannel: { type: webhook, webhookId: c }\n`
    const unnamed = await create({ 'alert-file': 'one.yml', 'if-exists': 'skip' }, { files: { 'one.yml': text } })
    expect(unnamed.reason).toBe('one.yml:1:1: name: is missing: if-exists searches by name')
  })

  it.each<[string, Record<string, string>, RegExp]>([
    ['a document and single fields', { alert: 'threshold: 1', threshold: '1' }, /threshold: cannot be given together with alert/],
    ['two documents', { alert: 'threshold: 1', 'alert-file': 'x.yml' }, /alert: cannot be given together with alert-file/],
    [
      'nothing',
      {},
      /dashboard-id: is missing.*\n.*tile-id: is missing.*\n.*threshold: is missing.*\n.*interval: is missing.*\n.*webhook-id: is missing/,
    ],
    [
      'a document that lacks something',
      { alert: 'threshold: 1' },
      /alert:1:1: interval: is missing\n- alert:1:1: dashboardId: is missing\n- alert:1:1: tileId: is missing\n- alert:1:1: channel: is missing/,
    ],
    ['an unknown field', { alert: 'treshold: 1' }, /alert:1:\d+: "treshold" is an unknown field; did you mean "threshold"\?/],
    ['an unknown value', { alert: 'interval: 2h' }, /alert:1:11: interval: "2h" is not accepted; accepted: 1m/],
    ['a field that only a profile has', { alert: 'note: x' }, /alert:1:1: note: is not a field of the neutral contract/],
    ['broken YAML', { alert: 'a: [1, 2' }, /alert:1:\d+: /],
    [
      'a file outside the workspace',
      { 'alert-file': '../../etc/passwd' },
      /alert-file: "\.\.\/\.\.\/etc\/passwd" (?:is outside of the workspace|does not exist)/,
    ],
    ['a threshold that needs two', { ...fields, 'threshold-type': 'between' }, /threshold-type: between needs a second threshold/],
    ['mail, which needs recipients', { ...fields, 'channel-type': 'email' }, /channel-type: email needs recipients/],
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
    expect(ran.document).toMatchObject({ changed: false, outcome: 'skipped', alertId: existing()?.id })
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
    const ran = await create({ ...fields, name: 'Another', 'if-exists': wish })
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

  it('creates nothing when the list may not be whole', async () => {
    const [first] = alerts()
    if (first)
      alerts().splice(0, alerts().length, ...Array.from({ length: 1000 }, (_, i) => ({ ...first, id: i.toString(16).padStart(24, '0') })))
    const ran = await create({ ...fields, name: 'Another', 'if-exists': 'skip' })
    expect(ran.reason).toContain('The list of alerts may be incomplete')
    expect(methodsOf(emulator())).toEqual(['GET'])
  })
})

describe('when the answer is lost', () => {
  it('names the alerts that match, and never sends it again', async () => {
    emulator().addFault({ act: 'after', effect: { kind: 'reset' } })
    const ran = await create({ ...fields, name: 'Lost' })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'may-exist' } })
    expect(ran.reason).toContain(`Currently, these alerts match it: ${alerts().at(-1)?.id}.`)
    expect(methodsOf(emulator())).toEqual(['POST', 'GET'])
  })

  it('reports that no alert matches after a lost answer', async () => {
    emulator().addFault({ effect: { kind: 'status', status: 502 } })
    expect((await create({ ...fields, name: 'Lost' })).reason).toContain('Currently, no alert matches it.')
  })

  it('reports that the alerts cannot be read after a lost answer', async () => {
    emulator().addFault({ effect: { kind: 'reset' } })
    emulator().addFault({ match: { method: 'GET' }, times: 5, effect: { kind: 'status', status: 500 } })
    expect((await create({ ...fields, name: 'Lost' })).reason).toContain(
      'The list of alerts could not be read, so it is unknown whether an alert matches it.',
    )
  })
})
