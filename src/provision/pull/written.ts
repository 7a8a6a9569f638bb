// Owns what an object is in a file: its fields as a person would write them, or why no file can hold it.
import type * as z from 'zod'
import { quote } from '../../kernel/text.ts'
import { complaintsOf } from '../complaints.ts'
import type { ReadDocument } from '../document.ts'
import type { Body } from '../kinds/kind.ts'
import { findUnwritable } from './writable.ts'

export interface Written {
  readonly fields: Body
  /** By what items of lists are known although it does not stand in the file: the ids of tiles. */
  readonly identities: ReadonlyMap<unknown, string>
}

/** Why this cannot stand in a file; undefined when it can. */
export function whyUnwritable(fields: Body, schema: z.ZodType): string | undefined {
  const text = findUnwritable(fields)
  if (text !== undefined) return `"${quote(text, 60)}" would be read as an expression`
  const parsed = schema.safeParse(fields)
  if (parsed.success) return undefined
  const [complaint] = complaintsOf(parsed.error, nowhere(fields), schema)
  return complaint?.message ?? 'is not what a file can hold'
}

const nowhere = (value: unknown): ReadDocument => ({ value, placeOf: () => ({ file: '' }), placeOfKey: () => ({ file: '' }) })
