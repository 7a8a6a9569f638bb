import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { spellVariable } from '../core/input-spelling.ts'
import { basicPair, minSecretLength } from '../core/secrets.ts'
import type { Variables } from '../core/variables.ts'

interface ApiAddress {
  readonly url: URL
  /** Plain http to another machine. */
  readonly isUnencrypted: boolean
}

/** Accepts https, and plain http for loopback addresses or with `allowHttp`. Undefined: no setting accepts plain http for this address. */
export function parseApiUrl(text: string, allowHttp?: boolean, proxy: ProxySettings = {}): ApiAddress | { readonly problem: string } {
  // The URL parser quietly drops tabs and newlines and reads `\` as `/`.
  if (!/^https?:\/\/[^\s\\?#@]+$/i.test(text) || !URL.canParse(text)) {
    return { problem: 'is not a base URL; accepted: https://host[:port][/path], without user, query or fragment' }
  }
  const url = new URL(text)
  const isUnencrypted = isReadableOnTheWay(url, proxy)
  if (isUnencrypted && !allowHttp) {
    const setting = allowHttp === undefined ? '' : `, or set ${spellVariable('allow-http', 'true')} if you trust the network in between`
    return { problem: `would send the key unencrypted; use https${setting}` }
  }
  url.pathname = url.pathname.replace(/(?<!\/)\/+$/, '')
  return { url, isUnencrypted }
}

/** True also for a loopback address through a proxy, which gets all of it. */
export function isReadableOnTheWay(url: URL, proxy: ProxySettings): boolean {
  const receiver = proxyUrlFor(url, proxy)?.hostname ?? url.hostname
  return url.protocol === 'http:' && !(isLoopback(url.hostname) && isLoopback(receiver))
}

/** The URL parser has already turned 0x7f.1 and 2130706433 into 127.0.0.1. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)

/** Hosts in `noProxy` are separated by commas. */
export interface ProxySettings {
  readonly httpProxy?: string
  readonly httpsProxy?: string
  readonly noProxy?: string
}

/**
 * The lower-case spelling wins, as in other tools. Diagnostics quote no value, which may hold a password. Unchecked certificates are an
 * error.
 */
export function readProxySettings(env: Variables): {
  readonly settings: ProxySettings
  readonly diagnostics: readonly Diagnostic[]
} {
  const given = Object.entries({ httpProxy: 'http_proxy', httpsProxy: 'https_proxy', noProxy: 'no_proxy' }).flatMap(
    ([setting, lowerCase]) => {
      const name = [lowerCase, lowerCase.toUpperCase()].find((one) => env[one]?.trim())
      return name === undefined ? [] : [{ setting, name, value: env[name]?.trim() ?? '' }]
    },
  )
  const diagnostics = given.flatMap(({ setting, name, value }) => {
    const problem = setting === 'noProxy' ? undefined : problemOf(value)
    return problem === undefined ? [] : [inputDiagnostic(name, problem)]
  })
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    diagnostics.push(
      inputDiagnostic(
        'NODE_TLS_REJECT_UNAUTHORIZED',
        'is 0, which disables the check of certificates; to trust a private certificate authority, set NODE_EXTRA_CA_CERTS',
      ),
    )
  const settings: ProxySettings = Object.fromEntries(given.map(({ setting, value }) => [setting, value]))
  return { settings, diagnostics }
}

const notProxyUrl =
  'is not a proxy URL; accepted: http://[user:password@]host:port, with special characters of the password encoded, such as %25 for %'

function problemOf(text: string) {
  if (!URL.canParse(text)) return notProxyUrl
  const { protocol, username, password } = new URL(text)
  const decoded = tryDecode(password)
  if (!/^https?:$/.test(protocol) || tryDecode(username) === undefined || decoded === undefined) return notProxyUrl
  const isShort = decoded !== '' && decoded.length < minSecretLength
  return isShort ? `has a password of fewer than ${minSecretLength} characters, which cannot be redacted` : undefined
}

/** Decoded, and the secret one as written: a user without a password may be a token. */
const proxyCredentials = ({ httpProxy, httpsProxy }: ProxySettings) =>
  [httpProxy, httpsProxy]
    .flatMap((text) => (text !== undefined && URL.canParse(text) ? [new URL(text)] : []))
    .filter(({ username, password }) => username || password)
    .map(({ username, password }) => ({ user: decodedOr(username), password: decodedOr(password), written: password || username }))

const decodedOr = (text: string) => tryDecode(text) ?? text

export const proxySecrets = (settings: ProxySettings): readonly string[] =>
  proxyCredentials(settings).flatMap(({ user, password, written }) => [written, password || user, basicPair(user, password)])

/** Errors hide them. No log masks those with a password, because GitHub drops outputs that have a masked word. */
export const proxyUsers = (settings: ProxySettings): readonly string[] => proxyCredentials(settings).map(({ user }) => user)

/** Undefined where a `%` begins no escape sequence. */
export function tryDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `host:port` without credentials, for messages. */
export const proxyHost = (origin: URL, proxy: ProxySettings): string | undefined => proxyUrlFor(origin, proxy)?.host

function proxyUrlFor(origin: URL, { httpProxy, httpsProxy, noProxy = '' }: ProxySettings): URL | undefined {
  const url = origin.protocol === 'https:' ? httpsProxy : httpProxy
  return url === undefined || !URL.canParse(url) || isExempt(origin, noProxy) ? undefined : new URL(url)
}

/** As undici's EnvHttpProxyAgent: hosts, their subdomains, an optional port, and `*` for all. */
function isExempt({ hostname, port, protocol }: URL, noProxy: string) {
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return noProxy
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = '', onPort] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
      const bare = name.replace(/^\*?\./, '')
      return entry === '*' || ((onPort ?? ownPort) === ownPort && (hostname === bare || hostname.endsWith(`.${bare}`)))
    })
}
