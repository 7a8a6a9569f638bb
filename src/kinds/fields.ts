import * as z from 'zod'
import { ownValue } from '../platform/documents/schema.ts'
import { adopt } from './base.ts'
import { keyForm, keyGrammar } from './marker.ts'

/** The object with this key in these files, or an existing one. */
export const byKey = (to: 'dashboard' | 'savedSearch', label: string) =>
  z
    .union([z.string().min(1), z.strictObject({ id: z.string().min(1) }), z.strictObject({ name: z.string().min(1) })])
    .optional()
    .meta({
      description: `${label}: its key in these files, or { id: … } or { name: … } of an existing one.`,
      accepts: 'a key, { id: … } or { name: … }',
      ref: { to, wire: `${to}Id`, by: 'key' },
    })

export const sourceReference = z.union([z.string().min(1), z.strictObject({ source: z.string().min(1) })]).meta({
  id: 'source',
  description: 'The source: its id, or { source: its name }.',
  accepts: 'an id, or { source: its name }',
  ref: { to: 'source', wire: 'sourceId', by: 'id' },
})

/** A source, by its name in `source`, or by id or name in `sourceId`. */
export const sourceFields = {
  source: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Name of the source. It must be unique in the service.', accepts: 'the name of a source' }),
  sourceId: sourceReference.optional(),
}

/** The connection to ClickHouse of a source or a SQL tile. */
export const connectionField = (wire: string) =>
  z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        'The connection to ClickHouse: its id, or its name on a self-hosted server. The default is the only one that other sources use.',
      ref: { to: 'connection', wire, by: 'name', isImplied: true },
    })

export const withOneConnection = <Schema extends z.ZodType>(schema: Schema): Schema =>
  schema.refine((fields) => ownValue(fields, 'connection') === undefined || ownValue(fields, 'connectionId') === undefined, {
    path: ['connectionId'],
    message: 'cannot be combined with connection',
    params: { isComplete: true },
  })

const hasField = (fields: unknown, name: keyof typeof sourceFields) => ownValue(fields, name) !== undefined

/** Requires one of the two fields. Both together are an error also where other fields have errors. */
export const withOneSource = <Schema extends z.ZodType>(schema: Schema): Schema =>
  schema
    .refine((fields) => hasField(fields, 'source') || hasField(fields, 'sourceId'), { path: ['source'], message: 'give a source' })
    .refine(() => false, {
      path: ['sourceId'],
      message: 'cannot be combined with source',
      params: { isComplete: true },
      when: ({ value }) => hasField(value, 'source') && hasField(value, 'sourceId'),
    })

/** Values with `sourceId: { source: NAME }` for each `source: NAME`. The fields of `raw` stay as they are. */
export function withSourceIds<T>(value: T): T
export function withSourceIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withSourceIds(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => {
      if (key === 'source' && typeof item === 'string') return ['sourceId', { source: item }]
      if (key === 'appliesToSources' && Array.isArray(item)) return ['appliesToSourceIds', item.map((source: unknown) => ({ source }))]
      return [key, shortSourceNames.has(key) || key === 'id' || key === 'raw' ? item : withSourceIds(item)]
    }),
  )
}

export const shortSourceNames: ReadonlyMap<PropertyKey, string> = new Map([
  ['sourceId', 'source'],
  ['appliesToSourceIds', 'appliesToSources'],
])

/** Adds an error whose message is complete. `needs`: the fields of the same map that must not be missing. */
export const refuseField = (context: z.RefinementCtx, path: readonly PropertyKey[], message: string, needs: readonly string[] = []): void =>
  context.addIssue({ code: 'custom', path: [...path], message, params: { isComplete: true, needs } })

/** Text that is not empty. */
export const word = (maxLength: number) => z.string().min(1).max(maxLength)

export const nameDescription = 'Name in the service. It can change, because the key identifies the object.'

/** Fields that find an existing object by something other than its key. */
export const adoption = {
  adopt,
  previousKey: z
    .string()
    .regex(new RegExp(`^$|${keyGrammar.source}`))
    .optional()
    .meta({
      description: 'Previous key of this object; none if it is empty. Remove the field once the change is applied.',
      accepts: keyForm,
      isLocal: true,
    }),
}

/** The API accepts 50 tags of 32 characters. This tool needs three of them for its markers. */
export const declaredTags = z.array(word(32)).max(47).optional().meta({
  description: 'Tags, at most 47. The API accepts 50, and three are reserved for markers.',
  accepts: 'at most 47 tags of at most 32 characters',
  clear: [],
})
