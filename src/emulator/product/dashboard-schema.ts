import * as z from 'zod/v3'
import { metricType, queryLanguage } from './chart-vocabulary.ts'
import { objectId } from './request.ts'
import { series } from './series-tiles.ts'
import { tileConfig } from './tile-schema.ts'

const longestId = 256

const tile = z
  .object({
    name: z.string(),
    x: z.number().min(0).max(23),
    y: z.number().min(0),
    w: z.number().min(1).max(24),
    h: z.number().min(1),
    asRatio: z.boolean().optional(),
    series: series.optional(),
    config: tileConfig.optional(),
    containerId: z.string().min(1).max(longestId).optional(),
    tabId: z.string().min(1).max(longestId).optional(),
  })
  .superRefine(({ series: items, config, asRatio }, context) => {
    const refuse = (message: string): void => context.addIssue({ code: 'custom', message })
    if (items && config) refuse('Tile cannot have both series and config')
    if (!items && !config) refuse('Tile must have either series or config')
    if (asRatio !== undefined && config)
      refuse('asRatio property is not supported when using config property. Specify config.asRatio instead.')
  })
  .and(z.object({ id: z.string().max(36).optional() }))

const tiles = z
  .array(tile)
  .max(500)
  .superRefine((items, context) => {
    const seen = new Set<string>()
    for (const [index, { id }] of items.entries()) {
      if (!id) continue
      if (seen.has(id))
        context.addIssue({
          code: 'custom',
          path: [index, 'id'],
          message: `Duplicate tile ID: ${id}. Omit the ID to generate a unique one.`,
        })
      seen.add(id)
    }
  })

export const tags = z.array(z.string().max(32)).max(50).optional()

/** The order of the fields is the order of the product's messages. */
const filterFields = {
  type: z.enum(['QUERY_EXPRESSION']),
  name: z.string().min(1),
  expression: z.string().min(1),
  sourceMetricType: metricType.optional(),
  where: z.string().optional(),
  whereLanguage: z.enum(['sql', 'lucene']).optional(),
  appliesToSourceIds: z.array(z.string().min(1)).optional(),
  isBroadcastEnabled: z.boolean().optional(),
  isVariableEnabled: z.boolean().optional(),
  variableName: z
    .string()
    .max(64)
    .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
    .optional(),
  sourceId: objectId,
}

/** Unknown fields of a filter are refused, unlike those of everything else. */
const newFilter = z.object(filterFields).strict()
const knownFilter = z.object({ id: z.string(), ...filterFields }).strict()

type Filter = z.output<typeof newFilter>

const containerLabel = z.string().min(1).max(longestId)

const container = z.object({
  id: containerLabel,
  title: containerLabel,
  collapsed: z.boolean(),
  collapsible: z.boolean().optional(),
  bordered: z.boolean().optional(),
  tabs: z
    .array(z.object({ id: containerLabel, title: containerLabel }))
    .max(20)
    .optional(),
})

type Container = z.output<typeof container>

const fields = {
  name: z.string().max(1024),
  tiles,
  tags,
  savedQuery: z.string().nullable().optional(),
  savedQueryLanguage: queryLanguage.nullable().optional(),
  savedFilterValues: z.array(z.object({ type: z.literal('sql').optional().default('sql'), condition: z.string().max(10_000) })).optional(),
  containers: z.array(container).max(50).optional(),
}

interface Together {
  readonly savedQuery?: string | null | undefined
  readonly savedQueryLanguage?: string | null | undefined
  readonly containers?: readonly Container[] | undefined
  readonly filters?: readonly Filter[] | undefined
}

function checkTogether({ savedQuery, savedQueryLanguage, containers = [], filters = [] }: Together, context: z.RefinementCtx): void {
  if (savedQuery != null && savedQueryLanguage === null)
    context.addIssue({
      code: 'custom',
      path: ['savedQueryLanguage'],
      message: 'savedQueryLanguage cannot be null when savedQuery is provided',
    })
  checkContainers(containers, context)
  checkVariableNames(filters, context)
  checkFilterEffects(filters, context)
  checkFilterModes(filters, context)
}

function checkContainers(containers: readonly Container[], context: z.RefinementCtx): void {
  const seen = new Set<string>()
  for (const [index, { id, tabs = [] }] of containers.entries()) {
    if (seen.has(id))
      context.addIssue({ code: 'custom', path: ['containers', index, 'id'], message: `Container IDs must be unique: "${id}"` })
    seen.add(id)
    const seenTabs = new Set<string>()
    for (const [tabIndex, tab] of tabs.entries()) {
      if (seenTabs.has(tab.id))
        context.addIssue({
          code: 'custom',
          path: ['containers', index, 'tabs', tabIndex, 'id'],
          message: `Duplicate tab id "${tab.id}" in container "${id}"`,
        })
      seenTabs.add(tab.id)
    }
  }
}

function checkVariableNames(filters: readonly Filter[], context: z.RefinementCtx): void {
  const seen = new Set<string>()
  for (const [index, filter] of filters.entries()) {
    if (filter.isVariableEnabled !== true) continue
    const name = filter.variableName?.trim() || deriveVariableName(filter.name)
    const refuse = (message: string): void => context.addIssue({ code: 'custom', path: ['filters', index, 'variableName'], message })
    if (name === '') refuse(`Variable name is required for filter "${filter.name}"`)
    else if (seen.has(name)) refuse(`Variable names must be unique: "${name}"`)
    else seen.add(name)
  }
}

/** `Deploy env` is the variable `Deploy_env` unless its filter says something else. */
function deriveVariableName(filterName: string): string {
  const name = filterName
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_]+/g, '')
  return /^[0-9_]/.test(name) ? `v${name}` : name
}

function checkFilterEffects(filters: readonly Filter[], context: z.RefinementCtx): void {
  for (const [index, { name, isBroadcastEnabled, isVariableEnabled }] of filters.entries()) {
    if (isBroadcastEnabled !== false || isVariableEnabled === true) continue
    context.addIssue({
      code: 'custom',
      path: ['filters', index, 'isBroadcastEnabled'],
      message: `Filter "${name}" must broadcast its value, be available as a variable, or both`,
    })
  }
}

function checkFilterModes(filters: readonly Filter[], context: z.RefinementCtx): void {
  for (const [index, { name, isBroadcastEnabled, isVariableEnabled, variableName, appliesToSourceIds = [] }] of filters.entries()) {
    const refuse = (field: string, message: string): void => context.addIssue({ code: 'custom', path: ['filters', index, field], message })
    if (variableName !== undefined && isVariableEnabled !== true)
      refuse(
        'variableName',
        `Filter "${name}" sets variableName but is not available as a variable; set isVariableEnabled to true or drop variableName`,
      )
    if (appliesToSourceIds.length > 0 && isBroadcastEnabled === false)
      refuse(
        'appliesToSourceIds',
        `Filter "${name}" sets appliesToSourceIds but does not broadcast its value; set isBroadcastEnabled to true or drop appliesToSourceIds`,
      )
  }
}

/** A new dashboard may not name the ids of its filters; an update must. */
export const newDashboard = z.object({ ...fields, filters: z.array(newFilter).optional() }).superRefine(checkTogether)

export const knownDashboard = z.object({ ...fields, filters: z.array(knownFilter).optional() }).superRefine(checkTogether)

export type DashboardBody = z.output<typeof newDashboard> | z.output<typeof knownDashboard>
export type TileBody = DashboardBody['tiles'][number]
