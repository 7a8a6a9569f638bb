import { parseJsonOrUndefined } from '../core/json.ts'
import { isMapping } from '../core/keys.ts'
import { quote } from '../core/text.ts'
import { describeFailedRequest, type Failure, failureOfStatus } from '../http/failure.ts'
import type { Answer } from '../http/transport.ts'
import type { ForgeWords, SyncTarget } from './forge.ts'

/** A request to a forge that failed, or an answer that cannot be used. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError'
  readonly failure: Pick<Failure, 'detail'> & Partial<Failure>
  /** The forge may have carried out the write. */
  readonly outcomeUnknown: boolean

  constructor(failure: ForgeError['failure'], outcomeUnknown = false) {
    super(failure.detail)
    this.failure = failure
    this.outcomeUnknown = outcomeUnknown
  }
}

/** Octokit has the error of a request as the cause of its own. */
export function toForgeError(thrown: unknown): ForgeError {
  if (thrown instanceof ForgeError) return thrown
  if (!(thrown instanceof Error)) return new ForgeError({ detail: quote(String(thrown)) })
  return thrown.cause instanceof ForgeError ? thrown.cause : new ForgeError({ detail: quote(thrown.message) })
}

/** Whether the forge answered with one of these statuses. */
export function hasStatus(thrown: unknown, ...statuses: readonly number[]): boolean {
  const { cause, status } = toForgeError(thrown).failure
  return cause === 'status' && status !== undefined && statuses.includes(status)
}

/** An answer with an error status. `nowMs` is the time of its arrival, in milliseconds since the epoch. */
export function failureOfAnswer({ status, headers, text }: Answer, nowMs: number): Failure {
  const message = messageOf(parseJsonOrUndefined(text))
  const retryAfter = headers['retry-after']
  const failure = failureOfStatus({ status, headers: { 'retry-after': retryAfter } }, message ? quote(message) : 'without a message', nowMs)
  // `RateLimit-…` on GitLab: https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers.
  const isSpent = (headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining']) === '0'
  const isRefusedByLimit = status === 403 && (retryAfter !== undefined || isSpent || /rate limit/i.test(message))
  if (failure.cause !== 'rate-limit' && !isRefusedByLimit) return failure
  // Unlike other APIs, both forges give the end of their rate limit window as a point in time, in seconds.
  const untilResetMs = isSpent ? Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']) * 1000 - nowMs : 0
  const { waitMs = untilResetMs > 0 ? untilResetMs : undefined } = failure
  return { ...failure, cause: 'rate-limit', writeOutcome: 'not-applied', waitMs }
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

/** The answer of the forge, or the failure of the network, without a full stop. */
export const describeAnswer = (failure: ForgeError['failure'], { name }: ForgeWords): string =>
  failure.cause === 'unfit'
    ? `the answer is not from ${name}: ${failure.detail}`
    : describeFailedRequest({ ...failure, detail: failure.detail.replace(/\.$/, '') }, name)

interface FailedSync {
  readonly target: SyncTarget
  readonly isFromFork: boolean
  readonly words: ForgeWords
}

/** One or two sentences: what happened, and what to do. */
export function explainForgeError({ failure, outcomeUnknown }: ForgeError, sync: FailedSync): string {
  const { cause, waitMs } = failure
  const { name } = sync.words
  const answer = describeAnswer(failure, sync.words)
  if (cause === 'rate-limit') {
    const when = waitMs === undefined ? '' : `. ${name} asks to wait ${Math.ceil(waitMs / 1000)} s`
    return `${answer}. This is a rate limit${when}.`
  }
  return [`${answer}.`, adviceFor(failure, sync), outcomeUnknown ? `${name} may have written it.` : '']
    .filter((text) => text !== '')
    .join(' ')
}

function adviceFor({ cause, status, detail }: ForgeError['failure'], { target, isFromFork, words }: FailedSync): string {
  const { pullRequest, tokenInput, grants } = words
  if (cause === 'redirect') return 'Redirects are not followed.'
  if (status === 401) return `The token is not valid. Check ${tokenInput}.`
  // No permission helps with a locked conversation.
  if ((status !== 403 && status !== 404) || /\blocked\b/i.test(detail)) return ''
  if (isFromFork) return `The token of a ${pullRequest} from a fork can only read.`
  return status === 404 && target === 'comment'
    ? `The ${pullRequest} does not exist, or the token cannot read it. ${grants.comment}`
    : grants[target]
}
