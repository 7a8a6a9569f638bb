// Owns what may be sent of a dashboard: fields and limits as the API documents them. What a tile shows is the API's to judge.
import * as z from 'zod'

const word = (longest: number) => z.string().min(1).max(longest)

const tile = z.looseObject({
  name: z.string(),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  w: z.int().min(1).max(24),
  h: z.int().min(1),
  /** Kept only when the dashboard has such a tile; otherwise the server gives a new one. */
  id: z.string().max(36).optional(),
  config: z.looseObject({}).optional(),
})

const container = z.looseObject({ id: word(256), title: word(256) })

/** A dashboard as people write it, in the API's own names. */
export const dashboardBodySchema = z.strictObject({
  name: word(1024),
  tiles: z.array(tile).max(500),
  tags: z.array(z.string().min(1).max(32)).max(50).optional(),
  filters: z.array(z.looseObject({ name: z.string(), id: z.string().optional() })).optional(),
  savedQuery: z.string().nullish(),
  savedQueryLanguage: z.enum(['sql', 'lucene']).nullish(),
  savedFilterValues: z.array(z.looseObject({})).optional(),
  containers: z.array(container).max(50).optional(),
})

export type DashboardFields = z.output<typeof dashboardBodySchema>
