import { addDays, countDays, type Day, formatMoment } from '../core/dates.ts'
import { missingInput } from '../core/diagnostics.ts'
import { type ErrorKind, InputError, WatchkeeperError } from '../core/errors.ts'
import { spellInput } from '../core/input-spelling.ts'
import { toEnvironmentName } from '../core/names.ts'
import { capitalize, pluralOf } from '../core/text.ts'
import { readRateLimitWindow } from '../http/rate-limit.ts'
import type { FailedAttempt, RetryDecision } from '../http/send.ts'
import type { Method } from '../http/transport.ts'
import type { AttemptFailure } from './attempt.ts'
import { isWriteRequest, type RequestMethod } from './call.ts'
import { oldestRelease } from './server-version.ts'

export interface ConnectionInputs {
  readonly url: string
  readonly key: string
  /** What gives a key access. Default: its role. */
  readonly access?: string
}

const apiInputs: ConnectionInputs = { url: 'api-url', key: 'api-key-id and api-key-secret' }

/** Messages may contain these facts: none is a secret. */
export interface RequestFacts extends RequestMethod {
  readonly noun: string
  readonly missing?: string
  /** Whether repeating the request could make a second object. */
  readonly isCreate: boolean
  /** Includes the query. */
  readonly path: string
  readonly origin: string
  readonly host: string
  readonly isSelfHosted: boolean
  /** `the key abcd…wxyz`. */
  readonly keyName: string
  /** Default: those of the API. */
  readonly inputs?: ConnectionInputs | undefined
  /** The vendor's name of the permission that the key needs. */
  readonly permission: string | undefined
  readonly timeoutMs: number
}

/** Wrong input is an InputError, because it never becomes a request. */
export class ApiError extends WatchkeeperError {
  override readonly name = 'ApiError'
  /** What to do about it; may be empty. The message has it, after what failed and before the request: up to three lines. */
  declare readonly advice: string
  /** What does not exist, for the kind `not-found`: `organization`, `service`, `alert`. */
  declare readonly missing: string | undefined
  declare readonly method: Method
  declare readonly path: string
  declare readonly status: number | undefined
  /** The API's id of the last answer. */
  declare readonly requestId: string | undefined
  declare readonly attempts: number
  /** The server may have carried out the write, on this attempt or an earlier one. */
  declare readonly outcomeUnknown: boolean
  declare readonly isTooLarge: boolean

  constructor({ kind, message, ...details }: ApiErrorDetails) {
    super(kind, message)
    Object.assign(this, details)
  }
}

export function missingSqlKey(why: string): InputError {
  const advise = (name: string): string => `set the input or ${toEnvironmentName(name)}`
  return new InputError([
    missingInput(
      'sql-key-id',
      `is missing: ${why}; ${advise('sql-key-id')}. See https://github.com/watchkeeper/watchkeeper/blob/main/docs/self-hosted.md#sql-queries`,
    ),
    missingInput('sql-key-secret', `is missing; ${advise('sql-key-secret')}`),
  ])
}

type ApiErrorDetails = Omit<ApiError, 'name' | 'stack' | 'cause'>

export const isOutcomeUnknown = (request: RequestMethod, end: { readonly isOutcomeUnknown: boolean }): boolean =>
  isWriteRequest(request) && end.isOutcomeUnknown

/** `nowMs` is in milliseconds since the epoch. */
export function explainFailure(facts: RequestFacts, end: FailedAttempt<AttemptFailure>, nowMs: number): ApiErrorDetails {
  const { failure, sent: attempts } = end
  const outcomeUnknown = isOutcomeUnknown(facts, end)
  const kind = classifyFailure(facts, failure, end.decision)
  const advice = adviceOn(kind, facts, end, nowMs)
  return {
    kind,
    message: [describeAttempts(failure), advice, identifyRequest(facts, failure, attempts)].filter(Boolean).join('\n'),
    advice,
    missing: missingIn(kind, facts, failure),
    method: facts.method,
    path: facts.path,
    status: failure.status,
    requestId: failure.requestId,
    attempts,
    outcomeUnknown,
    isTooLarge: failure.cause === 'too-large',
  }
}

/** Reads a period, both ends included, or its halves while an answer is too large. */
export async function readInHalves<T>(from: Day, to: Day, read: (from: Day, to: Day) => Promise<T>): Promise<readonly T[]> {
  try {
    return [await read(from, to)]
  } catch (thrown) {
    if (!(thrown instanceof ApiError && thrown.isTooLarge) || from === to) throw thrown
    const middle = addDays(from, countDays(from, to) >> 1)
    return [...(await readInHalves(from, addDays(middle, -1), read)), ...(await readInHalves(middle, to, read))]
  }
}

/** Names the organization where that is unknown, or where the key belongs to another one. */
function missingIn(kind: ErrorKind, { noun, missing = noun }: RequestFacts, { detail }: AttemptFailure) {
  if (kind === 'permission') return /\banother organization\b/i.test(detail) ? 'organization' : undefined
  if (kind !== 'not-found') return undefined
  return /\borganization\b/i.test(detail) ? 'organization' : missing
}

function classifyFailure(facts: RequestFacts, failure: AttemptFailure, decision: RetryDecision): ErrorKind {
  const { cause } = failure
  if (cause === 'canceled') return 'canceled'
  if (cause === 'rate-limit') return 'rate-limited'
  if (facts.isCreate && failure.writeOutcome === 'unknown') return 'may-exist'
  if (!decision.retry && decision.because === 'deadline') return 'deadline'
  if (cause === 'status') return kindOfErrorStatus(failure, facts)
  if (cause === 'tls' || cause === 'redirect' || cause === 'timeout') return cause
  return cause === 'unreadable' || cause === 'unfit' || cause === 'too-large' ? 'bad-answer' : 'network'
}

function kindOfErrorStatus(
  { status = 0, isFromApi, headers, detail }: AttemptFailure,
  { method, isSelfHosted, missing }: RequestFacts,
): ErrorKind {
  // A self-hosted server always has its lists. ClickHouse and collectors at the address answer plain text as well.
  const mustExist = isSelfHosted && method === 'GET' && missing !== undefined
  const isOtherText = isSelfHosted && headers['content-type']?.startsWith('text/plain') === true && detail !== 'Not Found'
  if (status === 404) return isFromApi && !mustExist && !isOtherText ? 'not-found' : 'not-served'
  if (status === 401) return 'authentication'
  if (status === 403) return 'permission'
  if (status === 409) return 'conflict'
  return status >= 500 || status === 408 ? 'server' : 'refused'
}

function describeAttempts({ cause, status, detail, proxyHost }: AttemptFailure) {
  const separator = detail === '' ? '' : ': '
  if (cause === 'status' || cause === 'rate-limit' || cause === 'redirect') return `The API answered ${status}${separator}${detail}`
  if (cause === 'proxy') return `The proxy ${proxyHost} refused the connection: ${detail}`
  if (status !== undefined) return `The API answered ${status}, but ${detail}`
  if (cause === 'canceled' || cause === 'too-large') return capitalize(detail)
  const way = proxyHost === undefined ? '' : ` through the proxy ${proxyHost}`
  return cause === 'timeout' ? `${capitalize(detail)}${way}` : `No answer${way}: ${detail}`
}

function identifyRequest({ method, path, host }: RequestFacts, { requestId }: AttemptFailure, attempts: number) {
  const notes = [requestId && `request id ${requestId}`, attempts > 1 && `${attempts} attempts`].filter(Boolean).join(', ')
  return `Request: ${method} ${path} at ${host}${notes && ` (${notes})`}`
}

function adviceOn(kind: ErrorKind, facts: RequestFacts, end: FailedAttempt<AttemptFailure>, nowMs: number) {
  const advice = adviceOnKind(kind, facts, end, nowMs)
  // The advice for a create and for a canceled request already says it.
  const isOpen = isOutcomeUnknown(facts, end) && facts.method !== 'POST' && kind !== 'canceled'
  if (!isOpen) return advice
  const open = `The server may still have applied it: check the ${facts.noun}, or run this again.`
  // Running it again is also the advice for a server that failed.
  return kind === 'server' ? open : [advice, open].filter(Boolean).join(' ')
}

const idInputs: ReadonlyMap<string | undefined, string> = new Map([
  ['organization', 'Check organization-id.'],
  ['service', 'Check service-id and organization-id.'],
])

function notFoundAdvice({ isSelfHosted, method, noun, keyName, inputs }: RequestFacts, missing: string | undefined) {
  // There is no service that could be missing.
  if (isSelfHosted && method === 'POST') return `Check the ids that the ${noun} refers to.`
  const advice = isSelfHosted ? '' : (inputs?.access ?? idInputs.get(missing) ?? '')
  return `The ${missing} does not exist, or ${keyName} has no access to it.${advice && ` ${advice}`}`
}

function serverAdvice({ isSelfHosted }: RequestFacts, { requestId, status }: AttemptFailure) {
  if (status === 501) return ''
  return isSelfHosted
    ? 'The server failed. Look at the log of its API server, and run this again.'
    : `The server failed. Run this again later. If it continues, contact support${requestId === undefined ? '' : ' with the request id'}.`
}

function adviceOnKind(kind: ErrorKind, facts: RequestFacts, end: FailedAttempt<AttemptFailure>, nowMs: number) {
  const { failure } = end
  const { host, keyName, permission, noun, inputs: { url, access = 'Extend its role, or use another key.' } = apiInputs } = facts
  const missing = missingIn(kind, facts, failure)
  const list = ['alert', 'dashboard', 'saved search', 'webhook', 'source'].includes(noun)
    ? ` list-${pluralOf(noun).replace(' ', '-')} shows the ids.`
    : ''
  switch (kind) {
    case 'authentication':
      return `The API rejects ${keyName}. ${keyAdvice(facts)}`
    case 'permission':
      if (missing !== undefined) return `${capitalize(keyName)} belongs to another organization. Check organization-id, or use another key.`
      // Another key would not help.
      if (/\b(?:pricing|package|tier|subscription|upgrade)\b/i.test(failure.detail)) return 'The package of the organization lacks this.'
      return `${capitalize(keyName)} lacks a permission${permission === undefined ? '' : ` (needed: ${permission})`}. ${access}`
    case 'not-found':
      return notFoundAdvice(facts, missing)
    case 'refused':
      // The words of the self-hosted server for an id that is not one of its database. One in the body can be that of another kind.
      if (!/\bObjectId\b/.test(failure.detail)) return ''
      return `An id has 24 hex digits.${failure.detail.startsWith('Body ') ? '' : list}`
    case 'server':
      return serverAdvice(facts, failure)
    case 'not-served':
      return notServedAdvice(facts)
    case 'rate-limited':
      return rateLimitAdvice(end, nowMs)
    case 'redirect':
      return `Redirects are never followed, so that the key reaches no other address. If you trust the new address, set ${url} to it.`
    case 'tls':
      return tlsAdvice(host, url, failure)
    case 'may-exist':
      return `The server may still have created the ${noun}, so the request was not sent again. Check whether it exists before you run this again.`
    case 'network':
      return networkAdvice(host, url, failure)
    case 'timeout':
      return failure.writeOutcome === 'not-applied'
        ? `Check ${url} (${host}), and that this machine can reach it.`
        : `No complete answer arrived within ${facts.timeoutMs / 1000} s, the limit for one request. Check that this machine can reach ${host}, and that the server is not overloaded.`
    case 'deadline':
      return 'timeout-seconds leaves no time for another attempt.'
    case 'bad-answer':
      if (failure.cause !== 'unreadable') return ''
      return facts.isSelfHosted ? notServedAdvice(facts) : 'Check whether a proxy or a login page answers instead of the API.'
    case 'canceled':
      return isWriteRequest(facts) ? `The server may still have applied it: check the ${noun} before you run this again.` : ''
    default:
      return ''
  }
}

function rateLimitAdvice({ failure, decision }: FailedAttempt<AttemptFailure>, nowMs: number) {
  const window = readRateLimitWindow(failure.headers)
  const policy = window === undefined ? 'The rate limit' : `The rate limit of ${window.limit} requests per window`
  const waitMs = !decision.retry && decision.because === 'deadline' ? decision.waitMs : Number.POSITIVE_INFINITY
  const when = waitMs > 1e12 ? '' : ` Try again after ${formatMoment(nowMs + waitMs)} (in ${Math.ceil(waitMs / 1000)} s).`
  return `${policy} belongs to the key, so other users of the key slow this run down. timeout-seconds leaves no time to wait longer.${when}`
}

const keyAdvice = ({ isSelfHosted, inputs: { key, access } = apiInputs }: RequestFacts) =>
  isSelfHosted
    ? 'Copy the personal API access key from the Team Settings of HyperDX. The ingestion key does not work here.'
    : `Check ${key}, and that the key is enabled and not expired.${access === undefined ? '' : ` ${access}`}`

function notServedAdvice({ isSelfHosted, path, origin, inputs }: RequestFacts) {
  if (inputs !== undefined) return `Check ${inputs.url}: this URL does not serve what was asked.`
  if (!isSelfHosted)
    return `This URL does not serve the API. Check api-url and observability-path (or profile).${path.startsWith('/v1/v1/') ? ' Remove /v1 from the end of api-url: every path already begins with it.' : ''}`
  const given = path.slice(0, path.search(/\/api\/v2(?:[/?]|$)/))
  const [server, candidate] = given.endsWith('/api') ? ['the API server', given.slice(0, -'/api'.length)] : ['the UI', `${given}/api`]
  return `api-url is wrong, or this server is older than ${oldestRelease}. If this is the address of ${server}, set ${spellInput('api-url', `${origin}${candidate}`)}.`
}

function networkAdvice(host: string, url: string, failure: AttemptFailure) {
  if (failure.cause === 'proxy') return 'Check the credentials in HTTPS_PROXY or HTTP_PROXY, the rules of the proxy, and NO_PROXY.'
  if (failure.cause === 'lookup') return `The host does not exist. Check the name in ${url} (${host}).`
  return `Check ${url} (${host}) and the network connection.`
}

function tlsAdvice(host: string, url: string, { code = '' }: AttemptFailure) {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return `${host} does not speak TLS. Check the port in ${url}, or use http:// if the server has no TLS.`
  if (/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW/.test(code))
    return `${host} offers no version of TLS that is accepted here. Enable TLS 1.2 or 1.3 there.`
  // Certificates that are not trusted have other codes.
  if (code.startsWith('ERR_SSL_'))
    return `${host} ended the TLS handshake. Check the ciphers that it accepts, and whether it demands a client certificate, which cannot be given.`
  return 'The certificate is not trusted. For a private certificate authority, set NODE_EXTRA_CA_CERTS=/path/to/ca.pem, or NODE_USE_SYSTEM_CA=1 with Node 24.6 or newer.'
}
