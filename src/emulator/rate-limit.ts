import type { RateLimit } from './options.ts'

/** Where a key stands in its window after a request. */
export interface Quota {
  readonly isExceeded: boolean
  readonly limit: number
  readonly remaining: number
  readonly windowMs: number
  /** Until the window ends. */
  readonly resetMs: number
}

export interface RateLimiter {
  take(key: string): Quota
  reset(): void
}

/**
 * A window does not slide. It opens with a key's first request, or for all keys at once, counted from the start of the server. A clock
 * that is set back opens a new one.
 */
export function createRateLimiter({ limit, windowMs }: RateLimit, now: () => number, isShared = false): RateLimiter {
  const windows = new Map<string, { openedAtMs: number; used: number }>()
  const startedAtMs = now()
  return {
    take(key) {
      const at = now()
      const last = windows.get(key)
      const isOpen = last !== undefined && at >= last.openedAtMs && at < last.openedAtMs + windowMs
      const openedAtMs = isShared ? at - ((at - startedAtMs) % windowMs) : at
      const window = isOpen ? last : { openedAtMs, used: 0 }
      windows.set(key, window)
      window.used++
      return {
        isExceeded: window.used > limit,
        limit,
        remaining: Math.max(0, limit - window.used),
        windowMs,
        resetMs: window.openedAtMs + windowMs - at,
      }
    },
    reset: () => windows.clear(),
  }
}
