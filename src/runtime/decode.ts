import * as z from 'zod'
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { nearestName, toEnvironmentName, toKebab } from '../core/names.ts'
import { quote } from '../core/text.ts'
import { coreOf, metaOf, type Shape } from '../documents/schema.ts'
import { settingsSchema } from '../operation/settings.ts'

// Owns turning the strings of inputs, flags and variables into native values. A string that means nothing stays one: the schema
// then refuses it with words. Nothing is coerced: '' is not 0, 'false' is not true.

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

// Owns the common settings that the environment sets, and what of it is misspelt. Loaded by every run: keep it light.

export type Environment = Readonly<Record<string, string | undefined>>

/** Values by camelCase name. */
export type Values = Readonly<Record<string, unknown>>

export const settingFields: Shape = settingsSchema.shape

export const settingNames: readonly string[] = Object.keys(settingFields)

/** The common settings that the environment sets, each by `WATCHKEEPER_` and its name. */
export function readEnvironment(env: Environment): Values {
  const found = settingNames.flatMap((name) => {
    const text = env[toEnvironmentName(toKebab(name))]?.trim()
    const field = settingFields[name]
    return text && field ? [[name, decode(field, text)] as const] : []
  })
  return Object.fromEntries(found)
}

/**
 * A variable that is never read although it is spelled like an input of this operation: its author believes that it sets one,
 * and a budget that is not set must not look like one.
 */
export function misplacedVariables(env: Environment, inputNames: readonly string[]): readonly Diagnostic[] {
  return [...misspeltVariables(env, inputNames), ...unreadVariables(env, inputNames)]
}

const prefix = toEnvironmentName('')

/** Others may have variables that begin like ours; those that are one slip away from a setting are meant to be one. */
function misspeltVariables(env: Environment, inputNames: readonly string[]): readonly Diagnostic[] {
  const known = settingNames.map((name) => toEnvironmentName(toKebab(name)))
  const inputs = inputNames.map((name) => toEnvironmentName(toKebab(name)))
  return Object.keys(env).flatMap((variable) => {
    if (!variable.startsWith(prefix) || known.includes(variable) || inputs.includes(variable)) return []
    const meant = nearestName(
      variable.slice(prefix.length),
      known.map((name) => name.slice(prefix.length)),
    )
    return meant === undefined ? [] : [inputDiagnostic(quote(variable, 60), `is no variable of ours, did you mean ${prefix}${meant}?`)]
  })
}

function unreadVariables(env: Environment, inputNames: readonly string[]): readonly Diagnostic[] {
  return inputNames
    .map((name) => ({ kebab: toKebab(name), variable: toEnvironmentName(toKebab(name)) }))
    .filter(({ variable }) => env[variable]?.trim())
    .map(({ kebab, variable }) => inputDiagnostic(variable, `is never read: only common inputs have a variable; give the input ${kebab}`))
}
