// A later state of a service: the same objects, many of them with other fields.
import type { RandomService } from './random-service.ts'
import { carriesAlerts } from './random-tiles.ts'

/** The first service, with what the second one has in place of some of it, under the ids of the first. */
export function blend(first: RandomService, second: RandomService, choices: readonly number[]): RandomService {
  let at = 0
  const choose = (): number => choices[at++ % choices.length] ?? 0
  const pick = <T>(ones: readonly T[], others: readonly T[], mix: (one: T, other: T) => T): T[] =>
    ones.flatMap((one, i) => {
      const [choice, other] = [choose(), others[i % others.length]]
      if (choice === 0) return []
      return [other === undefined || choice < 3 ? one : mix(one, other)]
    })
  const dashboards = pick(first.dashboards, second.dashboards, (one, other) => {
    const tiles = other.tiles.map((tile, i) => ({ ...tile, id: one.tiles[i]?.id ?? tile.id.replace('e', 'f') }))
    return { ...other, id: one.id, tiles: [...tiles, ...one.tiles.slice(tiles.length)].filter(() => choose() > 0) }
  })
  const savedSearches = pick(first.savedSearches, second.savedSearches, (one, other) => ({ ...other, id: one.id }))
  const places = new Set([
    ...dashboards.flatMap(({ tiles }) => tiles.filter(({ config }) => carriesAlerts(config)).map(({ id }) => id)),
    ...savedSearches.map(({ id }) => id),
  ])
  const alerts = pick(first.alerts, second.alerts, (one, other) => {
    const { id, source, dashboardId, tileId, savedSearchId } = one
    return { ...other, id, source, dashboardId, tileId, savedSearchId }
  })
  // What hung on something that went, went with it.
  return { dashboards, savedSearches, alerts: alerts.filter(({ tileId, savedSearchId }) => places.has(tileId ?? savedSearchId ?? '')) }
}
