// Owns a request from first try to last: paced, tried again as the policy says, within the operation's deadline.
import type { Clock } from '../kernel/clock.ts'
import { WatchkeeperError } from '../kernel/errors.ts'
import type { Redact } from '../kernel/secrets.ts'
import { ApiError, type RequestFacts } from './api-error.ts'
import { attempt, type Hit, type Miss, type Reader } from './attempt.ts'
import { createDeadline, inSeconds } from './deadline.ts'
import type { Pacer } from './pacer.ts'
import type { ApiPath } from './path.ts'
import { readWindow, toldWaitMs, type WindowNews } from './rate-limit.ts'
import { decideRetry, type Method, patienceFor, type RetryAnswer } from './retry.ts'
import type { Exchange, Transport } from './transport.ts'
import { createTries, type Tries } from './tries.ts'

/** Longest that one request may take, from connecting to the last byte. */
export const requestTimeoutMs = 30_000

export interface Cancellation {
  /** Aborted by the first signal: nothing new is sent, waits end. */
  readonly stop: AbortSignal
  /** Aborted a little later: what is under way ends as well. */
  readonly abort: AbortSignal
}

export interface RequesterOptions {
  /** Base url without a trailing slash. */
  readonly baseUrl: URL
  /** Value of the `Authorization` header. */
  readonly authorization: string
  readonly userAgent: string
  /** The key as messages may name it. */
  readonly keyName: string
  readonly proxyHost: string | undefined
  readonly maxAttempts: number
  /** For everything that this requester does, from its creation on. */
  readonly deadlineMs: number
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  /** Hears of every retry and every long wait, one line each. */
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
  readonly pacer: Pacer
  readonly transport: Transport
  readonly redact: Redact
}

export interface Call<T> {
  readonly method: Method
  readonly path: ApiPath
  readonly query?: URLSearchParams
  /** It persists nothing, whatever its method: repeating it does no harm. */
  readonly isSafe?: boolean
  /** Sent as JSON. */
  readonly body?: unknown
  /** Looks what became of it, before it is sent again although nobody knows whether it was done. */
  readonly lookBack?: () => Promise<Found<T>>
  readonly read: Reader<T>
  /** What the path identifies: `alert`. */
  readonly noun: string
  /** What a 404 is about, where that is not the noun. */
  readonly missing?: string
  /** What the key must be allowed. */
  readonly permission: string
}

/** What a look finds: that nothing happened yet, that it was done, or neither of the two. */
export type Found<T> = 'nothing' | { readonly done: T } | 'something else'

export interface Requester {
  /** Throws an ApiError when the request failed for good. */
  request<T>(call: Call<T>): Promise<Pick<Hit<T>, 'value'>>
  /** The API's id of the last answer that bore one. */
  lastRequestId(): string | undefined
  /** What the last answer that told it said of the key's rate limit. */
  lastWindow(): WindowNews | undefined
  /** Until the deadline of everything that this requester does. */
  remainingMs(): number
}

export function createRequester(options: RequesterOptions): Requester {
  const { clock, note, pacer, cancellation } = options
  const deadline = createDeadline({ ...options, stop: cancellation.stop })
  let lastRequestId: string | undefined
  let lastWindow: WindowNews | undefined

  async function tryOnce<T>(call: Call<T>, exchange: Exchange) {
    let answered: { status: number; headers: Hit<T>['headers'] } | undefined
    try {
      const outcome = await attempt({ transport: options.transport, exchange, read: call.read, redact: options.redact })
      const answer = 'hit' in outcome ? outcome.hit : outcome.miss
      if (answer.status !== undefined) answered = { status: answer.status, headers: answer.headers }
      lastRequestId = answer.requestId ?? lastRequestId
      lastWindow = readWindow(answer.headers) ?? lastWindow
      return outcome
    } finally {
      pacer.settle(answered)
    }
  }

  function ask(call: Call<unknown>, miss: Miss, tries: Tries): RetryAnswer {
    const patience = cancellation.stop.aborted ? 'none' : patienceFor(call.isSafe ? 'GET' : call.method, miss)
    const toldMs = miss.status === undefined ? undefined : toldWaitMs(miss.status, miss.headers, clock.now())
    return decideRetry({
      patience,
      attempts: tries.counted(),
      alike: tries.alike(),
      maxAttempts: options.maxAttempts,
      toldMs,
      remainingMs: deadline.remainingMs(),
      random: options.random(),
    })
  }

  /** Waits and looks; 'nothing' stands for trying again. Throws when there is nothing more to try. */
  async function recover<T>(call: Call<T>, miss: Miss, tries: Tries, facts: RequestFacts): Promise<Exclude<Found<T>, 'something else'>> {
    const decision = ask(call, miss, tries)
    const end = { attempts: tries.sent(), isAfterUnknown: tries.isAfterUnknown(), decision, nowMs: clock.now() }
    const error = new ApiError(facts, miss, end)
    if (decision.retry) {
      note(`Trying again in ${inSeconds(decision.waitMs)} (${tries.describe()}): ${reasonOf(miss)}`)
      await unlessStopped(cancellation.stop, () => clock.sleep(decision.waitMs, cancellation.stop))
    }
    // Where an address redirects, nobody is there to be asked.
    const found = error.mayHaveActed && miss.cause !== 'redirect' ? await lookBack(call, error) : 'nothing'
    if (found === 'something else' || (found === 'nothing' && !decision.retry)) throw error
    return found
  }

  async function request<T>(call: Call<T>): Promise<Pick<Hit<T>, 'value'>> {
    const path = withQuery(call)
    const facts = factsOf(options, call, path)
    // Nothing may take its time between a request's admission and its sending.
    await options.transport.ready()
    const tries = createTries(options.maxAttempts)
    for (;;) {
      await unlessStopped(cancellation.stop, () => deadline.admit(facts))
      const timeoutMs = Math.min(requestTimeoutMs, Math.ceil(deadline.remainingMs()))
      const outcome = await tryOnce(call, toExchange(options, { method: call.method, path }, call.body, timeoutMs))
      if ('hit' in outcome) return outcome.hit
      tries.add(outcome.miss)
      const found = await recover(call, outcome.miss, tries, { ...facts, timeoutMs })
      if (found !== 'nothing') return { value: found.done }
    }
  }

  return { request, lastRequestId: () => lastRequestId, lastWindow: () => lastWindow, remainingMs: deadline.remainingMs }
}

// The query stands in messages as well: it tells which part of a long period failed.
const withQuery = ({ path, query }: Call<unknown>): string => (query === undefined ? path : `${path}?${query}`)

function factsOf({ baseUrl, proxyHost, keyName }: RequesterOptions, call: Call<unknown>, path: string): RequestFacts {
  const shown = `${baseUrl.pathname.replace(/\/$/, '')}${path}`
  return { ...call, path: shown, host: baseUrl.host, proxyHost, keyId: keyName, timeoutMs: requestTimeoutMs }
}

function toExchange(
  options: RequesterOptions,
  { method, path }: Pick<RequestFacts, 'method' | 'path'>,
  body: unknown,
  timeoutMs: number,
): Exchange {
  const { baseUrl, authorization, userAgent, cancellation } = options
  return {
    method,
    url: new URL(`${baseUrl.href.replace(/\/$/, '')}${path}`),
    body: body === undefined ? undefined : JSON.stringify(body),
    authorization,
    userAgent,
    timeoutMs,
    signal: cancellation.abort,
  }
}

/** Throws `error` for what cannot be looked at: sent again, it might undo what somebody else did meanwhile. */
async function lookBack<T>(call: Call<T>, error: ApiError): Promise<Found<T>> {
  try {
    return (await call.lookBack?.()) ?? 'nothing'
  } catch (thrown) {
    // That it is gone is an answer, and a bug of ours is told as one; everything else leaves open whether it was done.
    throw !(thrown instanceof WatchkeeperError) || thrown.kind === 'not-found' ? thrown : error
  }
}

const reasonOf = (miss: Miss): string => [miss.status !== undefined && `status ${miss.status}`, miss.detail].filter(Boolean).join(', ')

// A wait that is cut short by a signal is the user's wish, not a failure of the network.
async function unlessStopped(stop: AbortSignal, wait: () => Promise<void>): Promise<void> {
  try {
    await wait()
  } catch (thrown) {
    if (stop.aborted) throw new WatchkeeperError('cancelled', 'Cancelled: nothing more was sent.', { cause: thrown })
    throw thrown
  }
}
