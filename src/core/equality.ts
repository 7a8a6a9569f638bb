import { isDeepStrictEqual } from 'node:util'
import { isMapping } from './keys.ts'

/** Whether two JSON values mean the same to the API. The API treats a null field as a missing one. */
export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(withoutNulls(a), withoutNulls(b))

/**
 * Whether `whole` has everything that `part` has. It may have more fields, but no more items in a list. An empty value may be missing:
 * servers leave out empty lists.
 */
export function holds(whole: unknown, part: unknown): boolean {
  if (isEmpty(part)) return isEmpty(whole)
  if (Array.isArray(whole) && Array.isArray(part)) return whole.length === part.length && part.every((item, i) => holds(whole[i], item))
  if (!isJsonMap(whole) || !isJsonMap(part)) return isSame(whole ?? undefined, part ?? undefined)
  return Object.entries(part).every(([key, item]) => holds(Object.hasOwn(whole, key) ? whole[key] : undefined, item))
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

/** Other than `isMapping`, not for a number that is kept exactly. */
const isJsonMap = (value: unknown): value is Readonly<Record<string, unknown>> => isMapping(value) && !JSON.isRawJSON(value)

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutNulls(item)]))
}
