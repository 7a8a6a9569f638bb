// What a service holds, in a form in which two runs can be compared: names for ids, no times, no order.
import type { Emulator } from '../../src/emulator/index.ts'
import { canonicalText } from '../../src/resources/marker.ts'
import { storeOf } from './site.ts'

type Fields = Readonly<Record<string, unknown>>

/** Dashboards, saved searches and alerts as sorted texts. What hangs on nothing says so. */
export function stateOf(emulator: Emulator): readonly string[] {
  const { dashboards, savedSearches, alerts } = storeOf(emulator)
  const names = new Map([...dashboards, ...savedSearches, ...dashboards.flatMap(({ tiles }) => tiles)].map(({ id, name }) => [id, name]))
  const nameOf = (id: string | null): string | null => (id === null ? null : (names.get(id) ?? 'NOTHING'))
  const without =
    (...fields: readonly string[]) =>
    (one: object): Fields =>
      Object.fromEntries(Object.entries(one).filter(([field]) => !fields.includes(field)))
  const bare = without('id', 'teamId', 'createdAt', 'updatedAt')
  return [
    ...dashboards.map((one) => ({
      dashboard: { ...bare(one), tags: one.tags.toSorted(), tiles: sorted(one.tiles.map(bare)), filters: one.filters.map(bare) },
    })),
    ...savedSearches.map((one) => ({ savedSearch: bare(one) })),
    ...alerts.map((one) => ({
      alert: { ...bare(one), dashboardId: nameOf(one.dashboardId), tileId: nameOf(one.tileId), savedSearchId: nameOf(one.savedSearchId) },
    })),
  ]
    .map(canonicalText)
    .toSorted()
}

const sorted = (items: readonly unknown[]): readonly string[] => items.map(canonicalText).toSorted()

/** Project and key in every mark of ours, in the order in which they stand in the service. */
export function marksIn(emulator: Emulator): readonly string[] {
  const { dashboards, savedSearches, alerts } = storeOf(emulator)
  return [
    ...[...dashboards, ...savedSearches].flatMap(({ tags = [] }) => (tags as readonly string[]).filter((tag) => tag.startsWith('wk:'))),
    ...alerts.flatMap(({ message, note }) => /watchkeeper: \S+ \S+/.exec(`${message} ${note}`)?.[0] ?? []),
  ].map((mark) => mark.replace(/(wk:.*):.*/, '$1'))
}

/** Marks that stand more than once. */
export const doublesIn = (emulator: Emulator): readonly string[] => marksIn(emulator).filter((mark, i, marks) => marks.indexOf(mark) !== i)

/** What bears no mark of ours, exactly as the service has it. */
export function unownedIn(emulator: Emulator): string {
  const { dashboards, alerts } = storeOf(emulator)
  return JSON.stringify([
    dashboards.filter(({ tags }) => !tags.some((tag) => tag.startsWith('wk:'))),
    alerts.filter((one) => !/watchkeeper: /.test(`${one.note}${one.message}`)),
  ])
}

/** Returns what puts everything back as it is now. Ids go on counting, so that none is given out twice. */
export function rememberState(emulator: Emulator): () => void {
  const kept = structuredClone(emulator.store)
  return () => {
    emulator.clearFaults()
    Object.assign(emulator.store, structuredClone(kept))
  }
}
