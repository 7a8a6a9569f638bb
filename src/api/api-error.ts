// Owns the error that a failed request ends in: what was asked, what came back, and what to do about it.
import { type ErrorKind, WatchkeeperError } from '../kernel/errors.ts'
import type { Miss } from './attempt.ts'
import { readWindow } from './rate-limit.ts'
import type { Method, RetryAnswer } from './retry.ts'

/** What a message may say about the request. No secret is in here. */
export interface RequestFacts {
  readonly method: Method
  /** With the query, where there is one. */
  readonly path: string
  /** `host[:port]` that was spoken to. */
  readonly host: string
  /** `host[:port]` of the proxy in between. */
  readonly proxyHost: string | undefined
  readonly keyId: string
  /** The permission that the key needs for this. */
  readonly permission: string
  /** What the path identifies: `alert`, `backup`. */
  readonly noun: string
  readonly timeoutMs: number
}

/** A request that failed for good. Not for wrong input, which never becomes a request. */
export class ApiError extends WatchkeeperError {
  override readonly name = 'ApiError'
  readonly method: Method
  readonly path: string
  /** HTTP status of the last answer, if there was one. */
  readonly status: number | undefined
  /** The API's id of the last answer, for its support. */
  readonly requestId: string | undefined
  /** Requests sent, all answers together. */
  readonly attempts: number
  /** The server may have acted although this failed. */
  readonly mayHaveActed: boolean

  constructor(facts: RequestFacts, miss: Miss, end: { readonly attempts: number; readonly decision: RetryAnswer; readonly nowMs: number }) {
    const kind = kindOf(facts.method, miss, end.decision)
    super(kind, [headline(facts, miss, end.attempts), advice(kind, facts, miss, end)].filter(Boolean).join('\n'))
    this.method = facts.method
    this.path = facts.path
    this.status = miss.status
    this.requestId = miss.requestId
    this.attempts = end.attempts
    this.mayHaveActed = miss.certainty === 'unknown' && facts.method !== 'GET'
  }
}

const kindOfStatus: Readonly<Record<number, ErrorKind>> = { 401: 'authentication', 403: 'permission', 409: 'conflict', 429: 'rate-limited' }

function kindOf(method: Method, miss: Miss, decision: RetryAnswer): ErrorKind {
  if (miss.code === 'CANCELLED') return 'cancelled'
  if (miss.status !== 429 && method === 'POST' && miss.certainty === 'unknown') return 'may-exist'
  if (!decision.retry && decision.because === 'deadline' && miss.status !== 429) return 'deadline'
  if (miss.cause === 'status') return kindOfErrorStatus(miss)
  if (miss.cause === 'tls' || miss.cause === 'redirect' || miss.cause === 'timeout') return miss.cause
  return miss.cause === 'unreadable' || miss.cause === 'unfit' || miss.cause === 'too-large' ? 'bad-answer' : 'network'
}

function kindOfErrorStatus({ status = 0, isJson }: Miss): ErrorKind {
  if (status === 404) return isJson ? 'not-found' : 'not-served'
  return kindOfStatus[status] ?? (status >= 500 || status === 408 ? 'server' : 'refused')
}

function headline({ method, path, host, proxyHost }: RequestFacts, miss: Miss, attempts: number): string {
  const answered =
    miss.cause === 'status'
      ? `answered ${miss.status}`
      : miss.status === undefined || miss.cause === 'proxy'
        ? 'failed'
        : `answered ${miss.status}, but`
  const through = proxyHost !== undefined && miss.cause !== 'status' ? ` through the proxy ${proxyHost}` : ''
  const notes = [miss.requestId && `request id ${miss.requestId}`, attempts > 1 && `${attempts} attempts`].filter(Boolean).join(', ')
  const separator = answered.endsWith('but') ? ' ' : ': '
  return `${method} ${path} at ${host}${through} ${answered}${miss.detail && separator}${miss.detail}${notes && ` (${notes})`}`
}

function advice(kind: ErrorKind, facts: RequestFacts, miss: Miss, end: { readonly decision: RetryAnswer; readonly nowMs: number }): string {
  const { host, keyId, permission, noun } = facts
  switch (kind) {
    case 'authentication':
      return `The service does not accept the key ${keyId}: check api-key-id and api-key-secret, and that the key is enabled and not expired.`
    case 'permission':
      return `The key ${keyId} lacks a permission (needed: ${permission}): extend its role, or use another key.`
    case 'not-found':
      return `There is no such ${noun}, or the key ${keyId} may not see it.`
    case 'not-served':
      return 'This url does not serve the API: check api-url and observability-path (or profile).'
    case 'rate-limited':
      return rateLimitAdvice(miss, end)
    case 'redirect':
      return 'Redirects are never followed, so that the key reaches no other address: set api-url to the final one if you trust it.'
    case 'tls':
      return 'The certificate is not trusted. For an authority of your own set NODE_EXTRA_CA_CERTS=/path/to/ca.pem, or NODE_OPTIONS=--use-system-ca.'
    case 'may-exist':
      return `The server may have created the ${noun} all the same, so this is not sent again: look before you run it once more.`
    case 'network':
      return networkAdvice(host, miss)
    case 'timeout':
      return `Nothing usable came within the limit of ${facts.timeoutMs / 1000} s per request: is the service slow, or ${host} unreachable from here?`
    case 'deadline':
      return 'The time given for the whole operation (timeout-seconds) does not allow another attempt.'
    case 'bad-answer':
      return miss.cause === 'unreadable' ? 'Is a proxy or a login page answering instead of the API?' : ''
    case 'cancelled':
      return facts.method === 'GET' ? '' : `The server may have acted all the same: look at the ${noun} before you run it once more.`
    default:
      return ''
  }
}

function networkAdvice(host: string, miss: Miss): string {
  if (miss.cause === 'proxy')
    return 'The proxy refuses to connect: check the credentials and rules behind HTTPS_PROXY, HTTP_PROXY and NO_PROXY.'
  if (miss.cause === 'lookup') return `No such host: check the name in api-url (${host}).`
  return `Check api-url (${host}), and the network between here and there.`
}

function rateLimitAdvice({ headers }: Miss, { decision, nowMs }: { readonly decision: RetryAnswer; readonly nowMs: number }): string {
  const window = readWindow(headers)
  const policy =
    window === undefined ? 'The limit belongs to the key' : `The limit of ${window.limit} requests per window belongs to the key`
  const told = !decision.retry && decision.because === 'deadline' ? decision.waitMs : undefined
  const when =
    told === undefined || told > 1e12 ? '' : ` Come back after ${new Date(nowMs + told).toISOString()} (in ${Math.ceil(told / 1000)} s).`
  return `${policy}: other users of it slow this run down. timeout-seconds leaves no time to wait longer.${when}`
}
