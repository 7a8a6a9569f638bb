// Owns the connections: undici's agents, with our limits, through the proxy that the environment names.
import type { Dispatcher } from 'undici'
import { largestAnswerBytes } from './body.ts'
import type { ProxySettings } from './proxy.ts'

export const connectTimeoutMs = 10_000

export interface Dispatchers {
  /** Keeps connections open between requests. */
  readonly shared: Dispatcher
  /** A dispatcher for a single request, which its caller destroys. */
  fresh(): Dispatcher
}

export async function createDispatchers(origin: URL, proxy: ProxySettings): Promise<Dispatchers> {
  // Loaded here: importing undici takes longer than everything else that a run without requests does.
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  const limits = {
    maxResponseSize: largestAnswerBytes,
    // Certainty about what the server did is reasoned for HTTP/1.1: one request, one connection, one answer.
    allowH2: false,
    connect: { timeout: connectTimeoutMs },
  }
  const forHttps = origin.protocol === 'https:'
  const proxyUrl = forHttps ? proxy.httpsProxy : proxy.httpProxy
  const create = (): Dispatcher => {
    // undici would send https through HTTP_PROXY when that alone is set; curl, Go and Git do not.
    if (proxyUrl === undefined) return new Agent(limits)
    // `noProxy` is always given: left out, undici would read the environment by itself.
    return new EnvHttpProxyAgent({ ...limits, httpProxy: proxyUrl, httpsProxy: proxyUrl, noProxy: proxy.noProxy ?? '' })
  }
  return { shared: create(), fresh: create }
}
