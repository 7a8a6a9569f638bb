import * as z from 'zod'
import { counted, say, trusted, untrusted } from '../../core/line.ts'
import { judgeCutList, listOutput, mayBeCut, nameContains, toListResult } from '../../operation/listing.ts'
import { defineOperation } from '../../operation/operation.ts'
import { webhookCollection, webhookSchema } from './webhook-wire.ts'

export const listWebhooks = defineOperation({
  summary: 'Lists the webhooks that alerts can notify. Never shows their URLs.',
  effect: 'read',
  scope: 'service-or-server',
  profiles: ['clickhouse-cloud', 'hyperdx'],
  input: z.strictObject({ nameContains: nameContains.optional() }),
  output: listOutput,
  details: z.object({ webhooks: z.array(webhookSchema).describe('The webhooks, without their URLs, which are secrets.'), mayBeCut }),
  example: {},
  async run({ api, service }, input) {
    const { items, ...result } = toListResult(await webhookCollection.list(api, service), input.nameContains, () => true)
    return { ...result, webhooks: items }
  },
  judge: judgeCutList,
  report: ({ webhooks }) => ({
    headline: say`${counted(webhooks.length, 'webhook')}`,
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Name' }, { title: 'Service' }, { title: 'Id' }],
        rows: webhooks.map(({ name, service, id }) => [[untrusted(name)], [service ? untrusted(service) : trusted('–')], [untrusted(id)]]),
      },
    ],
  }),
})
