import { describe, expect, it } from 'vitest'
import { type ApiKey, demo } from '../../../../src/emulator/index.ts'
import { inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud' })

const doctor = (inputs: Readonly<Record<string, string>> = {}) =>
  invokeText({ inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'doctor', ...inputs } })

const sqlKey = { 'sql-key-id': demo.apiKeyId, 'sql-key-secret': demo.apiKeySecret }

const outcomes = (document: Readonly<Record<string, unknown>>) =>
  (document.checks as { name: string; outcome: string }[]).map(({ name, outcome }) => `${name}: ${outcome}`)

/** The advice of each failed check. */
const advice = (document: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    (document.checks as { name: string; advice?: string }[]).flatMap(({ name, advice: text }) => (text ? [[name, text]] : [])),
  )

const withKey = ({ id, secret }: { readonly id: string; readonly secret: string }) => ({ 'api-key-id': id, 'api-key-secret': secret })

const ofService = (outcome: string): readonly string[] =>
  ['dashboards', 'alerts', 'sources', 'webhooks', 'saved searches', 'backups'].map((name) => `${name}: ${outcome}`)

describe('the expiry of the key', () => {
  const dayMs = 86_400_000
  const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString()
  const own = (): ApiKey => {
    const [key] = emulator().store.keys
    if (key === undefined) throw new Error('the shop has no key')
    return key
  }
  const withoutWhoami = (): void =>
    emulator().addFault({ match: { path: 'whoami' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'html', status: 404 } })
  const expiryOf = (document: Readonly<Record<string, unknown>>) =>
    (document.checks as { name: string; outcome: string; detail: string }[]).find(({ name }) => name === 'key expiry')

  describe.each([
    ['by whoami', () => undefined],
    ['by the list of keys where the API has no whoami', withoutWhoami],
  ])('%s', (_, prepare) => {
    it.each([
      [29, 'warning'],
      [31, 'ok'],
    ])('a key that expires in %i days is: %s', async (days, outcome) => {
      prepare()
      own().expireAt = inDays(days)
      const ran = await doctor()
      expect(expiryOf(ran.document)).toMatchObject({ outcome, detail: expect.stringMatching(/^the key expires on \d+ \w+ \d{4}, in /) })
      expect([ran.exitCode, ran.document.status]).toEqual([0, outcome === 'ok' ? 'pass' : 'warn'])
      if (outcome === 'warning') expect(ran.reason).toContain('Create another key, and replace api-key-id and api-key-secret')
    })

    it('the expiry of a key without an end is ok', async () => {
      prepare()
      expect(expiryOf((await doctor()).document)).toMatchObject({ outcome: 'ok', detail: 'the key never expires' })
    })
  })

  it('is not shown where two keys have the same suffix', async () => {
    withoutWhoami()
    emulator().store.keys.push({ ...own(), id: `other${own().id.slice(-4)}`, expireAt: inDays(1) })
    expect(expiryOf((await doctor()).document)).toBeUndefined()
  })

  it('is not shown where the key may not read it, and nothing fails', async () => {
    withoutWhoami()
    own().permissions = own().permissions.filter((permission) => !permission.endsWith('api-keys'))
    const ran = await doctor()
    expect([ran.document.status, expiryOf(ran.document)]).toEqual(['pass', undefined])
  })

  it('is not shown for an answer in an unknown form', async () => {
    emulator().addFault({ match: { path: 'whoami' }, effect: { kind: 'body', text: '{"result":{"expireAt":"soon"}}' } })
    emulator().addFault({ match: { path: '/keys' }, effect: { kind: 'body', text: '{"result":[{"expireAt":7}]}' } })
    expect(expiryOf((await doctor()).document)).toBeUndefined()
  })
})

describe('doctor', () => {
  it('passes every check of a working service, and shows the rest of the rate limit', async () => {
    const ran = await doctor()
    expect(ran.exitCode).toBe(0)
    expect(ran.document).toMatchObject({ healthy: true, requestsLeft: 2 })
    expect(outcomes(ran.document)).toEqual(['usage cost: ok', ...ofService('ok'), 'key expiry: ok', 'rate limit: ok'])
  })

  it('doctor has one failed check for a wrong organization, and names the input', async () => {
    const ran = await doctor({ 'organization-id': 'c0ffee00-0000-4000-8000-0000000000ff' })
    expect(outcomes(ran.document)).toEqual(['usage cost: failed', ...ofService('skipped'), 'rate limit: skipped'])
    expect(advice(ran.document)['usage cost']).toMatch(/^The organization does not exist, or .* Check organization-id\.$/)
  })

  it('doctor has one failed check for a key of another organization', async () => {
    const [own] = emulator().store.organizations
    const id = 'c0ffee00-0000-4000-8000-0000000000fe'
    if (own !== undefined) emulator().store.organizations.push({ ...own, id, services: [] })
    const ran = await doctor({ 'organization-id': id })
    expect(outcomes(ran.document)).toEqual(['usage cost: failed', ...ofService('skipped'), 'rate limit: skipped'])
    expect(advice(ran.document)['usage cost']).toMatch(/belongs to another organization\. Check organization-id/)
  })

  it('doctor has one failed check for a wrong service', async () => {
    const ran = await doctor({ 'service-id': 'c0ffee00-0000-4000-8000-0000000000ff' })
    expect(outcomes(ran.document)).toEqual([
      ...['usage cost: ok', 'dashboards: failed'],
      ...ofService('skipped').slice(1),
      'rate limit: skipped',
    ])
    expect(advice(ran.document).dashboards).toMatch(/^The service does not exist, or .* Check service-id and organization-id\.$/)
  })

  it('explains a cause once, with all requests that it made fail', async () => {
    const { blocks } = await doctor(withKey(demo.keys.billing))
    const [text, ...others] = blocks.flatMap((block) => (block.kind === 'message' ? [block.text] : []))
    expect(text?.match(/lacks a permission/g)).toHaveLength(1)
    expect(text?.match(/^Request: /gm)?.length).toBeGreaterThan(3)
    expect(others.length).toBeLessThanOrEqual(1)
  })

  it('warns about the permissions that a key lacks', async () => {
    const ran = await doctor(withKey(demo.keys.billing))
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
    expect(outcomes(ran.document)).toEqual(['usage cost: ok', ...ofService('failed'), 'key expiry: ok', 'rate limit: ok'])
    expect(ran.reason).toBe('6 of 9 checks failed: dashboards, alerts, sources, webhooks, saved searches, backups.')
    const clickstack = expect.stringContaining('needed: control-plane:service:manage-clickstack-api')
    expect(advice(ran.document)).toEqual({
      dashboards: clickstack,
      alerts: clickstack,
      sources: clickstack,
      webhooks: clickstack,
      'saved searches': clickstack,
      backups: expect.stringContaining('needed: control-plane:service:view-backups'),
    })
  })

  it('sends no other request after the key was rejected, and ends with the exit code for that', async () => {
    const ran = await doctor(withKey(demo.keys.disabled))
    expect([ran.exitCode, ran.document.status]).toEqual([3, 'fail'])
    expect(ran.reason).toBe('1 of 8 checks failed: usage cost. 7 were skipped.')
    expect(outcomes(ran.document)).toEqual(['usage cost: failed', ...ofService('skipped'), 'rate limit: skipped'])
    expect(emulator().requests).toHaveLength(1)
  })

  it('doctor ends with the exit code for a lack of permissions when nothing else works', async () => {
    const ran = await doctor({ ...withKey(demo.keys.observability), 'service-id': '' })
    expect([ran.exitCode, ran.document.status]).toEqual([3, 'fail'])
  })

  it('distinguishes a wrong path from a wrong key', async () => {
    const ran = await doctor({ 'observability-path': 'observability' })
    expect(advice(ran.document).dashboards).toContain('This URL does not serve the API. Check api-url and observability-path')
  })

  it('skips the checks that need a service when there is none', async () => {
    const ran = await doctor({ 'service-id': '' })
    expect(ran.exitCode).toBe(0)
    expect(outcomes(ran.document)).toEqual(['usage cost: ok', ...ofService('skipped'), 'key expiry: ok', 'rate limit: ok'])
  })

  it('names the address when something else than the API answers', async () => {
    emulator().addFault({ times: Number.POSITIVE_INFINITY, effect: { kind: 'html', status: 404 } })
    const ran = await doctor()
    expect(ran.reason).toMatch(/^1 of 9 checks failed: server http:\/\/127\.0\.0\.1:\d+\. 8 were skipped\.$/)
    expect(emulator().requests).toHaveLength(1)
  })

  it('names the address when nothing listens on it', async () => {
    const ran = await doctor({ 'api-url': 'http://127.0.0.1:1', 'max-attempts': '1' })
    expect(ran.exitCode).toBe(10)
    expect(ran.reason).toBe('1 of 9 checks failed: server http://127.0.0.1:1. 8 were skipped.')
    expect(outcomes(ran.document)).toEqual(['server: failed', 'usage cost: skipped', ...ofService('skipped'), 'rate limit: skipped'])
    expect(advice(ran.document).server).toContain('Check api-url (127.0.0.1:1)')
  })
})

describe('what the role of the key may do with SQL', () => {
  let grants: readonly string[] | undefined
  const withSql = useEmulator({
    dialect: 'clickhouse-cloud',
    runSql: ({ sql }) =>
      sql !== 'SHOW GRANTS FINAL' || grants === undefined
        ? { error: 'Code: 497. DB::Exception: Not enough privileges.' }
        : { rows: grants.map((grant) => ({ 'GRANTS FINAL': grant })) },
  })
  const checkOf = async (given: readonly string[] | undefined) => {
    grants = given
    const ran = await invokeText({
      inputs: { ...inputsFor(withSql(), 'clickhouse-cloud'), ...sqlKey, 'sql-url': withSql().url, operation: 'doctor' },
    })
    const found = (ran.document.checks as { name: string; outcome: string; detail: string }[]).find(({ name }) => name === 'SQL')
    return [ran.document.status, found?.outcome, found?.detail]
  }

  it('is to read only', async () => {
    const reading = [
      'GRANT SHOW, SELECT(a, b), dictGet ON *.* TO reader',
      'GRANT SHOW TABLES ON shop.* TO reader WITH GRANT OPTION',
      'REVOKE SELECT ON a.b FROM reader',
    ]
    expect(await checkOf(reading)).toEqual(['pass', 'ok', 'its role can only read'])
    // One more would wait for ten seconds.
    expect(withSql().requests).toHaveLength(10)
  })

  it('is asked for without the values of alerts where there are none', async () => {
    Object.assign(serviceOf(withSql()), { alerts: [] })
    const ran = await invokeText({
      inputs: { ...inputsFor(withSql(), 'clickhouse-cloud'), ...sqlKey, 'sql-url': withSql().url, operation: 'doctor' },
    })
    expect(outcomes(ran.document).slice(-3)).toEqual(['SQL: ok', 'key expiry: ok', 'rate limit: ok'])
  })

  it('is named where it is more', async () =>
    expect(await checkOf(['GRANT SELECT, URL, INSERT(a, b) ON *.* TO editor', 'GRANT INSERT, FILE ON *.* TO editor'])).toEqual([
      'pass',
      'ok',
      'its role can do more than read: FILE, INSERT, URL',
    ]))

  it('is named with twelve privileges, and a count of the others', async () => {
    const privileges = [...'ABCDEFGHIJKLM']
    expect((await checkOf([`GRANT ${privileges.toReversed().join(', ')} ON *.* TO editor`]))[2]).toBe(
      `its role can do more than read: ${privileges.slice(0, 12).join(', ')}, and 1 more`,
    )
  })

  it('is not known where the server does not say it', async () =>
    expect(await checkOf(undefined)).toEqual(['pass', 'skipped', expect.stringContaining('Not enough privileges')]))
})

describe('the values of managed alerts', () => {
  const hosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
  const run = (inputs: Readonly<Record<string, string>>, files: object = {}) =>
    invokeText({
      inputs: { ...inputsFor(hosted(), 'hyperdx'), ...inputs },
      files: Object.fromEntries(Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)])),
    })
  const valuesOf = ({ document }: Awaited<ReturnType<typeof run>>) =>
    (document.checks as readonly { readonly name: string }[]).find(({ name }) => name === 'values')
  const tile = (name: string, where: string) => ({
    name,
    config: { displayType: 'line', source: 'Logs', select: [{ aggFn: 'count', where }] },
  })
  const alert = (name: string) => ({
    ...{ name, dashboard: 'shop', tile: name, interval: '5m', threshold: 20 },
    channel: { type: 'webhook', webhook: 'oncall' },
  })

  it('the values of managed alerts are facts, and one that can never fire is a warning', { tags: 'slow' }, async () => {
    expect(valuesOf(await run({ operation: 'doctor' }))).toEqual({ name: 'values', outcome: 'ok', detail: 'no managed alerts' })
    const sql = { configType: 'sql', displayType: 'number', sqlTemplate: "SELECT count() FROM url('http://a')" }
    const typos = ['Typo', ...Array.from({ length: 10 }, (_, i) => `Typo ${i}`)]
    const wrong = typos.map((name) => tile(name, 'ServiceName:chekout'))
    const tiles = [tile('Errors', 'SeverityText:error'), ...wrong, { ...tile('Far', ''), config: sql }, tile('Broken', 'SeverityTex:error')]
    const alerts = ['Errors', ...typos, 'Far', 'Broken'].map((name) => [name.toLowerCase().replace(' ', '-'), alert(name)])
    const content = { dashboards: { shop: { name: 'Shop', tiles } }, alerts: Object.fromEntries(alerts) }
    await run({ operation: 'apply', files: 'a.json', project: 'shop/main' }, { 'a.json': content })
    const ran = await run({ operation: 'doctor' })
    expect(valuesOf(ran)).toMatchObject({
      outcome: 'warning',
      advice: '12 problems in the values of managed alerts',
      detail: expect.stringMatching(
        /(?:\nalert "Typo.*" \(\w+\): no row matches `ServiceName:chekout` in 7 days; did you mean `checkout`\?){10}\n… and 2 more\n13 of 14 managed alerts looked at, over 24 h; not the others: its SQL uses url, [^:]*$/,
      ),
      facts: expect.arrayContaining([
        { key: '', name: 'Typo', fact: 'last window none; 24 h: no value; ≥ 20: not reached' },
        { key: '', name: 'Errors', fact: expect.stringMatching(/^last window .*; 24 h: .* in \d+ of 288 windows; ≥ 20: /) },
      ]),
    })
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
    const service = serviceOf(hosted())
    service.alerts = service.alerts.filter((one) => one.name === 'Far')
    expect(valuesOf(await run({ operation: 'doctor' }))).toMatchObject({
      outcome: 'skipped',
      detail: expect.stringMatching(/^0 of 1 managed alert looked at/),
    })
  })
})
