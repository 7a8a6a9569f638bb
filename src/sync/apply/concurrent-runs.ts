// Two runs of a project at the same time can both create an object: the API has no lock, and markers are not unique. A run that comes later sees
// the object of the other one in its list, and a run that came earlier sees it in its verification. Only a create by an old list, sent after the
// verification of the other run, would stay unseen there. So every create is sent soon after the answer to a list without the object, and the
// verification begins when no such list can be in use any more. docs/decisions/0015-runs-at-the-same-time.md has the proof and its limits.

import { ApiError } from '../../api/api-error.ts'
import type { ReadApi } from '../../api/client.ts'
import type { SendOptions } from '../../api/collection.ts'
import type { Target } from '../../api/path.ts'
import type { Clock } from '../../core/clock.ts'
import { WatchkeeperError } from '../../core/errors.ts'
import { keysOf } from '../../core/keys.ts'
import type { Body, RemoteObject, ResourceType } from '../../resources/resource-type.ts'
import type { ResourceTypes } from '../../resources/resource-types.ts'
import type { Section } from '../../resources/section.ts'

/** What to know about two runs at the same time. */
export const concurrentRunsPage =
  'https://github.com/watchkeeper/watchkeeper/blob/main/docs/faq.md#is-it-safe-to-run-it-twice-or-at-the-same-time'

/** A create is sent at most this long after the answer to the list that does not have the object. */
const maxListAgeMs = 500

/** The verification begins at least this long after the last create. The second half is for the ways of the requests of another run. */
const settleMs = 2 * maxListAgeMs

/** Another run has created the object since this run made its plan. */
export class CreatedByOtherRunError extends WatchkeeperError {
  readonly found: RemoteObject

  constructor({ noun }: Pick<ResourceType, 'noun'>, found: RemoteObject) {
    const what = `Another run created this ${noun} at the same time (${found.id}), so this run stopped and did not create it again`
    super('conflict', `${what}. Run apply again. See ${concurrentRunsPage}`)
    this.found = found
  }
}

type Lists = Readonly<Partial<Record<Section, { readonly items: readonly RemoteObject[] }>>>

interface ConcurrentRunsOptions {
  readonly api: ReadApi
  readonly service: Target
  readonly types: ResourceTypes
  readonly clock: Clock
  readonly stop: AbortSignal
  /** The lists that the plan was made of. */
  readonly lists: Lists
  /** When they were answered, on the monotonic clock. */
  readonly listedAtMs: number
}

interface Creation {
  readonly section: Section
  readonly desired: Body
  /** The object that this one replaces has the same marker. */
  readonly replacedId?: string | undefined
  /** Once it is aborted, nothing is sent any more. */
  readonly notAfter?: AbortSignal | undefined
}

export interface ConcurrentRuns {
  /** Reads the list again when it is too old. Throws a CreatedByOtherRunError when it has another object with the marker. */
  demandAbsent(creation: Creation): Promise<void>
  /**
   * Calls `send` after `demandAbsent`, with a signal that is also aborted when the list is too old for the create to be sent. Resolves to
   * the object of an earlier attempt, where that was stored although the rate limit rejected it.
   */
  create(creation: Creation, send: Send): Promise<RemoteObject>
  /** Takes lists that were answered just now. */
  learn(lists: Lists): void
  /** Waits until no other run can create what this one created by a list without it. Rejects when the run is canceled. */
  settle(): Promise<void>
}

type Send = (options: SendOptions) => Promise<RemoteObject>

/** `rejectedAfter`: the last request for a list that was sent before the rate limit rejected the create. */
type Sent = { readonly created: RemoteObject } | { readonly rejectedAfter: number | undefined }

interface Listed {
  readonly byToken: ReadonlyMap<string | undefined, readonly RemoteObject[]>
  readonly atMs: number
  /** The number of its request; 0 for a list that was read for something else. */
  readonly request: number
}

const isNotSent = (thrown: unknown): boolean =>
  thrown instanceof WatchkeeperError && !(thrown instanceof ApiError) && thrown.kind === 'canceled'

export function createConcurrentRuns(options: ConcurrentRunsOptions): ConcurrentRuns {
  const { api, service, types, clock, stop } = options
  const known = new Map<Section, Listed>()
  const reading = new Map<Section, Promise<void>>()
  let requests = 0
  let lastCreateMs: number | undefined

  function learnAt(lists: Lists, atMs: number, request = 0): void {
    for (const section of keysOf<Section>(lists)) {
      const type = types[section]
      known.set(section, { byToken: Map.groupBy(lists[section]?.items ?? [], (one) => type.tokenOf(type.toBody(one))), atMs, request })
    }
  }
  learnAt(options.lists, options.listedAtMs)

  const remainingMs = (section: Section): number =>
    (known.get(section)?.atMs ?? Number.NEGATIVE_INFINITY) + maxListAgeMs - clock.monotonicMs()

  /** One request for all creates that wait for it. */
  function readAgain(section: Section): Promise<void> {
    const running = reading.get(section)
    if (running !== undefined) return running
    const request = ++requests
    const read = types[section].collection
      .list(api, service)
      .then((list) => learnAt({ [section]: list }, clock.monotonicMs(), request))
      .finally(() => reading.delete(section))
    reading.set(section, read)
    return read
  }

  /** The object with the marker, in a list that is not too old, and of a later request than `after`. */
  async function find({ section, desired, replacedId }: Creation, after = -1): Promise<RemoteObject | undefined> {
    while (remainingMs(section) <= 0 || (known.get(section)?.request ?? 0) <= after) await readAgain(section)
    const marked = known.get(section)?.byToken.get(types[section].tokenOf(desired))
    return marked?.find(({ id }) => id !== replacedId)
  }

  async function demandAbsent(creation: Creation): Promise<void> {
    const found = await find(creation)
    if (found !== undefined) throw new CreatedByOtherRunError(types[creation.section], found)
  }

  /** Resolves without an object when nothing was sent before the list became too old, or when the rate limit rejected what was sent. */
  async function sendWhileListed({ section, notAfter }: Creation, send: Send): Promise<Sent> {
    const rejected = new AbortController()
    const tooOld = clock.timeout(Math.max(1, Math.ceil(remainingMs(section))))
    let rejectedAfter: number | undefined
    const onRejected = (): void => {
      rejectedAfter = requests
      rejected.abort()
    }
    const ends = AbortSignal.any([tooOld, rejected.signal])
    try {
      return { created: await send({ notAfter: AbortSignal.any(notAfter === undefined ? [ends] : [ends, notAfter]), onRejected }) }
    } catch (thrown) {
      if (!ends.aborted || notAfter?.aborted || !isNotSent(thrown)) throw thrown
      return { rejectedAfter }
    } finally {
      lastCreateMs = clock.monotonicMs()
    }
  }

  return {
    demandAbsent,
    async create(creation, send) {
      let rejectedAfter: number | undefined
      for (;;) {
        const found = await find(creation, rejectedAfter)
        // A server, or a gateway before it, can store the object and reject the request.
        if (found !== undefined && rejectedAfter !== undefined) return found
        if (found !== undefined) throw new CreatedByOtherRunError(types[creation.section], found)
        const sent = await sendWhileListed(creation, send)
        if ('created' in sent) return sent.created
        rejectedAfter = sent.rejectedAfter ?? rejectedAfter
      }
    },
    learn: (lists) => learnAt(lists, clock.monotonicMs()),
    async settle() {
      const waitMs = (lastCreateMs ?? Number.NEGATIVE_INFINITY) + settleMs - clock.monotonicMs()
      if (waitMs > 0) await clock.sleep(waitMs, stop)
    },
  }
}
