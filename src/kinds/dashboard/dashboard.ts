import * as z from 'zod'
import type { Profile } from '../../api/profiles.ts'
import { isMapping } from '../../core/keys.ts'
import { nameFirst } from '../../core/text.ts'
import { withoutEmpty } from '../compare.ts'
import { resolveConnection } from '../connection.ts'
import { adoption, declaredTags, nameDescription, sourceFields, sourceReference, withOneSource, word } from '../declaration-fields.ts'
import { type Body, type DeclaredObject, type Kind, listOf, type ResolveContext, type ResolvedDeclaration } from '../kind.ts'
import { tagMarkers, withoutMarkerTags } from '../marker.ts'
import { createResolver, resolveSources } from '../resolve.ts'
import { dashboardCollection, toDashboardBody } from './dashboard-wire.ts'
import { byId, effectiveTile, withFilterIds, withTileIds } from './tile-ids.ts'
import { declaredTile, defaulted, language, metricType, raw, sql } from './tile-schema.ts'

export const filterFields = {
  type: z.literal('QUERY_EXPRESSION').default('QUERY_EXPRESSION'),
  name: z.string().min(1),
  expression: z.string().min(1),
  ...sourceFields,
  sourceMetricType: metricType.optional(),
  where: sql.optional(),
  // Everywhere else the default is lucene. The editor of the web app takes the language that its user prefers for an absent one.
  whereLanguage: language.optional().meta({ serverDefault: 'sql', stateDefault: { beside: 'where' } }),
  appliesToSources: z.array(z.string().min(1)).optional().meta({ description: 'Names of the sources that the filter applies to.' }),
  appliesToSourceIds: z.array(sourceReference).optional(),
  isBroadcastEnabled: defaulted(z.boolean(), true),
  isVariableEnabled: defaulted(z.boolean(), false),
  variableName: z
    .string()
    .max(64)
    .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
    .optional(),
}

export const containerStyle = {
  collapsed: z.boolean().default(false),
  collapsible: z.boolean().optional().meta({ serverDefault: true }),
  bordered: z.boolean().optional().meta({ serverDefault: true }),
}

const container = z.strictObject({
  id: word(256),
  title: word(256),
  ...containerStyle,
  tabs: z
    .array(z.strictObject({ id: word(256), title: word(256) }))
    .max(20)
    .optional(),
})

const savedFilterValue = z.union([
  z.strictObject({ type: z.literal('sql').optional().meta({ serverDefault: 'sql' }), condition: sql }),
  z.strictObject({ type: z.literal('variable'), name: z.string(), values: z.array(z.string()) }),
])

/** The form in which dashboards are compared with the service. Files can also have shorter forms: see dashboard-file.ts. */
export const declaredDashboard = z.strictObject({
  name: word(1024).meta({ description: nameDescription }),
  tags: declaredTags,
  tiles: z.array(declaredTile).max(500),
  filters: z.array(withOneSource(z.strictObject(filterFields))).optional(),
  savedQuery: z.string().nullable().optional(),
  savedQueryLanguage: z
    .enum(['sql', 'lucene'])
    .nullable()
    .optional()
    .meta({ serverDefault: 'lucene', stateDefault: { beside: 'savedQuery' } }),
  savedFilterValues: z.array(savedFilterValue).optional(),
  containers: z.array(container).max(50).optional(),
  raw: raw.optional(),
  ...adoption,
  adopt: z.literal([true, false, 'rewrite']).optional().meta({
    description: 'Adopts the unmanaged dashboard with this name. `rewrite` accepts what its tiles with alerts lose.',
    accepts: 'true, false or rewrite',
  }),
})

export type DeclaredDashboard = z.output<typeof declaredDashboard>

/** Translates a declared dashboard into the API's names, and named sources into ids. Unknown names become diagnostics. */
function resolveDashboard(
  declared: DeclaredObject<DeclaredDashboard>,
  context: Pick<ResolveContext, 'directory' | 'sources'>,
): ResolvedDeclaration {
  const resolver = createResolver(declared, context.directory)
  const { adopt: _, id: __, previousKey: ___, raw, ...fields } = declared.value
  const body = resolveSources(fields, resolver)
  const withConnection = (tile: Body, i: number): Body => {
    const { config } = tile
    if (!isMapping(config) || config.configType !== 'sql' || config.connectionId !== undefined) return tile
    const { connection, ...others } = config
    const name = typeof connection === 'string' ? connection : undefined
    const connectionId = resolveConnection(name, context, resolver, ['tiles', i, 'config'])
    return { ...tile, config: { ...others, connectionId } }
  }
  return { body: { ...body, tiles: listOf(body.tiles).map(withConnection).map(withRaw), ...raw }, diagnostics: resolver.diagnostics }
}

/** Tiles that a summary names. */
const maxNamedTiles = 12

/** `stacked bar, Traces`, `number, SQL`, `markdown`. */
function describeConfig({ displayType, configType, sourceId }: Body, nameOf: (id: unknown) => string): string {
  const data = configType === 'sql' ? ', SQL' : sourceId === undefined ? '' : `, ${nameOf(sourceId)}`
  return `${String(displayType ?? configType).replaceAll('_', ' ')}${data}`
}

const withRaw = ({ raw, ...tile }: Body): Body => ({ ...tile, ...(isMapping(raw) && raw) })

/** The resource type of dashboards. */
export const createDashboardKind = ({ statesDefaults }: Pick<Profile, 'statesDefaults'>): Kind<DeclaredObject<DeclaredDashboard>> => ({
  name: 'dashboard',
  label: 'dashboard',
  collection: dashboardCollection,
  schema: declaredDashboard,
  statesDefaults,
  canRewrite: true,
  notInFiles: 'the parts that the API does not return',
  // The server resets the language with the query, and refuses null as the language of a query.
  clearWith: { tags: [], tiles: [], filters: [], savedQuery: null, savedQueryLanguage: undefined, savedFilterValues: [], containers: [] },
  resolve: resolveDashboard,
  summarize: ({ tiles }, nameOf) =>
    nameFirst(
      listOf(tiles).map(({ name, config }) => `${String(name)} (${describeConfig(isMapping(config) ? config : {}, nameOf)})`),
      maxNamedTiles,
    ) || 'no tiles',
  toBody: toDashboardBody,
  ...tagMarkers,
  canonical: ({ tags, tiles, ...body }) =>
    withoutEmpty({
      ...body,
      tags: withoutMarkerTags(tags).toSorted(),
      tiles: Array.isArray(tiles) ? listOf(tiles).map(effectiveTile).toSorted(byId) : tiles,
    }),
  // A tile that loses its id loses its alerts.
  carryOverIds: (desired, stored) => ({
    ...desired,
    tiles: withTileIds(listOf(desired.tiles), listOf(stored.tiles)),
    ...(Array.isArray(desired.filters) && { filters: withFilterIds(listOf(desired.filters), listOf(stored.filters)) }),
  }),
})
