// Owns the running state that every handler works on: settings, store, ids and the server's clock.
import { createIds, type Ids } from './ids.ts'
import { type EmulatorOptions, type Settings, toSettings } from './options.ts'
import { createEmpty, createShop } from './shop/shop.ts'
import type { Store } from './store.ts'

export interface World {
  readonly settings: Settings
  readonly store: Store
  readonly ids: Ids
  readonly clock: ServerClock
  /** Everything as it was at the start, the clock's offset included; the store stays the same object. */
  reset(): void
}

export interface ServerClock {
  now(): number
  setOffset(ms: number): void
}

export function createWorld(options: EmulatorOptions): World {
  const settings = toSettings(options)
  const ids = createIds()
  const clock = createClock(settings.now)
  // Demo data hangs on the day of the start, also after a later reset: a reset gives back what was, not something newer.
  const startedAtMs = settings.now()
  const build = (): Store => (settings.data === 'shop' ? createShop(ids, startedAtMs, settings.dialect) : createEmpty(ids, startedAtMs))
  const store = build()
  return {
    settings,
    store,
    ids,
    clock,
    reset() {
      ids.reset()
      clock.setOffset(0)
      Object.assign(store, build())
    },
  }
}

function createClock(now: () => number): ServerClock {
  let offsetMs = 0
  return {
    now: () => now() + offsetMs,
    setOffset(ms) {
      offsetMs = ms
    },
  }
}
