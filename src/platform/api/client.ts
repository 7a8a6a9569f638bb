import type { Clock } from '../core/clock.ts'
import { once } from '../core/concurrency.ts'
import { inputError } from '../core/errors.ts'
import { basicPair } from '../core/secrets.ts'
import { type ProxySettings, proxySecrets, proxyUsers } from '../http/proxy.ts'
import { type Pacer, pacerFor, type Quota } from '../http/rate-limit.ts'
import type { SendDeps } from '../http/send.ts'
import { createTransport } from '../http/transport.ts'
import type { ApiRequest, Call } from './call.ts'
import type { Target } from './path.ts'
import type { Profile } from './profiles.ts'
import { createRequester, type Endpoint, type RequesterOptions } from './requester.ts'
import { besideApiUrl, createVersionCheck } from './server-version.ts'
import type { RunSql } from './sql.ts'
import type { SqlAnswer, SqlQuery } from './sql-query.ts'

/** Requests that change nothing, whatever their method. */
export interface ReadApi {
  readonly profile: Profile
  readonly observabilityPath: string
  /** Throws an ApiError when the request failed and is not retried. */
  read<T>(call: ReadCall<T>): Promise<T>
  /** The cloud lists keys by these last four characters. Undefined for a personal key. */
  readonly keySuffix: string | undefined
  /** Undefined where the service does not state it. */
  rateLimit(): Quota | undefined
  /** Hides copies of these URLs of webhooks from now on, in all that the run shows. */
  hideUrls(urls: readonly string[]): void
  remainingMs(): number
  /** `2.36.0`. Undefined where the server does not state it, and for the cloud. */
  serverVersion(): Promise<string | undefined>
  hasPatchTool(): Promise<boolean>
  readonly sqlFunctions: readonly string[]
  readonly hasSql: boolean
  /** Throws an ApiError when there is no answer, and kind `input` without `hasSql`. */
  runSql(target: Target, query: SqlQuery): Promise<SqlAnswer>
}

export interface WriteApi extends ReadApi {
  write<T>(call: Call<T>): Promise<T>
}

interface ReadCall<T> extends Call<T> {
  readonly request: ApiRequest & ({ readonly method: 'GET'; readonly isSafe?: never } | { readonly method: 'POST'; readonly isSafe: true })
}

export function readOnly({ write: _, ...api }: WriteApi): ReadApi {
  return api
}

/** A key for HTTP Basic, or a personal access key, sent as a bearer token. */
export type Credentials = { readonly keyId: string; readonly keySecret: string } | { readonly accessKey: string }

export interface ApiConnection {
  readonly baseUrl: URL
  readonly profile: Profile
  readonly observabilityPath: string
  readonly credentials: Credentials
  readonly proxy: ProxySettings
  readonly maxAttempts: number
  readonly deadlineMs: number
  readonly sqlFunctions: readonly string[]
  /** A self-hosted server runs SQL with its own key. */
  readonly queryEndpoint?: { readonly baseUrl: URL; readonly credentials: Credentials; readonly mayWake: boolean } | undefined
}

export interface ApiSession {
  readonly api: WriteApi
  lastRequestId(): string | undefined
  close(): Promise<void>
}

/** Sends no request before the first call. `close` ends running requests, too. */
export function openApi(
  connection: ApiConnection,
  options: SendDeps & { readonly debug?: RequesterOptions['debug']; readonly hideUrls: ReadApi['hideUrls'] },
): ApiSession {
  const { baseUrl, profile, observabilityPath, credentials, maxAttempts, deadlineMs, queryEndpoint, sqlFunctions } = connection
  const { clock } = options
  // When one of several requests fails, the others would be retried long after the report.
  const closing = new AbortController()
  const { stop, abort, writes } = options.cancellation
  const cancellation = {
    ...(writes && { writes }),
    stop: AbortSignal.any([stop, closing.signal]),
    abort: AbortSignal.any([abort, closing.signal]),
  }
  const { endpoint, queries, toolsOfServer } = createEndpoints(connection, clock)
  const { transport, pacer } = endpoint
  let lastRequestId: string | undefined
  const onRequestId = (id: string): void => {
    lastRequestId = id
  }
  const settings: RequesterOptions = { ...options, cancellation, endpoint, profile, maxAttempts, deadlineMs, onRequestId }
  const requester = createRequester(settings)
  const readVersion = createVersionCheck({ baseUrl, transport, signal: cancellation.abort, deadlineMs, debug: options.debug })
  const serverVersion = profile.isSelfHosted ? readVersion : async () => undefined
  const request = async <T>(call: Call<T>): Promise<T> => {
    await serverVersion()
    return (call.request.isTool ? openTools() : requester).request(call)
  }
  const remaining = () => ({ deadlineMs: Math.max(1, Math.ceil(requester.remainingMs())) })
  const openTools = once(() => createRequester({ ...settings, ...remaining(), endpoint: toolsOfServer() }))
  const hasPatchTool = once(async () => profile.isSelfHosted && (await import('./mcp.ts')).findPatchTool(request))
  const openSql = once(async (): Promise<RunSql> => {
    const { createSqlAccess, sqlTimeoutMs } = await import('./sql.ts')
    const { request: send } = createRequester({
      ...settings,
      ...remaining(),
      timeoutMs: sqlTimeoutMs,
      endpoint: queries ?? toolsOfServer(),
    })
    return createSqlAccess({ clock, read: request, request: send, mayWake: queryEndpoint?.mayWake ?? false, sqlFunctions })
  })
  const hasSql = profile.isSelfHosted || queryEndpoint !== undefined
  const api: WriteApi = {
    profile,
    observabilityPath,
    keySuffix: 'keyId' in credentials ? credentials.keyId.slice(-4) : undefined,
    read: request,
    write: request,
    rateLimit: pacer.quota,
    hideUrls: options.hideUrls,
    remainingMs: requester.remainingMs,
    serverVersion,
    hasPatchTool,
    sqlFunctions,
    hasSql,
    async runSql(target, query) {
      if (!hasSql) throw inputError('sql-key-id', 'is missing; a query of ClickHouse Cloud needs a key that its query endpoint lists')
      await serverVersion()
      return (await openSql())(target, query)
    },
  }
  return {
    api,
    lastRequestId: () => lastRequestId,
    async close() {
      closing.abort()
      await Promise.all([transport.close(), queries?.transport.close()])
    },
  }
}

/** The API, and where SQL runs. Each has a key, connections and a rate limit. */
function createEndpoints({ baseUrl, profile, credentials, proxy, queryEndpoint }: ApiConnection, clock: Clock) {
  const pacerOf = (key: string, origin: string, documented = profile.rateLimit): Pacer => pacerFor(clock, { key, origin, documented })
  const endpointOf = (url: URL, given: Credentials): Endpoint => {
    const { authorization, name: keyName, id, secrets } = describeKey(given)
    return {
      baseUrl: url,
      authorization,
      keyName,
      pacer: pacerOf(id, url.origin),
      transport: createTransport(url, proxy, clock),
      secrets: [...secrets, ...proxySecrets(proxy), ...proxyUsers(proxy)],
    }
  }
  const endpoint = endpointOf(baseUrl, credentials)
  const access = 'The service needs a query endpoint that lists the key in sql-key-id.'
  return {
    endpoint,
    queries: queryEndpoint && {
      ...endpointOf(queryEndpoint.baseUrl, queryEndpoint.credentials),
      inputs: { url: 'sql-url', key: 'sql-key-id and sql-key-secret', access },
    },
    /** The tools are beside the API. Recorded: their requests count apart from other requests of the key. */
    toolsOfServer: (): Endpoint => ({
      ...endpoint,
      baseUrl: besideApiUrl(baseUrl, ''),
      pacer: pacerOf(`${describeKey(credentials).id} tools`, baseUrl.origin, { limit: 600, windowMs: 60_000 }),
    }),
  }
}

function describeKey(credentials: Credentials) {
  if ('accessKey' in credentials) {
    const { accessKey } = credentials
    return { authorization: `Bearer ${accessKey}`, name: 'the key in api-key', id: accessKey, secrets: [accessKey] }
  }
  const { keyId, keySecret } = credentials
  const pair = basicPair(keyId, keySecret)
  return {
    authorization: `Basic ${pair}`,
    name: `the key ${keyId.length <= 12 ? keyId : `${keyId.slice(0, 4)}…${keyId.slice(-4)}`}`,
    id: keyId,
    secrets: [keySecret, pair],
  }
}
