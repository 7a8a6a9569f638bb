import type { Failure } from './failure.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** `until-deadline`: the server refuses the request until a window ends, which uses up no attempt. */
export type RetryPolicy = 'none' | 'once' | 'attempts' | 'until-deadline'

/** POST is repeated only where it certainly was not applied: the API has no idempotency key. */
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
  /** Failures with the same cause. */
  readonly sameCause: number
  readonly maxAttempts: number
  readonly serverWaitMs: number | undefined
  readonly remainingMs: number
  readonly random: number
}

export type RetryDecision =
  | { readonly retry: true; readonly waitMs: number }
  | { readonly retry: false; readonly because: 'final' | 'attempts' }
  | { readonly retry: false; readonly because: 'deadline'; readonly waitMs: number }

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
