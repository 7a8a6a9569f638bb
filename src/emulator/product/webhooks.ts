import * as z from 'zod/v3'
import type { JsonObject, Webhook } from '../store.ts'
import { badRequest, notFound, ProductError } from './errors.ts'
import { findById, removeById } from './object-id.ts'
import { answerPage } from './paging.ts'
import { deleted, nowOf, ok, type ProductRequest, type ProductResponse, validate } from './request.ts'
import { findUrlProblem } from './webhook-url.ts'

const isPlainText = (text: string): boolean => !/[\x00-\x1F\x7F]/.test(text)

const headerName = z
  .string()
  .min(1, 'Header name cannot be empty')
  .max(256)
  .regex(/^[-!#$%&'*+.0-9A-Z^_`a-z|~]+$/, "Invalid header name. Only alphanumeric characters and !#$%&'*+-.^_`|~ are allowed")
  .refine((name) => !/^\d/.test(name), 'Header name cannot start with a number')

const headerValue = z.string().max(4096).refine(isPlainText, 'Header values cannot contain control characters')

const parameterName = z
  .string()
  .min(1, 'Query parameter name cannot be empty')
  .max(1024)
  .refine(isPlainText, 'Query parameter names cannot contain control characters')

const parameterValue = z.string().max(4096).refine(isPlainText, 'Query parameter values cannot contain control characters')

const hasFew = (map: Readonly<Record<string, string>>): boolean => Object.keys(map).length <= 100

const webhook = z
  .object({
    name: z.string().trim().min(1).max(1024),
    service: z.nativeEnum({ slack: 'slack', generic: 'generic', incidentio: 'incidentio' } as const),
    url: z.string().url().max(2048),
    description: z.string().max(2048).optional(),
    queryParams: z.record(parameterName, parameterValue).refine(hasFew, 'A webhook cannot have more than 100 query parameters').optional(),
    headers: z.record(headerName, headerValue).refine(hasFew, 'A webhook cannot have more than 100 headers').optional(),
    body: z
      .string()
      .max(16 * 1024)
      .optional(),
  })
  .superRefine((given, context) => {
    if (given.service !== 'slack') return
    for (const field of ['headers', 'queryParams', 'body'] as const)
      if (given[field] !== undefined)
        context.addIssue({ code: 'custom', path: [field], message: `${field} is not supported for the slack webhook service` })
  })

type WebhookBody = z.output<typeof webhook>

export const listWebhooks = (request: ProductRequest): ProductResponse => answerPage(request, request.service.webhooks, toWebhookView)

export function createWebhook(request: ProductRequest): ProductResponse {
  const { service, ids } = request
  const body = validate(request, { body: webhook })
  checkUrl(body)
  checkName(request, body)
  const at = nowOf(request)
  const created: Webhook = { id: ids.objectId(), ...body, createdAt: at, updatedAt: at }
  service.webhooks.push(created)
  return ok(toWebhookView(created))
}

/** Replaces. Headers and query parameters are kept when they are left out, unless they would go to another address. */
export function updateWebhook(request: ProductRequest): ProductResponse {
  const body = validate(request, { body: webhook, hasId: true })
  const existing = findById(request.service.webhooks, request.id)
  if (existing === undefined) throw webhookNotFound()
  checkUrl(body)
  checkName(request, body, existing)
  const isSameTarget = existing.url === body.url && existing.service === body.service
  const { description: _, body: __, headers, queryParams, ...rest } = existing
  const updated: Webhook = {
    ...rest,
    ...(isSameTarget && { ...(headers && { headers }), ...(queryParams && { queryParams }) }),
    ...body,
    updatedAt: nowOf(request),
  }
  request.service.webhooks.splice(request.service.webhooks.indexOf(existing), 1, updated)
  return ok(toWebhookView(updated))
}

/** Only the first channel of an alert holds its webhook. */
export function deleteWebhook(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  const { service, id } = request
  const count = service.alerts.filter(({ channels: [first] }) => first?.type === 'webhook' && first.webhookId === id).length
  if (count > 0)
    throw new ProductError(409, `Cannot delete webhook: ${count} alert(s) still reference it. Reassign or remove those alerts first.`)
  if (removeById(service.webhooks, id) === undefined) throw webhookNotFound()
  return deleted
}

const webhookNotFound = () => notFound('Webhook not found')

function checkUrl({ service, url }: WebhookBody): void {
  const problem = findUrlProblem(service, url)
  if (problem !== undefined) throw badRequest(problem)
}

function checkName({ service: { webhooks } }: ProductRequest, { name, service }: WebhookBody, own?: Webhook): void {
  if (webhooks.some((other) => other !== own && other.name === name && other.service === service))
    throw badRequest('A webhook with this service and name already exists')
}

/** Headers and query parameters are write-only, and the body is answered for one service only. */
export function toWebhookView({ headers: _, queryParams: __, body, ...shown }: Webhook): JsonObject {
  return { ...shown, ...(shown.service === 'generic' && body !== undefined && { body }) }
}
