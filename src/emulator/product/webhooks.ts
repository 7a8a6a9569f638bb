import { BlockList, isIP } from 'node:net'
import * as z from 'zod/v3'
import type { JsonObject, Webhook } from '../store.ts'
import { addIssue, badRequest, notFound, ProductError, routesOf, stampOf } from './request.ts'

const isPlainText = (text: string) => !/[\x00-\x1F\x7F]/.test(text)

const headerName = z
  .string()
  .min(1, 'Header name cannot be empty')
  .max(256)
  .regex(/^[-!#$%&'*+.0-9A-Z^_`a-z|~]+$/, "Invalid header name. Only alphanumeric characters and !#$%&'*+-.^_`|~ are allowed")
  .refine((name) => !/^\d/.test(name), 'Header name cannot start with a number')

const hasFew = (map: Readonly<Record<string, string>>) => Object.keys(map).length <= 100

export const webhook = z
  .object({
    name: z.string().trim().min(1).max(1024),
    service: z.nativeEnum({ slack: 'slack', generic: 'generic', incidentio: 'incidentio' } as const),
    url: z.string().url().max(2048),
    description: z.string().max(2048).optional(),
    queryParams: z
      .record(
        z
          .string()
          .min(1, 'Query parameter name cannot be empty')
          .max(1024)
          .refine(isPlainText, 'Query parameter names cannot contain control characters'),
        z.string().max(4096).refine(isPlainText, 'Query parameter values cannot contain control characters'),
      )
      .refine(hasFew, 'A webhook cannot have more than 100 query parameters')
      .optional(),
    headers: z
      .record(headerName, z.string().max(4096).refine(isPlainText, 'Header values cannot contain control characters'))
      .refine(hasFew, 'A webhook cannot have more than 100 headers')
      .optional(),
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

/**
 * An update replaces the webhook. Headers and query parameters are kept when they are left out, unless they would be sent to another
 * address. Only a webhook that is the first channel of an alert cannot be deleted.
 */
export const webhooks = routesOf<Webhook, z.output<typeof webhook>>({
  name: 'webhooks',
  itemsOf: (service) => service.webhooks,
  toView: toWebhookView,
  hasGet: false,
  missing: () => notFound('Webhook not found'),
  schema: () => webhook,
  write(request, body, existing) {
    const { name, service, url } = body
    const problem = findUrlProblem(service, url)
    if (problem !== undefined) throw badRequest(problem)
    if (request.service.webhooks.some((other) => other !== existing && other.name === name && other.service === service))
      throw badRequest('A webhook with this service and name already exists')
    const { headers, queryParams } = existing?.url === url && existing.service === service ? existing : {}
    return { ...stampOf(request, existing), ...(headers && { headers }), ...(queryParams && { queryParams }), ...body }
  },
  checkDelete({ service, id }) {
    const count = service.alerts.filter(({ channels: [first] }) => first?.type === 'webhook' && first.webhookId === id).length
    if (count > 0)
      throw new ProductError(409, `Cannot delete webhook: ${count} alert(s) still reference it. Reassign or remove those alerts first.`)
  },
})

/** Headers and query parameters are write-only, and the body is shown for one service only. */
function toWebhookView({ headers: _, queryParams: __, body, ...shown }: Webhook): JsonObject {
  return { ...shown, ...(shown.service === 'generic' && body !== undefined && { body }) }
}

// The product rejects addresses inside of the server's own network.
const reserved = new BlockList()
const networks =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 ' +
  '198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ::/128 ::1/128 100::/64 2001:db8::/32 fc00::/7 fe80::/10 ff00::/8'
for (const network of networks.split(' ')) {
  const [address = '', prefix] = network.split('/')
  reserved.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** The text must be a URL. */
function findUrlProblem(service: string, text: string) {
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
