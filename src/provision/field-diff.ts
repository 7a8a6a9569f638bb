// Owns what differs between two bodies, field by field, in the order and words of a review. Pure.
import { isSame } from '../kernel/same.ts'
import type { FieldChange } from './change.ts'
import { isMap } from './normal-form.ts'
import { ownValue } from './variants.ts'

export function diffFields(before: unknown, after: unknown, path = ''): readonly FieldChange[] {
  if (isSame(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after) && [...before, ...after].every(isMap)) return diffLists(before, after, path)
  if (isMap(before) && isMap(after)) {
    // An id that files do not give is the server's own.
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => key !== 'id' || Object.hasOwn(after, key))
    return keys.flatMap((key) => diffFields(ownValue(before, key), ownValue(after, key), path === '' ? key : `${path}.${key}`))
  }
  if (before === undefined && isContainer(after)) return leavesOf(after, path)
  if (after === undefined && isContainer(before)) return goneLeavesOf(before, path)
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }]
}

/** Everything that a new value brings, one field each. */
export function leavesOf(value: unknown, path = ''): readonly FieldChange[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isMap))
    return value.flatMap((item, i) => leavesOf(unlabelled(item), `${path}[${labelOf(item, i)}]`))
  const fields = isMap(value) ? Object.entries(value).filter(([key]) => key !== 'id') : []
  if (fields.length === 0) return [{ path, after: value }]
  return fields.flatMap(([key, item]) => leavesOf(item, path === '' ? key : `${path}.${key}`))
}

/** The same of a value that goes. */
const goneLeavesOf = (value: unknown, path: string): readonly FieldChange[] =>
  leavesOf(value, path).map(({ path: inner, after }) => ({ path: inner, before: after }))

const isContainer = (value: unknown): boolean => isMap(value) || (Array.isArray(value) && value.length > 0 && value.every(isMap))

/** Items are the same by id, else by their place. */
function diffLists(before: readonly unknown[], after: readonly unknown[], path: string): readonly FieldChange[] {
  const left = new Map(before.map((item, i) => [keyOf(item, i), item]))
  const changes = after.flatMap((item, i) => {
    const key = keyOf(item, i)
    const old = left.get(key)
    left.delete(key)
    const place = `${path}[${labelOf(old ?? item, i)}]`
    return old === undefined ? leavesOf(unlabelled(item), place) : diffFields(old, item, place)
  })
  const gone = [...left.values()].flatMap((item) => goneLeavesOf(unlabelled(item), `${path}[${labelOf(item, before.indexOf(item))}]`))
  return [...changes, ...gone, ...orderChange(before, after, path)]
}

/** Of the items that are in both lists. */
function orderChange(before: readonly unknown[], after: readonly unknown[], path: string): readonly FieldChange[] {
  const [then, now] = [before.map(keyOf), after.map(keyOf)]
  const [stayed, stay] = [then.filter((key) => now.includes(key)), now.filter((key) => then.includes(key))]
  if (isSame(stayed, stay)) return []
  const labels = (items: readonly unknown[]) => items.map((item, i) => ownValue(item, 'name') ?? ownValue(item, 'title') ?? keyOf(item, i))
  return [{ path: `${path} (order)`, before: labels(before), after: labels(after) }]
}

const keyOf = (item: unknown, index: number): unknown => ownValue(item, 'id') ?? index

/** The name stands in the path already; alone, it is all that there is to show. */
function unlabelled(item: unknown): unknown {
  if (!isMap(item) || typeof item.name !== 'string') return item
  const { name: _, ...fields } = item
  return Object.keys(fields).some((key) => key !== 'id') ? fields : item
}

function labelOf(item: unknown, index: number): string {
  const label = ownValue(item, 'name') ?? ownValue(item, 'title')
  return typeof label === 'string' ? JSON.stringify(label) : String(index)
}
