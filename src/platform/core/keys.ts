/** A map is not a list, not an exact number, and not an instance of a class. */
export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Null, undefined, or an empty text, list or map. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return (isMapping(value) || Array.isArray(value)) && Object.keys(value).length === 0
}

/** Any other value than a list or a map stays as it is. */
export function mapItems(value: unknown, change: (item: unknown, key: string | number) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change)
  return isMapping(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item, key)])) : value
}

/** The object has no other keys than its type says, such as a table in this code. */
export const keysOf = <Key extends string>(table: Readonly<Partial<Record<Key, unknown>>>): readonly Key[] => Object.keys(table) as Key[] // The callers state that there are no others.

export const withoutUndefined = <T extends object>(fields: T): T =>
  // Only a field that may be absent can be undefined.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T

/** Indexes a list once, so it must not change. */
export function createKeyIndex<T extends object>(keysOf: (item: T) => readonly unknown[]) {
  const indexes = new WeakMap<readonly T[], ReadonlyMap<unknown, T>>()
  return (items: readonly T[], key: unknown): T | undefined => {
    const index = indexes.get(items) ?? new Map(items.toReversed().flatMap((item) => keysOf(item).map((one) => [one, item] as const)))
    indexes.set(items, index)
    return index.get(key)
  }
}

/** The list must not change. */
export const getById = createKeyIndex<{ readonly id?: unknown }>(({ id }) => [id]) as <T extends { readonly id?: unknown }>(
  items: readonly T[],
  id: unknown,
) => T | undefined // It is one of the items.
