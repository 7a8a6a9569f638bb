import { isMapping } from '../../platform/core/keys.ts'
import { firstOf } from '../../platform/core/text.ts'
import { arrangeTiles } from '../alert-query/query-tiles.ts'
import { withoutEmpty } from '../compare.ts'
import { clearing, encode } from '../derive.ts'
import { type Body, type DeclaredObject, type Kind, listOf, pageFor, type ResolveContext, type ResolvedDeclaration } from '../kind.ts'
import { kindLabels } from '../kind-names.ts'
import { tagMarkers, withoutMarkerTags } from '../marker.ts'
import { type DeclaredDashboard, declaredDashboard } from './dashboard.ts'
import { dashboardCollection, toDashboardBody, validateDashboard } from './dashboard-wire.ts'
import { spellDashboard } from './spell-dashboard.ts'
import { byId, effectiveTile, withFilterIds, withTileIds } from './tile-ids.ts'

function resolveDashboard(declared: DeclaredObject<DeclaredDashboard>, context: ResolveContext): ResolvedDeclaration {
  const { body, diagnostics } = encode(declaredDashboard, declared, context)
  const { raw, ...fields } = body
  const { tiles, keptTiles } = arrangeTiles(listOf(fields.tiles).map(withRaw), declared, context)
  const whole: Body = { ...fields, tiles, ...(isMapping(raw) && raw) }
  return { body: whole, diagnostics, keptTiles: whole.tiles === tiles ? keptTiles : undefined }
}

/** `Errors (stacked bar, Traces)`, `tiles[2] (number, SQL)`. A file can leave the chart out, or its type. */
function describeTile({ name, config }: Body, index: number, nameOf: (id: unknown) => string) {
  const { displayType, configType, sourceId }: Body = isMapping(config) ? config : {}
  const data = configType === 'sql' ? 'SQL' : sourceId === undefined ? undefined : nameOf(sourceId)
  const parts = [displayType === undefined ? undefined : String(displayType).replaceAll('_', ' '), data].filter(
    (part) => part !== undefined,
  )
  const label = String(name || `tiles[${index}]`)
  return parts.length === 0 ? label : `${label} (${parts.join(', ')})`
}

const withoutId = ({ id: _, ...item }: Body): Body => item

const withRaw = ({ raw, ...tile }: Body): Body => ({ ...tile, ...(isMapping(raw) && raw) })

export const provisionerWrites = 'the provisioner of the server overwrites the dashboards that it made, with their ownership markers'

export function createDashboardKind(): Kind<DeclaredObject<DeclaredDashboard>> {
  const kind: Kind<DeclaredObject<DeclaredDashboard>> = {
    name: 'dashboard',
    label: kindLabels.dashboard,
    collection: dashboardCollection,
    schema: declaredDashboard,
    hasHiddenParts: true,
    canRewrite: true,
    notInFiles: 'the parts that the API does not return',
    clearsBy: clearing(declaredDashboard),
    resolve: resolveDashboard,
    summarize: ({ tiles }, nameOf) =>
      firstOf(
        12,
        listOf(tiles).map((tile, i) => describeTile(tile, i, nameOf)),
      ) || 'no tiles',
    toBody: toDashboardBody,
    page: ({ id }) => pageFor('dashboards', id),
    validate: validateDashboard,
    // HyperDX 2.36 stores the field, and its API does not answer it.
    check: (_, stored) =>
      stored?.provisioned === true ? [{ rule: 'provisioned', message: `${provisionerWrites}; remove its file there first` }] : [],
    removal: ({ id, tiles }, after, isPatch) => ({ id, tiles: listOf(tiles), tilesAfter: after && listOf(after.tiles), isPatch }),
    ...tagMarkers,
    canonical: ({ tags, tiles, ...body }) =>
      withoutEmpty({
        ...body,
        tags: withoutMarkerTags(tags).toSorted(),
        tiles: Array.isArray(tiles) ? listOf(tiles).map(effectiveTile).toSorted(byId) : tiles,
      }),
    // The ids of new ones are known only after the write.
    basePart: ({ tiles, filters, ...body }) => ({
      ...body,
      ...(Array.isArray(tiles) && { tiles: listOf(tiles).map(withoutId) }),
      ...(Array.isArray(filters) && { filters: listOf(filters).map(withoutId) }),
    }),
    // A tile that loses its id loses its alerts.
    withStoredIds: (desired, stored) => ({
      ...desired,
      tiles: withTileIds(listOf(desired.tiles), listOf(stored.tiles)),
      ...(Array.isArray(desired.filters) && { filters: withFilterIds(listOf(desired.filters), listOf(stored.filters)) }),
    }),
    file: {},
    toFile: (body, context) => spellDashboard(kind, body, context),
  }
  return kind
}
