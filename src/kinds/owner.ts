// Whose is it: the project and the key in the ownership marker, for lists.
import * as z from 'zod'
import type { List } from '../api/collection.ts'
import { type Line, say, trusted, untrusted } from '../core/line.ts'
import { toListResult } from '../operation/listing.ts'
import { type Condition, type Selectable, selectInput, valuesOf } from '../operation/select.ts'
import { type MarkerStyle, ownershipTest, readTagMarker, type StoredMarker, tagStyle } from './marker.ts'

const owner = z.object({
  project: z.string().describe('The project, or the 6 hex digits of its hash that a tag has.'),
  key: z.string().describe('The key in the files, or `#` and the hash of a long key.'),
})

type Owner = z.output<typeof owner>

export const ownersDetail = z.record(z.string(), owner).describe('Project and key of the managed objects, by id.')

/** What conditions on the owner are compared with. */
export const selectableOwner = (marker: StoredMarker | undefined, style: MarkerStyle): Selectable => ({
  key: marker?.key,
  isManaged: marker !== undefined,
  isOwnedBy: (project) => ownershipTest(project, style)(marker),
})

/** A hashed project is shown by its name where a condition has it. */
function ownerOf({ project, projectName, key, token }: StoredMarker, conditions: readonly Condition[] | undefined): Owner {
  const [wanted] = valuesOf(conditions, 'project') ?? []
  return { project: wanted ?? projectName ?? project, key: key ?? token.slice(token.indexOf(':') + 1) }
}

/** Conditions of lists of objects whose markers are tags. */
export const taggedInput = (nouns: string) =>
  z.strictObject({
    select: selectInput(`Lists only these ${nouns}.`, ['name', 'key', 'tag', 'project', 'managed', 'unmanaged']).optional(),
  })

interface Tagged extends Listed {
  readonly name: string
  readonly tags: readonly string[]
}

/** The objects of a list for which all conditions hold, and their owners. */
export function selectTagged<T extends Tagged>(list: List<T>, { select }: z.output<ReturnType<typeof taggedInput>>) {
  const readMarker = ({ tags }: T): StoredMarker | undefined => readTagMarker(tags)
  const result = toListResult(list, select, (item) => ({
    name: item.name,
    tags: item.tags,
    ...selectableOwner(readMarker(item), tagStyle),
  }))
  return { ...result, owners: toOwners(result.items, readMarker, select) }
}

interface Listed {
  readonly id: string
}

export const toOwners = <T extends Listed>(
  items: readonly T[],
  readMarker: (item: T) => StoredMarker | undefined,
  conditions: readonly Condition[] | undefined,
): Readonly<Record<string, Owner>> =>
  Object.fromEntries(
    items.flatMap((item) => {
      const marker = readMarker(item)
      return marker === undefined ? [] : [[item.id, ownerOf(marker, conditions)] as const]
    }),
  )

export type Owners = z.output<typeof ownersDetail>

/** `shop/infra checkout-errors`; a dash for an unmanaged object. */
export const ownerCell = ({ id }: Listed, owners: Owners): Line => {
  const own = owners[id]
  return own === undefined ? [trusted('–')] : say`${untrusted(own.project)} ${untrusted(own.key)}`
}
