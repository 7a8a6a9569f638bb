import * as z from 'zod'
import { adoption, declaredTags, nameDescription, sourceFields, sourceReference, withOneSource, word } from '../fields.ts'
import { declaredTile, defaulted, language, metricType, raw, sql } from './tile-schema.ts'

const variableName = z
  .string()
  .max(64)
  .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
  .optional()

/** Only servers newer than HyperDX 2.36 have them (hyperdx#3078). They answer both only where a selection is required. */
const requirement = {
  minSelections: z.int().min(0).optional().meta({
    description: 'With 1, tiles that use the filter wait until a value is selected. Only newer servers have it.',
    serverDefault: 0,
  }),
  isGlobalRequirement: z.boolean().optional().meta({
    description: 'Whether all tiles wait for the selection. Needs minSelections.',
    serverDefault: false,
  }),
}

const withRequirement = <Schema extends z.ZodType<{ minSelections?: number | undefined; isGlobalRequirement?: boolean | undefined }>>(
  schema: Schema,
): Schema =>
  schema.refine(({ minSelections = 0, isGlobalRequirement }) => minSelections > 0 || !isGlobalRequirement, {
    path: ['isGlobalRequirement'],
    message: 'has no effect without minSelections',
    params: { isComplete: true },
  })

export const filterFields = {
  type: z.literal('QUERY_EXPRESSION').default('QUERY_EXPRESSION'),
  name: z.string().min(1),
  expression: z.string().min(1),
  ...sourceFields,
  sourceMetricType: metricType.optional(),
  where: sql.optional(),
  // The default is lucene everywhere but in filters. The editor of the web app uses its user's language for an absent one.
  whereLanguage: language.optional().meta({ serverDefault: 'sql', writeDefault: { beside: 'where', isOptional: true } }),
  appliesToSources: z.array(z.string().min(1)).optional().meta({ description: 'Names of the sources that the filter applies to.' }),
  appliesToSourceIds: z
    .array(sourceReference)
    .optional()
    .meta({ ref: { to: 'source', wire: 'appliesToSourceIds', by: 'id' } }),
  isBroadcastEnabled: defaulted(z.boolean(), true),
  isVariableEnabled: defaulted(z.boolean(), false),
  variableName,
  ...requirement,
}

/** A filter with fixed values. It has no expression, so it is only a variable (hyperdx#3017). Only servers newer than HyperDX 2.36 have it. */
const staticFilterFields = {
  type: z.literal('STATIC_LIST'),
  name: z.string().min(1),
  options: z.array(z.string().min(1).max(10_000)).min(1).max(1000).meta({ description: 'The values to choose from.' }),
  isBroadcastEnabled: z.literal(false).default(false),
  isVariableEnabled: z.literal(true).default(true),
  variableName,
  ...requirement,
}

const filter = z
  .union([
    withRequirement(withOneSource(z.strictObject(filterFields))),
    withRequirement(z.strictObject(staticFilterFields).meta({ aliases: { values: 'options' } })),
  ])
  .meta({ id: 'filter' })

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
  tiles: z.array(declaredTile).max(500).meta({ clear: [] }),
  filters: z.array(filter).optional().meta({ clear: [] }),
  savedQuery: z.string().nullable().optional().meta({ clear: null }),
  savedQueryLanguage: z
    .enum(['sql', 'lucene'])
    .nullable()
    .optional()
    // The server resets it with the query, and refuses null as the language of a query.
    .meta({ serverDefault: 'lucene', writeDefault: { beside: 'savedQuery', isOptional: true }, clear: undefined }),
  savedFilterValues: z.array(savedFilterValue).optional().meta({ clear: [] }),
  containers: z.array(container).max(50).optional().meta({ clear: [] }),
  raw: raw.optional(),
  ...adoption,
})

export type DeclaredDashboard = z.output<typeof declaredDashboard>
