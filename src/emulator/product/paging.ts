import * as z from 'zod/v3'
import { badRequest } from './errors.ts'
import { byId } from './object-id.ts'
import { describeIssues, type ProductRequest, type ProductResponse } from './request.ts'

const longestPage = 1000

const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(longestPage).default(longestPage),
  offset: z.coerce.number().int().min(0).default(0),
})

/** Alerts, saved searches and webhooks: sorted by id, a page at a time, with the total beside it. */
export function answerPage<T extends { readonly id: string }>(
  { query, settings }: ProductRequest,
  items: readonly T[],
  toView: (item: T) => unknown,
): ProductResponse {
  const parsed = pageQuery.safeParse(query)
  if (!parsed.success) throw badRequest(`Query validation failed: ${describeIssues(parsed.error.issues)}`)
  const { limit, offset } = settings.isPagingIgnored ? { limit: longestPage, offset: 0 } : parsed.data
  const isAsked = query.limit !== undefined && !settings.isPagingIgnored
  const size = isAsked ? Math.min(limit, settings.pageLimit ?? limit) : (settings.pageLimit ?? longestPage)
  const page = items.toSorted(byId).slice(offset, offset + size)
  const total = items.length
  return { status: 200, body: { data: page.map(toView), meta: { total, limit, offset } }, total }
}

/** Dashboards, sources and connections are answered whole. */
export const answerWhole = ({ settings }: ProductRequest, views: readonly unknown[]): ProductResponse => ({
  status: 200,
  body: { data: views.slice(0, settings.pageLimit) },
})
