import type { Clock } from '../core/clock.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { createRedact, type Redact } from '../core/secrets.ts'
import { type Cancellation, createDeadline, inSeconds } from '../http/deadline.ts'
import { type Admission, type Pacer, readRateLimitWindow, serverWaitMs } from '../http/rate-limit.ts'
import { type AttemptLog, createAttemptLog, decideRetry, type Method, type RetryDecision, retryPolicyFor } from '../http/retry.ts'
import type { Exchange, Transport } from '../http/transport.ts'
import { ApiError, type ConnectionInputs, explainFailure, type RequestFacts } from './api-error.ts'
import { type AttemptFailure, type AttemptSuccess, attempt } from './attempt.ts'
import { type ApiPath, shortPath } from './path.ts'
import type { Reader } from './wire.ts'

/** Longest that one request may take, from connecting to the last byte. */
export const requestTimeoutMs = 30_000

interface RequesterOptions {
  /** Base url without a trailing slash. */
  readonly baseUrl: URL
  /** Value of the `Authorization` header. */
  readonly authorization: string
  readonly userAgent: string
  /** Called with the API's request id of each answer that has one. */
  readonly onRequestId: (id: string) => void
  /** The key as messages name it. */
  readonly keyName: string
  readonly inputs?: ConnectionInputs | undefined
  readonly isSelfHosted: boolean
  readonly proxyHost: string | undefined
  readonly maxAttempts: number
  /** For all requests of this requester together, from its creation on. */
  readonly deadlineMs: number
  /** For each request; default `requestTimeoutMs`. */
  readonly timeoutMs?: number
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  /** Called for every retry and every long wait, with one line each. */
  readonly note: (line: string) => void
  /** Called for every answer and every decision about a retry; undefined unless the debug log is on. */
  readonly debug?: ((line: string) => void) | undefined
  readonly cancellation: Cancellation
  readonly pacer: Pacer
  readonly transport: Transport
  /** Of the connection. No answer shows them. */
  readonly secrets: readonly string[]
}

export interface Call<T> {
  readonly method: Method
  readonly path: ApiPath
  readonly query?: URLSearchParams
  /** The request stores nothing, whatever its method, and may be repeated. */
  readonly isSafe?: boolean
  /** The run does not depend on the answer. Only a rejection by the rate limit is retried. */
  readonly isOptional?: boolean
  /** Sent as JSON. */
  readonly body?: unknown
  /** Also accepts the answer as the only event of a stream. */
  readonly acceptsEvents?: boolean
  /** What an answer must not show, besides the secrets of the connection: a server may repeat the body. Asked for when there is an answer. */
  readonly secrets?: (() => readonly string[]) | undefined
  /** For a write that replaces what was read. */
  readonly basis?: Basis<T> | undefined
  /** Called with the monotonic time when the request was answered with success. */
  readonly onAnswer?: ((atMs: number) => void) | undefined
  /** Reads the object after an answer was lost, before the request is sent again. */
  readonly reconcile?: () => Promise<Reconciled<T>>
  readonly read: Reader<T>
  /** Once aborted, the request is not sent: kind `cancelled`. One that was sent goes on, with its retries. */
  readonly notAfter?: AbortSignal | undefined
  /** Called when the rate limit rejects an attempt, before the wait for the next one. */
  readonly onRejected?: (() => void) | undefined
  /** What the path identifies: `alert`. */
  readonly noun: string
  /** What a 404 means is missing, where that is not the noun. */
  readonly missing?: string
  /** The permission that the key needs. */
  readonly permission: string
}

const isWrite = ({ method, isSafe }: Pick<Call<unknown>, 'method' | 'isSafe'>): boolean => method !== 'GET' && !isSafe

/** What a write is based on. It is sent only while this is recent, so that it overwrites no later edit. */
interface Basis<T> {
  /** When the read was answered. */
  readAtMs(): number
  /** Returns what to send instead, or the outcome if there is nothing to send any more. Throws if nothing may be sent. */
  readAgain(): Promise<ToSend | Applied<T>>
}

interface ToSend {
  readonly body: unknown
}

interface Admitted extends ToSend {
  readonly admission: Admission
}

interface Applied<T> {
  readonly applied: T
}

/** Longest time between the answer to a read and the sending of the write that is based on it. */
export const maxBasisAgeMs = 2000

/** The outcome of a write whose answer was lost, found by reading the object. */
export type Reconciled<T> = 'not-applied' | Applied<T> | 'changed-by-others'

interface Requester {
  /** Throws an ApiError when the request failed and is not retried. */
  request<T>(call: Call<T>): Promise<T>
  /** Until the deadline of all requests of this requester. */
  remainingMs(): number
}

/** Sends requests within the rate limit and the deadline, and retries failed ones by the policy of `http/retry.ts`. */
export function createRequester(options: RequesterOptions): Requester {
  const { clock, note, pacer, cancellation } = options
  const { writes } = cancellation
  const deadline = createDeadline({ ...options, stop: cancellation.stop })
  const noteRetry = createRetryNotes(clock, note)
  const redact = createRedact(options.secrets)
  // Together, because what one of them leaves of a secret that it shares a part with, the other does not find any more.
  const redactFor = ({ secrets }: Call<unknown>): Redact =>
    secrets === undefined ? redact : (text) => createRedact([...options.secrets, ...secrets()])(text)

  async function tryOnce<T>(call: Call<T>, exchange: Exchange, admission: Admission) {
    const startedAtMs = clock.monotonicMs()
    if (isWrite(call)) writes?.sent()
    let answered: { status: number; headers: AttemptSuccess<T>['headers'] } | undefined
    try {
      const outcome = await attempt({ transport: options.transport, exchange, read: call.read, redact: redactFor(call) })
      if (isWrite(call) && 'failure' in outcome && outcome.failure.writeOutcome !== 'unknown') writes?.notApplied()
      const answer = 'success' in outcome ? outcome.success : outcome.failure
      if (answer.status !== undefined) answered = { status: answer.status, headers: answer.headers }
      if (answer.requestId !== undefined) options.onRequestId(answer.requestId)
      options.debug?.(describeAnswer(exchange, outcome, clock.monotonicMs() - startedAtMs))
      return outcome
    } finally {
      admission.settle(answered)
    }
  }

  /** Waits and reconciles; `failed` means to try again. Throws when there is nothing more to try. */
  async function recover<T>(
    call: Call<T>,
    failure: AttemptFailure,
    attempts: AttemptLog,
    facts: LabeledFacts,
  ): Promise<{ readonly applied: T } | { readonly failed: ApiError }> {
    const decision = decide(call, failure, attempts, { ...options, remainingMs: deadline.remainingMs() })
    const end = { attempts: attempts.sent(), hadUnknownOutcome: attempts.hadUnknownOutcome(), decision, nowMs: clock.now() }
    const error = new ApiError(explainFailure(facts, failure, end))
    options.debug?.(describeDecision(facts, decision, error))
    if (decision.retry) {
      if (failure.status === 429) call.onRejected?.()
      const line = `Trying again in ${inSeconds(decision.waitMs)} (${attempts.describe()}): ${facts.label}: ${reasonOf(failure)}`
      if (failure.status === 429) deadline.noteRateLimit(decision.waitMs, line)
      else noteRetry(`${attempts.attemptNumber()} ${reasonOf(failure)}`, decision.waitMs, line)
      await unlessStopped(cancellation.stop, () => clock.sleep(decision.waitMs, cancellation.stop)).catch((thrown: unknown) => {
        throw error.outcomeUnknown ? error : thrown
      })
    }
    // An address that redirects does not serve the API: there is nothing to read.
    const found = error.outcomeUnknown && failure.cause !== 'redirect' ? await reconcile(call, error) : 'not-applied'
    if (found === 'changed-by-others' || (found === 'not-applied' && !decision.retry)) throw error
    return found === 'not-applied' ? { failed: error } : found
  }

  /** Resolves when the request may be sent, and its basis is recent; or to the outcome where nothing has to be sent any more. */
  async function admit<T>(call: Call<T>, body: unknown, facts: LabeledFacts): Promise<Admitted | Applied<T>> {
    const isOutdated = (): boolean => call.basis !== undefined && clock.monotonicMs() - call.basis.readAtMs() > maxBasisAgeMs
    // The read belongs into the window of the write: after a wait for the next one, it would be outdated.
    const mustReadAgain = (): boolean => isOutdated() || pacer.quota()?.remaining === 0
    const current = await refreshBody(call, body, mustReadAgain)
    if ('applied' in current) return current
    const admission = await deadline.admit(facts, call.notAfter)
    if (!isOutdated()) return { admission, body: current.body }
    admission.cancel()
    return admit(call, current.body, facts)
  }

  /** After an attempt that may have been applied, the end of the wait is the end of that attempt. */
  async function admitNext<T>(call: Call<T>, body: unknown, facts: LabeledFacts, unknown: ApiError | undefined) {
    const { stop } = cancellation
    if (unknown === undefined) return unlessStopped(stop, () => admit(call, body, facts))
    // Such a write is sent again only where that changes nothing.
    const again = { ...call, basis: undefined, notAfter: undefined }
    return unlessStopped(stop, () => admit(again, body, facts)).catch(() => {
      throw unknown
    })
  }

  async function request<T>(call: Call<T>): Promise<T> {
    const path = withQuery(call)
    const facts = factsOf(options, call, path)
    // Nothing slow may run between the admission of a request and its sending.
    await options.transport.ready()
    const attempts = createAttemptLog(options.maxAttempts)
    /** Of an attempt that the server may have applied. */
    let unknown: ApiError | undefined
    let { body } = call
    for (;;) {
      const admitted = await admitNext(call, body, facts, unknown)
      if ('applied' in admitted) return admitted.applied
      ;({ body } = admitted)
      const timeoutMs = Math.min(facts.timeoutMs, Math.ceil(deadline.remainingMs()))
      const outcome = await tryOnce(call, toExchange(options, call, { path, body, timeoutMs }), admitted.admission)
      if ('success' in outcome) {
        call.onAnswer?.(clock.monotonicMs())
        return outcome.success.value
      }
      attempts.add(outcome.failure)
      const found = await recover(call, outcome.failure, attempts, { ...facts, timeoutMs })
      if ('applied' in found) return found.applied
      // Where the object was read again, the failed attempt was not applied.
      if (found.failed.outcomeUnknown && call.reconcile === undefined) unknown = found.failed
    }
  }

  return { request, remainingMs: deadline.remainingMs }
}

/** Whether to retry. After the first signal, and for a request that the run does not depend on, nothing but a refusal by the rate limit is. */
function decide(
  call: Call<unknown>,
  failure: AttemptFailure,
  attempts: AttemptLog,
  {
    clock,
    cancellation,
    maxAttempts,
    random,
    remainingMs,
  }: Pick<RequesterOptions, 'clock' | 'cancellation' | 'maxAttempts' | 'random'> & { readonly remainingMs: number },
): RetryDecision {
  const isFinal = cancellation.stop.aborted || (call.isOptional && failure.status !== 429)
  const policy = isFinal ? 'none' : retryPolicyFor(call.isSafe ? 'GET' : call.method, failure)
  const waitMs = failure.status === undefined ? undefined : serverWaitMs(failure.status, failure.headers, clock.now())
  return decideRetry({
    policy,
    attempts: attempts.attemptNumber(),
    sameCause: attempts.sameCause(),
    maxAttempts,
    serverWaitMs: waitMs,
    remainingMs,
    random: random(),
  })
}

/** What to send, after as many new reads of its basis as it takes. */
async function refreshBody<T>({ basis }: Call<T>, body: unknown, mustReadAgain: () => boolean): Promise<ToSend | Applied<T>> {
  let current: ToSend | Applied<T> = { body }
  while (basis !== undefined && 'body' in current && mustReadAgain()) current = await basis.readAgain()
  return current
}

/** Parallel requests that fail together wait for different times. */
const sameFailureMs = 1000

/** Parallel requests often fail for the same reason, which is worth one line. The debug log has a line for each. */
function createRetryNotes(clock: Clock, note: (line: string) => void): (cause: string, waitMs: number, line: string) => void {
  const notedUntilMs = new Map<string, number>()
  return (cause, waitMs, line) => {
    const now = clock.monotonicMs()
    if (now < (notedUntilMs.get(cause) ?? 0)) return
    notedUntilMs.set(cause, now + Math.max(waitMs, sameFailureMs))
    note(line)
  }
}

/** `GET /v1/… answered 200 in 84 ms, request id …, 96 of 100 requests left for 8.0 s`. */
function describeAnswer({ method, url }: Exchange, outcome: Awaited<ReturnType<typeof attempt>>, ms: number): string {
  const { status, headers, requestId } = 'success' in outcome ? outcome.success : outcome.failure
  const window = readRateLimitWindow(headers)
  const detail = 'success' in outcome ? '' : outcome.failure.detail
  return [
    `${method} ${url.pathname}${url.search} ${status === undefined ? 'got no answer' : `answered ${status}`} in ${Math.round(ms)} ms`,
    ...(detail === '' ? [] : [detail]),
    ...(requestId === undefined ? [] : [`request id ${requestId}`]),
    ...(window === undefined ? [] : [`${window.remaining} of ${window.limit} requests left for ${inSeconds(window.resetMs)}`]),
  ].join(', ')
}

function describeDecision({ method, path }: RequestFacts, decision: RetryDecision, { outcomeUnknown }: ApiError): string {
  const retry = decision.retry ? `retry in ${inSeconds(decision.waitMs)}` : `no retry (${decision.because})`
  return `${method} ${path}: ${retry}${outcomeUnknown ? ', the server may have applied it' : ''}`
}

// Messages contain the query, because it shows which part of a long period failed.
const withQuery = ({ path, query }: Call<unknown>): string => (query === undefined ? path : `${path}?${query}`)

/** With the name of the request in lines of the log. */
type LabeledFacts = RequestFacts & { readonly label: string }

function factsOf(
  { baseUrl, proxyHost, keyName, inputs, isSelfHosted, timeoutMs = requestTimeoutMs }: RequesterOptions,
  call: Call<unknown>,
  path: string,
): LabeledFacts {
  const { method, noun, permission, isSafe, missing } = call
  return {
    method,
    noun,
    permission,
    ...(isSafe !== undefined && { isSafe }),
    ...(missing !== undefined && { missing }),
    path: `${baseUrl.pathname.replace(/\/$/, '')}${path}`,
    label: `${method} ${shortPath(path) || baseUrl.pathname}`,
    origin: baseUrl.origin,
    host: baseUrl.host,
    isSelfHosted,
    proxyHost,
    keyName,
    inputs,
    timeoutMs,
  }
}

interface Sending {
  /** With the query. */
  readonly path: string
  readonly body: unknown
  readonly timeoutMs: number
}

function toExchange(
  options: RequesterOptions,
  { method, acceptsEvents = false }: Call<unknown>,
  { path, body, timeoutMs }: Sending,
): Exchange {
  const { baseUrl, authorization, userAgent, cancellation } = options
  return {
    method,
    url: new URL(`${baseUrl.href.replace(/\/$/, '')}${path}`),
    body: body === undefined ? undefined : JSON.stringify(body),
    authorization,
    ...(acceptsEvents && { acceptsEvents }),
    userAgent,
    timeoutMs,
    signal: cancellation.abort,
  }
}

/** Throws `error` when the object cannot be read: another request might undo another user's change. */
async function reconcile<T>(call: Call<T>, error: ApiError): Promise<Reconciled<T>> {
  try {
    return (await call.reconcile?.()) ?? 'not-applied'
  } catch (thrown) {
    // A missing object is an answer, and a bug stays a bug; every other failure leaves the outcome unknown.
    throw !(thrown instanceof WatchkeeperError) || thrown.kind === 'not-found' ? thrown : error
  }
}

const reasonOf = (failure: AttemptFailure): string =>
  [failure.status !== undefined && `status ${failure.status}`, failure.detail].filter(Boolean).join(', ')

// A signal that ends a wait comes from the user. It is not a failure of the network.
async function unlessStopped<T>(stop: AbortSignal, wait: () => Promise<T>): Promise<T> {
  try {
    return await wait()
  } catch (thrown) {
    if (stop.aborted) throw new WatchkeeperError('cancelled', 'Canceled. No further requests were sent.', { cause: thrown })
    throw thrown
  }
}
