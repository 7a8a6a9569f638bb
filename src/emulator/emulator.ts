import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createContext } from './context.ts'
import { createFaultQueue } from './fault-queue.ts'
import type { Fault } from './faults.ts'
import { createCloudGateway } from './gateways/cloud-gateway.ts'
import { createHyperdxGateway } from './gateways/hyperdx-gateway.ts'
import type { EmulatorOptions } from './options.ts'
import { createRateLimiter } from './rate-limit.ts'
import { createRequestLog, type LoggedRequest } from './request-log.ts'
import { createServer } from './server.ts'
import type { Dashboard, Store } from './store.ts'
import { saveInWebApp, type WebAppDashboard } from './web-app.ts'

export interface Emulator {
  /** `http://127.0.0.1:PORT`, without a slash at its end. */
  readonly url: string
  /** Every request received, in order; those that control the emulator are left out. */
  readonly requests: readonly LoggedRequest[]
  /** The state as it is. Writing to it changes what the API answers. */
  readonly store: Store
  /** Throws on a fault that is not one. */
  addFault(fault: Fault): void
  clearFaults(): void
  /**
   * Stores a dashboard as the web app does: nothing is validated, and it may hold what the API does not show, such as PromQL tiles.
   * The service is the demo's `checkout` unless given by its id. Returns what is stored.
   */
  saveInWebApp(dashboard: WebAppDashboard, serviceId?: string): Dashboard
  /** From now on the server fills in unknown defaults, chosen by the seed; `undefined` for none. See the option of this name. */
  setUnknownDefaults(seed: number | undefined): void
  /** State, ids, defaults and clock as at the start; log, faults and rate limits empty. Answers under way are broken off. */
  reset(): void
  /** Ends every connection, also one that is being answered, and forgets what was still to be committed. */
  close(): Promise<void>
}

/** Starts the API as a real HTTP server. Rejects when the port is taken. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const context = createContext(options)
  const { settings, store } = context
  const log = createRequestLog()
  const faults = createFaultQueue()
  const isSelfHosted = settings.dialect === 'hyperdx'
  const limiter = settings.rateLimit && createRateLimiter(settings.rateLimit, context.clock.now, isSelfHosted)
  let life = new AbortController()
  const reset = (): void => {
    life.abort()
    life = new AbortController()
    context.reset()
    log.reset()
    faults.clear()
    limiter?.reset()
  }
  const gateway = isSelfHosted ? createHyperdxGateway(settings) : createCloudGateway(settings)
  const server = createServer({ context, log, faults, reset, limiter, gateway, signal: () => life.signal })
  server.listen(settings.port, settings.host)
  await once(server, 'listening')
  return {
    url: toUrl(server.address() as AddressInfo),
    requests: log.requests,
    store,
    addFault: faults.add,
    clearFaults: faults.clear,
    saveInWebApp: (dashboard, serviceId) => saveInWebApp(context, dashboard, serviceId),
    setUnknownDefaults(seed) {
      context.unknownDefaults = seed
    },
    reset,
    async close() {
      life.abort()
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const toUrl = ({ address, family, port }: AddressInfo): string => `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
