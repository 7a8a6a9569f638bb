import * as z from 'zod'
import { counted, say, textOrDash, untrusted } from '../../core/line.ts'
import { judgeCutList, listOutput, mayBeCut, toListResult } from '../../operation/listing.ts'
import { defineOperation } from '../../operation/operation.ts'
import { selectInput } from '../../operation/select.ts'
import { table } from '../../report/table.ts'
import { readTextMarker, textStyle } from '../marker.ts'
import { ownerCell, ownersDetail, selectableOwner, toOwners } from '../owner.ts'
import { webhookCollection, webhookSchema } from './webhook-wire.ts'

export const listWebhooks = defineOperation({
  summary: 'Lists the webhooks that alerts can notify. Never shows their URLs.',
  effect: 'read',
  scope: 'service-or-server',
  profiles: ['clickhouse-cloud', 'hyperdx'],
  input: z.strictObject({
    select: selectInput('Lists only these webhooks.', ['name', 'key', 'project', 'managed', 'unmanaged']).optional(),
  }),
  output: listOutput,
  details: z.object({
    webhooks: z.array(webhookSchema).describe('The webhooks, without their URLs, which are secrets.'),
    owners: ownersDetail,
    mayBeCut,
  }),
  example: {},
  async run({ api, service }, { select }) {
    const list = await webhookCollection.list(api, service)
    const { items, ...result } = toListResult(list, select, ({ name, description }) => ({
      name,
      ...selectableOwner(readTextMarker(description), textStyle),
    }))
    return {
      ...result,
      webhooks: items.map(({ id, name, service: kind }) => ({ id, name, service: kind })),
      owners: toOwners(items, ({ description }) => readTextMarker(description), select),
    }
  },
  judge: judgeCutList,
  report: ({ webhooks, owners }) => ({
    headline: say`${counted(webhooks.length, 'webhook')}`,
    blocks: [
      table(undefined, webhooks, {
        Name: ({ name }) => untrusted(name),
        Service: ({ service }) => textOrDash(service),
        Owner: (one) => ownerCell(one, owners),
        Id: ({ id }) => untrusted(id),
      }),
    ],
  }),
})
