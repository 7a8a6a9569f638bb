import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'
import { describeFailedRequest, type Failure, failureOfStatus } from '../../platform/http/failure.ts'
import type { Answer } from '../../platform/http/transport.ts'

export type SyncTarget = 'comment' | 'issue'

export class GitHubError extends Error {
  override readonly name = 'GitHubError'
  readonly failure: Pick<Failure, 'detail'> & Partial<Failure>
  /** GitHub may have carried out the write. */
  readonly outcomeUnknown: boolean

  constructor(failure: GitHubError['failure'], outcomeUnknown = false) {
    super(failure.detail)
    this.failure = failure
    this.outcomeUnknown = outcomeUnknown
  }
}

/** Octokit has the error of a request as the cause of its own. */
export function toGitHubError(thrown: unknown): GitHubError {
  if (thrown instanceof GitHubError) return thrown
  if (!(thrown instanceof Error)) return new GitHubError({ detail: quote(String(thrown)) })
  return thrown.cause instanceof GitHubError ? thrown.cause : new GitHubError({ detail: quote(thrown.message) })
}

export function hasStatus(thrown: unknown, ...statuses: readonly number[]): boolean {
  const { cause, status } = toGitHubError(thrown).failure
  return cause === 'status' && status !== undefined && statuses.includes(status)
}

/** `nowMs` is the time of arrival, in milliseconds since the epoch. */
export function failureOfAnswer({ status, headers, text }: Answer, nowMs: number): Failure {
  const data = parseJsonOrUndefined(text)
  const errors = isMapping(data) && Array.isArray(data.errors) ? data.errors : []
  const message = [data, ...errors]
    .filter(isMapping)
    .flatMap(({ message }) => (typeof message === 'string' ? [message] : []))
    .join(': ')
  const retryAfter = headers['retry-after']
  const failure = failureOfStatus({ status, headers: { 'retry-after': retryAfter } }, message ? quote(message) : 'without a message', nowMs)
  const isSpent = headers['x-ratelimit-remaining'] === '0'
  const isRefusedByLimit = status === 403 && (retryAfter !== undefined || isSpent || /rate limit/i.test(message))
  if (failure.cause !== 'rate-limit' && !isRefusedByLimit) return failure
  // Unlike other APIs, GitHub gives the end of its rate limit window as a point in time, in seconds.
  const untilResetMs = isSpent ? Number(headers['x-ratelimit-reset']) * 1000 - nowMs : 0
  const { waitMs = untilResetMs > 0 ? untilResetMs : undefined } = failure
  return { ...failure, cause: 'rate-limit', writeOutcome: 'not-applied', waitMs }
}

/** Has no full stop. */
export const describeAnswer = (failure: GitHubError['failure']): string =>
  failure.cause === 'unfit'
    ? `the answer is not from GitHub: ${failure.detail}`
    : describeFailedRequest({ ...failure, detail: failure.detail.replace(/\.$/, '') }, 'GitHub')

interface FailedSync {
  readonly target: SyncTarget
  readonly isFromFork: boolean
}

/** One or two sentences: what happened, and what to do. */
export function explainGitHubError({ failure, outcomeUnknown }: GitHubError, sync: FailedSync): string {
  const { cause, waitMs } = failure
  const answer = describeAnswer(failure)
  if (cause === 'rate-limit') {
    const when = waitMs === undefined ? '' : `. GitHub asks to wait ${Math.ceil(waitMs / 1000)} s`
    return `${answer}. This is a rate limit${when}.`
  }
  return [`${answer}.`, permissionAdvice(failure, sync), outcomeUnknown ? 'GitHub may have written it.' : '']
    .filter((text) => text !== '')
    .join(' ')
}

const grants = {
  comment: 'Give the job `permissions: pull-requests: write`. In a called workflow, the calling job needs it, too.',
  issue: 'Give the job `permissions: issues: write`. In a called workflow, the calling job needs it, too.',
} as const satisfies Record<SyncTarget, string>

function permissionAdvice({ cause, status, detail }: GitHubError['failure'], { target, isFromFork }: FailedSync) {
  if (cause === 'redirect') return 'Redirects are not followed.'
  if (status === 401) return 'The token is not valid. Check github-token.'
  // No permission helps with a locked conversation.
  if ((status !== 403 && status !== 404) || /\blocked\b/i.test(detail)) return ''
  if (isFromFork) return 'The token of a pull request from a fork can only read.'
  return status === 404 && target === 'comment'
    ? `The pull request does not exist, or the token cannot read it. ${grants.comment}`
    : grants[target]
}
