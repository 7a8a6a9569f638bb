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
  readonly userAgent: string
  readonly transport: Transport
  readonly signal: AbortSignal
  /** Limit for the whole run. */
  readonly deadlineMs: number
  readonly debug?: ((line: string) => void) | undefined
}

/** The server may be slow. Its version is not worth a longer wait. */
const maxWaitMs = 5_000

/**
 * Reads the release of a self-hosted server, once and without the key. Resolves to undefined when the server does not state it, or does
 * not answer: then the request that follows fails with the reason. Throws for a release that is too old.
 */
export function createVersionCheck(options: VersionOptions): () => Promise<string | undefined> {
  return once(async () => {
    const version = await readVersion(options)
    options.debug?.(`Server version: ${version ?? 'unknown'}`)
    if (version !== undefined && isTooOld(version)) throw tooOld(version, options.baseUrl)
    return version
  })
}

/** Returns an address beside the API of a self-hosted server: `/health`, or `/api/health` through the UI, which passes on what is below `/api`. */
export function besideApiUrl(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/api\/v2$/, path)
  return url
}

const toHealthUrl = (baseUrl: URL): URL => besideApiUrl(baseUrl, '/health')

async function readVersion({ baseUrl, userAgent, transport, signal, deadlineMs }: VersionOptions): Promise<string | undefined> {
  const outcome = await sendOnce(transport, {
    method: 'GET',
    url: toHealthUrl(baseUrl),
    body: undefined,
    authorization: undefined,
    userAgent,
    timeoutMs: Math.min(maxWaitMs, deadlineMs),
    signal,
  })
  if ('failure' in outcome || outcome.answer.status !== 200) return undefined
  try {
    return versionIn(parseJson(outcome.answer.text))
  } catch (thrown) {
    // An answer that is not JSON comes from something else at this address.
    if (thrown instanceof SyntaxError || thrown instanceof RangeError) return undefined
    throw thrown
  }
}

/** A build from source states `local`, or nothing. */
function versionIn(json: unknown): string | undefined {
  const version = isMapping(json) ? json.version : undefined
  return typeof version === 'string' && /^\d{1,6}\.\d{1,6}(?:\.[\w.+-]{1,40})?$/.test(version) ? version : undefined
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestRelease.split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}

const tooOld = (version: string, baseUrl: URL): WatchkeeperError =>
  new WatchkeeperError(
    'not-served',
    `HyperDX ${version} at ${baseUrl.host} is too old: Watchkeeper needs ${oldestRelease} or newer.\nUpgrade the server. Older releases lack saved searches, paging and the validation of dashboards.\nRequest: GET ${toHealthUrl(baseUrl).href}`,
  )
