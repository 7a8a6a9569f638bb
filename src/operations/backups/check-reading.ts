// Owns asking the API about the backups of several services: what one of them refuses is said of that one alone.
import type { Backup, BackupConfiguration } from '../../api/backups.ts'
import { type ErrorKind, toWatchkeeperError, type WatchkeeperError } from '../../kernel/errors.ts'
import type { Context } from '../operation.ts'

export type Tried<T> = { readonly value: T } | { readonly error: WatchkeeperError }

export interface ServiceReading {
  readonly serviceId: string
  readonly backups: Tried<readonly Backup[]>
  /** Undefined where nobody needs it, or the API has none. */
  readonly configuration: Tried<BackupConfiguration> | undefined
}

interface Wish {
  readonly serviceIds: readonly string[]
  readonly wantsConfiguration: boolean
}

/** Side by side, within the rate limit; in the order of the ids. Throws only what is no service's fault. */
export function readServices(
  { api, organizationId }: Pick<Context<'read', 'organization'>, 'api' | 'organizationId'>,
  { serviceIds, wantsConfiguration }: Wish,
): Promise<readonly ServiceReading[]> {
  return Promise.all(
    serviceIds.map(async (serviceId) => {
      const service = { organizationId, serviceId }
      const [backups, configuration] = await Promise.all([
        attempt(api.backups.list(service)),
        wantsConfiguration ? attempt(api.backupConfiguration.get(service)) : undefined,
      ])
      return { serviceId, backups, configuration }
    }),
  )
}

/** The user's wish, and our own mistakes: no answer about backups. */
const isNoAnswer: ReadonlySet<ErrorKind> = new Set(['cancelled', 'bug'])

async function attempt<T>(request: Promise<T>): Promise<Tried<T>> {
  try {
    return { value: await request }
  } catch (thrown) {
    const error = toWatchkeeperError(thrown)
    if (isNoAnswer.has(error.kind)) throw thrown
    return { error }
  }
}
