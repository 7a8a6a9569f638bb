// A budget in a variable that is never read would be ignored without a hint.

import { inputDiagnostic } from '../platform/core/diagnostics.ts'
import { fileVariablePrefix, meantName, toEnvironmentName, toKebab, variableName, whyDropped } from '../platform/core/names.ts'
import { namesAtMost, quote } from '../platform/core/text.ts'
import type { Variables } from '../platform/core/variables.ts'
import { fileInputs, settingsSchema } from '../platform/operation/inputs.ts'
import { inputNames, variableInputs } from './input-names.ts'

/** Set to 1, it turns the debug log on. */
export const debugVariable = 'WATCHKEEPER_DEBUG'

const variablePrefix = toEnvironmentName('')

const variableNames: readonly string[] = [...Object.keys(settingsSchema.shape).map(toKebab), ...variableInputs, ...fileInputs, 'debug']

const knownNames: readonly string[] = [...new Set([...variableNames, ...inputNames])]

/** One that resembles an input of any operation is an error. Another tool may read any other one. */
export function checkVariables(env: Variables) {
  const given = Object.keys(env).filter(
    (variable) =>
      variable.startsWith(variablePrefix) &&
      env[variable]?.trim() &&
      // Kubernetes sets these in every pod beside a Service with the name `watchkeeper`.
      !/^WATCHKEEPER_(?:SERVICE_(?:HOST|PORT)|PORT)(?:_\w+)?$/.test(variable) &&
      !(variable.startsWith(fileVariablePrefix) && variableName.test(variable.slice(fileVariablePrefix.length))),
  )
  const unread = given
    .map((variable) => ({ variable, name: variable.slice(variablePrefix.length).toLowerCase().replaceAll('_', '-') }))
    .filter(({ variable, name }) => !variableNames.includes(name) || variable !== toEnvironmentName(name))
    .map(({ variable, name }) => ({ variable, problem: describeUnread(variable, name) }))
  const unknown = unread.filter(({ problem }) => problem === undefined).map(({ variable }) => variable)
  const named = unknown.map((variable) => quote(variable))
  return {
    diagnostics: unread.flatMap(({ variable, problem }) => (problem === undefined ? [] : [inputDiagnostic(quote(variable), problem)])),
    warnings:
      unknown.length === 0
        ? []
        : [`Unknown variables with the prefix ${variablePrefix} are ignored: ${namesAtMost(10, named)}. No input has such a name.`],
  }
}

/** Undefined for a name that resembles none. */
function describeUnread(variable: string, name: string) {
  const dropped = whyDropped(name)
  if (dropped !== undefined) return dropped
  // A shorter word resembles too many names.
  const meant = knownNames.includes(name) ? name : name.length < 5 ? undefined : meantName(name, knownNames)
  if (meant === undefined) return undefined
  if (variableNames.includes(meant)) return `unknown variable; did you mean ${toEnvironmentName(meant)}?`
  const rule = 'only common inputs have a variable'
  if (variable === toEnvironmentName(meant))
    return `is not read, because ${rule}; remove it, and set the input ${meant} where an operation needs it`
  return `unknown variable; did you mean the input ${meant}? It has no variable, because ${rule}`
}
