// Owns `${{ env.NAME }}` in files: replaced by a variable, refused for credentials, and an error when there is no such variable.
import { quote } from '../core/text.ts'
import type { ValuePath } from './document.ts'

export interface Interpolation {
  readonly value: unknown
  readonly errors: readonly { readonly path: ValuePath; readonly message: string }[]
}

export interface InterpolateOptions {
  /** The value of a variable; undefined when it is not set. */
  readonly variable: (name: string) => string | undefined
  /** Whether a text stands at this path whatever it looks like. */
  readonly isText?: (path: ValuePath) => boolean
}

// An expression ends at its brackets, or is not closed at all.
const expression = /\$\{\{((?:(?!\}\}).)*)(\}\}|$)/gs
const known = /^env\.([A-Za-z_][A-Za-z0-9_]{0,127})$/

// What a workflow run holds of credentials, ours and by the names that others have: a file in a pull request must not be able to
// send them anywhere.
const ownCredential = /^(?:WATCHKEEPER_|INPUT_|ACTIONS_|RUNNER_|GH_|GITHUB_TOKEN$)|_PROXY$/i
const anyCredential = /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT|PRIVATE_?KEY|ACCESS_?KEY|API_?KEY)(?:_|$)/i

const mayBeCredential = (name: string): boolean => ownCredential.test(name) || anyCredential.test(name)

export function interpolate(value: unknown, options: InterpolateOptions, path: ValuePath = []): Interpolation {
  if (typeof value === 'string') return interpolateText(value, options, path)
  if (typeof value !== 'object' || value === null) return { value, errors: [] }
  const entries = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value)
  const done = entries.map(([name, item]) => [name, interpolate(item, options, [...path, name])] as const)
  const errors = done.flatMap(([, one]) => one.errors)
  if (Array.isArray(value)) return { value: done.map(([, one]) => one.value), errors }
  return { value: Object.fromEntries(done.map(([name, one]) => [name, one.value])), errors }
}

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
  const isAlone = text.startsWith('${{') && text.indexOf('}}') === text.length - 2
  return { value: isAlone && errors.length === 0 && !isText?.(path) ? toScalar(replaced) : replaced, errors }
}

function whyNot(inside: string, name: string | undefined): string {
  if (name === undefined) return `\${{ ${quote(inside, 60)} }} is not known; accepted: \${{ env.NAME }}`
  if (mayBeCredential(name)) return `\${{ env.${name} }} may hold a credential and is never put into a file`
  return `\${{ env.${name} }} is not set`
}

/** A value that is nothing but an expression may be a number: `threshold: ${{ env.LIMIT }}`. */
function toScalar(text: string): unknown {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(text) && text.length <= 16) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}
