import { type KindName, sections } from '../../kinds/kind-names.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { valueAt } from '../../platform/documents/schema.ts'
import type { NamedEnvironment } from '../../platform/operation/operation.ts'
import { mergePatch } from './environment.ts'

/** Alternatives: an object has the fields of one side. */
const alternatives = [
  [['channel'], ['channels']],
  [['dashboard', 'tile'], ['savedSearch']],
  [['tile'], ['query']],
  [['savedSearch'], ['query']],
  [['tiles', 'containers'], ['rows']],
  [['sourceId'], ['source']],
] as const

/** Merges whole fields. A field of the object removes the defaults that it is an alternative to. */
export function withDefaults(spelled: object, defaults: object): object {
  const displaced = alternatives.flatMap(([one, other]) => [
    ...(one.some((field) => Object.hasOwn(spelled, field)) ? other : []),
    ...(other.some((field) => Object.hasOwn(spelled, field)) ? one : []),
  ])
  const left = Object.entries(defaults).filter(([field]) => !displaced.some((name) => name === field))
  return { ...Object.fromEntries(left), ...spelled }
}

/** Merges the fields of an override. They remove the fields that they are an alternative to. */
export function withPatch(own: object, patch: Readonly<Record<string, unknown>>): object {
  const merged = mergePatch(own, patch)
  return withDefaults(Object.fromEntries(Object.entries(merged).filter(([field]) => Object.hasOwn(patch, field))), merged)
}

/** The fields of an object that the environment decides, with the alternatives to them. */
export function overriddenFields(environment: NamedEnvironment | undefined, kind: KindName, key: string): readonly string[] {
  const patch = valueAt(environment?.document.value, ['overrides', sections[kind], key])
  return isMapping(patch) ? withAlternatives(Object.keys(patch)) : []
}

export const withAlternatives = (fields: readonly string[]): readonly string[] => [
  ...new Set([...fields, ...alternatives.filter((sides) => sides.flat().some((field) => fields.includes(field))).flat(2)]),
]
