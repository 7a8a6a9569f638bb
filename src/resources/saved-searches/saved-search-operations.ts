import * as z from 'zod'
import { counted, say, untrusted } from '../../core/line.ts'
import { plural } from '../../core/text.ts'
import { resourceId } from '../../operation/inputs.ts'
import { judgeCutList, listOutput, mayBeCut } from '../../operation/listing.ts'
import { defineOperation, pass } from '../../operation/operation.ts'
import { lostAlert, lostAlertBlocks, readLostAlerts } from '../lost-alerts.ts'
import { withoutMarkerTags } from '../marker.ts'
import { checkOwnerInput, ownerCell, ownersDetail, selectTagged, taggedInput } from '../owner.ts'
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
  example: { tag: 'shop' },
  check: checkOwnerInput,
  async run({ api, service }, input) {
    const { items, ...result } = selectTagged(await savedSearchCollection.list(api, service), input)
    return { ...result, savedSearches: items }
  },
  judge: judgeCutList,
  report: ({ savedSearches, owners }) => ({
    headline: say`${counted(savedSearches.length, 'saved search')}`,
    blocks: [
      {
        kind: 'table',
        columns: ['Name', 'Tags', 'Owner', 'Id'].map((title) => ({ title })),
        rows: savedSearches.map((one) => [
          [untrusted(one.name || one.id)],
          [untrusted(withoutMarkerTags(one.tags).join(', ') || '–')],
          ownerCell(one, owners),
          [untrusted(one.id)],
        ]),
      },
    ],
  }),
})

const lostAlerts = z.array(lostAlert).describe('Alerts on it, which the server deletes.')

export const deleteSavedSearch = defineOperation({
  summary: 'Deletes one saved search and the alerts on it. Succeeds if the saved search does not exist.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  profiles: ['clickhouse-cloud', 'hyperdx'],
  input: z.strictObject({ savedSearchId: resourceId('Id of the saved search.') }),
  output: z.object({
    savedSearchId: z.string().describe('Id of the saved search.'),
    changed: z.boolean().describe('Whether the saved search existed.'),
  }),
  details: z.object({ lostAlerts }),
  example: { savedSearchId: '65f5e4a35eedc0de0000001e' },
  async run({ api, service, confirm }, { savedSearchId: id }) {
    const current = await savedSearchCollection.find(api, service, id)
    if (current === undefined) return { savedSearchId: id, changed: false, lostAlerts: [] }
    const lost = await readLostAlerts(api, service, { section: 'savedSearches', id })
    await confirm?.({
      blocks: [
        { kind: 'paragraph', line: say`Saved search ${untrusted(current.name || id)} (${id})` },
        ...lostAlertBlocks(lost, 'Alerts that the server deletes with it'),
      ],
      question: lost.length === 0 ? 'Delete this saved search?' : `Delete this saved search and ${plural(lost.length, 'alert')} on it?`,
    })
    const changed = await savedSearchCollection.remove(api, service, id)
    return { savedSearchId: id, changed, lostAlerts: changed ? lost : [] }
  },
  judge: ({ lostAlerts: lost }) =>
    lost.length === 0 ? pass : { status: 'warn', reasons: [say`the server deleted ${counted(lost.length, 'alert')} on it`] },
  report: (result) => ({
    headline: result.changed
      ? say`Deleted saved search ${untrusted(result.savedSearchId)}`
      : say`Saved search ${untrusted(result.savedSearchId)} did not exist`,
    blocks: lostAlertBlocks(result.lostAlerts),
  }),
})
