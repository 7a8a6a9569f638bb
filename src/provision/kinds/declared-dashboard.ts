// Owns what a person may write of a dashboard in a file of declarations.
import * as z from 'zod'
import { builtConfig, filterFields, writtenConfig } from './tile-config.ts'

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
  collapsible: z.boolean().optional(),
  bordered: z.boolean().optional(),
  tabs: z
    .array(z.strictObject({ id: word(256), title: word(256) }))
    .max(20)
    .optional(),
})

const savedFilterValue = z.union([
  z.strictObject({ type: z.literal('sql').optional(), condition: z.string() }),
  z.strictObject({ type: z.literal('variable'), name: z.string(), values: z.array(z.string()) }),
])

/** Where an object that exists already is taken over. */
export const adoption = {
  adopt: z.boolean().optional().meta({ description: 'Take over the one object of this name that exists and bears no mark.' }),
  id: word(64).optional().meta({ description: 'Take over the object with this id.' }),
}

export const declaredDashboard = z.strictObject({
  name: word(1024).meta({ description: 'What it is called; can be changed, the key stays.' }),
  tags: z.array(word(32)).max(49).optional().meta({ description: 'Tags to find it by; one more marks whose it is.' }),
  tiles: z.array(tile).max(500),
  filters: z.array(z.strictObject(filterFields)).optional(),
  savedQuery: z.string().nullable().optional(),
  savedQueryLanguage: z.enum(['sql', 'lucene']).nullable().optional(),
  savedFilterValues: z.array(savedFilterValue).optional(),
  containers: z.array(container).max(50).optional(),
  raw: raw.optional(),
  ...adoption,
})

export type DeclaredDashboard = z.output<typeof declaredDashboard>
