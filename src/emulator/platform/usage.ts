import { addDays, dayOf } from '../../core/dates.ts'
import type { JsonObject, Organization, Tag, UsageRecord } from '../store.ts'
import { sumMicro, toCredits } from './credits.ts'
import type { PlatformCall } from './platform-call.ts'
import { toUsageQuery } from './usage-query.ts'

// When records become immutable is not documented; three days is this emulator's choice.
const openDays = 3

export function getUsageCost({ organization, query, context }: PlatformCall): unknown {
  const { from, to, filters } = toUsageQuery(query)
  const { unit, costs } = context.settings
  const firstOpenDay = addDays(dayOf(context.clock.now()), -openDays)
  const records = organization.usage
    .filter(({ date }) => date >= from && date <= to)
    .filter((record) => isTagged(organization, record, filters))
  const views = records.map((record) => toView(record, unit, firstOpenDay))
  return {
    [`grandTotal${unit}`]: toCredits(sumMicro(records.flatMap(amountsOf))),
    // An older copy of the documentation shows one record here instead of a list (clickhousectl#27).
    costs: costs === 'object' && views.length === 1 ? views[0] : views,
  }
}

const amountsOf = ({ micro }: UsageRecord): number[] => Object.values(micro)

function toView(record: UsageRecord, unit: string, firstOpenDay: string): JsonObject {
  const { micro, locked, ...fields } = record
  return {
    ...fields,
    metrics: Object.fromEntries(Object.entries(micro).map(([name, amount]) => [`${name}${unit}`, toCredits(BigInt(amount))])),
    [`total${unit}`]: toCredits(sumMicro(amountsOf(record))),
    locked: locked ?? record.date < firstOpenDay,
  }
}

// Records have no tags: the service's count. Several filters must all fit; warehouse rows have no service and fit none.
function isTagged({ services }: Organization, { serviceId }: UsageRecord, filters: readonly Tag[]): boolean {
  const tags = services.find(({ id }) => id === serviceId)?.tags ?? []
  return filters.every(({ key, value }) => tags.some((tag) => tag.key === key && (value === undefined || tag.value === value)))
}
