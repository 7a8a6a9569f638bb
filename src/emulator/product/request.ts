import * as z from 'zod/v3'
import type { Ids } from '../deterministic.ts'
import type { Service } from '../store.ts'

// The product validates with zod 3. zod 4 ships that version as `zod/v3`, which gives the same messages in the same order.

export interface ProductRequest {
  /** The owner of the objects. The product behind one service knows nothing of other services. */
  readonly service: Service
  readonly ids: Ids
  readonly nowMs: number
  readonly settings: { readonly pageLimit: number | undefined }
  readonly id: string
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
}

export interface ProductResponse {
  readonly status: number
  readonly body: unknown
  /** Sent instead of `body`. */
  readonly text?: string
  /** How many objects there are, for lists that are paged. */
  readonly total?: number
}

export type Handler = (request: ProductRequest) => ProductResponse

export const ok = (data: unknown): ProductResponse => ({ status: 200, body: { data } })

export const deleted: ProductResponse = { status: 200, body: {} }

/** A response that is not 200. */
export class ProductError extends Error {
  override readonly name = 'ProductError'
  readonly status: number
  /** Some routes of the product send the bare text of the status instead of `{message}`. */
  readonly isPlainText: boolean

  constructor(status: number, message: string, { isPlainText = false } = {}) {
    super(message)
    this.status = status
    this.isPlainText = isPlainText
  }
}

export const badRequest = (message: string): ProductError => new ProductError(400, message)

export const notFound = (message: string): ProductError => new ProductError(404, message)

/** The response of dashboards and connections to an id that does not exist. */
export const plainNotFound = (): ProductError => new ProductError(404, 'Not Found', { isPlainText: true })

/** The product never explains an internal error. */
export const internalError = (): ProductError => new ProductError(500, 'Something went wrong :(')

export const nowOf = ({ nowMs }: ProductRequest): string => new Date(nowMs).toISOString()

/**
 * Whether the product accepts a text as an id: 24 hexadecimal digits, or any 12 characters of one byte each, which its database driver
 * reads as the bytes of an id.
 */
export const isObjectId = (text: string): boolean => /^[0-9a-f]{24}$/i.test(text) || (text.length === 12 && Buffer.byteLength(text) === 12)

/** The form in which ids are stored and shown. Only for texts that `isObjectId` accepts. */
export const toObjectId = (text: string): string => (text.length === 12 ? Buffer.from(text).toString('hex') : text.toLowerCase())

export interface Identified {
  readonly id: string
}

export function findById<T extends Identified>(items: readonly T[], id: string): T | undefined {
  if (!isObjectId(id)) return items.find((item) => item.id === id)
  const wanted = toObjectId(id)
  return items.find((item) => item.id.toLowerCase() === wanted)
}

export function requireById<T extends Identified>(items: readonly T[], id: string, toError: () => ProductError): T {
  const item = findById(items, id)
  if (item === undefined) throw toError()
  return item
}

export function removeById<T extends Identified>(items: T[], id: string): T | undefined {
  const item = findById(items, id)
  if (item !== undefined) items.splice(items.indexOf(item), 1)
  return item
}

export const objectId = z.string().refine(isObjectId, 'Invalid ObjectId')

interface Schemas<Body extends z.ZodTypeAny> {
  readonly body?: Body
  readonly hasId?: boolean
}

/** Returns the parsed body. Throws one 400 with all problems, those of the body first. */
export function validate<Body extends z.ZodTypeAny>(request: ProductRequest, { body, hasId = false }: Schemas<Body>): z.output<Body> {
  const parsedBody = body?.safeParse(request.body)
  const parsedParams = hasId ? z.object({ id: objectId }).safeParse({ id: request.id }) : undefined
  const problems = [
    ...(parsedBody?.success === false ? [`Body validation failed: ${describeIssues(parsedBody.error.issues)}`] : []),
    ...(parsedParams?.success === false ? [`Params validation failed: ${describeIssues(parsedParams.error.issues)}`] : []),
  ]
  if (problems.length > 0) throw badRequest(problems.join('; '))
  return parsedBody?.data
}

const describeIssues = (issues: readonly z.ZodIssue[]) =>
  issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ')

export const addIssue = (context: z.RefinementCtx, message: string, path: (string | number)[] = []): void =>
  context.addIssue({ code: 'custom', message, path })

const maxPageSize = 1000

/** A page of alerts, saved searches or webhooks, sorted by id, and the total. */
export function listPage<T extends Identified>(
  { query, settings }: ProductRequest,
  items: readonly T[],
  toView: (item: T) => unknown,
): ProductResponse {
  const parsed = z
    .object({
      limit: z.coerce.number().int().min(1).max(maxPageSize).default(maxPageSize),
      offset: z.coerce.number().int().min(0).default(0),
    })
    .safeParse(query)
  if (!parsed.success) throw badRequest(`Query validation failed: ${describeIssues(parsed.error.issues)}`)
  const { limit, offset } = parsed.data
  const size = query.limit !== undefined ? Math.min(limit, settings.pageLimit ?? limit) : (settings.pageLimit ?? maxPageSize)
  // Ids of the emulator do not follow the order of creation, so that no client relies on it.
  const page = items.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)).slice(offset, offset + size)
  const total = items.length
  return { status: 200, body: { data: page.map(toView), meta: { total, limit, offset } }, total }
}

/** Lists dashboards, sources and connections, which are not paged. */
export const listAll = ({ settings }: ProductRequest, views: readonly unknown[]): ProductResponse => ok(views.slice(0, settings.pageLimit))
