import { parseJson } from '../core/json.ts'
import type { Redact } from '../core/secrets.ts'
import { quoteLong } from '../core/text.ts'
import { type Failure, failureOfStatus } from '../http/failure.ts'
import type { Headers } from '../http/rate-limit.ts'
import { sendOnce } from '../http/send.ts'
import type { Answer, Exchange, Transport } from '../http/transport.ts'
import { errorMessageOf, type Reader, requestIdOf } from './wire.ts'

export interface AttemptSuccess<T> {
  readonly value: T
  readonly status: number
  readonly headers: Headers
  readonly requestId: string | undefined
}

export interface AttemptFailure extends Failure {
  readonly requestId?: string
  /** JSON, or the plain text that the server sends for some errors. HTML comes from elsewhere. */
  readonly isFromApi?: boolean
}

type AttemptResult<T> = { readonly success: AttemptSuccess<T> } | { readonly failure: AttemptFailure }

interface AttemptOptions<T> {
  readonly transport: Transport
  readonly exchange: Exchange
  readonly read: Reader<T>
  /** Secrets are removed before a text is shortened: half of one would not be recognized. */
  readonly redact: Redact
  nowMs(): number
}

/** Sends a request once and classifies the answer. Throws only for bugs. */
export async function sendAndRead<T>(options: AttemptOptions<T>): Promise<AttemptResult<T>> {
  const outcome = await sendOnce(options.transport, options.exchange)
  return 'failure' in outcome ? outcome : judgeAnswer(outcome.answer, options)
}

function judgeAnswer<T>(answer: Answer, { exchange, read, redact, nowMs }: AttemptOptions<T>): AttemptResult<T> {
  const { status, headers } = answer
  const parsed = parseBody(exchange.acceptsEvents ? dataOf(answer) : answer.text, redact)
  const id = requestIdOf('json' in parsed ? parsed.json : undefined, headers['x-request-id'])
  // Outputs contain the request id unchanged, so an id that holds a secret is dropped.
  const requestId = id !== undefined && redact(id) === id ? id : undefined
  const known = { status, headers, ...(requestId !== undefined && { requestId }) }
  if (status >= 400) {
    const words = 'json' in parsed ? messageIn(parsed.json, redact) : bareText(answer.text, redact)
    const isFromApi = answer.text !== '' && ('json' in parsed || headers['content-type']?.startsWith('text/plain') === true)
    return { failure: { ...failureOfStatus(answer, quoteLong(words.trim()), nowMs()), ...known, isFromApi } }
  }
  const fail = (cause: 'unreadable' | 'unfit', detail: string): AttemptResult<T> => ({
    failure: { ...known, cause, detail, writeOutcome: 'unknown' },
  })
  if ('problem' in parsed) return fail('unreadable', parsed.problem)
  // No request asks for a part. The query endpoints of ClickHouse Cloud answer so while the service sleeps.
  if (status === 206) return fail('unfit', 'that is not a whole answer')
  const result = read(parsed.json, headers)
  if ('refusal' in result) {
    const detail = quoteLong(redact(result.refusal.slice(0, maxQuotedText)).trim())
    return { failure: { ...known, cause: 'status', detail, writeOutcome: 'refused', isFromApi: true } }
  }
  if (!('mismatch' in result)) return { success: { value: result.value, status, headers, requestId } }
  if (answer.text === '') return fail('unreadable', 'the answer is empty')
  const words = messageIn(parsed.json, redact)
  return fail('unfit', words === '' ? result.mismatch : `${result.mismatch}; message of the API: ${quoteLong(words)}`)
}

/** The data of the only event of a stream (WHATWG HTML, section 9.2.6), or another text. */
function dataOf({ text, headers }: Answer) {
  if (!/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) return text
  const lines = text.split(/\r\n|[\r\n]/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? [])
  return lines.join('\n')
}

function parseBody(text: string, redact: Redact): { readonly json: unknown } | { readonly problem: string } {
  if (text === '') return { json: undefined }
  try {
    return { json: parseJson(text) }
  } catch (thrown) {
    if (thrown instanceof RangeError) return { problem: `the answer is ${thrown.message}` }
    return { problem: `the answer is ${thrown instanceof Error ? thrown.message : ''}: ${quoteLong(bareText(text, redact))}` }
  }
}

/** Only the beginning of a text, which can have 16 MiB, is quoted. */
const maxQuotedText = 20_000

const messageIn = (json: unknown, redact: Redact) => redact((errorMessageOf(json) ?? '').slice(0, maxQuotedText))

// All untrusted text is quoted, so it does not matter if a tag is left.
function bareText(whole: string, redact: Redact) {
  const text = redact(whole.slice(0, maxQuotedText))
  return /^\s*</.test(text) ? `an HTML page, ${text.replace(/<[^<>]*>/g, ' ')}`.replace(/\s+/g, ' ') : text
}
