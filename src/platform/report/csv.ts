import { printable } from '../core/text.ts'

/** A number in plain decimals, or untrusted text. */
export type CsvCell = { readonly number: string } | string | undefined

/** RFC 4180, in pieces of whole lines, so that a large file is never in memory. */
export function* renderCsv(rows: Iterable<readonly CsvCell[]>): Generator<string> {
  let piece = ''
  for (const row of rows) {
    piece += `${row.map(csvCell).join(',')}\r\n`
    // A write to a file for each line would take longer than making the lines.
    if (piece.length < 64 * 1024) continue
    yield piece
    piece = ''
  }
  yield piece
}

function csvCell(cell: CsvCell) {
  if (cell === undefined) return ''
  if (typeof cell !== 'string') return /^-?\d+(?:\.\d+)?$/.test(cell.number) ? cell.number : csvQuoted(cell.number)
  return csvQuoted(cell)
}

function csvQuoted(text: string) {
  // Spreadsheets run such a cell as a formula, quoted or not (OWASP, CSV injection). Some accept the wide forms, too.
  const safe = /^[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text
  const shown = printable(safe)
  return /[",\r\n]|^\s|\s$/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
}
