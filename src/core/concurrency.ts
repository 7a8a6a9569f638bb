/** Computes the value on the first call, and keeps it. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/**
 * Calls `work` for every item, in order, while less than `limit()` calls are under way. Rejects with the first failure, and then starts
 * no other.
 */
export async function forEachConcurrently<T>(items: readonly T[], limit: () => number, work: (item: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>()
  for (const item of items) {
    while (running.size >= limit()) await Promise.race(running)
    const call = work(item).finally(() => running.delete(call))
    // Awaited below; one that fails while another is awaited must not count as unhandled.
    call.catch(() => undefined)
    running.add(call)
  }
  await Promise.all(running)
}

/**
 * Runs `work` for one value at a time. Of the values that come while it runs, only the last is worked on: all their callers wait for it.
 */
export function keepLatest<T>(work: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let latest: T
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    next = undefined
    running = work(latest).finally(() => {
      running = undefined
    })
    return running
  }
  return (value) => {
    latest = value
    if (running === undefined) return start()
    next ??= running.then(start, start)
    return next
  }
}
