import { styleText } from 'node:util'
import { formatLocation, mostSevere } from '../core/diagnostics.ts'
import { terminalUntrusted } from '../core/escape.ts'
import { type Line, maxSentenceLength } from '../core/line.ts'
import { printable, sparkline } from '../core/text.ts'
import type { Block, BlockOf, Status } from './blocks.ts'

interface TerminalStyle {
  readonly color: boolean
  /** Where to find the parts that a terminal does not show. */
  readonly rest?: string
}

const restOf = ({ rest = 'the result file' }: TerminalStyle): string => rest

const signs: Readonly<Record<Status, { readonly sign: string; readonly color: 'green' | 'yellow' | 'red' }>> = {
  pass: { sign: '✔', color: 'green' },
  warn: { sign: '▲ warning:', color: 'yellow' },
  fail: { sign: '✖ failed:', color: 'red' },
  error: { sign: '✖ error:', color: 'red' },
}

type Format = Parameters<typeof styleText>[0]

const paint = (style: TerminalStyle, format: Format, text: string): string =>
  style.color ? styleText(format, text, { validateStream: false }) : text

/** Renders a report as lines for terminals and logs. Color is never the only sign of a status. */
export function renderTerminal(blocks: readonly Block[], style: TerminalStyle): readonly string[] {
  return blocks.flatMap((block, i) => [...(i === 0 ? [] : ['']), ...renderBlock(block, style)])
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
      return [`${block.title}  ${sparkline(block.points.map(({ value }) => value))}`, rangeOf(block)]
    case 'details':
      return [paint(style, 'dim', `${block.title}: see ${restOf(style)}`)]
    case 'preformatted':
      return block.text.split('\n').map(printable)
    case 'footer':
      return [paint(style, 'dim', renderLine(block.line, style))]
  }
}

function rangeOf({ points, unit }: BlockOf<'chart'>): string {
  const values = points.map(({ value }) => value)
  const range = `lowest ${Math.min(...values).toFixed(2)}, highest ${Math.max(...values).toFixed(2)} ${unit}`
  return `${points[0]?.label} to ${points.at(-1)?.label}: ${range}`
}

/** Longer tables would scroll the verdict out of sight. */
const maxRows = 40

function renderTable({ title, columns, rows }: BlockOf<'table'>, style: TerminalStyle): readonly string[] {
  const head = columns.map((column) => paint(style, 'dim', column.title))
  const body = rows.slice(0, maxRows).map((cells) => cells.map((cell) => renderLine(cell, style)))
  const right = columns.map(({ align }) => align === 'right')
  const more = rows.length > maxRows ? [`… ${rows.length - maxRows} more rows: see ${restOf(style)}`] : []
  return [...(title === undefined ? [] : [paint(style, 'bold', title)]), ...alignColumns([head, ...body], right), ...more]
}

const diffColors = { '+': 'green', '-': 'red', '~': 'yellow' } as const

const diagnosticColors = { error: 'red', warning: 'yellow', note: 'cyan' } as const

const maxDiagnostics = 100

/** One line for each diagnostic in the format of compilers, so that terminals and editors turn the locations into links. */
function renderDiagnostics({ diagnostics }: BlockOf<'diagnostics'>, style: TerminalStyle): readonly string[] {
  const shown = mostSevere(diagnostics, maxDiagnostics)
  const locations = shown.map(({ location }) => terminalUntrusted(formatLocation(location)))
  const width = Math.max(...locations.map(displayWidth))
  const lines = shown.map(({ severity, message, rule }, i) => {
    const location = locations[i] ?? ''
    const gap = ' '.repeat(width - displayWidth(location))
    const label = paint(style, diagnosticColors[severity], severity.padEnd('warning'.length))
    return `${location}${gap}  ${label}  ${terminalUntrusted(message, maxSentenceLength)}  ${paint(style, 'dim', `(${rule})`)}`
  })
  const rest = diagnostics.length - shown.length
  return rest === 0 ? lines : [...lines, `… ${rest} more: see ${restOf(style)}`]
}

function renderLine(line: Line, style: TerminalStyle): string {
  return line
    .map((part) =>
      part.kind === 'untrusted' ? terminalUntrusted(part.text, part.maxLength) : part.strong ? paint(style, 'bold', part.text) : part.text,
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
// \p{RGI_Emoji} would be shorter, but takes 10 ms or more when this file is parsed.
const emoji = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Emoji_Modifier_Base}\p{Emoji_Modifier})/u
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/

/** Latin letters, dashes, arrows and blocks: each has one column, and none combines with another. */
const singleColumns = /^[ -~\u00a0-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u259f]*$/

/** Width of a text in terminal columns. */
function displayWidth(text: string): number {
  const bare = text.replace(styling, '')
  // The first segmenter of a process takes 10 ms.
  if (singleColumns.test(bare)) return bare.length
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(bare)
  return [...graphemes].reduce((width, { segment }) => width + (emoji.test(segment) || wide.test(segment) ? 2 : 1), 0)
}
