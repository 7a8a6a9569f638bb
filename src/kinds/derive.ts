// What follows from the schema of a kind's fields in files: the body of a request, the schema of that body, what clears a field in an
// update. The metadata of a field says how the API has it.
import * as z from 'zod'
import { oncePer } from '../platform/core/concurrency.ts'
import { coreOf, type FormWalk, mapForms, metaOf, type Schema } from '../platform/documents/schema.ts'
import type { Body } from './kind.ts'
import type { Reference, ReferenceResolver } from './reference-resolver.ts'

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
