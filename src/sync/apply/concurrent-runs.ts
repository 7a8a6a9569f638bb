// Two runs of a project at the same time can both create an object: the API has no lock, and markers are not unique. The run that creates later
// sees both objects when it verifies its writes, and fails. docs/decisions/concurrent-runs.md has the limits.

import type { Body, KindIdentity, StoredObject } from '../../kinds/kind.ts'
import type { KindName } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import type { SendOptions } from '../../platform/api/call.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import type { Clock } from '../../platform/core/clock.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { indexStored, type StoredIndex, type StoredIndexes } from '../plan/stored-objects.ts'

export const concurrentRunsPage = 'https://github.com/watchkeeper/watchkeeper/blob/main/docs/help.md#two-runs-at-the-same-time'

export class CreatedByOtherRunError extends WatchkeeperError {
  readonly found: StoredObject

  constructor({ label }: KindIdentity, found: StoredObject) {
    const what = `Another run created this ${label} at the same time (${found.id}), so this run stopped and did not create it again`
    super('conflict', `${what}. Run apply again. See ${concurrentRunsPage}`)
    this.found = found
  }
}

interface ConcurrentRunsOptions {
  readonly api: ReadApi
  readonly service: Target
  readonly kinds: Kinds
  readonly clock: Clock
  /** The lists that the plan was made of. */
  readonly lists: StoredIndexes
  /** On the monotonic clock. */
  readonly listedAtMs: number
}

interface Creation {
  readonly kind: KindName
  readonly desired: Body
  /** An object that the new one replaces, which has the same marker. */
  readonly replacedId?: string | undefined
  /** Nothing is sent after it. */
  readonly notAfter?: AbortSignal | undefined
}

export type ConcurrentRuns = ReturnType<typeof createConcurrentRuns>

type Send = (options: SendOptions) => Promise<StoredObject>

interface Listed {
  readonly list: StoredIndex
  readonly atMs: number
  /** The number of its request; 0 for a list that was read for something else. */
  readonly request: number
}

export const isNotSent = (thrown: unknown): boolean =>
  thrown instanceof WatchkeeperError && !(thrown instanceof ApiError) && thrown.kind === 'canceled'

export function createConcurrentRuns(options: ConcurrentRunsOptions) {
  const { api, service, kinds, clock } = options
  const known = new Map<string, Listed>()
  const reading = new Map<KindName, Promise<void>>()
  let requests = 0

  function learnAt(lists: StoredIndexes, atMs: number, request = 0): void {
    for (const [name, list] of Object.entries(lists)) known.set(name, { list, atMs, request })
  }
  learnAt(options.lists, options.listedAtMs)

  const isTooOld = (kind: KindName): boolean => clock.monotonicMs() - (known.get(kind)?.atMs ?? Number.NEGATIVE_INFINITY) > 10_000

  function readAgain(kind: KindName): Promise<void> {
    const running = reading.get(kind)
    if (running !== undefined) return running
    const request = ++requests
    const read = kinds[kind].collection
      .list(api, service)
      .then(({ items, mayBeCut }) => learnAt({ [kind]: indexStored(items, kinds[kind], mayBeCut) }, clock.monotonicMs(), request))
      .finally(() => reading.delete(kind))
    reading.set(kind, read)
    return read
  }

  /** In a list that is not too old, and of a later request than `after`. */
  async function find({ kind, desired, replacedId }: Creation, after = -1): Promise<StoredObject | undefined> {
    while (isTooOld(kind) || (known.get(kind)?.request ?? 0) <= after) await readAgain(kind)
    const marked = known.get(kind)?.list.byToken.get(kinds[kind].tokenOf(desired)) ?? []
    return marked.find(({ stored }) => stored.id !== replacedId)?.stored
  }

  /** Throws a CreatedByOtherRunError when there is another object with the marker. */
  async function demandAbsent(creation: Creation): Promise<void> {
    const found = await find(creation)
    if (found !== undefined) throw new CreatedByOtherRunError(kinds[creation.kind], found)
  }

  /** If the rate limit rejects it, resolves to the number of the last request: only a later list shows whether it was stored. */
  async function sendOnce(
    { notAfter }: Creation,
    send: Send,
  ): Promise<{ readonly created: StoredObject } | { readonly rejectedAfter: number }> {
    const rejected = new AbortController()
    let rejectedAfter = 0
    const onRejected = (): void => {
      rejectedAfter = requests
      rejected.abort()
    }
    const signals = [rejected.signal, ...(notAfter === undefined ? [] : [notAfter])]
    try {
      return { created: await send({ notAfter: AbortSignal.any(signals), onRejected }) }
    } catch (thrown) {
      if (!rejected.signal.aborted || notAfter?.aborted || !isNotSent(thrown)) throw thrown
      return { rejectedAfter }
    }
  }

  return {
    demandAbsent,
    /** Calls `send` after `demandAbsent`. Resolves to the object of an attempt that was stored although the rate limit rejected it. */
    async create(creation: Creation, send: Send): Promise<StoredObject> {
      let rejectedAfter: number | undefined
      for (;;) {
        const found = await find(creation, rejectedAfter)
        // A server, or a gateway before it, can store the object and reject the request.
        if (found !== undefined && rejectedAfter !== undefined) return found
        if (found !== undefined) throw new CreatedByOtherRunError(kinds[creation.kind], found)
        const sent = await sendOnce(creation, send)
        if ('created' in sent) return sent.created
        rejectedAfter = sent.rejectedAfter
      }
    },
    /** Takes lists that were read just now for another purpose. */
    learn: (lists: StoredIndexes): void => learnAt(lists, clock.monotonicMs()),
  }
}
