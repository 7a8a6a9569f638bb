import { parseJson } from '../core/json.ts'
import type { Redact } from '../core/secrets.ts'
import { quote } from '../core/text.ts'
import { ExchangeFailure } from '../http/exchange-failure.ts'
import type { Headers } from '../http/rate-limit.ts'
import { type Failure, type FailureCause, isTlsCode, writeOutcomeOf } from '../http/retry.ts'
import { type Answer, connectTimeoutMs, type Exchange, type Transport } from '../http/transport.ts'
import { errorMessageOf, type Reader, requestIdOf } from './wire.ts'

export interface AttemptSuccess<T> {
  readonly value: T
  readonly status: number
  readonly headers: Headers
  readonly requestId: string | undefined
}

export interface AttemptFailure extends Failure {
  readonly headers: Headers
  readonly requestId?: string
  /** Code of a failed exchange. */
  readonly code?: string
  /** What happened, without secrets and control characters. */
  readonly detail: string
  /** Whether the API itself sent the error: JSON, or the plain text that the server sends for some errors. HTML comes from elsewhere. */
  readonly isFromApi?: boolean
}

type AttemptResult<T> = { readonly success: AttemptSuccess<T> } | { readonly failure: AttemptFailure }

interface AttemptOptions<T> {
  readonly transport: Transport
  readonly exchange: Exchange
  readonly read: Reader<T>
  /** Removes secrets from the server's text before it is shortened: half a secret would not be recognized. */
  readonly redact: Redact
}

/** Sends a request once and classifies the answer. Resolves to a failure instead of throwing, except for bugs. */
export async function attempt<T>(options: AttemptOptions<T>): Promise<AttemptResult<T>> {
  try {
    return judge(await options.transport.exchange(options.exchange), options)
  } catch (thrown) {
    if (thrown instanceof ExchangeFailure) return { failure: failureOfExchange(thrown, options.exchange.timeoutMs) }
    throw thrown
  }
}

function judge<T>(answer: Answer, { exchange, read, redact }: AttemptOptions<T>): AttemptResult<T> {
  const { status, headers } = answer
  if (status >= 300 && status < 400) return { failure: failureOfRedirect(answer, exchange.url) }
  const parsed = parse(exchange.acceptsEvents ? dataOf(answer) : answer.text, redact)
  const requestId = requestIdIn(answer, 'json' in parsed ? parsed.json : undefined, redact)
  const known = { status, headers, ...(requestId !== undefined && { requestId }) }
  if (status >= 400) {
    const words = 'json' in parsed ? messageIn(parsed.json, redact) : bareText(answer.text, redact)
    const writeOutcome = writeOutcomeOf({ status, readable: true })
    const isFromApi = answer.text !== '' && ('json' in parsed || headers['content-type']?.startsWith('text/plain') === true)
    return { failure: { ...known, cause: 'status', writeOutcome, isFromApi, detail: quote(words.trim()) } }
  }
  const unsure = { ...known, writeOutcome: writeOutcomeOf({ status, readable: false }) }
  if ('problem' in parsed) return { failure: { ...unsure, cause: 'unreadable', detail: parsed.problem } }
  // No request asks for a part. The query endpoints of ClickHouse Cloud answer so while the service sleeps.
  if (status === 206) return { failure: { ...unsure, cause: 'unfit', detail: 'that is not a whole answer' } }
  const result = read(parsed.json, headers)
  if ('mismatch' in result && answer.text === '') return { failure: { ...unsure, cause: 'unreadable', detail: 'the answer is empty' } }
  if ('mismatch' in result)
    return { failure: { ...unsure, cause: 'unfit', detail: withWords(result.mismatch, messageIn(parsed.json, redact)) } }
  return { success: { value: result.value, status, headers, requestId } }
}

// Outputs and messages contain the request id unchanged, so an id that holds a secret is dropped.
function requestIdIn({ headers }: Answer, json: unknown, redact: Redact): string | undefined {
  const requestId = requestIdOf(json, headers['x-request-id'])
  return requestId === undefined || redact(requestId) !== requestId ? undefined : requestId
}

const withWords = (mismatch: string, words: string): string =>
  words === '' ? mismatch : `${mismatch}; message of the API: ${quote(words)}`

/** The data of the only event of a stream (WHATWG HTML, section 9.2.6); the text of another answer. */
function dataOf({ text, headers }: Answer): string {
  if (!/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) return text
  const lines = text.split(/\r\n|[\r\n]/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? [])
  return lines.join('\n')
}

function parse(text: string, redact: Redact): { readonly json: unknown } | { readonly problem: string } {
  if (text === '') return { json: undefined }
  try {
    return { json: parseJson(text) }
  } catch (thrown) {
    if (thrown instanceof RangeError) return { problem: `the answer is ${thrown.message}` }
    return { problem: `the answer is ${thrown instanceof Error ? thrown.message : ''}: ${quote(bareText(text, redact))}` }
  }
}

/** A message is at the beginning of a text, and only its beginning is quoted. A text can have 64 MiB. */
const maxTextLength = 20_000

const messageIn = (json: unknown, redact: Redact): string => redact((errorMessageOf(json) ?? '').slice(0, maxTextLength))

// The text of an HTML page. It is quoted like all untrusted text, so it does not matter if a tag is left.
function bareText(whole: string, redact: Redact): string {
  const text = redact(whole.slice(0, maxTextLength))
  return /^\s*</.test(text) ? `an HTML page, ${text.replace(/<[^<>]*>/g, ' ')}`.replace(/\s+/g, ' ') : text
}

function failureOfRedirect({ status, headers }: Answer, from: URL): AttemptFailure {
  const location = headers.location
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from).origin : undefined
  const detail = target === undefined ? 'a redirect without a usable target' : `a redirect to ${target}`
  return { cause: 'redirect', status, headers, writeOutcome: writeOutcomeOf({ status, readable: false }), detail }
}

function failureOfExchange(failure: ExchangeFailure, timeoutMs: number): AttemptFailure {
  const { code, proxyStatus } = failure
  const base = { headers: {}, code, writeOutcome: writeOutcomeOf({ code }), ...(proxyStatus !== undefined && { status: proxyStatus }) }
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

/** OpenSSL puts its reason between codes, function names and paths of its source. */
const openSslReason = /^[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:([^:]+):/

const connectionFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
}

function detailOf({ code, bytes, message }: ExchangeFailure, timeoutMs: number): string {
  if (code.startsWith('BAD_') || code === 'TOO_LARGE' || code === 'PROXY_REFUSED' || code === 'CANCELLED') return message
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') {
    return bytes === 0
      ? `the connection was closed before an answer (${code})`
      : `the connection was closed after ${bytes} bytes of the answer (${code})`
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${connectTimeoutMs / 1000} s (${code})`
  if (causeOf(code) === 'timeout') {
    const limit = `within ${Math.round(timeoutMs / 100) / 10} s (${code})`
    return bytes === 0 ? `no answer ${limit}` : `only ${bytes} bytes of the answer ${limit}`
  }
  const known = connectionFailures[code]
  if (known !== undefined) return `${known} (${code})`
  const [, host] = /^getaddrinfo \w+ (\S+)$/.exec(message) ?? []
  if (host !== undefined) return `there is no address for the host ${quote(host)} (${code})`
  return `${quote(openSslReason.exec(message)?.[1] ?? message)} (${code})`
}
