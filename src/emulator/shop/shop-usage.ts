// Amounts are a pure function of entity and date, but for the spike and the part of today that has passed.
import { addDays, type Day, dayOf, eachDay } from '../../core/dates.ts'
import { demo, type ServiceName } from '../demo.ts'
import type { UsageRecord } from '../store.ts'

const days = 92
const spike = { service: 'search', metric: 'compute', daysAgo: 9, factor: 6 } as const

/** Millionths of a credit on a working day. */
const warehouseMicro = { storage: 1_900_000, backup: 450_000 }

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
    const services = Object.keys(serviceMicro) as ServiceName[]
    return [
      createRecord({ entityName: 'demo-warehouse', date, passed, base: warehouseMicro }),
      ...services.map((name) => {
        const record = createRecord({ entityName: name, date, passed, base: serviceMicro[name], service: name })
        const usual = record.micro[spike.metric]
        if (name === spike.service && date === spikeDay && usual !== undefined) record.micro[spike.metric] = usual * spike.factor
        return record
      }),
    ]
  })
}

interface Facts {
  readonly entityName: string
  readonly date: Day
  /** The part of the day that has passed. */
  readonly passed: number
  readonly base: Readonly<Record<string, number>>
  readonly service?: ServiceName
}

function createRecord({ entityName, date, passed, base, service }: Facts): UsageRecord {
  const serviceId = service === undefined ? null : demo.services[service]
  // Storage does not rest at the weekend.
  const activity = service !== undefined && isWeekend(date) ? 0.9 : 1
  const amounts = Object.entries(base).map(([metric, micro]) => {
    const jitter = 0.96 + 0.08 * fraction(`${entityName} ${metric} ${date}`)
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

const isWeekend = (date: Day): boolean => [0, 6].includes(new Date(date).getUTCDay())

// FNV-1a with a last mix, so that neighbouring days differ: a text's place between 0 and 1.
function fraction(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}
