// Owns the emulator's life: start, faults, reset, close.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createFaultQueue } from './fault-queue.ts'
import type { Fault } from './faults.ts'
import type { EmulatorOptions } from './options.ts'
import { createRateLimiter } from './rate-limit.ts'
import { createRequestLog, type LoggedRequest } from './request-log.ts'
import { createRoutes } from './routes.ts'
import { createServer } from './server.ts'
import type { Store } from './store.ts'
import { createWorld } from './world.ts'

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
  /** State, ids and clock as at the start; log, faults and rate limits empty. Answers under way are broken off. */
  reset(): void
  /** Ends every connection, also one that is being answered, and forgets what was still to be committed. */
  close(): Promise<void>
}

/** Starts the API as a real HTTP server. Rejects when the port is taken. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const world = createWorld(options)
  const { settings, store } = world
  const log = createRequestLog()
  const faults = createFaultQueue()
  const limiter = settings.rateLimit && createRateLimiter(settings.rateLimit, world.clock.now)
  let life = new AbortController()
  const reset = (): void => {
    life.abort()
    life = new AbortController()
    world.reset()
    log.reset()
    faults.clear()
    limiter?.reset()
  }
  const server = createServer({ world, log, faults, reset, limiter, routes: createRoutes(settings), signal: () => life.signal })
  server.listen(settings.port, settings.host)
  await once(server, 'listening')
  return {
    url: toUrl(server.address() as AddressInfo),
    requests: log.requests,
    store,
    addFault: faults.add,
    clearFaults: faults.clear,
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
