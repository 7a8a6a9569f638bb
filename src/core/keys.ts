/** The keys of an object that has no others than its type says, such as a table in this code. */
export const keysOf = <Key extends string>(table: Readonly<Partial<Record<Key, unknown>>>): readonly Key[] => Object.keys(table) as Key[] // The callers state that there are no others.
