import * as z from 'zod'
import type { ReadApi } from '../../platform/api/client.ts'
import { collectionPath, defineCollection } from '../../platform/api/collection.ts'
import { type Target, under } from '../../platform/api/path.ts'
import { listOrEmpty, nameOrEmpty, readOne, wireId } from '../../platform/api/wire.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { didYouMean } from '../../platform/core/names.ts'
import { quote } from '../../platform/core/text.ts'
import { type Body, type InvalidField, listOf, type StoredObject, withoutServerFields } from '../kind.ts'
import { kindLabels } from '../kind-names.ts'

/** A dashboard as the API returns it. Unknown fields are kept. */
export const dashboardSchema = z.looseObject({
  id: wireId,
  name: nameOrEmpty,
  tiles: listOrEmpty(z.looseObject({ id: wireId, name: z.string().nullish() })),
  tags: listOrEmpty(z.string()),
})

export type Dashboard = z.output<typeof dashboardSchema>

/** A gateway refuses the top-level id. */
export function toDashboardBody(dashboard: StoredObject): Body {
  const { createdBy: _creator, ...body } = withoutServerFields(dashboard)
  return Array.isArray(body.tiles) ? { ...body, tiles: toWritableTiles(listOf(body.tiles)) } : body
}

function toWritableTiles(tiles: readonly Body[]): readonly Body[] {
  const seen = new Set<unknown>()
  return tiles.map((tile) => {
    const { id, ...rest } = tile
    // An alert on several tiles with one id watches the first of them. The server gives the others new ids.
    const isRepeated = id !== undefined && seen.has(id)
    seen.add(id)
    return withMetricValues(isRepeated ? rest : tile)
  })
}

/** The server refuses an empty value of a metric. Its queries ignore the value, and the editor of the web app writes `Value`. */
function withMetricValues(tile: Body): Body {
  const { config } = tile
  if (!isMapping(config) || !listOf(config.select).some(lacksMetricValue)) return tile
  const select = listOf(config.select).map((item) => (lacksMetricValue(item) ? { ...item, valueExpression: 'Value' } : item))
  return { ...tile, config: { ...config, select } }
}

const lacksMetricValue = ({ aggFn, metricName, metricType, valueExpression }: Body) =>
  Boolean(metricName) && Boolean(metricType) && aggFn !== 'count' && valueExpression === ''

export const dashboardCollection = defineCollection<Dashboard, Body>({
  name: 'dashboards',
  noun: kindLabels.dashboard,
  listing: 'whole',
  schema: dashboardSchema,
  toBody: toDashboardBody,
})

export const displayTypeOf = ({ config }: Body): unknown => (isMapping(config) ? config.displayType : undefined)

/** What a person calls a tile of a list: its name, or its index and type. */
export const tileLabel = (tile: Body, index: number): string =>
  String(tile.name || `tiles[${index}] (${String(displayTypeOf(tile) ?? 'no chart')})`)

/** An update of the dashboard deletes the alerts on tiles of any other type. */
const alertableTypes: readonly string[] = ['line', 'stacked_bar', 'number']

/** The display type of a tile that cannot have alerts; undefined for a tile that can, and for an unknown type. */
export function typeWithoutAlerts(tile: Body): string | undefined {
  const type = displayTypeOf(tile)
  return typeof type !== 'string' || alertableTypes.includes(type) ? undefined : type
}

export function adviseTileName(name: string, tiles: readonly Body[]): string {
  const nameless = tiles.findIndex((tile) => !tile.name && typeWithoutAlerts(tile) === undefined)
  const label = tileLabel(tiles[nameless] ?? {}, nameless)
  const advice = nameless < 0 ? '' : `; ${label} has no name: give it one, or use { id: … } or a query`
  return didYouMean(name, tiles.map((tile) => String(tile.name ?? '')).filter(Boolean)) || advice
}

export const explainTypeWithoutAlerts = (type: string): string =>
  `a tile of type ${quote(type)} cannot have alerts; types that can: ${alertableTypes.join(', ')}`

/** Lets the server validate a body as that of a create. The server stores nothing, so the request may be repeated like a read. */
export async function validateDashboard(api: ReadApi, service: Target, body: Body): Promise<readonly InvalidField[]> {
  const { valid, errors } = await api.read({
    request: { method: 'POST', isSafe: true, path: under(collectionPath(api, service, 'dashboards'), 'validate'), body: withoutIds(body) },
    read: readOne(
      z.object({
        valid: z.boolean(),
        errors: listOrEmpty(z.object({ path: z.string().nullish(), message: z.string() })),
      }),
    ),
    about: { noun: kindLabels.dashboard, missing: 'service', permission: 'observability' },
  })
  if (valid) return []
  const invalid = errors.map((error) => ({ path: error.path ?? '', message: error.message }))
  return invalid.length > 0 ? invalid : [{ path: '', message: 'is not valid; the server gives no reason' }]
}

export const withoutIds = ({ tiles, filters, ...body }: Body): Body => ({
  ...body,
  ...(tiles !== undefined && { tiles: withoutItemIds(tiles) }),
  ...(filters !== undefined && { filters: withoutItemIds(filters) }),
})

const withoutItemIds = (items: unknown): unknown => (Array.isArray(items) ? listOf(items).map(({ id: _, ...item }) => item) : items)

// The configuration of tiles by the API's specification of 2026-07-31, with its additions of 2026-09. Field names are those of the API.
// Sources can also be given by name. `serverDefault` is the value that the server returns or assumes where a body lacks the field:
// observed on HyperDX 2.36, see test/conformance.
