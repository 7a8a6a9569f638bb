// Owns the line between what files say of an object and what they leave to others: fields that no schema of ours knows
// belong to somebody else, are not compared, and survive every update.
import { elementOf, fieldOf, formOf, isKnown, type Schema } from './forms.ts'
import { isMap } from './normal-form.ts'
import { ownValue } from './variants.ts'

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
