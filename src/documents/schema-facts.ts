import * as z from 'zod'
import type { ValuePath } from './document.ts'

// Owns reading a field's schema: what it is inside its wrapping, what was said of it, whether it is needed.

export type Shape = Readonly<Record<string, z.core.$ZodType>>

/** The schema inside optional, default and transform. */
export function coreOf(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return coreOf(schema.def.innerType)
  return schema instanceof z.ZodPipe ? coreOf(schema.def.in) : schema
}

/** What was said of a field, wherever in its wrapping it was said. */
export function metaOf(schema: z.core.$ZodType): z.GlobalMeta {
  const meta = z.globalRegistry.get(schema)
  if (meta !== undefined) return meta
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return metaOf(schema.def.innerType)
  return schema instanceof z.ZodPipe ? metaOf(schema.def.in) : {}
}

/** The value that stands in when none is given. */
export function defaultOf(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue
  return schema instanceof z.ZodOptional ? defaultOf(schema.def.innerType) : undefined
}

export const isRequired = (schema: z.core.$ZodType): boolean => !z.safeParse(schema, undefined).success

// Owns telling which of several forms somebody meant, and which part of a schema is about a value.

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

// Owns which form of a schema a value has. What a schema says is looked up once: there are thousands of values for each.

declare module 'zod' {
  interface GlobalMeta {
    /** What the server answers, or assumes, where a body lacks the field. Compared, it is as if it were not there. */
    serverDefault?: unknown
  }
}

export type Schema = z.core.$ZodType

/** One of a field's accepted words, that tells which form a value has. */
interface FixedWord {
  readonly key: string
  readonly words: ReadonlySet<unknown>
  readonly isOptional: boolean
}

/** What is there to know of a schema; nothing, where it is neither a map, nor a list, nor a choice of them. */
interface Reading {
  readonly form?: z.ZodObject
  readonly fixed: readonly FixedWord[]
  readonly options: readonly Schema[]
  readonly element?: Schema
  /** What the fields of a form are when they are not given, as far as that is known. */
  readonly defaults?: ReadonlyMap<string, unknown>
}

const readings = new WeakMap<Schema, Reading>()

/** The form whose fixed words the value has; of several, the one that it shares most of them with. */
export function formOf(schema: Schema | undefined, value: unknown): z.ZodObject | undefined {
  return schema === undefined ? undefined : bestForm(schema, value)?.form
}

export const elementOf = (schema: Schema | undefined): Schema | undefined => (schema === undefined ? undefined : read(schema).element)

export const isKnown = (form: z.ZodObject, key: string): boolean => Object.hasOwn(form.shape, key)

export const fieldOf = (form: z.ZodObject, key: string): Schema | undefined => (isKnown(form, key) ? form.shape[key] : undefined)

/** Whether the value is what the server makes of a field that is not given. */
export const isServerDefault = (form: z.ZodObject, key: string, value: unknown): boolean => {
  const { defaults } = read(form)
  return defaults?.has(key) === true && defaults.get(key) === value
}

interface Candidate {
  readonly form: z.ZodObject
  readonly words: number
}

function bestForm(schema: Schema, value: unknown): Candidate | undefined {
  const { form, fixed, options } = read(schema)
  if (form !== undefined) {
    const words = countWords(fixed, value)
    return words === undefined ? undefined : { form, words }
  }
  let best: Candidate | undefined
  for (const option of options) {
    const candidate = bestForm(option, value)
    if (candidate !== undefined && (best === undefined || candidate.words > best.words)) best = candidate
  }
  return best
}

/** How many of the fixed words stand in the value; undefined when one contradicts. */
function countWords(fixed: readonly FixedWord[], value: unknown): number | undefined {
  let count = 0
  for (const { key, words, isOptional } of fixed) {
    const word = ownValue(value, key)
    if (word === undefined && isOptional) continue
    if (!words.has(word)) return undefined
    count += 1
  }
  return count
}

function read(schema: Schema): Reading {
  const known = readings.get(schema)
  if (known !== undefined) return known
  const reading = readAnew(schema)
  readings.set(schema, reading)
  return reading
}

function readAnew(schema: Schema): Reading {
  const core = bare(schema)
  const nothing = { fixed: [], options: [] }
  if (core instanceof z.ZodObject) return { ...nothing, form: core, fixed: fixedWordsOf(core), defaults: defaultsOf(core) }
  if (core instanceof z.ZodArray) return { ...nothing, element: core.element }
  return core instanceof z.ZodUnion ? { ...nothing, options: core.options } : nothing
}

const fixedWordsOf = (form: z.ZodObject): readonly FixedWord[] =>
  Object.entries(form.shape as Record<string, Schema>).flatMap(([key, field]) => {
    const core = coreOf(field)
    return core instanceof z.ZodLiteral ? [{ key, words: core.values, isOptional: core !== field }] : []
  })

function defaultsOf(form: z.ZodObject): ReadonlyMap<string, unknown> {
  const fields = Object.entries(form.shape as Record<string, Schema>)
  const defaults = fields.map(([key, field]) => [key, metaOf(field).serverDefault ?? defaultOf(field)] as const)
  return new Map(defaults.filter(([, value]) => value !== undefined))
}

function bare(schema: Schema): Schema {
  const core = coreOf(schema)
  return core instanceof z.ZodNullable ? bare(core.def.innerType) : core
}
