import * as z from 'zod'
import { ApiError } from '../../api/api-error.ts'
import { counted, say, untrusted } from '../../core/line.ts'
import { plural } from '../../core/text.ts'
import { resourceId, text } from '../../operation/inputs.ts'
import { judgeCutList, listOutput, mayBeCut, nameContains, toListResult } from '../../operation/listing.ts'
import { defineOperation, pass } from '../../operation/operation.ts'
import type { Block } from '../../report/blocks.ts'
import { readLostAlerts } from '../lost-alerts.ts'
import { readTagMarker, tagStyle, withoutMarkerTags } from '../marker.ts'
import { checkOwnerInput, matchesOwner, ownerCell, ownerInput, ownersDetail, toOwners } from '../owner.ts'
import { savedSearchCollection, savedSearchSchema } from './saved-search.ts'

export const listSavedSearches = defineOperation({
  summary: 'Lists the saved searches of a service.',
  effect: 'read',
  scope: 'service-or-server',
  profiles: ['clickhouse-cloud', 'hyperdx'],
  input: z.strictObject({
    nameContains: nameContains.optional(),
    tag: text('Lists only saved searches with this tag.', 256).optional(),
    ...ownerInput,
  }),
  output: listOutput,
  details: z.object({
    savedSearches: z.array(savedSearchSchema).describe('The saved searches as the API returned them.'),
    owners: ownersDetail,
    mayBeCut,
  }),
  example: { tag: 'shop' },
  check: checkOwnerInput,
  async run({ api, service }, input) {
    const { nameContains: part, tag } = input
    const list = await savedSearchCollection.list(api, service)
    const { items, ...result } = toListResult(
      list,
      part,
      ({ tags }) => (tag === undefined || tags.includes(tag)) && matchesOwner(readTagMarker(tags), tagStyle, input),
    )
    return { ...result, savedSearches: items, owners: toOwners(items, ({ tags }) => readTagMarker(tags), input) }
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

const lostAlerts = z.array(z.object({ id: z.string(), name: z.string() })).describe('Alerts on it, which the server deletes.')

const lostBlocks = (lost: z.output<typeof lostAlerts>, title: string): readonly Block[] =>
  lost.length === 0
    ? []
    : [
        {
          kind: 'table',
          title,
          columns: [{ title: 'Name' }, { title: 'Id' }],
          rows: lost.map(({ id, name }) => [[untrusted(name || id)], [untrusted(id)]]),
        },
      ]

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
    const current = await savedSearchCollection.get(api, service, id).catch(ignoreMissing)
    if (current === undefined) return { savedSearchId: id, changed: false, lostAlerts: [] }
    const lost = (await readLostAlerts(api, service, { section: 'savedSearches', id })).map((alert) => ({
      id: alert.id,
      name: alert.name ?? '',
    }))
    await confirm?.({
      blocks: [
        { kind: 'paragraph', line: say`Saved search ${untrusted(current.name || id)} (${id})` },
        ...lostBlocks(lost, 'Alerts that the server deletes with it'),
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
    blocks: lostBlocks(result.lostAlerts, 'Alerts that the server deleted'),
  }),
})

function ignoreMissing(thrown: unknown): undefined {
  if (!(thrown instanceof ApiError) || thrown.kind !== 'not-found') throw thrown
}
