// Errors name inputs as the action does. The library's callers know them as options in camelCase.
import { ApiError } from '../../platform/api/api-error.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import { InputError, type WatchkeeperError } from '../../platform/core/errors.ts'
import { toCamel, toKebab } from '../../platform/core/names.ts'
import { settingsSchema } from '../../platform/operation/inputs.ts'
import { inputNames } from '../input-names.ts'

const kebabNames: readonly string[] = [...new Set([...Object.keys(settingsSchema.shape).map(toKebab), ...inputNames])]

// A name inside of a longer word is part of a value, as in `month-to-date`. Values in quotes stay as they were given.
const optionNames = new RegExp(
  `did you mean "[^"]*"|"[^"]*"|the input(?= )|(?<![\\w-])(?:${kebabNames.filter((name) => name.includes('-')).join('|')})(?![\\w-])`,
  'g',
)

const renameWords = (text: string) =>
  text.replace(optionNames, (word) => {
    if (word === 'the input') return 'the option'
    if (word.startsWith('"')) return word
    return word.startsWith('did you mean') ? word.replace(/[a-z]+(?:-[a-z]+)+/, toCamel) : toCamel(word)
  })

/** `given` are the options of the call, as they were written. */
export function withOptionNames(error: WatchkeeperError, given: readonly string[]): WatchkeeperError {
  if (error instanceof InputError) return new InputError(error.diagnostics.map((diagnostic) => renameDiagnostic(diagnostic, given)))
  if (error instanceof ApiError) {
    // The advice has option names. The rest of the message may be the server's.
    const advice = renameWords(error.advice)
    return new ApiError({ ...error, advice, message: error.message.replace(error.advice, () => advice) })
  }
  error.message = renameWords(error.message)
  return error
}

function renameDiagnostic(diagnostic: Diagnostic, given: readonly string[]): Diagnostic {
  const { location, message } = diagnostic
  // Files have names of their own.
  if (location.line !== undefined) return diagnostic
  const { file } = location
  const name = kebabNames.includes(file) ? toCamel(file) : (given.find((one) => toKebab(one) === file) ?? file)
  return { ...diagnostic, location: { ...location, file: name }, message: renameWords(message) }
}
