import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import { type HttpRequest, type HttpResponse, htmlType, jsonResponse, noRouteResponse, pathnameOf, textResponse } from '../http.ts'
import type { EmulatorContext, Settings } from '../options.ts'
import { callTool, isRpcMessage } from '../product/mcp.ts'
import { findRoute } from '../product/product.ts'
import type { ProductResponse } from '../product/request.ts'
import { UnsupportedQuery } from '../product/sql.ts'
import { demo } from '../shop/demo.ts'
import { findService, isJsonObject } from '../store.ts'
import { callProduct, type Gateway, type Identity, isUsable, toSqlContext } from './gateway.ts'

const maxBodyBytes = 32 * 1024 * 1024

const resources = ['alerts', 'charts', 'connections', 'dashboards', 'saved-searches', 'search', 'sources', 'team', 'webhooks']

/** Self-hosted HyperDX: the product's own API v2 without anything before it. */
export function createHyperdxGateway(settings: Settings): Gateway {
  return {
    maxBodyBytes,
    identify: identifyBearer,
    // A body that cannot be parsed is rejected before it is counted.
    isLimited: (request) => resources.includes(toSegments(request.path)?.[0]?.toLowerCase() ?? '') && !('rejection' in parseBody(request)),
    // Headers without a policy, and in whole seconds.
    toLimitHeaders: ({ limit, remaining, resetMs }) => ({
      'RateLimit-Limit': String(limit),
      'RateLimit-Remaining': String(remaining),
      'RateLimit-Reset': String(Math.ceil(resetMs / 1000)),
    }),
    // `Retry-After` is the length of the window, not the time that is left.
    toTooManyRequests: () => ({
      status: 429,
      headers: { 'content-type': htmlType, 'Retry-After': String(Math.ceil((settings.rateLimit?.windowMs ?? 60_000) / 1000)) },
      body: 'Too many requests, please try again later.',
    }),
    handle: (context, request, identity) => handle(settings, context, request, identity),
    toError: (_ids, status, _code, message) => jsonResponse(status, { message }),
    toResult: (_ids, result) => jsonResponse(200, { data: result }),
  }
}

function identifyBearer({ store, settings }: EmulatorContext, authorization: string | undefined): Identity {
  const secret = authorization?.split('Bearer ')[1]
  if (!secret) return { credentials: authorization === undefined ? 'absent' : 'wrong', keyId: '' }
  const key = store.keys.find((one) => one.secret === secret && isUsable(one, settings.now()))
  return key === undefined ? { credentials: 'wrong', keyId: secret } : { credentials: 'valid', keyId: secret, key }
}

function handle(settings: Settings, context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse {
  // The product parses bodies before it looks at anything else.
  const parsed = parseBody(request)
  if ('rejection' in parsed) return parsed.rejection
  const pathname = pathnameOf(request.path)
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const noRoute = noRouteResponse(request.method, pathname)
  if (/^\/health\/?$/i.test(pathname))
    return method === 'GET'
      ? jsonResponse(200, { data: 'OK', version: settings.serverVersion, ip: '127.0.0.1', env: 'production' })
      : noRoute
  if (settings.hasMcp && /^\/mcp\/?$/i.test(pathname)) return toToolAnswer(context, { ...request, method }, identity, parsed.body)
  const segments = toSegments(request.path)
  if (segments === undefined) return noRoute
  const [resource = '', ...rest] = segments
  const isRoot = segments.length === 0
  if (isRoot ? method !== 'GET' : !resources.includes(resource.toLowerCase())) return noRoute
  if (identity.key === undefined) return textResponse(401, 'Unauthorized')
  // The product shows the user's own access key here. This one is not valid.
  if (isRoot)
    return jsonResponse(200, {
      version: 'v2',
      user: { accessKey: 'demo-key-that-opens-nothing', name: 'Demo', email: 'demo@shop.example', team: checkoutOf(context).teamId },
    })
  const decoded = rest.map(decodeSegment)
  if (decoded.includes(undefined)) return jsonResponse(400, { message: genericMessage })
  const route = findRoute(method, [resource.toLowerCase(), ...decoded].join('/'))
  if (route === undefined) return noRoute
  return toResponse(callProduct(context, checkoutOf(context), route, { ...request, method, ...parsed }))
}

/** The tools of the product. Its own limit of 600 requests a minute is out of reach here. */
function toToolAnswer(context: EmulatorContext, request: HttpRequest, identity: Identity, body: unknown): HttpResponse {
  const { method, headers } = request
  if (method === 'GET' || method === 'DELETE') return textResponse(405, 'Method Not Allowed')
  if (method !== 'POST') return noRouteResponse(method, '/mcp')
  if (identity.key === undefined) return textResponse(401, 'Unauthorized')
  const accepted = headers.accept ?? ''
  if (!accepted.includes('application/json') || !accepted.includes('text/event-stream'))
    return jsonResponse(406, toRpcError('Not Acceptable: Client must accept both application/json and text/event-stream'))
  if (!isRpcMessage(body)) return jsonResponse(400, toRpcError('Parse error: Invalid JSON-RPC message', -32_700))
  try {
    const answer = callTool(body, toSqlContext(context, checkoutOf(context)))
    if (answer === undefined) return jsonResponse(400, toRpcError('The emulator knows calls of tools only'))
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
      body: `event: message\ndata: ${JSON.stringify(answer)}\n\n`,
    }
  } catch (cause) {
    if (cause instanceof UnsupportedQuery) return jsonResponse(501, toRpcError(cause.message))
    throw cause
  }
}

const toRpcError = (message: string, code = -32_000) => ({ jsonrpc: '2.0', error: { code, message }, id: null })

/** The parts of the path below `/api/v2`, undefined for other paths. Express ignores case and a slash at the end. */
function toSegments(path: string): readonly string[] | undefined {
  const match = /^\/api\/v2((?:\/[^/]+)*)\/?$/i.exec(pathnameOf(path))
  return match?.[1]?.split('/').slice(1)
}

function decodeSegment(segment: string) {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

const genericMessage = 'Something went wrong :('

/** A body that is absent or has an unknown type is an empty object. */
function parseBody({ text, headers, isTooLarge }: HttpRequest): { readonly body: unknown } | { readonly rejection: HttpResponse } {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(/\s*;\s*/)
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  if (isTooLarge) return { rejection: jsonResponse(413, { message: genericMessage }) }
  if (type === 'application/json') {
    if (charset !== undefined && !charset.startsWith('utf-')) return { rejection: jsonResponse(415, { message: genericMessage }) }
    if (text === '') return { body: {} }
    const body = parseJsonOrUndefined(text)
    if (!isJsonObject(body) && !Array.isArray(body)) return { rejection: jsonResponse(400, { message: 'Invalid JSON payload' }) }
    return { body }
  }
  if (type === 'text/plain' && text !== '') return { body: text }
  if (type === 'application/x-www-form-urlencoded') return { body: Object.fromEntries(new URLSearchParams(text)) }
  return { body: {} }
}

/** An installation has one team: here the demo's checkout service. */
const checkoutOf = ({ store }: EmulatorContext) => findService(store, demo.services.checkout)

function toResponse({ status, body, text, total }: ProductResponse): HttpResponse {
  if (text !== undefined) return textResponse(status, text)
  if (total === undefined || !isJsonObject(body)) return jsonResponse(status, body)
  return jsonResponse(status, body, { 'X-Total-Count': String(total) })
}
