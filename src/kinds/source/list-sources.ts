import * as z from 'zod'
import { counted, say, textOrDash, untrusted } from '../../core/line.ts'
import { judgeCutList, listOutput, mayBeCut, toListResult } from '../../operation/listing.ts'
import { defineOperation } from '../../operation/operation.ts'
import { selectInput } from '../../operation/select.ts'
import { table } from '../../report/table.ts'
import { sourceCollection, sourceKinds, sourceSchema } from './source-wire.ts'

export const listSources = defineOperation({
  summary: 'Lists the sources of logs, traces and metrics of a service.',
  effect: 'read',
  scope: 'service-or-server',
  input: z.strictObject({ select: selectInput('Lists only these sources.', ['name', 'type'], { type: sourceKinds }).optional() }),
  output: listOutput,
  details: z.object({
    sources: z.array(sourceSchema).describe('The sources as the API returned them.'),
    mayBeCut,
  }),
  example: { select: ['type=log'] },
  async run({ api, service }, { select }) {
    const list = await sourceCollection.list(api, service)
    const { items, ...result } = toListResult(list, select, ({ name, kind: type }) => ({ name, type }))
    return { ...result, sources: items }
  },
  judge: judgeCutList,
  report: ({ sources }) => ({
    headline: say`${counted(sources.length, 'source')}`,
    blocks: [
      table(undefined, sources, {
        Name: ({ name }) => untrusted(name),
        Type: ({ kind }) => textOrDash(kind),
        Id: ({ id }) => untrusted(id),
      }),
    ],
  }),
})
