// Owns the retry policy as pure data: what failed, with which method, how often already → wait, or stop and why.
import type { Certainty } from './ambiguity.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What one attempt came to, if not to a usable answer. */
export type FailureCause =
  | 'connection' // nothing, or not the whole answer, arrived
  | 'lookup' // the host name does not exist
  | 'tls'
  | 'proxy' // the proxy refused the tunnel
  | 'timeout'
  | 'status' // an answer with an error status
  | 'redirect'
  | 'unreadable' // a success that is no JSON
  | 'unfit' // a success whose JSON does not fit
  | 'too-large'

export interface Failure {
  readonly cause: FailureCause
  readonly certainty: Certainty
  readonly status?: number
}

/** `until-deadline` is for the rate limit alone: the server asks for patience and does nothing meanwhile. */
export type Patience = 'none' | 'once' | 'attempts' | 'until-deadline'

/** How often this failure may be tried again. POST only where the server certainly did not act: the API has no idempotency key. */
export function patienceFor(method: Method, failure: Failure): Patience {
  if (failure.status === 429) return 'until-deadline'
  if (failure.cause === 'tls' || failure.cause === 'redirect' || failure.cause === 'too-large' || failure.cause === 'unfit') return 'none'
  if (failure.certainty === 'refused') return 'none'
  if (failure.cause === 'proxy') return failure.status === 407 ? 'none' : 'attempts'
  if (failure.cause === 'lookup') return 'once'
  if (failure.certainty === 'not-done') return 'attempts'
  if (method === 'POST') return 'none'
  return failure.cause === 'unreadable' ? 'once' : 'attempts'
}

export interface RetryQuestion {
  readonly patience: Patience
  /** Attempts made so far. */
  readonly attempts: number
  /** How many of them failed in this way. */
  readonly alike: number
  readonly maxAttempts: number
  /** What the server asked for, if it did. */
  readonly toldMs: number | undefined
  /** Until the operation's deadline. */
  readonly remainingMs: number
  /** From 0 to 1, drawn by the caller. */
  readonly random: number
}

export type RetryAnswer =
  | { readonly retry: true; readonly waitMs: number }
  | { readonly retry: false; readonly because: 'final' | 'attempts' }
  | { readonly retry: false; readonly because: 'deadline'; readonly waitMs: number }

export function decideRetry(question: RetryQuestion): RetryAnswer {
  const { patience, attempts, alike, maxAttempts, toldMs, remainingMs, random } = question
  if (patience === 'none') return { retry: false, because: 'final' }
  const isUsedUp = attempts >= maxAttempts || (patience === 'once' && alike > 1)
  if (patience !== 'until-deadline' && isUsedUp) return { retry: false, because: 'attempts' }
  const waitMs = toldMs ?? backoffMs(attempts, random)
  return waitMs >= remainingMs ? { retry: false, because: 'deadline', waitMs } : { retry: true, waitMs }
}

const firstBackoffMs = 500
const longestBackoffMs = 20_000

// Full jitter: clients that failed together do not come back together.
const backoffMs = (attempts: number, random: number): number =>
  Math.round(random * Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempts - 1)))
