import { countDays, type Day, isDay } from '../../core/dates.ts'
import { badRequest } from '../refusal.ts'
import type { Tag } from '../store.ts'

/** The query of the usage cost: a period of at most 31 UTC days, and tag filters. */
export interface UsageQuery {
  readonly from: Day
  readonly to: Day
  readonly filters: readonly Tag[]
}

// to_date is at most 30 days after from_date, both inclusive.
const longestDays = 31

export function toUsageQuery(query: URLSearchParams): UsageQuery {
  const from = requireDay(query, 'from_date')
  const to = requireDay(query, 'to_date')
  if (to < from) throw badRequest('to_date must not be before from_date')
  if (countDays(from, to) > longestDays) throw badRequest('to_date must be at most 30 days after from_date')
  return { from, to, filters: query.getAll('filter').map(toFilter) }
}

function requireDay(query: URLSearchParams, name: string): Day {
  const [text, ...more] = query.getAll(name)
  if (text === undefined) throw badRequest(`${name} is required`)
  if (more.length > 0) throw badRequest(`${name} must be given once`)
  if (!isDay(text)) throw badRequest(`${name} must be a date in the form YYYY-MM-DD`)
  return text
}

// The specification's two forms: `tag:Key=Value` and `tag:Key`.
function toFilter(text: string): Tag {
  const [, key, value] = /^tag:([^=]+)(?:=(.*))?$/s.exec(text) ?? []
  if (key === undefined) throw badRequest('filter must have the form tag:Key=Value or tag:Key')
  return { key, ...(value !== undefined && { value }) }
}
