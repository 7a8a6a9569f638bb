// Owns the emulator of a benchmark, in a process of its own: what the server does is not what is measured.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { EmulatorOptions } from '../src/emulator/index.ts'

export interface Server {
  readonly url: string
  /** Requests since the start, or since the last time that somebody asked. */
  takeRequestCount(): Promise<number>
}

/** Starts one that keeps no rate limit, hands it over, and ends it whatever comes. */
export async function withServer<T>(use: (server: Server) => Promise<T>, options: EmulatorOptions = {}): Promise<T> {
  const settings = JSON.stringify({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1_000_000, windowMs: 1000 }, ...options })
  const child = fork(new URL('./server-process.ts', import.meta.url), [settings])
  const ask = async (): Promise<unknown> => {
    const answered = Promise.race([once(child, 'message'), once(child, 'exit').then(() => Promise.reject(new Error('the emulator ended')))])
    child.send('how many?')
    return (await answered)[0]
  }
  try {
    const [url] = (await once(child, 'message')) as [string]
    return await use({ url, takeRequestCount: async () => Number(await ask()) })
  } finally {
    child.kill()
  }
}
