// Owns where common settings come from: the input wins over the environment, which wins over the repository's config file.
import type { Problem } from '../kernel/errors.ts'
import { didYouMean, nearestName, toCamel, toEnvironmentName, toKebab } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import { lintSettingsSchema } from '../operations/lint-settings.ts'
import { fileSettings, settingsSchema } from '../operations/settings.ts'
import { complaintsOf } from '../provision/complaints.ts'
import { readDocument } from '../provision/document.ts'
import type { Shape } from '../provision/field-facts.ts'
import type { LintSettings } from '../provision/lint.ts'
import { formatPlace } from '../provision/place.ts'
import { decode } from './decode.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Values by camelCase name. */
export type Values = Readonly<Record<string, unknown>>

const settingFields: Shape = settingsSchema.shape

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

/** The settings of a config file, whose keys are spelled like inputs. What may not be set in a repository is a problem. */
export interface Config {
  readonly values: Values
  readonly lintSettings: LintSettings
  readonly problems: readonly Problem[]
}

export function readConfig(text: string, file: string): Config {
  const reading = readDocument(text, file)
  if ('complaints' in reading)
    return {
      values: {},
      lintSettings: {},
      problems: reading.complaints.map(({ place, message }) => ({ name: formatPlace(place), message })),
    }
  const { value } = reading
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { values: {}, lintSettings: {}, problems: [{ name: file, message: 'is no map of settings' }] }
  const values: Record<string, unknown> = {}
  const problems: Problem[] = []
  const { rules, ...rest } = value as { readonly rules?: unknown }
  const lintSettings = lintSettingsSchema.safeParse(rules ?? {})
  if (!lintSettings.success)
    problems.push(
      ...complaintsOf(lintSettings.error, reading, lintSettingsSchema, ['rules']).map(({ place, message }) => ({
        name: formatPlace(place),
        message,
      })),
    )
  for (const [key, setting] of Object.entries(rest)) {
    const name = toCamel(key)
    const field = settingFields[name]
    if (fileSettings.some((allowed) => allowed === name) && field)
      values[name] = typeof setting === 'string' ? decode(field, setting) : setting
    else problems.push({ name: file, message: `"${quote(key, 60)}" ${whyNot(name)}` })
  }
  return { values, lintSettings: lintSettings.data ?? {}, problems }
}

const whyNot = (name: string): string =>
  settingNames.includes(name)
    ? 'may not be set by a file in the repository: give it as an input or a variable'
    : `is no setting${didYouMean(name, fileSettings.map(toKebab))}`
