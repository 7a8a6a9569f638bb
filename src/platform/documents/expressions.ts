// Expressions in files: `${{ env.NAME }}` and `${{ instance.NAME }}`.

import { credentialIn, mayBeCredential } from '../core/credentials.ts'
import { mapItems } from '../core/keys.ts'
import { didYouMean, fileVariablePrefix, variableName } from '../core/names.ts'
import { quote } from '../core/text.ts'
import type { ValuePath } from './document.ts'

export interface InterpolateOptions {
  readonly variable: (name: string) => string | undefined
  /** A text stays one even if it looks like a number. */
  readonly isText?: (path: ValuePath) => boolean
  readonly instance?: InstanceScope | undefined
  readonly room: ExpansionBudget
  /** After the advice to set a variable: where else it can be set. */
  readonly elsewhere?: string
}

/** Counts down what may still be inserted; negative once it was exceeded. */
export interface ExpansionBudget {
  characters: number
}

/** All files together may have this size before expansion, too. */
export const newRoom = (): ExpansionBudget => ({ characters: 20_000_000 })

export const exceedsRoom = 'make the files larger than 20 MB after expansion'

/** GitHub has this limit for a variable. */
const maxValueLength = 48 * 1024

type InstanceValue = string | number | boolean

export interface InstanceScope {
  readonly key: string
  readonly values: ReadonlyMap<string, InstanceValue>
}

/** Credentials, unset variables and other expressions are errors. */
export function interpolate(value: unknown, options: InterpolateOptions) {
  const errors: { path: ValuePath; message: string }[] = []
  const visit = (part: unknown, path: ValuePath): unknown =>
    typeof part === 'string'
      ? interpolateText(part, options, path, (message) => errors.push({ path, message }))
      : mapItems(part, (item, key) => visit(item, [...path, key]))
  return { value: visit(value, []), errors }
}

// An expression ends at its brackets, or is not closed at all.
const expressionForm = /\$\{\{((?:(?!\}\}).)*)(\}\}|$)/gs

/** Also true for the escape of a literal `${{`. */
export const hasExpression = (text: string): boolean => text.includes('${{')

/** A literal `${{` is an expression whose value is a text, as on GitHub: `${{ '${{' }}`. */
const literalText = "'${{'"

const escapedLiteral = `\${{ ${literalText} }}`

export const hasVariable = (text: string): boolean => hasExpression(text.replaceAll(escapedLiteral, ''))

export function escapeExpressions(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>

export function escapeExpressions(value: unknown): unknown

export function escapeExpressions(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('${{', () => escapedLiteral) : mapItems(value, escapeExpressions)
}

const nameAfter = (prefix: string, inside: string) => {
  const name = inside.startsWith(prefix) ? inside.slice(prefix.length) : ''
  return variableName.test(name) ? name : undefined
}

export const countExpressions = (text: string): number => [...text.matchAll(expressionForm)].length

export const instanceNamesIn = (text: string): readonly string[] =>
  [...text.matchAll(expressionForm)].flatMap(([, within = '', end]) => (end === '' ? [] : (nameAfter('instance.', within.trim()) ?? [])))

type Evaluated = { readonly value: InstanceValue } | { readonly message: string }

function evaluateExpression(inside: string, options: InterpolateOptions): Evaluated {
  const name = nameAfter('instance.', inside)
  const found = name === undefined ? evaluateVariable(inside, nameAfter('env.', inside), options) : evaluateInstance(name, options.instance)
  return 'value' in found ? limitedValue(found.value, inside, options.room) : found
}

/** One value must not make a text larger than the memory, and neither must many. */
function limitedValue(value: InstanceValue, inside: string, room: ExpansionBudget): Evaluated {
  const { length } = String(value)
  if (length > maxValueLength) return { message: `\${{ ${inside} }} is longer than 48 KiB` }
  room.characters -= length
  return room.characters < 0 ? { message: `the values of expressions ${exceedsRoom}` } : { value }
}

function evaluateInstance(name: string, instance: InstanceScope | undefined): Evaluated {
  const text = `\${{ instance.${name} }}`
  if (instance === undefined) return { message: `${text} is only for the objects of a file with instances` }
  const value = instance.values.get(name)
  if (value !== undefined) return { value }
  const nearest = didYouMean(name, instance.values.keys())
  const place = `instances.${quote(instance.key)}, or to defaults.instances`
  return { message: `${text} has no value${nearest || `; add ${name} to ${place}`}` }
}

const namedSecret = 'A webhook names a variable of the process, such as urlFrom: WEBHOOK_ONCALL_URL'

// A file in a pull request must not send credentials anywhere, even those that were passed by mistake.
function evaluateVariable(inside: string, name: string | undefined, { variable, instance, elsewhere = '' }: InterpolateOptions): Evaluated {
  if (name === undefined) {
    if (/^secrets?\./.test(inside))
      return { message: `\${{ ${quote(inside)} }} is not supported; files contain no secrets. ${namedSecret}` }
    const names = ['env.NAME', ...(instance === undefined ? [] : ['instance.NAME'])].map((one) => `\${{ ${one} }}`).join(' or ')
    return { message: `\${{ ${quote(inside)} }} is not supported; use ${names}` }
  }
  const text = `\${{ env.${name} }}`
  const value = mayBeCredential(name) ? undefined : variable(name)
  const kind = value === undefined || value.length > maxValueLength ? undefined : credentialIn(value)
  if (kind !== undefined) return { message: `${text} looks like ${kind}, which is never inserted into a file` }
  if (value !== undefined) return { value }
  if (name.startsWith(fileVariablePrefix))
    return { message: `${text} has the prefix of the variable; write \${{ env.${name.slice(fileVariablePrefix.length) || 'NAME'} }}` }
  if (mayBeCredential(name)) return { message: `${text} may hold a credential, which is never inserted into a file` }
  return { message: `${text} is not set; set ${fileVariablePrefix}${name}${elsewhere}` }
}

function interpolateText(text: string, options: InterpolateOptions, path: ValuePath, report: (message: string) => void): unknown {
  if (!hasExpression(text) || options.room.characters < 0) return text
  let last: { readonly inside: string; readonly value: InstanceValue } | undefined
  let isWrong = false
  const replaced = text.replace(expressionForm, (whole, within: string, end: string) => {
    const inside = within.trim()
    if (inside === literalText && end !== '') return '${{'
    const found = end === '' ? { message: `\${{ ${quote(inside)} is not closed` } : evaluateExpression(inside, options)
    if ('value' in found) {
      last = { inside, value: found.value }
      return String(found.value)
    }
    isWrong = true
    // A field such as urlFrom takes the name of a variable, and no value of one.
    const isName = inside.startsWith('env.') && path.some((one) => /From$/.test(String(one)))
    report(isName ? `${found.message.split('; ')[0]}. ${namedSecret}` : found.message)
    return whole
  })
  const isWhole = text.startsWith('${{') && text.indexOf('}}') === text.length - 2
  if (!isWhole || isWrong || options.isText?.(path)) return replaced
  // A value of an instance has a type; a variable is a text.
  return last?.inside.startsWith('instance.') ? last.value : toScalar(replaced)
}

/** A text that is only an expression may become a number: `threshold: ${{ env.LIMIT }}`. */
function toScalar(text: string): unknown {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(text) && text.length <= 16) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}
