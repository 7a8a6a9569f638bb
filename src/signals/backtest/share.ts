import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import type { ReadSeries } from './estimate.ts'
import type { Refusal } from './read-rows.ts'
import type { SeriesRequest, SeriesRow } from './series-api.ts'

type Read = Awaited<ReturnType<ReadSeries>>

interface Waiting {
  readonly request: SeriesRequest
  readonly resolve: (read: Read | Promise<Read>) => void
}

interface SharingOptions {
  /** The most series in a request. */
  readonly maxItems: number
  /** Whether the series of a request must have one source. */
  readonly hasOneSource: boolean
  /** Why nothing more is sent; undefined where it may be. */
  readonly refuse: () => Refusal | undefined
}

const maxConcurrent = 4

/**
 * Sends series of several queries in one request where these ask for the same windows and groups at the same time. The error of a request does
 * not say which series is broken, so that each query is then sent by itself.
 */
export function shareRequests(read: ReadSeries, { maxItems, hasOneSource, refuse }: SharingOptions): ReadSeries {
  let waiting: Waiting[] = []
  const readUnlessLate: ReadSeries = async (request) => refuse() ?? read(request)
  const keyOf = ({ request: { series, fromMs, untilMs, granularity } }: Waiting): string =>
    JSON.stringify([fromMs, untilMs, granularity, series[0]?.groupBy, hasOneSource && series[0]?.sourceId])

  function toPacks(): readonly (readonly Waiting[])[] {
    const packs: Waiting[][] = []
    for (const alike of Map.groupBy(waiting, keyOf).values()) {
      let room = 0
      for (const one of alike) {
        const { length } = one.request.series
        if (length > room) [room] = [maxItems, packs.push([])]
        room -= length
        packs.at(-1)?.push(one)
      }
    }
    return packs
  }

  async function send(pack: readonly Waiting[]): Promise<void> {
    const [first] = pack
    if (first === undefined) return
    const series = pack.flatMap(({ request }) => request.series)
    const shared = pack.length === 1 ? undefined : await readUnlessLate({ ...first.request, series }).catch(() => undefined)
    let start = 0
    for (const { request, resolve } of pack) {
      const own = shared === undefined || 'reason' in shared ? readUnlessLate(request) : ownRows(shared, start, request.series.length)
      start += request.series.length
      resolve(own)
      await Promise.allSettled([own])
    }
  }

  return (request) => {
    const { promise, resolve } = Promise.withResolvers<Read>()
    if (waiting.length === 0)
      setImmediate(() => {
        const packs = toPacks()
        waiting = []
        void forEachConcurrently(packs, () => maxConcurrent, send)
      })
    waiting.push({ request, resolve })
    return promise
  }
}

/** The rows of some series, which are numbered from `start`. */
const ownRows = (rows: readonly SeriesRow[], start: number, count: number): readonly SeriesRow[] =>
  rows.flatMap((row) => {
    const own = [...row.numbers].flatMap(([i, number]) => (i >= start && i < start + count ? [[i - start, number] as const] : []))
    return own.length === 0 ? [] : [{ ...row, numbers: new Map(own) }]
  })
