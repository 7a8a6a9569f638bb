import { describe, expect, it } from 'vitest'
import { demo, type Service } from '../../../src/emulator/index.ts'
import { formatLocation } from '../../../src/platform/core/diagnostics.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { verdictLine } from '../../../src/platform/report/blocks.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { passed, written } from '../../support/declarations.ts'
import { inputsFor, methodsOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const path = 'observability/service.yml'

const text = written(`defaults:
  alerts:
    channel: { type: webhook, webhook: '‹env.WEBHOOK›' }    # at night, too
dashboards:
  overview:
    name: Overview (‹env.STAGE›)
    tags: [health]
    tiles:
      - { name: Errors, x: 0, y: 0, w: 12, h: 6, config: { displayType: number, sourceId: { source: Logs }, select: [{ aggFn: count }] } }
alerts:
  errors:
    name: Errors
    dashboard: overview
    tile: Errors
    threshold: ‹env.THRESHOLD›    # agreed
    interval: 5m
    message: More than ‹env.LIMIT› errors
    note: Look at the logs.
`)

const staging = `service-id: ${demo.services.search.toUpperCase()}
variables:
  STAGE: staging
  LIMIT: 50
  WEBHOOK: audit
  THRESHOLD: 50
`

const production = `service-id: ${demo.services.catalog}
variables: { STAGE: prod, LIMIT: '5', WEBHOOK: oncall, THRESHOLD: 5 }
`

const environments = { 'environments/staging.yml': staging, 'environments/production.yaml': production }

type Texts = Readonly<Record<string, string>>

const run = (operation: string, env: string, { inputs = {}, files = {}, variables = {} }: Readonly<Record<string, Texts>> = {}) => {
  const { 'service-id': _, ...common } = inputsFor(emulator(), 'clickhouse-cloud')
  return invokeText({
    inputs: {
      ...common,
      operation,
      env,
      ...(operation !== 'validate' && { project: 'shop' }),
      ...inputs,
    },
    env: variables,
    files: { [path]: text, ...environments, ...files },
  })
}

const serviceIn = (name: 'search' | 'catalog'): Service => {
  const service = emulator().store.organizations[0]?.services.find(({ id }) => id === demo.services[name])
  if (service === undefined) throw new Error(`${name} is missing`)
  return service
}

const applied = new Map<'search' | 'catalog', Pick<Service, 'dashboards' | 'alerts' | 'savedSearches'>>()

/** The services have only what the files declare. */
async function applyAll(): Promise<void> {
  const names = ['search', 'catalog'] as const
  for (const name of names)
    Object.assign(serviceIn(name), structuredClone(applied.get(name) ?? { dashboards: [], alerts: [], savedSearches: [] }))
  if (applied.size > 0) return
  for (const env of ['staging', 'production']) {
    const { exitCode, reason } = await run('apply', env)
    if (exitCode !== 0) throw new Error(reason)
  }
  for (const name of names) {
    const { dashboards, alerts, savedSearches } = serviceIn(name)
    applied.set(name, structuredClone({ dashboards, alerts, savedSearches }))
  }
}

const placed = (document: Readonly<Record<string, unknown>>): readonly string[] =>
  (document.diagnostics as { location: { file: string }; rule: string; message: string }[]).map(
    ({ location, rule, message }) => `${formatLocation(location)} ${rule}: ${message}`,
  )

describe('one set of files for two services', () => {
  it('one set of files for two services has the variables of the environment in its service', async () => {
    await applyAll()
    const [inStaging, inProduction] = [serviceIn('search'), serviceIn('catalog')]
    const webhookOf = ({ alerts, webhooks }: Service): unknown => webhooks.find(({ id }) => JSON.stringify(alerts[0]).includes(id))?.name
    expect(inStaging.dashboards.map(({ name }) => name)).toEqual(['Overview (staging)'])
    expect(inStaging.alerts).toMatchObject([{ threshold: 50, message: 'More than 50 errors' }])
    expect(webhookOf(inStaging)).toBe('audit')
    expect(inProduction.dashboards.map(({ name }) => name)).toEqual(['Overview (prod)'])
    expect(inProduction.alerts).toMatchObject([{ threshold: 5, message: 'More than 5 errors' }])
    expect(webhookOf(inProduction)).toBe('oncall')
    for (const env of ['staging', 'production'])
      expect((await run('drift', env)).document).toMatchObject({ status: 'pass', environment: env })
  })

  it('names the environment in the first line of every report', async () => {
    await applyAll()
    const headline = async (operation: string, changed: string): Promise<unknown> => {
      const { blocks } = await run(operation, 'staging', { files: { [path]: text.replace('note: Look', changed) } })
      const [first] = blocks
      return first?.kind === 'verdict' ? toPlainText(verdictLine(first)) : first
    }
    expect(await headline('plan', 'note: Read')).toBe('Plan for shop, environment staging (1 to update)')
    expect(await headline('drift', 'note: Read')).toBe('shop has drifted in environment staging: 1 to update')
    expect(await headline('plan', 'note: Look')).toBe('No changes for shop, environment staging: everything matches the files')
    expect(await headline('drift', 'note: Look')).toBe('No drift for shop, environment staging: everything matches the files')
    expect(await headline('apply', 'note: Look')).toBe('Nothing to do for shop, environment staging: everything matches the files')
    expect(await headline('apply', 'note: Read')).toBe('Applied to shop, environment staging (1 updated)')
    expect(await headline('pull', 'note: Read')).toBe('Nothing to pull for shop, environment staging: no file changes')
    expect(await headline('validate', 'note: Look')).toBe('2 objects in 1 file, environment staging')
    expect(await headline('plan', 'nte: Look')).toBe(
      'The plan for shop, environment staging failed: alerts.errors: "nte" is an unknown field; did you mean "note"?',
    )
  })

  it('takes a variable of the environment before one that is passed, and a missing one from those that are passed', async () => {
    const variables = passed({ STAGE: 'elsewhere', LIMIT: '7' })
    await run('apply', 'staging', { variables, files: { 'environments/staging.yml': staging.replace('  LIMIT: 50\n', '') } })
    expect(serviceIn('search').dashboards.map(({ name }) => name)).toContain('Overview (staging)')
    expect(serviceIn('search').alerts.map(({ message }) => message)).toContain('More than 7 errors')
  })

  it('takes organization and project from the file, which wins over the config file', async () => {
    const files = {
      '.watchkeeper.yml': `service-id: ${demo.services.checkout}\norganization-id: ${demo.services.checkout}\nproject: of/the-config`,
      'environments/staging.yml': `${staging}organization-id: ${demo.organizationId}\nproject: of/staging\n`,
    }
    const { document } = await run('plan', 'staging', { files, inputs: { 'organization-id': '', project: '' } })
    expect(document).toMatchObject({ status: 'pass', project: 'of/staging', serviceId: demo.services.search })
  })
})

describe('an input that contradicts the environment', () => {
  it('an input that contradicts the environment is an error before the first request', async () => {
    const other = demo.services.checkout
    const message = `service-id: "${other}" contradicts "${demo.services.search}" in environments/staging.yml; remove the input or WATCHKEEPER_SERVICE_ID, or this line of the file`
    expect((await run('apply', 'staging', { inputs: { 'service-id': other } })).reason).toBe(message)
    expect((await run('apply', 'staging', { variables: { WATCHKEEPER_SERVICE_ID: other } })).reason).toBe(message)
    const files = { 'environments/staging.yml': `${staging}project: of/staging\n` }
    expect((await run('apply', 'staging', { files })).reason).toContain('project: "shop" contradicts "of/staging"')
    const ran = await run('apply', 'staging', { files, inputs: { project: '' }, variables: { WATCHKEEPER_PROJECT: 'shop' } })
    expect(ran.reason).toContain(
      'project: "shop" contradicts "of/staging" in environments/staging.yml; remove the input or WATCHKEEPER_PROJECT',
    )
    expect(methodsOf(emulator())).toEqual([])
    const inputs = { 'service-id': demo.services.search.toUpperCase() }
    expect((await run('plan', 'staging', { inputs })).document).toMatchObject({ status: 'pass' })
  })
})

it('names the environments where a value is missing without one, and the file of the environment with one', async () => {
  const choice = ', or choose an environment with env: production or env: staging'
  expect((await run('plan', '')).reason).toBe(`service-id: is missing; set the input or WATCHKEEPER_SERVICE_ID${choice}`)
  const unset =
    '4 variables of this file are not set; set WATCHKEEPER_VAR_WEBHOOK, WATCHKEEPER_VAR_STAGE, WATCHKEEPER_VAR_THRESHOLD, WATCHKEEPER_VAR_LIMIT'
  for (const operation of ['plan', 'pull']) {
    const { document } = await run(operation, '', { inputs: { 'service-id': demo.services.search } })
    expect(placed(document), operation).toEqual([expect.stringContaining(`${unset}${choice}`)])
  }
  const alone = await invokeText({ inputs: { operation: 'validate' }, files: { [path]: text } })
  expect(placed(alone.document)).toEqual([expect.stringMatching(new RegExp(`${unset}$`))])
  const files = { 'environments/staging.yml': staging.replace('  LIMIT: 50\n', '').replace(/service-id.*/, '') }
  expect(placed((await run('validate', 'staging', { files })).document)).toEqual([
    expect.stringMatching(/LIMIT \}\} is not set; set WATCHKEEPER_VAR_LIMIT, or variables in environments\/staging\.yml$/),
  ])
  expect((await run('plan', 'staging', { files })).reason).toBe(
    'service-id: is missing; set the input or WATCHKEEPER_SERVICE_ID, or the id in environments/staging.yml',
  )
})

it('rejects an unknown environment with the known names', async () => {
  const cases: [string, string][] = [
    ['stagin', 'env: unknown environment "stagin"; did you mean "staging"?; known: production, staging'],
    ['x', 'env: unknown environment "x"; known: production, staging'],
    ['../observability/service', 'env: "../observability/service" is not accepted; accepted: letters, digits, dots'],
    ['..', 'env: ".." is not accepted'],
  ]
  await forEachEntry(cases, async (name, message) => {
    expect((await run('validate', name)).reason).toContain(message)
  })
  const alone = await invokeText({ inputs: { operation: 'validate', env: 'x' }, files: { [path]: text } })
  expect(alone.reason).toBe('env: unknown environment "x"; create environments/x.yml')
  const twice = await run('validate', 'staging', { files: { 'environments/staging.json': '{}' } })
  expect(twice.reason).toBe('env: environments/staging.json and environments/staging.yml are files of one environment; delete one of them')
})

it('rejects a file with errors at their lines', () => {
  const cases: [string, string][] = [
    ['a: [', 'environments/staging.yml:1:'],
    ['service-id: x', 'environments/staging.yml:1:13: service-id: "x" is not accepted; accepted: a UUID'],
    ['service-ids: x', 'environments/staging.yml:1:1: "service-ids" is an unknown setting; did you mean "service-id"?'],
    ['comment: always', '"comment" is not a setting of an environment; set it in .watchkeeper.yml or as an input'],
    ['env: x', '"env" is an unknown setting'],
    ['variables:\n  A-B: x', 'environments/staging.yml:2:3: variables: "A-B" is not a name of a variable'],
    ['variables: { DB_PASSWORD: x }', 'variables: "DB_PASSWORD" may hold a credential'],
    ['variables: { SOURCE: "https://shop:pa55@db.example.com" }', 'variables: "SOURCE" looks like a URL with a user or password, which'],
    [written('variables: { A: "‹env.B›" }'), 'variables: "A" cannot contain an expression'],
    ['variables: { A: [x] }', 'variables.A: ["x"] is not accepted; accepted: a text, a number'],
    [
      'overrides: { alerts: {} }',
      'environments/staging.yml:1:1: "overrides" is not supported any more; make the value a variable of the files, set it in variables',
    ],
    ['adopt: { alert: {} }', 'adopt: "alert" is an unknown field; did you mean "alerts"?'],
    ['adopt: { alerts: { errors: an id } }', 'environments/staging.yml:1:28: adopt.alerts.errors: "an id" is not accepted'],
    [written('adopt: { alerts: { errors: "‹env.ID›" } }'), 'is not accepted; accepted: true, an id'],
    ['[]', 'accepted: a map'],
  ]
  return forEachEntry(cases, async (content, message) => {
    const { reason } = await run('validate', 'staging', { files: { 'environments/staging.yml': content } })
    expect(reason).toContain(message)
  })
})

it('rejects two environments with one service and one project', async () => {
  const same = production.replace(demo.services.catalog, demo.services.search)
  const { reason } = await run('plan', 'staging', { files: { 'environments/production.yaml': same } })
  expect(reason).toBe(
    'environments/staging.yml:1:1: environments/production.yaml:1:1 has the same service and project, so both would write the same objects; set another project in one of the files',
  )
  const common = {
    '.watchkeeper.yml': `service-id: ${demo.services.search}`,
    'environments/staging.yml': staging.replace(/service-id.*/, ''),
    'environments/production.yaml': production.replace(/service-id.*/, ''),
  }
  expect((await run('plan', 'staging', { files: common })).reason).toContain(
    'environments/production.yaml:2:1 has the same service and project',
  )
  const inputs = { 'service-id': demo.services.search }
  expect((await run('plan', 'staging', { files: common, inputs })).reason).toContain('has the same service and project')
  // Without a common service, the job of the other environment can have another input.
  expect((await run('plan', 'staging', { files: { ...common, '.watchkeeper.yml': '' }, inputs })).document.status).toBe('pass')
  const own = await run('plan', 'staging', { files: { 'environments/production.yaml': `${same}project: shop/prod\n` } })
  expect(own.document).toMatchObject({ status: 'pass' })
})

it('rejects a service that another environment has, and a project that both inherit', async () => {
  const files = { 'environments/production.yaml': production.replace(/service-id.*/, '') }
  const inputs = { 'service-id': demo.services.search }
  expect((await run('plan', 'production', { files, inputs })).reason).toContain('has the same service and project')
  const explicit = `service-id: ${demo.services.search}\nproject: shop\nvariables: { STAGE: prod, LIMIT: '5' }\n`
  const inherited = { 'environments/production.yaml': explicit, '.watchkeeper.yml': 'project: shop' }
  expect((await run('plan', 'staging', { files: inherited })).reason).toContain('has the same service and project')
})

it('rejects a service that contradicts the config file of the environment', async () => {
  const files = {
    '.watchkeeper.yml': `service-id: ${demo.services.catalog}`,
    'environments/production.yaml': production.replace(/service-id.*/, ''),
  }
  const { reason } = await run('plan', 'production', { files, variables: { WATCHKEEPER_SERVICE_ID: demo.services.checkout } })
  expect(reason).toContain('in the config file; remove the input or WATCHKEEPER_SERVICE_ID')
})

describe('adopt in the file of an environment', () => {
  const ofStaging = (alerts: string) => ({ 'environments/staging.yml': `${staging}adopt:\n  alerts: ${alerts}\n` })

  /** An alert that another program made. */
  async function unmanagedAlert() {
    await applyAll()
    const [alert] = serviceIn('search').alerts
    if (alert === undefined) throw new Error('nothing was applied')
    return Object.assign(alert, { name: 'Alert', note: 'Look at the logs.' })
  }

  it('links the object in a run with the environment, and in no other', async () => {
    const { id } = await unmanagedAlert()
    const linked = await run('plan', 'staging', { files: ofStaging(`{ errors: ${id} }`) })
    expect(linked.document).toMatchObject({ status: 'fail', toCreate: 0, toUpdate: 0, toHold: 1 })
    const [entry = ''] = /[0-9a-f]{24}@2\.[0-9a-f]{10}\.files/.exec(JSON.stringify(linked.document.diagnostics)) ?? []
    const files = ofStaging(`{ errors: ${entry} }`)
    expect((await run('plan', 'staging', { files })).document).toMatchObject({ status: 'pass', toCreate: 0, toUpdate: 1 })
    const inputs = { 'service-id': demo.services.search }
    const variables = passed({ STAGE: 'staging', LIMIT: '50', WEBHOOK: 'audit', THRESHOLD: '50' })
    expect((await run('plan', '', { files, inputs, variables })).document).toMatchObject({ toCreate: 1, toUpdate: 0 })
    await run('apply', 'staging', { files })
    expect(serviceIn('search').alerts).toMatchObject([{ id, name: 'Errors' }])
    expect((await run('drift', 'staging', { files })).document).toMatchObject({ status: 'pass', changed: false })
  })

  it('decides before the file, whose entry is about another service', async () => {
    const { id } = await unmanagedAlert()
    const inFile = { [path]: text.replace('    interval: 5m', '    adopt: another-service\n    interval: 5m') }
    const plan = async (files: Texts) => (await run('plan', 'staging', { files: { ...inFile, ...files } })).document
    expect(await plan({})).toMatchObject({ toCreate: 1, toUpdate: 0 })
    expect(await plan(ofStaging(`{ errors: ${id} }`))).toMatchObject({ toCreate: 0, toHold: 1 })
  })

  it('names a key that no file declares at its place', async () => {
    const misspelled = await run('validate', 'staging', { files: ofStaging('{ error: a1 }') })
    expect(placed(misspelled.document)).toEqual([
      'environments/staging.yml:8:13 unknown-adoption: adopt.alerts: no file declares the key "error"; did you mean "errors"?',
    ])
    const without = await run('validate', '', {
      files: ofStaging('{ error: a1 }'),
      variables: passed({ STAGE: 'x', LIMIT: '1', WEBHOOK: 'oncall', THRESHOLD: '5' }),
    })
    expect(without.document).toMatchObject({ status: 'pass', objectCount: 2 })
    expect(without.document).not.toHaveProperty('environment')
  })

  it('is where a pull with the environment writes ids, and the other files stay without them', async () => {
    const alert = await unmanagedAlert()
    const files = { [path]: 'alerts: {}\n', 'environments/staging.yml': `# Ours.\n${staging}` }
    const pulled = await run('pull', 'staging', { files })
    const after = Object.fromEntries(pulled.files.map((one) => [one.path, one.content]))
    expect(Object.entries(after).filter(([, content]) => content.includes('adopt'))).toEqual([
      [
        'environments/staging.yml',
        expect.stringMatching(new RegExp(`^# Ours\\.\n${staging}\nadopt:\n  alerts:\n    alert: ${alert.id}@\\S+\n$`)),
      ],
    ])
    expect(pulled.document).toMatchObject({ added: 2, leftOut: 0 })
    const all = { ...files, ...after }
    expect((await run('pull', 'staging', { files: all })).document).toMatchObject({ changed: false, unchanged: 2 })
    expect((await run('plan', 'staging', { files: all })).document).toMatchObject({ toCreate: 0, toUpdate: 0, toAdopt: 1 })
    Object.assign(alert, { threshold: 70 })
    const again = await run('pull', 'staging', { files: all })
    const entries = [after, Object.fromEntries(again.files.map((one) => [one.path, one.content]))].map(
      (written) => /alert: (\S+)/.exec(written['environments/staging.yml'] ?? '')?.[1],
    )
    expect(entries).toEqual([expect.stringContaining(`${alert.id}@`), expect.stringContaining(`${alert.id}@`)])
    expect(entries[0]).not.toBe(entries[1])
    expect(again.document).toMatchObject({ updated: 1, filesWritten: 2 })
  })

  it('replaces the entry of a list in the file by one of the environment', async () => {
    const { id } = await unmanagedAlert()
    const file = text.replace('    interval: 5m', `    adopt: [another-service, ${id}]\n    interval: 5m`)
    const { files, document } = await run('pull', 'staging', { files: { [path]: file } })
    expect(files.map((one) => one.path)).toContain('environments/staging.yml')
    expect(files.find((one) => one.path.startsWith('environments'))?.content).toMatch(
      new RegExp(`adopt:\n  alerts:\n    errors: ${id}@\\S+\n$`),
    )
    expect(files.find((one) => one.path === path)?.content ?? file).toContain(`adopt: [another-service, ${id}]`)
    expect(document.status).not.toBe('fail')
  })

  it('is written into an environment of JSON, and not where an anchor shares it', async () => {
    await unmanagedAlert()
    const json = { 'service-id': demo.services.search, variables: { STAGE: 'staging', LIMIT: 50, WEBHOOK: 'audit', THRESHOLD: 50 } }
    const pull = (file: Texts) => {
      const { 'service-id': _, ...common } = inputsFor(emulator(), 'clickhouse-cloud')
      const inputs = { ...common, operation: 'pull', env: 'staging', project: 'shop' }
      return invokeText({ inputs, files: { [path]: 'alerts: {}\n', ...file } })
    }
    const pulled = await pull({ 'environments/staging.json': JSON.stringify(json, null, 2) })
    const content = pulled.files.find((one) => one.path === 'environments/staging.json')?.content ?? ''
    expect(JSON.parse(content)).toEqual({ ...json, adopt: { alerts: { alert: expect.stringContaining('@') } } })
    const anchored = await pull({ 'environments/staging.yml': `${staging}adopt: &ids {}\n` })
    expect(anchored.files.map((one) => one.path)).not.toContain('environments/staging.yml')
  })
})

describe('a plan file', () => {
  it('a plan file is applied to its environment only', async () => {
    await applyAll()
    const changed = { [path]: text.replace('Look at', 'Read') }
    const planned = await run('plan', 'staging', { files: changed, inputs: { 'plan-file': 'plan.json' } })
    const planFile = planned.files[0]?.content ?? ''
    expect(JSON.parse(planFile)).toMatchObject({ environment: 'staging' })
    const apply = (env: string, plan = planFile) =>
      run('apply', env, { files: { ...changed, 'plan.json': plan }, inputs: { 'plan-file': 'plan.json' } })
    const before = emulator().requests.length
    expect((await apply('production')).reason).toBe(
      'plan-file: "plan.json" is for environment "staging"; set env: staging, or run plan again',
    )
    expect(emulator().requests).toHaveLength(before)
    expect((await apply('staging')).document).toMatchObject({ status: 'pass', changed: true })
    const without = await run('plan', '', {
      files: changed,
      inputs: { 'plan-file': 'plan.json', 'service-id': demo.services.catalog },
      variables: passed({ STAGE: 'prod', LIMIT: '5', WEBHOOK: 'oncall', THRESHOLD: '5' }),
    })
    expect((await apply('production', without.files[0]?.content)).reason).toContain('was made without env; leave it out')
  })
})

describe('pull', () => {
  it('changes nothing where each service is as its environment says', async () => {
    await applyAll()
    for (const env of ['staging', 'production'])
      expect((await run('pull', env)).document).toMatchObject({ status: 'pass', changed: false, unchanged: 2, environment: env })
  })

  it('keeps an expression whose value differs, because it is for all environments', async () => {
    await applyAll()
    const [dashboard] = serviceIn('search').dashboards
    Object.assign(dashboard ?? {}, { name: 'Renamed' })
    const { document } = await run('pull', 'staging')
    expect(document).toMatchObject({ status: 'warn', changed: false, leftOut: 1 })
    expect(document.objects).toContainEqual(
      expect.objectContaining({
        key: 'overview',
        reason: written('the service has another value than Overview (‹env.STAGE›); change the variable in environments/staging.yml'),
      }),
    )
  })
})

it('cannot be set in the config file', async () => {
  const { reason } = await run('validate', '', { files: { '.watchkeeper.yml': 'env: staging' } })
  expect(reason).toBe('.watchkeeper.yml:1:1: "env" cannot be set here, because it would apply to every job; set env')
})
