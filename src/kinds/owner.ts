// Whose is it: the project and the key in the ownership marker, for lists.
import * as z from 'zod'
import type { List } from '../api/collection.ts'
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { type Line, say, trusted, untrusted } from '../core/line.ts'
import { flag, text } from '../operation/inputs.ts'
import { nameContains, toListResult } from '../operation/listing.ts'
import { type MarkerStyle, ownershipTest, projectForm, projectGrammar, readTagMarker, type StoredMarker, tagStyle } from './marker.ts'

/** Filters of lists. */
export const ownerInput = {
  managed: flag('Lists only objects with an ownership marker, of any project.').default(false),
  unmanaged: flag('Lists only objects without an ownership marker.').default(false),
  project: z.string().regex(projectGrammar).optional().meta({ description: 'Lists only objects of this project.', accepts: projectForm }),
}

type OwnerFilter = z.output<z.ZodObject<typeof ownerInput>>

const owner = z.object({
  project: z.string().describe('The project, or the 6 hex digits of its hash that a tag has.'),
  key: z.string().describe('The key in the files, or `#` and the hash of a long key.'),
})

type Owner = z.output<typeof owner>

export const ownersDetail = z.record(z.string(), owner).describe('Project and key of the managed objects, by id.')

export function checkOwnerInput({ values }: { readonly values: Partial<OwnerFilter> }): readonly Diagnostic[] {
  if (values.unmanaged !== true) return []
  const other = values.managed === true ? 'managed' : values.project === undefined ? undefined : 'project'
  return other === undefined ? [] : [inputDiagnostic('unmanaged', `cannot be given together with ${other}`)]
}

/** Whether an object with this marker passes the filter. */
export function matchesOwner(marker: StoredMarker | undefined, style: MarkerStyle, filter: OwnerFilter): boolean {
  if (filter.unmanaged) return marker === undefined
  if (filter.project !== undefined) return ownershipTest(filter.project, style)(marker)
  return !filter.managed || marker !== undefined
}

/** A hashed project is shown by its name where the filter has it. */
function ownerOf({ project, projectName, key, token }: StoredMarker, filter: OwnerFilter): Owner {
  return { project: filter.project ?? projectName ?? project, key: key ?? token.slice(token.indexOf(':') + 1) }
}

/** Filters of lists of objects with tags, whose markers are tags. */
export const taggedInput = (nouns: string) =>
  z.strictObject({
    nameContains: nameContains.optional(),
    tag: text(`Lists only ${nouns} with this tag.`, 256).optional(),
    ...ownerInput,
  })

interface Tagged extends Listed {
  readonly name: string
  readonly tags: readonly string[]
}

/** The objects of a list that pass the filters, and their owners. */
export function selectTagged<T extends Tagged>(list: List<T>, input: z.output<ReturnType<typeof taggedInput>>) {
  const { tag } = input
  const readMarker = ({ tags }: T): StoredMarker | undefined => readTagMarker(tags)
  const matches = (item: T): boolean => (tag === undefined || item.tags.includes(tag)) && matchesOwner(readMarker(item), tagStyle, input)
  const result = toListResult(list, input.nameContains, matches)
  return { ...result, owners: toOwners(result.items, readMarker, input) }
}

interface Listed {
  readonly id: string
}

export const toOwners = <T extends Listed>(
  items: readonly T[],
  readMarker: (item: T) => StoredMarker | undefined,
  filter: OwnerFilter,
): Readonly<Record<string, Owner>> =>
  Object.fromEntries(
    items.flatMap((item) => {
      const marker = readMarker(item)
      return marker === undefined ? [] : [[item.id, ownerOf(marker, filter)] as const]
    }),
  )

export type Owners = z.output<typeof ownersDetail>

/** `shop/infra checkout-errors`; a dash for an unmanaged object. */
export const ownerCell = ({ id }: Listed, owners: Owners): Line => {
  const own = owners[id]
  return own === undefined ? [trusted('–')] : say`${untrusted(own.project)} ${untrusted(own.key)}`
}
