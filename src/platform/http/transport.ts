import type { Dispatcher } from 'undici'
import type { Clock } from '../core/clock.ts'
import { once } from '../core/concurrency.ts'
import { quote } from '../core/text.ts'
import { version } from '../core/version.ts'
import { unlessAborted } from './cancellation.ts'
import { connectTimeoutMs, ExchangeFailure, toExchangeFailure } from './failure.ts'
import { type ProxySettings, proxyHost } from './proxy.ts'
import type { Headers } from './rate-limit.ts'

/** The largest documented answer is far below. */
const maxAnswerBytes = 16 * 1024 * 1024

async function readAll(chunks: AsyncIterable<Buffer>, onBytes: (bytes: number) => void): Promise<Buffer> {
  const read: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    onBytes(bytes)
    if (bytes > maxAnswerBytes) throw tooLarge(bytes)
    read.push(chunk)
  }
  return Buffer.concat(read, bytes)
}

const tooLarge = (bytes: number, cause?: unknown) =>
  new ExchangeFailure('TOO_LARGE', `the answer is larger than the limit of ${maxAnswerBytes / 1024 / 1024} MiB`, { bytes, cause })

/** Throws an ExchangeFailure for an unknown encoding, a gzip bomb, broken gzip or bytes that are not UTF-8. */
async function decodeBody(raw: Buffer, contentEncoding: string | undefined) {
  const bytes = await inflate(raw, contentEncoding?.trim().toLowerCase())
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ExchangeFailure('BAD_UTF8', 'the answer is not UTF-8', { bytes: bytes.length, cause })
  }
}

/** Short answers come as they are. */
const loadZlib = once(() => import('node:zlib'))

async function inflate(raw: Buffer, encoding: string | undefined): Promise<Buffer> {
  const { length: bytes } = raw
  if (encoding === undefined || encoding === '' || encoding === 'identity') return raw
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new ExchangeFailure('BAD_ENCODING', `the answer came in the encoding "${quote(encoding)}", which was not asked for`, {
      bytes,
    })
  const { gunzipSync } = await loadZlib()
  try {
    return gunzipSync(raw, { maxOutputLength: maxAnswerBytes })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(bytes, cause)
    throw new ExchangeFailure('BAD_GZIP', `the answer's gzip is broken after ${bytes} bytes`, { bytes, cause })
  }
}

interface Connections {
  readonly dispatcher: Dispatcher
  end(): Promise<void>
}

async function loadConnect(origin: URL, proxy: ProxySettings): Promise<() => Connections> {
  // Importing undici takes longer than everything else that a run without requests does.
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  const forHttps = origin.protocol === 'https:'
  const proxyUrl = forHttps ? proxy.httpsProxy : proxy.httpProxy
  return () => {
    const life = new AbortController()
    // undici waits for a handshake whatever happens to the request; a socket ends with the signal that it was given.
    const connect = { timeout: connectTimeoutMs, signal: life.signal, allowH2: false }
    // The rules about write outcomes hold for HTTP/1.1: one request, one connection, one answer.
    const limits = { allowH2: false, connect }
    const createForProxy = (url: string) =>
      // undici would send https through HTTP_PROXY when only that is set; curl, Go and Git do not. Without `noProxy`, it would read the
      // environment.
      new EnvHttpProxyAgent({
        ...limits,
        proxyTls: connect,
        requestTls: connect,
        httpProxy: url,
        httpsProxy: url,
        noProxy: proxy.noProxy ?? '',
      })
    const dispatcher = proxyUrl === undefined ? new Agent(limits) : createForProxy(proxyUrl)
    return {
      dispatcher,
      async end() {
        await dispatcher.destroy()
        life.abort()
      },
    }
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** `url` has the path and the query. */
export interface Exchange {
  readonly method: Method | 'PATCH'
  readonly url: URL
  readonly body: string | undefined
  readonly authorization: string | undefined
  readonly acceptsEvents?: boolean
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Empty when the body of an error answer could not be read. */
  readonly text: string
}

/** Judges no status, follows no redirect and repeats nothing. */
export interface Transport {
  readonly proxyHost: string | undefined
  ready(): Promise<void>
  /** Throws an ExchangeFailure when no whole answer came. */
  exchange(exchange: Exchange): Promise<Answer>
  close(): Promise<void>
}

/** Keeps connections until it is closed. */
export function createTransport(origin: URL, proxy: ProxySettings, clock: Clock): Transport {
  let opened: Promise<{ readonly connect: () => Connections; readonly shared: Connections }> | undefined
  const open = () => {
    opened ??= loadConnect(origin, proxy).then((connect) => ({ connect, shared: connect() }))
    return opened
  }

  return {
    proxyHost: proxyHost(origin, proxy),
    async ready() {
      await open()
    },
    async exchange(exchange) {
      const { connect, shared } = await open()
      // A kept connection may be dead already; a POST that dies with it would look as if the server might have acted.
      const connections = exchange.method === 'POST' ? connect() : shared
      try {
        return await exchangeOnce(exchange, connections.dispatcher, clock)
      } finally {
        if (connections !== shared) await connections.end()
      }
    },
    async close() {
      // A failure to open was reported by the exchange that needed it.
      await (await opened?.catch(() => undefined))?.shared.end()
    },
  }
}

async function exchangeOnce(exchange: Exchange, dispatcher: Dispatcher, clock: Clock): Promise<Answer> {
  const timeout = clock.timeout(exchange.timeoutMs)
  const signal = AbortSignal.any([timeout, exchange.signal])
  let bytes = 0
  try {
    signal.throwIfAborted()
    const answering = dispatcher.request({
      origin: exchange.url.origin,
      path: `${exchange.url.pathname}${exchange.url.search}`,
      method: exchange.method,
      headers: requestHeaders(exchange),
      body: exchange.body ?? null,
      signal,
      headersTimeout: exchange.timeoutMs,
      bodyTimeout: exchange.timeoutMs,
    })
    // undici heeds its signal only once there is a connection: not during a handshake, nor while a proxy is asked for a tunnel.
    const response = await unlessAborted(signal, answering)
    // The joined value of a header that was sent twice matches no grammar here.
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]),
    )
    const read = async (): Promise<string> => {
      const raw = await readAll(response.body, (count) => {
        bytes = count
      })
      return decodeBody(raw, headers['content-encoding'])
    }
    return { status: response.statusCode, headers, text: await readable(response.statusCode, read) }
  } catch (thrown) {
    if (exchange.signal.aborted) throw new ExchangeFailure('CANCELED', 'canceled while the request was under way', { bytes, cause: thrown })
    throw toExchangeFailure(thrown, bytes, timeout.aborted ? 'REQUEST_TIMEOUT' : undefined)
  }
}

// The status of an error is enough. A body that is cut off or huge must not hide it.
async function readable(status: number, read: () => Promise<string>) {
  if (status < 300) return read()
  try {
    return await read()
  } catch {
    return ''
  }
}

const requestHeaders = ({ authorization, acceptsEvents, body }: Exchange) => ({
  ...(authorization !== undefined && { authorization }),
  accept: acceptsEvents ? 'application/json, text/event-stream' : 'application/json',
  'accept-encoding': 'gzip',
  'user-agent': `watchkeeper/${version}`,
  ...(body !== undefined && { 'content-type': 'application/json' }),
})
