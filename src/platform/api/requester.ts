import { formatMoment } from '../core/dates.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { createRedact, type Redact } from '../core/secrets.ts'
import { type Admission, type Pacer, readRateLimitWindow } from '../http/rate-limit.ts'
import { type FailedAttempt, inSeconds, retryPolicyFor, type SendDeps, sendWithRetries, startDeadline } from '../http/send.ts'
import type { Exchange, Transport } from '../http/transport.ts'
import { ApiError, type ConnectionInputs, explainFailure, isOutcomeUnknown, type RequestFacts } from './api-error.ts'
import { type AttemptFailure, type AttemptSuccess, sendAndRead } from './attempt.ts'
import { type AppliedWrite, type Call, isWriteRequest, maxBasisAgeMs, type Reconciled, type ToSend } from './call.ts'
import { shortPath } from './path.ts'
import type { Profile } from './profiles.ts'

/** Includes connecting and the last byte. */
export const requestTimeoutMs = 30_000

export interface Endpoint {
  readonly baseUrl: URL
  readonly authorization: string
  readonly keyName: string
  readonly inputs?: ConnectionInputs
  readonly pacer: Pacer
  readonly transport: Transport
  readonly secrets: readonly string[]
}

export interface RequesterOptions extends SendDeps {
  readonly endpoint: Endpoint
  readonly profile: Profile
  readonly maxAttempts: number
  /** Limit for all requests of this requester together, from its creation on. */
  readonly deadlineMs: number
  readonly timeoutMs?: number
  readonly onRequestId: (id: string) => void
  /** Gets every answer and every decision about a retry; undefined unless the debug log is on. */
  readonly debug?: ((line: string) => void) | undefined
}

type Failed = FailedAttempt<AttemptFailure>

interface Admitted extends ToSend {
  readonly admission: Admission
}

/** Keeps to the rate limit and the deadline, and retries by `retryPolicyFor`. */
export function createRequester(options: RequesterOptions) {
  const { endpoint, cancellation, maxAttempts, timeoutMs = requestTimeoutMs, clock, debug } = options
  const remainingMs = startDeadline(clock, options.deadlineMs)
  const note = createNotes(options)
  const admit = createAdmit(options, remainingMs, note)
  const tryOnce = createTryOnce(options)

  /** Throws an ApiError when the request failed and is not retried, and kind `canceled` or `deadline` when it was not sent. */
  async function request<T>(call: Call<T>): Promise<T> {
    const { request, rules = {} } = call
    let facts = requestFactsOf(options, call, timeoutMs)
    let { body } = request
    const errorOf = (failed: Failed): ApiError => new ApiError(explainFailure(facts, failed, clock.now()))
    // Nothing slow may run between the admission of a request and its sending.
    await endpoint.transport.ready()

    function admitNext(last: Failed | undefined): Promise<Admitted | AppliedWrite<T>> {
      // A failed attempt was not applied if the object was read again.
      if (last === undefined || rules.reconcile !== undefined || !isOutcomeUnknown(request, last)) return admit(facts, body, rules)
      // A write with an unknown outcome is sent again only where that changes nothing.
      return admit<T>(facts, body, {}).catch(() => {
        throw errorOf(last)
      })
    }

    /** Undefined where the lost write was not applied, or where nothing can tell. */
    async function lookUp(failed: Failed): Promise<AppliedWrite<T> | undefined> {
      // An address that redirects does not serve the API: there is nothing to read.
      if (rules.reconcile === undefined || !isOutcomeUnknown(request, failed) || failed.failure.cause === 'redirect') return undefined
      const found = await reconcile(rules.reconcile, errorOf(failed))
      if (found === 'changed-by-others') throw errorOf(failed)
      return found === 'not-applied' ? undefined : found
    }

    const end = await sendWithRetries<T, AttemptFailure>(
      async (last) => {
        const next = (last && (await lookUp(last))) ?? (await admitNext(last))
        if ('applied' in next) return { value: next.applied }
        ;({ body } = next)
        facts = { ...facts, timeoutMs: Math.min(timeoutMs, Math.ceil(remainingMs())) }
        return tryOnce(
          call,
          {
            method: request.method,
            url: new URL(`${endpoint.baseUrl.href.replace(/\/$/, '')}${pathWithQuery(request)}`),
            body: body === undefined ? undefined : JSON.stringify(body),
            authorization: endpoint.authorization,
            ...(request.isTool && { acceptsEvents: true }),
            timeoutMs: facts.timeoutMs,
            signal: cancellation.abort,
          },
          next.admission,
        )
      },
      {
        maxAttempts,
        remainingMs,
        policyOf: (failure) => policyOf(call, failure),
        describe: (failure) => `${facts.label}: ${retryReason(failure)}`,
        onFailure(failed) {
          debug?.(decisionLine(facts, failed))
          if (failed.decision.retry && failed.failure.cause === 'rate-limit') rules.onRejected?.()
        },
        note: (line, { failure, label }, waitMs) =>
          note(failure.cause === 'rate-limit' ? rateLimitReason : `${label} ${retryReason(failure)}`, waitMs, line),
      },
      options,
    )
    if ('value' in end) return end.value
    const error = errorOf(end)
    if (end.isStopped) throw error.outcomeUnknown ? error : canceled(error)
    const found = await lookUp(end)
    if (found === undefined) throw error
    return found.applied
  }

  return { request, remainingMs }
}

/** Where the run does not depend on the answer, only a rejection by the rate limit is retried. */
const policyOf = ({ request: { method, isSafe }, rules }: Call<unknown>, failure: AttemptFailure) =>
  (rules?.isOptional && failure.cause !== 'rate-limit') ||
  (rules?.isHeavy && failure.cause === 'timeout' && failure.writeOutcome !== 'not-applied')
    ? 'none'
    : retryPolicyFor(isSafe ? 'GET' : rules?.reconcile === undefined ? method : 'PUT', failure)

function createTryOnce({ endpoint, clock, cancellation: { writes }, onRequestId, debug }: RequesterOptions) {
  const { transport } = endpoint
  const redact = createRedact(endpoint.secrets)
  // Two secrets that share a part would hide each other's rest from a second search.
  const redactFor = ({ request: { secrets } }: Call<unknown>): Redact =>
    secrets === undefined ? redact : (text) => createRedact([...endpoint.secrets, ...secrets()])(text)

  return async <T>(call: Call<T>, exchange: Exchange, admission: Admission) => {
    const startedAtMs = clock.monotonicMs()
    if (isWriteRequest(call.request)) writes?.sent()
    let answered: { status: number; headers: AttemptSuccess<T>['headers'] } | undefined
    try {
      const outcome = await sendAndRead({ transport, exchange, read: call.read, redact: redactFor(call), nowMs: clock.now })
      if (isWriteRequest(call.request) && 'failure' in outcome && outcome.failure.writeOutcome !== 'unknown') writes?.notApplied()
      const answer = 'success' in outcome ? outcome.success : outcome.failure
      if (answer.status !== undefined) answered = { status: answer.status, headers: answer.headers }
      if (answer.requestId !== undefined) onRequestId(answer.requestId)
      debug?.(answerLine(exchange, outcome, clock.monotonicMs() - startedAtMs))
      if ('failure' in outcome) return outcome
      call.rules?.onAnswer?.(clock.monotonicMs())
      return { value: outcome.success.value }
    } finally {
      admission.settle(answered)
    }
  }
}

function createAdmit(
  { endpoint: { pacer }, clock, deadlineMs, cancellation: { stop } }: RequesterOptions,
  remainingMs: () => number,
  note: ReturnType<typeof createNotes>,
) {
  const expired = clock.timeout(deadlineMs)

  async function waitForTurn(facts: LabeledFacts, notAfter: AbortSignal | undefined): Promise<Admission> {
    const onWait = (waitMs: number): void => {
      if (waitMs >= remainingMs()) throw tooLate(facts, waitMs, clock.now())
      if (waitMs >= 1000) note(rateLimitReason, waitMs, `Waiting ${inSeconds(waitMs)} for the rate limit before ${facts.label}`)
    }
    const signal = AbortSignal.any([stop, expired, ...(notAfter === undefined ? [] : [notAfter])])
    const admission = await pacer.admit({ signal, onWait }).catch((thrown: unknown) => {
      if (stop.aborted) throw canceled(thrown)
      if (!signal.aborted) throw thrown
      throw expired.aborted
        ? tooLate(facts, 0, clock.now())
        : new WatchkeeperError('canceled', `${facts.method} ${facts.path} was not sent.`)
    })
    if (remainingMs() > 0) return admission
    admission.cancel()
    throw tooLate(facts, 0, clock.now())
  }

  /**
   * Resolves when the request may be sent, which must happen at once, or to the outcome where nothing is left to send. Throws kind
   * `deadline` when its turn comes too late, and kind `canceled` when `notAfter` is aborted before.
   */
  return async function admit<T>(
    facts: LabeledFacts,
    body: unknown,
    rules: NonNullable<Call<T>['rules']>,
  ): Promise<Admitted | AppliedWrite<T>> {
    const { basis, notAfter } = rules
    let current: ToSend | AppliedWrite<T> = { body }
    // On a slow machine, what was read may be too old once it is known what to send. Reading it again would not help.
    let readingMs = 0
    const isOutdated = (): boolean => basis !== undefined && clock.monotonicMs() - basis.readAtMs() > Math.max(maxBasisAgeMs, readingMs)
    for (;;) {
      // After a wait for the next window, what was read would be outdated.
      while (basis !== undefined && 'body' in current && (isOutdated() || pacer.quota()?.remaining === 0)) {
        const startedAtMs = clock.monotonicMs()
        current = await basis.readAgain()
        readingMs = clock.monotonicMs() - startedAtMs
      }
      if ('applied' in current) return current
      const admission = await waitForTurn(facts, notAfter)
      if (!isOutdated()) return { admission, body: current.body }
      admission.cancel()
    }
  }
}

// A signal that ends a wait comes from the user. It is not a failure of the network.
const canceled = (cause: unknown): WatchkeeperError =>
  new WatchkeeperError('canceled', 'Canceled. No further requests were sent.', { cause })

function tooLate({ method, path }: RequestFacts, waitMs: number, nowMs: number): WatchkeeperError {
  const when =
    waitMs === 0 ? '' : ` The rate limit requires a wait of ${inSeconds(waitMs)}. Try again after ${formatMoment(nowMs + waitMs)}.`
  return new WatchkeeperError('deadline', `timeout-seconds leaves no time for another request.${when}\nNot sent: ${method} ${path}`)
}

const rateLimitReason = 'rate limit'

/** Parallel requests often wait for the same reason, which is worth one line. */
function createNotes({ clock, note }: SendDeps) {
  const notedUntilMs = new Map<string, number>()
  return (reason: string, waitMs: number, line: string): void => {
    const now = clock.monotonicMs()
    if (now < (notedUntilMs.get(reason) ?? 0)) return
    notedUntilMs.set(reason, now + Math.max(waitMs, 1000))
    note(line)
  }
}

/** `GET /v1/… answered 200 in 84 ms, request id …, 96 of 100 requests left for 8.0 s`. */
function answerLine({ method, url }: Exchange, outcome: Awaited<ReturnType<typeof sendAndRead>>, ms: number) {
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

function decisionLine(facts: RequestFacts, failed: Failed) {
  const { decision } = failed
  const retry = decision.retry ? `retry in ${inSeconds(decision.waitMs)}` : `no retry (${decision.because})`
  return `${facts.method} ${facts.path}: ${retry}${isOutcomeUnknown(facts, failed) ? ', the server may have applied it' : ''}`
}

type LabeledFacts = RequestFacts & { readonly label: string }

function requestFactsOf(
  { endpoint, profile }: RequesterOptions,
  { request, about, rules }: Call<unknown>,
  timeoutMs: number,
): LabeledFacts {
  const { baseUrl, keyName, inputs } = endpoint
  const { method, isSafe } = request
  const path = pathWithQuery(request)
  return {
    ...about,
    permission: about.permission && profile.permissions[about.permission],
    method,
    isSafe,
    isCreate: method === 'POST' && isWriteRequest(request) && rules?.reconcile === undefined,
    path: `${baseUrl.pathname.replace(/\/$/, '')}${path}`,
    label: `${method} ${shortPath(path) || baseUrl.pathname}`,
    origin: baseUrl.origin,
    host: baseUrl.host,
    isSelfHosted: profile.isSelfHosted,
    keyName,
    inputs,
    timeoutMs,
  }
}

// Messages contain the query, because it shows which part of a long period failed.
const pathWithQuery = ({ path, query }: Call<unknown>['request']) => (query === undefined ? path : `${path}?${query}`)

/** Throws `error` when the object cannot be read: another request might undo a user's change. */
async function reconcile<T>(read: () => Promise<Reconciled<T>>, error: ApiError): Promise<Reconciled<T>> {
  try {
    return await read()
  } catch (thrown) {
    // A missing object is an answer, and a bug stays a bug.
    throw !(thrown instanceof WatchkeeperError) || thrown.kind === 'not-found' ? thrown : error
  }
}

const retryReason = (failure: AttemptFailure) =>
  [failure.status !== undefined && `status ${failure.status}`, failure.detail].filter(Boolean).join(', ')
