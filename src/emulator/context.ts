import { createIds, type Ids } from './deterministic.ts'
import { type EmulatorOptions, type ServerVariant, type Settings, toSettings } from './options.ts'
import { createEmpty, createShop } from './shop/shop.ts'
import type { Store } from './store.ts'

export interface EmulatorContext {
  readonly settings: Settings
  readonly store: Store
  readonly ids: Ids
  readonly clock: ServerClock
  /** Restores everything, the clock's offset included. The store stays the same object. */
  reset(): void
}

interface ServerClock {
  now(): number
  setOffset(ms: number): void
}

export function createContext(options: EmulatorOptions, variant: ServerVariant): EmulatorContext {
  const settings = toSettings(options, variant)
  const ids = createIds()
  const clock = createClock(settings.now)
  // Demo data depends on the time of the start. A later reset restores the same data, not data for a later day.
  const startedAtMs = settings.now()
  const createStore = (): Store =>
    settings.data === 'shop' ? createShop(ids, startedAtMs, settings.dialect) : createEmpty(ids, startedAtMs)
  const store = createStore()
  const context: EmulatorContext = {
    settings,
    store,
    ids,
    clock,
    reset() {
      ids.reset()
      clock.setOffset(0)
      Object.assign(store, createStore())
    },
  }
  return context
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
