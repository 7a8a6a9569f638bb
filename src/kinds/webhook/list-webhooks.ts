import { textOrDash } from '../../core/line.ts'
import { defineList } from '../list-operation.ts'
import { webhookKind } from './webhook.ts'
import { webhookCollection, webhookSchema } from './webhook-wire.ts'

export const listWebhooks = defineList({
  kind: 'webhook',
  note: 'Never shows their URLs.',
  async list(api, service) {
    const { items, ...list } = await webhookCollection.list(api, service)
    return { ...list, items: items.map(({ id, name, service: type, description }) => ({ id, name, service: type, description })) }
  },
  schema: webhookSchema,
  markers: webhookKind,
  fields: [],
  example: {},
  columns: { Service: ({ service }) => textOrDash(service) },
})
