// Owns which form of a schema a value has. What a schema says is looked up once: there are thousands of values for each.
import * as z from 'zod'
import { coreOf, defaultOf, metaOf } from './field-facts.ts'
import { ownValue } from './variants.ts'

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
