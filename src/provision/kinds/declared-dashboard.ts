// What a person may write of a dashboard in a file of declarations.
import * as z from 'zod'
import { keyForm, keyGrammar } from '../marker.ts'
import { builtConfig, filterFields, sql, writtenConfig } from './tile-config.ts'

const word = (longest: number) => z.string().min(1).max(longest)

/** Passed on as it is, for what these types do not know yet. */
const raw = z.record(z.string(), z.unknown()).meta({ description: 'Fields that are passed on to the API unchecked.' })

const tile = z
  .strictObject({
    name: word(1024).meta({ description: 'Name of the tile; alerts refer to it, and its id is kept by it.' }),
    x: z.int().min(0).max(23).meta({ description: 'Column of its left edge; the grid has 24.', accepts: 'a whole number from 0 to 23' }),
    y: z.int().min(0).meta({ description: 'Row of its upper edge.', accepts: 'a whole number from 0' }),
    w: z.int().min(1).max(24).meta({ description: 'Width in columns.', accepts: 'a whole number from 1 to 24' }),
    h: z.int().min(1).meta({ description: 'Height in rows.', accepts: 'a whole number from 1' }),
    config: z.union([builtConfig, writtenConfig]).optional().meta({ description: 'What it shows.' }),
    containerId: word(256).optional(),
    tabId: word(256).optional(),
    raw: raw.optional(),
  })
  .meta({ id: 'tile' })

const container = z.strictObject({
  id: word(256),
  title: word(256),
  collapsed: z.boolean().default(false),
  collapsible: z.boolean().optional().meta({ serverDefault: true }),
  bordered: z.boolean().optional().meta({ serverDefault: true }),
  tabs: z
    .array(z.strictObject({ id: word(256), title: word(256) }))
    .max(20)
    .optional(),
})

const savedFilterValue = z.union([
  z.strictObject({ type: z.literal('sql').optional().meta({ serverDefault: 'sql' }), condition: sql }),
  z.strictObject({ type: z.literal('variable'), name: z.string(), values: z.array(z.string()) }),
])

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
export const ownTags = z.array(word(32)).max(48).optional().meta({
  description: 'Tags to find it by, at most 48: the API takes 50, and two are for markers.',
  accepts: 'at most 48 tags of at most 32 characters',
})

export const declaredDashboard = z.strictObject({
  name: word(1024).meta({ description: 'What it is called; can be changed, the key stays.' }),
  tags: ownTags,
  tiles: z.array(tile).max(500),
  filters: z.array(z.strictObject(filterFields)).optional(),
  savedQuery: z.string().nullable().optional(),
  savedQueryLanguage: z.enum(['sql', 'lucene']).nullable().optional().meta({ serverDefault: 'lucene' }),
  savedFilterValues: z.array(savedFilterValue).optional(),
  containers: z.array(container).max(50).optional(),
  raw: raw.optional(),
  ...adoption,
})

export type DeclaredDashboard = z.output<typeof declaredDashboard>
