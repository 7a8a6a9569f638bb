import { addDays, type Day, dayOf, eachDay } from '../../platform/core/dates.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { type DemoIds, hashOf } from '../deterministic.ts'
import type { Activity, Backup, CreditBalance, Table, UsageRecord } from '../store.ts'
import { demo, type ServiceName } from './demo.ts'

// Amounts depend on entity and date only, except for the spike and for the part of today that has passed.

const days = 92
const spike = { service: 'search', metric: 'compute', daysAgo: 12, factor: 6 } as const

const serviceMicro: Readonly<Record<ServiceName, Readonly<Record<string, number>>>> = {
  checkout: { compute: 5_000_000, publicDataTransfer: 220_000, interRegionTier1DataTransfer: 50_000 },
  catalog: { compute: 3_000_000, publicDataTransfer: 140_000 },
  search: { compute: 2_600_000, publicDataTransfer: 100_000 },
}

export function createUsage(atMs: number): UsageRecord[] {
  const today = dayOf(atMs)
  const spikeDay = addDays(today, -spike.daysAgo)
  return [...eachDay(addDays(today, 1 - days), today)].flatMap((date) => {
    const passed = date === today ? (new Date(atMs).getUTCHours() + 1) / 24 : 1
    const services = keysOf<ServiceName>(serviceMicro)
    return [
      createRecord({ entityName: 'demo-warehouse', date, passed, base: { storage: 1_900_000, backup: 450_000 } }),
      ...services.map((name) => {
        const record = createRecord({ entityName: name, date, passed, base: serviceMicro[name], service: name })
        const usual = record.micro[spike.metric]
        if (name === spike.service && date === spikeDay && usual !== undefined) record.micro[spike.metric] = usual * spike.factor
        return record
      }),
    ]
  })
}

interface UsageSpec {
  readonly entityName: string
  readonly date: Day
  readonly passed: number
  readonly base: Readonly<Record<string, number>>
  readonly service?: ServiceName
}

function createRecord({ entityName, date, passed, base, service }: UsageSpec): UsageRecord {
  const serviceId = service === undefined ? null : demo.services[service]
  // Services use less at the weekend, and the warehouse does not.
  const activity = service !== undefined && [0, 6].includes(new Date(date).getUTCDay()) ? 0.9 : 1
  const amounts = Object.entries(base).map(([metric, micro]) => {
    const jitter = 0.96 + 0.08 * (hashOf(`${entityName} ${metric} ${date}`) / 2 ** 32)
    return [metric, Math.round(micro * activity * jitter * passed)]
  })
  return {
    dataWarehouseId: demo.warehouseId,
    serviceId,
    date,
    entityType: service === undefined ? 'datawarehouse' : 'service',
    entityId: serviceId ?? demo.warehouseId,
    entityName,
    micro: Object.fromEntries(amounts),
  }
}

/** Hours since the newest backup finished, or would have finished if it had not failed. */
const newestAgeHours: Readonly<Record<ServiceName, number>> = { checkout: 3, catalog: 50, search: 5 }

const fullBytes: Readonly<Record<ServiceName, number>> = { checkout: 48_318_382_080, catalog: 21_474_836_480, search: 8_589_934_592 }

export function createBackups(ids: DemoIds, serviceId: string, name: ServiceName, atMs: number): Backup[] {
  const newestMs = atMs - newestAgeHours[name] * hourMs
  return Array.from({ length: 10 }, (_, index): Backup => {
    const isFull = index % 7 === 2
    const isFailed = name === 'search' && index === 0
    const minutes = (isFull ? 42 : 9) + ((index * 5) % 7)
    const finishedMs = newestMs - index * dayMs
    const startedAt = new Date(finishedMs - minutes * minuteMs).toISOString()
    // A shop grows, so that older backups are smaller.
    const bytes = Math.round((fullBytes[name] / (isFull ? 1 : 16)) * (1 - index * 0.004))
    return {
      id: ids.uuid(),
      status: isFailed ? 'error' : 'done',
      serviceId,
      startedAt,
      // Documented for finished backups only.
      ...(!isFailed && { finishedAt: new Date(finishedMs).toISOString() }),
      sizeInBytes: isFailed ? 0 : bytes,
      durationInSeconds: minutes * 60,
      type: isFull ? 'full' : 'incremental',
      backupName: `${name}-${startedAt.slice(0, 10)}`,
      bucket: {
        bucketProvider: 'AWS',
        bucketPath: `https://demo-shop-backups.s3.example/${name}`,
        iamRoleArn: 'arn:aws:iam::000000000000:role/demo-shop-backups',
        iamRoleSessionName: `demo-shop-${name}`,
      },
    }
  })
}

/** What the demo's sources read, and a table without a time. */
export function createTables(name: ServiceName, atMs: number): Table[] {
  const start = { fromMs: atMs - 30 * dayMs, engine: 'SharedMergeTree' }
  return [
    { ...start, database: 'default', name: 'otel_logs', timeColumn: 'Timestamp', everyMs: 120_000 },
    { ...start, database: 'default', name: 'otel_traces', timeColumn: 'Timestamp', everyMs: 180_000 },
    { ...start, database: name, name: 'products', everyMs: hourMs, untilMs: atMs - 20 * dayMs },
    { ...start, database: name, name: 'products_view', engine: 'View', everyMs: hourMs },
  ]
}

type ActivitySpec = readonly [daysAgo: number, type: string, service?: ServiceName | undefined, actor?: Activity['actorType']]

/** Catalog wakes for ten hours of each night only for its alerts, which are evaluated at each full hour. It is awake now. */
const nightsOfCatalog = Array.from({ length: days / 2 }, (_, i) => i + 1).flatMap((daysAgo) =>
  Array.from({ length: 10 }, (_, hour) => daysAgo - (6 + hour) / 24).flatMap((asleep): readonly ActivitySpec[] => [
    [asleep - 1 / 96, 'service_idle', 'catalog'],
    [asleep - 1 / 24, 'service_awaken', 'catalog'],
  ]),
)

// Search slept at night until its alerts were created, 50 days ago, and has not slept since then.
const activitySpecs: readonly ActivitySpec[] = [
  ...keysOf<ServiceName>(demo.services).map((name): ActivitySpec => [400, 'service_create', name, 'user']),
  ...Array.from({ length: 6 }, (_, i): ActivitySpec => [61 - 12 * i, 'user_login', undefined, 'user']),
  ...Array.from({ length: 6 }, (_, night) => 56 - night).flatMap((daysAgo): readonly ActivitySpec[] => [
    [daysAgo, 'service_idle', 'search'],
    [daysAgo - 0.4, 'service_awaken', 'search'],
  ]),
  ...nightsOfCatalog,
  [spike.daysAgo + 0.2, 'service_update_autoscaling_memory', spike.service, 'user'],
  [4, 'service_update_ip_access_list', 'checkout', 'api'],
]

/** Addresses are of a network for documentation: RFC 5737. */
const actors: Readonly<Record<string, Partial<Activity>>> = {
  user: { actorId: 'demo-user', actorDetails: 'ops@shop.example', actorIpAddress: '192.0.2.10', userAgent: 'Mozilla/5.0' },
  api: { actorId: demo.apiKeyId, actorDetails: 'admin', actorIpAddress: '192.0.2.20', userAgent: 'terraform-provider-clickhouse/3.0' },
}

export function createActivities(atMs: number): Activity[] {
  const hourStartMs = atMs - (atMs % hourMs)
  return activitySpecs.map(([daysAgo, type, service, actorType = 'system'], i) => ({
    id: `c0ffee00-0000-4000-8000-${`ac${i}`.padStart(12, '0')}`,
    createdAt: new Date(hourStartMs - Math.round(daysAgo * 24 * 60) * minuteMs).toISOString(),
    type,
    actorType,
    ...actors[actorType],
    ...(service !== undefined && { serviceId: demo.services[service] }),
  }))
}

/** The older credits expire before all of them are used, and the next ones have not started. */
export function createCreditBalances(ids: DemoIds, atMs: number): CreditBalance[] {
  const balance = (type: string, credits: readonly [total: number, spent: number], startDays: number, endDays: number): CreditBalance => ({
    id: ids.uuid(),
    type,
    totalMicro: credits[0] * 1_000_000,
    spentMicro: credits[1] * 1_000_000,
    startDate: `${addDays(dayOf(atMs), startDays)}T00:00:00.000Z`,
    expirationDate: `${addDays(dayOf(atMs), endDays)}T00:00:00.000Z`,
  })
  return [
    balance('prepaid', [3000, 640], -20, 345),
    balance('prepaid', [3500, 3240], -350, 15),
    balance('prepaid', [3000, 0], 345, 710),
    balance('trial', [300, 275.5], -20, 10),
  ]
}
