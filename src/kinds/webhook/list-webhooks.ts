import { textOrDash } from '../../platform/core/line.ts'
import { defineList } from '../list-operation.ts'
import { webhookKind } from './webhook.ts'
import { webhookCollection, webhookSchema } from './webhook-wire.ts'

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
