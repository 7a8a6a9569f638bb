// A HyperDX of September 2026, which has what no recorded server has: https://github.com/hyperdxio/hyperdx/pull/3065 (names and tags of
// alerts), 3017 and 3078 (filters). The rules are those of `packages/api/src/utils/alerts.ts` and `externalApi.ts` after these changes.
import type { ServerVariant, VariantRequest } from '../../src/emulator/options.ts'
import type { ProductRequest, ProductResponse } from '../../src/emulator/product/request.ts'
import { type Alert, isJsonObject, type JsonObject, type Service } from '../../src/emulator/store.ts'

const filterFields = ['options', 'minSelections', 'isGlobalRequirement']

/** The fields that its gateway would know. */
export const acceptsNewerField: NonNullable<ServerVariant['acceptsField']> = (name) =>
  [...filterFields, 'displayName', 'tags'].includes(name)

export function handleNewer(request: VariantRequest, product: (request: ProductRequest) => ProductResponse): ProductResponse {
  if (request.resource === 'alerts') return handleAlerts(request, product)
  return request.resource === 'dashboards' ? handleDashboards(request, product) : product(request)
}

type Product = (request: ProductRequest) => ProductResponse

function handleAlerts(request: VariantRequest, product: Product): ProductResponse {
  const { service, body } = request
  const { displayName, tags, ...known } = isJsonObject(body) ? body : {}
  const response = product({ ...request, body: isJsonObject(body) ? known : body })
  const viewOf = (view: JsonObject): JsonObject => {
    const alert = service.alerts.find(({ id }) => id === view.id)
    if (alert === undefined) return view
    const derived = deriveFields(alert, service)
    // A write without them stores those of what the alert watches.
    if (request.method !== 'GET') alert.newer = { ...derived, ...given({ displayName, tags }) }
    return { ...view, ...derived, ...alert.newer }
  }
  return withViews(response, viewOf)
}

/** `deriveAlertDisplayFields`: the tags include the markers of ours that a dashboard has. */
function deriveFields({ source, dashboardId, tileId, savedSearchId }: Alert, { dashboards, savedSearches }: Service): JsonObject {
  const dashboard = dashboards.find(({ id }) => id === dashboardId)
  const search = savedSearches.find(({ id }) => id === savedSearchId)
  const tile = dashboard?.tiles.find(({ id }) => id === tileId)
  if (source === 'tile') return { displayName: `${dashboard?.name} - ${tile?.name || 'Tile'}`, tags: [...(dashboard?.tags ?? [])] }
  return { displayName: search?.name ?? 'Alert', tags: [...(Array.isArray(search?.tags) ? search.tags : [])] }
}

function handleDashboards(request: VariantRequest, product: Product): ProductResponse {
  const { service, body } = request
  const filters = isJsonObject(body) && Array.isArray(body.filters) ? body.filters.filter(isJsonObject) : undefined
  const [source] = service.sources
  const known = filters?.map(({ options: _, minSelections: __, isGlobalRequirement: ___, ...filter }) =>
    filter.type === 'STATIC_LIST' ? { ...filter, type: 'QUERY_EXPRESSION', expression: 'any', sourceId: source?.id } : filter,
  )
  const response = product({ ...request, body: known === undefined ? body : { ...(body as JsonObject), filters: known } })
  const viewOf = (view: JsonObject): JsonObject => {
    const stored = service.dashboards.find(({ id }) => id === view.id)
    if (stored === undefined || !Array.isArray(view.filters)) return view
    const { provisioned } = stored as { readonly provisioned?: boolean }
    if (filters !== undefined)
      for (const [i, filter] of stored.filters.entries())
        filter.newer = given({ ...Object.fromEntries(filterFields.map((name) => [name, filters[i]?.[name]])), type: filters[i]?.type })
    return {
      ...view,
      ...given({ provisioned }),
      filters: stored.filters.map((filter, i) => viewOfFilter(filter.newer, view.filters as readonly JsonObject[], i)),
    }
  }
  return withViews(response, viewOf)
}

/** `translateFilterToExternalFilter`: a requirement is answered only where there is one. */
function viewOfFilter(newer: unknown, views: readonly JsonObject[], index: number): JsonObject {
  const { newer: _, ...view } = views[index] ?? {}
  const { minSelections, isGlobalRequirement, ...fields } = isJsonObject(newer) ? newer : {}
  const requirement = Number(minSelections) > 0 ? given({ minSelections, isGlobalRequirement }) : {}
  const { expression: __, sourceId: ___, ...others } = view
  return fields.type === 'STATIC_LIST' ? { ...others, ...fields, ...requirement } : { ...view, ...requirement }
}

const given = (fields: JsonObject): JsonObject => Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))

function withViews(response: ProductResponse, viewOf: (view: JsonObject) => JsonObject): ProductResponse {
  const { status, body } = response
  if (status !== 200 || !isJsonObject(body)) return response
  const { data } = body
  const views = Array.isArray(data) ? data.map((one) => (isJsonObject(one) ? viewOf(one) : one)) : isJsonObject(data) ? viewOf(data) : data
  return { ...response, body: { ...body, ...(data !== undefined && { data: views }) } }
}
