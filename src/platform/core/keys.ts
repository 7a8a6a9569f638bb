/** Whether a value of JSON or YAML is a map: not a list, not a number that is kept exactly, and not an instance of a class. */
export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Null, undefined, an empty text, an empty list or an empty map. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return (isMapping(value) || Array.isArray(value)) && Object.keys(value).length === 0
}

/** The list or map with what `change` makes of each of its values; any other value as it is. */
export function mapItems(value: unknown, change: (item: unknown, key: string | number) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change)
  return isMapping(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item, key)])) : value
}

/** The keys of an object that has no others than its type says, such as a table in this code. */
export const keysOf = <Key extends string>(table: Readonly<Partial<Record<Key, unknown>>>): readonly Key[] => Object.keys(table) as Key[] // The callers state that there are no others.

export const withoutUndefined = <T extends object>(fields: T): T =>
  // Only a field that may be absent can be undefined.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T

/** Finds the first item of a list by a key. A list is indexed once, however often it is searched, so it must not change. */
export function createKeyIndex<T extends object>(keysOf: (item: T) => readonly unknown[]) {
  const indexes = new WeakMap<readonly T[], ReadonlyMap<unknown, T>>()
  return (items: readonly T[], key: unknown): T | undefined => {
    const index = indexes.get(items) ?? new Map(items.toReversed().flatMap((item) => keysOf(item).map((one) => [one, item] as const)))
    indexes.set(items, index)
    return index.get(key)
  }
}

/** Finds an object by its id, in a list that must not change. */
export const getById = createKeyIndex<{ readonly id?: unknown }>(({ id }) => [id]) as <T extends { readonly id?: unknown }>(
  items: readonly T[],
  id: unknown,
) => T | undefined // It is one of the items.
