import { quote } from '../core/text.ts'
import type { ValuePath } from './document.ts'

export interface Interpolation {
  readonly value: unknown
  readonly errors: readonly { readonly path: ValuePath; readonly message: string }[]
}

export interface InterpolateOptions {
  /** The value of a variable; undefined when it is not set. */
  readonly variable: (name: string) => string | undefined
  /** Whether the value at this path is a text even if it looks like a number. */
  readonly isText?: (path: ValuePath) => boolean
}

/** Replaces `${{ env.NAME }}` in texts by the variable. Credentials, unset variables and other expressions are errors. */
export function interpolate(value: unknown, options: InterpolateOptions, path: ValuePath = []): Interpolation {
  if (typeof value === 'string') return interpolateText(value, options, path)
  if (typeof value !== 'object' || value === null) return { value, errors: [] }
  const entries = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value)
  const results = entries.map(([key, item]) => [key, interpolate(item, options, [...path, key])] as const)
  const errors = results.flatMap(([, result]) => result.errors)
  if (Array.isArray(value)) return { value: results.map(([, result]) => result.value), errors }
  return { value: Object.fromEntries(results.map(([key, result]) => [key, result.value])), errors }
}

// An expression ends at its brackets, or is not closed at all.
const expression = /\$\{\{((?:(?!\}\}).)*)(\}\}|$)/gs
const known = /^env\.([A-Za-z_][A-Za-z0-9_]{0,127})$/

function interpolateText(text: string, { variable, isText }: InterpolateOptions, path: ValuePath): Interpolation {
  if (!text.includes('${{')) return { value: text, errors: [] }
  const errors: { path: ValuePath; message: string }[] = []
  const replaced = text.replace(expression, (whole, within: string, end: string) => {
    const inside = within.trim()
    const name = end === '' ? undefined : known.exec(inside)?.[1]
    const found = name === undefined || mayBeCredential(name) ? undefined : variable(name)
    if (found !== undefined) return found
    errors.push({ path, message: end === '' ? `\${{ ${quote(inside, 60)} is not closed` : whyNot(inside, name) })
    return whole
  })
  const isWhole = text.startsWith('${{') && text.indexOf('}}') === text.length - 2
  return { value: isWhole && errors.length === 0 && !isText?.(path) ? toScalar(replaced) : replaced, errors }
}

// A workflow run holds credentials in its environment. A file in a pull request must not be able to send them anywhere.
const ownCredential = /^(?:WATCHKEEPER_|INPUT_|ACTIONS_|RUNNER_|GH_|GITHUB_TOKEN$)|_PROXY$/i
const anyCredential = /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT|PRIVATE_?KEY|ACCESS_?KEY|API_?KEY)(?:_|$)/i

const mayBeCredential = (name: string): boolean => ownCredential.test(name) || anyCredential.test(name)

function whyNot(inside: string, name: string | undefined): string {
  if (name === undefined) return `\${{ ${quote(inside, 60)} }} is not known; accepted: \${{ env.NAME }}`
  if (mayBeCredential(name)) return `\${{ env.${name} }} may hold a credential and is never put into a file`
  return `\${{ env.${name} }} is not set`
}

/** A text that is only an expression may become a number: `threshold: ${{ env.LIMIT }}`. */
function toScalar(text: string): unknown {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(text) && text.length <= 16) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}
