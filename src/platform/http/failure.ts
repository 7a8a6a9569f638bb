import { quoteLong } from '../core/text.ts'
import { type Headers, rateLimitStatus, serverWaitMs } from './rate-limit.ts'

export type FailureCause =
  | 'connection' // nothing, or not the whole answer, arrived
  | 'lookup' // the host name does not exist
  | 'tls'
  | 'proxy' // the proxy refused the tunnel
  | 'timeout'
  | 'canceled'
  | 'status' // an answer with an error status
  | 'rate-limit' // the server refuses requests for some time
  | 'redirect'
  | 'unreadable' // a success that is not JSON
  | 'unfit' // a success whose JSON does not fit
  | 'too-large'

export interface Failure {
  readonly cause: FailureCause
  /**
   * Whether the server carried out a write. `not-applied`: certainly not; `refused`: the server rejected it; `unknown`: the answer does not
   * show it. A repeated create makes a duplicate.
   */
  readonly writeOutcome: 'not-applied' | 'refused' | 'unknown'
  /** Printable and without a full stop. Empty where an answer has no message. */
  readonly detail: string
  readonly status?: number | undefined
  readonly code?: string
  /** `host[:port]` */
  readonly proxyHost?: string | undefined
  /** Empty without an answer. */
  readonly headers: Headers
  readonly waitMs?: number | undefined
}

/** `code` comes from Node, undici, OpenSSL or this project. */
export class ExchangeFailure extends Error {
  override readonly name = 'ExchangeFailure'
  readonly code: string
  readonly bytes: number
  readonly proxyStatus: number | undefined

  constructor(
    code: string,
    message: string,
    details: { readonly bytes?: number; readonly proxyStatus?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.code = code
    this.bytes = details.bytes ?? 0
    this.proxyStatus = details.proxyStatus
  }
}

/** `timeoutCode` is given when our own total limit ended the exchange. */
export function toExchangeFailure(thrown: unknown, bytes: number, timeoutCode?: string): ExchangeFailure {
  if (thrown instanceof ExchangeFailure) return thrown
  const causes = [...chain(thrown)]
  // undici reports a proxy's refusal as if the user had canceled, or had called it wrongly. Only the message shows the cause.
  const refusal = causes
    .map(({ message }) => /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(message)?.[1])
    .find((status) => status !== undefined)
  if (refusal !== undefined) {
    return new ExchangeFailure('PROXY_REFUSED', `the proxy answered ${refusal}`, { proxyStatus: Number(refusal), cause: thrown })
  }
  const message = causes[0]?.message ?? String(thrown)
  if (timeoutCode !== undefined) return new ExchangeFailure(timeoutCode, message, { bytes, cause: thrown })
  const code = causes.map((cause) => ('code' in cause ? cause.code : undefined)).find((value) => typeof value === 'string')
  return new ExchangeFailure(code ?? 'UNKNOWN', message, { bytes, cause: thrown })
}

function* chain(thrown: unknown): Generator<Error> {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    yield error
    if (error instanceof AggregateError) yield* error.errors.filter((inner) => inner instanceof Error)
  }
}

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'PROXY_REFUSED',
])

/** A refused certificate or handshake: no request was sent yet. */
const isTlsCode = (code: string) =>
  /^(?:ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)/.test(
    code,
  )

function causeOfError(code: string): FailureCause {
  if (code === 'CANCELED') return 'canceled'
  if (code === 'PROXY_REFUSED') return 'proxy'
  if (code === 'ENOTFOUND') return 'lookup'
  if (code === 'TOO_LARGE') return 'too-large'
  if (code.startsWith('BAD_')) return 'unreadable'
  if (isTlsCode(code)) return 'tls'
  return /TIMEOUT|ETIMEDOUT/.test(code) ? 'timeout' : 'connection'
}

const connectionFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
}

/** Includes the TLS handshake. */
export const connectTimeoutMs = 10_000

export function failureOfExchange(failure: ExchangeFailure, timeoutMs: number, proxyHost: string | undefined): Failure {
  const { code, proxyStatus } = failure
  return {
    cause: causeOfError(code),
    writeOutcome: neverConnected.has(code) || isTlsCode(code) ? 'not-applied' : 'unknown',
    detail: describeExchange(failure, timeoutMs),
    status: proxyStatus,
    code,
    proxyHost,
    headers: {},
  }
}

function describeExchange({ code, bytes, message }: ExchangeFailure, timeoutMs: number) {
  const cause = causeOfError(code)
  if (cause === 'canceled' || cause === 'proxy' || cause === 'too-large' || cause === 'unreadable') return message
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') {
    return bytes === 0
      ? `the connection was closed before an answer (${code})`
      : `the connection was closed after ${bytes} bytes of the answer (${code})`
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${connectTimeoutMs / 1000} s (${code})`
  if (cause === 'timeout') {
    const limit = `within ${Math.round(timeoutMs / 100) / 10} s (${code})`
    return bytes === 0 ? `no answer ${limit}` : `only ${bytes} bytes of the answer ${limit}`
  }
  const known = connectionFailures[code]
  if (known !== undefined) return `${known} (${code})`
  const [, host] = /^getaddrinfo \w+ (\S+)$/.exec(message) ?? []
  if (host !== undefined) return `there is no address for the host ${quoteLong(host)} (${code})`
  // OpenSSL puts its reason between codes, function names and paths of its source.
  return `${quoteLong(/^[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:([^:]+):/.exec(message)?.[1] ?? message)} (${code})`
}

/** One line without a full stop. `name` is that of the server. */
export function describeFailedRequest(
  { status, code, proxyHost, detail }: Pick<Failure, 'detail'> & Partial<Failure>,
  name: string,
): string {
  if (code !== undefined) return `${name}${proxyHost === undefined ? '' : ` through the proxy ${proxyHost}`}: ${detail}`
  return status === undefined ? detail : `${name} answered ${status}${detail === '' ? '' : `: ${detail}`}`
}

const refusals = new Set([400, 401, 403, 404, 405, 407, 409, 410, 413, 415, 422, 424, 501])

interface FailedAnswer {
  readonly status: number
  readonly headers: Headers
}

/** `nowMs` is the time of arrival, in milliseconds since the epoch. */
export function failureOfStatus({ status, headers }: FailedAnswer, detail: string, nowMs: number): Failure {
  const waitMs = serverWaitMs(status, headers, nowMs)
  const known = { detail, status, headers, waitMs }
  if (status === rateLimitStatus) return { ...known, cause: 'rate-limit', writeOutcome: 'not-applied' }
  return { ...known, cause: 'status', writeOutcome: refusals.has(status) ? 'refused' : 'unknown' }
}

export function failureOfRedirect({ status, headers }: FailedAnswer, from: URL): Failure {
  const { location } = headers
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from).origin : undefined
  const detail = target === undefined ? 'a redirect without a usable target' : `a redirect to ${target}`
  return { cause: 'redirect', writeOutcome: 'unknown', detail, status, headers }
}
