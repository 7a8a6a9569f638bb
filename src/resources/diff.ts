import { isSame } from '../core/equality.ts'
import { ownValue } from '../documents/schema.ts'
import { isMap } from './compare.ts'

export interface FieldChange {
  /** `tiles["Error rate"].config.where`. */
  readonly path: string
  /** Undefined where nothing was. */
  readonly before?: unknown
  /** Undefined where nothing will be. */
  readonly after?: unknown
}

/** The differences between two values, field by field, in the order of a review. */
export function diffFields(before: unknown, after: unknown, path = ''): readonly FieldChange[] {
  if (isSame(before, after)) return []
  if (isListOfMaps(before) && isListOfMaps(after)) return diffLists(before, after, path)
  if (isMap(before) && isMap(after)) {
    // An id that files do not give is the server's own.
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => key !== 'id' || Object.hasOwn(after, key))
    return keys.flatMap((key) => diffFields(ownValue(before, key), ownValue(after, key), joinPath(path, key)))
  }
  if (before === undefined && isContainer(after)) return addedFields(after, path)
  if (after === undefined && isContainer(before)) return removedFields(before, path)
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }]
}

/** Everything that a new value brings, one field each. */
export function addedFields(value: unknown, path = ''): readonly FieldChange[] {
  if (isListOfMaps(value) && value.length > 0)
    return value.flatMap((item, i) => addedFields(withoutName(item), `${path}[${labelOf(item, i)}]`))
  const fields = isMap(value) ? Object.entries(value).filter(([key]) => key !== 'id') : []
  if (fields.length === 0) return [{ path, after: value }]
  return fields.flatMap(([key, item]) => addedFields(item, joinPath(path, key)))
}

const removedFields = (value: unknown, path: string): readonly FieldChange[] =>
  addedFields(value, path).map(({ path: inner, after }) => ({ path: inner, before: after }))

/** Items are matched by id, or by position where they have none. */
function diffLists(before: readonly unknown[], after: readonly unknown[], path: string): readonly FieldChange[] {
  const left = new Map(before.map((item, i) => [keyOf(item, i), item]))
  const changes = after.flatMap((item, i) => {
    const key = keyOf(item, i)
    const old = left.get(key)
    left.delete(key)
    const place = `${path}[${labelOf(old ?? item, i)}]`
    return old === undefined ? addedFields(withoutName(item), place) : diffFields(old, item, place)
  })
  const removed = [...left.values()].flatMap((item) => removedFields(withoutName(item), `${path}[${labelOf(item, before.indexOf(item))}]`))
  return [...changes, ...removed, ...diffOrder(before, after, path)]
}

/** Of the items that are in both lists. */
function diffOrder(before: readonly unknown[], after: readonly unknown[], path: string): readonly FieldChange[] {
  const [keysBefore, keysAfter] = [before.map(keyOf), after.map(keyOf)]
  const commonBefore = keysBefore.filter((key) => keysAfter.includes(key))
  const commonAfter = keysAfter.filter((key) => keysBefore.includes(key))
  if (isSame(commonBefore, commonAfter)) return []
  const labels = (items: readonly unknown[]) => items.map((item, i) => ownValue(item, 'name') ?? ownValue(item, 'title') ?? keyOf(item, i))
  return [{ path: `${path} (order)`, before: labels(before), after: labels(after) }]
}

const isListOfMaps = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.every(isMap)

const isContainer = (value: unknown): boolean => isMap(value) || (isListOfMaps(value) && value.length > 0)

const joinPath = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

const keyOf = (item: unknown, index: number): unknown => ownValue(item, 'id') ?? index

/** The name is part of the path already, unless it is the only field that there is to show. */
function withoutName(item: unknown): unknown {
  if (!isMap(item) || typeof item.name !== 'string') return item
  const { name: _, ...fields } = item
  return Object.keys(fields).some((key) => key !== 'id') ? fields : item
}

function labelOf(item: unknown, index: number): string {
  const label = ownValue(item, 'name') ?? ownValue(item, 'title')
  return typeof label === 'string' ? JSON.stringify(label) : String(index)
}
