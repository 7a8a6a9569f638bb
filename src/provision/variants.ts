// Owns telling which of several forms somebody meant, and which part of a schema is about a value.
import * as z from 'zod'
import type { ValuePath } from './document.ts'
import { coreOf, metaOf } from './field-facts.ts'

/** The schema of the value at the path, as far down as the schema says what is inside; `value` is what stands at its top. */
export function schemaAt(schema: z.core.$ZodType, path: ValuePath, value: unknown): z.core.$ZodType | undefined {
  const [key, ...rest] = path
  if (key === undefined) return metaOf(schema).accepts === undefined ? coreOf(schema) : schema
  const inner = innerSchema(coreOf(schema), key, value)
  return inner === undefined ? undefined : schemaAt(inner, rest, ownValue(value, key))
}

function innerSchema(core: z.core.$ZodType, key: PropertyKey, value: unknown): z.core.$ZodType | undefined {
  if (core instanceof z.ZodObject) return Object.hasOwn(core.shape, key) ? core.shape[String(key)] : undefined
  if (core instanceof z.ZodRecord) return core.valueType
  if (core instanceof z.ZodArray && typeof key === 'number') return core.element
  const option = core instanceof z.ZodUnion ? nearestOption(core, value) : undefined
  return option === undefined ? undefined : innerSchema(option, key, value)
}

/** What stands there; never what every object inherits. */
export const ownValue = (value: unknown, key: PropertyKey): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<PropertyKey, unknown>)[key] : undefined

export const valueAt = (value: unknown, path: ValuePath): unknown => path.reduce(ownValue, value)

/** The form whose words the value uses; undefined where the value is no map, or no form is one. */
export function nearestOption(union: z.ZodUnion, value: unknown): z.core.$ZodType | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const options = union.options.map(coreOf).map((option) => ({ option, score: scoreOf(option, value) }))
  const best = options.reduce((a, b) => (b.score > a.score ? b : a))
  return best.score === Number.NEGATIVE_INFINITY ? undefined : best.option
}

function scoreOf(option: z.core.$ZodType, value: object): number {
  if (option instanceof z.ZodUnion) return Math.max(...option.options.map((inner) => scoreOf(coreOf(inner), value)))
  if (!(option instanceof z.ZodObject)) return Number.NEGATIVE_INFINITY
  const keys = Object.keys(value)
  const known = keys.filter((key) => Object.hasOwn(option.shape, key)).length
  const fixed = Object.entries(option.shape as Record<string, z.core.$ZodType>).filter(([, field]) => coreOf(field) instanceof z.ZodLiteral)
  const contradicted = fixed.filter(([key, field]) => !z.safeParse(field, ownValue(value, key)).success)
  return known - (keys.length - known) - 2 * contradicted.length
}

/** Every key that some form of the value has. */
export function knownKeys(field: z.core.$ZodType | undefined): readonly string[] {
  if (field instanceof z.ZodObject) return Object.keys(field.shape)
  if (field instanceof z.ZodRecord) return field.keyType instanceof z.ZodEnum ? field.keyType.options.map(String) : []
  return field instanceof z.ZodUnion ? field.options.flatMap((option) => knownKeys(coreOf(option))) : []
}

/** Whether a text may stand here and no number: a name may look like one. */
export function isText(field: z.core.$ZodType | undefined): boolean {
  const core = field === undefined ? undefined : coreOf(field)
  if (core instanceof z.ZodNullable) return isText(core.unwrap())
  if (core instanceof z.ZodUnion) return core.options.some(isText) && !core.options.some((option) => coreOf(option) instanceof z.ZodNumber)
  return core instanceof z.ZodString || core instanceof z.ZodEnum
}
