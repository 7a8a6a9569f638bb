import { type Answer, type Headers, htmlType, toJson, toNotServed, toText } from '../answer.ts'
import type { EmulatorContext } from '../context.ts'
import { demo } from '../demo.ts'
import type { Ids } from '../ids.ts'
import { type Incoming, pathnameOf, queryFieldsOf } from '../incoming.ts'
import { isJsonObject, parseOrUndefined } from '../json.ts'
import type { Settings } from '../options.ts'
import { findHandler } from '../product/product.ts'
import type { ProductResponse } from '../product/request.ts'
import type { Quota } from '../rate-limit.ts'
import type { Service } from '../store.ts'
import { askProduct, type Gateway, type Identity, isUsable } from './gateway.ts'

const longestBody = 32 * 1024 * 1024

const release = '2.36.0'

const resources = ['alerts', 'charts', 'connections', 'dashboards', 'saved-searches', 'search', 'sources', 'team', 'webhooks']

/** Self-hosted HyperDX: the product's own API v2 without anything before it. */
export function createHyperdxGateway(settings: Settings): Gateway {
  return {
    longestBody,
    identify,
    // A body that cannot be parsed is refused before it is counted.
    isLimited: (incoming) => resources.includes(toSegments(incoming.path)?.[0]?.toLowerCase() ?? '') && !('refusal' in parseBody(incoming)),
    toLimitHeaders,
    toTooManyRequests: () => tooManyRequests(settings),
    answer: (context, incoming, identity) => answer(settings, context, incoming, identity),
    toError: (_ids: Ids, status, _code, message) => toJson(status, { message }),
    toResult: (_ids: Ids, result) => toJson(200, { data: result }),
  }
}

function identify({ store, clock }: EmulatorContext, authorization: string | undefined): Identity {
  const secret = authorization?.split('Bearer ')[1]
  if (!secret) return { credentials: authorization === undefined ? 'absent' : 'wrong', keyId: '' }
  const key = store.keys.find((one) => one.secret === secret && isUsable(one, clock.now()))
  return key === undefined ? { credentials: 'wrong', keyId: secret } : { credentials: 'valid', keyId: secret, key }
}

function answer(settings: Settings, context: EmulatorContext, incoming: Incoming, identity: Identity): Answer {
  // Bodies are parsed before anything else is looked at.
  const parsed = parseBody(incoming)
  if ('refusal' in parsed) return parsed.refusal
  const pathname = pathnameOf(incoming.path)
  const method = incoming.method === 'HEAD' ? 'GET' : incoming.method
  const notServed = toNotServed(incoming.method, pathname)
  if (/^\/health\/?$/i.test(pathname)) return method === 'GET' ? health : notServed
  const segments = toSegments(incoming.path)
  if (segments === undefined) return notServed
  const [resource = '', ...rest] = segments
  const isRoot = segments.length === 0
  if (isRoot ? method !== 'GET' : !resources.includes(resource.toLowerCase())) return notServed
  if (identity.key === undefined) return toText(401, 'Unauthorized')
  if (isRoot) return toVersion(context)
  const decoded = rest.map(decode)
  if (decoded.includes(undefined)) return toJson(400, { message: unexplained })
  const route = findHandler(method, [resource.toLowerCase(), ...decoded].join('/'))
  if (route === undefined) return notServed
  const query = queryFieldsOf(incoming.path)
  return toAnswer(settings, askProduct({ context, service: checkoutOf(context), route, method, query, body: parsed.body }))
}

/** The parts of the path below `/api/v2`, undefined for other paths. Express sees neither case nor a slash at the end. */
function toSegments(path: string): readonly string[] | undefined {
  const match = /^\/api\/v2((?:\/[^/]+)*)\/?$/i.exec(pathnameOf(path))
  return match?.[1]?.split('/').slice(1)
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

const unexplained = 'Something went wrong :('

type ParsedBody = { readonly body: unknown } | { readonly refusal: Answer }

/** Without a body, or with one of a type that the server does not know, there is an empty object. */
function parseBody({ text, headers, isTooLarge }: Incoming): ParsedBody {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(/\s*;\s*/)
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  if (isTooLarge) return { refusal: toJson(413, { message: unexplained }) }
  if (type === 'application/json') {
    if (charset !== undefined && !charset.startsWith('utf-')) return { refusal: toJson(415, { message: unexplained }) }
    if (text === '') return { body: {} }
    const body = parseOrUndefined(text)
    if (!isJsonObject(body) && !Array.isArray(body)) return { refusal: toJson(400, { message: 'Invalid JSON payload' }) }
    return { body }
  }
  if (type === 'text/plain' && text !== '') return { body: text }
  if (type === 'application/x-www-form-urlencoded') return { body: Object.fromEntries(new URLSearchParams(text)) }
  return { body: {} }
}

/** An installation has one team; here it is the demo's checkout service. */
function checkoutOf({ store }: EmulatorContext): Service {
  const services = store.organizations.flatMap((organization) => organization.services)
  const found = services.find(({ id }) => id === demo.services.checkout)
  if (found === undefined) throw new Error('the store has no checkout service')
  return found
}

function toAnswer({ isTotalHidden }: Settings, { status, body, text, total }: ProductResponse): Answer {
  if (text !== undefined) return toText(status, text)
  if (total === undefined || !isJsonObject(body)) return toJson(status, body)
  if (isTotalHidden) return toJson(status, { data: body.data })
  return toJson(status, body, { 'X-Total-Count': String(total) })
}

const health = toJson(200, { data: 'OK', version: release, ip: '127.0.0.1', env: 'production' })

/** The product answers the user's own access key here. This one opens nothing. */
const toVersion = (context: EmulatorContext): Answer =>
  toJson(200, {
    version: 'v2',
    user: { accessKey: 'demo-key-that-opens-nothing', name: 'Demo', email: 'demo@shop.example', team: checkoutOf(context).teamId },
  })

/** Without a policy. The seconds are whole. */
const toLimitHeaders = ({ limit, remaining, resetMs }: Quota): Headers => ({
  'RateLimit-Limit': String(limit),
  'RateLimit-Remaining': String(remaining),
  'RateLimit-Reset': String(Math.ceil(resetMs / 1000)),
})

/** `Retry-After` is the length of the window, not what is left of it. */
const tooManyRequests = ({ rateLimit }: Settings): Answer => ({
  status: 429,
  headers: { 'content-type': htmlType, 'Retry-After': String(Math.ceil((rateLimit?.windowMs ?? 60_000) / 1000)) },
  body: 'Too many requests, please try again later.',
})
