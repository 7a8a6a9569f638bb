// The emulator of a benchmark, in a process of its own: the server is not part of what is measured.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { EmulatorOptions } from '../src/emulator/index.ts'

export interface Server {
  readonly url: string
  /** Requests since the start, or since the last time that somebody asked. */
  takeRequestCount(): Promise<number>
}

export interface ServerOptions extends EmulatorOptions {
  /** Every answer comes so much later. */
  readonly latencyMs?: number
}

/** Starts one that keeps no rate limit, hands it over, and ends it whatever comes. */
export async function withServer<T>(use: (server: Server) => Promise<T>, options: ServerOptions = {}): Promise<T> {
  const settings = JSON.stringify({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1_000_000, windowMs: 1000 }, ...options })
  const child = fork(new URL('./server-process.ts', import.meta.url), [settings])
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the emulator ended by itself')))
  // A caller may wait for it.
  ended.catch(() => undefined)
  const next = async (): Promise<unknown> => (await Promise.race([once(child, 'message'), ended]))[0]
  const takeRequestCount = async (): Promise<number> => {
    const answer = next()
    child.send('how many?')
    return Number(await answer)
  }
  try {
    return await use({ url: String(await next()), takeRequestCount })
  } finally {
    child.kill()
  }
}
