// S1 and S2: no sink ever holds a secret, in whatever form and from whatever side it came. Every run of every test is searched for
// what it was given (support/run.ts); here the API, a proxy, files and the user themselves try to have it printed.

import { describe, expect, it } from 'vitest'
import { demo, type Effect, type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { createClient } from '../../../src/runtime/library/create-client.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type Failure, type FailureRunOptions, runWithFailure, withTestApi } from '../../support/faults.ts'
import { useReceiver, webhookPath } from '../../support/receiver.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'
import { type ActionOptions, runCli } from '../../support/run-process.ts'
import { expectNoSecret, formsOfSecret } from '../../support/secret-scanner.ts'

/** As nasty as a secret can be: every encoding of it looks different. */
const canary = `p%a"s\\s<&>é'-canary-01234/5678+9=`

/** As harmless as one can be: it passes for a name, an id, a unit. */
const plain = 'Canary0123456789abcdefABCDEF'

const pairOf = (secret: string): string => Buffer.from(`${demo.apiKeyId}:${secret}`).toString('base64')

const open = (emulator: Emulator, secret: string): void => {
  const key = emulator.store.keys.find(({ id }) => id === demo.apiKeyId)
  if (key === undefined) throw new Error('the shop has changed')
  key.secret = secret
}

/** Runs with that secret, which the API accepts. What left the process has been searched when this resolves. */
const meetWith = (
  secret: string,
  action: Parameters<typeof runWithFailure>[0],
  failure: Failure | undefined,
  options: FailureRunOptions = {},
) =>
  runWithFailure(action, failure, {
    ...options,
    prepare: (testApi) => {
      open(testApi.emulator, secret)
      options.prepare?.(testApi)
    },
    inputs: { 'api-key-secret': secret, ...options.inputs },
    secrets: [secret, pairOf(secret)],
  })

/** Runs with that key of a self-hosted server, which accepts it and fails as given. */
async function meetSelfHosted(
  key: string,
  failure: Effect | undefined,
  more: Omit<ActionOptions, 'inputs'> & { readonly inputs?: Record<string, string> } = {},
) {
  const server = await startEmulator({ dialect: 'hyperdx' })
  try {
    open(server, key)
    if (failure !== undefined) server.addFault({ match: { path: '/api/v2' }, times: 9, effect: failure })
    const inputs = { ...inputsFor(server, 'hyperdx'), operation: 'list-sources', 'max-attempts': '1', 'api-key': key, ...more.inputs }
    return await runAsAction({ env: { WATCHKEEPER_DEBUG: '1' }, ...more, inputs, secrets: [key] })
  } finally {
    await server.close()
  }
}

/** A header can send it. */
const sendable = canary.replace('é', '~')

const answer = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Failure => ({
  effect: { kind: 'status', status, body, headers },
})

describe('S1: the secrets of webhooks are sent to the API, and are nowhere else', () => {
  const address = 'https://hooks.example.com'
  const path = '/services/T0CANARY/B0CANARY/canary-0123456789'
  const token = 'Bearer canary-abcdefghij'
  const file = {
    webhooks: {
      pager: {
        name: 'new-pager',
        service: 'generic',
        urlFrom: 'WEBHOOK_PAGER_URL',
        headersFrom: { Authorization: 'WEBHOOK_PAGER_TOKEN' },
        queryParamsFrom: { key: 'WEBHOOK_PAGER_KEY' },
      },
    },
  }
  const env = {
    WEBHOOK_PAGER_URL: `${address}${path}`,
    WEBHOOK_PAGER_TOKEN: token,
    WEBHOOK_PAGER_KEY: plain,
    WATCHKEEPER_DEBUG: '1',
    GITHUB_REPOSITORY: 'shop/infra',
  }
  const run = (server: Emulator, operation: string, inputs: Readonly<Record<string, string>> = {}, files: object = file) =>
    runAsAction({
      env,
      files: { 'observability/a.json': JSON.stringify(files) },
      inputs: { ...inputsFor(server, 'clickhouse-cloud'), operation, ...inputs },
      secrets: [path, token, plain],
    })

  const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

  it('keeps the secrets of webhooks out of a plan file, a result file and the debug log', async () => {
    const planned = await run(emulator(), 'plan', { 'plan-file': 'plan.json', reports: 'json=result.json' })
    expect([planned.exitCode, Object.keys(planned.written).toSorted()]).toEqual([0, ['plan.json', 'result.json']])
    expect((await run(emulator(), 'apply')).exitCode).toBe(0)
    expect(serviceOf(emulator()).webhooks.at(-1)).toMatchObject({ url: env.WEBHOOK_PAGER_URL, headers: { Authorization: token } })
    for (const operation of ['drift', 'pull', 'list-webhooks', 'doctor'])
      expect([operation, (await run(emulator(), operation)).exitCode]).toEqual([operation, 0])
  })

  it('keeps the secrets of webhooks out of the output when the server repeats them', async () => {
    const body = JSON.stringify({ error: `bad ${env.WEBHOOK_PAGER_URL} with ${token} and ${plain}` })
    emulator().addFault({ match: { method: 'POST', path: '/webhooks' }, times: 9, effect: { kind: 'status', status: 400, body } })
    const ran = await run(emulator(), 'apply')
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toContain('bad https://hooks.example.com***')
  })

  it('keeps the secrets of webhooks out of the output when a file has one of them in place of its variable', async () => {
    const literal = { webhooks: { pager: { ...file.webhooks.pager, url: env.WEBHOOK_PAGER_URL, headers: { Authorization: token } } } }
    const ran = await run(emulator(), 'validate', {}, literal)
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toContain('is a secret and must not be in a file')
  })
})

describe.concurrent('S1: the key never leaves the process but to the API', () => {
  it('does not print the key when the API repeats it in any encoding', () =>
    forEachEntry<readonly [number, string]>(
      formsOfSecret(canary).map((form, i) => [i, form] as const),
      async (_, form) => {
        const { outcome } = await meetWith(canary, 'read', answer(400, JSON.stringify({ error: `bad key ${form}, or ${pairOf(canary)}` })))
        expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'refused', problems: [] })
      },
      { atOnce: 4 },
    ))

  it('does not print the key when the API repeats it anywhere in an answer', () =>
    forEachEntry<[string, Failure]>(
      [
        ['as the id of the request', answer(400, JSON.stringify({ error: 'no', requestId: plain }))],
        ['as the id of the request in a header', answer(400, '{"error":"no"}', { 'x-request-id': plain })],
        ['as the id of a request that was fine', { effect: { kind: 'body', text: `{"status":200,"requestId":"${plain}","result":[]}` } }],
        ['as the name of a field', { effect: { kind: 'body', text: `[{"id":"a","${plain}":1}]` } }],
        ['as an id', { effect: { kind: 'body', text: `[{"id":"${plain}","name":"${plain}","kind":"${plain}"}]` } }],
        ['as an id that is none', { effect: { kind: 'body', text: `[{"id":{"${plain}":1}}]` } }],
        ['as a host', answer(302, '', { location: `https://${plain}.example/${plain}?${plain}` })],
        ['as an encoding', { effect: { kind: 'body', text: '[]', headers: { 'content-encoding': plain } } }],
        ['as a page', answer(502, `<html><title>${plain}</title></html>`)],
        ['as no JSON', { effect: { kind: 'body', text: `{"${plain}` } }],
        [
          'as the policy of a rate limit',
          { effect: { kind: 'rate-limited', headers: { 'retry-after': '9999', 'x-ratelimit-policy': plain } } },
        ],
        ['as no HTTP', { replaceAnswer: (wire) => wire.write(`HTTP/1.1 ${plain}\r\n${plain}: ${plain}\r\n\r\n`) }],
      ],
      async (_, failure) => {
        const { ran } = await meetWith(plain, 'read', failure, { times: 9, inputs: { 'max-attempts': '2' } })
        expect(ran.outputs.get('status')).toMatch(/^(?:error|pass)$/)
      },
      { atOnce: 4 },
    ))

  it('does not print the key when a self-hosted server repeats it in any encoding, with the debug log', () =>
    forEachEntry<readonly [number, string]>(
      formsOfSecret(sendable).map((form, i) => [i, form] as const),
      async (_, form) => {
        const body = JSON.stringify({ message: `bad key ${form}` })
        const ran = await meetSelfHosted(sendable, { kind: 'status', status: 400, body })
        expect(ran).toMatchObject({ exitCode: 1, result: { error: { kind: 'refused' } } })
      },
      { atOnce: 4 },
    ))

  it('does not print the key when doctor reads the user of a self-hosted server, whose answer has the key', () =>
    forEachEntry<[string, unknown]>(
      [
        ['where the product shows it', { version: 'v2', user: { accessKey: plain, name: 'Ada', email: 'ada@shop.example' } }],
        ['as the name', { user: { accessKey: plain, name: plain } }],
        ['as the address', { user: { email: `${plain}@shop.example` } }],
        ['in place of the user', { user: plain }],
      ],
      async (_, body) => {
        const ran = await meetSelfHosted(plain, { kind: 'body', text: JSON.stringify(body) }, { inputs: { operation: 'doctor' } })
        expect(ran.stdout).toContain('GET /api/v2 answered 200')
      },
      { atOnce: 4 },
    ))

  it('does not print or export the key when costs contain it', async () => {
    const text = `{"result":{"grandTotalCredits":3,"costs":[${JSON.stringify({
      date: '2026-01-01',
      entityName: plain,
      entityId: plain,
      entityType: plain,
      totalCredits: 3,
      metrics: { [`${plain}Credits`]: 3 },
    })}]}}`
    const reports = 'csv=a.csv\nfocus=b.csv\nopenmetrics=c.txt\nhtml=d.html'
    const inputs = { period: '2026-01-01..2026-01-01', reports }
    const { outcome, ran } = await meetWith(plain, 'read a cost', { effect: { kind: 'body', text } }, { times: 9, inputs })
    expect(outcome).toMatchObject({ exitCode: 0, problems: [] })
    expect(Object.keys(ran.written).sort()).toEqual(['a.csv', 'b.csv', 'c.txt', 'd.html'])
  })

  it('does not print the key when every object in the service has it as a name', async () => {
    const name = (testApi: Parameters<NonNullable<FailureRunOptions['prepare']>>[0]): void => {
      const service = serviceOf(testApi.emulator)
      for (const alert of service.alerts) Object.assign(alert, { name: canary, message: pairOf(canary) })
      for (const dashboard of service.dashboards) Object.assign(dashboard, { name: canary, tags: [canary] })
    }
    for (const operation of ['list-alerts', 'list-dashboards']) {
      const { outcome, ran } = await meetWith(canary, 'read', undefined, { prepare: name, inputs: { operation } })
      expect(outcome).toMatchObject({ exitCode: 0, problems: [] })
      expect(ran.summary).toContain('***')
    }
  })

  it.each<[string, FailureRunOptions]>([
    ['in its config file', { files: { '.watchkeeper.yml': `${plain}: ${plain}\n"${plain}"\n` } }],
    ['in the file of an alert', { files: { 'a.yml': `${plain}: [${plain}]` }, inputs: { operation: 'create-alert', alert: 'a.yml' } }],
    ['as the name of a file', { inputs: { operation: 'create-alert', alert: `${plain}.yml` } }],
    [
      'as every other input',
      { inputs: { profile: plain, 'organization-id': plain, 'max-attempts': plain, 'api-url': `https://${plain}@h` } },
    ],
    ['as the operation', { inputs: { operation: plain } }],
    ['as the name of an input', { env: { [`INPUT_${plain}`]: plain } }],
  ])('does not print the key when the repository or the workflow holds it %s', async (_, options) => {
    const { outcome } = await meetWith(plain, 'read', undefined, options)
    expect(outcome.exitCode).toBe(1)
  })

  it('prints no secret on the command line, wherever it was given', () =>
    forEachEntry<[string, readonly string[]]>(
      [
        ['twice', ['list-sources', '--api-key-secret', `${plain}A`, '--api-key-secret', plain]],
        ['for a command', [plain, '--api-key-secret', plain]],
        ['for a flag', ['list-sources', `--${plain}`, '--api-key-secret', plain]],
        ['with an equals sign', ['list-sources', `--api-key-secret=${plain}`, `--profile=${plain}`]],
        ['without a value after it', ['list-sources', plain, '--api-key-secret']],
        ['as the key of a self-hosted server', ['list-sources', plain, '--profile', 'hyperdx', '--api-key', plain]],
        ['as the key of a server with another profile', ['list-sources', '--profile', plain, `--api-key=${plain}`]],
      ],
      async (_, args) => {
        const ran = await runCli(args, { WATCHKEEPER_API_KEY_SECRET: plain })
        expect(ran.exitCode).toBe(2)
        expectNoSecret(`${ran.stdout}${ran.stderr}`, [plain])
      },
      { atOnce: 4 },
    ))

  it('does not quote the key on the command line when it is given in a wrong place', () =>
    forEachEntry<[string, readonly string[], string?]>(
      [
        ['as another input', ['list-sources', '--profile', canary]],
        ['at the end of a long input', ['list-sources', '--profile', `${'p'.repeat(64)}${canary}`]],
        ['as part of the key id', ['list-sources', '--api-key-id', `id:${canary}`]],
        ['before the command', [`--api-key-secret=${canary}`, 'list-sources'], ''],
        ['before the command, with a blank', ['--api-key-secret', canary, 'list-sources']],
        ['as a token before the command', [`--github-token=${canary}`, 'list-sources'], ''],
        ['to a command that wants none', ['emulator', `--api-key-secret=${canary}`], ''],
        ['by a flag that is misspelt', ['init', `--api-key-secrt=${canary}`], ''],
        ['beside the one that the environment gives', ['list-sources', '--api-key-secret', 'another-secret', '--profile', canary]],
      ],
      async (_, args, secret = canary) => {
        const ran = await runCliInside(args, { env: { WATCHKEEPER_API_KEY_SECRET: secret } })
        expect(ran.exitCode).toBe(2)
        expectNoSecret(`${ran.stdout}${ran.stderr}`, [canary, canary.slice(0, 12)])
      },
    ))

  it('does not print a part of the key when the API repeats it', () =>
    forEachEntry<[string, string]>(
      [
        ['cut short', canary.slice(0, 20)],
        ['without its beginning', canary.slice(-20)],
        ['in capitals', canary.toUpperCase()],
        ['in two pieces', `${canary.slice(0, 16)}<b></b>${canary.slice(16)}`],
      ],
      async (_, piece) => {
        const { ran } = await meetWith(canary, 'read', answer(403, JSON.stringify({ error: `no: ${piece} is no key` })))
        const shown = ran.stdout.replace(/^::add-mask::.*\n/gm, '') + ran.summary
        expect(shown).toContain('no: ***')
        expect(shown).not.toContain(piece.slice(0, 16))
      },
    ))

  it('shows no key in the progress of the library', async () => {
    await withTestApi(answer(503, JSON.stringify({ error: plain })), {}, async ({ url, emulator }) => {
      open(emulator, plain)
      const lines: string[] = []
      const place = { organizationId: demo.organizationId, serviceId: demo.services.checkout }
      const client = createClient({
        apiUrl: url,
        apiKeyId: demo.apiKeyId,
        apiKeySecret: plain,
        ...place,
        onProgress: (line) => lines.push(line),
      })
      await client.listSources()
      expect(lines.join('\n')).toContain('***')
      expectNoSecret(lines.join('\n'), [plain])
    })
  })
})

describe.concurrent('S2: only secrets are masked, before any other line is printed', () => {
  it('masks every form of the key before any other line, also when the rest of the input is wrong', async () => {
    const { ran } = await meetWith(canary, 'read', undefined, { preload: {}, inputs: { operation: 'nonsense' } })
    const lines = ran.stdout.split('\n')
    const masks = lines.filter((line) => line.startsWith('::add-mask::'))
    expect(lines.slice(0, masks.length)).toEqual(masks)
    for (const form of [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64'), pairOf(canary)])
      expect(masks).toContain(`::add-mask::${form.replaceAll('%', '%25')}`)
  })

  it('masks every form of the key of a self-hosted server, from the input and from the variable', async () => {
    const other = 'Other0123456789abcdefABCDEF'
    const ran = await meetSelfHosted(sendable, undefined, {
      env: { WATCHKEEPER_API_KEY: ` ${other}\n` },
      inputs: { operation: 'nonsense' },
    })
    const lines = ran.stdout.split('\n')
    const masks = lines.filter((line) => line.startsWith('::add-mask::'))
    expect(lines.slice(0, masks.length)).toEqual(masks)
    for (const key of [sendable, other])
      for (const form of [key, encodeURIComponent(key), Buffer.from(key).toString('base64')])
        expect(masks).toContain(`::add-mask::${form.replaceAll('%', '%25')}`)
  })

  it('masks no id of an organization, a service or an object', async () => {
    const { ran } = await runWithFailure('create', undefined)
    const masks = ran.stdout
      .split('\n')
      .filter((line) => line.startsWith('::add-mask::'))
      .join('\n')
    for (const id of [demo.organizationId, demo.services.checkout, ran.outputs.get('id') ?? '']) expect(masks).not.toContain(id)
  })

  it('rejects a key that is too short to be hidden', async () => {
    const { outcome, ran } = await runWithFailure('read', undefined, { inputs: { 'api-key-secret': 'short77' } })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '' })
    expect(ran.outputs.get('failure-reason')).toBe(
      'api-key-secret: is not accepted; accepted: at least 8 characters, without control characters',
    )
  })

  it.each([`${demo.apiKeySecret}\n`, ` ${demo.apiKeySecret}`, `${demo.apiKeySecret}\r\n`])(
    'removes white space around the key, and warns about it',
    async (secret) => {
      const { outcome, ran } = await runWithFailure('read', undefined, { inputs: { 'api-key-secret': secret } })
      expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', problems: [] })
      expect(ran.stdout).toContain('api-key-secret has leading or trailing white space, which is ignored')
    },
  )
})

// Every run is searched for the path of its webhook, see `credentialsOf` in support/run-process.ts.
describe('S1: the URL of a webhook is sent to its host only, and the key is never sent there', () => {
  const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })
  const receiver = useReceiver()
  const run = (inputs: Readonly<Record<string, string>> = {}) =>
    runAsAction({
      inputs: {
        ...inputsFor(emulator()),
        operation: 'usage-cost',
        period: 'last-7-days',
        budget: '0',
        'notify-url': receiver().url,
        ...inputs,
      },
    })

  it('does not print the URL of a webhook when the receiver repeats it in any encoding', () =>
    forEachEntry(formsOfSecret(webhookPath), async (form) => {
      receiver().answer({ status: 404, body: `nothing at ${form}, sorry` })
      expect((await run()).stdout).toContain(`${receiver().host} answered 404: nothing at `)
    }))

  it('does not print the URL of a webhook when the receiver redirects to it', async () => {
    receiver().answer({ status: 302, headers: { location: `https://elsewhere.example${webhookPath}?${webhookPath}` } })
    expect((await run()).stdout).toContain('a redirect to https://elsewhere.example. Redirects are not followed.')
  })

  it('does not print the URL of a webhook when it is rejected as an input, or given as every other input', async () => {
    const url = `http://hooks.example${webhookPath}`
    const others = ['operation', 'profile', 'organization-id', 'budget', 'reports', 'comment-label']
    for (const name of ['notify-url', ...others]) {
      const ran = await run({ 'notify-url': url, ...(name !== 'notify-url' && { [name]: url }) })
      expect(ran.outputs.get('status')).toBe('error')
    }
    expect(receiver().messages).toEqual([])
  })

  it('prints no secret on the command line, wherever it was given', async () => {
    const url = `https://hooks.example${webhookPath}`
    for (const args of [
      ['list-sources', '--notify-url', url, '--notify-url', url],
      ['list-sources', `--notify-url=${url}`, `--profile=${url}`],
      [url],
    ]) {
      const ran = await runCli(args, { WATCHKEEPER_NOTIFY_URL: url })
      expect(ran.exitCode).toBe(2)
    }
  })

  it('masks the URL of a webhook before any other line, as a whole and without its host', async () => {
    const { stdout } = await run()
    const lines = stdout.split('\n')
    const masks = lines.filter((line) => line.startsWith('::add-mask::'))
    expect(lines.slice(0, masks.length)).toEqual(masks)
    expect(masks).toContain(`::add-mask::${receiver().url}`)
    expect(masks).toContain(`::add-mask::${webhookPath}`)
    expect(masks).not.toContain(`::add-mask::${receiver().host}`)
  })

  it('sends no key to a webhook, not even when the API repeats it in the reason of a failure', async () => {
    for (const format of ['slack', 'teams', 'json']) {
      emulator().addFault({ effect: { kind: 'status', status: 400, body: JSON.stringify({ error: `bad key ${demo.apiKeySecret}` }) } })
      await run({ 'notify-format': format })
    }
    const [slack, teams, json] = receiver().messages
    for (const message of [slack, teams, json]) {
      for (const part of ['bad key', '***']) expect(message?.text).toContain(part)
      expect(message?.headers).not.toHaveProperty('authorization')
      expectNoSecret(JSON.stringify(message), [demo.apiKeySecret, pairOf(demo.apiKeySecret)])
    }
  })
})
