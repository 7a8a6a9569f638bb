// What `adopt` says: which existing object a declaration is about, and what both of them were when `pull` wrote them down.
import * as z from 'zod'
import { entryBaseOf } from './base.ts'
import type { Body, KindIdentity, KindWire, StoredObject } from './kind.ts'
import { digestOf } from './marker.ts'

// A word that a person may write for `true` is not an id.
const reference = /^(?!(?:yes|no|on|off)$)([\w.~-]{1,128})(?:@(\d{1,2}\.[0-9a-f]{10})\.([0-9a-f]{6}|files))?$/

const adoptedId = z.string().regex(reference, 'must be an id, or what pull or a message wrote')

/** Which existing object a file is about. The ids of several services make a list. */
export const adopt = z
  .union([z.literal(true), adoptedId, z.array(adoptedId).min(1).max(20)])
  .optional()
  .meta({
    description:
      'The existing object to manage: its id, or `true` for the one with this name. `pull` adds what the object was like, so that `apply` overwrites no later change.',
    accepts: 'true, an id, or a list with an id for each service',
    isLocal: true,
  })

/** An entry of `adopt`: an id, and perhaps a base. An id alone says which object is meant, and nothing about its values. */
export interface AdoptedId {
  readonly id: string
  /** The stored half of the base (see `entryBaseOf`). */
  readonly base?: string
  /** The digest of the declaration, or `files` where a person decided that the file counts. */
  readonly declared?: string
}

/** The entries of `adopt`, in the order of the file. */
export const adoptedIds = (value: z.output<typeof adopt> | false): readonly AdoptedId[] =>
  [value ?? []].flat().flatMap((one): readonly AdoptedId[] => {
    const [, id, base, declared] = (typeof one === 'string' ? reference.exec(one) : undefined) ?? []
    if (id === undefined) return []
    return [base === undefined || declared === undefined ? { id } : { id, base, declared }]
  })

/** The entry of `adopt` for an object as it is now. */
export const toAdoptedId = (kind: KindIdentity & KindWire, stored: StoredObject, desired: Body, declared: string): string =>
  `${stored.id}@${entryBaseOf(kind, stored, desired)}.${declared}`

/** Replaces the digest `before` of the declaration by `after`, in the entry of `adopt` for this id. An entry with another digest stays. */
export function withDeclaredDigest(value: unknown, id: string, before: string, after: string): unknown {
  const replace = (text: unknown): unknown =>
    typeof text === 'string' && text.startsWith(`${id}@`) && text.endsWith(`.${before}`) ? `${text.slice(0, -before.length)}${after}` : text
  return Array.isArray(value) ? value.map(replace) : replace(value)
}

/** The value of `adopt` with this entry in place of the one for the same id. Entries of other services stay. */
export function withAdoptedId(value: unknown, entry: string): unknown {
  const idOf = (text: unknown): string => String(text).split('@', 1)[0] ?? ''
  const entries: readonly unknown[] = [value].flat().filter((one) => typeof one === 'string')
  const index = entries.findIndex((one) => idOf(one) === idOf(entry))
  const after = index < 0 ? [...entries, entry] : entries.with(index, entry)
  return after.length > 1 || Array.isArray(value) ? after : entry
}

/** Digest of a declaration without the fields that only help to find an existing object. Markers have it, too. */
export function declarationDigest(value: Body): string {
  const { adopt: _, id: __, previousKey: ___, ...fields } = value
  return digestOf(fields)
}
