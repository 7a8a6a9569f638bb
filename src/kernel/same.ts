// Owns when two JSON values mean the same to the API: a field that is null is a field that is not there.
import { isDeepStrictEqual } from 'node:util'

export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(withoutNulls(a), withoutNulls(b))

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutNulls(item)]))
}
