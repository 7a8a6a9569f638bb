import * as z from 'zod'
import { type List, pageLimit } from '../api/collection.ts'
import { counted, type Line, say } from '../core/line.ts'
import { pass, type Verdict } from '../report/report.ts'
import { type Condition, describeUnmet, isSelected, type Selectable } from './select.ts'

export const listOutput = z.object({
  count: z.int().describe('Number of listed objects.'),
  ids: z.array(z.string()).describe('Their ids, as a JSON array.'),
})

export const listDetails = {
  mayBeCut: z.boolean().describe('Whether the list may be incomplete because it is as long as a page.'),
  unmet: z.string().optional().describe('If nothing meets the conditions of `select`: the one that no object meets.'),
}

export function toListResult<T extends { readonly id: string }>(
  list: List<T>,
  conditions: readonly Condition[] | undefined,
  toSelectable: (item: T) => Selectable,
) {
  const found = list.items.filter((item) => isSelected(conditions, toSelectable(item)))
  const unmet = found.length === 0 && conditions !== undefined && { unmet: describeUnmet(list.items.map(toSelectable), conditions) }
  return { count: found.length, ids: found.map(({ id }) => id), items: found, mayBeCut: list.mayBeCut, ...unmet }
}

export const listHeadline = ({ count, unmet }: { readonly count: number; readonly unmet?: string | undefined }, label: string): Line =>
  say`${counted(count, label)}${unmet === undefined ? '' : ` with ${unmet}`}`

/** Servers cut lists at their page limit without a hint. */
export const judgeCutList = ({ mayBeCut }: { readonly mayBeCut: boolean }): Verdict =>
  mayBeCut ? { status: 'warn', reasons: [say`the list may be incomplete, because it is as long as the page limit of ${pageLimit}`] } : pass
