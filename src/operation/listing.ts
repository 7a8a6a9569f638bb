import * as z from 'zod'
import { type List, pageLimit } from '../api/collection.ts'
import { say } from '../core/line.ts'
import { text } from './inputs.ts'
import { pass, type Verdict } from './operation.ts'

export const nameContains = text('Only things whose name contains this text, whatever the case.', 256)

export const listOutput = z.object({
  count: z.int().describe('How many were found.'),
  ids: z.array(z.string()).describe('Their ids, as a JSON array.'),
})

export const mayBeCut = z.boolean().describe('The list is as long as a page and may not be complete.')

export function toListResult<T extends { readonly id: string; readonly name?: string | null | undefined }>(
  list: List<T>,
  namePart: string | undefined,
  matches: (item: T) => boolean,
) {
  const wanted = namePart?.toLowerCase()
  const found = list.items.filter((item) => matches(item) && (wanted === undefined || (item.name ?? '').toLowerCase().includes(wanted)))
  return { count: found.length, ids: found.map(({ id }) => id), items: found, mayBeCut: list.mayBeCut }
}

/** The server cuts lists at its page limit without saying so: a list of that length may be incomplete. */
export const judgeCutList = ({ mayBeCut }: { readonly mayBeCut: boolean }): Verdict =>
  mayBeCut ? { status: 'warn', reasons: [say`the list may not be complete: it is as long as the page limit of ${pageLimit}`] } : pass
