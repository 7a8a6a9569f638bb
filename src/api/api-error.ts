// Owns the error that a failed request ends in: what was asked, what came back, and what to do about it.
import { type ErrorKind, WatchkeeperError } from '../kernel/errors.ts'
import type { Miss } from './attempt.ts'
import { adviceFor } from './error-advice.ts'
import type { Method, RetryAnswer } from './retry.ts'

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
export interface RequestEnd {
  /** Requests sent. */
  readonly attempts: number
  /** An earlier try may have been carried out, although its answer never came. */
  readonly isAfterUnknown: boolean
  readonly decision: RetryAnswer
  readonly nowMs: number
}

/** A request that failed for good. Not for wrong input, which never becomes a request. */
export class ApiError extends WatchkeeperError {
  override readonly name = 'ApiError'
  readonly method: Method
  readonly path: string
  /** What to do about it; may be empty. */
  readonly advice: string
  /** HTTP status of the last answer, if there was one. */
  readonly status: number | undefined
  /** The API's id of the last answer, for its support. */
  readonly requestId: string | undefined
  /** Requests sent, all answers together. */
  readonly attempts: number
  /** The server may have acted, on this try or an earlier one, although this failed. */
  readonly mayHaveActed: boolean

  constructor(facts: RequestFacts, miss: Miss, end: RequestEnd) {
    const mayAct = facts.method !== 'GET' && !facts.isSafe
    const kind = kindOf(mayAct ? facts.method : 'GET', miss, end.decision)
    const mayHaveActed = (miss.certainty === 'unknown' || end.isAfterUnknown) && mayAct
    const advice = adviceFor(kind, facts, miss, { ...end, mayHaveActed })
    super(kind, [describe(facts, miss), advice, locate(facts, miss, end.attempts)].filter(Boolean).join('\n'))
    this.advice = advice
    this.method = facts.method
    this.path = facts.path
    this.status = miss.status
    this.requestId = miss.requestId
    this.attempts = end.attempts
    this.mayHaveActed = mayHaveActed
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

function kindOfErrorStatus({ status = 0, isFromApi }: Miss): ErrorKind {
  if (status === 404) return isFromApi ? 'not-found' : 'not-served'
  return kindOfStatus[status] ?? (status >= 500 || status === 408 ? 'server' : 'refused')
}

/** What happened, in one line. */
function describe({ proxyHost }: RequestFacts, { cause, status, detail, code }: Miss): string {
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
function locate({ method, path, host }: RequestFacts, { requestId }: Miss, attempts: number): string {
  const notes = [requestId && `request id ${requestId}`, attempts > 1 && `${attempts} attempts`].filter(Boolean).join(', ')
  return `Request: ${method} ${path} at ${host}${notes && ` (${notes})`}`
}
