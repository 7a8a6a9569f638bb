export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export function oncePer<Key extends object, T extends object | number>(make: (key: Key) => T): (key: Key) => T {
  const made = new WeakMap<Key, T>()
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

/**
 * Calls `work` for every item, in order, while less than `limit()` calls are under way. After a failure it starts no other call, waits
 * for those under way, and rejects with the first failure.
 */
export async function forEachConcurrently<T>(items: readonly T[], limit: () => number, work: (item: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  for (const item of items) {
    while (failures.length === 0 && running.size > 0 && running.size >= limit()) await Promise.race(running)
    if (failures.length > 0) break
    const call = work(item)
      .catch((thrown: unknown) => void failures.push(thrown))
      .finally(() => running.delete(call))
    running.add(call)
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}

/** Runs `work` for one value at a time. Of those that come while it runs, only the last is worked on, and all their callers wait for it. */
export function keepLatest<T>(work: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let latest: T
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    next = undefined
    running = work(latest).finally(() => {
      if (next === undefined) running = undefined
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
