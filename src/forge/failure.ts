import { isMapping } from '../core/keys.ts'
import { quote } from '../core/text.ts'
import { ExchangeFailure } from '../http/exchange-failure.ts'
import { type Headers, serverWaitMs } from '../http/rate-limit.ts'
import { isTlsCode, writeOutcomeOf } from '../http/retry.ts'
import type { ForgeWords, WriteTarget } from './forge.ts'

/** Why a request to a forge failed. */
interface ForgeFailure {
  /** Undefined when there was no answer. */
  readonly status?: number
  /** The message of the forge or of the network. Untrusted, but printable and short. */
  readonly detail: string
  readonly isRateLimited: boolean
  /** How long the forge asks to wait. */
  readonly waitMs?: number
  /** Whether a second attempt may succeed. */
  readonly isTransient: boolean
  /** A write that the forge may have carried out. */
  readonly outcomeUnknown: boolean
}

/** The used part of Octokit's error, which our own client throws, too. Without a `response` there was no answer, and the status has no meaning. */
export interface RequestError extends Error {
  readonly status: number
  readonly request: SentRequest
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>>; readonly data: unknown }
}

const isRequestError = (thrown: unknown): thrown is RequestError =>
  thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' && 'request' in thrown

/** What octokit says about a request: before it is sent with `query`, and afterwards with `body`. */
interface SentRequest {
  readonly method: string
  readonly url: string
  readonly query?: unknown
  readonly body?: unknown
}

export function isRead({ method, url, query, body }: SentRequest): boolean {
  if (method === 'GET') return true
  const text = query ?? (isMapping(body) ? body.query : undefined)
  return url.endsWith('/graphql') && !(typeof text === 'string' && text.startsWith('mutation'))
}

export const hasStatus = (thrown: unknown, ...statuses: readonly number[]): boolean =>
  isRequestError(thrown) && thrown.response !== undefined && statuses.includes(thrown.status)

export function classifyFailure(thrown: unknown, nowMs: number, { name }: Pick<ForgeWords, 'name'>): ForgeFailure {
  const isWrite = isRequestError(thrown) && !isRead(thrown.request)
  if (isRequestError(thrown) && thrown.response !== undefined) return classifyAnswer(thrown.status, thrown.response, isWrite, nowMs)
  const exchange = isRequestError(thrown) ? thrown.cause : thrown
  if (exchange instanceof ExchangeFailure) return classifyExchange(exchange, isWrite, name)
  const detail = quote(thrown instanceof Error ? thrown.message : String(thrown))
  return { detail, isRateLimited: false, isTransient: false, outcomeUnknown: isWrite }
}

function classifyExchange({ code, message }: ExchangeFailure, isWrite: boolean, name: ForgeWords['name']): ForgeFailure {
  const isTimeout = /TIMEOUT|ETIMEDOUT/.test(code)
  const wasSent = !/^(?:NOT_SENT|DEADLINE)$/.test(code)
  return {
    detail: quote(isTimeout ? `${name} did not answer in time (${code})` : message),
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
): ForgeFailure {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]))
  const message = messageOf(data)
  const isLimit = texts['retry-after'] !== undefined || isSpent(texts) || /rate limit/i.test(message)
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

/**
 * Octokit's own message adds a link to the documentation and the errors as JSON. GitLab has `message` as a text, or as lists of texts by
 * field, and `error_description` where a token lacks a scope: https://docs.gitlab.com/api/rest/troubleshooting/.
 */
function messageOf(data: unknown): string {
  const errors = isMapping(data) && Array.isArray(data.errors) ? data.errors : []
  return [data, ...errors]
    .filter(isMapping)
    .flatMap(({ message, error, error_description: description }) => {
      if (isMapping(message)) return Object.entries(message).map(([field, texts]) => `${field} ${[texts].flat().join(', ')}`)
      return [message ?? description ?? error].filter((text) => typeof text === 'string')
    })
    .join(': ')
}

// Unlike other APIs, both forges give the end of their rate limit window as a point in time, in seconds.
function waitOf(headers: Headers, nowMs: number): number | undefined {
  const retryAfter = headers['retry-after']
  const waitMs = retryAfter === undefined ? undefined : serverWaitMs(429, { 'retry-after': retryAfter }, nowMs)
  if (waitMs !== undefined || !isSpent(headers)) return waitMs
  const untilResetMs = Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']) * 1000 - nowMs
  return Number.isFinite(untilResetMs) && untilResetMs > 0 ? untilResetMs : undefined
}

/** `RateLimit-…` on GitLab: https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers. */
const isSpent = (headers: Headers): boolean => (headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining']) === '0'

/** The answer of the forge, without a full stop. */
export function describeAnswer({ status, detail }: ForgeFailure, { name }: Pick<ForgeWords, 'name'>): string {
  const message = detail.replace(/\.$/, '')
  return status === undefined ? message : `${name} answered ${status}: ${message}`
}

interface FailedSync {
  readonly target: WriteTarget
  readonly isFromFork: boolean
  readonly words: ForgeWords
}

/** One or two sentences: what happened, and what to do. */
export function describeFailure(failure: ForgeFailure, sync: FailedSync): string {
  const { isRateLimited, waitMs, outcomeUnknown } = failure
  const { name } = sync.words
  const answer = describeAnswer(failure, sync.words)
  if (isRateLimited) {
    const when = waitMs === undefined ? '' : `. ${name} asks to wait ${Math.ceil(waitMs / 1000)} s`
    return `${answer}. This is a rate limit${when}.`
  }
  return [`${answer}.`, adviceFor(failure, sync), outcomeUnknown ? `${name} may have written it.` : '']
    .filter((text) => text !== '')
    .join(' ')
}

function adviceFor({ status, detail }: ForgeFailure, { target, isFromFork, words }: FailedSync): string {
  const { pullRequest, tokenInput, grants } = words
  if (status === 401) return `The token is not valid. Check ${tokenInput}.`
  // No permission helps with a locked conversation.
  if ((status !== 403 && status !== 404) || /\blocked\b/i.test(detail)) return ''
  if (isFromFork) return `The token of a ${pullRequest} from a fork can only read.`
  return status === 404 && target === 'comment'
    ? `The ${pullRequest} does not exist, or the token cannot read it. ${grants.comment}`
    : (grants[target] ?? '')
}
