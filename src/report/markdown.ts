// Owns the Markdown of a report, within a size in bytes: GitHub drops a summary that is too long as a whole.

import { type Block, type Inline, isEmpty, type Line, type Status, toPlainText, toTable } from './blocks.ts'
import { barChart, sparkline } from './chart.ts'
import { htmlData, htmlText, markdownBlock, markdownCellData, markdownData, markdownDiff, markdownWords } from './escape.ts'

const emoji: Readonly<Record<Status, string>> = { pass: '✅', warn: '⚠️', fail: '❌', error: '🛑' }

const bytesOf = (text: string): number => Buffer.byteLength(text)

/** Room for the sentence that says what was left out. */
const noteBytes = 200

/** Renders as many blocks and rows as fit into `maxBytes`; says so when something had to go. */
export function renderMarkdown(blocks: readonly Block[], maxBytes = Number.POSITIVE_INFINITY): string {
  const room = maxBytes - noteBytes
  let text = ''
  let leftOut = 0
  for (const block of blocks.filter((one) => !isEmpty(one))) {
    const piece = renderBlock(block, room - bytesOf(text))
    if (piece === undefined) leftOut += 1
    else text += `${piece}\n\n`
  }
  return leftOut === 0 ? text : `${text}*${leftOut} more sections did not fit here: see the result file.*\n`
}

/** Undefined when not even a part of the block fits. */
function renderBlock(block: Block, room: number): string | undefined {
  if (block.kind === 'table') return renderTable(block, room)
  if (block.kind === 'diagnostics') return renderTable(toTable(block), room)
  if (block.kind === 'diff') return renderDiff(block, room)
  if (block.kind === 'details') return renderDetails(block, room)
  const text = renderWhole(block)
  return bytesOf(text) + 2 <= room ? text : undefined
}

function renderWhole(block: Exclude<Block, { kind: 'table' | 'diagnostics' | 'diff' | 'details' }>): string {
  switch (block.kind) {
    case 'verdict':
      return `### ${emoji[block.status]} ${renderLine(block.line)}`
    case 'paragraph':
      return renderLine(block.line)
    case 'list':
      return block.items.map((item) => `- ${renderLine(item)}`).join('\n')
    case 'facts':
      return renderFacts(block)
    case 'chart':
      return `${markdownWords(block.title)} ${sparkline(block.points)}\n\n${barChart(block)}`
    case 'preformatted':
      return markdownBlock(block.text)
  }
}

/** Characters that stand side by side on a page of ordinary width. */
const widestRow = 90

// A row of figures reads best; one that would have to be scrolled sideways stands upright instead.
function renderFacts({ facts }: Extract<Block, { kind: 'facts' }>): string {
  const width = facts.reduce((sum, { label, value }) => sum + Math.max(label.length, toPlainText(value).length) + 3, 0)
  const [labels, values] = [facts.map(({ label }) => markdownWords(label)), facts.map(({ value }) => renderCell(value))]
  if (width <= widestRow) return [row(labels), row(labels.map(() => '---')), row(values)].join('\n')
  return ['| Field | Value |', '| --- | --- |', ...labels.map((label, i) => row([label, values[i] ?? '']))].join('\n')
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

function renderTable({ title, columns, rows }: Extract<Block, { kind: 'table' }>, room: number): string | undefined {
  const head = [
    ...(title === undefined ? [] : [`**${markdownWords(title)}**\n`]),
    row(columns.map((column) => markdownWords(column.title))),
    row(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
  ].join('\n')
  const written = [head]
  let size = bytesOf(head)
  for (const cells of rows) {
    const next = row(cells.map(renderCell))
    size += bytesOf(next) + 1
    if (size + noteBytes > room) break
    written.push(next)
  }
  const text = written.join('\n')
  const leftOut = rows.length - (written.length - 1)
  if (leftOut === 0) return text
  return leftOut === rows.length ? undefined : `${text}\n\n*${leftOut} more rows did not fit here: see the result file.*`
}

/** GitHub has a colour for lines that begin with an exclamation mark. */
const diffSigns = { '+': '+', '-': '-', '~': '!', ' ': ' ' } as const

function renderDiff({ lines }: Extract<Block, { kind: 'diff' }>, room: number): string | undefined {
  const all = lines.map(({ sign, text }) => `${diffSigns[sign]} ${text}`)
  let size = 20
  let fitting = 0
  for (const line of all) {
    size += bytesOf(line) + 1
    if (size + noteBytes > room) break
    fitting += 1
  }
  if (fitting === 0) return undefined
  const text = markdownDiff(all.slice(0, fitting))
  return fitting === all.length ? text : `${text}\n\n*${all.length - fitting} more lines did not fit here: see the result file.*`
}

function renderDetails({ title, blocks }: Extract<Block, { kind: 'details' }>, room: number): string | undefined {
  const head = `<details><summary>${htmlText(title)}</summary>\n\n`
  const tail = '</details>'
  const inside = renderMarkdown(blocks, room - bytesOf(head) - bytesOf(tail))
  const text = `${head}${inside}${tail}`
  return bytesOf(text) + 2 <= room ? text : undefined
}

const renderWith =
  (renderData: (text: string, longest?: number) => string) =>
  (line: Line): string =>
    line.map((part) => (part.kind === 'data' ? renderData(part.text, part.longest) : renderOurs(part))).join('')

const renderLine = renderWith(markdownData)

const renderCell = renderWith(markdownCellData)

const renderOurs = ({ text, strong }: Extract<Inline, { kind: 'ours' }>): string =>
  strong ? `**${markdownWords(text)}**` : markdownWords(text)

/** For a line that stands inside HTML. */
export const lineToHtml = (line: Line): string => line.map(({ kind, text }) => (kind === 'data' ? htmlData(text) : htmlText(text))).join('')
