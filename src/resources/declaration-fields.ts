import * as z from 'zod'
import { keyForm, keyGrammar } from './marker.ts'

/** A reference that `plan` resolves to an id; the name must be unique among all that exist. */
const byName = (noun: string, name: string) =>
  z
    .union([z.string().min(1), z.strictObject({ [noun]: z.string().min(1) })])
    .meta({ description: `${name}: its id, or { ${noun}: its name }.`, accepts: `an id, or { ${noun}: its name }` })

export const sourceReference = byName('source', 'The source').meta({ id: 'source' })

const word = (longest: number) => z.string().min(1).max(longest)

/** How an object that exists already is found, other than by its key. */
export const adoption = {
  adopt: z.boolean().optional().meta({ description: 'Take over the one unmanaged object of this name.' }),
  id: word(128).optional().meta({ description: 'Take over the unmanaged object with this id.' }),
  previousKey: z
    .string()
    .regex(keyGrammar)
    .optional()
    .meta({ description: 'The key that this object had before. Remove it once the change is applied.', accepts: keyForm }),
}

/** The API takes 50 tags of 32 characters, and this tool needs two of them for its markers. */
export const declaredTags = z.array(word(32)).max(48).optional().meta({
  description: 'Tags to find it by, at most 48: the API takes 50, and two are for markers.',
  accepts: 'at most 48 tags of at most 32 characters',
})
