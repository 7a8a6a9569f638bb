// The address, the version and the errors of a self-hosted server, through every check that a run makes.
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { demo, type Effect, type Emulator, type EmulatorOptions, startEmulator } from '../../../../src/emulator/index.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { ids, inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'
import { startRawServer } from '../../../support/raw-server.ts'
import { apiErrorOf } from '../../../support/session.ts'
import { type Site, withSite } from '../../../support/site.ts'

const emulator = useEmulator({ dialect: 'hyperdx' })

const run = (inputs: Readonly<Record<string, string>> = {}, server: Pick<Emulator, 'url'> = emulator()) =>
  invokeText({ inputs: { operation: 'list-alerts', ...inputsFor(server, 'hyperdx'), 'max-attempts': '1', ...inputs } })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'hyperdx', use)

const _target = () => ({ serverUrl: `${emulator().url}/api/v2` })

const pathsOf = ({ requests }: Pick<Emulator, 'requests'> = emulator()) => requests.map(({ path }) => path)

async function withServer<T>(options: EmulatorOptions, use: (server: Emulator) => Promise<T>): Promise<T> {
  const server = await startEmulator({ dialect: 'hyperdx', ...options })
  try {
    return await use(server)
  } finally {
    await server.close()
  }
}

const hostOf = ({ url }: Pick<Emulator, 'url'>): string => new URL(url).host

const unknownVersion = {
  name: 'server',
  outcome: 'ok',
  detail: expect.stringMatching(/^A server that does not state its version answers at /) as string,
}

it('an id that is not one of the server and a failure of the server come with advice', async () => {
  const wrongId = await run({ operation: 'get-alert', id: '123' }, emulator())
  expect(wrongId.reason.split('\n')[1]).toBe('An id has 24 hex digits. list-alerts shows the ids.')
  const tile = { name: 'T', x: 0, y: 0, w: 6, h: 3, config: { displayType: 'line', sourceId: '{{LOGS}}', select: [{ aggFn: 'count' }] } }
  const wrongSource = await run({ operation: 'create-dashboard', dashboard: JSON.stringify({ name: 'D', tiles: [tile] }) }, emulator())
  expect(wrongSource.reason.split('\n')[1]).toBe('An id has 24 hex digits.')
  const adviceOn = async (status: number): Promise<string | undefined> => {
    emulator().reset()
    emulator().addFault({ match: { path: '/alerts' }, times: 9, effect: { kind: 'status', status } })
    return (await run({ operation: 'list-alerts', 'max-attempts': '1' }, emulator())).reason.split('\n')[1]
  }
  expect(await adviceOn(500)).toBe('The server failed. Look at the log of its API server, and run this again.')
  expect(await adviceOn(501)).toMatch(/^Request: /) // It did not fail: it cannot do this.
})

it('a connection that is refused is described in words, with the code', async () => {
  const refused = await run({ operation: 'list-alerts', 'max-attempts': '1' }, { url: 'http://127.0.0.1:9' })
  expect(refused.reason.split('\n')[0]).toBe('No answer: nothing listens at this address (ECONNREFUSED)')
})

/** Makes the server state another version from now on. */
function stateVersion(version: unknown): void {
  emulator().reset()
  emulator().addFault({ match: { path: '/health' }, times: 9, effect: { kind: 'body', text: JSON.stringify({ version }) } })
}

describe('the version of the server', () => {
  it('the version of the server is an error before any other request where it is too old, with version, host and what to do', () =>
    forEachEntry(['2.28.0', '2.29.9', '1.99.0', '2.3.0'], async (version) => {
      stateVersion(version)
      for (const inputs of [{}, { operation: 'create-dashboard', dashboard: '{"name":"x","tiles":[]}' }]) {
        const ran = await run(inputs)
        expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'not-served' } })
        expect(ran.reason.split('\n')).toEqual([
          `HyperDX ${version} at ${hostOf(emulator())} is too old: Watchkeeper needs 2.30 or newer.`,
          'Upgrade the server. Older releases lack saved searches, paging and the validation of dashboards.',
          `Request: GET ${emulator().url}/health`,
        ])
      }
      expect(pathsOf()).toEqual(['/health', '/health'])
    }))

  it('the version of the server is accepted from 2.30 on', () =>
    forEachEntry(['2.30.0', '2.30.0-beta.1', '2.36', '2.100.1', '3.0.0'], async (version) => {
      stateVersion(version)
      expect((await run()).document.status).toBe('pass')
    }))

  it('the version of the server is unknown where the server does not state it, and the run goes on', () =>
    forEachEntry(['', 'local', 'v1', '2', '2.x', '999999999.1', '2.28.0 <script>', `2.28${'.1'.repeat(99)}`], async (version) => {
      stateVersion(version)
      const ran = await run({ operation: 'doctor' })
      expect(ran.document).toMatchObject({ status: 'pass' })
      expect(ran.document.checks).toContainEqual(unknownVersion)
    }))

  it(
    'the version of the server is unknown when /health gives no usable answer, and the run goes on after one attempt',
    { tags: 'slow' },
    () =>
      forEachEntry<[string, Effect]>(
        [
          ['a page', { kind: 'html' }],
          ['an error', { kind: 'status', status: 500 }],
          ['an error with an old version', { kind: 'status', status: 503, body: '{"version":"2.28.0"}' }],
          ['nothing of that name', { kind: 'status', status: 404, body: 'Not Found', contentType: 'text/plain' }],
          ['a redirect', { kind: 'status', status: 302, headers: { location: 'https://login.example/' } }],
          ['no JSON', { kind: 'body', text: '{"version":"2.28.0"' }],
          ['an old version as a number', { kind: 'body', text: '{"version":2.28}' }],
          ['a list', { kind: 'body', text: '["2.28.0"]' }],
          ['null', { kind: 'body', text: 'null' }],
          ['nothing', { kind: 'body', text: '' }],
          ['too deep', { kind: 'body', text: '['.repeat(100_000) }],
          ['a bomb', { kind: 'gzip-bomb', mebibytes: 200 }],
          ['a closed connection', { kind: 'reset' }],
          ['half an answer', { kind: 'reset-in-body' }],
          ['a full rate limit', { kind: 'rate-limited' }],
        ],
        async (_, effect) => {
          emulator().reset()
          emulator().addFault({ match: { path: '/health' }, effect })
          const ran = await run({ operation: 'doctor' })
          expect(ran.document.checks).toContainEqual(unknownVersion)
          expect(ran.document.status).toBe('pass')
          expect(pathsOf().filter((path) => path === '/health')).toHaveLength(1)
        },
      ),
  )

  it('the version of the server does not keep a run longer than its time limit', { tags: 'slow' }, async () => {
    // Sooner than the limit of this request alone.
    emulator().addFault({ match: { path: '/health' }, effect: { kind: 'delay', ms: 4000 } })
    const ran = await run({ 'timeout-seconds': '1' })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'deadline' } })
    expect(emulator().requests.map(({ path, status }) => [path, status])).toEqual([['/health', undefined]])
  })

  it('the version of the server is not asked of a server with organizations', () =>
    withServer({ dialect: 'clickhouse-cloud' }, async (server) => {
      const ran = await invokeText({ inputs: { operation: 'list-alerts', ...inputsFor(server, 'clickhouse-cloud') } })
      expect(ran.document.status).toBe('pass')
      expect(pathsOf(server).filter((path) => path.includes('health'))).toEqual([])
    }))
})

describe('the address of the UI', () => {
  /** The UI passes on what is below `/api`. */
  async function withUi<T>(use: (url: string, asked: readonly string[]) => Promise<T>): Promise<T> {
    const asked: string[] = []
    const server = createServer((request, response) => {
      const path = request.url ?? ''
      asked.push(`${path} ${request.headers.authorization === undefined ? 'without' : 'with'} the key`)
      const pass = path.startsWith('/api/')
      const { authorization } = request.headers
      const headers = authorization === undefined ? {} : { authorization }
      fetch(`${emulator().url}${pass ? path.slice('/api'.length) : path}`, { headers }).then(
        async (answer) => {
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(await answer.text())
        },
        () => response.destroy(),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('it has no port')
    try {
      return await use(`http://127.0.0.1:${address.port}`, asked)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  }

  it('the address of the UI ends in /api, and its version is below it', () =>
    withUi(async (url, asked) => {
      const ran = await run({ operation: 'list-sources', 'api-url': `${url}/api` })
      expect(ran.document).toMatchObject({ status: 'pass', serverUrl: `${url}/api/api/v2` })
      expect(asked).toEqual(['/api/health without the key', '/api/api/v2/sources with the key'])
    }))

  it('the address of the UI is suggested with /api where it is missing', () =>
    withUi(async (url) => {
      const ran = await run({ 'api-url': url })
      expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'not-served', httpStatus: 404 } })
      expect(ran.reason).toContain(`If this is the address of the UI, set api-url: ${url}/api.`)
    }))

  it('keeps the prefix of a proxy in the suggestion', async () => {
    const ran = await run({ 'api-url': `${emulator().url}/observe` })
    expect(ran.reason).toContain(`set api-url: ${emulator().url}/observe/api.`)
    const other = await run({ 'api-url': `${emulator().url}/observe/api` })
    expect(other.reason).toContain(`set api-url: ${emulator().url}/observe.`)
  })

  it('the address of the UI is not that of the API server, which is suggested without /api', async () => {
    const ran = await run({ 'api-url': `${emulator().url}/api` })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'not-served', httpStatus: 404 } })
    const [what, advice, request] = ran.reason.split('\n')
    expect(what).toMatch(/^The API answered 404: an HTML page, .*Cannot GET \/api\/api\/v2\/alerts/)
    expect(advice).toBe(
      `api-url is wrong, or this server is older than 2.30. If this is the address of the API server, set api-url: ${emulator().url}.`,
    )
    expect(request).toBe(`Request: GET /api/api/v2/alerts at ${hostOf(emulator())}`)
  })
})

describe('answers of a self-hosted server', () => {
  it('answers of a self-hosted server quote the message of the server, whatever its form', () =>
    forEachEntry<[string, string, string]>(
      [
        ['{"message":"no such thing"}', 'application/json', 'no such thing'],
        ['{"error":"no such thing"}', 'application/json', 'no such thing'],
        ['no such thing', 'text/plain; charset=utf-8', 'no such thing'],
        ['<html><body>no such thing</body></html>', 'text/html', 'an HTML page, no such thing'],
      ],
      async (body, contentType, words) => {
        emulator().reset()
        emulator().addFault({ match: { path: '/alerts' }, effect: { kind: 'status', status: 400, body, contentType } })
        expect((await run()).reason.split('\n')[0]).toBe(`The API answered 400: ${words}`)
      },
    ))

  it('answers of a self-hosted server of a missing dashboard are not-found, in plain text as in JSON', async () => {
    const missing = 'f'.repeat(24)
    for (const operation of ['get-dashboard', 'get-alert']) {
      const ran = await run({ operation, id: missing })
      expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'not-found', httpStatus: 404 } })
      expect(ran.reason).toContain('does not exist')
    }
  })

  it('answers of a self-hosted server to a wrong key name the key, the host and what to do, and never the key', async () => {
    const wrong = 'a-key-that-opens-nothing-at-all'
    const ran = await run({ 'api-key': wrong })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'authentication', httpStatus: 401 } })
    expect(ran.reason.split('\n')).toEqual([
      'The API answered 401: Unauthorized',
      'The API rejects the key in api-key. Copy the personal API access key from the Team Settings of HyperDX. The ingestion key does not work here.',
      `Request: GET /api/v2/alerts at ${hostOf(emulator())}`,
    ])
  })

  it('answers of a self-hosted server with a 404 are never an empty list', { tags: 'slow' }, () =>
    forEachEntry<[string, string]>(
      [
        ['text/plain', 'Not Found'],
        ['text/plain', '404 page not found'],
        ['application/json', '{"message":"Not found"}'],
        ['application/json', '{"data":[]}'],
        ['text/html', '<html>Cannot GET</html>'],
        ['text/plain', ''],
      ],
      async (contentType, body) => {
        for (const list of ['/alerts', '/dashboards', '/saved-searches', '/webhooks', '/sources']) {
          emulator().reset()
          emulator().addFault({ match: { path: list }, times: 99, effect: { kind: 'status', status: 404, body, contentType } })
          const error = await apiErrorOf(site(({ plan }) => plan({ 'a.json': everySection }, { prune: true })))
          expect(error.kind).toBe('not-served')
          expect(error.message).toContain('api-url is wrong')
        }
      },
    ),
  )

  it('answers of a self-hosted server of another product at the address are not taken for a missing object', async () => {
    const other = await startRawServer((wire) =>
      wire.write('HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 19\r\n\r\n404 page not found\n'),
    )
    const at = { url: `http://127.0.0.1:${other.port}` }
    const ran = await run({}, at)
    for (const [operation, id] of Object.entries({ 'delete-alert': ids.alert, 'delete-dashboard': ids.dashboard })) {
      const deleted = await run({ operation, id }, at)
      expect(deleted.document).toMatchObject({ status: 'error', error: { kind: 'not-served' } })
    }
    await other.close()
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'not-served' } })
    expect(ran.reason).toContain('api-url is wrong')
  })
})

const everySection = {
  dashboards: { d: { name: 'D', tiles: [{ name: 'T', x: 0, y: 0, w: 6, h: 4, config: { displayType: 'markdown', markdown: 'x' } }] } },
  savedSearches: { s: { name: 'S', sourceId: { source: 'Logs' } } },
  alerts: {
    a: {
      name: 'A',
      savedSearch: 's',
      threshold: 1,
      interval: '5m',
      note: 'n',
      thresholdType: 'above',
      channel: { type: 'webhook', webhook: 'oncall' },
    },
  },
}

describe('doctor', () => {
  it('checks version, user and every list of a self-hosted server', async () => {
    const ran = await run({ operation: 'doctor' })
    expect(ran.document).toMatchObject({ status: 'pass', healthy: true, serverUrl: `${emulator().url}/api/v2` })
    expect((ran.document.checks as { name: string; detail: string }[]).map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
      `server: HyperDX 2.36.0 answers at ${emulator().url}, and accepts the key of demo@shop.example`,
      expect.stringMatching(/^dashboards: \d+ found, profile hyperdx; with DASHBOARD_PROVISIONER_DIR, the provisioner /),
      expect.stringMatching(/^alerts: \d+ found$/),
      'sources: 4 found',
      expect.stringMatching(/^webhooks: \d+ found$/),
      expect.stringMatching(/^saved searches: \d+ found$/),
      'SQL: its role can only read',
      'values: no managed alerts',
      'rate limit: 94 of 100 requests left in this window',
    ])
  })

  it('sends no other request to an old server, after a wrong key, or to a wrong address', () =>
    withServer({ serverVersion: '2.28.0' }, async (old) => {
      const wrongKey = { 'api-key': 'a-key-that-opens-nothing-at-all' }
      const cases = [
        ['server', old, {}, 1],
        ['server', emulator(), wrongKey, 2],
        ['server', emulator(), { 'api-url': `${emulator().url}/api` }, 2],
      ] as const
      for (const [failed, server, inputs, requests] of cases) {
        const before = server.requests.length
        const ran = await run({ operation: 'doctor', ...inputs }, server)
        expect(ran.document).toMatchObject({ status: 'fail', healthy: false })
        const checks = ran.document.checks as { name: string; outcome: string }[]
        expect(checks.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name)).toEqual([failed])
        expect(checks.at(-1)).toMatchObject({ name: 'rate limit', outcome: 'skipped' })
        expect(server.requests.length - before).toBe(requests)
      }
    }))

  it('never shows the access key that the server answers', async () => {
    const { apiKeySecret } = demo
    const user = { accessKey: apiKeySecret, name: apiKeySecret, email: `${apiKeySecret}@x`, [apiKeySecret]: apiKeySecret }
    for (const body of [{ version: 'v2', user }, { version: 'v2', user: apiKeySecret }, { user: { name: 5, [apiKeySecret]: 1 } }]) {
      emulator().reset()
      emulator().addFault({ match: { path: '/api/v2' }, effect: { kind: 'body', text: JSON.stringify(body) } })
      const ran = await run({ operation: 'doctor' })
      expect(JSON.stringify([ran.document, ran.outputs, ran.blocks, ran.annotations])).not.toContain(apiKeySecret)
    }
  })
})

it('reads a whole list from a server whose pages are shorter than the documented ones', () =>
  withServer({ pageLimit: 3 }, async (server) => {
    const ran = await run({}, server)
    expect(ran.document).toMatchObject({ status: 'pass', count: serviceOf(server).alerts.length })
    expect(serviceOf(server).alerts.length).toBeGreaterThan(3)
  }))
