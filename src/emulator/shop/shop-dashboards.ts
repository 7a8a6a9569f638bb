import type { ServiceName } from '../demo.ts'
import type { DemoIds } from '../ids.ts'
import type { Dashboard, SavedSearch, Service, Source, Tile } from '../store.ts'
import { type Catalogue, dashboardsOf, type TileText } from './shop-tiles.ts'

export function createDashboards(ids: DemoIds, service: ServiceName, sources: readonly Source[]): Dashboard[] {
  const catalogue: Catalogue = {
    logs: idOf(sources, 'Logs'),
    traces: idOf(sources, 'Traces'),
    metrics: idOf(sources, 'Metrics'),
    connection: String(sources[0]?.connection),
  }
  return dashboardsOf[service](catalogue).map(({ name, tiles }) => ({
    id: ids.objectId(),
    name,
    tiles: tiles.map((text, index) => place(ids, text, index)),
    tags: ['shop', service],
    filters: [createFilter(ids, catalogue.logs)],
    savedQuery: null,
    savedQueryLanguage: null,
    savedFilterValues: [],
    containers: [],
  }))
}

// Two tiles side by side on the grid's 24 columns.
const place = (ids: DemoIds, [name, w, config]: TileText, index: number): Tile => ({
  id: ids.objectId(),
  name,
  x: index % 2 === 0 ? 0 : 12,
  y: Math.floor(index / 2) * 6,
  w,
  h: 6,
  config,
})

const createFilter = (ids: DemoIds, sourceId: string) => ({
  id: ids.objectId(),
  type: 'QUERY_EXPRESSION',
  name: 'Environment',
  expression: "ResourceAttributes['deployment.environment']",
  sourceId,
})

export function createSavedSearches(ids: DemoIds, { name, sources, teamId }: Service, atMs: number): SavedSearch[] {
  const at = new Date(atMs - 60 * 86_400_000).toISOString()
  return [
    {
      id: ids.objectId(),
      name: `Errors in ${name}`,
      sourceId: idOf(sources, 'Logs'),
      select: 'Timestamp, SeverityText, Body',
      where: `ServiceName:${name} level:error`,
      whereLanguage: 'lucene',
      orderBy: 'Timestamp DESC',
      tags: ['shop'],
      filters: [],
      teamId,
      createdAt: at,
      updatedAt: at,
    },
  ]
}

const idOf = (sources: readonly Source[], name: string): string => sources.find((source) => source.name === name)?.id ?? ''
