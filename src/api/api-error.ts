import { type ErrorKind, WatchkeeperError } from '../core/errors.ts'
import { readRateLimitWindow } from '../http/rate-limit.ts'
import type { Method, RetryDecision } from '../http/retry.ts'
import type { AttemptFailure } from './attempt.ts'

/** What a message may say about the request. No secret is in here. */
export interface RequestFacts {
  readonly method: Method
  /** It persists nothing, whatever its method. */
  readonly isSafe?: boolean
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
  /** What a 404 is about, where that is not the noun: a list that is not there lacks its service. */
  readonly missing?: string
  readonly timeoutMs: number
}

/** How it came to its end. */
interface RequestEnd {
  /** Requests sent. */
  readonly attempts: number
  /** An earlier attempt may have been carried out, although its answer was lost. */
  readonly hadUnknownOutcome: boolean
  readonly decision: RetryDecision
  readonly nowMs: number
}

interface ApiErrorDetails {
  readonly kind: ErrorKind
  /** What failed, what to do about it, and which request it was: up to three lines. */
  readonly message: string
  /** What to do about it; may be empty. */
  readonly advice: string
  readonly method: Method
  /** With the query, where there is one. */
  readonly path: string
  /** HTTP status of the last answer, if there was one. */
  readonly status: number | undefined
  /** The API's id of the last answer, for its support. */
  readonly requestId: string | undefined
  /** Requests sent, all answers together. */
  readonly attempts: number
  /** The server may have carried the write out, on this attempt or an earlier one, although it failed. */
  readonly outcomeUnknown: boolean
}

/** A request that failed for good. Not for wrong input, which never becomes a request. */
export class ApiError extends WatchkeeperError {
  override readonly name = 'ApiError'
  readonly advice: string
  readonly method: Method
  readonly path: string
  readonly status: number | undefined
  readonly requestId: string | undefined
  readonly attempts: number
  readonly outcomeUnknown: boolean

  constructor(details: ApiErrorDetails) {
    super(details.kind, details.message)
    this.advice = details.advice
    this.method = details.method
    this.path = details.path
    this.status = details.status
    this.requestId = details.requestId
    this.attempts = details.attempts
    this.outcomeUnknown = details.outcomeUnknown
  }
}

/** Classifies and explains the last failed attempt of a request. */
export function explainFailure(facts: RequestFacts, failure: AttemptFailure, end: RequestEnd): ApiErrorDetails {
  const isWrite = facts.method !== 'GET' && !facts.isSafe
  const kind = classifyFailure(isWrite ? facts.method : 'GET', failure, end.decision)
  const outcomeUnknown = (failure.writeOutcome === 'unknown' || end.hadUnknownOutcome) && isWrite
  const advice = adviceFor(kind, facts, failure, { ...end, outcomeUnknown })
  return {
    kind,
    message: [describeFailure(facts, failure), advice, identifyRequest(facts, failure, end.attempts)].filter(Boolean).join('\n'),
    advice,
    method: facts.method,
    path: facts.path,
    status: failure.status,
    requestId: failure.requestId,
    attempts: end.attempts,
    outcomeUnknown,
  }
}

const kindOfStatus: Readonly<Record<number, ErrorKind>> = { 401: 'authentication', 403: 'permission', 409: 'conflict', 429: 'rate-limited' }

function classifyFailure(method: Method, failure: AttemptFailure, decision: RetryDecision): ErrorKind {
  if (failure.code === 'CANCELLED') return 'cancelled'
  if (failure.status !== 429 && method === 'POST' && failure.writeOutcome === 'unknown') return 'may-exist'
  if (!decision.retry && decision.because === 'deadline' && failure.status !== 429) return 'deadline'
  if (failure.cause === 'status') return kindOfErrorStatus(failure)
  if (failure.cause === 'tls' || failure.cause === 'redirect' || failure.cause === 'timeout') return failure.cause
  return failure.cause === 'unreadable' || failure.cause === 'unfit' || failure.cause === 'too-large' ? 'bad-answer' : 'network'
}

function kindOfErrorStatus({ status = 0, isFromApi }: AttemptFailure): ErrorKind {
  if (status === 404) return isFromApi ? 'not-found' : 'not-served'
  return kindOfStatus[status] ?? (status >= 500 || status === 408 ? 'server' : 'refused')
}

/** What happened, in one line. */
function describeFailure({ proxyHost }: RequestFacts, { cause, status, detail, code }: AttemptFailure): string {
  const separator = detail === '' ? '' : ': '
  if (cause === 'status' || cause === 'redirect') return `The API answered ${status}${separator}${detail}`
  if (cause === 'proxy') return `No way through the proxy ${proxyHost}: ${detail}`
  if (status !== undefined) return `The API answered ${status}, but ${detail}`
  if (code === 'CANCELLED' || cause === 'too-large') return capitalized(detail)
  const way = proxyHost === undefined ? '' : ` through the proxy ${proxyHost}`
  return cause === 'timeout' ? `${capitalized(detail)}${way}` : `No answer${way}: ${detail}`
}

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** Which request it was, for logs and for the service's support. */
function identifyRequest({ method, path, host }: RequestFacts, { requestId }: AttemptFailure, attempts: number): string {
  const notes = [requestId && `request id ${requestId}`, attempts > 1 && `${attempts} attempts`].filter(Boolean).join(', ')
  return `Request: ${method} ${path} at ${host}${notes && ` (${notes})`}`
}

// What to do about a failed request, one sentence for each kind of failure.

interface RequestOutcome extends RequestEnd {
  readonly outcomeUnknown: boolean
}

function adviceFor(kind: ErrorKind, facts: RequestFacts, failure: AttemptFailure, end: RequestOutcome): string {
  // A create and a cancelled request have a sentence of their own for that.
  const isOpen = end.outcomeUnknown && facts.method !== 'POST' && kind !== 'cancelled'
  const open = isOpen ? `It may be done all the same: look at the ${facts.noun}, or run this again.` : ''
  return [adviceOnKind(kind, facts, failure, end), open].filter(Boolean).join(' ')
}

function adviceOnKind(kind: ErrorKind, facts: RequestFacts, failure: AttemptFailure, end: RequestEnd): string {
  const { host, keyId, permission, noun, missing = noun } = facts
  switch (kind) {
    case 'authentication':
      return `The service does not accept the key ${keyId}: check api-key-id and api-key-secret, and that the key is enabled and not expired.`
    case 'permission':
      return `The key ${keyId} lacks a permission (needed: ${permission}): extend its role, or use another key.`
    case 'not-found':
      return `There is no such ${missing}, or the key ${keyId} may not see it.`
    case 'not-served':
      return `This url does not serve the API: check api-url and observability-path (or profile).${doubledVersion(facts.path)}`
    case 'rate-limited':
      return rateLimitAdvice(failure, end)
    case 'redirect':
      return 'Redirects are never followed, so that the key reaches no other address: set api-url to the final one if you trust it.'
    case 'tls':
      return 'The certificate is not trusted. For an authority of your own set NODE_EXTRA_CA_CERTS=/path/to/ca.pem, or NODE_OPTIONS=--use-system-ca.'
    case 'may-exist':
      return `The server may have created the ${noun} all the same, so this is not sent again: look before you run it once more.`
    case 'network':
      return networkAdvice(host, failure)
    case 'timeout':
      return failure.writeOutcome === 'not-applied'
        ? `Check api-url (${host}), and that it can be reached from here.`
        : `Nothing usable came within the limit of ${facts.timeoutMs / 1000} s per request: is the service slow, or ${host} unreachable from here?`
    case 'deadline':
      return 'The time given for the whole operation (timeout-seconds) does not allow another attempt.'
    case 'bad-answer':
      return failure.cause === 'unreadable' ? 'Is a proxy or a login page answering instead of the API?' : ''
    case 'cancelled':
      return facts.method === 'GET' || facts.isSafe
        ? ''
        : `The server may have acted all the same: look at the ${noun} before you run it once more.`
    default:
      return ''
  }
}

// Every path begins with the version; an api-url that ends in it as well is the usual slip.
const doubledVersion = (path: string): string =>
  path.startsWith('/v1/v1/') ? ' api-url must not end in /v1: every path begins with it.' : ''

function networkAdvice(host: string, failure: AttemptFailure): string {
  if (failure.cause === 'proxy')
    return 'The proxy refuses to connect: check the credentials and rules behind HTTPS_PROXY, HTTP_PROXY and NO_PROXY.'
  if (failure.cause === 'lookup') return `No such host: check the name in api-url (${host}).`
  return `Check api-url (${host}), and the network between here and there.`
}

function rateLimitAdvice({ headers }: AttemptFailure, { decision, nowMs }: RequestEnd): string {
  const window = readRateLimitWindow(headers)
  const policy =
    window === undefined ? 'The limit belongs to the key' : `The limit of ${window.limit} requests per window belongs to the key`
  const waitMs = !decision.retry && decision.because === 'deadline' ? decision.waitMs : undefined
  const when =
    waitMs === undefined || waitMs > 1e12
      ? ''
      : ` Come back after ${new Date(nowMs + waitMs).toISOString()} (in ${Math.ceil(waitMs / 1000)} s).`
  return `${policy}: other users of it slow this run down. timeout-seconds leaves no time to wait longer.${when}`
}
