// The product validates with zod 3. zod 4 ships that version as `zod/v3`, which gives the same messages in the same order.
import * as z from 'zod/v3'
import type { Ids } from '../ids.ts'
import type { Service } from '../store.ts'
import { badRequest } from './errors.ts'
import { isObjectId } from './object-id.ts'

/** What a handler works with. */
export interface ProductRequest {
  /** Where the objects are. The product behind one service knows nothing of others. */
  readonly service: Service
  readonly ids: Ids
  readonly nowMs: number
  readonly settings: PagingSettings
  /** The last part of the path, for routes that have one. */
  readonly id: string
  readonly query: Readonly<Record<string, unknown>>
  /** Parsed, but not validated. */
  readonly body: unknown
}

export interface PagingSettings {
  /** The longest list that is answered, whatever the request asks for. Undefined: the product's own limits. */
  readonly pageLimit: number | undefined
  readonly isPagingIgnored: boolean
}

export interface ProductResponse {
  readonly status: number
  readonly body: unknown
  /** Instead of `body`. */
  readonly text?: string
  /** How many objects there are, for lists that are paged. */
  readonly total?: number
}

export const ok = (data: unknown): ProductResponse => ({ status: 200, body: { data } })

/** What the product answers after a deletion. */
export const deleted: ProductResponse = { status: 200, body: {} }

export const nowOf = ({ nowMs }: ProductRequest): string => new Date(nowMs).toISOString()

export const objectId = z.string().refine(isObjectId, 'Invalid ObjectId')

const params = z.object({ id: objectId })

interface Schemas<Body extends z.ZodTypeAny> {
  readonly body?: Body
  readonly hasId?: boolean
}

/** The body as the product understands it. Throws one 400 for everything that is wrong, body first. */
export function validate<Body extends z.ZodTypeAny>(request: ProductRequest, { body, hasId = false }: Schemas<Body>): z.output<Body> {
  const parsedBody = body?.safeParse(request.body)
  const parsedParams = hasId ? params.safeParse({ id: request.id }) : undefined
  const problems = [
    ...(parsedBody?.success === false ? [`Body validation failed: ${describeIssues(parsedBody.error.issues)}`] : []),
    ...(parsedParams?.success === false ? [`Params validation failed: ${describeIssues(parsedParams.error.issues)}`] : []),
  ]
  if (problems.length > 0) throw badRequest(problems.join('; '))
  return parsedBody?.data as z.output<Body>
}

export const describeIssues = (issues: readonly z.ZodIssue[]): string =>
  issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ')
