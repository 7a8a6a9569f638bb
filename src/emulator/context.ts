import { createIds, type Ids } from './deterministic.ts'
import { type EmulatorOptions, type ServerVariant, type Settings, toSettings } from './options.ts'
import { createEmpty, shopMaker } from './shop/shop.ts'
import type { Store } from './store.ts'

export interface EmulatorContext {
  readonly settings: Settings
  readonly store: Store
  readonly ids: Ids
  /** Restores ids and data. The store stays the same object. */
  reset(): void
}

export function createContext(options: EmulatorOptions, variant: ServerVariant): EmulatorContext {
  const settings = toSettings(options, variant)
  const ids = createIds()
  // Demo data depends on the time of the start. A later reset restores the same data, not data for a later day.
  const startedAtMs = settings.now()
  const createStore = settings.data === 'shop' ? shopMaker(ids, startedAtMs) : (): Store => createEmpty(ids, startedAtMs)
  const store = createStore()
  return {
    settings,
    store,
    ids,
    reset() {
      ids.reset()
      Object.assign(store, createStore())
    },
  }
}
