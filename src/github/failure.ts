// Owns what can go wrong with GitHub, and the words for it: what happened, and which permission would have helped.

import { quote } from '../core/text.ts'
import { ExchangeFailure } from '../http/exchange-failure.ts'
import { serverWaitMs } from '../http/rate-limit.ts'
import { isTlsCode, type RetryPolicy, writeOutcomeOf } from '../http/retry.ts'

export interface FailureFacts {
  /** Undefined when there was no whole answer. */
  readonly status?: number
  /** GitHub's own words, or those of the network. */
  readonly detail: string
  /** Refused for now; a permission would not help. */
  readonly isRateLimited?: boolean
  /** How long GitHub asks to wait. */
  readonly toldMs?: number
  readonly patience: RetryPolicy
  /** Nobody can tell whether GitHub did it all the same. */
  readonly isUnknown: boolean
}

/** A request to GitHub that came to nothing. */
export class GitHubFailure extends Error {
  override readonly name = 'GitHubFailure'
  readonly facts: FailureFacts

  constructor(facts: FailureFacts, options?: ErrorOptions) {
    super(facts.detail, options)
    this.facts = facts
  }
}

type Headers = Readonly<Record<string, string | number | undefined>>

/** Octokit's errors and whatever else was thrown; an octokit error without an answer hides a failure of the network. */
export function toGitHubFailure(thrown: unknown, nowMs: number): GitHubFailure {
  if (thrown instanceof GitHubFailure) return thrown
  const { status, response, cause, message } = thrown as {
    readonly status?: unknown
    readonly response?: { readonly headers?: Headers; readonly data?: unknown }
    readonly cause?: unknown
    readonly message?: unknown
  }
  if (typeof status === 'number' && response !== undefined) return ofAnswer(status, response, thrown, nowMs)
  const failure = [thrown, cause].find((one) => one instanceof ExchangeFailure)
  const detail = failure === undefined ? String(message ?? thrown) : wordsOfExchange(failure)
  const certainty = failure === undefined ? 'unknown' : writeOutcomeOf({ code: failure.code })
  const isFinal = failure === undefined || isTlsCode(failure.code) || finalCodes.test(failure.code)
  const isUnknown = certainty === 'unknown' && !(failure !== undefined && unsentCodes.test(failure.code))
  return new GitHubFailure({ detail: quote(detail), patience: isFinal ? 'none' : 'attempts', isUnknown }, { cause: thrown })
}

const wordsOfExchange = ({ code, message }: ExchangeFailure): string =>
  /TIMEOUT|ETIMEDOUT/.test(code) ? `GitHub did not answer in time (${code})` : message

/** Before anything was sent. */
const unsentCodes = /^(?:NOT_SENT|DEADLINE)$/

const finalCodes = /^(?:NOT_SENT|DEADLINE|CANCELLED|REDIRECT|TOO_LARGE|BAD_\w+)$/

function ofAnswer(
  status: number,
  { headers = {}, data }: { readonly headers?: Headers; readonly data?: unknown },
  cause: unknown,
  nowMs: number,
): GitHubFailure {
  const said = wordsOf(data)
  const isRateLimited = status === 429 || (status === 403 && isLimit(headers, said))
  const toldMs = isRateLimited || status === 503 ? toldBy(headers, nowMs) : undefined
  const isUnknown = !isRateLimited && writeOutcomeOf({ status, readable: true }) === 'unknown'
  return new GitHubFailure(
    {
      status,
      detail: said === '' ? 'without a word' : quote(said),
      isRateLimited,
      ...(toldMs !== undefined && { toldMs }),
      patience: isRateLimited || isUnknown ? 'attempts' : 'none',
      isUnknown,
    },
    { cause },
  )
}

const wordsOf = (data: unknown): string => {
  const errors = typeof data === 'object' && data !== null && 'errors' in data && Array.isArray(data.errors) ? data.errors : []
  return [data, ...errors].map(messageOf).filter(Boolean).join(': ')
}

const messageOf = (said: unknown): string =>
  typeof said === 'object' && said !== null && 'message' in said && typeof said.message === 'string' ? said.message : ''

const isLimit = (headers: Headers, said: string): boolean =>
  headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(said)

// Unlike the cloud's API, GitHub names the end of its window as a point in time.
function toldBy(headers: Headers, nowMs: number): number | undefined {
  const retryAfter = headers['retry-after']
  const told = retryAfter === undefined ? undefined : serverWaitMs(429, { 'retry-after': String(retryAfter) }, nowMs)
  if (told !== undefined || headers['x-ratelimit-remaining'] !== '0') return told
  const reset = Number(headers['x-ratelimit-reset']) * 1000 - nowMs
  return Number.isFinite(reset) && reset > 0 ? reset : undefined
}

export interface Attempted {
  /** What is lost: `comment` or `issue`. */
  readonly what: 'comment' | 'issue'
  readonly isFromFork: boolean
}

const permissions = { comment: 'pull-requests: write', issue: 'issues: write' } as const

/** What happened, without a full stop. */
export function describeAnswer({ status, detail }: FailureFacts): string {
  const said = detail.replace(/\.$/, '')
  return status === undefined ? said : `GitHub answered ${status}: ${said}`
}

/** One sentence or two, for a notice. */
export function describeFailure({ facts }: GitHubFailure, { what, isFromFork }: Attempted): string {
  const { isRateLimited, toldMs, isUnknown } = facts
  const answer = describeAnswer(facts)
  if (isRateLimited) {
    const when = toldMs === undefined ? '' : `, and asks to wait ${Math.ceil(toldMs / 1000)} s`
    return `${answer}. It is a rate limit${when}.`
  }
  return [`${answer}.`, adviceFor(facts, { what, isFromFork }), ...(isUnknown ? ['It may be there all the same.'] : [])]
    .filter((text) => text !== '')
    .join(' ')
}

function adviceFor({ status, detail }: FailureFacts, { what, isFromFork }: Attempted): string {
  const grant = `Give the job \`permissions: ${permissions[what]}\`.`
  if (status === 401) return 'The token is not valid: see github-token.'
  // A locked conversation is nothing that a permission would open.
  if ((status !== 403 && status !== 404) || /\blocked\b/i.test(detail)) return ''
  if (isFromFork) return 'A pull request from a fork gets a token that can only read.'
  return status === 404 && what === 'comment' ? `There is no such pull request, or the token may not see it. ${grant}` : grant
}
