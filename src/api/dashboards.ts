// Owns the wire shape of dashboards. What a tile shows is passed through untouched.
import * as z from 'zod'
import { nameOrEmpty, wireId } from './wire.ts'

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
