import type { Failure } from './failure.ts'

/** The methods of the API. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** `until-deadline` is for rate limits only: the server refuses the request until the window ends, and it uses up no attempt. */
export type RetryPolicy = 'none' | 'once' | 'attempts' | 'until-deadline'

/** How often this failure may be retried. POST only where it certainly was not applied: the API has no idempotency key. */
export function retryPolicyFor(method: Method, { cause, status, writeOutcome }: Omit<Failure, 'detail' | 'headers'>): RetryPolicy {
  if (cause === 'rate-limit') return 'until-deadline'
  if (cause === 'tls' || cause === 'redirect' || cause === 'too-large' || cause === 'unfit' || cause === 'canceled') return 'none'
  if (writeOutcome === 'refused') return 'none'
  if (cause === 'proxy') return status === 407 ? 'none' : 'attempts'
  if (cause === 'lookup') return 'once'
  if (writeOutcome === 'not-applied') return 'attempts'
  if (method === 'POST') return 'none'
  return cause === 'unreadable' ? 'once' : 'attempts'
}

interface RetryInput {
  readonly policy: RetryPolicy
  readonly attempts: number
  /** How many of them failed with the same cause. */
  readonly sameCause: number
  readonly maxAttempts: number
  /** What the server asked for, if it did. */
  readonly serverWaitMs: number | undefined
  readonly remainingMs: number
  readonly random: number
}

/** Whether a request is sent again after a wait in milliseconds, or why not. */
export type RetryDecision =
  | { readonly retry: true; readonly waitMs: number }
  | { readonly retry: false; readonly because: 'final' | 'attempts' }
  | { readonly retry: false; readonly because: 'deadline'; readonly waitMs: number }

/** Whether to retry, and after which wait in milliseconds. Pure: the caller passes the random number. */
export function decideRetry(input: RetryInput): RetryDecision {
  const { policy, attempts, sameCause, maxAttempts, serverWaitMs, remainingMs, random } = input
  if (policy === 'none') return { retry: false, because: 'final' }
  const isUsedUp = attempts >= maxAttempts || (policy === 'once' && sameCause > 1)
  if (policy !== 'until-deadline' && isUsedUp) return { retry: false, because: 'attempts' }
  // Full jitter: clients that failed together do not come back together.
  const waitMs = serverWaitMs ?? Math.round(random * Math.min(20_000, firstBackoffMs * 2 ** (attempts - 1)))
  return waitMs >= remainingMs ? { retry: false, because: 'deadline', waitMs } : { retry: true, waitMs }
}

const firstBackoffMs = 500
