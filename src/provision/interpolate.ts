// Owns `${{ env.NAME }}` in files: replaced by a variable, refused for credentials, and an error when there is no such variable.
import { quote } from '../kernel/text.ts'
import type { ValuePath } from './document.ts'

export interface Interpolation {
  readonly value: unknown
  readonly complaints: readonly { readonly path: ValuePath; readonly message: string }[]
}

/** The value of a variable; undefined when it is not set. */
export type Variables = (name: string) => string | undefined

const expression = /\$\{\{([^}]*)\}\}/g
const known = /^env\.([A-Za-z_][A-Za-z0-9_]{0,127})$/

// What a workflow run holds of credentials: a file in a pull request must not be able to send them anywhere.
const credential = /^(?:WATCHKEEPER_|INPUT_|ACTIONS_|RUNNER_|GITHUB_TOKEN$|GH_TOKEN$|HTTPS?_PROXY$)/i

export function interpolate(value: unknown, variables: Variables, path: ValuePath = []): Interpolation {
  if (typeof value === 'string') return interpolateText(value, variables, path)
  if (typeof value !== 'object' || value === null) return { value, complaints: [] }
  const entries = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value)
  const done = entries.map(([name, item]) => [name, interpolate(item, variables, [...path, name])] as const)
  const complaints = done.flatMap(([, one]) => one.complaints)
  if (Array.isArray(value)) return { value: done.map(([, one]) => one.value), complaints }
  return { value: Object.fromEntries(done.map(([name, one]) => [name, one.value])), complaints }
}

function interpolateText(text: string, variables: Variables, path: ValuePath): Interpolation {
  const complaints: { path: ValuePath; message: string }[] = []
  const replaced = text.replace(expression, (whole, within: string) => {
    const inside = within.trim()
    const name = known.exec(inside)?.[1]
    const found = name === undefined || credential.test(name) ? undefined : variables(name)
    if (found !== undefined) return found
    complaints.push({ path, message: whyNot(inside, name) })
    return whole
  })
  const isAlone = new RegExp(`^${expression.source}$`).test(text)
  return { value: isAlone && complaints.length === 0 ? toScalar(replaced) : replaced, complaints }
}

function whyNot(inside: string, name: string | undefined): string {
  if (name === undefined) return `\${{ ${quote(inside, 60)} }} is not known; accepted: \${{ env.NAME }}`
  if (credential.test(name)) return `\${{ env.${name} }} may hold a credential and is never put into a file`
  return `\${{ env.${name} }} is not set`
}

/** A value that is nothing but an expression may be a number: `threshold: ${{ env.LIMIT }}`. */
function toScalar(text: string): unknown {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(text)) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}
