import { quote } from '../core/text.ts'
import { ExchangeFailure } from '../http/exchange-failure.ts'
import { type Headers, serverWaitMs } from '../http/rate-limit.ts'
import { isTlsCode, writeOutcomeOf } from '../http/retry.ts'

/** Why a request to GitHub failed. */
interface GitHubFailure {
  /** Undefined when there was no answer. */
  readonly status?: number
  /** GitHub's own message, or the network's. Untrusted, but printable and short. */
  readonly detail: string
  readonly isRateLimited: boolean
  /** How long GitHub asks to wait. */
  readonly waitMs?: number
  /** Whether a second attempt may succeed. */
  readonly isTransient: boolean
  /** A write that GitHub may have carried out. */
  readonly outcomeUnknown: boolean
}

/** The used part of Octokit's error. Without a `response` there was no answer, and the status has no meaning. */
interface RequestError extends Error {
  readonly status: number
  readonly request: { readonly method: string; readonly url: string }
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>>; readonly data: unknown }
}

const isRequestError = (thrown: unknown): thrown is RequestError =>
  thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' && 'request' in thrown

/** The only GraphQL request is a query. */
export const isRead = ({ method, url }: { readonly method: string; readonly url: string }): boolean =>
  method === 'GET' || url.endsWith('/graphql')

export const hasStatus = (thrown: unknown, ...statuses: readonly number[]): boolean =>
  isRequestError(thrown) && thrown.response !== undefined && statuses.includes(thrown.status)

export function classifyFailure(thrown: unknown, nowMs: number): GitHubFailure {
  const isWrite = isRequestError(thrown) && !isRead(thrown.request)
  if (isRequestError(thrown) && thrown.response !== undefined) return classifyAnswer(thrown.status, thrown.response, isWrite, nowMs)
  const exchange = isRequestError(thrown) ? thrown.cause : thrown
  if (exchange instanceof ExchangeFailure) return classifyExchange(exchange, isWrite)
  const detail = quote(thrown instanceof Error ? thrown.message : String(thrown))
  return { detail, isRateLimited: false, isTransient: false, outcomeUnknown: isWrite }
}

function classifyExchange({ code, message }: ExchangeFailure, isWrite: boolean): GitHubFailure {
  const isTimeout = /TIMEOUT|ETIMEDOUT/.test(code)
  const wasSent = !/^(?:NOT_SENT|DEADLINE)$/.test(code)
  return {
    detail: quote(isTimeout ? `GitHub did not answer in time (${code})` : message),
    isRateLimited: false,
    isTransient: wasSent && !isTlsCode(code) && !/^(?:CANCELLED|REDIRECT|TOO_LARGE|BAD_\w+)$/.test(code),
    outcomeUnknown: isWrite && wasSent && writeOutcomeOf({ code }) === 'unknown',
  }
}

function classifyAnswer(
  status: number,
  { headers, data }: NonNullable<RequestError['response']>,
  isWrite: boolean,
  nowMs: number,
): GitHubFailure {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]))
  const message = messageOf(data)
  const isLimit = texts['retry-after'] !== undefined || texts['x-ratelimit-remaining'] === '0' || /rate limit/i.test(message)
  const isRateLimited = status === 429 || (status === 403 && isLimit)
  const waitMs = isRateLimited || status === 503 ? waitOf(texts, nowMs) : undefined
  const isUnclear = !isRateLimited && writeOutcomeOf({ status, readable: true }) === 'unknown'
  return {
    status,
    detail: message === '' ? 'without a message' : quote(message),
    isRateLimited,
    ...(waitMs !== undefined && { waitMs }),
    isTransient: isRateLimited || isUnclear,
    outcomeUnknown: isWrite && isUnclear,
  }
}

/** Octokit's own message adds a link to the documentation and the errors as JSON. */
function messageOf(data: unknown): string {
  const errors = typeof data === 'object' && data !== null && 'errors' in data && Array.isArray(data.errors) ? data.errors : []
  return [data, ...errors]
    .flatMap((one: unknown) => (typeof one === 'object' && one !== null && 'message' in one ? [one.message] : []))
    .filter((text) => typeof text === 'string')
    .join(': ')
}

// Unlike other APIs, GitHub gives the end of its rate limit window as a point in time, in seconds.
function waitOf(headers: Headers, nowMs: number): number | undefined {
  const retryAfter = headers['retry-after']
  const waitMs = retryAfter === undefined ? undefined : serverWaitMs(429, { 'retry-after': retryAfter }, nowMs)
  if (waitMs !== undefined || headers['x-ratelimit-remaining'] !== '0') return waitMs
  const untilResetMs = Number(headers['x-ratelimit-reset']) * 1000 - nowMs
  return Number.isFinite(untilResetMs) && untilResetMs > 0 ? untilResetMs : undefined
}

export type SyncTarget = 'comment' | 'issue'

const permissions = { comment: 'pull-requests: write', issue: 'issues: write' } as const

/** The answer of GitHub, without a full stop. */
export function describeAnswer({ status, detail }: GitHubFailure): string {
  const message = detail.replace(/\.$/, '')
  return status === undefined ? message : `GitHub answered ${status}: ${message}`
}

interface FailedSync {
  readonly target: SyncTarget
  readonly isFromFork: boolean
}

/** One or two sentences: what happened, and what to do. */
export function describeFailure(failure: GitHubFailure, sync: FailedSync): string {
  const { isRateLimited, waitMs, outcomeUnknown } = failure
  const answer = describeAnswer(failure)
  if (isRateLimited) {
    const when = waitMs === undefined ? '' : `. GitHub asks to wait ${Math.ceil(waitMs / 1000)} s`
    return `${answer}. This is a rate limit${when}.`
  }
  return [`${answer}.`, adviceFor(failure, sync), outcomeUnknown ? 'GitHub may have written it.' : '']
    .filter((text) => text !== '')
    .join(' ')
}

function adviceFor({ status, detail }: GitHubFailure, { target, isFromFork }: FailedSync): string {
  const grant = `Give the job \`permissions: ${permissions[target]}\`.`
  if (status === 401) return 'The token is not valid. Check github-token.'
  // No permission helps with a locked conversation.
  if ((status !== 403 && status !== 404) || /\blocked\b/i.test(detail)) return ''
  if (isFromFork) return 'The token of a pull request from a fork can only read.'
  return status === 404 && target === 'comment' ? `The pull request does not exist, or the token cannot read it. ${grant}` : grant
}
