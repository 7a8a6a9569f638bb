import * as z from 'zod/v3'
import { alertFields } from '../product/alerts.ts'
import { changedDashboard, newDashboard } from '../product/dashboards.ts'
import { savedSearch } from '../product/saved-searches.ts'
import { sourceBody } from '../product/sources.ts'
import { builderFields, sqlFields, tileConfig } from '../product/tile-schema.ts'
import { webhook } from '../product/webhooks.ts'
import { isJsonObject, type JsonObject } from '../store.ts'

// The properties of request bodies in the vendor's OpenAPI document of 2026-07-31, with its additions of 2026-09. They are those that the
// product knows, except for the differences below. Only their names are checked here. The product checks their values.

/** `any`: any value. A list describes the items of a list. A function chooses the shape by the value. */
export type BodyShape = 'any' | FieldShapes | readonly [BodyShape] | ((value: JsonObject) => BodyShape)

interface FieldShapes {
  readonly [name: string]: BodyShape
}

const namesOnly = (names: string): FieldShapes => Object.fromEntries(names.split(' ').map((name) => [name, 'any']))

const documentedFields = (fields: z.ZodRawShape, undocumented = ''): FieldShapes =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => (undocumented.split(' ').includes(name) ? [] : [[name, shapeOf(field)]])),
  )

function shapeOf(schema: z.ZodTypeAny): BodyShape {
  if (schema === tileConfig) return configShape
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return shapeOf(schema.unwrap())
  if (schema instanceof z.ZodDefault) return shapeOf(schema.removeDefault())
  if (schema instanceof z.ZodEffects) return shapeOf(schema.innerType())
  if (schema instanceof z.ZodArray) return [shapeOf(schema.element)]
  if (schema instanceof z.ZodObject) return documentedFields(schema.shape)
  if (schema instanceof z.ZodIntersection)
    return Object.assign({}, ...[schema._def.left, schema._def.right].map((part: z.ZodTypeAny) => shapeOf(part)))
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const shapes = new Map([...schema.optionsMap].map(([value, option]) => [value, shapeOf(option)]))
    return (value) => shapes.get(value[schema.discriminator] as z.Primitive) ?? 'any' // Only a primitive is found.
  }
  return 'any'
}

/** A display type that is not in the document may have any field. */
function configShape({ displayType, configType }: JsonObject): BodyShape {
  const isSql = configType === 'sql'
  const fields = (isSql ? sqlFields : builderFields)[String(displayType)]
  return fields === undefined ? 'any' : { displayType: 'any', ...documentedFields(fields, isSql ? 'seriesLimit' : '') }
}

const channelShape = namesOnly('type emailRecipients webhookId webhookService slackChannelId severity')

const undocumented: Readonly<Record<string, string>> = {
  log: 'orderByExpression tableFilterExpression',
  trace: 'orderByExpression displayedTimestampValueExpression sampleRateExpression spanLinksValueExpression',
  session: 'resourceAttributesExpression',
  metric: 'serviceNameExpression seriesTable',
}

const sourceShapes: Readonly<Record<string, FieldShapes>> = Object.fromEntries(
  sourceBody.options.map(({ shape }) => {
    const { value: kind } = shape.kind
    const filterSettings = { ...namesOnly('databaseName tableName'), columns: [namesOnly('name label allowAll valueExpression')] } as const
    return [kind, { id: 'any', ...('materializedViews' in shape && { filterSettings }), ...documentedFields(shape, undocumented[kind]) }]
  }),
)

const dashboardShape = (schema: typeof newDashboard | typeof changedDashboard): BodyShape => ({
  ...documentedFields(schema.innerType().shape),
  savedFilterValues: [namesOnly('type condition name values')],
})

/** Bodies of updates have the fields of creates, except for those of dashboards. */
export const bodyShapes: Readonly<Record<string, BodyShape>> = {
  'POST dashboards': dashboardShape(newDashboard),
  'PUT dashboards': dashboardShape(changedDashboard),
  'POST alerts': { ...documentedFields(alertFields), channel: channelShape, channels: [channelShape] },
  'POST saved-searches': { ...documentedFields(savedSearch.shape), filters: [namesOnly('type condition')] },
  'POST webhooks': shapeOf(webhook),
  'POST sources': ({ kind }) => sourceShapes[String(kind)] ?? 'any',
}

type AcceptsField = (name: string) => boolean

/** The first property of the body that the document does not have, as a path such as `tiles.0.config.nonsense`. */
export const findUndocumented = (body: JsonObject, method: string, resource: string, acceptsField: AcceptsField): string | undefined =>
  findExtra(body, bodyShapes[`${method} ${resource}`] ?? bodyShapes[`POST ${resource}`] ?? 'any', [], acceptsField)

function findExtra(value: unknown, shape: BodyShape, path: readonly string[], acceptsField: AcceptsField): string | undefined {
  if (typeof shape === 'function') return isJsonObject(value) ? findExtra(value, shape(value), path, acceptsField) : undefined
  if (shape === 'any' || !(isList(shape) ? Array.isArray(value) : isJsonObject(value))) return undefined
  const innerOf = (name: string) => (isList(shape) ? shape[0] : Object.hasOwn(shape, name) ? shape[name] : undefined)
  for (const [name, item] of Object.entries(Object(value))) {
    if (!isList(shape) && acceptsField(name)) continue
    const [inner, at] = [innerOf(name), [...path, name]]
    const found = inner === undefined ? at.join('.') : findExtra(item, inner, at, acceptsField)
    if (found !== undefined) return found
  }
  return undefined
}

const isList = (shape: BodyShape): shape is readonly [BodyShape] => Array.isArray(shape)
