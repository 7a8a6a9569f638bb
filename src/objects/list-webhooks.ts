import { webhookKind } from '../kinds/webhook/webhook.ts'
import { webhookCollection, webhookSchema } from '../kinds/webhook/webhook-wire.ts'
import { textOrDash } from '../platform/core/line.ts'
import { defineList } from './list-operation.ts'

export const listWebhooks = defineList({
  kind: 'webhook',
  note: 'Never shows their URLs.',
  list: webhookCollection.list,
  schema: webhookSchema,
  // The description has digests of secrets in its marker.
  toShown: ({ id, name, service }) => ({ id, name, service }),
  markers: webhookKind,
  fields: [],
  example: {},
  columns: { Service: ({ service }) => textOrDash(service) },
})
