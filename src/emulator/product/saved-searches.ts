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

export const savedSearch = z.object({
  name: z.string().trim().min(1).max(1024),
  sourceId: objectId,
  select: z
    .string()
    .max(4 * 1024)
    .optional()
    .default(''),
  where: z
    .string()
    .max(8 * 1024)
    .optional()
    .default(''),
  whereLanguage: z.enum(['lucene', 'sql']).optional().default('lucene'),
  orderBy: z.string().max(1024).optional().default(''),
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
  const index = filters.findIndex((one) => !isRenderable(one) && !stored.some((other) => isSameFilter(one, other)))
  if (index === -1) return
  throw badRequest(
    `filters[${index}] must be a sidebar-renderable SQL predicate (e.g. "<column> IN ('<value>', ...)", "NOT IN (...)", or "BETWEEN <n> AND <n>"). Other shapes are only accepted on update when preserved unchanged from the stored saved search.`,
  )
}

const isSameFilter = (a: JsonObject, b: JsonObject) =>
  ['type', 'condition', 'operator', 'left', 'right'].every((field) => a[field] === b[field])

/** Whether the sidebar of the web app can show a filter: a single condition on one column with `IN`, `NOT IN` or `BETWEEN`. */
function isRenderable({ type, condition }: JsonObject) {
  if (type !== 'sql' || typeof condition !== 'string') return false
  const range = hasTopLevel(condition, ' BETWEEN ') ? /^(.+?)\s+BETWEEN\s+(.+?)\s+AND\s+(.+?)$/i.exec(condition) : null
  if (range !== null) {
    const [, column = '', from = '', to = ''] = range
    return isColumn(column) && isNumberText(from) && isNumberText(to) && countTopLevel(condition, ' AND ') === 1
  }
  if (countTopLevel(condition, ' AND ') > 0) return false
  const list = condition.trim()
  if (['=', '<', '>', ' OR '].some((operator) => hasTopLevel(list, operator))) return false
  const operator = hasTopLevel(list, ' NOT IN ') ? ' NOT IN ' : ' IN '
  const [at] = findTopLevel(list, operator)
  if (at === undefined) return false
  return isColumn(list.slice(0, at)) && hasValue(list.slice(at + operator.length).trim())
}

const isColumn = (text: string) => !/\b(?:NOT|AND|OR)\b/i.test(text)

const isNumberText = (text: string) => Number.isFinite(Number(text.trim()))

function hasValue(list: string) {
  const values = list.startsWith('(') && list.endsWith(')') ? list.slice(1, -1) : list
  return values.split(',').some((value) => value.trim() !== '')
}

const hasTopLevel = (text: string, wanted: string) => findTopLevel(text, wanted).length > 0

function countTopLevel(text: string, wanted: string) {
  let end = 0
  return findTopLevel(text, wanted).filter((at) => {
    if (at < end) return false
    end = at + wanted.length
    return true
  }).length
}

function findTopLevel(text: string, wanted: string) {
  const upper = text.toUpperCase()
  const found: number[] = []
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "'") at = endOfQuote(text, at)
    else if (text[at] === '(') depth++
    else if (text[at] === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0 && upper.startsWith(wanted, at)) found.push(at)
  }
  return found
}

/** A quote in a quoted text is doubled or escaped with a backslash. */
function endOfQuote(text: string, start: number) {
  let at = start + 1
  while (at < text.length && (text[at] !== "'" || text[at + 1] === "'")) at += text[at] === '\\' || text[at] === "'" ? 2 : 1
  return at
}
