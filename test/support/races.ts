// Several runs against one service at the same time, on a clock that never waits. Each request takes as long as a seed says, so that the same
// seed gives the same order of requests.
import type { RequestRules } from '../../src/platform/api/call.ts'
import type { WriteApi } from '../../src/platform/api/client.ts'
import type { Clock } from '../../src/platform/core/clock.ts'
import { createVirtualClock } from './clocks.ts'

/** What a request goes through, in milliseconds. */
export interface Network {
  /** Before it is sent, as for a rate limit. */
  waitMs(): number
  /** One way, to the server or back. */
  latencyMs(): number
}

export interface Race {
  readonly clock: Clock
  /** The API as a run sees it through such a network. */
  through(network: Network): (api: WriteApi) => WriteApi
}

/** So many turns of the event loop without a request under way mean that every run waits for the clock. */
const quietTurns = 4

export function createRace(): Race {
  let underWay = 0
  const pause = async (): Promise<void> => {
    for (let quiet = 0; quiet < quietTurns; quiet = underWay === 0 ? quiet + 1 : 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const virtual = createVirtualClock(Date.parse('2026-03-31T12:00:00Z'), pause)
  const clock: Clock = {
    ...virtual,
    timeout(ms) {
      const controller = new AbortController()
      void virtual.sleep(ms).then(() => controller.abort())
      return controller.signal
    },
  }
  const count = async <T>(send: () => Promise<T>): Promise<T> => {
    underWay += 1
    try {
      return await send()
    } finally {
      underWay -= 1
    }
  }
  return {
    clock,
    through: ({ waitMs, latencyMs }) => {
      const delayed =
        <Call extends { readonly rules?: RequestRules<unknown> | undefined }, T>(send: (call: Call) => Promise<T>) =>
        async (call: Call): Promise<T> => {
          const wait = waitMs()
          if (wait > 0) await clock.sleep(wait)
          // The client itself says that it is not sent any more.
          if (call.rules?.notAfter?.aborted) return count(() => send(call))
          await clock.sleep(latencyMs())
          const answer = await count(() => send({ ...call, rules: { ...call.rules, notAfter: undefined } }))
          await clock.sleep(latencyMs())
          return answer
        }
      return (api) => ({ ...api, read: delayed(api.read) as WriteApi['read'], write: delayed(api.write) as WriteApi['write'] })
    },
  }
}
