import type { SendOptions } from '../../platform/api/call.ts'
import type { WriteApi } from '../../platform/api/client.ts'
import type { ObjectUpdate, Updated } from '../../platform/api/collection.ts'
import { callTool, patchToolName, readTool } from '../../platform/api/mcp.ts'
import type { Target } from '../../platform/api/path.ts'
import { spellVariable } from '../../platform/core/input-spelling.ts'
import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { formatPlace } from '../../platform/core/mismatch.ts'
import { quote } from '../../platform/core/text.ts'
import { type Body, listOf } from '../kind.ts'
import { type Dashboard, dashboardCollection } from './dashboard-wire.ts'

export type DashboardPatch = { readonly name: string; readonly tags: readonly string[] } | { readonly tileId: string; readonly tile: Body }

/**
 * Writes a part of a dashboard, and leaves the rest as it is stored, with what the API does not show. A patched tile is written whole: it
 * loses what the API does not show. Returns the dashboard as it was read, with that part. For servers with `hasPatchTool`.
 */
export async function patchDashboard(
  api: WriteApi,
  service: Target,
  { id, compose, ...update }: Omit<ObjectUpdate<Dashboard, DashboardPatch>, 'via'>,
  options?: SendOptions,
): Promise<Updated<Dashboard>> {
  let sent: { readonly patch: DashboardPatch; readonly merged: Dashboard } | undefined
  const composeAll = async (current: Dashboard): Promise<Dashboard | undefined> => {
    const patch = await compose(current)
    sent = patch && { patch, merged: merge(current, patch) }
    return sent?.merged
  }
  const request = () => callTool(patchToolName, { dashboardId: id, ...sent?.patch })
  const read = readTool<Dashboard>((text, isError) =>
    isError || sent === undefined ? { refusal: explainRefusal(text, sent?.patch) } : { value: sent.merged },
  )
  return dashboardCollection.update(api, service, { id, ...update, compose: composeAll, via: { request, read } }, options)
}

const merge = (current: Dashboard, patch: DashboardPatch): Dashboard =>
  'tile' in patch
    ? { ...current, tiles: current.tiles.map((tile) => (tile.id === patch.tileId ? { ...tile, ...patch.tile, id: tile.id } : tile)) }
    : { ...current, name: patch.name, tags: [...new Set(patch.tags)] }

/**
 * The rules of a newer server may differ from those of `canPatchTile`. What no plan has announced is not written, so the reason begins with
 * how a plan announces it: messages are cut at their end.
 */
const explainRefusal = (text: string, patch: DashboardPatch | undefined) =>
  patch === undefined || 'tags' in patch
    ? reasonIn(text)
    : `cannot patch the tile "${quote(String(patch.tile.name))}" (plan with ${spellVariable('repair', 'rewrite')} to write all tiles): ${reasonIn(text)}`

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** The tool has the problems with each type of a tile, of which the first one that is not about the type is meant. */
function reasonIn(text: string) {
  const issues = parseJsonOrUndefined(/Invalid arguments for tool \w+: (.*)$/s.exec(text)?.[1] ?? '')
  const found = listOf(issues).flatMap((issue) => {
    const unions = listOf(issue.unionErrors).map((one) => listOf(one.issues).filter(isIssue))
    return unions.find((one) => one.length > 0 && !one.some(({ path }) => isOfType.test(String(path.at(-1))))) ?? [issue].filter(isIssue)
  })
  return found.length === 0
    ? text
    : found.map(({ path, message }) => `${formatPlace(path.slice(1), '').slice(1)}: ${message.replace(/\.$/, '')}`).join('; ')
}

const isOfType = /^(?:displayType|configType)$/

const isIssue = (value: Body): value is Body & Issue => Array.isArray(value.path) && typeof value.message === 'string'

/** Whether the tool takes and keeps all of a tile. The API knows more than it. Recorded in test/conformance, and read in HyperDX 2.36. */
export function canPatchTile({ name, config }: Body): boolean {
  if (name === '' || !isMapping(config)) return name !== ''
  const isSql = config.configType === 'sql'
  const keep = (key: string, value: unknown): unknown => {
    const isDropped = key === 'periodAggFn' || key === 'numericUnit' || (key === 'seriesLimit' && isSql)
    const isRefused = (key === 'whereLanguage' && value === 'promql') || (key === 'metricType' && value === 'summary')
    return isDropped || isRefused ? undefined : value
  }
  if (JSON.stringify(config, keep) !== JSON.stringify(config)) return false
  if (isSql) return Boolean(config.sourceId) || !/\$__(?:filters|sourceTable)\b/.test(String(config.sqlTemplate))
  return !listOf(config.select).some(isRefusedItem)
}

/** Rules between the fields of a series, which API v2 does not have. */
function isRefusedItem({ aggFn, level, metricName, metricType }: Body) {
  const isHistogram = metricType === 'histogram' || metricType === 'exponential histogram'
  return (
    Boolean(metricType) !== Boolean(metricName) ||
    (aggFn === 'increase' && metricType !== 'sum') ||
    (isHistogram && aggFn !== 'count' && !(aggFn === 'quantile' && level !== undefined))
  )
}
