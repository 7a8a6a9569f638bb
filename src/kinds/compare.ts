import { isSame } from '../platform/core/equality.ts'
import { WatchkeeperError } from '../platform/core/errors.ts'
import { isEmpty, isMapping } from '../platform/core/keys.ts'
import {
  defaultsToWrite,
  type FormWalk,
  formOf,
  isInForm,
  isServerDefault,
  isUnused,
  mapForms,
  ownValue,
  type Schema,
} from '../platform/documents/schema.ts'
import type { Body, KindIdentity, KindWire, StoredObject } from './kind.ts'

// Compares declarations with stored objects, and composes updates. Fields that are in no schema here are not compared, and every update
// keeps them. Empty fields, and fields with the server's default, count as absent.

/** The stored and the declared object, reduced to the fields that files manage, with the same ids in both. */
export interface BodyPair {
  readonly stored: Body
  readonly declared: Body
  readonly declaredAsSent: Body
}

export function sidesOf(kind: KindWire, desired: Body, stored: StoredObject): BodyPair {
  const body = kind.toBody(stored)
  const declared = kind.withStoredIds(desired, body)
  const compared = kind.comparedPart?.(body, declared) ?? body
  return {
    stored: kind.canonical(managedPart(compared, declared, kind.schema)),
    declared: kind.canonical(declared),
    declaredAsSent: declared,
  }
}

export function compareBodies(kind: KindWire, desired: Body, stored: StoredObject): { readonly before: Body; readonly after: Body } {
  const sides = sidesOf(kind, desired, stored)
  return { before: withoutDefaults(sides.stored, kind.schema), after: withoutDefaults(sides.declared, kind.schema) }
}

/** The form in which bodies are compared: without markers, empty fields and the server's defaults. */
export const comparable = (kind: KindWire, body: Body): Body => withoutDefaults(kind.canonical(body), kind.schema)

export function composeCreate(kind: KindWire, desired: Body): Body {
  const body = withWrittenDefaults(desired, kind.schema)
  return kind.completeMarker?.(body) ?? body
}

/** The whole body of an update: the declared fields over the stored ones, and the values that clear removed fields. */
export function composeUpdate(kind: KindWire, desired: Body, stored: StoredObject): Body {
  const body = kind.toBody(stored)
  const declared = kind.withStoredIds(desired, body)
  const isCleared = (key: string) => isInForm(kind.schema, key) && !Object.hasOwn(declared, key) && kind.clearsBy[key] !== undefined
  const clearing = mapFields(Object.keys(body).filter(isCleared), (key) => kind.clearsBy[key])
  return composeCreate(kind, { ...overlay(declared, body, kind.schema), ...clearing })
}

/** Throws kind `conflict` when an object has changed while a person was asked. */
export function requireUnchanged(kind: KindIdentity & KindWire, shown: StoredObject, now: StoredObject): void {
  if (isSame(comparable(kind, kind.toBody(shown)), comparable(kind, kind.toBody(now)))) return
  const message = `The ${kind.label} ${shown.id} has changed while the question was open. Nothing was written. Run the command again.`
  throw new WatchkeeperError('conflict', message)
}

/** Fields that should be removed, and that no update can clear. */
export function findUnclearable(kind: KindWire, stored: Body, desired: Body): readonly string[] {
  const declared = kind.withStoredIds(desired, stored)
  return Object.keys(stored).filter((key) => !Object.hasOwn(declared, key) && !Object.hasOwn(kind.clearsBy, key))
}

/** Drops fields that are empty, have no meaning or have the server's default for their place. Keeps all items of lists. */
export const withoutDefaults = (value: Body, schema: Schema | undefined): Body => mapForms(value, schema, dropping, undefined)

const dropping: FormWalk<undefined> = {
  map({ map, form, inner }) {
    const kept: [string, unknown][] = []
    for (const key of Object.keys(map)) {
      if (form !== undefined && (isServerDefault(form, key, map[key]) || isUnused(form, key, map))) continue
      const value = inner(key)
      if (!isEmpty(value)) kept.push([key, value])
    }
    return Object.fromEntries(kept)
  },
}

/** Drops empty fields, but not those that have the server's default. */
export const withoutEmpty = (body: Body): Body => withoutDefaults(body, undefined)

const mapFields = (keys: readonly string[], inner: (key: string) => unknown): Body =>
  Object.fromEntries(keys.map((key) => [key, inner(key)] as const))

/** The value with the defaults that a write has to state (see `writeDefault`). */
export function withWrittenDefaults(value: Body, schema: Schema | undefined): Body {
  const map: FormWalk<undefined>['map'] = ({ map, form, inner }) =>
    form === undefined ? map : { ...mapFields(Object.keys(map), inner), ...defaultsToWrite(form, map) }
  return mapForms(value, schema, { map }, undefined)
}

/** The part of the stored value that the declared one manages. Of another form of the same thing all is compared, because all is replaced. */
export const managedPart = (stored: Body, declared: unknown, schema: Schema | undefined): Body =>
  mapForms(stored, schema, managing, declared)

const managing: FormWalk<unknown> = {
  into: partnerIn,
  map({ map, form, schema, beside: declared, inner }) {
    if (form === undefined || formOf(schema, declared ?? map) !== form) return map
    const isManaged = (key: string) => isInForm(form, key) || (isMapping(declared) && Object.hasOwn(declared, key)) || key === 'id'
    return mapFields(Object.keys(map).filter(isManaged), inner)
  },
}

/** The declared value, with the unmanaged parts of the stored one. */
export const overlay = (declared: Body, stored: Body, schema: Schema | undefined): Body => mapForms(declared, schema, overlaying, stored)

const overlaying: FormWalk<unknown> = {
  into: partnerIn,
  map({ map, form, schema, beside: stored, inner }) {
    if (form === undefined || !isMapping(stored) || formOf(schema, stored) !== form) return map
    const isKept = (key: string) => !isInForm(form, key) || (isUnused(form, key, map) && isUnused(form, key, stored))
    const unmanaged = Object.entries(stored).filter(([key]) => isKept(key) && !Object.hasOwn(map, key))
    return { ...Object.fromEntries(unmanaged), ...mapFields(Object.keys(map), inner) }
  },
}

/** The value beside a field, or beside an item of a list: the item with the same id, or without an id the one at its place without an id. */
export function partnerIn(other: unknown, key: string | number, item: unknown): unknown {
  if (typeof key === 'string') return ownValue(other, key)
  const others: readonly unknown[] = Array.isArray(other) ? other : []
  const id = ownValue(item, 'id')
  if (typeof id === 'string') return others.find((one) => ownValue(one, 'id') === id)
  return ownValue(others[key], 'id') === undefined ? others[key] : undefined
}

export interface FieldChange {
  /** `tiles["Error rate"].config.where`. */
  readonly path: string
  /** Undefined for an added field. */
  readonly before?: unknown
  /** Undefined for a removed field. */
  readonly after?: unknown
}

export function diffFields(before: unknown, after: unknown, path = ''): readonly FieldChange[] {
  if (isSame(before, after)) return []
  if (isListOfMaps(before) && isListOfMaps(after)) return diffLists(before, after, path)
  if (isMapping(before) && isMapping(after)) {
    // An id that files do not give is the server's own.
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => key !== 'id' || Object.hasOwn(after, key))
    return keys.flatMap((key) => diffFields(ownValue(before, key), ownValue(after, key), joinPath(path, key)))
  }
  if (before === undefined && isContainer(after)) return addedFields(after, path)
  if (after === undefined && isContainer(before)) return removedFields(before, path)
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }]
}

export function missingFields(desired: Body, stored: StoredObject, kind: KindWire): readonly FieldChange[] {
  const { before, after } = compareBodies(kind, desired, stored)
  // An item may be compared with another one if the server trims names or reorders a list. The field is then elsewhere in the list.
  const storedPaths = new Set(addedFields(before).map(({ path }) => withoutItems(path)))
  return diffFields(after, before).filter((field) => field.after === undefined && !storedPaths.has(withoutItems(field.path)))
}

/** `tiles["A"].config.select[0].alias` → `tiles[].config.select[].alias`. */
const withoutItems = (path: string) => path.replace(/\[(?:"(?:[^"\\]|\\.)*"|[^\]"]*)\]/g, '[]')

export const explainDropped = (fields: readonly FieldChange[]): string =>
  `the service did not store ${fields.map(({ path }) => path).join(', ')}. Its version might not have it yet: remove it from the file, or upgrade the service`

export function addedFields(value: unknown, path = ''): readonly FieldChange[] {
  if (isListOfMaps(value) && value.length > 0)
    return value.flatMap((item, i) => addedFields(withoutName(item), `${path}[${labelOfItem(item, i)}]`))
  const fields = isMapping(value) ? Object.entries(value).filter(([key]) => key !== 'id') : []
  if (fields.length === 0) return [{ path, after: value }]
  return fields.flatMap(([key, item]) => addedFields(item, joinPath(path, key)))
}

const removedFields = (value: unknown, path: string): readonly FieldChange[] =>
  addedFields(value, path).map(({ path: inner, after }) => ({ path: inner, before: after }))

function diffLists(before: readonly unknown[], after: readonly unknown[], path: string): readonly FieldChange[] {
  const left = new Map(before.map((item, i) => [keyOf(item, i), item]))
  const changes = after.flatMap((item, i) => {
    const key = keyOf(item, i)
    const old = left.get(key)
    left.delete(key)
    const place = `${path}[${labelOfItem(old ?? item, i)}]`
    return old === undefined ? addedFields(withoutName(item), place) : diffFields(old, item, place)
  })
  const removed = [...left.values()].flatMap((item) =>
    removedFields(withoutName(item), `${path}[${labelOfItem(item, before.indexOf(item))}]`),
  )
  return [...changes, ...removed, ...diffOrder(before, after, path)]
}

function diffOrder(before: readonly unknown[], after: readonly unknown[], path: string): readonly FieldChange[] {
  const [keysBefore, keysAfter] = [before.map(keyOf), after.map(keyOf)]
  const commonBefore = keysBefore.filter((key) => keysAfter.includes(key))
  const commonAfter = keysAfter.filter((key) => keysBefore.includes(key))
  if (isSame(commonBefore, commonAfter)) return []
  const labels = (items: readonly unknown[]) => items.map((item, i) => ownValue(item, 'name') ?? ownValue(item, 'title') ?? keyOf(item, i))
  return [{ path: `${path} (order)`, before: labels(before), after: labels(after) }]
}

const isListOfMaps = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.every(isMapping)

const isContainer = (value: unknown) => isMapping(value) || (isListOfMaps(value) && value.length > 0)

const joinPath = (path: string, key: string) => (path === '' ? key : `${path}.${key}`)

const keyOf = (item: unknown, index: number): unknown => ownValue(item, 'id') ?? index

/** The path already contains the name, so it is shown only if the item has no other field. */
function withoutName(item: unknown): unknown {
  if (!isMapping(item) || typeof item.name !== 'string' || item.name === '') return item
  const { name: _, ...fields } = item
  return Object.keys(fields).some((key) => key !== 'id') ? fields : item
}

/** A list may be sorted, so that an item without a name has its type and place rather than its index. */
function labelOfItem(item: unknown, index: number) {
  const label = ownValue(item, 'name') || ownValue(item, 'title')
  const type = ownValue(ownValue(item, 'config'), 'displayType')
  if (typeof label === 'string') return JSON.stringify(label)
  return typeof type === 'string' ? `${type} at ${String(ownValue(item, 'x') ?? 0)},${String(ownValue(item, 'y') ?? 0)}` : String(index)
}
