// Owns when two JSON values mean the same to the API: a field that is null is a field that is not there.
import { isDeepStrictEqual } from 'node:util'

export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(withoutNulls(a), withoutNulls(b))

/**
 * Whether everything of `part` is in `whole`, which may hold more fields, but no more items of a list. What is empty may be missing:
 * a server leaves out an empty list.
 */
export function holds(whole: unknown, part: unknown): boolean {
  if (isNothing(part)) return isNothing(whole)
  if (Array.isArray(whole) && Array.isArray(part)) return whole.length === part.length && part.every((item, i) => holds(whole[i], item))
  if (!isMap(whole) || !isMap(part)) return isSame(whole ?? undefined, part ?? undefined)
  return Object.entries(part).every(([key, item]) => holds(Object.hasOwn(whole, key) ? whole[key] : undefined, item))
}

const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutNulls(item)]))
}
