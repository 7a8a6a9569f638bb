// Owns when two bodies say the same: what is empty is not there, and neither is what the server assumes anyway.

/** Values that the server fills in by itself, by field name. */
export type Assumed = Readonly<Record<string, unknown>>

/** Without fields that are empty or as assumed; items of lists stay, whatever they are. */
export function normalForm(value: unknown, assumed: Assumed): unknown {
  if (Array.isArray(value)) return value.map((item) => normalForm(item, assumed))
  if (!isMap(value)) return value
  const entries = Object.entries(value).map(([key, item]) => [key, normalForm(item, assumed)] as const)
  return Object.fromEntries(entries.filter(([key, item]) => !isEmpty(item) && !(Object.hasOwn(assumed, key) && assumed[key] === item)))
}

/** A map of fields; nothing that has a meaning of its own, such as an id that is not known yet. */
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !JSON.isRawJSON(value) && Object.getPrototypeOf(value) === Object.prototype

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return (isMap(value) || Array.isArray(value)) && Object.keys(value).length === 0
}
