import * as z from 'zod'
import { counted, say, untrusted } from '../../core/line.ts'
import { judgeCutList, listOutput, mayBeCut } from '../../operation/listing.ts'
import { defineOperation } from '../../operation/operation.ts'
import { table } from '../../report/table.ts'
import { withoutMarkerTags } from '../marker.ts'
import { ownerCell, ownersDetail, selectTagged, taggedInput } from '../owner.ts'
import { savedSearchCollection, savedSearchSchema } from './saved-search.ts'

export const listSavedSearches = defineOperation({
  summary: 'Lists the saved searches of a service.',
  effect: 'read',
  scope: 'service-or-server',
  profiles: ['clickhouse-cloud', 'hyperdx'],
  input: taggedInput('saved searches'),
  output: listOutput,
  details: z.object({
    savedSearches: z.array(savedSearchSchema).describe('The saved searches as the API returned them.'),
    owners: ownersDetail,
    mayBeCut,
  }),
  example: { select: ['tag=shop'] },
  async run({ api, service }, input) {
    const { items, ...result } = selectTagged(await savedSearchCollection.list(api, service), input)
    return { ...result, savedSearches: items }
  },
  judge: judgeCutList,
  report: ({ savedSearches, owners }) => ({
    headline: say`${counted(savedSearches.length, 'saved search')}`,
    blocks: [
      table(undefined, savedSearches, {
        Name: ({ name, id }) => untrusted(name || id),
        Tags: ({ tags }) => untrusted(withoutMarkerTags(tags).join(', ') || '–'),
        Owner: (one) => ownerCell(one, owners),
        Id: ({ id }) => untrusted(id),
      }),
    ],
  }),
})
