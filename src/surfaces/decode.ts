// Owns turning the strings of inputs, flags and variables into native values. A string that means nothing stays one: the schema
// then refuses it with words. Nothing is coerced: '' is not 0, 'false' is not true.
import * as z from 'zod'
import { coreOf, metaOf, type Shape } from '../provision/field-facts.ts'

const numberGrammar = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?(?:[eE][+-]?\d{1,2})?$/

/** `text` is trimmed; an empty one never gets here, because it means not given. */
export function decode(schema: z.core.$ZodType, text: string): unknown {
  const core = coreOf(schema)
  if (core instanceof z.ZodBoolean) return decodeBoolean(text)
  if (core instanceof z.ZodNumber) return numberGrammar.test(text) ? Number(text) : text
  if (core instanceof z.ZodArray) return decodeItems(text, metaOf(schema).commas ? /[\n,]/ : '\n')
  return text
}

/** Decodes the strings among the values; others are native already. */
export const decodeAll = (shape: Shape, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' && shape[name] ? decode(shape[name], value) : value]),
  )

// As the runner's own getBooleanInput, which follows YAML's core schema.
function decodeBoolean(text: string): boolean | string {
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  return /^(?:false|False|FALSE)$/.test(text) ? false : text
}

const decodeItems = (text: string, separator: string | RegExp): readonly string[] =>
  text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '')
