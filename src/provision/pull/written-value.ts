// Owns how a value of the API stands in a file: what no schema of ours knows and what the server assumes left out, fields in
// the order of the schema, sources by name.
import { isRequired } from '../field-facts.ts'
import { elementOf, formOf, type Schema } from '../forms.ts'
import { isMap } from '../normal-form.ts'
import { ownValue } from '../variants.ts'
import type { Naming } from './naming.ts'

/** A value, and what is left of it in the normal form of its kind. */
export interface Weighed {
  readonly full: unknown
  readonly lean: unknown
}

/** Where a form ends, people write what is least interesting. */
const lastFields: readonly string[] = ['numberFormat', 'raw']

export function writtenValue({ full, lean }: Weighed, schema: Schema | undefined, naming: Pick<Naming, 'source'>): unknown {
  if (Array.isArray(full)) {
    const element = elementOf(schema)
    return full.map((item, i) => writtenValue({ full: item, lean: ownValue(lean, i) }, element, naming))
  }
  const form = isMap(full) ? formOf(schema, full) : undefined
  if (!isMap(full) || form === undefined) return plainValue(full)
  const names = Object.keys(form.shape).toSorted((a, b) => lastFields.indexOf(a) - lastFields.indexOf(b))
  // What is empty goes, unless the field must be there.
  const kept = names.filter((name) => ownValue(lean, name) !== undefined || (full[name] != null && isRequired(form.shape[name])))
  return Object.fromEntries(kept.map((name) => [name, writtenField(name, { full: full[name], lean: ownValue(lean, name) })]))

  function writtenField(name: string, weighed: Weighed): unknown {
    if (name === 'sourceId' && typeof weighed.full === 'string') return naming.source(weighed.full)
    if (name === 'appliesToSourceIds' && Array.isArray(weighed.full)) return weighed.full.map(naming.source)
    return writtenValue(weighed, form?.shape[name], naming)
  }
}

/** As it is, but for numbers that only their text holds: a file cannot hold those either. */
export function plainValue(value: unknown): unknown {
  if (JSON.isRawJSON(value)) return Number(value.rawJSON)
  if (Array.isArray(value)) return value.map(plainValue)
  return isMap(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainValue(item)])) : value
}
