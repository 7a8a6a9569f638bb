// Owns what to do about a failed request, one sentence for each kind of failure.
import type { ErrorKind } from '../kernel/errors.ts'
import type { RequestEnd, RequestFacts } from './api-error.ts'
import type { Miss } from './attempt.ts'
import { readWindow } from './rate-limit.ts'

export interface Ended extends RequestEnd {
  readonly mayHaveActed: boolean
}

export function adviceFor(kind: ErrorKind, facts: RequestFacts, miss: Miss, end: Ended): string {
  // A create and a cancelled request have a sentence of their own for that.
  const isOpen = end.mayHaveActed && facts.method !== 'POST' && kind !== 'cancelled'
  const open = isOpen ? `It may be done all the same: look at the ${facts.noun}, or run this again.` : ''
  return [adviceOn(kind, facts, miss, end), open].filter(Boolean).join(' ')
}

function adviceOn(kind: ErrorKind, facts: RequestFacts, miss: Miss, end: RequestEnd): string {
  const { host, keyId, permission, noun, missing = noun } = facts
  switch (kind) {
    case 'authentication':
      return `The service does not accept the key ${keyId}: check api-key-id and api-key-secret, and that the key is enabled and not expired.`
    case 'permission':
      return `The key ${keyId} lacks a permission (needed: ${permission}): extend its role, or use another key.`
    case 'not-found':
      return `There is no such ${missing}, or the key ${keyId} may not see it.`
    case 'not-served':
      return `This url does not serve the API: check api-url and observability-path (or profile).${doubledVersion(facts.path)}`
    case 'rate-limited':
      return rateLimitAdvice(miss, end)
    case 'redirect':
      return 'Redirects are never followed, so that the key reaches no other address: set api-url to the final one if you trust it.'
    case 'tls':
      return 'The certificate is not trusted. For an authority of your own set NODE_EXTRA_CA_CERTS=/path/to/ca.pem, or NODE_OPTIONS=--use-system-ca.'
    case 'may-exist':
      return `The server may have created the ${noun} all the same, so this is not sent again: look before you run it once more.`
    case 'network':
      return networkAdvice(host, miss)
    case 'timeout':
      return miss.certainty === 'not-done'
        ? `Check api-url (${host}), and that it can be reached from here.`
        : `Nothing usable came within the limit of ${facts.timeoutMs / 1000} s per request: is the service slow, or ${host} unreachable from here?`
    case 'deadline':
      return 'The time given for the whole operation (timeout-seconds) does not allow another attempt.'
    case 'bad-answer':
      return miss.cause === 'unreadable' ? 'Is a proxy or a login page answering instead of the API?' : ''
    case 'cancelled':
      return facts.method === 'GET' || facts.isSafe
        ? ''
        : `The server may have acted all the same: look at the ${noun} before you run it once more.`
    default:
      return ''
  }
}

// Every path begins with the version; an api-url that ends in it as well is the usual slip.
const doubledVersion = (path: string): string =>
  path.startsWith('/v1/v1/') ? ' api-url must not end in /v1: every path begins with it.' : ''

function networkAdvice(host: string, miss: Miss): string {
  if (miss.cause === 'proxy')
    return 'The proxy refuses to connect: check the credentials and rules behind HTTPS_PROXY, HTTP_PROXY and NO_PROXY.'
  if (miss.cause === 'lookup') return `No such host: check the name in api-url (${host}).`
  return `Check api-url (${host}), and the network between here and there.`
}

function rateLimitAdvice({ headers }: Miss, { decision, nowMs }: RequestEnd): string {
  const window = readWindow(headers)
  const policy =
    window === undefined ? 'The limit belongs to the key' : `The limit of ${window.limit} requests per window belongs to the key`
  const told = !decision.retry && decision.because === 'deadline' ? decision.waitMs : undefined
  const when =
    told === undefined || told > 1e12 ? '' : ` Come back after ${new Date(nowMs + told).toISOString()} (in ${Math.ceil(told / 1000)} s).`
  return `${policy}: other users of it slow this run down. timeout-seconds leaves no time to wait longer.${when}`
}
