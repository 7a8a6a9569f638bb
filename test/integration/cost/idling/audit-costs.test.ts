import { beforeEach, describe, expect, it } from 'vitest'
import { demo, type Permission } from '../../../../src/emulator/index.ts'
import { toPlainText } from '../../../../src/platform/core/line.ts'
import { renderTerminal } from '../../../../src/platform/report/terminal.ts'
import { createVirtualClock } from '../../../support/clocks.ts'
import { inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'
import { nowMs, office, putToSleep } from '../../../support/sleepy-service.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => nowMs })

/** No service has a finding. */
beforeEach(() => {
  for (const name of ['checkout', 'catalog', 'search'] as const) {
    const service = serviceOf(emulator(), name)
    service.alerts = []
    service.ipAccessList = [{ source: '192.0.2.0/24' }]
    putToSleep(emulator(), name, office)
  }
})

interface ShownFinding {
  readonly rule: string
  readonly names?: readonly string[]
  readonly name: string
  readonly low?: string
  readonly high?: string
  readonly notEstimable?: string
  readonly command?: string
}

async function audit(inputs: Readonly<Record<string, string>> = {}, files: Readonly<Record<string, string>> = {}) {
  const ran = await invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), 'service-id': '', operation: 'audit-costs', ...inputs },
    files,
    clock: createVirtualClock(nowMs),
  })
  const findings = (ran.document.findings ?? []) as readonly ShownFinding[]
  return {
    ...ran,
    findings,
    found: findings.map(({ rule, name }) => `${name} ${rule}`),
    text: renderTerminal(ran.blocks, { color: false, width: 300 }).join('\n'),
  }
}

const alertOn = (name: keyof typeof demo.services, interval: string) => {
  const service = serviceOf(emulator(), name)
  service.alerts.push({
    id: `65f5e4a35eedc0de0000${String(service.alerts.length).padStart(4, '0')}`,
    teamId: service.teamId,
    source: 'saved_search',
    dashboardId: null,
    tileId: null,
    savedSearchId: service.savedSearches[0]?.id ?? null,
    groupBy: null,
    threshold: 1,
    thresholdType: 'above',
    interval,
    channels: [],
    name: `Every ${interval}`,
    message: null,
    note: null,
    numConsecutiveWindows: null,
    state: 'OK',
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
  })
}

const revoke = (permission: Permission): void => {
  for (const key of emulator().store.keys) key.permissions = key.permissions.filter((one) => one !== permission)
}

const id = demo.services.search

describe('an audit of services', () => {
  it('passes without findings', async () => {
    const { found, document, text } = await audit()
    expect(found).toEqual([])
    expect(document).toMatchObject({ status: 'pass', findingCount: 0, savingsLow: '0', savingsHigh: '0', unit: 'CHC' })
    expect(document.unchecked).toMatchObject([{ what: 'services without a budget' }])
    expect(text).toContain('No findings on 3 services')
    expect(text).toContain('Awake hours per day (3 services together)')
  })

  it('finds a service that may not sleep, with the command that changes it, before what saves nothing', { tags: 'slow' }, async () => {
    serviceOf(emulator(), 'checkout').tags = []
    serviceOf(emulator(), 'search').idleScaling = false
    const { findings, document } = await audit()
    expect(findings).toEqual([
      expect.objectContaining({
        rule: 'idling-off',
        name: 'search',
        low: '0',
        command: `clickhousectl cloud service scale ${id} --idle-scaling true --idle-timeout-minutes 15`,
      }),
      expect.objectContaining({ rule: 'no-tags', name: 'checkout' }),
    ])
    expect(Number(findings[0]?.high)).toBeGreaterThan(10)
    expect(document.status).toBe('warn')
  })

  it('names services with the id where two have the same name', async () => {
    Object.assign(serviceOf(emulator(), 'catalog'), { name: 'search', tags: [] })
    serviceOf(emulator(), 'search').tags = []
    const { found, document } = await audit()
    expect(found.toSorted()).toEqual([`search (${demo.services.catalog}) no-tags`, `search (${id}) no-tags`].toSorted())
    expect(document.services).toMatchObject([
      { name: 'checkout' },
      { name: `search (${demo.services.catalog})` },
      { name: `search (${id})` },
    ])
  })

  it('has no finding about idling for services that must not sleep, by name, id or tag', { tags: 'slow' }, async () => {
    for (const selector of ['search', id.toUpperCase(), 'tag:team=search', 'tag:shop']) {
      serviceOf(emulator(), 'search').idleScaling = false
      expect((await audit({ 'always-on': selector })).found, selector).toEqual([])
    }
    putToSleep(emulator(), 'search', { ...office, ingestion: { everyMinutes: 2, minutes: 2 } })
    alertOn('search', '5m')
    expect((await audit()).found).not.toEqual([])
    expect((await audit({ 'always-on': 'search' })).found).toEqual([])
  })

  it('warns about an exemption of no service, with the nearest name', async () => {
    const { document } = await audit({ 'always-on': 'serch\nsearch' })
    expect(document).toMatchObject({
      status: 'warn',
      unchecked: expect.arrayContaining([
        expect.objectContaining({ name: 'serch', reason: 'no service has this name, id or tag; did you mean "search"?' }),
      ]),
    })
  })

  it('finds access from anywhere together with idling', async () => {
    serviceOf(emulator(), 'search').ipAccessList = [{ source: '0.0.0.0/0' }, { source: '::/0' }]
    const { findings } = await audit()
    expect(findings).toEqual([
      expect.objectContaining({
        rule: 'open-to-scanners',
        command: `clickhousectl cloud service update ${id} --add-ip-allow YOUR_CIDR --remove-ip-allow 0.0.0.0/0 --remove-ip-allow ::/0`,
      }),
    ])
  })

  it('finds a service that is awake most of the time', async () => {
    putToSleep(emulator(), 'search', { ...office, ingestion: { everyMinutes: 5, minutes: 4 } })
    const { findings, text } = await audit()
    expect(findings.map(({ rule }) => rule)).toEqual(['rarely-sleeps'])
    expect(text).toMatch(/The service was awake 100% of 28 known days/)
  })

  it('asks again for halves of the activities whose answer is too large', { tags: 'slow' }, async () => {
    const { document } = await audit()
    const sent = emulator().requests.length
    emulator().addFault({ match: { path: '/activities' }, effect: { kind: 'body', text: ' '.repeat(17 * 1024 * 1024) } })
    expect((await audit()).document).toEqual({ ...document, requestId: expect.anything() })
    const asked = emulator()
      .requests.slice(sent)
      .flatMap(({ path }) => (path.includes('/activities') ? new URL(path, 'http://x').searchParams : []))
    const [whole, first, second] = asked.map((query) => ['from_date', 'to_date'].map((name) => Date.parse(query.get(name) ?? '')))
    expect(asked).toHaveLength(3)
    expect([first?.[0], second?.[0], second?.[1]]).toEqual([whole?.[0], (first?.[1] ?? 0) + 1, whole?.[1]])
  })

  it('finds a service that is always awake and has no activities, by its usage', async () => {
    putToSleep(emulator(), 'search', { ...office, ingestion: { everyMinutes: 2, minutes: 2 } })
    const [organization] = emulator().store.organizations
    if (organization === undefined) throw new Error('the demo has an organization')
    organization.activities = []
    const { findings, text } = await audit()
    expect(findings).toMatchObject([{ rule: 'rarely-sleeps', name: 'search', low: '0', high: '216' }])
    expect(text).toContain('The service has no activities, and used compute on each of 28 final days, although it may sleep.')
    organization.usage = organization.usage.filter(({ serviceId, date }) => serviceId !== id || date !== '2026-08-30')
    expect((await audit()).found).toEqual([])
  })

  // An evaluation keeps it awake for 10 to 13 minutes of 15: 76.7% of 720 hours at 1 CHC, less 20 hours that the other alert covers.
  it('finds an alert that is evaluated less often than the idle timeout, by its share of the awake time', { tags: 'slow' }, async () => {
    const alerts = [{ intervalMs: 900_000, offsetMs: 0 }]
    const queries = { workday: 0, weekend: 0 }
    putToSleep(emulator(), 'search', { ...office, idleTimeoutMinutes: 10, effectiveTimeoutMinutes: 10, queries, creditsPerHour: 1, alerts })
    alertOn('search', '15m')
    alertOn('search', '6h')
    const { findings, text } = await audit()
    expect(findings).toMatchObject([
      { rule: 'alert-prevents-idling', names: ['Every 15m'], high: '532', command: expect.stringContaining('--idle-timeout-minutes 5') },
    ])
    expect(text).toContain('With the idle timeout of 10 min, evaluations of 1 alert cover 87% of the awake time: Every 15m.')
    expect(text).toContain('An interval of 30m or longer lets the service sleep longer.')
    const { alerts: stored } = serviceOf(emulator(), 'search')
    const silence = { scheduleStartAt: new Date(nowMs + 60_000).toISOString() }
    alertOn('search', '15m')
    Object.assign(stored.at(-1) ?? {}, silence)
    expect((await audit()).findings).toMatchObject([{ names: ['Every 15m'], high: '532' }])
    for (const alert of stored) Object.assign(alert, silence)
    expect((await audit()).findings).toEqual([])
  })

  it('finds alerts that are evaluated within the idle timeout, and counts the same awake hours once', async () => {
    putToSleep(emulator(), 'search', { ...office, alerts: [{ intervalMs: 300_000, offsetMs: 0 }] })
    serviceOf(emulator(), 'search').dataWarehouseId = 'own'
    alertOn('search', '5m')
    alertOn('search', '1h')
    const { findings, document, text } = await audit()
    expect(findings.map(({ rule }) => rule)).toEqual(['rarely-sleeps', 'alert-prevents-idling'])
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(/⚠️ search rarely-sleeps, up to .*alert-prevents-idling, up to .* cover 100% .*Every 5m\./)
    expect(document.savingsHigh).toBe(findings[0]?.high)
  })

  it.each([
    ['advises the shortest idle timeout', '15m', [true, true]],
    ['advises no shorter idle timeout', '5m', [false, false]],
  ])('%s to a service that an alert every %s keeps awake, beside a rare one', async (_what, interval, isAdvised) => {
    const timeout = { idleTimeoutMinutes: 15, effectiveTimeoutMinutes: 15 }
    const intervalMs = Number.parseInt(interval, 10) * 60_000
    putToSleep(emulator(), 'search', { ...office, ...timeout, alerts: [{ intervalMs, offsetMs: 0 }] })
    alertOn('search', interval)
    alertOn('search', '1d')
    const { findings } = await audit()
    expect(findings.map(({ command }) => command === `clickhousectl cloud service scale ${id} --idle-timeout-minutes 5`)).toEqual(isAdvised)
  })

  it('reads alerts only of services that may sleep', async () => {
    serviceOf(emulator(), 'search').idleScaling = false
    await audit({ 'always-on': 'catalog' })
    const listed = emulator().requests.filter(({ path }) => path.includes('/alerts'))
    expect(listed.map(({ path }) => path.includes(demo.services.checkout))).toEqual([true])
  })

  it('has a reason instead of an amount where alerts do not wake the service', async () => {
    alertOn('search', '5m')
    const { findings } = await audit()
    expect(findings).toMatchObject([
      { rule: 'alert-prevents-idling', notEstimable: expect.stringContaining('the service slept although alerts were evaluated') },
    ])
  })

  it('has a reason instead of an amount where an alert may query another service of its warehouse', async () => {
    const service = serviceOf(emulator(), 'search')
    const [source] = service.sources
    if (source === undefined) throw new Error('the shop has no source')
    service.sources = [...service.sources, { ...source, id: '65f5e4a35eedc0de00ffffff', name: 'Other', connection: 'other' }]
    putToSleep(emulator(), 'search', { ...office, queries: { workday: 4000, weekend: 4000 } })
    alertOn('search', '5m')
    const { findings } = await audit()
    const ofAlerts = findings.filter(({ rule }) => rule === 'alert-prevents-idling')
    expect(ofAlerts).toMatchObject([{ notEstimable: expect.stringContaining('several services share the warehouse') }])
    service.sources.pop()
    expect((await audit()).findings.filter(({ rule }) => rule === 'alert-prevents-idling')).toMatchObject([{ low: '0' }])
  })

  it('finds a warehouse whose services are all stopped, from the cheapest day to the mean, and its gate', async () => {
    for (const name of ['checkout', 'catalog', 'search'] as const) serviceOf(emulator(), name).state = 'stopped'
    const { findings, document, text } = await audit({ 'max-savings': '10' })
    expect(findings).toMatchObject([{ rule: 'stopped-warehouse', name: 'demo-warehouse' }])
    expect(Number(findings[0]?.low)).toBeGreaterThan(10)
    expect(Number(findings[0]?.low)).toBeLessThanOrEqual(Number(findings[0]?.high))
    expect(document.failureReason).toMatch(/^Savings of at least \d+\.\d\d CHC a month exceed max-savings of 10\.00 CHC\./)
    expect(text).toMatch(/Limit \(max-savings\) +10\.00 CHC\n/)
    expect(text).toContain('max-savings is compared with "at least"')
    expect(text).toMatch(/Estimates in CHC \(ClickHouse Credits\)/)
    expect((await audit({ 'max-savings': '1000' })).document.status).toBe('warn')
    for (const record of emulator().store.organizations[0]?.usage ?? [])
      if (record.entityType === 'datawarehouse' && record.date > '2026-09-09') record.micro = {}
    expect((await audit()).findings).toEqual([])
  })

  it('finds services without compute usage, without tags and without a budget', async () => {
    const service = serviceOf(emulator(), 'search')
    service.tags = []
    const [organization] = emulator().store.organizations
    if (organization) organization.usage = organization.usage.filter(({ serviceId }) => serviceId !== service.id)
    const budgets = 'budgets:\n  - { name: catalog, limit: 1000, scope: { service: catalog } }\n'
    const { found } = await audit({ budgets: 'budgets.yml' }, { 'budgets.yml': budgets })
    expect(found.toSorted()).toEqual(['checkout no-budget', 'search no-tags', 'search unused-service'])
    serviceOf(emulator(), 'checkout').tags = [{ key: 'team', value: 'shop' }]
    const tagged = `${budgets}  - { name: teams, limit: 1000, scope: { tag: [team=search, team=shop] } }\n`
    const covered = await audit({ budgets: 'budgets.yml' }, { 'budgets.yml': tagged })
    expect(covered.found.toSorted()).toEqual(['search no-tags', 'search unused-service'])
  })

  it('shows each service once, with all of its findings', async () => {
    serviceOf(emulator(), 'search').idleScaling = false
    serviceOf(emulator(), 'search').tags = []
    const { blocks } = await audit()
    const tables = blocks.filter((block) => block.kind === 'table')
    expect(tables).toHaveLength(1)
    const [row = [], ...others] = (tables[0]?.rows ?? []).map((cells) => cells.map(toPlainText))
    expect(row[0]).toBe('⚠️ search')
    expect(row[1]?.replaceAll('\u00a0', ' ')).toMatch(
      /^idling-off, up to .* CHC a month: Idling is off.*\nno-tags: The service has no tags/,
    )
    const columns = ['Service', 'Findings', 'Compute (CHC a month)', 'Awake', 'Sleeps', 'State', 'Known days']
    expect(tables[0]?.columns.map(({ title }) => title)).toEqual(columns)
    const values = [expect.stringMatching(/^\d+\.\d\d$/), expect.stringMatching(/^\d+(?:\.\d+)?%$/)]
    expect([row.slice(2), ...others]).toEqual([
      [...values, 'off', 'idle', '28'],
      ['checkout', '–', ...values, 'after 5 min', 'idle', '28'],
      ['catalog', '–', ...values, 'after 5 min', 'idle', '28'],
    ])
    expect(tables[0]?.statuses).toEqual(['warn', 'pass', 'pass'])
  })

  it('says once what to change about several services, with one command for each', async () => {
    for (const name of ['checkout', 'catalog', 'search'] as const) serviceOf(emulator(), name).tags = []
    const { findings, text } = await audit()
    expect(findings).toHaveLength(3)
    expect(text).toContain('checkout, catalog, search (no-tags):')
    expect(text.match(/--add-tag team=YOUR_TEAM/g)).toHaveLength(3)
  })

  it('has no finding about a service that is new, or whose latest usage is not final yet', async () => {
    const { id: serviceId } = serviceOf(emulator(), 'search')
    const [organization] = emulator().store.organizations
    if (organization === undefined) throw new Error('the demo has an organization')
    const { usage } = organization
    const yesterday = new Date(nowMs - 86_400_000).toISOString().slice(0, 10)
    organization.usage = usage.filter((one) => one.serviceId !== serviceId || one.date >= yesterday)
    expect((await audit()).found).toEqual([])
    organization.usage = usage.filter((one) => one.serviceId !== serviceId)
    expect((await audit()).found).toEqual(['search unused-service'])
    serviceOf(emulator(), 'search').createdAt = new Date(nowMs - 3 * 86_400_000).toISOString()
    expect((await audit()).found).toEqual([])
  })

  it('lets the workflow set the severity of a rule, or turn it off', async () => {
    serviceOf(emulator(), 'search').idleScaling = false
    const { found, document } = await audit({ severities: 'idling-off=off\nno-budget=off' })
    expect([found, document.unchecked]).toEqual([[], []])
    const error = await audit({ severities: 'no-tags=off\nidling-off=error' })
    expect([error.document.status, error.hasFailed]).toEqual(['fail', true])
    expect((await audit({ severities: 'idling-off=no' })).reason).toContain('"idling-off=no" is not accepted; accepted: rule=severity')
    expect((await audit({ severities: 'idling-of=error' })).reason).toBe(
      'severities: "idling-of=error" has no rule of the audit; did you mean "idling-off"?',
    )
  })

  it('S5: no file of the repository sets the severity of a rule', async () => {
    serviceOf(emulator(), 'search').idleScaling = false
    const { reason } = await audit({ severities: 'idling-off=error' }, { '.watchkeeper.yml': 'rules: { idling-off: off }\n' })
    expect(reason).toContain('.watchkeeper.yml:1:10: rules: "idling-off" is an unknown field')
  })

  it('writes the report as a page', async () => {
    const { files } = await audit({ reports: 'html=audit.html' })
    expect(files).toMatchObject([{ path: 'audit.html', content: expect.stringContaining('Audit costs') }])
  })
})

describe('an audit with a key that lacks a permission', () => {
  it('names that of activities, and checks what does not need it', async () => {
    revoke('control-plane:organization:view-activities')
    serviceOf(emulator(), 'search').idleScaling = false
    const { found, text, document } = await audit()
    expect(found).toEqual(['search idling-off'])
    expect(text).toMatch(/Not checked: how long services sleep: .*control-plane:organization:view-activities/)
    expect(document.status).toBe('warn')
  })

  it('an audit with a key that lacks a permission does not pass', async () => {
    revoke('control-plane:organization:view-activities')
    const { document, found } = await audit()
    expect([document.status, found]).toEqual(['warn', []])
    expect(document.services).toMatchObject(Array(3).fill({ knownDays: 0, notEstimable: 'the activities could not be read' }))
  })

  it('fails a gate that needs the usage', async () => {
    revoke('control-plane:organization:view')
    const { document } = await audit()
    expect([document.status, JSON.stringify(document.services)]).toEqual(['warn', expect.not.stringContaining('monthlyCompute')])
    expect((await audit({ 'max-savings': '10' })).document.failureReason).toMatch(/^max-savings cannot be judged/)
  })

  it('does not pass without final usage, with records that cannot be trusted, with too few days, and without services', {
    tags: 'slow',
  }, async () => {
    const [organization] = emulator().store.organizations
    if (organization === undefined) throw new Error('the demo has an organization')
    const { usage } = organization
    const judged = async (records: typeof usage): Promise<readonly string[]> => {
      organization.usage = records
      const [gate, plain] = [await audit({ 'max-savings': '1000000' }), await audit()]
      return [String(gate.document.status), String(plain.document.status), plain.text]
    }
    const noUsage = /Not checked: costs, unused services and stopped warehouses: /
    const provisional = usage.map((one) => ({ ...one, locked: false }))
    for (const records of [[], provisional, [...usage, ...usage]])
      expect(await judged(records)).toEqual(['fail', 'warn', expect.stringMatching(noUsage)])
    const since = (days: number) => usage.filter(({ date }) => date >= new Date(nowMs - days * 86_400_000).toISOString().slice(0, 10))
    const tooFew = 'Not checked: unused services: there are 13 final days of usage, and the check needs 14'
    expect(await judged(since(16))).toEqual(['warn', 'warn', expect.stringContaining(tooFew)])
    expect((await judged(since(17)))[2]).not.toContain('Not checked: unused services')
    organization.services = []
    expect(await judged(usage)).toEqual(['fail', 'warn', expect.stringContaining('Not checked: services: the API lists none')])
  })

  it('fails without the list of services', async () => {
    revoke('control-plane:service:view')
    expect((await audit()).document).toMatchObject({ status: 'error', error: { kind: 'permission' } })
  })
})

it('never shows names, addresses and user agents of people', async () => {
  emulator().reset()
  const { document, text } = await audit()
  expect(JSON.stringify(document) + text).not.toMatch(/ops@shop\.example|192\.0\.2\.|Mozilla|terraform/)
})
