import { tilesNamed, withTileIds } from '../../kinds/dashboard/tiles.ts'
import { type Body, type KeptTiles, listOf, type StoredObject } from '../../kinds/kind.ts'
import type { KindName } from '../../kinds/kind-names.ts'
import { hasPendingId, type PendingId, replacePending } from '../../kinds/name-index.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import { type ErrorKind, WatchkeeperError } from '../../platform/core/errors.ts'
import { type Change, isSuccess, type Outcome } from '../decide/change.ts'

const maxConsecutiveFailures = 5

/** Only after `other-run`, which writes the same objects, and `failing` could another request succeed. */
export const stopReasons = ['denied', 'unreachable', 'unmarked', 'other-run', 'no-time', 'canceled', 'failing'] as const

export interface StopReason {
  readonly kind: (typeof stopReasons)[number]
  readonly message: string
}

const canceledStop: StopReason = { kind: 'canceled', message: 'the run was canceled' }

const stopsEverything: Readonly<Partial<Record<ErrorKind, StopReason>>> = {
  authentication: { kind: 'denied', message: 'the service does not accept the key' },
  permission: { kind: 'denied', message: 'the key lacks a permission' },
  'not-served': { kind: 'unreachable', message: 'the URL does not serve the API' },
  tls: { kind: 'unreachable', message: 'the certificate is not trusted' },
  redirect: { kind: 'unreachable', message: 'the API redirects to another address' },
  deadline: { kind: 'no-time', message: 'the time limit of the run is reached' },
  'rate-limited': { kind: 'no-time', message: 'the rate limit does not allow more requests in time' },
  canceled: canceledStop,
}

export const preventsReading = (stop: StopReason | undefined): boolean =>
  stop !== undefined && !['failing', 'unmarked', 'other-run'].includes(stop.kind)

/** Failures of the API rather than of the object. */
const apiFailureKinds: readonly ErrorKind[] = ['server', 'network', 'timeout', 'may-exist', 'bad-answer']

/** Undefined to continue. */
export function reasonToStop(outcomes: readonly Outcome[]): StopReason | undefined {
  const last = outcomes.at(-1)
  if (last === undefined) return undefined
  if (last.isUnmarked) return { kind: 'unmarked', message: 'the service does not store ownership markers' }
  if (last.isOfOtherRun) return { kind: 'other-run', message: 'another run applies the same project' }
  const stop = last.errorKind && stopsEverything[last.errorKind]
  if (stop !== undefined) return stop
  const recent = outcomes.slice(-maxConsecutiveFailures)
  const isFailing =
    recent.length === maxConsecutiveFailures && recent.every(({ errorKind }) => errorKind && apiFailureKinds.includes(errorKind))
  return isFailing
    ? { kind: 'failing', message: `the API is failing: ${maxConsecutiveFailures} objects in a row could not be written` }
    : undefined
}

export function failed(change: Change, thrown: unknown): Outcome {
  if (!(thrown instanceof WatchkeeperError)) throw thrown
  const outcomeUnknown = thrown instanceof ApiError && thrown.outcomeUnknown
  const message = outcomeUnknown ? withAdvice(thrown) : thrown.message
  return { change, became: outcomeUnknown ? 'unknown' : 'failed', id: change.id, message, errorKind: thrown.kind }
}

export function failedRecreation(change: Change, { cause }: Error): Outcome {
  const outcome = failed(change, cause)
  if (outcome.became === 'unknown') return outcome
  return {
    ...outcome,
    wasDeleted: true,
    message: `It was deleted and could not be created again. The next apply creates it. ${outcome.message}`,
  }
}

const advice = 'The server may have written it. Run apply again: it looks for the ownership marker first and creates nothing twice.'

/** A whole run can be repeated, other than a single request. */
function withAdvice({ message, advice: general }: ApiError): string {
  const [what = '', ...rest] = message.split('\n')
  return [what, advice, ...rest.filter((line) => line !== general)].join('\n')
}

/** The ids that become known while a plan is applied, also of tiles. */
export function createKnownIds() {
  const known = new Map<string, StoredObject & { readonly keptTiles?: KeptTiles | undefined }>()
  const idOf = ({ kind, key, tile }: PendingId): string | undefined => {
    const stored = known.get(`${kind} ${key}`)
    if (tile === undefined || stored === undefined) return stored?.id
    const found = tilesNamed(listOf(stored.tiles), tile, stored.keptTiles)
    const id = found[0]?.id
    return found.length === 1 && typeof id === 'string' ? id : undefined
  }
  return {
    learn({ kind, key, desired, keptTiles }: Change, stored: StoredObject | undefined): void {
      // No reference is about an object without a key.
      if (stored === undefined || key === '') return
      // Tiles have the names in the files, because a server may trim names.
      const tiles = desired === undefined ? listOf(stored.tiles) : withTileIds(listOf(desired.tiles), listOf(stored.tiles))
      known.set(`${kind} ${key}`, { ...stored, tiles, keptTiles })
    },
    /** The body with ids for all its references, or the first reference without one. */
    resolve(body: Body): { readonly body: Body } | { readonly waitsFor: PendingId } {
      let open: PendingId | undefined
      const replace = (pending: PendingId): unknown => {
        const id = idOf(pending)
        if (id === undefined) open ??= pending
        return id ?? pending
      }
      const resolved = hasPendingId(body) ? replacePending(body, replace) : body
      return open === undefined ? { body: resolved } : { waitsFor: open }
    },
  }
}

/** Called after each object that something was sent for; awaited before the next object. */
export type OnProgress = (outcomes: readonly Outcome[]) => Promise<void>

export type ApplyState = ReturnType<typeof createApplyState>

export function createApplyState(stop: AbortSignal, onProgress: OnProgress) {
  const outcomes = new Map<Change, Outcome>()
  /** In the order in which they ended. Their outcomes may be amended later. */
  const attempted: Change[] = []
  const ids = createKnownIds()

  /** Replaces an outcome after the service was read again. */
  function amend(outcome: Outcome): void {
    outcomes.set(outcome.change, outcome)
    if (isSuccess(outcome.became)) ids.learn(outcome.change, outcome.stored)
  }

  async function record(outcome: Outcome): Promise<void> {
    outcomes.delete(outcome.change)
    amend(outcome)
    // Thousands of objects may be skipped at once at the end.
    if (outcome.became === 'skipped' || outcome.became === 'unchanged' || outcome.became === 'held') return
    attempted.push(outcome.change)
    // The run halts before progress is reported, because an object under way may still succeed.
    if (stopped() !== undefined) halt.abort()
    await onProgress([...outcomes.values()])
  }

  let reason: StopReason | undefined
  const halt = new AbortController()
  const stopSignal: AbortSignal = halt.signal
  function stopped(): StopReason | undefined {
    reason ??= stop.aborted
      ? canceledStop
      : reasonToStop(attempted.slice(-maxConsecutiveFailures).flatMap((change) => outcomes.get(change) ?? []))
    return reason
  }

  return {
    record,
    amend,
    skip: (change: Change, message: string): Promise<void> => record({ change, became: 'skipped', id: change.id, message }),
    ...ids,
    outcomeOf: (change: Change): Outcome | undefined => outcomes.get(change),
    all: (): readonly Outcome[] => [...outcomes.values()],
    stopped,
    /** Aborted with the first reason to stop. */
    stopSignal,
    /** First, and after a failure: the key or the API may be wrong, or the server might not store the markers of the kind. */
    writesOneAtATime(kind: KindName): boolean {
      const last = attempted.findLast((change) => change.kind === kind)
      return last === undefined || !isSuccess(outcomes.get(last)?.became ?? 'failed')
    },
  }
}
