import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { operationNames, operations } from '../../../src/operations.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { passed } from '../../support/declarations.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'hyperdx' })

/** An input is left out with an empty text. */
const run = (inputs: Readonly<Record<string, string>>, more: Omit<InvokeOptions, 'inputs'> = {}) =>
  invokeText({ inputs: { operation: 'list-sources', ...inputsFor(emulator(), 'hyperdx'), ...inputs }, ...more })

const pathsOf = () => emulator().requests.map(({ path }) => path)

describe('the profile hyperdx', () => {
  it('reads the sources of the server, and names the server in result and footer', async () => {
    const ran = await run({})
    const serverUrl = `${emulator().url}/api/v2`
    expect(ran.document).toMatchObject({ status: 'pass', serverUrl, count: 4 })
    expect(ran.document).not.toHaveProperty('organizationId')
    expect(ran.document).not.toHaveProperty('serviceId')
    const [footer] = ran.blocks.flatMap((block) => (block.kind === 'footer' ? [block.line.map(({ text }) => text).join('')] : []))
    expect(footer).toMatch(new RegExp(`^Server ${serverUrl} · `))
  })

  it.each(['', '/', '/api/v2', '/api/v2/'])('finds the API of an address that ends in "%s"', async (end) => {
    const ran = await run({ 'api-url': `${emulator().url}${end}` })
    expect(ran.document).toMatchObject({ status: 'pass', serverUrl: `${emulator().url}/api/v2` })
    expect(pathsOf()).toEqual(['/health', '/api/v2/sources'])
  })

  it('reads the key and the address from variables', async () => {
    const env = { WATCHKEEPER_PROFILE: 'hyperdx', WATCHKEEPER_API_URL: emulator().url, WATCHKEEPER_API_KEY: `${demo.apiKeySecret}\n` }
    const ran = await invokeText({ inputs: { operation: 'list-alerts' }, env })
    expect(ran.document.status).toBe('pass')
  })

  it('S1: asks for the version once in a run, without the key, and sends the key with everything else', async () => {
    const ran = await run({ operation: 'doctor' })
    expect(ran.document.status).toBe('pass')
    const health = emulator().requests.filter(({ path }) => path === '/health')
    expect(health.map(({ headers }) => headers.authorization)).toEqual(['absent'])
    expect(emulator().requests[0]?.path).toBe('/health')
    const others = emulator().requests.slice(1)
    expect(others.length).toBeGreaterThan(3)
    expect(new Set(others.map(({ headers }) => headers.authorization))).toEqual(new Set(['valid']))
  })

  it.each([
    [{ 'api-key': '' }, 'api-key: is missing; set the input or WATCHKEEPER_API_KEY'],
    [{ 'api-url': '' }, 'api-url: is missing; set the address of the server, as the input or as WATCHKEEPER_API_URL'],
    [{ 'api-key': 'short' }, 'api-key: is not accepted; accepted: at least 8 visible ASCII characters'],
    [{ 'api-key': 'with blank inside' }, 'api-key: is not accepted; accepted: at least 8 visible ASCII characters'],
    [
      { 'api-key-id': demo.apiKeyId },
      'api-key-id: is not for profile hyperdx: its key is a single value; set api-key instead of api-key-id',
    ],
    [
      { 'api-key-secret': demo.apiKeySecret },
      'api-key-secret: is not for profile hyperdx: its key is a single value; set api-key instead of api-key-secret',
    ],
    [{ 'organization-id': demo.organizationId }, 'organization-id: is not for profile hyperdx: a self-hosted server has no organizations'],
    [
      { 'service-id': demo.services.checkout },
      'service-id: is not for profile hyperdx: a self-hosted server has no services; api-url identifies it',
    ],
    [{ 'sql-key-id': 'query-key' }, 'sql-key-id: is not for profile hyperdx: it runs SQL with api-key'],
    [{ 'observability-path': 'clickstack' }, 'observability-path: is not for profile hyperdx: the path of its API is always /api/v2'],
  ])('rejects %j before any request', async (inputs, reason) => {
    const ran = await run(inputs)
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'input' } })
    expect(ran.reason).toBe(reason)
    expect(emulator().requests).toEqual([])
  })

  it('reports a key of the cloud in place of that of the server once', async () => {
    const ran = await run({ 'api-key': '', 'api-key-id': demo.apiKeyId, 'api-key-secret': demo.apiKeySecret })
    expect(ran.reason).toBe(
      'api-key-id: is not for profile hyperdx: its key is a single value; set api-key instead of api-key-id and api-key-secret',
    )
    expect(ran.reason).not.toContain(demo.apiKeySecret)
  })

  it.each(['', 'clickhouse-cloud'])('rejects the key of a self-hosted server with the profile "%s"', async (profile) => {
    const cloud = { 'api-key-id': demo.apiKeyId, 'api-key-secret': demo.apiKeySecret }
    const place = { 'organization-id': demo.organizationId, 'service-id': demo.services.checkout }
    const ran = await run({ profile, ...cloud, ...place })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'input' } })
    expect(ran.reason).toBe('api-key: is the key of a self-hosted server: set profile: hyperdx, or use api-key-id and api-key-secret')
    expect(emulator().requests).toEqual([])
  })

  it('refuses every operation that needs an organization before any request, by the name of the profile', async () => {
    const scopes = await Promise.all(operationNames.map(async (name) => [name, (await operations[name]()).scope] as const))
    const refused = scopes.filter(([, scope]) => scope === 'organization' || scope === 'service').map(([name]) => name)
    expect(refused.toSorted()).toEqual([
      'audit-costs',
      'check-backups',
      'check-credits',
      'get-backup',
      'list-backups',
      'usage-cost',
      'verify-restore',
    ])
    const own: Readonly<Record<string, Record<string, string>>> = {
      'get-backup': {},
      'usage-cost': { period: 'today' },
      'verify-restore': { original: demo.services.checkout, id: demo.services.checkout },
    }
    await forEachEntry(
      refused.map((name) => [name]),
      async (operation) => {
        const ran = await run({ operation, ...own[operation] })
        expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'input' } })
        expect(ran.reason).toBe(
          `operation: ${operation} is not available with profile hyperdx, because a self-hosted server has no organizations, usage costs and backups`,
        )
      },
    )
    expect(emulator().requests).toEqual([])
  })
})

describe('plain http', () => {
  const far = { 'api-url': 'http://10.1.2.3:8000' }
  const refusal =
    'api-url: "http://10.1.2.3:8000" would send the key unencrypted; use https, or set WATCHKEEPER_ALLOW_HTTP: true if you trust the network in between'

  it('S3: plain http is refused beyond this machine', async () => {
    const ran = await run(far)
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'input' } })
    expect(ran.reason).toBe(refusal)
  })

  it('plain http is refused when the config file allows it', async () => {
    const ran = await run(far, { files: { '.watchkeeper.yml': 'allow-http: true\n' } })
    expect(ran.reason).toContain('.watchkeeper.yml:1:1: "allow-http" cannot be set in a file of the repository')
    expect(ran.reason).toContain(refusal)
  })

  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
    ['the input', { 'allow-http': 'true' }, {}],
    ['a variable', {}, { WATCHKEEPER_ALLOW_HTTP: 'true' }],
  ])('S3: plain http is accepted with allow-http from %s, and the log says so before the first request', async (_, inputs, env) => {
    const notes: string[] = []
    const stop = new AbortController()
    // The run ends with this line, so that no packet leaves the machine.
    const note = (line: string): void => {
      notes.push(line)
      stop.abort()
    }
    const ran = await run({ ...far, ...inputs }, { env, note, stop: stop.signal })
    expect(notes[0]).toBe('The key travels unencrypted to 10.1.2.3:8000, because allow-http is set')
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'canceled' } })
  })

  it('does not suggest allow-http where it has no effect, or is said of this machine', async () => {
    const notes: string[] = []
    expect((await run({ 'allow-http': 'true' }, { note: (line) => notes.push(line) })).document.status).toBe('pass')
    expect(notes).toEqual([])
  })
})

it('a file cannot use a variable that holds the key of the run', async () => {
  const text = "savedSearches: { mine: { name: 'key \u0024{{ env.MY_VALUE }}', source: Logs, select: Body, where: '', tags: [] } }"
  const plan = (value: string) =>
    invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'plan', project: 'shop/keys' },
      env: passed({ MY_VALUE: value }),
      files: { 'observability/a.yml': text },
    })
  const { apiKeySecret } = demo
  expect((await plan(apiKeySecret)).reason).toContain('the variable MY_VALUE holds a credential of this run')
  expect((await plan('harmless')).reason).not.toContain('MY_VALUE')
})
