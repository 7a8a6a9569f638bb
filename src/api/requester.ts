import type { Clock } from '../core/clock.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import type { Redact } from '../core/secrets.ts'
import { quote } from '../core/text.ts'
import { createDeadline, inSeconds } from '../http/deadline.ts'
import { ExchangeFailure } from '../http/exchange-failure.ts'
import { type Headers, type Pacer, readWindow, toldWaitMs, type WindowNews } from '../http/rate-limit.ts'
import {
  certaintyOf,
  createTries,
  decideRetry,
  type Failure,
  type FailureCause,
  isTlsCode,
  type Method,
  patienceFor,
  type RetryAnswer,
  type Tries,
} from '../http/retry.ts'
import { type Answer, connectTimeoutMs, type Exchange, type Transport } from '../http/transport.ts'
import { ApiError, type RequestFacts } from './api-error.ts'
import type { ApiPath } from './path.ts'
import { errorMessageOf, requestIdOf } from './wire.ts'

// Owns one attempt at a request: an exchange, judged. The outcome is a value; whether to try again is decided elsewhere.

/** Reads the parsed answer; returns what does not fit, and where, instead of throwing. */
export type Reader<T> = (json: unknown, headers: Headers) => { readonly value: T } | { readonly misfit: string }

export interface Hit<T> {
  readonly value: T
  readonly status: number
  readonly headers: Headers
  readonly requestId: string | undefined
}

export interface Miss extends Failure {
  readonly headers: Headers
  readonly requestId?: string
  /** Code of a failed exchange. */
  readonly code?: string
  /** What happened, in words that hold no secret and no control character. */
  readonly detail: string
  /** Whether an error answer was the API's own: JSON, or the plain text that the product sends for some. A page of HTML is not. */
  readonly isFromApi?: boolean
}

export type Outcome<T> = { readonly hit: Hit<T> } | { readonly miss: Miss }

export interface AttemptOptions<T> {
  readonly transport: Transport
  readonly exchange: Exchange
  readonly read: Reader<T>
  /** Takes secrets out of foreign words before they are cut to size: half a secret would not be recognized any more. */
  readonly redact: Redact
}

export async function attempt<T>(options: AttemptOptions<T>): Promise<Outcome<T>> {
  try {
    return judge(await options.transport.exchange(options.exchange), options)
  } catch (thrown) {
    if (thrown instanceof ExchangeFailure) return { miss: missOfFailure(thrown, options.exchange.timeoutMs) }
    throw thrown
  }
}

function judge<T>(answer: Answer, { exchange, read, redact }: AttemptOptions<T>): Outcome<T> {
  const { status, headers } = answer
  if (status >= 300 && status < 400) return { miss: missOfRedirect(answer, exchange.url) }
  const parsed = parse(answer.text, redact)
  const requestId = requestIdIn(answer, 'json' in parsed ? parsed.json : undefined, redact)
  const known = { status, headers, ...(requestId !== undefined && { requestId }) }
  if (status >= 400) {
    const said = 'json' in parsed ? redact(errorMessageOf(parsed.json) ?? '') : bareText(redact(answer.text))
    const certainty = certaintyOf({ status, readable: true })
    const isFromApi = answer.text !== '' && ('json' in parsed || headers['content-type']?.startsWith('text/plain') === true)
    return { miss: { ...known, cause: 'status', certainty, isFromApi, detail: quote(said.trim()) } }
  }
  const unsure = { ...known, certainty: certaintyOf({ status, readable: false }) }
  if ('problem' in parsed) return { miss: { ...unsure, cause: 'unreadable', detail: parsed.problem } }
  const result = read(parsed.json, headers)
  if ('misfit' in result && answer.text === '') return { miss: { ...unsure, cause: 'unreadable', detail: 'the answer is empty' } }
  if ('misfit' in result)
    return { miss: { ...unsure, cause: 'unfit', detail: withWords(result.misfit, redact(errorMessageOf(parsed.json) ?? '')) } }
  return { hit: { value: result.value, status, headers, requestId } }
}

// It goes into outputs and messages as it is, so that one that holds a secret is none.
function requestIdIn({ headers }: Answer, json: unknown, redact: Redact): string | undefined {
  const requestId = requestIdOf(json, headers['x-request-id'])
  return requestId === undefined || redact(requestId) !== requestId ? undefined : requestId
}

const withWords = (misfit: string, words: string): string => (words === '' ? misfit : `${misfit}; the API said: ${quote(words)}`)

function parse(text: string, redact: Redact): { readonly json: unknown } | { readonly problem: string } {
  if (text === '') return { json: undefined }
  try {
    return { json: parseJson(text) }
  } catch (thrown) {
    if (thrown instanceof RangeError) return { problem: `the answer is ${thrown.message}` }
    return { problem: `the answer is ${thrown instanceof Error ? thrown.message : ''}: ${quote(bareText(redact(text)))}` }
  }
}

/** Where the words of an error page are, if it has any. */
const longestPage = 20_000

// What a person would read on a page of HTML. It is quoted like any foreign text, so nothing depends on finding every tag.
function bareText(whole: string): string {
  const text = whole.slice(0, longestPage)
  return /^\s*</.test(text) ? `an HTML page, ${text.replace(/<[^<>]*>/g, ' ')}`.replace(/\s+/g, ' ') : text
}

function missOfRedirect({ status, headers }: Answer, from: URL): Miss {
  const location = headers.location
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from).origin : undefined
  const detail = target === undefined ? 'a redirect without a usable target' : `a redirect to ${target}`
  return { cause: 'redirect', status, headers, certainty: certaintyOf({ status, readable: false }), detail }
}

function missOfFailure(failure: ExchangeFailure, timeoutMs: number): Miss {
  const { code, proxyStatus } = failure
  const base = { headers: {}, code, certainty: certaintyOf({ code }), ...(proxyStatus !== undefined && { status: proxyStatus }) }
  return { ...base, cause: causeOf(code), detail: detailOf(failure, timeoutMs) }
}

function causeOf(code: string): FailureCause {
  if (code === 'PROXY_REFUSED') return 'proxy'
  if (code === 'ENOTFOUND') return 'lookup'
  if (code === 'TOO_LARGE') return 'too-large'
  if (code.startsWith('BAD_')) return 'unreadable'
  if (isTlsCode(code)) return 'tls'
  return /TIMEOUT|ETIMEDOUT/.test(code) ? 'timeout' : 'connection'
}

function detailOf({ code, bytes, message }: ExchangeFailure, timeoutMs: number): string {
  if (code.startsWith('BAD_') || code === 'TOO_LARGE' || code === 'PROXY_REFUSED' || code === 'CANCELLED') return message
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') {
    return bytes === 0 ? `connection closed before an answer (${code})` : `connection closed after ${bytes} bytes of the answer (${code})`
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${connectTimeoutMs / 1000} s (${code})`
  if (causeOf(code) === 'timeout') {
    const limit = `within ${Math.round(timeoutMs / 100) / 10} s (${code})`
    return bytes === 0 ? `no answer ${limit}` : `only ${bytes} bytes of the answer ${limit}`
  }
  return `${quote(message)} (${code})`
}

// Owns a request from first try to last: paced, tried again as the policy says, within the operation's deadline.

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
