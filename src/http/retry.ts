// Owns the question that decides about duplicates: after this answer, or this silence, may the server have acted?
// Pure: it sees a status, an error code and whether the answer could be read.

/** `not-done`: it certainly did not act · `refused`: it said no · `done`: it acted · `unknown`: nobody can tell. */
export type Certainty = 'not-done' | 'refused' | 'done' | 'unknown'

/** What is left of one attempt: a status with a body that fits or not, or the code of a failure before a whole answer. */
export type Evidence = { readonly status: number; readonly readable: boolean } | { readonly code: string }

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

export function certaintyOf(evidence: Evidence): Certainty {
  if ('code' in evidence) return neverConnected.has(evidence.code) || isTlsCode(evidence.code) ? 'not-done' : 'unknown'
  const { status, readable } = evidence
  if (status === 429) return 'not-done'
  if (refusals.has(status)) return 'refused'
  return status >= 200 && status < 300 && readable ? 'done' : 'unknown'
}

// Owns the retry policy as pure data: what failed, with which method, how often already → wait, or stop and why.

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

// Owns the count of one request's tries. The rate limit is no failure of a try: what fails after it is tried as often as ever.

export interface Tries {
  add(failure: Failure): void
  /** Requests sent, all answers together. */
  sent(): number
  /** Which try the last one was, as the retry policy counts. */
  counted(): number
  /** The same for people. */
  describe(): string
  /** How many failed as the last one did. */
  alike(): number
  /** A try before the last one may have been carried out, although its answer never came. */
  isAfterUnknown(): boolean
}

export function createTries(maxAttempts: number): Tries {
  const failures: Failure[] = []
  const isLimited = (failure: Failure | undefined): boolean => failure?.status === 429
  const counted = (): number => (isLimited(failures.at(-1)) ? failures.length : failures.filter((failure) => !isLimited(failure)).length)
  return {
    add: (failure) => void failures.push(failure),
    sent: () => failures.length,
    counted,
    alike: () => failures.filter(({ cause }) => cause === failures.at(-1)?.cause).length,
    describe: () => (isLimited(failures.at(-1)) ? `attempt ${counted()}` : `attempt ${counted()} of ${maxAttempts}`),
    isAfterUnknown: () => failures.slice(0, -1).some(({ certainty }) => certainty === 'unknown'),
  }
}
