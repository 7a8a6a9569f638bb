import { type Decimal, isDecimal } from '../core/decimal.ts'
import { type Inline, type Line, toLine, trusted } from '../core/line.ts'
import { showCount } from '../core/text.ts'
import type { BlockOf, Status } from './blocks.ts'
import { formatMoney } from './format.ts'

/** A text is untrusted, and a number or an amount is rounded text of this project. An empty cell is a dash. */
export type Cell = Line | Inline | Decimal | string | number | undefined

function cellLine(cell: Cell) {
  if (cell === undefined || cell === '') return [trusted('–')]
  if (typeof cell === 'number') return [trusted(showCount(cell))]
  return isDecimal(cell) ? [trusted(formatMoney(cell))] : toLine(cell)
}

export const table = <Row>(
  title: string | undefined,
  rows: readonly Row[],
  /** A title that begins with `>` is aligned to the right. A column that does not apply is left out. */
  columns: Readonly<Record<string, ((row: Row) => Cell) | false | undefined>>,
  statusOf?: (row: Row) => Status,
): BlockOf<'table'> => {
  const shownColumns = Object.entries(columns).flatMap(([name, cellOf]) => (cellOf ? [{ name, cellOf }] : []))
  return {
    kind: 'table',
    ...(title !== undefined && { title }),
    columns: shownColumns.map(({ name }) =>
      name.startsWith('>') ? { title: name.slice(1).trimStart(), align: 'right' } : { title: name },
    ),
    rows: rows.map((row) => shownColumns.map(({ cellOf }) => cellLine(cellOf(row)))),
    ...(statusOf && { statuses: rows.map(statusOf) }),
  }
}

/** Leaves out facts without a value. */
export const facts = (values: Readonly<Record<string, Cell>>): BlockOf<'facts'> => ({
  kind: 'facts',
  facts: Object.entries(values).flatMap(([label, value]) => (value === undefined ? [] : [{ label, value: cellLine(value) }])),
})

export const shown = <T>(value: T | undefined, format: (value: T) => string = String): Inline | undefined =>
  value === undefined ? undefined : trusted(format(value))
