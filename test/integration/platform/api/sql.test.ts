// One read-only query: self-hosted through the tool beside the API, in the cloud through the query endpoint of the service.
import { afterEach, describe, expect, it } from 'vitest'
import {
  demo,
  type Effect,
  type Emulator,
  type EmulatorOptions,
  type JsonObject,
  type RunSql,
  startEmulator,
} from '../../../../src/emulator/index.ts'
import { ApiError } from '../../../../src/platform/api/api-error.ts'
import { profileNamed } from '../../../../src/platform/api/profiles.ts'
import { createSqlAccess } from '../../../../src/platform/api/sql.ts'
import type { SqlAnswer, SqlQuery } from '../../../../src/platform/api/sql-query.ts'
import { systemClock } from '../../../../src/platform/core/clock.ts'
import { createVirtualClock } from '../../../support/clocks.ts'
import { openSession, service } from '../../../support/session.ts'

const startMs = Date.parse('2026-11-10T00:00:00Z')
const endMs = Date.parse('2026-11-11T00:00:00Z')

interface Options extends EmulatorOptions {
  readonly mayWake?: boolean
  readonly hasKey?: boolean
  readonly sqlKeySecret?: string
  readonly deadlineMs?: number
  /** Prepares the emulator. */
  readonly prepare?: (emulator: Emulator) => void
}

let started: Emulator | undefined

afterEach(async () => {
  await started?.close()
  started = undefined
})

const start = async ({ prepare, mayWake: _1, hasKey: _2, sqlKeySecret: _3, deadlineMs: _4, ...options }: Options): Promise<Emulator> => {
  started = await startEmulator({ rateLimit: 'off', ...options })
  prepare?.(started)
  return started
}

const checkoutOf = ({ store }: Emulator) => {
  const found = store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)
  if (found === undefined) throw new Error('the demo has no checkout service')
  return found
}

async function ask(options: Options, query: Partial<SqlQuery> = {}): Promise<SqlAnswer> {
  const emulator = await start(options)
  const isSelfHosted = options.dialect === 'hyperdx'
  const { mayWake = false, hasKey = true, sqlKeySecret = demo.apiKeySecret, deadlineMs = 600_000 } = options
  const session = openSession(
    isSelfHosted ? `${emulator.url}/api/v2` : emulator.url,
    isSelfHosted
      ? { profile: profileNamed('hyperdx'), credentials: { accessKey: demo.apiKeySecret }, deadlineMs }
      : {
          deadlineMs,
          profile: profileNamed('clickhouse-cloud'),
          observabilityPath: 'clickstack',
          ...(hasKey && {
            queryEndpoint: {
              baseUrl: new URL(emulator.url),
              credentials: { keyId: demo.apiKeyId, keySecret: sqlKeySecret },
              mayWake,
            },
          }),
        },
  )
  try {
    const target = isSelfHosted ? { serverUrl: `${emulator.url}/api/v2` } : service
    const connectionId = checkoutOf(emulator).connections[0]?.id ?? ''
    return await session.api.runSql(target, { sql: 'SELECT 1', connectionId, startMs, endMs, ...query })
  } finally {
    await session.close()
  }
}

const answers =
  (rows: readonly JsonObject[], elapsedMs = 2): RunSql =>
  () => ({ rows, elapsedMs })

it('the id of a failed query is the last one of its session', async () => {
  const emulator = await start({ dialect: 'clickhouse-cloud', runSql: answers([]) })
  const session = openSession(emulator.url, {
    profile: profileNamed('clickhouse-cloud'),
    observabilityPath: 'clickstack',
    queryEndpoint: {
      baseUrl: new URL(emulator.url),
      credentials: { keyId: demo.apiKeyId, keySecret: 'wrong-secret-of-the-key' },
      mayWake: false,
    },
  })
  const failed = session.api.runSql(service, { sql: 'SELECT 1', connectionId: '', startMs, endMs })
  const message = await failed.catch((thrown: unknown) => String(thrown))
  expect(message).toContain(`(request id ${session.lastRequestId()})`)
  await session.close()
})

it('is too slow after a timeout at the limit of the server, and not after an earlier one, or because the rate limit held it back', async () => {
  const timeout = new ApiError({
    ...{ kind: 'timeout', message: 'no answer', advice: '', missing: undefined, method: 'POST', path: '/run', status: undefined },
    ...{ requestId: undefined, attempts: 1, outcomeUnknown: false, isTooLarge: false },
  })
  const runWith = (...waits: readonly number[]): Promise<SqlAnswer> => {
    const clock = createVirtualClock()
    const runSql = createSqlAccess({
      clock,
      mayWake: true,
      sqlFunctions: [],
      read: () => Promise.reject(new Error('it reads nothing')),
      async request({ rules }) {
        for (const [i, ms] of waits.entries()) {
          if (i > 0) rules?.onRejected?.()
          await clock.sleep(ms)
        }
        throw timeout
      },
    })
    return runSql(service, { sql: 'SELECT 1', connectionId: '', startMs, endMs })
  }
  expect(await runWith(30_000)).toEqual({ kind: 'too-slow' })
  await expect(runWith(29_000)).rejects.toBe(timeout)
  await expect(runWith(20_000, 20_000)).rejects.toBe(timeout)
  expect(await runWith(20_000, 30_000)).toEqual({ kind: 'too-slow' })
})

it('refuses an answer in which the database reports a failure after its first rows', async () => {
  const failed = { data: [{ one: '1' }], rows: 1, exception: 'Code: 241. DB::Exception: Memory limit exceeded' }
  const prepare = (emulator: Emulator): void =>
    emulator.addFault({ match: { method: 'POST' }, effect: { kind: 'body', text: JSON.stringify(failed) } })
  expect(await ask({ dialect: 'clickhouse-cloud', runSql: answers([]), prepare })).toEqual({
    kind: 'refused',
    reason: 'Code: 241. DB::Exception: Memory limit exceeded',
  })
})

const sleeping = ['idle', 'stopped', 'awaking']

const dialects = ['hyperdx', 'clickhouse-cloud'] as const

describe.each(dialects)('a query with profile %s', (dialect) => {
  it('returns all rows, and how long the query took on the server', async () => {
    const asked: unknown[] = []
    const runSql: RunSql = (request) => {
      asked.push(request)
      return { rows: [{ one: 1, big: '18446744073709551615' }], elapsedMs: 1500 }
    }
    expect(await ask({ dialect, runSql })).toEqual({
      kind: 'rows',
      columns: [
        { name: 'one', type: 'Float64' },
        { name: 'big', type: 'String' },
      ],
      rows: [{ one: 1, big: '18446744073709551615' }],
      elapsedMs: 1500,
      rowsRead: 1,
    })
    expect(asked).toEqual([{ sql: 'SELECT 1', startMs, endMs }])
  })

  it('may take as long as its settings say', async () => {
    const query = { settings: { max_execution_time: 60 } }
    expect(await ask({ dialect, runSql: answers([], 40_000) }, query)).toMatchObject({ kind: 'rows' })
  })

  it('has its settings after its text, and may find tables empty', async () => {
    await ask({ dialect, runSql: answers([]) }, { settings: { use_query_condition_cache: 0, emptyTables: ['a.b', "it's.c"] } })
    const sent = JSON.stringify(started?.requests.at(-1)?.body)
    const filters = "additional_table_filters = {'a.b': '0', 'it\\'s.c': '0'}"
    expect(sent).toContain(JSON.stringify(`SELECT 1\nSETTINGS use_query_condition_cache = 0, ${filters}`))
  })

  it('may have no rows', async () => {
    expect(await ask({ dialect, runSql: answers([]) })).toMatchObject({ kind: 'rows', rows: [] })
  })

  it('is refused with the reason of the database, and is not sent again', async () => {
    const answer = await ask({ dialect, runSql: () => ({ error: 'Unknown expression identifier `x`. ' }) })
    expect(answer).toMatchObject({ kind: 'refused', reason: expect.stringContaining('Unknown expression identifier `x`.') })
    expect(started?.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('fails without a whole answer, and is not sent again', async () => {
    const prepare = (emulator: Emulator): void =>
      emulator.addFault({ match: { method: 'POST' }, times: Number.POSITIVE_INFINITY, act: 'after', effect: { kind: 'truncate' } })
    await expect(ask({ dialect, runSql: answers([{ one: 1 }]), prepare })).rejects.toThrow(/not JSON|closed/)
    expect(started?.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('R1: is sent again after a failure where the run needs the answer, and not after a timeout', { tags: 'slow' }, async () => {
    const failing = (effects: readonly Effect[]): Options => ({
      dialect,
      runSql: answers([{ one: 1 }]),
      prepare(emulator) {
        for (const [i, effect] of effects.entries()) emulator.addFault({ match: { method: 'POST' }, nth: i + 1, effect })
      },
    })
    const queries = () => started?.requests.filter(({ method }) => method === 'POST') ?? []
    const failures: readonly Effect[] = [{ kind: 'status', status: 500 }, { kind: 'status', status: 503 }, { kind: 'reset' }]
    expect(await ask(failing(failures), { isRepeated: true })).toMatchObject({ kind: 'rows', rows: [{ one: 1 }] })
    expect(queries()).toHaveLength(4)
    await started?.close()
    const slow = ask({ ...failing([{ kind: 'hang' }]), deadlineMs: 200 }, { isRepeated: true })
    await expect(slow).rejects.toMatchObject({ kind: 'timeout' })
    expect(queries()).toHaveLength(1)
  })

  it('fails with a key that is wrong', async () => {
    const prepare = ({ store }: Emulator): void => {
      // The state of the service is read with the other key.
      if (dialect === 'hyperdx') store.keys.splice(0)
    }
    await expect(ask({ dialect, prepare, sqlKeySecret: 'wrong-secret-of-the-key' })).rejects.toMatchObject({ kind: 'authentication' })
  })
})

it('shares the time limit of the run, by the real clock', async () => {
  const emulator = await start({ dialect: 'hyperdx', runSql: answers([{ one: 1 }]) })
  const connection = { profile: profileNamed('hyperdx'), credentials: { accessKey: demo.apiKeySecret } }
  const session = openSession(`${emulator.url}/api/v2`, connection, systemClock)
  const query = { sql: 'SELECT 1', connectionId: checkoutOf(emulator).connections[0]?.id ?? '', startMs, endMs }
  expect(await session.api.runSql({ serverUrl: `${emulator.url}/api/v2` }, query)).toMatchObject({ kind: 'rows' })
  await session.close()
})

describe('a query of a self-hosted server', () => {
  const dialect = 'hyperdx'

  it('is too large when the server leaves out rows, or a part of the value of a column', async () => {
    const long = Array.from({ length: 20_000 }, (_, i) => ({ number: String(i) }))
    expect(await ask({ dialect, runSql: answers(long) })).toEqual({ kind: 'too-large', columns: [{ name: 'number', type: 'String' }] })
    await started?.close()
    const pairs = Array.from({ length: 20_000 }, (_, i) => [String(i), String(i)])
    expect(await ask({ dialect, runSql: answers([{ pairs }]) })).toMatchObject({ kind: 'too-large' })
    await started?.close()
    expect(await ask({ dialect, runSql: answers([{ text: 'x'.repeat(60_000) }]) })).toMatchObject({ kind: 'too-large' })
  })

  it('is too large when the rows are fewer than the server counted, also without a mark', async () => {
    const text = JSON.stringify({ result: { data: [{ one: 1 }], rows: 2 } })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } })
    const prepare = (emulator: Emulator): void => emulator.addFault({ match: { path: '/mcp' }, effect: { kind: 'body', text: body } })
    expect(await ask({ dialect, prepare })).toEqual({ kind: 'too-large', columns: [] })
  })

  it('is too slow when the server ends it at its limit', async () => {
    expect(await ask({ dialect, runSql: answers([], 40_000) })).toEqual({ kind: 'too-slow' })
  })

  it('explains that the server has no such tool', async () => {
    await expect(ask({ dialect, hasMcp: false })).rejects.toMatchObject({
      kind: 'not-served',
      message: expect.stringMatching(/^This server cannot run SQL: it has no \/mcp\.\nUpgrade HyperDX/),
    })
  })

  it('names an unknown connection', async () => {
    const connectionId = '000000000000000000000000'
    expect(await ask({ dialect }, { connectionId })).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(/^Connection not found: 000000000000000000000000\./),
    })
  })
})

describe('a query of a cloud service', () => {
  const dialect = 'clickhouse-cloud'

  it.each(sleeping)('W4: a query is not sent to a service in state %s', async (state) => {
    const prepare = (emulator: Emulator): void => void Object.assign(checkoutOf(emulator), { state })
    expect(await ask({ dialect, prepare, runSql: answers([]) })).toEqual({ kind: 'asleep' })
    expect(started?.requests.map(({ method }) => method)).toEqual(['GET'])
  })

  it('wakes a service where that is allowed', async () => {
    const prepare = (emulator: Emulator): void => void Object.assign(checkoutOf(emulator), { state: 'idle' })
    expect(await ask({ dialect, prepare, mayWake: true, runSql: answers([{ one: 1 }]) })).toMatchObject({ kind: 'rows' })
    expect(started?.requests.map(({ method }) => method)).toEqual(['POST'])
  })

  it.each([
    ['', 'text/plain'],
    ['{"data":[],"rows":0}', 'application/json'],
  ])('takes status 206 for a service that sleeps, with the body %j', async (body, contentType) => {
    const prepare = (emulator: Emulator): void =>
      emulator.addFault({ match: { method: 'POST' }, effect: { kind: 'status', status: 206, body, contentType } })
    expect(await ask({ dialect, prepare })).toEqual({ kind: 'asleep' })
  })

  it('needs a key of its own', async () => {
    await expect(ask({ dialect, hasKey: false })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringMatching(/^sql-key-id: is missing/),
    })
  })

  it('names the inputs of the query endpoint when its key is rejected or its address is wrong', async () => {
    const failure = async (url: string): Promise<string> => {
      const session = openSession(started?.url ?? '', {
        profile: profileNamed('clickhouse-cloud'),
        observabilityPath: 'clickstack',
        maxAttempts: 1,
        queryEndpoint: { baseUrl: new URL(url), credentials: { keyId: 'unknown-key', keySecret: 'unknown-secret' }, mayWake: true },
      })
      const query = { sql: 'SELECT 1', connectionId: '', startMs, endMs }
      const reason = await session.api.runSql(service, query).then(() => 'no failure', String)
      await session.close()
      return reason
    }
    const { url } = await start({ dialect })
    const access = 'The service needs a query endpoint that lists the key in sql-key-id.'
    expect(await failure(url)).toContain(`Check sql-key-id and sql-key-secret, and that the key is enabled and not expired. ${access}`)
    for (const status of [403, 404]) {
      started?.addFault({ match: { method: 'POST' }, times: 1, effect: { kind: 'status', status } })
      expect(await failure(url), `${status}`).toContain(access)
    }
    expect(await failure('http://127.0.0.1:1')).toContain('Check sql-url (127.0.0.1:1)')
    expect(await failure(`${url}/wrong`)).toContain('Check sql-url')
  })

  it('W4: sends each key to its own address only', async () => {
    const emulator = await start({ dialect, runSql: answers([{ one: 1 }]) })
    const other = await startEmulator({ dialect, rateLimit: 'off', runSql: answers([{ one: 1 }]) })
    const [admin] = other.store.keys
    if (admin !== undefined) other.store.keys.push({ ...admin, id: 'query-key', secret: 'secret-of-query-key' })
    const credentials = { keyId: 'query-key', keySecret: 'secret-of-query-key' }
    const session = openSession(emulator.url, {
      profile: profileNamed('clickhouse-cloud'),
      observabilityPath: 'clickstack',
      queryEndpoint: { baseUrl: new URL(other.url), credentials, mayWake: false },
    })
    await session.api.runSql(service, { sql: 'SELECT 1', connectionId: '', startMs, endMs })
    await session.close()
    expect(credentials.keySecret).not.toBe(demo.apiKeySecret)
    expect(emulator.requests.map(({ path, headers }) => [path.split('/').at(-1), headers.authorization])).toEqual([
      [demo.services.checkout, 'valid'],
    ])
    expect(other.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      [`/service/${demo.services.checkout}/run?format=JSON`, 'valid'],
    ])
    await other.close()
  })
})
