import { isJsonObject } from '../json.ts'
import type { JsonObject, Service, Source } from '../store.ts'
import { badRequest, internalError, notFound } from './errors.ts'
import { findById, isObjectId, removeById, toObjectId } from './object-id.ts'
import { answerWhole } from './paging.ts'
import { deleted, ok, type ProductRequest, type ProductResponse, validate } from './request.ts'
import { type SourceBody, source } from './source-schema.ts'

/** A source that the product cannot read is left out without a word. */
export const listSources = (request: ProductRequest): ProductResponse =>
  answerWhole(
    request,
    request.service.sources.flatMap((stored) => toSourceView(stored) ?? []),
  )

export function getSource(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  const found = findById(request.service.sources, request.id)
  if (found === undefined) throw sourceNotFound()
  return answerSource(found)
}

export function createSource(request: ProductRequest): ProductResponse {
  const body = validate(withSqlIntervals(request), { body: source })
  checkConnection(request.service, body)
  const created: Source = { ...body, connection: toObjectId(body.connection), id: request.ids.objectId() }
  request.service.sources.push(created)
  return answerSource(created)
}

/** A full replacement. */
export function updateSource(request: ProductRequest): ProductResponse {
  const { sources } = request.service
  const body = validate(withSqlIntervals(request), { body: source, hasId: true })
  checkConnection(request.service, body)
  const existing = findById(sources, request.id)
  if (existing === undefined) throw sourceNotFound()
  const updated: Source = { ...body, connection: toObjectId(body.connection), id: existing.id }
  sources.splice(sources.indexOf(existing), 1, updated)
  return answerSource(updated)
}

/** Nothing is looked for that uses it. */
export function deleteSource(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  if (removeById(request.service.sources, request.id) === undefined) throw sourceNotFound()
  return deleted
}

const sourceNotFound = () => notFound('Source not found')

function answerSource(stored: Source): ProductResponse {
  const view = toSourceView(stored)
  if (view === undefined) throw internalError()
  return ok(view)
}

function checkConnection({ connections }: Service, { connection }: SourceBody): void {
  if (!isObjectId(connection)) throw badRequest('connection must be a valid connection id')
  if (findById(connections, connection) === undefined) throw badRequest('connection must be an existing connection id')
}

/** What the database fills in where a body leaves something out. */
const defaultsOf = ({ kind }: Source): JsonObject => ({
  disabled: false,
  querySettings: [],
  ...((kind === 'log' || kind === 'trace') && {
    highlightedTraceAttributeExpressions: [],
    highlightedRowAttributeExpressions: [],
    materializedViews: [],
  }),
  // Sessions of older versions have none.
  ...(kind === 'session' && { timestampValueExpression: 'TimestampTime' }),
})

export function toSourceView(stored: Source): JsonObject | undefined {
  const parsed = source.safeParse(mapIntervals({ ...defaultsOf(stored), ...stored }, toSqlInterval))
  return parsed.success ? { ...mapIntervals(parsed.data, toShortInterval), id: stored.id } : undefined
}

const withSqlIntervals = (request: ProductRequest): ProductRequest => ({
  ...request,
  body: isJsonObject(request.body) ? mapIntervals(request.body, toSqlInterval) : request.body,
})

function mapIntervals(body: JsonObject, toInterval: (text: string) => string): JsonObject {
  const map = (value: unknown, field: string): unknown =>
    isJsonObject(value) && typeof value[field] === 'string' ? { ...value, [field]: toInterval(value[field]) } : value
  const { materializedViews, metadataMaterializedViews } = body
  return {
    ...body,
    ...(Array.isArray(materializedViews) && { materializedViews: materializedViews.map((view: unknown) => map(view, 'minGranularity')) }),
    ...(isJsonObject(metadataMaterializedViews) && { metadataMaterializedViews: map(metadataMaterializedViews, 'granularity') }),
  }
}

const unitOf: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' }

function toSqlInterval(text: string): string {
  const [, amount, letter = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  return amount === undefined ? text : `${amount} ${unitOf[letter]}`
}

const toShortInterval = (text: string): string =>
  text.replace(/^(\d+) (second|minute|hour|day)$/, (_, amount, unit) => `${amount}${unit[0]}`)
