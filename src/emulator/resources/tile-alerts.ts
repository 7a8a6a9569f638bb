// Owns the bond between a dashboard's tiles and the alerts on them.
import type { Dashboard, Service, Tile } from '../store.ts'

// Known for raw SQL tiles; taken to be the same for the others, whose alerts are evaluated as the same time series.
const displayTypesWithAlerts: readonly unknown[] = ['line', 'stacked_bar', 'number']

export const mayCarryAlert = ({ config }: Tile): boolean => displayTypesWithAlerts.includes(config.displayType)

/**
 * Deletes, without a word, every alert of the dashboard whose tile is gone or can carry no alert any more.
 * HyperDX server code; users feel it as "alerts vanish on update" (hyperdx PR#2783, PR#3076).
 */
export function dropOrphanedAlerts(service: Service, dashboard: Dashboard): void {
  const carriers = new Set(dashboard.tiles.filter(mayCarryAlert).map(({ id }) => id))
  service.alerts = service.alerts.filter(
    ({ dashboardId, tileId }) => dashboardId !== dashboard.id || (tileId !== null && carriers.has(tileId)),
  )
}

export function dropAlertsOf(service: Service, dashboardId: string): void {
  service.alerts = service.alerts.filter((alert) => alert.dashboardId !== dashboardId)
}
