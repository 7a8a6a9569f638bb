import * as z from 'zod'
import { dayMs, minuteMs } from '../platform/core/durations.ts'
import type { EmulatorContext } from './options.ts'
import type { Activity, Organization, Service, Table } from './store.ts'

export const restoreSchema = z.strictObject({
  serviceId: z.string(),
  backupId: z.string(),
  id: z.string().optional(),
  name: z.string().optional(),
  tags: z.array(z.strictObject({ key: z.string(), value: z.string().exactOptional() })).optional(),
  /** Minutes from the request until the service runs. */
  minutes: z.number().min(0).optional(),
  fault: z.enum(['stuck', 'failed', 'degraded', 'stopped', 'empty-table', 'older-data', 'missing-table'] as const).optional(),
})

/** A restore as the vendor's `POST /services` with a `backupId` starts it. Default: it runs at once, without tags, and with all data. */
export type Restore = z.input<typeof restoreSchema>

/** Creates a service from a backup, with the data that the original had when the backup started. Throws for an unknown service or backup. */
export function restoreBackup({ store, ids, settings }: EmulatorContext, restore: Restore): Service {
  const { serviceId, backupId, id = ids.uuid(), name = 'restored', tags = [], minutes = 0, fault } = restoreSchema.parse(restore)
  const organization = store.organizations.find(({ services }) => services.some((service) => service.id === serviceId))
  const original = organization?.services.find((service) => service.id === serviceId)
  const backup = original?.backups.find((one) => one.id === backupId)
  if (organization === undefined || original === undefined || backup?.startedAt === undefined)
    throw new Error(`service ${serviceId} has no backup ${backupId} with a start`)
  const createdMs = settings.now()
  const runsMs = createdMs + minutes * minuteMs
  const state = fault === 'failed' || fault === 'degraded' || fault === 'stopped' ? fault : 'running'
  const service: Service = {
    ...structuredClone(original),
    id,
    name,
    tags: tags.map((tag) => ({ ...tag })),
    dataWarehouseId: ids.uuid(),
    isPrimary: true,
    createdAt: new Date(createdMs).toISOString(),
    state,
    runsAt: fault === 'stuck' ? '9999-01-01T00:00:00.000Z' : new Date(runsMs).toISOString(),
    backups: [],
    tables: restoreTables(original.tables, Date.parse(backup.startedAt), fault),
  }
  organization.services.push(service)
  addActivity(organization, { type: 'service_restore_backup', createdAt: service.createdAt, serviceId: id, id: ids.uuid() })
  if (fault !== 'stuck' && state === 'running')
    addActivity(organization, { type: 'service_running', createdAt: new Date(runsMs).toISOString(), serviceId: id, id: ids.uuid() })
  return service
}

const addActivity = (organization: Organization, activity: Activity) => organization.activities.push({ actorType: 'api', ...activity })

function restoreTables(tables: readonly Table[], backupMs: number, fault: Restore['fault']): Table[] {
  const existing = tables.filter(({ createdMs = 0 }) => createdMs <= backupMs)
  const restored = existing.map((table) => ({ ...table, untilMs: Math.min(backupMs, table.untilMs ?? backupMs) }))
  const [first, ...others] = restored
  if (first === undefined) return []
  if (fault === 'missing-table') return others
  if (fault === 'empty-table') return [{ ...first, untilMs: first.fromMs - 1 }, ...others]
  return fault === 'older-data' ? restored.map((table) => ({ ...table, untilMs: table.untilMs - dayMs })) : restored
}
