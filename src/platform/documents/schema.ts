import * as z from 'zod'
import { oncePer } from '../core/concurrency.ts'
import { isMapping } from '../core/keys.ts'
import type { ValuePath } from './document.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** What a person may write, for messages. */
    accepts?: string
    /** Other words for the fields of a map, each with the field that it means, or with what to do instead. */
    aliases?: Readonly<Record<string, string>>
    /** What to write instead of other words, in lower case. */
    synonyms?: Readonly<Record<string, string>>
    /** What to do where a required value is missing. */
    missing?: string
    /** Never shown, not even when it is wrong. */
    secret?: boolean
    /** The title above the input in help. */
    group?: string
    /** What the server answers, or assumes, where a body lacks the field. Comparisons ignore it. */
    serverDefault?: unknown
    /**
     * Writes state the server's default: the server stores nothing for an absent field, and other readers of the stored object assume
     * another value. `beside`: the field of the object without which this one has no meaning, so that comparisons ignore it. `isOptional`: a
     * write states the default only beside that field.
     */
    writeDefault?: { readonly beside?: string; readonly isOptional?: true }
  }
}

export type Schema = z.core.$ZodType

export type Shape = Readonly<Record<string, Schema>>

/** The schema inside optional, default and transform. */
export function coreOf(schema: Schema): Schema {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return coreOf(schema.def.innerType)
  return schema instanceof z.ZodPipe ? coreOf(schema.def.in) : schema
}

export function isFlag(schema: Schema): boolean {
  const core = coreOf(schema)
  return core instanceof z.ZodBoolean || (core instanceof z.ZodLiteral && core.values.has(true))
}

/** Looks inside nullable, too. */
function valueSchema(schema: Schema): Schema {
  const core = coreOf(schema)
  return core instanceof z.ZodNullable ? valueSchema(core.def.innerType) : core
}

/** The metadata may be on any of the wrappers. */
export function metaOf(schema: Schema): z.GlobalMeta {
  const meta = z.globalRegistry.get(schema)
  if (meta !== undefined) return meta
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return metaOf(schema.def.innerType)
  return schema instanceof z.ZodPipe ? metaOf(schema.def.in) : {}
}

export function defaultOf(schema: Schema): unknown {
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue
  return schema instanceof z.ZodOptional ? defaultOf(schema.def.innerType) : undefined
}

export const isRequired = (schema: Schema): boolean => !z.safeParse(schema, undefined).success

/** A name may look like a number. */
export function isText(field: Schema | undefined): boolean {
  const core = field === undefined ? undefined : valueSchema(field)
  if (core instanceof z.ZodUnion) return core.options.some(isText) && !core.options.some((option) => coreOf(option) instanceof z.ZodNumber)
  return core instanceof z.ZodString || core instanceof z.ZodEnum
}

/** A file may have a key such as `toString`. */
export const ownValue = (value: unknown, key: PropertyKey): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined

export const valueAt = (value: unknown, path: ValuePath): unknown => path.reduce(ownValue, value)

/** Goes as far down as the schema; `value` is what is at its top. */
export function schemaAt(schema: Schema, path: ValuePath, value: unknown): Schema | undefined {
  const [key, ...rest] = path
  if (key === undefined) return metaOf(schema).accepts === undefined ? coreOf(schema) : schema
  const inner = innerSchema(valueSchema(schema), key, value)
  return inner === undefined ? undefined : schemaAt(inner, rest, ownValue(value, key))
}

function innerSchema(core: Schema, key: PropertyKey, value: unknown): Schema | undefined {
  if (core instanceof z.ZodObject) return fieldOf(core, String(key))
  if (core instanceof z.ZodRecord) return core.valueType
  if (core instanceof z.ZodArray && typeof key === 'number') return core.element
  const form = core instanceof z.ZodDiscriminatedUnion ? formOf(core, value) : undefined
  const option = form ?? (core instanceof z.ZodUnion ? nearestOption(core, value) : undefined)
  return option === undefined ? undefined : innerSchema(option, key, value)
}

export const elementOf = (schema: Schema | undefined): Schema | undefined => {
  const core = schema === undefined ? undefined : valueSchema(schema)
  return core instanceof z.ZodArray ? core.element : undefined
}

export const isInForm = (form: z.ZodObject, key: string): boolean => Object.hasOwn(form.shape, key)

export const fieldOf = (form: z.ZodObject, key: string): Schema | undefined => (isInForm(form, key) ? form.shape[key] : undefined)

/** A map may have several forms. */
export function knownKeys(field: Schema | undefined): readonly string[] {
  if (field instanceof z.ZodObject) return Object.keys(field.shape)
  if (field instanceof z.ZodRecord) return field.keyType instanceof z.ZodEnum ? field.keyType.options.map(String) : []
  return field instanceof z.ZodUnion ? field.options.flatMap((option) => knownKeys(coreOf(option))) : []
}

/** Whether the server would fill in the value where the field is left out. */
export const isServerDefault = (schema: z.ZodObject, key: string, value: unknown): boolean =>
  value !== undefined && unionForms(schema)[0]?.serverDefaults.get(key) === value

/** True where the field that it belongs to is empty. */
export function isUnused(schema: z.ZodObject, key: string, map: object): boolean {
  const stated = unionForms(schema)[0]?.statedDefaults.find((one) => one.key === key)
  return stated?.beside !== undefined && !ownValue(map, stated.beside)
}

/** The defaults that a write of this map has to state, by the name of the absent field. */
export function defaultsToWrite(schema: z.ZodObject, value: object): Readonly<Record<string, unknown>> {
  const stated = unionForms(schema)[0]?.statedDefaults ?? []
  const isGiven = (key: string): boolean => ownValue(value, key) != null
  const isMeant = ({ key, isOptional }: StatedDefault): boolean => !isGiven(key) && !(isOptional && isUnused(schema, key, value))
  return Object.fromEntries(stated.filter(isMeant).map(({ key, value: stated }) => [key, stated]))
}

interface StatedDefault extends NonNullable<z.GlobalMeta['writeDefault']> {
  readonly key: string
  readonly value: unknown
}

interface Form {
  readonly schema: z.ZodObject
  /** Literal fields tell the forms of a union apart. */
  readonly literals: readonly { readonly key: string; readonly values: ReadonlySet<unknown>; readonly isOptional: boolean }[]
  readonly serverDefaults: ReadonlyMap<string, unknown>
  readonly statedDefaults: readonly StatedDefault[]
}

/** The form with most of the literals of the value. Undefined where every form contradicts the value. */
export function formOf(schema: Schema | undefined, value: unknown): z.ZodObject | undefined {
  let best: { readonly form: Form; readonly matches: number } | undefined
  for (const form of schema === undefined ? [] : unionForms(schema)) {
    const { matches, contradictions } = compareLiterals(form, value)
    if (contradictions === 0 && (best === undefined || matches > best.matches)) best = { form, matches }
  }
  return best?.form.schema
}

/** What goes along `beside` a value is another value, or a path. */
export interface FormWalk<Beside> {
  /** `inner` is a field after the walk. */
  map(at: {
    readonly map: AnyMap
    readonly form: z.ZodObject | undefined
    readonly schema: Schema | undefined
    readonly beside: Beside
    inner(key: string): unknown
  }): AnyMap
  leaf?(value: unknown, schema: Schema | undefined): unknown
  into?(beside: Beside, key: string | number, item: unknown): Beside
}

type AnyMap = Readonly<Record<string, unknown>>

/** Makes a value again, map by map. */
export function mapForms<Beside>(value: AnyMap, schema: Schema | undefined, walk: FormWalk<Beside>, beside: Beside): AnyMap
export function mapForms<Beside>(value: unknown, schema: Schema | undefined, walk: FormWalk<Beside>, beside: Beside): unknown
export function mapForms<Beside>(value: unknown, schema: Schema | undefined, walk: FormWalk<Beside>, beside: Beside): unknown {
  const { into = (same: Beside) => same } = walk
  if (Array.isArray(value)) {
    const element = elementOf(schema)
    return value.map((item: unknown, i) => mapForms(item, element, walk, into(beside, i, item)))
  }
  if (!isMapping(value)) return walk.leaf === undefined ? value : walk.leaf(value, schema)
  const form = formOf(schema, value)
  const inner = (key: string): unknown => mapForms(value[key], form && fieldOf(form, key), walk, into(beside, key, value[key]))
  return walk.map({ map: value, form, schema, beside, inner })
}

/** Undefined where the value is not a map, or no option is one. */
export function nearestOption(union: z.ZodUnion, value: unknown): Schema | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const keys = Object.keys(value)
  const similarity = (form: Form): number => {
    const known = keys.filter((key) => isInForm(form.schema, key)).length
    return known - (keys.length - known) - 2 * compareLiterals(form, value).contradictions
  }
  let best: { readonly option: Schema; readonly score: number } | undefined
  for (const option of union.options.map(coreOf)) {
    const score = Math.max(...unionForms(option).map(similarity))
    if (score > (best?.score ?? Number.NEGATIVE_INFINITY)) best = { option, score }
  }
  return best?.option
}

function compareLiterals({ literals }: Form, value: unknown): { readonly matches: number; readonly contradictions: number } {
  let matches = 0
  let contradictions = 0
  for (const { key, values, isOptional } of literals) {
    const literal = ownValue(value, key)
    if (literal === undefined && isOptional) continue
    if (values.has(literal)) matches += 1
    else contradictions += 1
  }
  return { matches, contradictions }
}

/** Includes those of unions inside of unions. There are thousands of values to compare. */
const unionForms: (schema: Schema) => readonly Form[] = oncePer((schema) => {
  const core = valueSchema(schema)
  return core instanceof z.ZodObject
    ? [toForm(core)]
    : core instanceof z.ZodUnion
      ? core.options.flatMap((option) => unionForms(option))
      : []
})

function toForm(schema: z.ZodObject): Form {
  const shape: Shape = schema.shape
  const fields = Object.entries(shape)
  const literals = fields.flatMap(([key, field]) => {
    const core = coreOf(field)
    return core instanceof z.ZodLiteral ? [{ key, values: core.values, isOptional: core !== field }] : []
  })
  const defaults = fields.map(([key, field]) => [key, metaOf(field).serverDefault ?? defaultOf(field)] as const)
  const statedDefaults = fields.flatMap(([key, field]): StatedDefault[] => {
    const { serverDefault, writeDefault } = metaOf(field)
    return writeDefault === undefined ? [] : [{ key, value: serverDefault, ...writeDefault }]
  })
  return { schema, literals, serverDefaults: new Map(defaults.filter(([, value]) => value !== undefined)), statedDefaults }
}
