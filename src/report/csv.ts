// Owns CSV as RFC 4180 has it, in which no cell of foreign text is a formula for a spreadsheet.
import { printable } from '../core/text.ts'

/** A number as it is written in plain decimals; or text, foreign by default. */
export type Cell = { readonly number: string } | string | undefined

export const renderCsv = (rows: readonly (readonly Cell[])[]): string => rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('')

const plainNumber = /^-?\d+(?:\.\d+)?$/

function toCell(cell: Cell): string {
  if (cell === undefined) return ''
  if (typeof cell !== 'string') return plainNumber.test(cell.number) ? cell.number : quoted(cell.number)
  return quoted(cell)
}

// Spreadsheets take a cell that begins so for a formula, quoted or not (OWASP, CSV injection); in East Asia the wide ones too.
const startsFormula = /^[=+\-@\t\r＝＋－＠]/

function quoted(text: string): string {
  const safe = startsFormula.test(text) ? `'${text}` : text
  const shown = printable(safe)
  return /[",\r\n]|^\s|\s$/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
}
