// A self-hosted server, from the built bundle and the command line.
import { describe, expect, it } from 'vitest'
import { demo, type Effect, type Emulator, type EmulatorOptions, startEmulator } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { problemsWithRun } from '../../support/output-oracle.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { type ActionOptions, type RanAction, runCli } from '../../support/run-process.ts'
import { errors, many, shop, slow } from '../../support/shop-declaration.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: { limit: 1000, windowMs: 1000 } })

const run = (
  inputs: Readonly<Record<string, string>>,
  more: Omit<ActionOptions, 'inputs'> = {},
  server: Pick<Emulator, 'url'> = emulator(),
) =>
  runAsAction({
    ...more,
    inputs: { operation: 'list-alerts', ...inputsFor(server, 'hyperdx'), 'max-attempts': '1', ...inputs },
  })

async function withServer<T>(options: EmulatorOptions, use: (server: Emulator) => Promise<T>): Promise<T> {
  const server = await startEmulator({ dialect: 'hyperdx', ...options })
  try {
    return await use(server)
  } finally {
    await server.close()
  }
}

/** Where a user may look for the reason. */
const placesOf = (ran: RanAction): readonly string[] => [
  ran.stdout,
  ran.summary,
  String(ran.result?.failureReason),
  ran.outputs.get('failure-reason') ?? '',
]

const hostOf = ({ url }: Pick<Emulator, 'url'>): string => new URL(url).host

describe('an error says the cause, the host and what to do', () => {
  const cases: readonly (readonly [string, EmulatorOptions, (server: Emulator) => Readonly<Record<string, string>>, readonly string[]])[] =
    [
      [
        'a wrong key',
        {},
        () => ({ 'api-key': 'a-key-that-opens-nothing-at-all' }),
        ['The API answered 401: Unauthorized', 'Copy the personal API access key from the Team Settings of HyperDX'],
      ],
      [
        'the address of the UI',
        {},
        ({ url }) => ({ 'api-url': `${url}/wrong` }),
        ['The API answered 404', 'api-url is wrong, or this server is older than 2.30', '/wrong/api'],
      ],
      [
        'an old server',
        { serverVersion: '2.28.0' },
        () => ({}),
        ['HyperDX 2.28.0 at', 'is too old: Watchkeeper needs 2.30 or newer', 'Upgrade the server'],
      ],
    ]

  it('an error says the cause, the host and what to do in the log, the summary, the result file and the output', () =>
    forEachEntry(
      cases.map(([name]) => [name]),
      async (wanted) => {
        const [, options, inputs, words] = cases.find(([name]) => name === wanted) ?? cases[0] ?? []
        if (options === undefined || inputs === undefined || words === undefined) throw new Error('no such case')
        await withServer(options, async (server) => {
          const ran = await run(inputs(server), {}, server)
          expect(ran.exitCode).toBe(1)
          expect(problemsWithRun(ran)).toEqual([])
          // The summary escapes what Markdown would read.
          const plain = placesOf(ran).map((text) => text.replaceAll('\\', ''))
          for (const text of plain) for (const word of [...words, hostOf(server)]) expect(text).toContain(word)
        })
      },
    ))

  it('an error says the cause, the host and what to do on the command line, with the exit code of its kind', async () => {
    const env = {
      WATCHKEEPER_PROFILE: 'hyperdx',
      WATCHKEEPER_API_URL: emulator().url,
      WATCHKEEPER_API_KEY: 'a-key-that-opens-nothing-at-all',
    }
    const ran = await runCli(['list-alerts'], env)
    expect(ran.exitCode).not.toBe(0)
    expect(`${ran.stdout}${ran.stderr}`).toContain('Copy the personal API access key')
    expect(`${ran.stdout}${ran.stderr}`).toContain(hostOf(emulator()))
  })
})

describe('a repository of declarations', () => {
  const files = { 'observability/shop.json': JSON.stringify({ dashboards: { shop }, savedSearches: { slow }, alerts: { errors, many } }) }

  it('a repository of declarations is applied, and the next plan is empty; log, summary and result name the server', async () => {
    const project = { project: 'shop/main' }
    const applied = await run({ operation: 'apply', ...project }, { files })
    expect(applied).toMatchObject({ exitCode: 0, result: { status: 'pass', changed: true, serverUrl: `${emulator().url}/api/v2` } })
    expect(applied.summary).toContain(`Server \`${emulator().url}/api/v2\``)
    const planned = await run({ operation: 'plan', ...project }, { files })
    expect(planned).toMatchObject({ exitCode: 0, result: { status: 'pass', changed: false } })
    const drift = await run({ operation: 'drift', ...project }, { files })
    expect(drift.exitCode).toBe(0)
  })

  it('a repository of declarations is not applied by a plan file of another server', () =>
    withServer({}, async (other) => {
      const project = { project: 'shop/main', 'plan-file': 'it.plan.json' }
      const planned = await run({ operation: 'plan', ...project }, { files })
      const plan = planned.written['it.plan.json'] ?? ''
      expect(JSON.parse(plan)).toMatchObject({ serverUrl: `${emulator().url}/api/v2` })
      const refused = await run({ operation: 'apply', ...project }, { files: { ...files, 'it.plan.json': plan } }, other)
      expect(refused.exitCode).toBe(1)
      expect(refused.outputs.get('failure-reason')).toContain('serverUrl was')
      expect(other.requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/validate'))).toEqual([])
      const applied = await run({ operation: 'apply', ...project }, { files: { ...files, 'it.plan.json': plan } })
      expect(applied).toMatchObject({ exitCode: 0, result: { changed: true } })
    }))
})

describe('the command line', () => {
  it('reads flags and variables, and never asks for an organization', async () => {
    const ran = await runCli(['list-sources', '--profile', 'hyperdx', '--api-url', emulator().url], {
      WATCHKEEPER_API_KEY: demo.apiKeySecret,
    })
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toContain(`Server ${emulator().url}/api/v2`)
  })

  it('the command line says in the log that the key travels unencrypted, before the first request', async () => {
    // A name that no resolver knows: nothing leaves this machine.
    const ran = await runCli(['list-sources', '--profile', 'hyperdx', '--api-url', 'http://hyperdx.invalid:8000', '--max-attempts', '1'], {
      WATCHKEEPER_API_KEY: demo.apiKeySecret,
      WATCHKEEPER_ALLOW_HTTP: 'true',
      WATCHKEEPER_DEBUG: '1',
    })
    expect(ran.exitCode).not.toBe(0)
    const log = ran.stderr
    expect(log).toContain('The key travels unencrypted to hyperdx.invalid:8000, because allow-http is set')
    expect(log.indexOf('travels unencrypted')).toBeLessThan(log.indexOf('Server version: unknown'))
  })
})

describe('the key is printed nowhere', () => {
  const { apiKeySecret } = demo
  const user = { accessKey: apiKeySecret, name: 'Ada', email: 'ada@shop.example', team: 't' }
  const answers: readonly (readonly [string, Effect])[] = [
    ['as the product does', { kind: 'body', text: JSON.stringify({ version: 'v2', user }) }],
    ['as a name', { kind: 'body', text: JSON.stringify({ user: { name: apiKeySecret } }) }],
    ['as an address', { kind: 'body', text: JSON.stringify({ user: { email: `${apiKeySecret}@shop.example` } }) }],
    [
      'in another form',
      { kind: 'body', text: JSON.stringify({ user: `${apiKeySecret} ${Buffer.from(apiKeySecret).toString('base64')}` }) },
    ],
    ['as no JSON', { kind: 'body', text: `{"user": ${apiKeySecret}` }],
    ['as an error', { kind: 'status', status: 400, body: JSON.stringify({ message: apiKeySecret }) }],
    ['as a page', { kind: 'status', status: 404, body: `<html>${apiKeySecret}</html>`, contentType: 'text/html' }],
  ]

  it('never prints the key when the server shows the access key of the user', () =>
    forEachEntry(
      answers.map(([name]) => [name]),
      async (wanted) => {
        emulator().reset()
        const [, effect] = answers.find(([name]) => name === wanted) ?? []
        if (effect === undefined) throw new Error('no such answer')
        emulator().addFault({ match: { path: '/api/v2' }, effect })
        // The runner searches everything that leaves the process.
        const ran = await run({ operation: 'doctor' }, { env: { WATCHKEEPER_DEBUG: '1' } })
        expect(ran.stdout).toContain('/api/v2 answered')
        expect(ran.stdout).toContain('::add-mask::')
      },
    ))

  it('never prints the key when the version is the key', async () => {
    emulator().addFault({ match: { path: '/health' }, effect: { kind: 'body', text: JSON.stringify({ version: apiKeySecret }) } })
    const ran = await run({ operation: 'doctor' }, { env: { WATCHKEEPER_DEBUG: '1' } })
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toContain('Server version: unknown')
  })
})
