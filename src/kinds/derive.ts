// What follows from the schema of a kind's fields in files: the body of a request, the schema of that body, what clears a field in an
// update. The metadata of a field says how the API has it.
import * as z from 'zod'
import { oncePer } from '../platform/core/concurrency.ts'
import { isExactNumber } from '../platform/core/json.ts'
import { mapItems } from '../platform/core/keys.ts'
import { coreOf, type FormWalk, isRequired, isUnused, mapForms, metaOf, ownValue, type Schema } from '../platform/documents/schema.ts'
import type { Directory, ReferableKind } from './directory.ts'
import { shortSourceNames } from './fields.ts'
import type { Body, FileContext } from './kind.ts'
import { type Reference, type ReferenceResolver, spellConnection } from './reference-resolver.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** Whether the field is never sent with the object: it finds an existing object, or another object has it. */
    isLocal?: true
    /** The field refers to another object, whose id is sent. */
    ref?: Reference
    /** What an update sends to clear the field; undefined where an update clears it by leaving it out. Without it, no update can. */
    clear?: unknown
    /** A file without the field leaves its value to the service. */
    keepIfAbsent?: true
    /** The value as the API takes it. */
    toWire?: (value: unknown) => unknown
  }
}

/** How the field refers to another object, if it does. */
export const referenceOf = (field: Schema): Reference | undefined => metaOf(field).ref

/** The metadata of the fields of a map. Plans have thousands of maps. */
const metasOf = oncePer((form: z.ZodObject) => new Map(Object.entries<Schema>(form.shape).map(([name, field]) => [name, metaOf(field)])))

/** The body of a request for what a file declares, with the ids of what it refers to. */
export const encode = (fields: z.ZodObject, declared: Body, references: ReferenceResolver): Body =>
  mapForms(declared, fields, encoding(references), [])

const encoding = (references: ReferenceResolver): FormWalk<readonly PropertyKey[]> => ({
  into: (path, key) => [...path, key],
  leaf(value, schema) {
    const toWire = schema === undefined ? undefined : metaOf(schema).toWire
    return toWire === undefined || value == null ? value : toWire(value)
  },
  map({ map, form, beside: path, inner }) {
    if (form === undefined) return map
    const metas = metasOf(form)
    const body: Record<string, unknown> = {}
    const refer = (name: string, reference: Reference, spelled: unknown): void => {
      const at = [...path, name]
      const one = (item: unknown, i?: number) => references.idOf(reference, item, i === undefined ? at : [...at, i], { file: map, body })
      body[reference.wire] = Array.isArray(spelled) ? spelled.map(one) : one(spelled)
    }
    for (const [name, item] of Object.entries(map)) {
      const { ref, isLocal } = metas.get(name) ?? {}
      if (item === undefined || isLocal) continue
      if (ref !== undefined) refer(name, ref, item)
      else body[name] = inner(name)
    }
    for (const [name, { ref }] of metas)
      if (ref?.isImplied && body[ref.wire] === undefined && map[name] === undefined) refer(name, ref, undefined)
    return body
  },
})

/** The schema of a body: the fields of a file under the API's names. A default of a file is sent, so it is none of the server's. */
export function wireSchema(fields: z.ZodObject): z.ZodObject {
  const shape = Object.entries<Schema>(fields.shape).flatMap(([name, field]): (readonly [string, z.ZodType])[] => {
    const { ref, isLocal } = metaOf(field)
    if (isLocal) return []
    return [[ref?.wire ?? name, ref === undefined ? wireField(field) : z.unknown()]]
  })
  return z.strictObject(Object.fromEntries(shape))
}

/** Made once for each field, because a run asks for the schemas of its kinds several times. */
const wireField: (field: Schema) => z.ZodType = oncePer((field) => {
  const core = coreOf(field)
  const element = core instanceof z.ZodArray ? core.element : undefined
  const wire = element === undefined ? wireOption(core) : z.array(wireOption(coreOf(element)))
  const { serverDefault, writeDefault } = metaOf(field)
  return wire
    .optional()
    .meta({ ...(serverDefault !== undefined && { serverDefault }), ...(writeDefault !== undefined && { writeDefault }) })
})

function wireOption(core: Schema): z.ZodType {
  if (core instanceof z.ZodObject) return wireSchema(core)
  if (core instanceof z.ZodUnion) return z.union(core.options.map((option) => wireOption(coreOf(option))))
  return core as z.ZodType // Every schema here was made with zod's classic API.
}

/** The value that clears a field, for each field of the API that an update can clear; undefined where leaving the field out clears it. */
export const clearing = (fields: z.ZodObject): Body =>
  Object.fromEntries(
    [...metasOf(fields)].flatMap(([name, meta]) => (Object.hasOwn(meta, 'clear') ? [[meta.ref?.wire ?? name, meta.clear]] : [])),
  )

/** The fields whose value a file without them leaves to the service. */
export const fieldsLeftToService = (fields: z.ZodObject): readonly string[] =>
  [...metasOf(fields)].flatMap(([name, { keepIfAbsent }]) => (keepIfAbsent ? [name] : []))

// How `pull` spells stored values in a file: without the server's defaults, with names in place of ids, and in the order of the schema.

interface Spelling {
  readonly value: unknown
  /** The value without the server's defaults and empty fields. */
  readonly normalized: unknown
  /** The value in the file; undefined where the file does not have it. */
  readonly spelled: unknown
}

/** Read last, so written last. */
const lastFields: readonly string[] = ['numberFormat', 'raw']

/** The fields that the schema knows and that are not defaults of the server. */
export const spellFields = ({ value, ...others }: Spelling & { readonly value: Body }, schema: Schema, context: FileContext): Body =>
  mapForms(value, schema, spelling(context), others)

const spelling = (context: FileContext): FormWalk<Omit<Spelling, 'value'>> => ({
  into: ({ normalized, spelled }, key) => ({ normalized: ownValue(normalized, key), spelled: ownValue(spelled, key) }),
  leaf: withPlainNumbers,
  map({ map, form, beside: { normalized, spelled }, inner }) {
    if (form === undefined) return withPlainNumbers(map)
    const spellField = (name: string): readonly [string, unknown] => {
      const short = shortSourceNames.get(name)
      if (short !== undefined) return spellSources(name, short, { value: map, normalized, spelled }, context.directory)
      if (name === 'connectionId' && ownValue(spelled, name) === undefined)
        return ['connection', spellConnection(map[name], { ...context, spelled })]
      const field = form.shape[name]
      // The source that a click opens.
      const opened = name === 'id' && field && metaOf(field).ref ? uniqueNameOf(context.directory, 'source', map[name]) : undefined
      if (opened !== undefined && ownValue(spelled, name) !== map[name]) return [name, { source: opened }]
      return [name, inner(name)]
    }
    // Comparisons ignore it. A new object has it in its file, and another one only if the file has it already.
    const isKept = (name: string, { serverDefault } = metaOf(form.shape[name])): boolean =>
      isUnused(form, name, map) && map[name] !== serverDefault && (spelled === undefined || ownValue(spelled, name) !== undefined)
    return Object.fromEntries(
      Object.keys(form.shape)
        .toSorted((a, b) => lastFields.indexOf(a) - lastFields.indexOf(b))
        .filter((name) => ownValue(normalized, name) !== undefined || (map[name] != null && (isRequired(form.shape[name]) || isKept(name))))
        .map(spellField)
        .filter(([, field]) => field !== undefined),
    )
  },
})

/** The field with sources, in its short form unless the file has the long one or a source has no unique name. */
function spellSources(field: string, short: string, { value, spelled }: Spelling, directory: Directory): readonly [string, unknown] {
  const ids = ownValue(value, field)
  const list: readonly unknown[] = [ids].flat()
  const names = list.map((id) => uniqueNameOf(directory, 'source', id))
  const isShort = ownValue(spelled, field) === undefined && !names.includes(undefined)
  const sources = isShort ? names : list.map((id, i) => (names[i] === undefined ? id : { source: names[i] }))
  return [isShort ? short : field, Array.isArray(ids) ? sources : sources[0]]
}

/** The name of the object with this id, if no other one has it. */
export function uniqueNameOf(directory: Directory, kind: ReferableKind, id: unknown): string | undefined {
  const name = directory.nameOf(id)
  if (name === undefined) return undefined
  const found = directory.byName(kind, name)
  return 'id' in found && found.id === id ? name : undefined
}

/** Files cannot hold more digits than a JavaScript number, so exact numbers are rounded. */
export function withPlainNumbers(value: Body): Body
export function withPlainNumbers(value: unknown): unknown
export function withPlainNumbers(value: unknown): unknown {
  return isExactNumber(value) ? Number(value.rawJSON) : mapItems(value, withPlainNumbers)
}
