// An API session against an emulator, on a clock that never waits.

import { demo, type Emulator, type Fault } from '../../src/emulator/index.ts'
import { ApiError } from '../../src/platform/api/api-error.ts'
import { type ApiConnection, type ApiSession, openApi } from '../../src/platform/api/client.ts'
import { profileNamed } from '../../src/platform/api/profiles.ts'
import type { Clock } from '../../src/platform/core/clock.ts'
import { createVirtualClock, type VirtualClock } from './clocks.ts'

export interface TestSession extends ApiSession {
  readonly clock: VirtualClock
  readonly notes: readonly string[]
  /** Aborted by `stop`. */
  readonly stopSignal: AbortSignal
  /** As a first signal does. */
  stop(): void
  /** As the end of the grace after it does. */
  abort(): void
}

const cloud = profileNamed('clickhouse-cloud')

export const service = { organizationId: demo.organizationId, serviceId: demo.services.checkout }

export function openSession(
  url: string,
  more: Partial<ApiConnection> = {},
  clock: VirtualClock | Clock = createVirtualClock(Date.now()),
): TestSession {
  const notes: string[] = []
  const [stop, abort] = [new AbortController(), new AbortController()]
  const connection: ApiConnection = {
    baseUrl: new URL(url),
    profile: cloud,
    observabilityPath: cloud.observabilityPath,
    credentials: { keyId: demo.apiKeyId, keySecret: demo.apiKeySecret },
    proxy: {},
    sqlFunctions: [],
    maxAttempts: 5,
    deadlineMs: 600_000,
    ...more,
  }
  const cancellation = { stop: stop.signal, abort: abort.signal }
  const session = openApi(connection, {
    clock,
    random: () => 0.5,
    note: (line) => notes.push(line),
    cancellation,
    hideUrls: () => undefined,
  })
  return { ...session, clock: clock as VirtualClock, notes, stopSignal: stop.signal, stop: () => stop.abort(), abort: () => abort.abort() }
}

interface SessionOptions {
  readonly faults?: readonly Fault[]
  readonly connection?: Partial<ApiConnection>
}

/** Opens a session, hands it over, and closes it whatever comes. */
export async function withSession<T>(
  emulator: Emulator,
  use: (session: TestSession) => Promise<T>,
  { faults = [], connection = {} }: SessionOptions = {},
): Promise<T> {
  for (const fault of faults) emulator.addFault(fault)
  const session = openSession(emulator.url, connection)
  try {
    return await use(session)
  } finally {
    await session.close()
  }
}

/** The ApiError that it must end in. */
export async function apiErrorOf(use: Promise<unknown>): Promise<ApiError> {
  const thrown = await use.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  )
  if (thrown instanceof ApiError) return thrown
  throw thrown
}
