import { isDeepStrictEqual } from 'node:util'
import { isEmpty, isMapping } from './keys.ts'

/** The API treats a null field as a missing one. */
export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(withoutNulls(a), withoutNulls(b))

/**
 * Whether `whole` has everything that `part` has. It may have more fields, but no more items in a list. An empty value may be missing:
 * servers leave out empty lists and maps.
 */
export function holds(whole: unknown, part: unknown): boolean {
  if (isMapping(whole) && isMapping(part))
    return Object.entries(part).every(([key, item]) => holds(Object.hasOwn(whole, key) ? whole[key] : undefined, item))
  if (isEmpty(part)) return isEmpty(whole)
  if (Array.isArray(whole) && Array.isArray(part)) return whole.length === part.length && part.every((item, i) => holds(whole[i], item))
  return isSame(whole, part)
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isMapping(value)) return value
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutNulls(item)]))
}
