import * as z from 'zod'
import { type List, pageLimit } from '../api/collection.ts'
import { type Line, say } from '../core/line.ts'
import { pass, type Verdict } from '../report/report.ts'
import { type Condition, describeUnmet, isSelected, type Selectable } from './select.ts'

export const listOutput = z.object({
  count: z.int().describe('Number of listed objects.'),
  ids: z.array(z.string()).describe('Their ids, as a JSON array.'),
})

export const listDetails = {
  mayBeCut: z.boolean().describe('Whether the list may be incomplete because it is as long as a page.'),
  unmet: z.string().describe('The condition of `select` that nothing meets. Empty where something is selected.'),
}

export function toListResult<T extends { readonly id: string }>(
  list: List<T>,
  conditions: readonly Condition[] | undefined,
  toSelectable: (item: T) => Selectable,
) {
  const found = list.items.filter((item) => isSelected(conditions, toSelectable(item)))
  const unmet = found.length === 0 ? describeUnmet(list.items.map(toSelectable), conditions) : ''
  return { count: found.length, ids: found.map(({ id }) => id), items: found, mayBeCut: list.mayBeCut, unmet }
}

export const withUnmet = (unmet: string): Line => (unmet === '' ? [] : say` with ${unmet}`)

/** Servers cut lists at their page limit without a hint. */
export const judgeCutList = ({ mayBeCut }: { readonly mayBeCut: boolean }): Verdict =>
  mayBeCut ? { status: 'warn', reasons: [say`the list may be incomplete, because it is as long as the page limit of ${pageLimit}`] } : pass
