import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJsonOrUndefined } from '../platform/core/json.ts'
import { type ControlContext, handleControl, isControl, type LoggedRequest } from './control.ts'
import { createFaultQueue, type Fault, sendWithFault } from './faults.ts'
import { createCloudGateway } from './gateways/cloud-gateway.ts'
import { createRateLimiter, type Gateway, type RateLimiter } from './gateways/gateway.ts'
import { createHyperdxGateway } from './gateways/hyperdx-gateway.ts'
import { createResponseWriter, type HttpResponse, headersOf, readRequest } from './http.ts'
import { createContext, type EmulatorOptions, type ServerVariant } from './options.ts'
import { runAlertTask } from './product/alerts.ts'
import { type Restore, restoreBackup } from './restore.ts'
import { demo } from './shop/demo.ts'
import { findService, type Service, type Store } from './store.ts'
import { createWebApp, type WebApp } from './web-app.ts'

export interface Emulator extends WebApp {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string
  /** Every request received, in order. Requests that control the emulator are left out. */
  readonly requests: readonly LoggedRequest[]
  /** The live state. Writing to it changes the responses of the API. */
  readonly store: Store
  /** Throws when the fault is invalid. */
  addFault(fault: Fault): void
  clearFaults(): void
  /** Creates a service from a backup, with the data of that time. Throws for an unknown service or backup. */
  restoreBackup(restore: Restore): Service
  /**
   * Evaluates the alerts of a service as the server's alert task does, for their last whole windows before this time, in milliseconds. The
   * results are `state` and `executionErrors` of each alert. Raw SQL and formulas are not evaluated.
   */
  runAlertTask(nowMs: number, serviceId?: string): void
  /** Restores data and ids, empties log, faults and rate limits, and aborts open requests. */
  reset(): void
  /** Ends every connection, open requests included, and drops late commits. */
  close(): Promise<void>
}

/** Starts the API as a real HTTP server. Rejects when the port is taken. */
export const startEmulator = (options: EmulatorOptions = {}): Promise<Emulator> => startVariantOf(options, {})

/** Starts a server that differs from the recorded product. */
export async function startVariantOf(options: EmulatorOptions, variant: ServerVariant): Promise<Emulator> {
  const context = createContext(options, variant)
  const { settings, store } = context
  const requests: WritableLog[] = []
  const faults = createFaultQueue()
  const isSelfHosted = settings.dialect === 'hyperdx'
  const limiter = settings.rateLimit && createRateLimiter(settings.rateLimit, context.settings.now, isSelfHosted)
  let lifetime = new AbortController()
  const reset = (): void => {
    lifetime.abort()
    lifetime = new AbortController()
    context.reset()
    requests.length = 0
    faults.clear()
    limiter?.reset()
  }
  const gateway = isSelfHosted ? createHyperdxGateway(settings) : createCloudGateway(settings)
  const server = createHttpServer({ context, requests, faults, reset, limiter, gateway, signal: () => lifetime.signal })
  server.listen(settings.port, host)
  await once(server, 'listening')
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`, // It listens on a port, not on a pipe.
    requests,
    store,
    addFault: faults.add,
    restoreBackup: (restore) => restoreBackup(context, restore),
    clearFaults: faults.clear,
    ...createWebApp(context),
    runAlertTask: (nowMs, serviceId = demo.services.checkout) => runAlertTask(findService(store, serviceId), nowMs),
    reset,
    async close() {
      lifetime.abort()
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const host = '127.0.0.1'

type WritableLog = { -readonly [Field in keyof LoggedRequest]: LoggedRequest[Field] }

interface ServerContext extends ControlContext {
  readonly requests: WritableLog[]
  readonly gateway: Gateway
  readonly limiter: RateLimiter | undefined
  /** Aborted when the emulator is reset or closed, so that nothing that waits goes on after that. */
  readonly signal: () => AbortSignal
}

const createHttpServer = (server: ServerContext) =>
  createServer((request, response) => {
    const handled = isControl(request.url ?? '') ? serveControl(server, request, response) : serveApi(server, request, response)
    handled.catch((cause: unknown) => abandon(response, cause))
  })

async function serveControl(server: ServerContext, request: IncomingMessage, response: ServerResponse) {
  const writer = createWriter(server, request, response)
  writer.send(handleControl(server, await readRequest(request, server.gateway.maxBodyBytes)))
}

/** One request from its arrival to its response: log, fault, rate limit, API. */
async function serveApi(server: ServerContext, incoming: IncomingMessage, outgoing: ServerResponse) {
  const { context, requests, faults, limiter, gateway } = server
  const identity = gateway.identify(context, incoming.headers.authorization)
  const { method = '', url: path = '' } = incoming
  const headers = { ...headersOf(incoming), authorization: identity.credentials }
  const entry: WritableLog = { method, path, headers, body: undefined, text: '', status: undefined, arrivedAtMs: context.settings.now() }
  requests.push(entry)
  const fault = faults.take(method, path)
  const writer = createWriter(server, incoming, outgoing, entry)
  const request = await readRequest(incoming, gateway.maxBodyBytes)
  entry.text = request.text
  entry.body = parseJsonOrUndefined(request.text)
  const quota = gateway.isLimited(request) ? limiter?.take(identity.keyId) : undefined
  const limitHeaders = quota === undefined ? {} : gateway.toLimitHeaders(quota)
  const handle = (): HttpResponse => {
    const response = quota?.isExceeded ? gateway.toTooManyRequests() : gateway.handle(context, request, identity)
    return { ...response, headers: { ...response.headers, ...limitHeaders } }
  }
  if (fault === undefined) writer.send(handle())
  else await sendWithFault(fault, { writer, gateway, ids: context.ids, method, handle, limitHeaders })
}

function createWriter({ context, signal }: ServerContext, request: IncomingMessage, response: ServerResponse, entry?: WritableLog) {
  const logStatus = (status: number): void => void (entry && Object.assign(entry, { status }))
  return createResponseWriter(request, response, { now: context.settings.now, logStatus, signal: signal() })
}

function abandon(response: ServerResponse, cause: unknown) {
  // A response is not expected any more after a reset, or when the client or the emulator has gone.
  const isExpected = response.destroyed || (cause instanceof Error && cause.name === 'AbortError')
  if (isExpected || response.headersSent) response.destroy()
  else
    response
      .writeHead(500, { 'content-type': 'text/plain' })
      .end(
        `Internal error: ${String(cause)}. This is a bug in the emulator. Report it at https://github.com/watchkeeper/watchkeeper/issues.`,
      )
}
