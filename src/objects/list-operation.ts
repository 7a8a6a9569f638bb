import * as z from 'zod'
import { alertCollection } from '../kinds/alert/alert.ts'
import { type KindIdentity, type StoredObject, storedLabelOf } from '../kinds/kind.ts'
import { type KindName, kindLabels } from '../kinds/kind-names.ts'
import { alertMarkers, noMarkers, ownershipTest, withoutMarkerTags } from '../kinds/marker.ts'
import type { ReadApi } from '../platform/api/client.ts'
import type { List } from '../platform/api/collection.ts'
import type { Target } from '../platform/api/path.ts'
import { toFailure } from '../platform/core/errors.ts'
import { counted, type Line, nameOrId, say, textOrDash, trusted, untrusted } from '../platform/core/line.ts'
import { pluralOf } from '../platform/core/text.ts'
import { judgeCutList, listDetails, listOutput, toListResult, withUnmet } from '../platform/operation/listing.ts'
import { defineOperation } from '../platform/operation/operation.ts'
import { type Choices, type Selectable, type SelectField, selectInput, valuesOf } from '../platform/operation/select.ts'
import { type Cell, table } from '../platform/report/table.ts'

const owner = z.object({
  project: z.string().describe('The project. Of a project without alerts, the 6 hex digits of its hash that a tag has.'),
  key: z.string().describe('The key in the files, or `#` and the hash of a long key.'),
})

export const ownersDetail = z.record(z.string(), owner).describe('Project and key of the managed objects, by id.')

export type Owners = z.output<typeof ownersDetail>

type Markers = Pick<KindIdentity, 'ownership' | 'readMarker' | 'markerStyle'>

export const ownerFields = ['key', 'project', 'managed', 'unmanaged'] as const

export const selectableOwned = (object: StoredObject, { readMarker, markerStyle }: Markers): Selectable => {
  const marker = readMarker(object)
  return {
    name: storedLabelOf(object),
    key: marker?.key,
    isManaged: marker !== undefined,
    isOwnedBy: (project) => ownershipTest(project, markerStyle)(marker),
  }
}

/** By the ids of the objects. A project whose marker is a hash has its name if it is one of `projects`. */
export const toOwners = (items: readonly StoredObject[], { readMarker, markerStyle }: Markers, projects: readonly string[] = []): Owners =>
  Object.fromEntries(
    items.flatMap((item) => {
      const marker = readMarker(item)
      if (marker === undefined) return []
      const { project, projectName, key, token } = marker
      const name = projectName ?? projects.find((one) => markerStyle.projectToken(one) === project)
      return [[item.id, { project: name ?? project, key: key ?? token.slice(token.indexOf(':') + 1) }] as const]
    }),
  )

/** Empty if the alerts cannot be listed. */
async function projectsOfAlerts(api: ReadApi, service: Target): Promise<readonly string[]> {
  try {
    const { items } = await alertCollection.list(api, service)
    return items.flatMap((alert) => alertMarkers.readMarker(alert)?.projectName ?? [])
  } catch (thrown) {
    toFailure(thrown)
    return []
  }
}

/** `shop/infra checkout-errors`; a dash for an unmanaged object. */
export const ownerCell = ({ id }: StoredObject, owners: Owners): Line => {
  const own = owners[id]
  return own === undefined ? [trusted('–')] : say`${untrusted(own.project)} ${untrusted(own.key)}`
}

export const tagsCell = ({ tags }: StoredObject): Line => [textOrDash(withoutMarkerTags(tags).join(', '))]

interface Listing<T extends StoredObject> {
  readonly kind: KindName
  list(api: ReadApi, service: Target): Promise<List<T>>
  readonly schema: z.ZodType<T>
  /** Absent where the result has everything of an object. */
  toShown?(item: T): T
  /** Absent where the API has no field for a marker. */
  readonly markers?: Markers
  /** What lists of this kind leave out, as a sentence. */
  readonly note?: string
  /** Besides those of the name and the owner. */
  readonly fields: readonly SelectField[]
  readonly choices?: Choices
  toSelectable?(item: T): Selectable
  readonly example: { select?: string[] }
  /** Between the name and the owner. */
  readonly columns: Readonly<Record<string, (item: T) => Cell>>
}

export function defineList<T extends StoredObject>({ kind, list, markers = noMarkers, ...listing }: Listing<T>) {
  const [label, labels] = [kindLabels[kind], pluralOf(kindLabels[kind])]
  const hasOwners = markers.ownership === 'marker'
  const fields = ['name', ...(hasOwners ? ownerFields : []), ...listing.fields] as const
  return defineOperation({
    summary: ['Lists the', labels, 'of a service.', listing.note].filter(Boolean).join(' '),
    effect: 'read',
    scope: 'service-or-server',
    input: z.strictObject({ select: selectInput(fields, { choices: listing.choices }).optional() }),
    output: listOutput,
    details: z.object({
      items: z.array(listing.schema).describe(`The ${labels} as the API returned them.`),
      owners: ownersDetail,
      ...listDetails,
    }),
    example: listing.example,
    async run({ api, service }, { select }) {
      const toSelectable = (item: T): Selectable => ({ ...selectableOwned(item, markers), ...listing.toSelectable?.(item) })
      const result = toListResult(await list(api, service), select, toSelectable)
      const items = listing.toShown === undefined ? result.items : result.items.map(listing.toShown)
      const isHashed = result.items.map(markers.readMarker).some((marker) => marker !== undefined && marker.projectName === undefined)
      const projects = valuesOf(select, 'project') ?? (isHashed ? await projectsOfAlerts(api, service) : [])
      return { ...result, items, owners: toOwners(result.items, markers, projects) }
    },
    judge: judgeCutList,
    report: ({ items, owners, unmet }) => ({
      headline: say`${counted(items.length, label)}${withUnmet(unmet)}`,
      blocks: [
        table(undefined, items, {
          Name: nameOrId,
          ...listing.columns,
          ...(hasOwners && { Owner: (item: T) => ownerCell(item, owners) }),
          Id: ({ id }) => untrusted(id),
        }),
      ],
    }),
  })
}
