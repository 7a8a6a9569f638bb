// Owns the connections: undici's agents, with our limits, through the proxy that the environment names.
import type { Dispatcher } from 'undici'
import { largestAnswerBytes } from './body.ts'
import type { ProxySettings } from './proxy.ts'

export const connectTimeoutMs = 10_000

export interface Connections {
  readonly dispatcher: Dispatcher
  /** Ends every connection at once, also one that is only being made. */
  end(): Promise<void>
}

export interface Dispatchers {
  /** Kept open between requests. */
  readonly shared: Connections
  /** For a single request, whose caller ends them. */
  fresh(): Connections
}

export async function createDispatchers(origin: URL, proxy: ProxySettings): Promise<Dispatchers> {
  // Loaded here: importing undici takes longer than everything else that a run without requests does.
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  const forHttps = origin.protocol === 'https:'
  const proxyUrl = forHttps ? proxy.httpsProxy : proxy.httpProxy
  const create = (): Connections => {
    const life = new AbortController()
    // undici waits for a handshake whatever happens to the request and to itself; a socket ends with the signal that it was given.
    const connect = { timeout: connectTimeoutMs, signal: life.signal, allowH2: false }
    const limits = {
      maxResponseSize: largestAnswerBytes,
      // Certainty about what the server did is reasoned for HTTP/1.1: one request, one connection, one answer.
      allowH2: false,
      connect,
    }
    // undici would send https through HTTP_PROXY when that alone is set; curl, Go and Git do not.
    const dispatcher =
      proxyUrl === undefined
        ? new Agent(limits)
        : // `noProxy` is always given: left out, undici would read the environment by itself.
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
