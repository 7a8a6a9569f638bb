// Owns the line between what files say of an object and what they leave to others: fields that no schema of ours knows
// belong to somebody else, are not compared, and survive every update.
import * as z from 'zod'
import { coreOf } from './field-facts.ts'
import { isMap } from './normal-form.ts'
import { ownValue } from './variants.ts'

type Schema = z.core.$ZodType

/** What of the actual value the desired one has a say in. */
export function managedPart(actual: unknown, desired: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(actual)) {
    const others = Array.isArray(desired) ? desired : []
    const element = elementOf(schema)
    return actual.map((item, i) => managedPart(item, partnerOf(item, i, others), element))
  }
  if (!isMap(actual)) return actual
  const form = formOf(schema, desired ?? actual)
  // Another form of the same thing: all of it is replaced, so all of it is compared.
  if (form === undefined || formOf(schema, actual) !== form) return actual
  const said = isMap(desired) ? desired : {}
  const kept = Object.entries(actual).filter(([key]) => isKnown(form, key) || Object.hasOwn(said, key) || key === 'id')
  return Object.fromEntries(kept.map(([key, value]) => [key, managedPart(value, ownValue(said, key), fieldOf(form, key))]))
}

/** The desired value, with everything of the actual one that it has no say in. */
export function overlay(desired: unknown, actual: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(desired)) {
    const others = Array.isArray(actual) ? actual : []
    const element = elementOf(schema)
    return desired.map((item, i) => overlay(item, partnerOf(item, i, others), element))
  }
  if (!isMap(desired) || !isMap(actual)) return desired
  const form = formOf(schema, desired)
  if (form === undefined || formOf(schema, actual) !== form) return desired
  const foreign = Object.entries(actual).filter(([key]) => !isKnown(form, key) && !Object.hasOwn(desired, key))
  const own = Object.entries(desired).map(([key, value]) => [key, overlay(value, ownValue(actual, key), fieldOf(form, key))] as const)
  return Object.fromEntries([...foreign, ...own])
}

/** By id where there is one; otherwise what stands in the same place. */
function partnerOf(item: unknown, index: number, others: readonly unknown[]): unknown {
  const id = ownValue(item, 'id')
  return typeof id === 'string' ? others.find((other) => ownValue(other, 'id') === id) : others[index]
}

const isKnown = (form: z.ZodObject, key: string): boolean => Object.hasOwn(form.shape, key)

const fieldOf = (form: z.ZodObject, key: string): Schema | undefined => (isKnown(form, key) ? form.shape[key] : undefined)

function elementOf(schema: Schema | undefined): Schema | undefined {
  const core = schema === undefined ? undefined : bare(schema)
  return core instanceof z.ZodArray ? core.element : undefined
}

function bare(schema: Schema): Schema {
  const core = coreOf(schema)
  return core instanceof z.ZodNullable ? bare(core.def.innerType) : core
}

/** The form whose fixed words the value has; of several, the one that it shares most of them with. */
function formOf(schema: Schema | undefined, value: unknown): z.ZodObject | undefined {
  const core = schema === undefined ? undefined : bare(schema)
  if (core instanceof z.ZodObject) return fixedWords(core, value) === undefined ? undefined : core
  if (!(core instanceof z.ZodUnion)) return undefined
  let best: { form: z.ZodObject; words: number } | undefined
  for (const option of core.options) {
    const form = formOf(option, value)
    const words = form === undefined ? undefined : fixedWords(form, value)
    if (form !== undefined && words !== undefined && (best === undefined || words > best.words)) best = { form, words }
  }
  return best?.form
}

/** How many of the form's fixed words stand in the value; undefined when one contradicts. */
function fixedWords(form: z.ZodObject, value: unknown): number | undefined {
  let count = 0
  for (const [key, field] of Object.entries(form.shape as Record<string, Schema>)) {
    const core = coreOf(field)
    if (!(core instanceof z.ZodLiteral)) continue
    const word = ownValue(value, key)
    if (word === undefined && core !== field) continue
    if (!core.values.has(word as z.core.util.Literal)) return undefined
    count += 1
  }
  return count
}
