import * as z from 'zod/v3'
import type { Ids } from '../deterministic.ts'
import { StatusError } from '../http.ts'
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

/** A response that is not 200. */
export class ProductError extends StatusError {
  /** Some routes of the product send the bare text of the status instead of `{message}`. */
  readonly isPlainText: boolean

  constructor(status: number, message: string, { isPlainText = false } = {}) {
    super(status, message)
    this.isPlainText = isPlainText
  }
}

export const badRequest = (message: string): ProductError => new ProductError(400, message)

export const notFound = (message: string): ProductError => new ProductError(404, message)

/** The response of dashboards and connections to an id that does not exist. */
export const plainNotFound = (): ProductError => new ProductError(404, 'Not Found', { isPlainText: true })

/** The product never explains an internal error. */
export const internalError = (): ProductError => new ProductError(500, 'Something went wrong :(')

/** The id and the times of an object that is stored now. */
export function stampOf({ ids, nowMs }: ProductRequest, existing?: Identified & { readonly createdAt: string }) {
  const now = new Date(nowMs).toISOString()
  return { id: existing?.id ?? ids.objectId(), createdAt: existing?.createdAt ?? now, updatedAt: now }
}

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

export const objectId = z.string().refine(isObjectId, 'Invalid ObjectId')

const withObjectId = z.object({ id: objectId })

const withAnyId = z.object({ id: z.string() })

type BodySchema<Body> = z.ZodType<Body, z.ZodTypeDef, unknown>

/** Returns the parsed body. Throws one 400 with all problems, those of the body first. */
export function validate<Body>({ id, body }: ProductRequest, schema: BodySchema<Body>, hasId = false): Body {
  const parsedBody = schema.safeParse(body)
  const parsedId = (hasId ? withObjectId : withAnyId).safeParse({ id })
  if (parsedBody.success && parsedId.success) return parsedBody.data
  const describe = (part: string, issues: readonly z.ZodIssue[] = []) =>
    issues.length === 0 ? [] : [`${part} validation failed: ${describeIssues(issues)}`]
  throw badRequest([...describe('Body', parsedBody.error?.issues), ...describe('Params', parsedId.error?.issues)].join('; '))
}

const describeIssues = (issues: readonly z.ZodIssue[]) =>
  issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ')

export const addIssue = (context: z.RefinementCtx, message: string, path: (string | number)[] = []): void =>
  context.addIssue({ code: 'custom', message, path })

const maxPageSize = 1000

const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(maxPageSize).default(maxPageSize),
  offset: z.coerce.number().int().min(0).default(0),
})

/** A page of alerts, saved searches or webhooks, sorted by id, and the total. */
function listPage<T extends Identified>(
  { query, settings }: ProductRequest,
  items: readonly T[],
  toView: (item: T) => unknown,
): ProductResponse {
  const parsed = pageQuery.safeParse(query)
  if (!parsed.success) throw badRequest(`Query validation failed: ${describeIssues(parsed.error.issues)}`)
  const { limit, offset } = parsed.data
  const size = query.limit !== undefined ? Math.min(limit, settings.pageLimit ?? limit) : (settings.pageLimit ?? maxPageSize)
  // Ids of the emulator do not follow the order of creation, so that no client relies on it.
  const page = items.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)).slice(offset, offset + size)
  const total = items.length
  return { status: 200, body: { data: page.map(toView), meta: { total, limit, offset } }, total }
}

interface Resource<T extends Identified, Body> {
  readonly name: string
  itemsOf(service: Service): T[]
  /** Throws for an object that the product cannot read. */
  toView(item: T): unknown
  /** All objects as they are shown, for a list that is not paged. */
  list?(items: readonly T[]): readonly unknown[]
  /** Default: true. */
  readonly hasGet?: boolean
  missing(): ProductError
  schema(request: ProductRequest, isUpdate: boolean): BodySchema<Body>
  /** Refuses a body before the object that it updates is looked up. */
  check?(service: Service, body: Body): void
  /** What a body makes of an object, or of none. */
  write(request: ProductRequest, body: Body, existing: T | undefined): T
  checkDelete?(request: ProductRequest): void
  afterDelete?(service: Service, removed: T): void
  /** Whether a DELETE of an unknown id succeeds. */
  readonly isMissingDeleted?: boolean
}

/** The handlers of a resource, by method and path. */
export function routesOf<T extends Identified, Body>(resource: Resource<T, Body>): Readonly<Record<string, Handler>> {
  const { name, itemsOf, toView, list, hasGet = true, missing } = resource
  const find = ({ service, id }: ProductRequest): T => requireById(itemsOf(service), id, missing)
  const write =
    (isUpdate: boolean): Handler =>
    (request) => {
      const body = validate(request, resource.schema(request, isUpdate), isUpdate)
      resource.check?.(request.service, body)
      const existing = isUpdate ? find(request) : undefined
      const item = resource.write(request, body, existing)
      const items = itemsOf(request.service)
      if (existing === undefined) items.push(item)
      else items[items.indexOf(existing)] = item
      return ok(toView(item))
    }
  return {
    [`GET ${name}`]: (request) => {
      const items = itemsOf(request.service)
      return list === undefined ? listPage(request, items, toView) : ok(list(items).slice(0, request.settings.pageLimit))
    },
    ...(hasGet && {
      [`GET ${name}/:id`]: (request) => {
        validate(request, z.unknown(), true)
        return ok(toView(find(request)))
      },
    }),
    [`POST ${name}`]: write(false),
    [`PUT ${name}/:id`]: write(true),
    [`DELETE ${name}/:id`]: (request) => {
      validate(request, z.unknown(), true)
      resource.checkDelete?.(request)
      const items = itemsOf(request.service)
      const removed = findById(items, request.id)
      if (removed === undefined && !resource.isMissingDeleted) throw missing()
      if (removed !== undefined) {
        items.splice(items.indexOf(removed), 1)
        resource.afterDelete?.(request.service, removed)
      }
      return { status: 200, body: {} }
    },
  }
}
