// What a person reads in the facts and tables of a report.
import { toPlainText } from '../../src/platform/core/line.ts'
import type { Block } from '../../src/platform/report/blocks.ts'

/** `label: value` of each fact. */
export const factsIn = (blocks: readonly Block[]): readonly string[] =>
  blocks.flatMap((block) => (block.kind === 'facts' ? block.facts.map(({ label, value }) => `${label}: ${toPlainText(value)}`) : []))

/** The titles of each table, followed by its rows. */
export const tablesIn = (blocks: readonly Block[]): readonly (readonly string[])[] =>
  blocks.flatMap((block) =>
    block.kind === 'table' ? [block.columns.map(({ title }) => title), ...block.rows.map((cells) => cells.map(toPlainText))] : [],
  )
