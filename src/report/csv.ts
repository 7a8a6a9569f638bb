import { printable } from '../core/text.ts'

/** A number in plain decimals, or untrusted text. */
export type Cell = { readonly number: string } | string | undefined

/** CSV by RFC 4180. A spreadsheet runs no text in it as a formula. */
export const renderCsv = (rows: readonly (readonly Cell[])[]): string => rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('')

const plainNumber = /^-?\d+(?:\.\d+)?$/

function toCell(cell: Cell): string {
  if (cell === undefined) return ''
  if (typeof cell !== 'string') return plainNumber.test(cell.number) ? cell.number : quoted(cell.number)
  return quoted(cell)
}

// Spreadsheets run a cell that begins with one of these as a formula, quoted or not (OWASP, CSV injection). Some accept the wide forms, too.
const startsFormula = /^[=+\-@\t\r＝＋－＠]/

function quoted(text: string): string {
  const safe = startsFormula.test(text) ? `'${text}` : text
  const shown = printable(safe)
  return /[",\r\n]|^\s|\s$/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
}
