import { once } from '../core/concurrency.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { isMapping } from '../core/keys.ts'
import { sendOnce } from '../http/send.ts'
import type { Transport } from '../http/transport.ts'

/** The first release of HyperDX with all requests that this tool needs. */
export const oldestRelease = '2.30'

interface VersionOptions {
  /** Ends in `/api/v2`. */
  readonly baseUrl: URL
  readonly transport: Transport
  readonly signal: AbortSignal
  readonly deadlineMs: number
  readonly debug?: ((line: string) => void) | undefined
}

/**
 * Undefined when the server does not state its release or does not answer: then the next request fails with the reason. Throws for one that
 * is too old.
 */
export function createVersionCheck(options: VersionOptions): () => Promise<string | undefined> {
  return once(async () => {
    const version = await readVersion(options)
    options.debug?.(`Server version: ${version ?? 'unknown'}`)
    if (version !== undefined && isTooOld(version))
      throw new WatchkeeperError(
        'not-served',
        `HyperDX ${version} at ${options.baseUrl.host} is too old: Watchkeeper needs ${oldestRelease} or newer.\nUpgrade the server. Older releases lack saved searches, paging and the validation of dashboards.\nRequest: GET ${besideApiUrl(options.baseUrl, '/health').href}`,
      )
    return version
  })
}

/** Returns `/health`, or `/api/health` through the UI, which passes on what is below `/api`. */
export function besideApiUrl(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/api\/v2$/, path)
  return url
}

async function readVersion({ baseUrl, transport, signal, deadlineMs }: VersionOptions) {
  const outcome = await sendOnce(transport, {
    method: 'GET',
    url: besideApiUrl(baseUrl, '/health'),
    body: undefined,
    authorization: undefined,
    timeoutMs: Math.min(5_000, deadlineMs),
    signal,
  })
  if ('failure' in outcome || outcome.answer.status !== 200) return undefined
  try {
    const json = parseJson(outcome.answer.text)
    const version = isMapping(json) ? json.version : undefined
    return typeof version === 'string' && /^\d{1,6}\.\d{1,6}(?:\.[\w.+-]{1,40})?$/.test(version) ? version : undefined
  } catch (thrown) {
    // An answer that is not JSON comes from something else at this address.
    if (thrown instanceof SyntaxError || thrown instanceof RangeError) return undefined
    throw thrown
  }
}

function isTooOld(version: string) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestRelease.split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}
