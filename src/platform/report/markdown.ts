import { formatLocation, type Location } from '../core/diagnostics.ts'
import { codeOf, htmlText, markdownBlock, markdownCellUntrusted, markdownDiff, markdownTrusted, markdownUntrusted } from '../core/escape.ts'
import { type Inline, joinAtMost, type Line, ownText, say, sliceLine, toPlainText, trusted, untrustedSentence } from '../core/line.ts'
import { capitalize, plural, printable } from '../core/text.ts'
import { type Block, type BlockOf, fold, locationText, paragraph, statusStyles, toTable, verdictLine } from './blocks.ts'
import { renderChart } from './mermaid.ts'

export type LinkTo = (location: Location) => string | undefined

const byteLength = (text: string): number => Buffer.byteLength(text)

const noteBytes = 200

const noteOn = (leftOut: number, noun: string, rest: string) => `*${plural(leftOut, noun)} did not fit. See ${rest}.*`

/** A short report keeps its verdict and what to know about it: these get the room that the others leave, in this order. */
const longKinds: readonly Block['kind'][] = ['table', 'diagnostics', 'diff', 'layout', 'details']

/**
 * Renders as many blocks and rows as fit into `maxBytes`: GitHub drops a summary that is too long. The footer goes first. Empty when not
 * even the footer fits. `rest` has the parts that are left out.
 */
export function renderMarkdown(
  blocks: readonly Block[],
  maxBytes = Number.POSITIVE_INFINITY,
  rest = 'the result file',
  linkTo?: LinkTo,
): string {
  const footer = blocks.map((block) => (block.kind === 'footer' ? `${lineMarkdown(block.line, linkTo)}\n` : '')).join('')
  const { text, leftOut } = renderFitting(blocks.flatMap(splitTitle).flatMap(foldLong), {
    room: maxBytes - noteBytes - byteLength(footer),
    rest,
    linkTo,
  })
  const note = leftOut === 0 ? '' : `${noteOn(leftOut, 'more section', rest)}\n${footer === '' ? '' : '\n'}`
  // Blocks leave room for both. Without room for any block, only the footer may fit, or nothing.
  const end = [`${note}${footer}`, footer].find((one) => byteLength(text) + byteLength(one) <= maxBytes) ?? ''
  return `${text}${end}`
}

const maxTitleLength = 80

/** The end of a sentence, or else of a clause, or else of a part. A name before a colon says nothing by itself. */
const titleEnds = [/(?<=\.) |; | · /g, /(?<!_): /g, /[,:] | (?=\()/g]

/** What is too long for a title is below it, unless the table of problems has it. */
function splitTitle(block: Block, _: number, blocks: readonly Block[]): readonly Block[] {
  if (block.kind !== 'verdict') return [block]
  const line = verdictLine(block)
  const own = ownText(line).replaceAll(/\([^()]*\)/g, (inner) => `(${'_'.repeat(inner.length - 2)})`)
  const ends = titleEnds.flatMap((end) => [...own.slice(0, maxTitleLength + 1).matchAll(end)].slice(-1))
  const [end] = own.length > maxTitleLength ? ends : []
  if (end === undefined) return [{ ...block, line, reason: undefined }]
  const rest = sliceLine(line, end.index + end[0].length)
  const text = toPlainText(rest).replace(/… \(\d+ more characters\)$/, '')
  const below = /^\([^()]*\)$/.test(text) ? sliceLine(rest, 1, text.length - 1) : rest
  const isListed = blocks.some((one) => one.kind === 'diagnostics' && one.diagnostics.some(({ message }) => message.includes(text)))
  return [{ ...block, line: sliceLine(line, 0, end.index), reason: undefined }, ...(isListed ? [] : [paragraph(startSentence(below))])]
}

const startSentence = (line: Line): Line =>
  line.map((part, i) => (i === 0 && part.kind === 'trusted' && /^[a-z]+ /.test(part.text) ? trusted(capitalize(part.text)) : part))

const maxOpenItems = 20
const maxOpenLines = 60

function foldLong(block: Block): readonly Block[] {
  if (block.kind === 'diagnostics') return foldLong(toTable(block))
  if (block.kind === 'table' && block.rows.length > maxOpenItems) {
    const { title, ...table } = block
    const more = `${title === undefined ? '' : `${title}: `}${plural(table.rows.length - maxOpenItems, 'more row')}`
    return [{ ...block, rows: table.rows.slice(0, maxOpenItems) }, fold(more, { ...table, rows: table.rows.slice(maxOpenItems) })]
  }
  if (block.kind !== 'diff') return [block]
  const { lines } = block
  const heads = lines.flatMap(({ isHead }, i) => (isHead ? [i] : []))
  const whole = heads.findLast((i) => i > 0 && i <= maxOpenLines) ?? maxOpenLines
  // A fold of a few lines would hide more than it saves.
  const byLines = lines.length > maxOpenLines + maxOpenItems ? whole : lines.length
  const end = Math.min(heads[maxOpenItems] ?? lines.length, byLines)
  if (end === lines.length) return [block]
  const folded = heads.filter((i) => i >= end).length
  const more = folded > 0 ? plural(folded, 'more object') : plural(lines.length - end, 'more line')
  return [{ ...block, lines: lines.slice(0, end) }, fold(more, { ...block, lines: lines.slice(end), places: [] })]
}

function renderFitting(blocks: readonly Block[], { room, ...surroundings }: Space) {
  const body = blocks.filter((block) => block.kind !== 'footer')
  const pieces = new Map<Block, string>()
  let left = room
  for (const block of body.toSorted((a, b) => longKinds.indexOf(a.kind) - longKinds.indexOf(b.kind))) {
    const piece = blockMarkdown(block, { room: left, ...surroundings })
    if (piece === undefined || byteLength(piece) + 2 > left) continue
    pieces.set(block, `${piece}\n\n`)
    left -= byteLength(piece) + 2
  }
  return { text: body.map((block) => pieces.get(block) ?? '').join(''), leftOut: body.length - pieces.size }
}

interface Space {
  readonly room: number
  readonly rest: string
  readonly linkTo: LinkTo | undefined
}

/** Undefined when no part of the block fits. */
function blockMarkdown(block: Exclude<Block, { kind: 'footer' }>, space: Space) {
  const { linkTo } = space
  switch (block.kind) {
    case 'table':
      return tableMarkdown(block, space)
    case 'diagnostics':
      return tableMarkdown(toTable(block), space)
    case 'diff':
      return renderDiff(block, space)
    case 'details':
      return renderDetails(block, space)
    case 'verdict':
      return `### ${statusStyles[block.status].sign} ${lineMarkdown(block.line, linkTo)}`
    case 'paragraph':
      return lineMarkdown(block.line, linkTo)
    case 'list':
      return block.items.map((item) => `- ${lineMarkdown(item, linkTo)}`).join('\n')
    case 'facts':
      return renderFacts(block, linkTo)
    case 'chart':
      return renderChart(block)
    case 'layout':
      return markdownBlock(block.layout.lines.join('\n'))
    case 'message':
      return block.text
        .split('\n')
        .map((line) => renderMessageLine(line, block.locations, linkTo))
        .join('\n\n')
    case 'preformatted':
      return markdownBlock(block.text)
  }
}

// A row of facts is easiest to read. A row that is wider than a page of ordinary width becomes a column.
function renderFacts({ facts }: BlockOf<'facts'>, linkTo: LinkTo | undefined) {
  const width = facts.reduce((sum, { label, value }) => sum + Math.max(label.length, toPlainText(value).length) + 3, 0)
  const [labels, values] = [facts.map(({ label }) => markdownTrusted(label)), facts.map(({ value }) => renderCell(value, linkTo))]
  if (width <= 90) return [tableRow(labels), tableRow(labels.map(() => '---')), tableRow(values)].join('\n')
  return ['| Field | Value |', '| --- | --- |', ...labels.map((label, i) => tableRow([label, values[i] ?? '']))].join('\n')
}

const tableRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

function tableMarkdown({ title, columns, rows }: BlockOf<'table'>, { room, rest, linkTo }: Space) {
  const head = [
    ...(title === undefined ? [] : [`**${markdownTrusted(title)}**\n`]),
    tableRow(columns.map((column) => markdownTrusted(column.title))),
    tableRow(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
  ].join('\n')
  const written = takeFitting(rows, (cells) => tableRow(cells.map((cell) => renderCell(cell, linkTo))), room - byteLength(head))
  const leftOut = rows.length - written.length
  if (leftOut === rows.length) return undefined
  const text = [head, ...written].join('\n')
  return leftOut === 0 ? text : `${text}\n\n${noteOn(leftOut, 'more row', rest)}`
}

function takeFitting<T>(items: readonly T[], render: (item: T) => string, room: number) {
  const lines: string[] = []
  let size = noteBytes
  for (const item of items) {
    const line = render(item)
    size += byteLength(line) + 1
    if (size > room) break
    lines.push(line)
  }
  return lines
}

function renderDiff({ lines, places = [] }: BlockOf<'diff'>, { room, rest, linkTo }: Space) {
  const linked = places.filter((line) => line.some((part) => linkAddress(part, linkTo) !== undefined))
  const links = linked.length === 0 ? '' : `\n\n${lineMarkdown(say`In the files: ${joinAtMost(20, linked)}`, linkTo)}`
  // GitHub colors lines that begin with an exclamation mark.
  const written = takeFitting(lines, ({ sign, text }) => `${sign === '~' ? '!' : sign} ${printable(text)}`, room - 20 - byteLength(links))
  const leftOut = lines.length - written.length
  if (leftOut === lines.length) return undefined
  const note = leftOut === 0 ? '' : `\n\n${noteOn(leftOut, 'more line', rest)}`
  return `${markdownDiff(written)}${note}${links}`
}

function renderDetails({ title, blocks }: BlockOf<'details'>, { room, rest, linkTo }: Space) {
  const head = `<details><summary>${htmlText(title)}</summary>\n\n`
  const tail = '</details>'
  const { text, leftOut } = renderFitting(blocks, { room: room - noteBytes - byteLength(head) - byteLength(tail), rest, linkTo })
  if (text === '') return undefined
  return `${head}${text}${leftOut === 0 ? '' : `${noteOn(leftOut, 'more section', rest)}\n`}${tail}`
}

const renderWith =
  (renderUntrusted: (text: string, maxLength?: number) => string) =>
  (line: Line, linkTo: LinkTo | undefined): string =>
    line
      .map((part) => {
        if (part.kind === 'trusted') return part.strong ? `**${markdownTrusted(part.text)}**` : markdownTrusted(part.text)
        const text = renderUntrusted(codeOf(part), part.maxLength)
        const address = linkAddress(part, linkTo)
        return address === undefined
          ? text
          : `[${text}](${new URL(address).href.replace(/[()[\]<>|`*_\\]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)})`
      })
      .join('')

const linkAddress = (part: Inline, linkTo: LinkTo | undefined) =>
  part.kind === 'trusted' ? undefined : (part.href ?? (part.location && linkTo?.(part.location)))

const lineMarkdown = renderWith(markdownUntrusted)

const renderMessageLine = (text: string, locations: readonly Location[] = [], linkTo?: LinkTo) => {
  const [, bullet = '', words = ''] = /^ *(- )?(.*)$/s.exec(text) ?? []
  if (words === '') return ''
  const location = locations.find((one) => words.startsWith(`${formatLocation(one)}: `))
  const line =
    location === undefined
      ? untrustedSentence(words)
      : say`${locationText(location)}: ${untrustedSentence(words.slice(formatLocation(location).length + ': '.length))}`
  return `${bullet}${lineMarkdown(line, linkTo)}`
}

/** A row of a table is one line. Untrusted text has no line breaks here. */
const renderCell = (line: Line, linkTo: LinkTo | undefined) => renderWith(markdownCellUntrusted)(line, linkTo).replaceAll('\n', ' ')
