import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Answer, Headers } from './answer.ts'
import { answerControl, type Control, isControl } from './control.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { applyFault } from './fault-effects.ts'
import type { Gateway } from './gateways/gateway.ts'
import { receive } from './incoming.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { LogEntry } from './request-log.ts'

export interface ServerParts extends Control {
  readonly gateway: Gateway
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
  // A client that left, a reset or the end of the emulator: there is no one to answer.
  const isExpected = response.destroyed || (thrown instanceof Error && thrown.name === 'AbortError')
  if (isExpected || response.headersSent) response.destroy()
  else response.writeHead(500, { 'content-type': 'text/plain' }).end(`This is a bug in the emulator, please report it: ${String(thrown)}`)
}

async function serveControl(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const exchange = open(parts, request, response)
  exchange.send(answerControl(parts, await receive(request, parts.gateway.longestBody)))
}

/** One request from its arrival to its answer, through log, fault, rate limit and API. */
async function serve(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { context, log, faults, limiter, gateway } = parts
  const arrivedAtMs = context.clock.now()
  const identity = gateway.identify(context, request.headers.authorization)
  const entry = log.open(request, identity.credentials, arrivedAtMs)
  const fault = faults.take(request.method ?? '', request.url ?? '')
  const exchange = open(parts, request, response, entry)
  const incoming = await receive(request, gateway.longestBody)
  entry.receive(incoming)
  const quota = gateway.isLimited(incoming) ? limiter?.take(identity.keyId) : undefined
  const ownHeaders = quota === undefined ? {} : gateway.toLimitHeaders(quota)
  const act = (): Answer =>
    withHeaders(quota?.isExceeded ? gateway.toTooManyRequests() : gateway.answer(context, incoming, identity), ownHeaders)
  if (fault === undefined) exchange.send(act())
  else await applyFault(fault, { exchange, gateway, ids: context.ids, method: incoming.method, act, ownHeaders })
}

function open({ context, signal }: ServerParts, request: IncomingMessage, response: ServerResponse, entry?: LogEntry): Exchange {
  const acceptsGzip = isGzipAccepted(String(request.headers['accept-encoding'] ?? ''))
  return createExchange({ response, acceptsGzip, now: context.clock.now, logStatus: (status) => entry?.answer(status), signal: signal() })
}

const isGzipAccepted = (header: string): boolean =>
  header.split(',').some((coding) => /^\s*(gzip|\*)\s*(;|$)/i.test(coding) && !/;\s*q=0(\.0*)?\s*$/i.test(coding))

const withHeaders = (answer: Answer, headers: Headers): Answer => ({ ...answer, headers: { ...answer.headers, ...headers } })
