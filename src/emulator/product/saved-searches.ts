import * as z from 'zod/v3'
import type { JsonObject, SavedSearch } from '../store.ts'
import { deleteAlertsWhere } from './alerts.ts'
import { tags } from './dashboards.ts'
import { badRequest, notFound, objectId, requireById, routesOf, stampOf, toObjectId } from './request.ts'

const maxConditionLength = 8 * 1024

const searchFilter = z.union([
  z.object({ type: z.enum(['lucene', 'sql']).optional().default('sql'), condition: z.string().max(maxConditionLength) }),
  z.object({
    type: z.literal('sql_ast'),
    operator: z.enum(['=', '<', '>', '!=', '<=', '>=']),
    left: z.string().max(maxConditionLength),
    right: z.string().max(maxConditionLength),
  }),
])

const textUpTo = (max: number) => z.string().max(max).optional().default('')

export const savedSearch = z.object({
  name: z.string().trim().min(1).max(1024),
  sourceId: objectId,
  select: textUpTo(4 * 1024),
  where: textUpTo(8 * 1024),
  whereLanguage: z.enum(['lucene', 'sql']).optional().default('lucene'),
  orderBy: textUpTo(1024),
  tags: tags.default([]),
  filters: z.array(searchFilter).max(100).default([]),
})

/** An update replaces the saved search: fields that the body leaves out get their defaults. */
export const savedSearches = routesOf<SavedSearch, z.output<typeof savedSearch>>({
  name: 'saved-searches',
  itemsOf: (service) => service.savedSearches,
  toView: ({ tags: given = [], filters = [], ...shown }) => ({ ...shown, tags: given, filters }),
  missing: () => notFound('Saved search not found'),
  schema: () => savedSearch,
  check({ sources }, { sourceId }) {
    requireById(sources, sourceId, () => badRequest('sourceId must be an existing source id'))
  },
  write(request, body, existing) {
    demandFilters(body.filters, existing?.filters ?? [])
    const teamId = existing?.teamId ?? request.service.teamId
    return { ...existing, ...stampOf(request, existing), teamId, ...body, sourceId: toObjectId(body.sourceId) }
  },
  afterDelete: (service, { id }) => deleteAlertsWhere(service, (alert) => alert.savedSearchId === id),
})

/** A filter that the web app stored in a form that it cannot show may be sent back unchanged. */
function demandFilters(filters: readonly z.output<typeof searchFilter>[], stored: readonly JsonObject[]) {
  const isStored = (filter: JsonObject) =>
    stored.some((other) => ['type', 'condition', 'operator', 'left', 'right'].every((field) => filter[field] === other[field]))
  const index = filters.findIndex((one) => !isRenderable(one) && !isStored(one))
  if (index === -1) return
  throw badRequest(
    `filters[${index}] must be a sidebar-renderable SQL predicate (e.g. "<column> IN ('<value>', ...)", "NOT IN (...)", or "BETWEEN <n> AND <n>"). Other shapes are only accepted on update when preserved unchanged from the stored saved search.`,
  )
}

/** Whether the sidebar of the web app can show a filter: a single condition on one column with `IN`, `NOT IN` or `BETWEEN`. */
function isRenderable({ type, condition }: JsonObject) {
  if (type !== 'sql' || typeof condition !== 'string') return false
  const has = (text: string, wanted: string): boolean => findTopLevel(text, wanted).length > 0
  const range = has(condition, ' BETWEEN ') ? /^(.+?)\s+BETWEEN\s+(.+?)\s+AND\s+(.+?)$/i.exec(condition) : null
  const ands = findTopLevel(condition, ' AND ').length
  if (range !== null) {
    const [, column = '', ...ends] = range
    return isColumn(column) && ends.every((end) => Number.isFinite(Number(end.trim()))) && ands === 1
  }
  const list = condition.trim()
  if (ands > 0 || ['=', '<', '>', ' OR '].some((operator) => has(list, operator))) return false
  const operator = has(list, ' NOT IN ') ? ' NOT IN ' : ' IN '
  const [at] = findTopLevel(list, operator)
  if (at === undefined) return false
  const values = list.slice(at + operator.length).trim()
  const inner = values.startsWith('(') && values.endsWith(')') ? values.slice(1, -1) : values
  return isColumn(list.slice(0, at)) && inner.split(',').some((value) => value.trim() !== '')
}

const isColumn = (text: string) => !/\b(?:NOT|AND|OR)\b/i.test(text)

/** Where a text is outside of quotes and parentheses, without overlaps. */
function findTopLevel(text: string, wanted: string) {
  const upper = text.toUpperCase()
  const found: number[] = []
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "'") at = endOfQuote(text, at)
    else if (text[at] === '(') depth++
    else if (text[at] === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0 && upper.startsWith(wanted, at) && at >= (found.at(-1) ?? -wanted.length) + wanted.length) found.push(at)
  }
  return found
}

/** A quote in a quoted text is doubled or escaped with a backslash. */
function endOfQuote(text: string, start: number) {
  let at = start + 1
  while (at < text.length && (text[at] !== "'" || text[at + 1] === "'")) at += text[at] === '\\' || text[at] === "'" ? 2 : 1
  return at
}
