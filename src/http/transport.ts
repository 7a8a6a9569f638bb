import type { Dispatcher } from 'undici'
import type { Clock } from '../core/clock.ts'
import { quote } from '../core/text.ts'
import { type AnswerBudget, type AnswerShare, createAnswerBudget } from './answer-budget.ts'
import { ExchangeFailure, toExchangeFailure } from './exchange-failure.ts'
import { prepareParser } from './parser.ts'
import type { ProxySettings } from './proxy.ts'
import type { Headers } from './rate-limit.ts'
import type { Method } from './retry.ts'

/** Longest answer that is read, raw and inflated. The largest documented one is far below. */
const maxAnswerBytes = 64 * 1024 * 1024

/** Memory that all answers share that are read at the same time. One larger answer comes on top of it. */
const sharedAnswerBytes = 8 * 1024 * 1024

/** The message of an error is at its beginning. */
const maxErrorBytes = 1024 * 1024

/** Inflates and decodes. Throws an ExchangeFailure for an unknown encoding, a gzip bomb, broken gzip or bytes that are not UTF-8. */
async function decodeBody(raw: Buffer, contentEncoding: string | undefined, share: AnswerShare): Promise<string> {
  const bytes = await inflated(raw, contentEncoding?.trim().toLowerCase(), share)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ExchangeFailure('BAD_UTF8', `the answer is not UTF-8 at byte ${firstBadByte(bytes)}`, { bytes: bytes.length, cause })
  } finally {
    free(raw)
    free(bytes)
  }
}

/** A stream takes ten times as long for an answer of this length. Gzip makes at most 1032 bytes of one: 17 MB. */
const maxBytesInflatedAtOnce = 16 * 1024

async function inflated(raw: Buffer, encoding: string | undefined, share: AnswerShare): Promise<Buffer> {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return raw
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new ExchangeFailure('BAD_ENCODING', `the answer came in the encoding "${quote(encoding, 40)}", which was not asked for`, {
      bytes: raw.length,
    })
  }
  // Loaded here: short answers come as they are.
  const { createGunzip, gunzipSync } = await import('node:zlib')
  const inflateInParts = (): AsyncIterable<Buffer> => createGunzip({ chunkSize: 256 * 1024 }).end(raw)
  try {
    // Its last bytes state the inflated length.
    const expectedBytes = raw.length < 4 ? 0 : raw.readUInt32LE(raw.length - 4)
    const chunks = raw.length <= maxBytesInflatedAtOnce ? [gunzipSync(raw)] : inflateInParts()
    return await collect({ chunks, expectedBytes, limitBytes: maxAnswerBytes, share })
  } catch (cause) {
    // A signal that was aborted is not of zlib.
    if (!(cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_'))) throw cause
    throw new ExchangeFailure('BAD_GZIP', `the answer's gzip is broken after ${raw.length} bytes`, { bytes: raw.length, cause })
  }
}

interface Source {
  readonly chunks: AsyncIterable<Buffer> | Iterable<Buffer>
  /** The likely length. */
  readonly expectedBytes: number
  readonly limitBytes: number
  readonly share: AnswerShare
  readonly onBytes?: (bytes: number) => void
}

/** An answer of unknown length first gets this much room. A longer one gets room for the largest answer, of which the system only counts the used part. */
const shortAnswerBytes = 256 * 1024

/** Reads all of it, as far as the budget has room. Throws an ExchangeFailure when it is larger than the limit. */
async function collect({ chunks, expectedBytes, limitBytes, share, onBytes }: Source): Promise<Buffer> {
  let store = Buffer.allocUnsafeSlow(expectedBytes <= limitBytes ? expectedBytes : 0)
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      const before = bytes
      bytes += chunk.length
      onBytes?.(bytes)
      if (bytes > limitBytes) throw tooLarge(bytes)
      await share.take(chunk.length)
      if (bytes > store.length) {
        const larger = Buffer.allocUnsafeSlow(bytes <= shortAnswerBytes ? shortAnswerBytes : limitBytes)
        store.copy(larger, 0, 0, before)
        free(store)
        store = larger
      }
      chunk.copy(store, before)
    }
    return store.subarray(0, bytes)
  } catch (thrown) {
    free(store)
    throw thrown
  }
}

/**
 * Frees what `collect` returned, at once and not with the next garbage collection: until then, the bytes of several large answers would be in
 * memory.
 */
function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}

const tooLarge = (bytes: number, cause?: unknown): ExchangeFailure =>
  new ExchangeFailure('TOO_LARGE', `the answer is larger than the limit of ${maxAnswerBytes / 1024 / 1024} MiB`, { bytes, cause })

// Decoding leniently and encoding again keeps every byte up to the first bad one.
function firstBadByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'))
  const shorter = Math.min(bytes.length, again.length)
  for (let i = 0; i < shorter; i++) if (bytes[i] !== again[i]) return i
  return shorter
}

export const connectTimeoutMs = 10_000

interface Connections {
  readonly dispatcher: Dispatcher
  /** Ends every connection at once, also one that is still being made. */
  end(): Promise<void>
}

interface Dispatchers {
  /** Kept open between requests. */
  readonly shared: Connections
  /** For a single request, whose caller ends them. */
  fresh(): Connections
}

async function createDispatchers(origin: URL, proxy: ProxySettings): Promise<Dispatchers> {
  // Loaded here: importing undici takes longer than everything else that a run without requests does.
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  const forHttps = origin.protocol === 'https:'
  prepareParser(forHttps)
  const proxyUrl = forHttps ? proxy.httpsProxy : proxy.httpProxy
  const create = (): Connections => {
    const life = new AbortController()
    // undici waits for a handshake whatever happens to the request and to itself; a socket ends with the signal that it was given.
    const connect = { timeout: connectTimeoutMs, signal: life.signal, allowH2: false }
    const limits = {
      maxResponseSize: maxAnswerBytes,
      // The rules about write outcomes hold for HTTP/1.1: one request, one connection, one answer.
      allowH2: false,
      connect,
    }
    // undici would send https through HTTP_PROXY when only that is set; curl, Go and Git do not.
    const dispatcher =
      proxyUrl === undefined
        ? new Agent(limits)
        : // `noProxy` is always given: without it, undici would read the environment by itself.
          new EnvHttpProxyAgent({
            ...limits,
            proxyTls: connect,
            requestTls: connect,
            httpProxy: proxyUrl,
            httpsProxy: proxyUrl,
            noProxy: proxy.noProxy ?? '',
          })
    return {
      dispatcher,
      async end() {
        await dispatcher.destroy()
        life.abort()
      },
    }
  }
  return { shared: create(), fresh: create }
}

export interface Exchange {
  readonly method: Method | 'PATCH'
  readonly url: URL
  readonly body: string | undefined
  /** Undefined for a request without a key. */
  readonly authorization: string | undefined
  readonly userAgent: string
  /** Also accepts a stream of events. */
  readonly acceptsEvents?: boolean
  /** For connecting, sending and reading together. */
  readonly timeoutMs: number
  /** Ends the exchange at once. */
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The decoded body; empty when the body of an error answer could not be read. */
  readonly text: string
}

/** One HTTP exchange at a time. It judges no status, follows no redirect and repeats nothing. */
export interface Transport {
  /** Loads what sending takes. */
  ready(): Promise<void>
  /** Throws an ExchangeFailure when no whole answer came. */
  exchange(exchange: Exchange): Promise<Answer>
  /** Closes what is still open; the process can end. */
  close(): Promise<void>
}

export function createTransport(origin: URL, proxy: ProxySettings, clock: Clock): Transport {
  let dispatchers: Promise<Dispatchers> | undefined
  const budget = createAnswerBudget(sharedAnswerBytes)
  const open = (): Promise<Dispatchers> => {
    dispatchers ??= createDispatchers(origin, proxy)
    return dispatchers
  }

  return {
    async ready() {
      await open()
    },
    async exchange(exchange) {
      const { shared, fresh } = await open()
      // A kept connection may be dead already; a POST that dies with it would look as if the server might have acted.
      const connections = exchange.method === 'POST' ? fresh() : shared
      try {
        return await send(exchange, connections.dispatcher, clock, budget)
      } finally {
        if (connections !== shared) await connections.end()
      }
    },
    async close() {
      // A failure to open was reported by the exchange that needed it.
      const opened = await dispatchers?.catch(() => undefined)
      await opened?.shared.end()
    },
  }
}

async function send(exchange: Exchange, dispatcher: Dispatcher, clock: Clock, budget: AnswerBudget): Promise<Answer> {
  const timeout = clock.timeout(exchange.timeoutMs)
  const signal = AbortSignal.any([timeout, exchange.signal])
  const share = budget.open(signal)
  let bytes = 0
  try {
    signal.throwIfAborted()
    const answering = dispatcher.request({
      origin: exchange.url.origin,
      path: `${exchange.url.pathname}${exchange.url.search}`,
      method: exchange.method,
      headers: headersOf(exchange),
      body: exchange.body ?? null,
      signal,
      headersTimeout: exchange.timeoutMs,
      bodyTimeout: exchange.timeoutMs,
    })
    const response = await unlessAborted(signal, answering)
    const headers = flatten(response.headers)
    const read = async (): Promise<string> => {
      const raw = await collect({
        chunks: response.body,
        expectedBytes: Number(headers['content-length'] ?? 0) || 0,
        limitBytes: response.statusCode < 300 ? maxAnswerBytes : maxErrorBytes,
        share,
        onBytes: (read) => {
          bytes = read
        },
      })
      return decodeBody(raw, headers['content-encoding'], share)
    }
    return { status: response.statusCode, headers, text: await readable(response.statusCode, read) }
  } catch (thrown) {
    if (exchange.signal.aborted)
      throw new ExchangeFailure('CANCELLED', 'canceled while the request was under way', { bytes, cause: thrown })
    const failure = toExchangeFailure(thrown, bytes, timeout.aborted ? 'REQUEST_TIMEOUT' : undefined)
    throw failure.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? tooLarge(bytes, thrown) : failure
  } finally {
    share.end()
  }
}

// undici heeds its signal only once there is a connection: not during a handshake, nor while a proxy is asked for a tunnel.
function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

// The status of an error is enough. A body that is cut off or huge must not hide it.
async function readable(status: number, read: () => Promise<string>): Promise<string> {
  if (status < 300) return read()
  try {
    return await read()
  } catch {
    return ''
  }
}

const headersOf = ({ authorization, userAgent, acceptsEvents, body }: Exchange): Record<string, string> => ({
  ...(authorization !== undefined && { authorization }),
  accept: acceptsEvents ? 'application/json, text/event-stream' : 'application/json',
  'accept-encoding': 'gzip',
  'user-agent': userAgent,
  ...(body !== undefined && { 'content-type': 'application/json' }),
})

// A header that was sent twice contradicts itself. The joined value matches no grammar here, so it is ignored.
const flatten = (headers: Record<string, string | string[] | undefined>): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]))
