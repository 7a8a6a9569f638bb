// Owns one HTTP exchange: bytes out, status, headers and text in. It judges no status, follows no redirect and repeats nothing.
import type { Clock } from '../kernel/clock.ts'
import { decodeBody, tooLarge } from './body.ts'
import { createDispatchers, type Dispatchers } from './dispatcher.ts'
import { ExchangeFailure, toExchangeFailure } from './exchange-failure.ts'
import type { ProxySettings } from './proxy.ts'
import type { Headers } from './rate-limit.ts'
import type { Method } from './retry.ts'

export interface Exchange {
  readonly method: Method | 'PATCH'
  readonly url: URL
  readonly body: string | undefined
  readonly authorization: string
  readonly userAgent: string
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
        return await send(exchange, connections.dispatcher, clock)
      } finally {
        if (connections !== shared) await connections.end()
      }
    },
    async close() {
      // What could not be opened has been told by whoever tried.
      const opened = await dispatchers?.catch(() => undefined)
      await opened?.shared.end()
    },
  }
}

async function send(exchange: Exchange, dispatcher: import('undici').Dispatcher, clock: Clock): Promise<Answer> {
  const timeout = clock.timeout(exchange.timeoutMs)
  const signal = AbortSignal.any([timeout, exchange.signal])
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
    const chunks: Buffer[] = []
    const read = async (): Promise<string> => {
      for await (const chunk of response.body) {
        chunks.push(chunk)
        bytes += chunk.length
      }
      return decodeBody(Buffer.concat(chunks), headers['content-encoding'])
    }
    return { status: response.statusCode, headers, text: await readable(response.statusCode, read) }
  } catch (thrown) {
    if (exchange.signal.aborted)
      throw new ExchangeFailure('CANCELLED', 'cancelled while the request was under way', { bytes, cause: thrown })
    const failure = toExchangeFailure(thrown, bytes, timeout.aborted ? 'REQUEST_TIMEOUT' : undefined)
    throw failure.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? tooLarge(bytes, thrown) : failure
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

// An error status says enough by itself: its body is a courtesy, and one that is cut or huge must not hide it.
async function readable(status: number, read: () => Promise<string>): Promise<string> {
  if (status < 300) return read()
  try {
    return await read()
  } catch {
    return ''
  }
}

const headersOf = ({ authorization, userAgent, body }: Exchange): Record<string, string> => ({
  authorization,
  accept: 'application/json',
  'accept-encoding': 'gzip',
  'user-agent': userAgent,
  ...(body !== undefined && { 'content-type': 'application/json' }),
})

// A header that was sent twice contradicts itself; joined, it fits no grammar of ours and is ignored.
const flatten = (headers: Record<string, string | string[] | undefined>): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]))
