import { styleText } from 'node:util'
import { eastAsianWidth } from 'get-east-asian-width'
import { formatLocation, mostSevere } from '../core/diagnostics.ts'
import { terminalUntrusted } from '../core/escape.ts'
import { clipSentence, type Line } from '../core/line.ts'
import { printable, sparkline } from '../core/text.ts'
import { type Block, type BlockOf, severityStyles, statusStyles, verdictLine } from './blocks.ts'

interface TerminalStyle {
  readonly color: boolean
  /** Where the parts are that a terminal does not show. */
  readonly rest?: string
  /** Without it, no line is wrapped. */
  readonly width?: number
}

const widthOf = ({ width = Number.POSITIVE_INFINITY }: TerminalStyle) => width

const restWords = ({ rest = 'the summary of the run' }: TerminalStyle) => rest

/** Word by word, so that a line can be broken between two of them. */
const paint = (style: TerminalStyle, format: Parameters<typeof styleText>[0], text: string) =>
  style.color ? text.replaceAll(/[^ ]+/g, (word) => styleText(format, word, { validateStream: false })) : text

export function renderTerminal(blocks: readonly Block[], style: TerminalStyle): readonly string[] {
  const shown = blocks.filter((block) => block.kind !== 'details' || !block.isQuiet)
  return shown.flatMap((block, i) => [...(i === 0 ? [] : ['']), ...blockLines(block, style)])
}

function blockLines(block: Block, style: TerminalStyle) {
  switch (block.kind) {
    case 'verdict': {
      const { terminal, color } = statusStyles[block.status]
      return wrap(`${paint(style, [color, 'bold'], terminal)} ${styledLine(verdictLine(block), style)}`, widthOf(style))
    }
    case 'paragraph':
      return wrap(styledLine(block.line, style), widthOf(style))
    case 'list':
      return block.items.flatMap((item) => indented('- ', wrap(styledLine(item, style), widthOf(style) - 2)))
    case 'facts':
      return renderColumns(
        block.facts.map(({ label, value }) => [paint(style, 'dim', label), styledLine(value, style)]),
        [],
        style,
      )
    case 'table':
      return tableLines(block, style)
    case 'diagnostics':
      return renderDiagnostics(block, style)
    case 'diff':
      return block.lines.map(({ sign, text }) =>
        sign === ' ' ? `  ${printable(text)}`.trimEnd() : paint(style, diffColors[sign], `${sign} ${printable(text)}`),
      )
    case 'chart':
      return chartLines(block, style)
    case 'layout':
      return block.layout.lines.map(printable)
    case 'details':
      return wrap(paint(style, 'dim', `${block.title}: see ${restWords(style)}`), widthOf(style))
    case 'message':
    case 'preformatted':
      return block.text.split('\n').flatMap((line) => wrap(printable(line), widthOf(style)))
    case 'footer':
      return wrap(paint(style, 'dim', styledLine(block.line, style)), widthOf(style))
  }
}

/** `lead` begins the first line, and the others are below its text. */
const indented = (lead: string, lines: readonly string[]) => lines.map((line, i) => `${i === 0 ? lead : ' '.repeat(lead.length)}${line}`)

function chartLines({ title, points, unit }: BlockOf<'chart'>, style: TerminalStyle) {
  const values = points.map(({ value }) => value)
  const bars = sparkline(values)
  const width = widthOf(style)
  const ends = `lowest ${Math.min(...values).toFixed(2)}, highest ${Math.max(...values).toFixed(2)} ${unit}`
  const range = wrap(`${points[0]?.label} to ${points.at(-1)?.label}: ${ends}`, width)
  if (title.length + 2 + bars.length <= width) return [`${title}  ${bars}`, ...range]
  const rows = Array.from({ length: Math.ceil(bars.length / width) }, (_, i) => bars.slice(i * width, (i + 1) * width))
  return [title, ...rows, ...range]
}

/** Longer tables would scroll the verdict out of sight. */
const maxTableRows = 40

function tableLines({ title, columns, rows }: BlockOf<'table'>, style: TerminalStyle) {
  const head = columns.map((column) => paint(style, 'dim', column.title))
  const body = rows.slice(0, maxTableRows).map((cells) => cells.map((cell) => styledLine(cell, style)))
  const right = columns.map(({ align }) => align === 'right')
  const more = rows.length > maxTableRows ? [`… ${rows.length - maxTableRows} more rows: see ${restWords(style)}`] : []
  return [...(title === undefined ? [] : [paint(style, 'bold', title)]), ...renderColumns([head, ...body], right, style), ...more]
}

const padBetween = '  '

type CellTexts = readonly (readonly string[])[]

/** Leaves out columns without values and wraps cells between words, where the columns are too wide. */
function renderColumns(all: CellTexts, rightOfAll: readonly boolean[], style: TerminalStyle) {
  const widthsOfAll = naturalWidths(all)
  // In a log, nothing limits the width of a table.
  if (widthOf(style) === Number.POSITIVE_INFINITY && all.flat().some((cell) => cell.includes('\n'))) return flowRows(all, style)
  if (roomFor(all, style) >= addWidths(widthsOfAll)) return wrapColumns(all, widthsOfAll, rightOfAll)
  const hasValues = widthsOfAll.map((_, i) => i === 0 || !isTable(rightOfAll) || all.slice(1).some((cells) => !isBlank(cells[i])))
  const rows = all.map((cells) => cells.filter((_, i) => hasValues[i]))
  const right = rightOfAll.filter((_, i) => hasValues[i])
  const [room, natural] = [roomFor(rows, style), naturalWidths(rows)]
  const minimal = natural.map((width, i) =>
    // A column of single words is hard to read.
    right[i] ? width : Math.max(Math.min(width, 16), ...rows.flatMap((cells) => (cells[i] ?? '').split(/[ \n]/).map(displayWidth))),
  )
  if (addWidths(minimal) > room)
    return isTable(right) ? flowRows(rows, style) : rows.flatMap((cells) => wrap(cells.join(padBetween), widthOf(style)))
  return wrapColumns(rows, widen(minimal, natural, room), right)
}

const wrapColumns = (rows: CellTexts, widths: readonly number[], right: readonly boolean[]) =>
  rows.flatMap((cells) => {
    const wrapped = cells.map((cell, i) => cell.split('\n').flatMap((item) => wrap(item, widths[i] ?? 0)))
    const height = Math.max(...wrapped.map(({ length }) => length))
    const lines = Array.from({ length: height }, (_, i) => wrapped.map((lines) => lines[i] ?? ''))
    return lines.map((cells) =>
      cells
        .map((cell, column) => {
          const blanks = ' '.repeat((widths[column] ?? 0) - displayWidth(cell))
          return right[column] ? `${blanks}${cell}` : `${cell}${blanks}`
        })
        .join(padBetween)
        .trimEnd(),
    )
  })

/** Facts have no header. */
const isTable = (right: readonly boolean[]) => right.length > 0

const isBlank = (cell = '') => cell === '' || cell === '–'

const roomFor = ([cells = []]: CellTexts, style: TerminalStyle) => widthOf(style) - padBetween.length * (cells.length - 1)

const naturalWidths = (rows: CellTexts) =>
  (rows[0] ?? []).map((_, i) => Math.max(...rows.flatMap((cells) => (cells[i] ?? '').split('\n').map(displayWidth))))

const addWidths = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

function widen(minimal: readonly number[], natural: readonly number[], room: number) {
  const widths = [...minimal]
  for (let left = Math.min(room, addWidths(natural)) - addWidths(minimal); left > 0; left--) {
    const wanting = widths.map((width, i) => (width < (natural[i] ?? 0) ? width : Number.POSITIVE_INFINITY))
    const i = wanting.indexOf(Math.min(...wanting))
    widths[i] = (widths[i] ?? 0) + 1
  }
  return widths
}

/**
 * The last way out: each row becomes a short paragraph: `checkout`, and below it `Used (CHC) 12.00 · Limit 10.00`. Items of a column with
 * several have lines of their own.
 */
function flowRows([head = [], ...rows]: CellTexts, style: TerminalStyle) {
  const isList = head.map((_, i) => rows.some((cells) => cells[i]?.includes('\n')))
  const width = widthOf(style) - padBetween.length
  return rows.flatMap(([first = '', ...cells]) => {
    const items = cells.flatMap((cell, i) => (isList[i + 1] && !isBlank(cell) ? cell.split('\n') : []))
    const pairs = cells.flatMap((cell, i) => (isBlank(cell) || isList[i + 1] ? [] : [`${head[i + 1]} ${cell}`]))
    const lines = [...items, ...wrapParts(pairs, ' · ', width)].flatMap((line) => wrap(line, width))
    return [...wrap(first, widthOf(style)), ...lines.map((line) => `${padBetween}${line}`)]
  })
}

/** Breaks lines between words. A longer word has its own line, so that it can be copied. */
export const wrap = (text: string, width: number): readonly string[] =>
  width === Number.POSITIVE_INFINITY || displayWidth(text) <= width ? [text] : wrapParts(text.split(' '), ' ', width)

function wrapParts(parts: readonly string[], separator: string, width: number) {
  const lines: string[] = []
  for (const part of parts) {
    const joined = lines.length === 0 ? part : `${lines.at(-1)}${separator}${part}`
    if (lines.length > 0 && displayWidth(joined) <= width) lines[lines.length - 1] = joined
    else lines.push(part)
  }
  return lines
}

const diffColors = { '+': 'green', '-': 'red', '~': 'yellow' } as const

/** The format of compilers, whose locations terminals and editors turn into links. */
function renderDiagnostics({ diagnostics }: BlockOf<'diagnostics'>, style: TerminalStyle) {
  const shown = mostSevere(diagnostics, 100)
  const locations = shown.map(({ location }) => terminalUntrusted(formatLocation(location)))
  const width = Math.max(...locations.map(displayWidth))
  const lines = shown.map(({ severity, message, rule }, i) => {
    const location = locations[i] ?? ''
    const blanks = ' '.repeat(width - displayWidth(location))
    const label = paint(style, severityStyles[severity].color, severity.padEnd('warning'.length))
    return `${location}${blanks}  ${label}  ${terminalUntrusted(clipSentence(message), Number.POSITIVE_INFINITY)}  ${paint(style, 'dim', `(${rule})`)}`
  })
  const rest = diagnostics.length - shown.length
  return rest === 0 ? lines : [...lines, `… ${rest} more: see ${restWords(style)}`]
}

function styledLine(line: Line, style: TerminalStyle) {
  return line
    .map((part) =>
      part.kind === 'untrusted'
        ? [terminalUntrusted(part.text, part.maxLength), ...(part.href === undefined ? [] : [printable(part.href)])].join(' ')
        : part.strong
          ? paint(style, 'bold', part.text)
          : part.text,
    )
    .join('')
}

// \p{RGI_Emoji} would be shorter, but takes 10 ms or more when this file is parsed.
const emoji = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Emoji_Modifier_Base}\p{Emoji_Modifier})/u

/** Latin letters, dashes, arrows and blocks: each has one column, and none combines with another. */
const singleColumns = /^[ -~\u00a0-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u259f]*$/

/** What people see as single characters. The first segmenter of a process takes 10 ms. */
export const graphemesOf = (text: string): readonly string[] =>
  singleColumns.test(text)
    ? text.split('')
    : [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment)

/** For a terminal, and a font of fixed width. */
export const graphemeWidth = (grapheme: string): number =>
  emoji.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0, { ambiguousAsWide: false })

export function displayWidth(text: string): number {
  const bare = text.replace(/\u001b\[[0-9;]*m/g, '')
  return singleColumns.test(bare) ? bare.length : graphemesOf(bare).reduce((width, grapheme) => width + graphemeWidth(grapheme), 0)
}
