// Owns the HTTP server: one request from its arrival to its answer, through log, fault, rate limit and API.
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Answer, type Headers, tooManyRequests } from './answer.ts'
import { answerControl, type Control, isControl } from './control.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { applyFault } from './fault-effects.ts'
import { answerRequest } from './gateway.ts'
import { receive } from './incoming.ts'
import { identify } from './keys.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { LogEntry } from './request-log.ts'
import type { Route } from './route.ts'

export interface ServerParts extends Control {
  readonly routes: readonly Route[]
  readonly limiter: RateLimiter | undefined
  /** Aborted when the emulator is reset or closed: nothing that waits goes on after that. */
  readonly signal: () => AbortSignal
}

export const createServer = (parts: ServerParts): Server =>
  createHttpServer((request, response) => {
    const served = isControl(request.url ?? '') ? serveControl(parts, request, response) : serve(parts, request, response)
    served.catch((thrown: unknown) => giveUp(response, thrown))
  })

function giveUp(response: ServerResponse, thrown: unknown): void {
  // A client that left, a reset or the end of the emulator: nobody is left to answer.
  const isExpected = response.destroyed || (thrown instanceof Error && thrown.name === 'AbortError')
  if (isExpected || response.headersSent) response.destroy()
  else response.writeHead(500, { 'content-type': 'text/plain' }).end(`This is a bug in the emulator, please report it: ${String(thrown)}`)
}

async function serveControl(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const exchange = open(parts, request, response)
  exchange.send(answerControl(parts, await receive(request)))
}

async function serve(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { world, log, faults, limiter } = parts
  const arrivedAtMs = world.clock.now()
  const { credentials, keyId } = identify(world.store, request.headers.authorization, arrivedAtMs)
  const entry = log.open(request, credentials, arrivedAtMs)
  const fault = faults.take(request.method ?? '', request.url ?? '')
  const exchange = open(parts, request, response, entry)
  const incoming = await receive(request)
  entry.receive(incoming)
  const turn = limiter?.take(keyId)
  const ownHeaders = turn?.headers ?? {}
  const act = (): Answer =>
    withHeaders(turn?.allowed === false ? tooManyRequests() : answerRequest(world, parts.routes, incoming), ownHeaders)
  if (fault === undefined) exchange.send(act())
  else await applyFault(fault, { exchange, ids: world.ids, method: incoming.method, act, ownHeaders })
}

function open({ world, signal }: ServerParts, request: IncomingMessage, response: ServerResponse, entry?: LogEntry): Exchange {
  const acceptsGzip = isGzipAccepted(String(request.headers['accept-encoding'] ?? ''))
  return createExchange({ response, acceptsGzip, now: world.clock.now, logStatus: (status) => entry?.answer(status), signal: signal() })
}

const isGzipAccepted = (header: string): boolean =>
  header.split(',').some((coding) => /^\s*(gzip|\*)\s*(;|$)/i.test(coding) && !/;\s*q=0(\.0*)?\s*$/i.test(coding))

const withHeaders = (answer: Answer, headers: Headers): Answer => ({ ...answer, headers: { ...answer.headers, ...headers } })
