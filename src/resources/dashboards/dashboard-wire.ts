import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { nameOrEmpty, wireId } from '../../api/wire.ts'

// Owns what may be sent of a dashboard: fields and limits as the API documents them. What a tile shows is the API's to judge.

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

// Owns the wire shape of dashboards. What a tile shows is passed through untouched.

/** A dashboard as answered. Fields that are not named here are kept. */
export const dashboardSchema = z.looseObject({
  id: wireId,
  name: nameOrEmpty,
  tiles: z
    .array(z.looseObject({ id: wireId, name: z.string().nullish() }))
    .nullish()
    .transform((tiles) => tiles ?? []),
  tags: z
    .array(z.string())
    .nullish()
    .transform((tags) => tags ?? []),
})

export type Dashboard = z.output<typeof dashboardSchema>

/** What the user declares of a dashboard, in the API's own names. */
export type DashboardBody = Readonly<Record<string, unknown>>

/** The part of an answered dashboard that may be sent again: a gateway refuses the top-level id. */
export function toDashboardBody(dashboard: Dashboard): DashboardBody {
  const { id: _id, teamId: _team, createdAt: _created, updatedAt: _updated, createdBy: _creator, ...body } = dashboard
  return body
}

export const dashboardCollection = defineCollection<Dashboard, DashboardBody>({
  name: 'dashboards',
  noun: 'dashboard',
  listing: 'whole',
  schema: dashboardSchema,
  toBody: toDashboardBody,
})
