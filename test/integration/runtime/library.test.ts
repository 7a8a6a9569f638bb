import { describe, expect, expectTypeOf, it } from 'vitest'
import { demo, startEmulator } from '../../../src/emulator/index.ts'
import { ApiError, createClient, InputError, type ResultOf } from '../../../src/index.ts'
import { ids, useEmulator } from '../../support/emulator.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const client = (more: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({
    apiUrl: emulator().url,
    apiKeyId: demo.apiKeyId,
    apiKeySecret: demo.apiKeySecret,
    organizationId: demo.organizationId,
    serviceId: demo.services.checkout,
    ...more,
  })

describe('the library with a self-hosted server', () => {
  it('the library with a self-hosted server needs an address and a key, and its results name the server', async () => {
    const server = await startEmulator({ dialect: 'hyperdx' })
    try {
      const selfHosted = createClient({ profile: 'hyperdx', apiUrl: server.url, apiKey: demo.apiKeySecret })
      const listed = await selfHosted.listAlerts()
      expectTypeOf(listed.serverUrl).toEqualTypeOf<string | undefined>()
      expect(listed).toMatchObject({ status: 'pass', serverUrl: `${server.url}/api/v2` })
      expect(listed.organizationId).toBeUndefined()
      const [refused, wrong] = await Promise.all([
        selfHosted.usageCost({ period: 'today' }).catch((thrown: unknown) => thrown),
        createClient({ profile: 'hyperdx', apiUrl: server.url, apiKey: 'opens-nothing' })
          .listAlerts()
          .catch((thrown: unknown) => thrown),
      ])
      expect(refused).toBeInstanceOf(InputError)
      expect(wrong).toBeInstanceOf(ApiError)
      expect(wrong).toMatchObject({ kind: 'authentication', status: 401 })
    } finally {
      await server.close()
    }
  })

  it('the library with a self-hosted server passes the line about plain http on before the first request', async () => {
    const lines: string[] = []
    const stop = new AbortController()
    const onProgress = (line: string): void => {
      lines.push(line)
      stop.abort()
    }
    const options = {
      profile: 'hyperdx',
      apiUrl: 'http://10.1.2.3:8000',
      apiKey: demo.apiKeySecret,
      onProgress,
      signal: stop.signal,
    } as const
    await expect(createClient(options).listAlerts()).rejects.toBeInstanceOf(InputError)
    await expect(createClient({ ...options, allowHttp: true }).listAlerts()).rejects.toMatchObject({ kind: 'canceled' })
    expect(lines).toEqual(['The key travels unencrypted to 10.1.2.3:8000, because allow-http is set'])
  })
})

describe('the library', () => {
  it('the library has typed results, with the verdict beside them', async () => {
    const cost = await client().usageCost({ period: 'last-7-days', budget: '1' })
    expectTypeOf(cost).toEqualTypeOf<ResultOf<'usage-cost'>>()
    expectTypeOf(cost.grandTotalCredits).toEqualTypeOf<string>()
    expectTypeOf(cost.status).toEqualTypeOf<'pass' | 'warn' | 'fail'>()
    expect(cost).toMatchObject({ status: 'fail', budgetExceeded: true })
    expect(cost.failureReason).toContain('Budget exceeded: ')
  })

  it('the library takes native values', async () => {
    const { id } = await client().createAlert({
      alert: JSON.stringify({
        name: 'Native',
        dashboard: ids.dashboard,
        tile: ids.tile,
        threshold: 0.5,
        interval: '1h',
        channel: { type: 'webhook', webhookId: ids.webhook },
      }),
    })
    expect(emulator().store.organizations[0]?.services[0]?.alerts.at(-1)).toMatchObject({ id, threshold: 0.5 })
    expect((await client().usageCost({ period: 'today', budget: 1000 })).status).toBe('pass')
  })

  it('the library needs no argument where nothing is needed', async () => {
    expect((await client().listSources()).count).toBe(4)
  })

  it('rejects with everything that is wrong, before any request', async () => {
    const wrong = client({ organizationId: 'acme' }).usageCost({ period: 'never', bugdet: 5 } as never)
    await expect(wrong).rejects.toBeInstanceOf(InputError)
    await expect(wrong).rejects.toMatchObject({
      kind: 'input',
      diagnostics: ['bugdet', 'organizationId', 'period'].map((file) => ({ rule: 'input', location: { file } })),
    })
    expect(emulator().requests).toHaveLength(0)
  })

  it('puts no secret into the diagnostics of an error', async () => {
    const secret = 'Canary0123456789'
    const leaky = createClient({ apiUrl: emulator().url, apiKeyId: 'key', apiKeySecret: secret, organizationId: secret })
    const thrown = await leaky.listSources().catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(InputError)
    expect(JSON.stringify((thrown as InputError).diagnostics)).not.toContain(secret)
  })

  it('rejects with what the API answered', async () => {
    const missing = client().getAlert({ id: '0'.repeat(24) })
    await expect(missing).rejects.toBeInstanceOf(ApiError)
    await expect(missing).rejects.toMatchObject({ kind: 'not-found', status: 404, attempts: 1, outcomeUnknown: false })
  })

  it('reads no environment that it was not given', async () => {
    process.env.WATCHKEEPER_SERVICE_ID = demo.services.catalog
    try {
      await client().listSources()
      expect(emulator().requests[0]?.path).toContain(demo.services.checkout)
    } finally {
      Reflect.deleteProperty(process.env, 'WATCHKEEPER_SERVICE_ID')
    }
  })

  it('the library ends when its signal is aborted', async () => {
    emulator().addFault({ effect: { kind: 'hang' } })
    const controller = new AbortController()
    const listing = client({ signal: controller.signal }).listSources()
    setTimeout(() => controller.abort(), 50)
    await expect(listing).rejects.toMatchObject({ kind: 'canceled' })
  })

  it('reports retries as they happen', async () => {
    emulator().addFault({ effect: { kind: 'status', status: 503, headers: { 'retry-after': '0' } } })
    const lines: string[] = []
    await client({ onProgress: (line) => lines.push(line) }).listSources()
    expect(lines).toEqual([expect.stringMatching(/^Trying again in 0\.0 s/)])
  })
})
