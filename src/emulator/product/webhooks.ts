import { BlockList, isIP } from 'node:net'
import * as z from 'zod/v3'
import type { JsonObject, Webhook } from '../store.ts'
import {
  addIssue,
  badRequest,
  deleted,
  listPage,
  notFound,
  nowOf,
  ok,
  ProductError,
  type ProductRequest,
  type ProductResponse,
  removeById,
  requireById,
  validate,
} from './request.ts'

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
      if (given[field] !== undefined) addIssue(context, `${field} is not supported for the slack webhook service`, [field])
  })

type WebhookBody = z.output<typeof webhook>

export const listWebhooks = (request: ProductRequest): ProductResponse => listPage(request, request.service.webhooks, toWebhookView)

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

/** Replaces the webhook. Headers and query parameters are kept when they are left out, unless they would be sent to another address. */
export function updateWebhook(request: ProductRequest): ProductResponse {
  const body = validate(request, { body: webhook, hasId: true })
  const existing = requireById(request.service.webhooks, request.id, webhookNotFound)
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

/** Deletes a webhook, unless it is the first channel of an alert. */
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

/** Headers and query parameters are write-only, and the body is shown for one service only. */
function toWebhookView({ headers: _, queryParams: __, body, ...shown }: Webhook): JsonObject {
  return { ...shown, ...(shown.service === 'generic' && body !== undefined && { body }) }
}

// The product rejects addresses inside of the server's own network.
const reserved = new BlockList()
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  reserved.addSubnet(address, prefix, 'ipv4')
for (const [address, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['100::', 64],
  ['2001:db8::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  reserved.addSubnet(address, prefix, 'ipv6')

/** The text must be a URL. */
function findUrlProblem(service: string, text: string): string | undefined {
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Webhook URL must use HTTP or HTTPS'
  if (service === 'slack' && url.hostname.split('.').slice(-2).join('.') !== 'slack.com')
    return `Slack Webhook URL ${text} does not have hostname that ends in 'slack.com'`
  const host = url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase()
  const family = isIP(host)
  const isReserved = family === 0 ? /(?:^|\.)localhost$/.test(host) : reserved.check(host, family === 6 ? 'ipv6' : 'ipv4')
  return isReserved ? 'Webhook URL resolves to a private or reserved address.' : undefined
}
