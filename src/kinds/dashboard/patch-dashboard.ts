import type { WriteApi } from '../../api/client.ts'
import type { SendOptions, Update, Updated } from '../../api/collection.ts'
import { callTool, patchToolName, readTool } from '../../api/mcp.ts'
import type { Target } from '../../api/path.ts'
import { isMapping } from '../../core/keys.ts'
import type { Body } from '../kind.ts'
import { type Dashboard, dashboardCollection } from './dashboard-wire.ts'

/** The part of a dashboard that is written: its name and tags, or one tile. */
export type DashboardPatch = { readonly name: string; readonly tags: readonly string[] } | { readonly tileId: string; readonly tile: Body }

/**
 * Writes a part of a dashboard, and leaves the rest as it is stored, with what the API does not show. A patched tile is written whole: it
 * loses what the API does not show. Returns the dashboard as it was read, with that part. For servers with `hasPatchTool`.
 */
export async function patchDashboard(
  api: WriteApi,
  service: Target,
  { id, compose, ...update }: Omit<Update<Dashboard, DashboardPatch>, 'via'>,
  options?: SendOptions,
): Promise<Updated<Dashboard>> {
  let sent: { readonly patch: DashboardPatch; readonly merged: Dashboard } | undefined
  const composeAll = async (current: Dashboard): Promise<Dashboard | undefined> => {
    const patch = await compose(current)
    sent = patch && { patch, merged: merge(current, patch) }
    return sent?.merged
  }
  const request = () => callTool(patchToolName, { dashboardId: id, ...sent?.patch })
  const read = readTool<Dashboard>((text, isError) => (isError || sent === undefined ? { refusal: text } : { value: sent.merged }))
  return dashboardCollection.update(api, service, { id, ...update, compose: composeAll, via: { request, read } }, options)
}

const merge = (current: Dashboard, patch: DashboardPatch): Dashboard =>
  'tile' in patch
    ? { ...current, tiles: current.tiles.map((tile) => (tile.id === patch.tileId ? { ...tile, ...patch.tile, id: tile.id } : tile)) }
    : { ...current, name: patch.name, tags: [...new Set(patch.tags)] }

/** Whether the tool keeps all of a tile. The API knows more than it. Recorded in test/conformance. */
export function canPatchTile({ name, config }: Body): boolean {
  const isSql = isMapping(config) && config.configType === 'sql'
  const keep = (key: string, value: unknown): unknown => {
    const isDropped = key === 'periodAggFn' || key === 'numericUnit' || (key === 'seriesLimit' && isSql)
    const isRefused = (key === 'whereLanguage' && value === 'promql') || (key === 'metricType' && value === 'summary')
    return isDropped || isRefused ? undefined : value
  }
  return name !== '' && JSON.stringify(config, keep) === JSON.stringify(config)
}
