// Owns the common settings that the environment sets, and what of it is misspelt. Loaded by every run: keep it light.
import type { Problem } from '../kernel/errors.ts'
import { nearestName, toEnvironmentName, toKebab } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import { settingsSchema } from '../operations/settings.ts'
import type { Shape } from '../provision/field-facts.ts'
import { decode } from './decode.ts'

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
export function misplacedVariables(env: Environment, inputNames: readonly string[]): readonly Problem[] {
  return [...misspeltVariables(env, inputNames), ...unreadVariables(env, inputNames)]
}

const prefix = toEnvironmentName('')

/** Others may have variables that begin like ours; those that are one slip away from a setting are meant to be one. */
function misspeltVariables(env: Environment, inputNames: readonly string[]): readonly Problem[] {
  const known = settingNames.map((name) => toEnvironmentName(toKebab(name)))
  const inputs = inputNames.map((name) => toEnvironmentName(toKebab(name)))
  return Object.keys(env).flatMap((variable) => {
    if (!variable.startsWith(prefix) || known.includes(variable) || inputs.includes(variable)) return []
    const meant = nearestName(
      variable.slice(prefix.length),
      known.map((name) => name.slice(prefix.length)),
    )
    return meant === undefined ? [] : [{ name: quote(variable, 60), message: `is no variable of ours, did you mean ${prefix}${meant}?` }]
  })
}

function unreadVariables(env: Environment, inputNames: readonly string[]): readonly Problem[] {
  return inputNames
    .map((name) => ({ kebab: toKebab(name), variable: toEnvironmentName(toKebab(name)) }))
    .filter(({ variable }) => env[variable]?.trim())
    .map(({ kebab, variable }) => ({
      name: variable,
      message: `is never read: only common inputs have a variable; give the input ${kebab}`,
    }))
}
