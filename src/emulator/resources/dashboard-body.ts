// Owns a dashboard's body: fields, limits, and what the tiles must be among themselves. Limits: HyperDX external API v2 specification.
import { z } from 'zod'
import { check, type Problem } from '../problems.ts'
import type { JsonObject, Service } from '../store.ts'
import { checkSource } from './saved-searches.ts'
import { metricTypes } from './tile-config.ts'
import { checkConfig } from './tile-rules.ts'

const language = z.enum(['sql', 'lucene'])

const tile = z.strictObject({
  id: z.string().max(36).exactOptional(),
  name: z.string(),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  w: z.int().min(1).max(24),
  h: z.int().min(1),
  config: z.record(z.string(), z.unknown()),
  containerId: z.string().exactOptional(),
  tabId: z.string().exactOptional(),
})

const newFilter = z.strictObject({
  type: z.literal('QUERY_EXPRESSION'),
  name: z.string().min(1),
  expression: z.string().min(1),
  sourceId: z.string(),
  sourceMetricType: z.enum(metricTypes).exactOptional(),
  where: z.string().exactOptional(),
  whereLanguage: language.exactOptional(),
  appliesToSourceIds: z.array(z.string()).exactOptional(),
  isBroadcastEnabled: z.boolean().default(true),
  isVariableEnabled: z.boolean().default(false),
  variableName: z
    .string()
    .max(64)
    .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
    .exactOptional(),
})

const savedFilterValue = z.union([
  z.strictObject({ type: z.literal('sql').default('sql'), condition: z.string() }),
  z.strictObject({ type: z.literal('variable'), name: z.string(), values: z.array(z.string()) }),
])

const label = z.string().min(1).max(256)

const container = z.strictObject({
  id: label,
  title: label,
  collapsed: z.boolean(),
  collapsible: z.boolean().default(true),
  bordered: z.boolean().default(true),
  tabs: z
    .array(z.strictObject({ id: label, title: label }))
    .max(20)
    .exactOptional(),
})

const fields = {
  name: z.string().max(1024),
  tiles: z.array(tile).max(500),
  tags: z.array(z.string().max(32)).max(50).exactOptional(),
  savedQuery: z.string().nullable().exactOptional(),
  savedQueryLanguage: language.nullable().exactOptional(),
  savedFilterValues: z.array(savedFilterValue).exactOptional(),
  containers: z.array(container).max(50).exactOptional(),
}

// A filter's id is refused on POST and required on every filter on PUT: terraform-provider-clickhouse, dashboard_tile_ids.go.
const createBody = z.strictObject({ ...fields, filters: z.array(newFilter).exactOptional() })

const updateBody = z.strictObject({ ...fields, filters: z.array(newFilter.extend({ id: z.string().min(1) })).exactOptional() })

export type DashboardBody = z.output<typeof createBody> | z.output<typeof updateBody>

export type Purpose = 'create' | 'update'

/** All that is wrong with the body, or the body with its defaults. */
export function checkDashboard(value: JsonObject, purpose: Purpose, service: Service): { value: DashboardBody } | { problems: Problem[] } {
  const checked = check<z.ZodType<DashboardBody>>(purpose === 'create' ? createBody : updateBody, value)
  if ('problems' in checked) return { problems: [...checked.problems, ...unknownConfigKeys(value, service)] }
  const problems = [...checkTiles(checked.value, service), ...checkFilters(checked.value, service)]
  return problems.length > 0 ? { problems } : checked
}

function checkTiles({ tiles }: DashboardBody, service: Service): Problem[] {
  const ids = tiles.flatMap(({ id }) => id ?? [])
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index)
  return [
    ...(repeated === undefined ? [] : [{ path: 'tiles', message: `tile id ${repeated} stands twice` }]),
    ...tiles.flatMap(({ config }, index) => checkConfig(config, `tiles.${index}.config`, service)),
  ]
}

const checkFilters = ({ filters = [] }: DashboardBody, service: Service): Problem[] =>
  filters.flatMap(({ sourceId }, index) => checkSource(service, sourceId, `filters.${index}.sourceId`))

// The gateway names an unknown property of a tile's config also when something else is wrong outside the configs.
function unknownConfigKeys({ tiles }: JsonObject, service: Service): Problem[] {
  if (!Array.isArray(tiles)) return []
  return tiles.flatMap((tile: unknown, index) => {
    const config: unknown = isObject(tile) ? tile.config : undefined
    return isObject(config) ? checkConfig(config, `tiles.${index}.config`, service).filter((problem) => problem.unknownProperty) : []
  })
}

const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === 'object' && !Array.isArray(value)
