import * as z from 'zod'
import type { ReadApi } from '../../api/client.ts'
import { collectionPath } from '../../api/collection.ts'
import { type Service, under } from '../../api/path.ts'
import { readOne } from '../../api/wire.ts'
import type { DashboardBody } from './dashboard-wire.ts'

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

/** What the server says is wrong with the body of a create. Nothing is stored, so it is as safe to repeat as a read. */
export async function checkDashboard(api: ReadApi, service: Service, body: DashboardBody): Promise<readonly DashboardComplaint[]> {
  const { valid, errors } = await api.read({
    method: 'POST',
    isSafe: true,
    path: under(collectionPath(api, service, 'dashboards'), 'validate'),
    body,
    read: readOne(checkSchema),
    noun: 'dashboard',
    missing: 'service',
    permission: api.profile.permissions.observability,
  })
  if (valid) return []
  const complaints = errors.map((error) => ({ path: error.path ?? '', message: error.message }))
  return complaints.length > 0 ? complaints : [{ path: '', message: 'is not valid; the server does not say why' }]
}
