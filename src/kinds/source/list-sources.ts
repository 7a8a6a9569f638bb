import * as z from 'zod'
import { counted, say, textOrDash, untrusted } from '../../core/line.ts'
import { choice } from '../../operation/inputs.ts'
import { judgeCutList, listOutput, mayBeCut, nameContains, toListResult } from '../../operation/listing.ts'
import { defineOperation } from '../../operation/operation.ts'
import { sourceCollection, sourceKinds, sourceSchema } from './source-wire.ts'

export const listSources = defineOperation({
  summary: 'Lists the sources of logs, traces and metrics of a service.',
  effect: 'read',
  scope: 'service-or-server',
  input: z.strictObject({
    nameContains: nameContains.optional(),
    kind: choice(sourceKinds, 'Lists only sources of this kind.').optional(),
  }),
  output: listOutput,
  details: z.object({
    sources: z.array(sourceSchema).describe('The sources as the API returned them.'),
    mayBeCut,
  }),
  example: { kind: 'log' },
  async run({ api, service }, { nameContains: part, kind }) {
    const list = await sourceCollection.list(api, service)
    const { items, ...result } = toListResult(list, part, (source) => kind === undefined || source.kind === kind)
    return { ...result, sources: items }
  },
  judge: judgeCutList,
  report: ({ sources }) => ({
    headline: say`${counted(sources.length, 'source')}`,
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Name' }, { title: 'Kind' }, { title: 'Id' }],
        rows: sources.map(({ name, kind, id }) => [[untrusted(name)], [textOrDash(kind)], [untrusted(id)]]),
      },
    ],
  }),
})
