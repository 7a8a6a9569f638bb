import { type Answer, type Headers, htmlType, jsonType } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Effect, Fault, FaultHeaders } from './faults.ts'
import { floodEndlessly, sendGzipBomb } from './flood.ts'
import type { Gateway } from './gateways/gateway.ts'
import type { Ids } from './ids.ts'
import { drip, resetInBody, resetInHeaders, shortenLength, truncate } from './spoilt-answers.ts'

export interface Victim {
  readonly exchange: Exchange
  readonly gateway: Gateway
  readonly ids: Ids
  readonly method: string
  /** Does what was asked, and gives the normal answer. */
  readonly act: () => Answer
  /** What the server sends with every answer of its own: the headers of the rate limit. */
  readonly ownHeaders: Headers
}

export async function applyFault({ act, effect }: Fault, victim: Victim): Promise<void> {
  const { exchange } = victim
  if (effect.kind === 'delay') {
    await exchange.sleep(effect.ms)
    return exchange.send(victim.act())
  }
  if (effect.kind === 'drip') return drip(exchange, victim.act(), effect.bytesPerTick ?? 1, effect.everyMs)
  if (effect.kind === 'late-commit') return commitLate(victim, effect.status ?? 504, effect.ms)
  const done = act === 'after' ? victim.act() : undefined
  const simple = toAnswer(effect, victim)
  if (simple !== undefined) return exchange.send(simple)
  await spoil(effect, victim, done)
}

async function commitLate(victim: Victim, status: number, ms: number): Promise<void> {
  victim.exchange.send(toStatusAnswer({ kind: 'status', status }, victim))
  await victim.exchange.sleep(ms)
  victim.act()
}

async function spoil(effect: Effect, victim: Victim, done: Answer | undefined): Promise<void> {
  const { exchange } = victim
  const answer = (): Answer => done ?? undone(victim)
  switch (effect.kind) {
    case 'reset':
      return exchange.reset()
    case 'reset-in-headers':
      return resetInHeaders(exchange)
    case 'reset-in-body':
      return resetInBody(exchange, answer(), effect.bytes)
    case 'truncate':
      return truncate(exchange, answer(), effect.bytes)
    case 'short-length':
      return shortenLength(exchange, answer())
    case 'endless':
      return floodEndlessly(exchange)
    case 'gzip-bomb':
      return sendGzipBomb(exchange, effect.mebibytes)
    default:
      // `hang`: the connection stays open until one side gives up.
      return
  }
}

/** What is spoilt when the server did nothing: a read changes nothing anyway, a write gets an answer that looks like success. */
const undone = ({ method, act, gateway, ids }: Victim): Answer =>
  method === 'GET' ? act() : gateway.toResult(ids, { id: 'ffffffffffffffffffffffff', name: 'never stored' })

/** The effects that are an ordinary answer, only not the right one. */
function toAnswer(effect: Effect, victim: Victim): Answer | undefined {
  switch (effect.kind) {
    case 'status':
      return toStatusAnswer(effect, victim)
    case 'html':
      // From something in between: none of the server's own headers.
      return { status: effect.status ?? 200, headers: { 'content-type': htmlType }, body: portal }
    case 'body':
      return { status: 200, headers: { 'content-type': jsonType, ...lowerCase(effect.headers) }, body: bytesOf(effect) }
    case 'rate-limited': {
      const headers = effect.headers === undefined ? defaultWindow : lowerCase(effect.headers)
      return {
        status: 429,
        headers: { 'content-type': jsonType, ...headers },
        body: effect.body ?? victim.gateway.toTooManyRequests().body,
      }
    }
    default:
      return undefined
  }
}

function toStatusAnswer(
  { status, body, contentType, headers }: Extract<Effect, { kind: 'status' }>,
  { gateway, ids, ownHeaders }: Victim,
): Answer {
  const isEmpty = body === '' || (body === undefined && (status === 204 || (status >= 300 && status < 400)))
  const type = isEmpty && contentType === undefined ? {} : { 'content-type': contentType ?? jsonType }
  const text = isEmpty ? '' : (body ?? gateway.toError(ids, status, 'INJECTED_FAULT', `status ${status} on request`).body)
  return { status, headers: { ...ownHeaders, ...type, ...lowerCase(headers) }, body: text }
}

const bytesOf = ({ text, bytes }: Extract<Effect, { kind: 'body' }>): string | Uint8Array =>
  typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : (bytes ?? text ?? '')

// So that a given `Content-Type` takes the place of the default instead of standing beside it.
const lowerCase = (headers: FaultHeaders = {}): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const defaultWindow: Headers = {
  'X-RateLimit-Limit': '10',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': '1',
  'X-RateLimit-Policy': '10;w=10;comment="fixed window"',
}

const portal = `<!DOCTYPE html>
<html><head><title>Welcome to the guest network</title></head>
<body><h1>Please sign in</h1><form action="/login" method="post"><button>Accept the terms</button></form></body></html>
`
