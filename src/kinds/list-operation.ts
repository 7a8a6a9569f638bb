// The operations that list the objects of a kind, and what they say about the owners.
import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import type { List } from '../api/collection.ts'
import type { Target } from '../api/path.ts'
import { profileNames } from '../api/profiles.ts'
import { counted, type Line, nameOrId, say, textOrDash, trusted, untrusted } from '../core/line.ts'
import { pluralOf } from '../core/text.ts'
import { judgeCutList, listOutput, mayBeCut, toListResult } from '../operation/listing.ts'
import { defineOperation } from '../operation/operation.ts'
import { type Choices, type Condition, type Selectable, type SelectField, selectInput, valuesOf } from '../operation/select.ts'
import { type Cell, table } from '../report/table.ts'
import { type Kind, type StoredObject, storedLabelOf } from './kind.ts'
import { type KindName, kindLabels, kindsOfProducts } from './kind-names.ts'
import { noMarkers, ownershipTest, type StoredMarker, withoutMarkerTags } from './marker.ts'

const owner = z.object({
  project: z.string().describe('The project, or the 6 hex digits of its hash that a tag has.'),
  key: z.string().describe('The key in the files, or `#` and the hash of a long key.'),
})

type Owner = z.output<typeof owner>

export const ownersDetail = z.record(z.string(), owner).describe('Project and key of the managed objects, by id.')

export type Owners = z.output<typeof ownersDetail>

type Markers = Pick<Kind, 'ownership' | 'readMarker' | 'markerStyle'>

/** Fields for conditions on the owner. */
export const ownerFields = ['key', 'project', 'managed', 'unmanaged'] as const

/** What conditions on the name and the owner are compared with. */
export const selectableOwned = (object: StoredObject, { readMarker, markerStyle }: Markers): Selectable => {
  const marker = readMarker(object)
  return {
    name: storedLabelOf(object),
    key: marker?.key,
    isManaged: marker !== undefined,
    isOwnedBy: (project) => ownershipTest(project, markerStyle)(marker),
  }
}

/** The owners of the managed objects, by id. */
export const toOwners = (items: readonly StoredObject[], { readMarker }: Markers, conditions: readonly Condition[] | undefined): Owners =>
  Object.fromEntries(
    items.flatMap((item) => {
      const marker = readMarker(item)
      return marker === undefined ? [] : [[item.id, ownerOf(marker, conditions)] as const]
    }),
  )

/** A hashed project is shown by its name where a condition has it. */
function ownerOf({ project, projectName, key, token }: StoredMarker, conditions: readonly Condition[] | undefined): Owner {
  const [wanted] = valuesOf(conditions, 'project') ?? []
  return { project: wanted ?? projectName ?? project, key: key ?? token.slice(token.indexOf(':') + 1) }
}

/** `shop/infra checkout-errors`; a dash for an unmanaged object. */
export const ownerCell = ({ id }: StoredObject, owners: Owners): Line => {
  const own = owners[id]
  return own === undefined ? [trusted('–')] : say`${untrusted(own.project)} ${untrusted(own.key)}`
}

/** Tags without markers, which the column of the owner explains. */
export const tagsCell = ({ tags }: StoredObject): Line => [textOrDash(withoutMarkerTags(tags).join(', '))]

interface Listing<T extends StoredObject> {
  readonly kind: KindName
  list(api: ReadApi, service: Target): Promise<List<T>>
  readonly schema: z.ZodType<T>
  /** What the result has of an object. Absent where it has everything. */
  toShown?(item: T): T
  /** Absent where the API has no field for a marker. */
  readonly markers?: Markers
  /** What lists of this kind leave out, as a sentence. */
  readonly note?: string
  /** Fields for conditions, besides those of the name and the owner. */
  readonly fields: readonly SelectField[]
  readonly choices?: Choices
  toSelectable?(item: T): Selectable
  readonly example: { select?: string[] }
  /** The columns between the name and the owner. */
  readonly columns: Readonly<Record<string, (item: T) => Cell>>
}

/** The operation that lists the objects of a kind. */
export function defineList<T extends StoredObject>({ kind, list, markers = noMarkers, ...listing }: Listing<T>) {
  const [label, labels] = [kindLabels[kind], pluralOf(kindLabels[kind])]
  const hasOwners = markers.ownership === 'marker'
  const fields = ['name', ...(hasOwners ? ownerFields : []), ...listing.fields] as const
  return defineOperation({
    summary: ['Lists the', labels, 'of a service.', listing.note].filter(Boolean).join(' '),
    effect: 'read',
    scope: 'service-or-server',
    ...(kindsOfProducts.includes(kind) && { profiles: profileNames }),
    input: z.strictObject({ select: selectInput(`Lists only these ${labels}.`, fields, listing.choices).optional() }),
    output: listOutput,
    details: z.object({
      items: z.array(listing.schema).describe(`The ${labels} as the API returned them.`),
      owners: ownersDetail,
      mayBeCut,
    }),
    example: listing.example,
    async run({ api, service }, { select }) {
      const toSelectable = (item: T): Selectable => ({ ...selectableOwned(item, markers), ...listing.toSelectable?.(item) })
      const result = toListResult(await list(api, service), select, toSelectable)
      const items = listing.toShown === undefined ? result.items : result.items.map(listing.toShown)
      return { ...result, items, owners: toOwners(result.items, markers, select) }
    },
    judge: judgeCutList,
    report: ({ items, owners }) => ({
      headline: say`${counted(items.length, label)}`,
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
