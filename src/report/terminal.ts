// Owns a report as lines of text, for terminals and logs. Colour is the caller's choice and never the only sign.
import { styleText } from 'node:util'
import { formatLocation, mostSevere } from '../core/diagnostics.ts'
import { printable } from '../core/text.ts'
import { type Block, isEmpty, type Line, longestSentence, type Status } from './blocks.ts'
import { sparkline } from './chart.ts'
import { terminalData } from './escape.ts'

export interface TerminalStyle {
  readonly color: boolean
  /** Where everything is that would scroll the rest out of sight; the result file unless something else is said. */
  readonly whole?: string
}

const wholeOf = ({ whole = 'the result file' }: TerminalStyle): string => whole

const signs: Readonly<Record<Status, { readonly sign: string; readonly color: 'green' | 'yellow' | 'red' }>> = {
  pass: { sign: '✔', color: 'green' },
  warn: { sign: '▲ warning:', color: 'yellow' },
  fail: { sign: '✖ failed:', color: 'red' },
  error: { sign: '✖ error:', color: 'red' },
}

type Format = Parameters<typeof styleText>[0]

const paint = (style: TerminalStyle, format: Format, text: string): string =>
  style.color ? styleText(format, text, { validateStream: false }) : text

export function renderTerminal(blocks: readonly Block[], style: TerminalStyle): readonly string[] {
  return blocks.filter((block) => !isEmpty(block)).flatMap((block, i) => [...(i === 0 ? [] : ['']), ...renderBlock(block, style)])
}

function renderBlock(block: Block, style: TerminalStyle): readonly string[] {
  switch (block.kind) {
    case 'verdict': {
      const { sign, color } = signs[block.status]
      return [`${paint(style, [color, 'bold'], sign)} ${renderLine(block.line, style)}`]
    }
    case 'paragraph':
      return [renderLine(block.line, style)]
    case 'list':
      return block.items.map((item) => `- ${renderLine(item, style)}`)
    case 'facts':
      return alignColumns(block.facts.map(({ label, value }) => [paint(style, 'dim', label), renderLine(value, style)]))
    case 'table':
      return renderTable(block, style)
    case 'diagnostics':
      return renderDiagnostics(block, style)
    case 'diff':
      return block.lines.map(({ sign, text }) =>
        sign === ' ' ? `  ${printable(text)}`.trimEnd() : paint(style, diffColors[sign], `${sign} ${printable(text)}`),
      )
    case 'chart':
      return [`${block.title}  ${sparkline(block.points)}`, rangeOf(block)]
    case 'details':
      return [paint(style, 'dim', `${block.title}: see ${wholeOf(style)}`)]
    case 'preformatted':
      return block.text.split('\n').map(printable)
  }
}

function rangeOf({ points, unit }: Extract<Block, { kind: 'chart' }>): string {
  const values = points.map(({ value }) => value)
  return `${points[0]?.label} to ${points.at(-1)?.label}, ${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)} ${unit} a day`
}

/** More rows than this scroll everything else out of sight; the result file has them all. */
const mostRows = 40

function renderTable({ title, columns, rows }: Extract<Block, { kind: 'table' }>, style: TerminalStyle): readonly string[] {
  const head = columns.map((column) => paint(style, 'dim', column.title))
  const body = rows.slice(0, mostRows).map((cells) => cells.map((cell) => renderLine(cell, style)))
  const right = columns.map(({ align }) => align === 'right')
  const more = rows.length > mostRows ? [`… ${rows.length - mostRows} more rows: see ${wholeOf(style)}`] : []
  return [...(title === undefined ? [] : [paint(style, 'bold', title)]), ...alignColumns([head, ...body], right), ...more]
}

const diffColors = { '+': 'green', '-': 'red', '~': 'yellow' } as const

const diagnosticColors = { error: 'red', warning: 'yellow', note: 'cyan' } as const

/** More diagnostics than this are not read one by one; those are the worst, in the order of their places. */
const mostDiagnostics = 100

/** As compilers print them: a line each, which terminals and editors turn into links. */
function renderDiagnostics({ diagnostics }: Extract<Block, { kind: 'diagnostics' }>, style: TerminalStyle): readonly string[] {
  const worst = mostSevere(diagnostics, mostDiagnostics)
  const locations = worst.map(({ location }) => terminalData(formatLocation(location)))
  const width = Math.max(...locations.map(displayWidth))
  const lines = worst.map(({ severity, message, rule }, i) => {
    const where = locations[i] ?? ''
    const gap = ' '.repeat(width - displayWidth(where))
    const word = paint(style, diagnosticColors[severity], severity.padEnd('warning'.length))
    return `${where}${gap}  ${word}  ${terminalData(message, longestSentence)}  ${paint(style, 'dim', `(${rule})`)}`
  })
  const rest = diagnostics.length - worst.length
  return rest === 0 ? lines : [...lines, `… ${rest} more: see ${wholeOf(style)}`]
}

function renderLine(line: Line, style: TerminalStyle): string {
  return line
    .map((part) =>
      part.kind === 'data' ? terminalData(part.text, part.longest) : part.strong ? paint(style, 'bold', part.text) : part.text,
    )
    .join('')
}

function alignColumns(rows: readonly (readonly string[])[], right: readonly boolean[] = []): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => displayWidth(cells[column] ?? ''))))
  return rows.map((cells) =>
    cells
      .map((cell, column) => {
        const gap = ' '.repeat((widths[column] ?? 0) - displayWidth(cell))
        return right[column] ? `${gap}${cell}` : `${cell}${gap}`
      })
      .join('  ')
      .trimEnd(),
  )
}

const styling = /\u001b\[[0-9;]*m/g
const wide = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u

/** Columns that a text takes in a terminal. */
function displayWidth(text: string): number {
  const bare = text.replace(styling, '')
  if (/^[ -~]*$/.test(bare)) return bare.length
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(bare)
  return [...graphemes].reduce((width, { segment }) => width + (wide.test(segment) ? 2 : 1), 0)
}
