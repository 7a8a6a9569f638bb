/**
 * Whether the server carried out a write: `not-applied`: certainly not; `refused`: the server rejected it; `applied`: it did; `unknown`:
 * the answer does not show it. Retries depend on it, because a repeated create makes a duplicate.
 */
export type WriteOutcome = 'not-applied' | 'refused' | 'applied' | 'unknown'

/** The result of one attempt: a status and whether the body was readable, or the code of a failure before a whole answer. */
type AttemptEvidence = { readonly status: number; readonly readable: boolean } | { readonly code: string }

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'PROXY_REFUSED',
])

const refusals = new Set([400, 401, 403, 404, 405, 407, 409, 410, 413, 415, 422, 424, 501])

/** The codes with which Node and OpenSSL refuse a certificate or a handshake: no request was sent yet. */
export const isTlsCode = (code: string): boolean =>
  /^(?:ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)/.test(
    code,
  )

/** The outcome of a write by the result of one attempt. */
export function writeOutcomeOf(evidence: AttemptEvidence): WriteOutcome {
  if ('code' in evidence) return neverConnected.has(evidence.code) || isTlsCode(evidence.code) ? 'not-applied' : 'unknown'
  const { status, readable } = evidence
  if (status === 429) return 'not-applied'
  if (refusals.has(status)) return 'refused'
  return status >= 200 && status < 300 && readable ? 'applied' : 'unknown'
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Why an attempt has no usable answer. */
export type FailureCause =
  | 'connection' // nothing, or not the whole answer, arrived
  | 'lookup' // the host name does not exist
  | 'tls'
  | 'proxy' // the proxy refused the tunnel
  | 'timeout'
  | 'status' // an answer with an error status
  | 'redirect'
  | 'unreadable' // a success that is not JSON
  | 'unfit' // a success whose JSON does not fit
  | 'too-large'

export interface Failure {
  readonly cause: FailureCause
  readonly writeOutcome: WriteOutcome
  readonly status?: number
}

/** `until-deadline` is for the rate limit only: the server refuses the request until the window ends. */
export type RetryPolicy = 'none' | 'once' | 'attempts' | 'until-deadline'

/** How often this failure may be retried. POST only where it certainly was not applied: the API has no idempotency key. */
export function retryPolicyFor(method: Method, failure: Failure): RetryPolicy {
  if (failure.status === 429) return 'until-deadline'
  if (failure.cause === 'tls' || failure.cause === 'redirect' || failure.cause === 'too-large' || failure.cause === 'unfit') return 'none'
  if (failure.writeOutcome === 'refused') return 'none'
  if (failure.cause === 'proxy') return failure.status === 407 ? 'none' : 'attempts'
  if (failure.cause === 'lookup') return 'once'
  if (failure.writeOutcome === 'not-applied') return 'attempts'
  if (method === 'POST') return 'none'
  return failure.cause === 'unreadable' ? 'once' : 'attempts'
}

interface RetryInput {
  readonly policy: RetryPolicy
  /** Attempts made so far. */
  readonly attempts: number
  /** How many of them failed with the same cause. */
  readonly sameCause: number
  readonly maxAttempts: number
  /** What the server asked for, if it did. */
  readonly serverWaitMs: number | undefined
  /** Until the operation's deadline. */
  readonly remainingMs: number
  /** From 0 to 1, drawn by the caller. */
  readonly random: number
}

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
  const waitMs = serverWaitMs ?? backoffMs(attempts, random)
  return waitMs >= remainingMs ? { retry: false, because: 'deadline', waitMs } : { retry: true, waitMs }
}

const firstBackoffMs = 500
const maxBackoffMs = 20_000

// Full jitter: clients that failed together do not come back together.
const backoffMs = (attempts: number, random: number): number =>
  Math.round(random * Math.min(maxBackoffMs, firstBackoffMs * 2 ** (attempts - 1)))

/** The failed attempts of one request. A 429 does not use up an attempt: what fails after it is retried as often as ever. */
export interface AttemptLog {
  add(failure: Failure): void
  /** Requests sent, all answers together. */
  sent(): number
  /** Number of the last attempt: without 429s, except right after one, when all attempts count. */
  attemptNumber(): number
  /** The same for people. */
  describe(): string
  /** How many failed with the same cause as the last one. */
  sameCause(): number
  /** An attempt before the last one may have been carried out, although its answer was lost. */
  hadUnknownOutcome(): boolean
}

export function createAttemptLog(maxAttempts: number): AttemptLog {
  const failures: Failure[] = []
  const isRateLimited = (failure: Failure | undefined): boolean => failure?.status === 429
  const attemptNumber = (): number =>
    isRateLimited(failures.at(-1)) ? failures.length : failures.filter((failure) => !isRateLimited(failure)).length
  return {
    add: (failure) => void failures.push(failure),
    sent: () => failures.length,
    attemptNumber,
    sameCause: () => failures.filter(({ cause }) => cause === failures.at(-1)?.cause).length,
    describe: () => (isRateLimited(failures.at(-1)) ? `attempt ${attemptNumber()}` : `attempt ${attemptNumber()} of ${maxAttempts}`),
    hadUnknownOutcome: () => failures.slice(0, -1).some(({ writeOutcome }) => writeOutcome === 'unknown'),
  }
}
