import { alerts } from './alerts.ts'
import { querySeries } from './charts.ts'
import { dashboards, validateDashboard } from './dashboards.ts'
import { type Handler, ProductError, type ProductRequest, type ProductResponse } from './request.ts'
import { savedSearches } from './saved-searches.ts'
import { connections, sources } from './sources.ts'
import { webhooks } from './webhooks.ts'

/** The API of HyperDX, the same behind every gateway. Every rule of this folder has a recorded answer of HyperDX 2.36 (`test/conformance`). */
const handlers: Readonly<Record<string, Handler>> = {
  ...alerts,
  ...connections,
  ...dashboards,
  ...savedSearches,
  ...sources,
  ...webhooks,
  'POST charts/series': querySeries,
  'POST dashboards/validate': validateDashboard,
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
