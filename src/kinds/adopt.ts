// What `adopt` says: which existing object a declaration is about, and what both of them were when `pull` wrote them down.
import * as z from 'zod'
import { digestOfText } from '../platform/core/digest.ts'
import { comparable, managedPart } from './compare.ts'
import type { Body, KindWire, StoredObject } from './kind.ts'
import { canonicalText, digestOf } from './marker.ts'

/**
 * The number of the way in which the digest of a stored object is made. It goes up when any stored object gets another digest; the previous
 * way is kept for one number, so that the files of an earlier version stay valid.
 */
export const adoptFormat = 1

/** Digests by format. An id, a marker, a default or a field that no file has is not part of what is compared, so none of them changes a digest. */
const formats: Readonly<Record<number, (kind: KindWire, stored: StoredObject) => string>> = {
  1(kind, stored) {
    // A silence is a start, and no change of what the alert is.
    const { scheduleStartAt: _, ...body } = kind.toBody(stored)
    return digestOfText(canonicalText(comparable(kind, managedPart(body, undefined, kind.schema))), 10)
  },
}

// A word that a person may write for `true` or `false` is not an id.
const reference = /^(?!(?:yes|no|on|off|rewrite)$)([\w.~-]{1,128})(?:@(\d{1,3})\.([0-9a-f]{10})\.([0-9a-f]{6}))?$/

const adoptedId = z.string().regex(reference, 'must be an id, or what pull wrote')

/** Which existing object a file is about. The ids of several services make a list. */
export const adopt = z
  .union([z.boolean(), adoptedId, z.array(adoptedId).min(1).max(20)])
  .optional()
  .meta({
    description:
      'The existing object to manage: its id, or `true` for the one with this name. `pull` adds what the object was like, so that `apply` overwrites no later change. `false` creates a second object of this name.',
    accepts: 'true, false, an id, or a list with an id for each service',
    isLocal: true,
  })

/** An id in `adopt`. The digests are those that `pull` wrote; without them, the file decides. */
export interface AdoptedId {
  readonly id: string
  readonly isStored?: (kind: KindWire, stored: StoredObject) => boolean
  readonly declared?: string
}

/** The ids in `adopt`, in the order of the file. */
export const adoptedIds = (value: z.output<typeof adopt>): readonly AdoptedId[] =>
  [value ?? []].flat().flatMap((one): readonly AdoptedId[] => {
    const [, id, format, stored, declared] = (typeof one === 'string' ? reference.exec(one) : undefined) ?? []
    if (id === undefined) return []
    if (declared === undefined) return [{ id }]
    return [{ id, declared, isStored: (kind, object) => formats[Number(format)]?.(kind, object) === stored }]
  })

/** The entry of `adopt` for an object as it is now, and its declaration by their digests. */
export const toAdoptedId = (kind: KindWire, stored: StoredObject, declared: string): string =>
  `${stored.id}@${adoptFormat}.${formats[adoptFormat]?.(kind, stored)}.${declared}`

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
  const { adopt: _, id: __, previousKey: ___, rewrite: ____, ...fields } = value
  return digestOf(fields)
}
