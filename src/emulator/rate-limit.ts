// Owns the fixed window of requests per key, and the headers that tell of it.
// Source of form and names: the server code quoted in terraform-provider-clickhouse#148.
import type { RateLimit } from './options.ts'

export interface Turn {
  readonly allowed: boolean
  readonly headers: Readonly<Record<string, string>>
}

export interface RateLimiter {
  take(key: string): Turn
  reset(): void
}

/** A window opens with a key's first request and does not slide. A clock that is set back opens a new one. */
export function createRateLimiter({ limit, windowMs }: RateLimit, now: () => number): RateLimiter {
  const windows = new Map<string, { openedAtMs: number; used: number }>()
  return {
    take(key) {
      const at = now()
      const last = windows.get(key)
      const open = last !== undefined && at >= last.openedAtMs && at < last.openedAtMs + windowMs
      const window = open ? last : { openedAtMs: at, used: 0 }
      windows.set(key, window)
      window.used++
      return {
        allowed: window.used <= limit,
        headers: {
          'X-RateLimit-Limit': String(limit),
          'X-RateLimit-Remaining': String(Math.max(0, limit - window.used)),
          // Seconds that remain, fractional: no epoch, and no whole number.
          'X-RateLimit-Reset': String((window.openedAtMs + windowMs - at) / 1000),
          'X-RateLimit-Policy': `${limit};w=${windowMs / 1000};comment="fixed window"`,
        },
      }
    },
    reset: () => windows.clear(),
  }
}
