import * as z from 'zod'
import { keyForm, keyGrammar } from './marker.ts'

/** A reference that `plan` resolves to an id. The name must be unique in the service. */
const byName = (noun: string, name: string) =>
  z
    .union([z.string().min(1), z.strictObject({ [noun]: z.string().min(1) })])
    .meta({ description: `${name}: its id, or { ${noun}: its name }.`, accepts: `an id, or { ${noun}: its name }` })

export const sourceReference = byName('source', 'The source').meta({ id: 'source' })

const word = (longest: number) => z.string().min(1).max(longest)

/** Fields that find an existing object by something other than its key. */
export const adoption = {
  adopt: z.boolean().optional().meta({ description: 'Adopts the unmanaged object with this name.' }),
  id: word(128).optional().meta({ description: 'Adopts the unmanaged object with this id.' }),
  previousKey: z
    .string()
    .regex(keyGrammar)
    .optional()
    .meta({ description: 'Previous key of this object. Remove the field once the change is applied.', accepts: keyForm }),
}

/** The API accepts 50 tags of 32 characters. This tool needs two of them for its markers. */
export const declaredTags = z.array(word(32)).max(48).optional().meta({
  description: 'Tags, at most 48. The API accepts 50, and two are reserved for markers.',
  accepts: 'at most 48 tags of at most 32 characters',
})
