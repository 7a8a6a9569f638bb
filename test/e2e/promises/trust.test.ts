// S3 to S5, S7 and W4: where requests go, what follows them, and which of them are sent at all.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toKebab } from '../../../src/core/names.ts'
import type { Effect } from '../../../src/emulator/index.ts'
import { alertCollection } from '../../../src/kinds/alert/alert.ts'
import type { Operation } from '../../../src/operation/operation.ts'
import { operationNames, operations } from '../../../src/operations.ts'
import { forEachEntry, hostile } from '../../support/corpus.ts'
import { ids, inputsFor, methodsOf, storesNothing, useEmulator } from '../../support/emulator.ts'
import { runWithFailure } from '../../support/faults.ts'
import { invokeText } from '../../support/invoke.ts'
import { startRawServer } from '../../support/raw-server.ts'
import { useReceiver } from '../../support/receiver.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { apiErrorOf, service, type TestSession, withSession } from '../../support/session.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const values = (name: string): readonly string[] =>
  (JSON.parse(readFileSync(new URL(`../../corpus/${name}.json`, import.meta.url), 'utf8')) as { value: string }[]).map(({ value }) => value)

describe('S3: the key goes over https, or to this very machine', () => {
  it('sends nothing to a plain http or unusual address', () =>
    forEachEntry(values('addresses'), async (url) => {
      const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation: 'list-sources', 'api-url': url } })
      expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'input' } })
      expect(ran.reason).toMatch(/^api-url: /)
      expect(emulator().requests).toEqual([])
    }))

  it('the built bundle rejects a plain http or unusual address, and quotes no password', async () => {
    const { outcome, ran } = await runWithFailure('read', undefined, {
      url: 'http://user:hunter2-hunter2@api.example.com',
      secrets: ['hunter2-hunter2'],
    })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '', problems: [] })
    expect(ran.outputs.get('failure-reason')).toMatch(/^api-url: /)
  })

  const far = 'http://10.1.2.3:8000'
  const refusal = 'would send the key unencrypted; use https, or set allow-http: true if you trust the network in between'

  it('plain http beyond this machine needs allow-http, which no file of the repository can set', async () => {
    const files = { '.watchkeeper.yml': 'allow-http: true\n' }
    for (const profile of ['', 'clickhouse-cloud', 'hyperdx']) {
      const inputs = { ...(profile === 'hyperdx' ? inputsFor(emulator(), profile) : inputsFor(emulator())), profile, 'api-url': far }
      const refused = await runAsAction({ inputs: { operation: 'list-sources', ...inputs } })
      expect(refused).toMatchObject({ exitCode: 1, result: { error: { kind: 'input' } } })
      expect(refused.outputs.get('failure-reason')).toBe(`api-url: "${far}" ${refusal}`)
      const inFile = await runAsAction({ inputs: { operation: 'list-sources', ...inputs }, files })
      expect(inFile.exitCode).toBe(1)
      expect(inFile.outputs.get('failure-reason')).toContain('.watchkeeper.yml:1:1: "allow-http" cannot be set in a file of the repository')
      expect(inFile.outputs.get('failure-reason')).toContain(refusal)
    }
  })

  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
    ['the input', { 'allow-http': 'true' }, {}],
    ['the environment', {}, { WATCHKEEPER_ALLOW_HTTP: 'true' }],
  ])('with allow-http from %s, the log says that the key travels unencrypted, before the first request', async (_, more, env) => {
    // A name that no resolver knows: nothing is sent.
    const inputs = {
      ...inputsFor(emulator(), 'hyperdx'),
      operation: 'list-sources',
      'api-url': 'http://hyperdx.invalid:8000',
      'max-attempts': '1',
    }
    const ran = await runAsAction({ inputs: { ...inputs, ...more }, env: { WATCHKEEPER_DEBUG: '1', ...env } })
    expect(ran).toMatchObject({ exitCode: 1, result: { error: { kind: 'network' } } })
    const note = ran.stdout.indexOf('The key travels unencrypted to hyperdx.invalid:8000, because allow-http is set')
    expect(note).toBeGreaterThan(-1)
    expect(note).toBeLessThan(ran.stdout.indexOf('Server version: unknown'))
  })
})

describe('S4: no redirect is followed, wherever it leads and whatever was sent', () => {
  const actions: Readonly<Record<string, (session: TestSession) => Promise<unknown>>> = {
    GET: ({ api }) => alertCollection.list(api, service),
    POST: ({ api }) => alertCollection.create(api, service, { name: 'x' }),
    PUT: ({ api }) =>
      alertCollection.update(api, service, {
        id: ids.alert,
        reading: { object: { id: ids.alert }, readAtMs: Number.POSITIVE_INFINITY },
        compose: () => ({ name: 'x' }),
      }),
    DELETE: ({ api }) => alertCollection.remove(api, service, ids.alert),
  }
  const cases = [301, 302, 303, 307, 308].flatMap((status) => Object.keys(actions).map((method) => [status, method] as const))

  it('follows no redirect after any status and method', () =>
    forEachEntry<readonly [number, string]>(cases, async (status, method) => {
      const other = await startRawServer((wire) => wire.end())
      const targets: readonly (readonly [string | undefined, string])[] = [
        [`http://127.0.0.1:${other.port}/x`, `http://127.0.0.1:${other.port}`],
        [`http://localhost:${other.port}/x`, `http://localhost:${other.port}`],
        [`//127.0.0.1:${other.port}/x`, `http://127.0.0.1:${other.port}`],
        [`https://127.0.0.1:${other.port}/x`, `https://127.0.0.1:${other.port}`],
        ['/elsewhere?a=b', emulator().url],
        ['?a=b', emulator().url],
        ['http://[', 'without a usable target'],
        [undefined, 'without a usable target'],
      ]
      for (const [location, reported] of targets) {
        emulator().reset()
        const effect: Effect = { kind: 'status', status, ...(location !== undefined && { headers: { location } }) }
        const error = await apiErrorOf(withSession(emulator(), actions[method] ?? (() => Promise.resolve()), { faults: [{ effect }] }))
        expect(error.message.split('\n')[0]).toContain(reported)
        expect(error.message.split('\n')[0]).not.toContain('a=b')
        expect(methodsOf(emulator())).toEqual([method])
      }
      await other.close()
      expect(other.received).toEqual([])
    }))
})

describe.concurrent('S5: nothing in the repository decides where the key goes', () => {
  const files = {
    '.env': 'HTTP_PROXY=http://127.0.0.1:9\nWATCHKEEPER_API_URL=https://evil.example\nNODE_OPTIONS=--require ./evil.cjs\n',
    '.npmrc': 'proxy=http://127.0.0.1:9\nhttps-proxy=http://127.0.0.1:9\n',
    'package.json': '{ "type": "commonjs", "proxy": "http://127.0.0.1:9", "main": "evil.cjs" }',
    'evil.cjs': 'process.stdout.write("evil")',
    'undici.js': 'process.stdout.write("evil")',
    'node_modules/undici/index.js': 'process.stdout.write("evil")',
    'node_modules/@actions/core/index.js': 'process.stdout.write("evil")',
  }

  it('files that other tools would read change nothing', async () => {
    const { outcome, ran } = await runWithFailure('read', undefined, { files })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET', added: 0, problems: [] })
    expect(ran.stdout).not.toContain('evil')
  })

  it('the config file is refused for each key that would, by the name of the key', async () => {
    const text = [
      'api-url: https://evil.example',
      'api-key-id: evil',
      'api-key-secret: evil-evil-evil',
      'api-key: evil-evil-evil',
      'allow-http: true',
      'https-proxy: http://evil',
      'reports: json=/tmp/evil',
      'notify-url: https://evil.example/services/T0EVIL',
      'ui-url: https://evil.example',
      'warn-only: true',
    ].join('\n')
    const { outcome, ran } = await runWithFailure('read', undefined, { files: { '.watchkeeper.yml': text } })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '' })
    for (const [i, key] of ['api-url', 'api-key-id', 'api-key-secret', 'api-key', 'allow-http'].entries())
      expect(ran.outputs.get('failure-reason')).toContain(`.watchkeeper.yml:${i + 1}:1: "${key}" cannot be set in a file of the repository`)
    for (const [i, key] of ['reports', 'notify-url', 'ui-url', 'warn-only'].entries())
      expect(ran.outputs.get('failure-reason')).toContain(`.watchkeeper.yml:${i + 7}:1: "${key}" cannot be set in a file of the repository`)
    expect(ran.outputs.get('failure-reason')).toContain('"https-proxy" is an unknown setting')
  })

  it('the file of an environment is refused for each key that would, at its line', async () => {
    const keys = [
      'api-url',
      'api-key-id',
      'api-key-secret',
      'api-key',
      'allow-http',
      'github-token',
      'config',
      'reports',
      'ui-url',
      'warn-only',
      'https-proxy',
    ]
    const inputs = { ...inputsFor(emulator()), operation: 'plan', project: 'shop/env', env: 'staging', files: 'a.json' }
    const files = { 'a.json': '{}', 'environments/staging.yml': keys.map((key) => `${key}: http://evil.example`).join('\n') }
    const ran = await runAsAction({ inputs, files })
    expect(ran.exitCode).toBe(1)
    expect(emulator().requests).toEqual([])
    for (const [i, key] of keys.entries())
      expect(ran.outputs.get('failure-reason')).toContain(
        `environments/staging.yml:${i + 1}:1: "${key}" ${key === 'https-proxy' ? 'is an unknown setting' : 'cannot be set in a file of the repository'}`,
      )
  })

  it('a variable of an environment is no variable of the process', async () => {
    const inputs = { ...inputsFor(emulator()), operation: 'validate', env: 'staging', files: 'a.json' }
    const variables = ['HTTPS_PROXY', 'HTTP_PROXY', 'WATCHKEEPER_API_URL', 'GITHUB_TOKEN']
    const files = {
      'a.json': '{}',
      'environments/staging.yml': JSON.stringify({ variables: Object.fromEntries(variables.map((name) => [name, 'http://evil.example'])) }),
    }
    const { reason } = await invokeText({ inputs, files })
    for (const name of variables) expect(reason).toContain(`variables: "${name}" may hold a credential`)
  })
})

describe.concurrent('S9: files see only the variables that are passed to them', () => {
  const canary = 'Canary0123456789'

  const validateWith = (env: Readonly<Record<string, string>>, names: readonly string[]) => {
    const alerts = Object.fromEntries(
      names.map((name, i) => [`a${i}`, { name: `\u0024{{ env.${name} }}`, interval: `\u0024{{ env.${name} }}` }]),
    )
    return runAsAction({
      inputs: { operation: 'validate', profile: 'clickhouse-cloud', reports: 'sarif=all.sarif' },
      env,
      files: { 'observability/a.json': JSON.stringify({ alerts }) },
      secrets: [canary],
    })
  }

  it('no variable of a shell or a runner is inserted, whatever its name', async () => {
    const names = [
      'DATABASE_URL',
      'SLACK_WEBHOOK_URL',
      'PGPASSWORD',
      'clientSecret',
      'API_KEYS',
      'DEPLOY_KEY',
      'SENTRY_DSN',
      'KUBECONFIG',
      'AWS_SESSION_TOKEN',
      'GITHUB_TOKEN',
      'MY_VALUE',
      'x',
    ]
    const ran = await validateWith(Object.fromEntries(names.map((name) => [name, canary])), names)
    expect(ran.exitCode).toBe(1)
    const { diagnostics } = ran.result as { diagnostics: readonly { readonly rule: string; readonly message: string }[] }
    // Variables that are not set share one diagnostic.
    for (const name of names) {
      const reported = new RegExp(`are not set; set .*\\bWATCHKEEPER_VAR_${name}\\b|env\\.${name} .*may hold a credential`)
      expect([name, diagnostics.some(({ rule, message }) => rule === 'variable' && reported.test(message))]).toEqual([name, true])
    }
  })

  it('inserts a variable that is passed', async () => {
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator()), operation: 'plan', project: 'shop/vars' },
      env: { WATCHKEEPER_VAR_STAGE: 'staging', STAGE: canary },
      files: {
        'observability/a.json': JSON.stringify({ dashboards: { d: { name: 'Shop \u0024{{ env.STAGE }}', tags: ['t'], tiles: [] } } }),
      },
      secrets: [canary],
    })
    expect(ran.exitCode).toBe(0)
    expect(ran.result).toMatchObject({ objects: [{ name: 'Shop staging' }] })
  })

  it('rejects a variable whose value looks like a credential, by its name', async () => {
    const value = `postgres://shop:${canary}@db.example.com/shop`
    const ran = await validateWith({ WATCHKEEPER_VAR_SOURCE: value }, ['SOURCE'])
    expect(ran.exitCode).toBe(1)
    expect(JSON.stringify(ran.result)).toContain(
      'env.SOURCE }} looks like a URL with a user or password, which is never inserted into a file',
    )
  })

  it('no file of the repository passes a variable', async () => {
    const files = {
      'observability/a.json': JSON.stringify({ alerts: { a: { name: '\u0024{{ env.MY_VALUE }}' } } }),
      '.watchkeeper.yml': 'env-allow: MY_VALUE\nvariables:\n  MY_VALUE: x\n',
      '.env': 'WATCHKEEPER_VAR_MY_VALUE=x\n',
    }
    const ran = await runAsAction({ inputs: { operation: 'validate' }, env: { MY_VALUE: canary }, files, secrets: [canary] })
    expect(ran.exitCode).toBe(1)
    expect(ran.outputs.get('failure-reason')).toContain('is an unknown setting')
  })
})

describe('S7: only ids get into a path', () => {
  const byId = {
    'get-alert': 'id',
    'delete-alert': 'id',
    'get-dashboard': 'id',
    'delete-dashboard': 'id',
    'get-backup': 'id',
  }
  const wrong = [...values('ids'), ...hostile.map(({ value }) => value)].filter(
    (value) => !/^(?!\.{1,2}$)[\w.~-]{0,128}$/.test(value.trim()),
  )

  it('every operation rejects every other id', () =>
    forEachEntry([...Object.entries(byId), ['list-alerts', 'service-id'], ['usage-cost', 'organization-id']], async (operation, input) => {
      for (const value of wrong) {
        const ran = await invokeText({
          inputs: { ...inputsFor(emulator()), operation, period: operation === 'usage-cost' ? 'today' : '', [input]: value },
        })
        expect(ran.document, JSON.stringify(value).slice(0, 80)).toMatchObject({ status: 'error', error: { kind: 'input' } })
      }
      expect(emulator().requests).toEqual([])
    }))

  it('observability-path rejects every other path', async () => {
    for (const value of wrong.filter((text) => !/^[a-z0-9][a-z0-9-]{0,62}$/.test(text.trim()))) {
      const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation: 'list-alerts', 'observability-path': value } })
      expect(ran.document, JSON.stringify(value).slice(0, 80)).toMatchObject({ status: 'error', error: { kind: 'input' } })
    }
    expect(emulator().requests).toEqual([])
  })

  it('an unsafe id from the API is shown and never written to', () =>
    forEachEntry(
      ['..', '.', 'a:b', '65f5e4a35eedc0de000000:f'],
      async (id) => {
        const [alert] = emulator().store.organizations[0]?.services[0]?.alerts ?? []
        const answer = JSON.stringify([{ ...alert, id, name: 'Meet' }])
        emulator().addFault({ effect: { kind: 'body', text: answer } })
        const document = {
          ...{ name: 'Meet', dashboard: alert?.dashboardId, tile: alert?.tileId, threshold: 1, interval: '1h' },
          channel: { type: 'webhook', webhookId: ids.webhook },
        }
        const inputs = { ...inputsFor(emulator()), operation: 'create-alert', 'if-exists': 'update', alert: JSON.stringify(document) }
        const ran = await invokeText({ inputs })
        expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'bad-answer' } })
        expect(ran.reason).toContain(`The API returned "${id}" as the id of this alert. It is not safe in a URL path`)
        expect(methodsOf(emulator())).toEqual(['GET'])
      },
      { before: () => emulator().reset() },
    ))
})

const adopted = readFileSync(new URL('../../../examples/adopt/alerts.yml', import.meta.url), 'utf8')

const effects: readonly Effect[] = [
  { kind: 'reset' },
  { kind: 'reset-in-body' },
  { kind: 'truncate' },
  { kind: 'html' },
  { kind: 'body', text: '' },
  { kind: 'body', text: '{"error":"x"}' },
  { kind: 'rate-limited' },
  ...[302, 400, 401, 403, 404, 409, 500, 503].map((status): Effect => ({ kind: 'status', status })),
]

/** The files that the examples of operations name. */
const exampleFiles = {
  'alerts.yml': adopted,
  'examples/adopt/alerts.yml': adopted,
  'examples/incidents/checkout.yml': readFileSync(new URL('../../../examples/incidents/checkout.yml', import.meta.url), 'utf8'),
  'examples/slos/checkout.yml': readFileSync(new URL('../../../examples/slos/checkout.yml', import.meta.url), 'utf8'),
}

const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

it('W4: a backtest sends nothing but reads and queries for values, and leaves the service as it was', async () => {
  const before = structuredClone(selfHosted().store)
  const inputs = {
    ...inputsFor(selfHosted(), 'hyperdx'),
    operation: 'backtest',
    files: 'examples/adopt/*.yml',
    project: 'shop/main',
    only: 'all',
  }
  const { document } = await invokeText({ inputs, files: { 'examples/adopt/alerts.yml': adopted } })
  // No row of the emulator matches the condition of the alert, which a backtest warns of.
  expect(document).toMatchObject({ status: 'warn', alertCount: 1 })
  const { requests, store } = selfHosted()
  expect(requests.filter((one) => one.method !== 'GET' && !storesNothing(one))).toEqual([])
  expect(requests.some(({ path }) => path.endsWith('/charts/series'))).toBe(true)
  expect(store).toEqual(before)
})

/** Every third of them, others for each operation: together all of them several times. */
const effectsFor = (turn: number): readonly Effect[] => effects.filter((_, i) => i % 3 === turn % 3)

const all = await Promise.all(operationNames.map(async (name) => ({ name, operation: (await operations[name]()) as Operation })))

it.each(all)('W4: what only reads changes nothing, whatever is answered; $name', async ({ name, operation }) => {
  // On a product that has the operation.
  const isForServer = operation.profiles?.includes('hyperdx') === true
  const server = isForServer ? selfHosted() : emulator()
  const example = Object.entries(operation.example).map(([key, value]) => [toKebab(key), String(value)])
  const place = isForServer ? inputsFor(server, 'hyperdx') : inputsFor(server)
  const inputs = { ...place, 'max-attempts': '2', operation: name, ...Object.fromEntries(example) }
  for (const effect of effectsFor(operationNames.indexOf(name))) {
    server.reset()
    server.addFault({ times: 3, effect })
    await invokeText({ inputs, files: exampleFiles })
    const writes = server.requests.filter((one) => one.method !== 'GET' && !storesNothing(one))
    if (operation.effect === 'read') expect(writes, JSON.stringify(effect)).toEqual([])
    else expect(server.requests.length).toBeGreaterThan(0)
  }
})

describe('W4: a notification is one POST to its own host', () => {
  const receiver = useReceiver()
  // Parallel requests have no order.
  const sent = () =>
    emulator()
      .requests.map(({ method, path }) => `${method} ${path}`)
      .sort()

  it('operations that only read send one notification, and the API gets no other request', async () => {
    for (const { name, operation } of all.filter(({ operation: one }) => one.effect === 'read')) {
      const example = Object.entries(operation.example).map(([key, value]) => [toKebab(key), String(value)])
      const inputs = { ...inputsFor(emulator()), operation: name, ...Object.fromEntries(example) }
      const files = { 'examples/adopt/alerts.yml': adopted }
      await runAsAction({ inputs, files })
      const quiet = sent()
      emulator().reset()
      await runAsAction({ inputs: { ...inputs, 'notify-url': receiver().url, 'notify-on': 'always' }, files })
      expect(sent(), name).toEqual(quiet)
      expect(receiver().messages.at(-1), name).toMatchObject({ method: 'POST', json: { text: expect.stringContaining(name) } })
      emulator().reset()
    }
    expect(receiver().messages).toHaveLength(all.filter(({ operation }) => operation.effect === 'read').length)
  })
})
