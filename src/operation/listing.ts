import * as z from 'zod'
import { type List, pageLimit } from '../api/collection.ts'
import { say } from '../core/line.ts'
import { text } from './inputs.ts'
import { pass, type Verdict } from './operation.ts'

export const nameContains = text('Lists only objects whose name contains this text. Case does not matter.', 256)

export const listOutput = z.object({
  count: z.int().describe('Number of listed objects.'),
  ids: z.array(z.string()).describe('Their ids, as a JSON array.'),
})

export const mayBeCut = z.boolean().describe('Whether the list may be incomplete because it is as long as a page.')

/** Whether a name contains the text, without regard to case. */
export function nameMatches(namePart: string): (item: { readonly name?: string | null | undefined }) => boolean {
  const wanted = namePart.toLowerCase()
  return ({ name }) => (name ?? '').toLowerCase().includes(wanted)
}

/** Filters a list by name and by `matches`. `namePart` is compared without case; undefined matches every name. */
export function toListResult<T extends { readonly id: string; readonly name?: string | null | undefined }>(
  list: List<T>,
  namePart: string | undefined,
  matches: (item: T) => boolean,
) {
  const hasName = namePart === undefined ? () => true : nameMatches(namePart)
  const found = list.items.filter((item) => matches(item) && hasName(item))
  return { count: found.length, ids: found.map(({ id }) => id), items: found, mayBeCut: list.mayBeCut }
}

/** Warns when a list may be incomplete. Servers cut lists at their page limit without a hint. */
export const judgeCutList = ({ mayBeCut }: { readonly mayBeCut: boolean }): Verdict =>
  mayBeCut ? { status: 'warn', reasons: [say`the list may be incomplete, because it is as long as the page limit of ${pageLimit}`] } : pass
