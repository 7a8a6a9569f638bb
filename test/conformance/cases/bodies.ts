import type { Case, Exchange, GatewayExpectation } from '../case.ts'

export type Json = Readonly<Record<string, unknown>>

export const count: Json = { aggFn: 'count', where: 'level:error', whereLanguage: 'lucene' }

export const average: Json = { aggFn: 'avg', valueExpression: 'Took', where: '', whereLanguage: 'lucene' }

export const line = (more: Json = {}): Json => ({ displayType: 'line', sourceId: '$Logs', select: [count], ...more })

export const sql = (more: Json = {}): Json => ({
  configType: 'sql',
  displayType: 'line',
  connectionId: '$connection',
  sqlTemplate: 'SELECT $__timeInterval(At) AS t, count() FROM made_up_logs GROUP BY t',
  ...more,
})

export const tile = (config: unknown, more: Json = {}): Json => ({ name: 'Tile', x: 0, y: 0, w: 6, h: 4, config, ...more })

export const dashboard = (more: Json = {}): Json => ({ name: 'Conformance', tiles: [tile(line())], ...more })

export const aDashboard = (more: Json = {}, as = 'dashboard'): Exchange => ({ request: 'POST dashboards', as, body: dashboard(more) })

export const savedSearch = (more: Json = {}): Json => ({ name: 'Errors', sourceId: '$Logs', ...more })

export const aSavedSearch = (more: Json = {}, as = 'search'): Exchange => ({ request: 'POST saved-searches', as, body: savedSearch(more) })

export const alert = (more: Json = {}): Json => ({
  source: 'tile',
  dashboardId: '$dashboard',
  tileId: '$dashboard.tiles.0.id',
  threshold: 5,
  thresholdType: 'above',
  interval: '5m',
  channel: { type: 'webhook', webhookId: '$oncall' },
  name: 'Too many errors',
  ...more,
})

export const alertOnSearch = (more: Json = {}): Json => {
  const { dashboardId: _, tileId: __, ...rest } = alert()
  return { ...rest, source: 'saved_search', savedSearchId: '$search', ...more }
}

export const anAlert = (more: Json = {}, as = 'alert'): Exchange => ({ request: 'POST alerts', as, body: alert(more) })

export const without = (body: Json, ...fields: readonly string[]): Json =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !fields.includes(name)))

export const letters = (length: number): string => 'x'.repeat(length)

export const items = <T>(length: number, create: (index: number) => T): readonly T[] => Array.from({ length }, (_, index) => create(index))

/** The strict gateway refuses what the vendor's document does not have. */
export const undocumented = (path: string): { readonly gateway: GatewayExpectation } => ({
  gateway: {
    status: 400,
    message: `request body property can't be validated: ${path}`,
    source: 'terraform-provider-clickhouse PR#654; OpenAPI document of 2026-07-31 with the additions of 2026-09',
  },
})

/** The gateway parses bodies itself, and forwards JSON objects only. How it says so is not published: this is the emulator's wording. */
export const unparsed = (message: string): { readonly gateway: GatewayExpectation } => ({
  gateway: { status: 400, message, source: 'assumed: the vendor documents no body but a JSON object' },
})

/** A dashboard with one tile of this config. Its config is what is recorded. */
export const tileCase = (name: string, config: unknown, more: Partial<Case> = {}): Case => ({
  name: `tile: ${name}`,
  request: 'POST dashboards',
  body: dashboard({ tiles: [tile(config)] }),
  show: ['tiles.0.config'],
  ...more,
})

export const list = (resource: string): Exchange => ({ request: `GET ${resource}` })
