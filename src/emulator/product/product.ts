import { createAlert, deleteAlert, getAlert, listAlerts, updateAlert } from './alerts.ts'
import { querySeries } from './charts.ts'
import { createConnection, deleteConnection, getConnection, listConnections, updateConnection } from './connections.ts'
import { createDashboard, deleteDashboard, getDashboard, listDashboards, updateDashboard, validateDashboard } from './dashboards.ts'
import { ProductError, type ProductRequest, type ProductResponse } from './request.ts'
import { createSavedSearch, deleteSavedSearch, getSavedSearch, listSavedSearches, updateSavedSearch } from './saved-searches.ts'
import { createSource, deleteSource, getSource, listSources, updateSource } from './sources.ts'
import { createWebhook, deleteWebhook, listWebhooks, updateWebhook } from './webhooks.ts'

type Handler = (request: ProductRequest) => ProductResponse

/** The API of HyperDX, the same behind every gateway. Every rule of this folder has a recorded answer of HyperDX 2.36 (`test/conformance`). */
const handlers: Readonly<Record<string, Handler>> = {
  'GET alerts': listAlerts,
  'POST alerts': createAlert,
  'GET alerts/:id': getAlert,
  'PUT alerts/:id': updateAlert,
  'DELETE alerts/:id': deleteAlert,
  'POST charts/series': querySeries,
  'GET connections': listConnections,
  'POST connections': createConnection,
  'GET connections/:id': getConnection,
  'PUT connections/:id': updateConnection,
  'DELETE connections/:id': deleteConnection,
  'GET dashboards': listDashboards,
  'POST dashboards': createDashboard,
  'POST dashboards/validate': validateDashboard,
  'GET dashboards/:id': getDashboard,
  'PUT dashboards/:id': updateDashboard,
  'DELETE dashboards/:id': deleteDashboard,
  'GET saved-searches': listSavedSearches,
  'POST saved-searches': createSavedSearch,
  'GET saved-searches/:id': getSavedSearch,
  'PUT saved-searches/:id': updateSavedSearch,
  'DELETE saved-searches/:id': deleteSavedSearch,
  'GET sources': listSources,
  'POST sources': createSource,
  'GET sources/:id': getSource,
  'PUT sources/:id': updateSource,
  'DELETE sources/:id': deleteSource,
  'GET webhooks': listWebhooks,
  'POST webhooks': createWebhook,
  'PUT webhooks/:id': updateWebhook,
  'DELETE webhooks/:id': deleteWebhook,
}

export interface Route {
  readonly resource: string
  readonly id: string
  readonly handle: Handler
}

/** The route of a path below the root of the resources, such as `dashboards/65f5…`. */
export function findRoute(method: string, path: string): Route | undefined {
  const [resource = '', id, ...rest] = path.split('/')
  if (rest.length > 0 || id === '') return undefined
  const exact = id === undefined ? handlers[`${method} ${resource}`] : handlers[`${method} ${resource}/${id}`]
  const handle = exact ?? (id === undefined ? undefined : handlers[`${method} ${resource}/:id`])
  return handle && { resource, id: id ?? '', handle }
}

export function handleRoute({ handle }: Route, request: ProductRequest): ProductResponse {
  try {
    return handle(request)
  } catch (cause) {
    if (!(cause instanceof ProductError)) throw cause
    const { status, message, isPlainText } = cause
    return { status, body: { message }, ...(isPlainText && { text: message }) }
  }
}
