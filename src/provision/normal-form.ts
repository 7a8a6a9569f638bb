// When two bodies say the same: what is empty is not there, and neither is what the server assumes where nothing is given.
import { elementOf, fieldOf, formOf, isServerDefault, type Schema } from './forms.ts'

/** Without fields that are empty or have the server's default for their place; items of lists stay, whatever they are. */
export function normalForm(value: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(value)) {
    const element = elementOf(schema)
    return value.map((item) => normalForm(item, element))
  }
  if (!isMap(value)) return value
  const form = formOf(schema, value)
  const kept: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    if (form !== undefined && isServerDefault(form, key, item)) continue
    const inner = normalForm(item, form && fieldOf(form, key))
    if (!isEmpty(inner)) kept.push([key, inner])
  }
  return Object.fromEntries(kept)
}

/** Without fields that are empty, whatever the server's defaults are. */
export const withoutEmpty = (value: unknown): unknown => normalForm(value, undefined)

/** A map of fields; nothing that has a meaning of its own, such as an id that is not known yet. */
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !JSON.isRawJSON(value) && Object.getPrototypeOf(value) === Object.prototype

export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return (isMap(value) || Array.isArray(value)) && Object.keys(value).length === 0
}
