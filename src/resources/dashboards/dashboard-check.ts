// Owns asking the server what it thinks of a dashboard. Nothing is persisted, so the request is as safe to repeat as a read.
import * as z from 'zod'
import type { CollectionOptions } from '../../api/collection.ts'
import { type Service, servicePath, under } from '../../api/path.ts'
import { readOne } from '../../api/wire.ts'
import type { Dashboard, DashboardBody } from './dashboard-wire.ts'

const checkSchema = z.object({
  valid: z.boolean(),
  errors: z
    .array(z.object({ path: z.string().nullish(), message: z.string() }))
    .nullish()
    .transform((errors) => errors ?? []),
})

export interface DashboardComplaint {
  /** Where in the body: `tiles.0.config.select`; may be empty. */
  readonly path: string
  readonly message: string
}

/** Returns what is wrong with the body of a create. */
export type CheckDashboard = (service: Service, body: DashboardBody) => Promise<readonly DashboardComplaint[]>

type Options = Pick<CollectionOptions<Dashboard>, 'requester' | 'profile' | 'observabilityPath'>

export const createDashboardCheck =
  ({ requester, profile, observabilityPath }: Options): CheckDashboard =>
  async (service, body) => {
    const { value } = await requester.request({
      method: 'POST',
      isSafe: true,
      path: under(under(under(servicePath(service), observabilityPath), 'dashboards'), 'validate'),
      body,
      read: readOne(checkSchema),
      noun: 'dashboard',
      missing: 'service',
      permission: profile.permissions.observability,
    })
    if (value.valid) return []
    const told = value.errors.map((error) => ({ path: error.path ?? '', message: error.message }))
    return told.length > 0 ? told : [{ path: '', message: 'is not valid; the server does not say why' }]
  }
