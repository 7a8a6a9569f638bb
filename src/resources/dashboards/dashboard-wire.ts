import * as z from 'zod'
import type { ReadApi } from '../../api/client.ts'
import { collectionPath, defineCollection } from '../../api/collection.ts'
import { type Service, under } from '../../api/path.ts'
import { nameOrEmpty, readOne, wireId } from '../../api/wire.ts'
import type { Body, RemoteObject } from '../resource-type.ts'

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

/** A dashboard as users write it for the operations, in the API's own names. The API checks the configuration of tiles. */
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

/** The part of an answered dashboard that may be sent again: a gateway refuses the top-level id. */
export function toDashboardBody(dashboard: RemoteObject): Body {
  const { id: _id, teamId: _team, createdAt: _created, updatedAt: _updated, createdBy: _creator, ...body } = dashboard
  return body
}

export const dashboardCollection = defineCollection<Dashboard, Body>({
  name: 'dashboards',
  noun: 'dashboard',
  listing: 'whole',
  schema: dashboardSchema,
  toBody: toDashboardBody,
})

const validationSchema = z.object({
  valid: z.boolean(),
  errors: z
    .array(z.object({ path: z.string().nullish(), message: z.string() }))
    .nullish()
    .transform((errors) => errors ?? []),
})

export interface InvalidField {
  /** A path in the body: `tiles.0.config.select`; may be empty. */
  readonly path: string
  readonly message: string
}

/** Lets the server validate the body of a create. Nothing is stored, so it is as safe to repeat as a read. */
export async function checkDashboard(api: ReadApi, service: Service, body: Body): Promise<readonly InvalidField[]> {
  const { valid, errors } = await api.read({
    method: 'POST',
    isSafe: true,
    path: under(collectionPath(api, service, 'dashboards'), 'validate'),
    body,
    read: readOne(validationSchema),
    noun: 'dashboard',
    missing: 'service',
    permission: api.profile.permissions.observability,
  })
  if (valid) return []
  const invalid = errors.map((error) => ({ path: error.path ?? '', message: error.message }))
  return invalid.length > 0 ? invalid : [{ path: '', message: 'is not valid; the server does not say why' }]
}
