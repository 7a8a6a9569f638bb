import * as z from 'zod'
import { isSame } from '../core/equality.ts'
import { elementOf, fieldOf, formOf, isKnown, isServerDefault, ownValue, type Schema } from '../documents/schema.ts'
import type { Body, RemoteObject, ResourceType } from './resource-type.ts'

// When two bodies say the same: what is empty is not there, and neither is what the server assumes where nothing is given.

/** Without fields that are empty or have the server's default for their place; items of lists stay, whatever they are. */
export function normalForm(value: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(value)) {
    const element = elementOf(schema)
    return value.map((item) => normalForm(item, element))
  }
  if (!isMap(value)) return value
  const form = formOf(schema, value)
  const kept: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    if (form !== undefined && isServerDefault(form, key, item)) continue
    const inner = normalForm(item, form && fieldOf(form, key))
    if (!isEmpty(inner)) kept.push([key, inner])
  }
  return Object.fromEntries(kept)
}

/** Without fields that are empty, whatever the server's defaults are. */
export const withoutEmpty = (value: unknown): unknown => normalForm(value, undefined)

/** A map of fields; nothing that has a meaning of its own, such as an id that is not known yet. */
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !JSON.isRawJSON(value) && Object.getPrototypeOf(value) === Object.prototype

export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return (isMap(value) || Array.isArray(value)) && Object.keys(value).length === 0
}

// Owns the line between what files say of an object and what they leave to others: fields that no schema of ours knows
// belong to somebody else, are not compared, and survive every update.

/** What of the actual value the desired one has a say in. */
export function managedPart(actual: unknown, desired: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(actual)) {
    const others = Array.isArray(desired) ? desired : []
    const element = elementOf(schema)
    return actual.map((item, i) => managedPart(item, partnerOf(item, i, others), element))
  }
  if (!isMap(actual)) return actual
  const form = formOf(schema, desired ?? actual)
  // Another form of the same thing: all of it is replaced, so all of it is compared.
  if (form === undefined || formOf(schema, actual) !== form) return actual
  const said = isMap(desired) ? desired : {}
  const kept = Object.entries(actual).filter(([key]) => isKnown(form, key) || Object.hasOwn(said, key) || key === 'id')
  return Object.fromEntries(kept.map(([key, value]) => [key, managedPart(value, ownValue(said, key), fieldOf(form, key))]))
}

/** The desired value, with everything of the actual one that it has no say in. */
export function overlay(desired: unknown, actual: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(desired)) {
    const others = Array.isArray(actual) ? actual : []
    const element = elementOf(schema)
    return desired.map((item, i) => overlay(item, partnerOf(item, i, others), element))
  }
  if (!isMap(desired) || !isMap(actual)) return desired
  const form = formOf(schema, desired)
  if (form === undefined || formOf(schema, actual) !== form) return desired
  const foreign = Object.entries(actual).filter(([key]) => !isKnown(form, key) && !Object.hasOwn(desired, key))
  const own = Object.entries(desired).map(([key, value]) => [key, overlay(value, ownValue(actual, key), fieldOf(form, key))] as const)
  return Object.fromEntries([...foreign, ...own])
}

/** By id where there is one; otherwise what stands in the same place, and is not known by an id either. */
export function partnerOf(item: unknown, index: number, others: readonly unknown[]): unknown {
  const id = ownValue(item, 'id')
  if (typeof id === 'string') return others.find((other) => ownValue(other, 'id') === id)
  return ownValue(others[index], 'id') === undefined ? others[index] : undefined
}

// The differences between two bodies, field by field, in the order of a review.

export interface FieldChange {
  /** `tiles["Error rate"].config.where`. */
  readonly path: string
  /** Undefined where nothing was. */
  readonly before?: unknown
  /** Undefined where nothing will be. */
  readonly after?: unknown
}

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

// The body of an update: what is declared, laid over what exists, with what must be cleared. And the two sides of a comparison.

/** The whole body that an update sends. */
export function composeUpdate(kind: ResourceType, desired: Body, actual: RemoteObject): Body {
  const before = kind.toBody(actual)
  const wanted = kind.carryOverIds(desired, before)
  const cleared = Object.keys(before).filter((key) => isManaged(kind, key) && !Object.hasOwn(wanted, key) && isClearable(kind, key))
  const clearing = cleared.filter((key) => kind.clearWith[key] !== undefined).map((key) => [key, kind.clearWith[key]] as const)
  return { ...(overlay(wanted, before, kind.schema) as Body), ...Object.fromEntries(clearing) }
}

/** What is stored and what is declared, as far as files have a say in it, with the same ids in both. */
export interface Sides {
  readonly stored: Body
  readonly declared: Body
  /** What is declared, with its empty fields. */
  readonly given: Body
}

export function sidesOf(kind: ResourceType, desired: Body, actual: RemoteObject): Sides {
  const body = kind.toBody(actual)
  const declared = kind.carryOverIds(desired, body)
  return { stored: kind.canonical(managedPart(body, declared, kind.schema) as Body), declared: kind.canonical(declared), given: declared }
}

/** Both sides without what the server assumes anyway. */
export function compareBodies(kind: ResourceType, desired: Body, actual: RemoteObject): { readonly before: Body; readonly after: Body } {
  const { stored, declared } = sidesOf(kind, desired, actual)
  return { before: normalForm(stored, kind.schema) as Body, after: normalForm(declared, kind.schema) as Body }
}

/** What two bodies are compared by: without markers, and without what the server assumes anyway. */
export const comparable = (kind: ResourceType, body: Body): Body => normalForm(kind.canonical(body), kind.schema) as Body

/** Fields that should be gone, and that no update can clear. */
export const unclearable = (kind: ResourceType, before: Body, desired: Body): readonly string[] => {
  const wanted = kind.carryOverIds(desired, before)
  return Object.keys(before).filter((key) => !Object.hasOwn(wanted, key) && !isClearable(kind, key))
}

const isManaged = ({ schema }: ResourceType, key: string): boolean => schema instanceof z.ZodObject && Object.hasOwn(schema.shape, key)

const isClearable = ({ clearWith }: ResourceType, key: string): boolean => Object.hasOwn(clearWith, key)
