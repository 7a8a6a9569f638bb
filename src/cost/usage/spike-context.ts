import { type Activity, listActivities } from '../../platform/api/activities.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { addDays, type Day, dayOf } from '../../platform/core/dates.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { toFailure } from '../../platform/core/errors.ts'
import type { GitHubReader } from '../../platform/operation/operation.ts'
import { createLabels, type UsageRecord } from './records.ts'

// Source of the types: the vendor's OpenAPI document of 2026-07-31. Services fall asleep and wake up too often to explain anything.
const changeWords: ReadonlyMap<string, string> = new Map([
  ['service_create', 'created'],
  ['transfer_service_in', 'transferred into the organization'],
  ['service_import_to_organization', 'transferred into the organization'],
  ['service_restore_backup', 'restored from a backup'],
  ['service_start', 'started'],
  ['service_update_autoscaling_memory', 'scaling changed: memory'],
  ['service_update_autoscaling_replicas', 'scaling changed: replicas'],
  ['service_update_autoscaling_idling', 'scaling changed: idling'],
  ['service_update_max_allowable_replicas', 'scaling changed: largest number of replicas'],
])

const maxPerSpike = 20

interface SpikeContextOptions {
  readonly spikes: readonly { readonly date: Day }[]
  /** Records with the names of services. */
  readonly records: readonly UsageRecord[]
}

/** Reads the activities of the days of spikes and the days before, with one request. Undefined where they cannot be read. */
export async function findSpikeContext(api: ReadApi, organizationId: string, { spikes, records }: SpikeContextOptions) {
  const { days, period } = around(spikes)
  if (period === undefined) return undefined
  try {
    const { activities } = await listActivities(api, organizationId, period.fromMs, period.toMs)
    return days.flatMap((day) => changesAt(day, activities, records))
  } catch (thrown) {
    // A detail of the report must not fail a gate. A canceled run ends.
    if (toFailure(thrown).kind === 'canceled') throw thrown
    return undefined
  }
}

/** Reads the deployments of the days of spikes and the days before. Undefined where they cannot be read. */
export async function findSpikeDeployments(readDeployments: GitHubReader['readDeployments'], spikes: SpikeContextOptions['spikes']) {
  const { days, period } = around(spikes)
  const found = period === undefined ? [] : await readDeployments(period)
  if (found === undefined) return undefined
  return days.flatMap((spike) =>
    found
      .filter(({ atMs }) => isNear(spike, atMs))
      .map(({ atMs, ...deployment }) => ({ spike, at: new Date(atMs).toISOString(), ...deployment }))
      .slice(0, maxPerSpike),
  )
}

function around(spikes: SpikeContextOptions['spikes']) {
  const days = [...new Set(spikes.map((spike) => spike.date))].sort()
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return { days, period: undefined }
  return { days, period: { fromMs: Date.parse(addDays(first, -1)), toMs: Date.parse(last) + dayMs - 1 } }
}

const isNear = (spike: Day, atMs: number) => [spike, addDays(spike, -1)].includes(dayOf(atMs))

function changesAt(spike: Day, activities: readonly Activity[], records: readonly UsageRecord[]) {
  const labelOf = createLabels(records)
  return activities
    .filter(({ atMs }) => isNear(spike, atMs))
    .flatMap(({ type, atMs, serviceId, actorType }) => {
      const change = changeWords.get(type)
      if (change === undefined) return []
      const service = records.findLast((record) => record.serviceId === serviceId && record.entityType === 'service')
      const serviceName = service === undefined ? serviceId : labelOf(service)
      return [{ spike, at: new Date(atMs).toISOString(), change, serviceName, actorType }]
    })
    .slice(0, maxPerSpike)
}
