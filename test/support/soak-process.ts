// Thousands of requests in one process, on a clock that does not wait: is memory flat, is the rate limit kept, and does it end?
// Started with --expose-gc by soak.test.ts; says what it found as one line of JSON and ends by itself.
import { type LoggedRequest, startEmulator } from '../../src/emulator/index.ts'
import { alertCollection } from '../../src/kinds/alert/alert.ts'
import { sourceCollection } from '../../src/kinds/source/source-wire.ts'
import { createVirtualClock } from './clocks.ts'
import { openSession, service } from './session.ts'

export interface Soak {
  readonly requests: number
  readonly refused: number
  /** Megabytes after a collection, once for each tenth. */
  readonly heap: readonly number[]
  readonly elapsedSeconds: number
  /** What kept the event loop alive when all was closed. */
  readonly resources: readonly string[]
}

const wanted = Number(process.argv[2])
// The limits of requests count real seconds: thousands of them would still be ticking at the end, and be memory that is not lost.
const clock = { ...createVirtualClock(Date.now()), timeout: () => new AbortController().signal }
const emulator = await startEmulator({ rateLimit: 'off', now: clock.now })
const log = emulator.requests as LoggedRequest[]
const session = openSession(emulator.url, { deadlineMs: 1_000_000_000 }, clock)
const { api } = session
const [dashboard] = emulator.store.organizations[0]?.services[0]?.dashboards ?? []
const [webhook] = emulator.store.organizations[0]?.services[0]?.webhooks ?? []

const heap: number[] = []
let [requests, refused] = [0, 0]

/** What was logged is counted and forgotten: the log is the server's memory, not the client's. */
function count(): void {
  requests += log.length
  refused += log.filter(({ status }) => status === 429).length
  log.length = 0
}

const alert = {
  source: 'tile',
  dashboardId: dashboard?.id,
  tileId: dashboard?.tiles[0]?.id,
  threshold: 5,
  thresholdType: 'above',
  interval: '1h',
}
const channel = { type: 'webhook', webhookId: webhook?.id }

for (let turn = 0; requests < wanted; turn++) {
  if (turn % 40 === 0) emulator.addFault({ nth: 3, effect: turn % 80 === 0 ? { kind: 'reset' } : { kind: 'status', status: 503 } })
  await sourceCollection.list(api, service)
  if (turn % 4 === 0) {
    const made = await alertCollection.create(api, service, { ...alert, channel, name: `Soak ${turn}` }).catch(() => undefined)
    if (made !== undefined)
      await alertCollection.update(api, service, { id: made.id, compose: () => ({ ...alert, channel, name: 'Soaked' }) })
    for (const { id, name } of (await alertCollection.list(api, service)).items)
      if (name?.startsWith('Soak')) await alertCollection.remove(api, service, id)
  }
  count()
  if (requests >= ((heap.length + 1) * wanted) / 10) {
    emulator.clearFaults()
    // What only finalizers let go of is gone with the second collection.
    for (let i = 0; i < 3; i++) {
      globalThis.gc?.()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    heap.push(process.memoryUsage().heapUsed / 1024 / 1024)
  }
}
await session.close()
await emulator.close()
// Handles take a moment to be gone.
await new Promise((resolve) => setTimeout(resolve, 100))
const result: Soak = { requests, refused, heap, elapsedSeconds: clock.elapsedMs() / 1000, resources: process.getActiveResourcesInfo() }
process.stdout.write(`${JSON.stringify(result)}\n`)
