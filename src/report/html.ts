// Owns blocks as HTML for a page of our own. Every mark of foreign text is an entity; see escape.ts.
import { printable } from '../core/text.ts'
import { type Block, isEmpty, type Line, type Status, toPlainText, toTable } from './blocks.ts'
import { htmlData, htmlText } from './escape.ts'

export interface PageChart {
  readonly labels: readonly string[]
  readonly unit: string
  readonly totals: readonly number[]
  readonly settled: readonly number[]
}

export interface HtmlBody {
  readonly html: string
  /** What the page's script draws, in the order of their places. */
  readonly charts: readonly PageChart[]
}

export function renderHtml(blocks: readonly Block[]): HtmlBody {
  const charts: PageChart[] = []
  const html = renderBlocks(blocks, charts)
  return { html, charts }
}

const renderBlocks = (blocks: readonly Block[], charts: PageChart[]): string =>
  blocks
    .filter((block) => !isEmpty(block))
    .map((block) => renderBlock(block, charts))
    .join('\n')

function renderBlock(block: Block, charts: PageChart[]): string {
  switch (block.kind) {
    case 'verdict':
      return `<h1 class="${block.status}"><span class="word">${words[block.status]}</span>${lineToHtml(block.line)}</h1>`
    case 'paragraph':
      return `<p>${lineToHtml(block.line)}</p>`
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${lineToHtml(item)}</li>`).join('')}</ul>`
    case 'facts':
      return `<dl class="facts">${block.facts.map(({ label, value }) => `<div><dt>${htmlText(label)}</dt><dd>${lineToHtml(value)}</dd></div>`).join('')}</dl>`
    case 'table':
      return renderTable(block)
    case 'diagnostics':
      return renderTable(toTable(block))
    case 'diff':
      return `<pre>${block.lines.map(({ sign, text }) => wrapped(diffTags[sign], htmlText(`${sign} ${text}`))).join('\n')}</pre>`
    case 'chart':
      return renderChart(block, charts)
    case 'details':
      return `<details><summary>${htmlText(block.title)}</summary>\n${renderBlocks(block.blocks, charts)}</details>`
    case 'preformatted':
      return `<pre>${block.text.split('\n').map(htmlText).join('\n')}</pre>`
  }
}

/** Tags that say without colour what is new and what goes. */
const diffTags = { '+': 'ins', '-': 'del', '~': 'mark', ' ': 'span' } as const

const wrapped = (tag: string, html: string): string => `<${tag}>${html}</${tag}>`

const words: Readonly<Record<Status, string>> = { pass: 'Passed', warn: 'Warning', fail: 'Failed', error: 'Error' }

function renderTable({ title, columns, rows }: Extract<Block, { kind: 'table' }>): string {
  const side = (column: number, cell: Line = []): string => {
    if (columns[column]?.align === 'right') return ' class="right"'
    return isShort(cell) ? ' class="short"' : ''
  }
  const head = columns.map((column, i) => `<th scope="col"${side(i)}>${htmlText(column.title)}</th>`).join('')
  const body = rows.map(
    (cells) => `<tr>${cells.map((cell, i) => `<td${side(i, cell)}${sortKey(cell)}>${lineToHtml(cell)}</td>`).join('')}</tr>`,
  )
  const heading = title === undefined ? '' : `<h2>${htmlText(title)}</h2>\n`
  return `${heading}<div class="scroll"><table class="sortable"><thead><tr>${head}</tr></thead>\n<tbody>${body.join('\n')}</tbody></table></div>`
}

/** A day or a number of ours, which would break at its dashes. */
const isShort = (cell: Line): boolean => {
  const { length } = toPlainText(cell)
  return length > 0 && length <= 32 && cell.every(({ kind }) => kind === 'ours')
}

// `1,234.5`, `12.3 %` and `█░ 12.3 %` sort as the numbers that they are, `1 – 21 Nov 2026` by its last day; foreign text as text.
function sortKey(cell: Line): string {
  if (cell.some(({ kind }) => kind === 'data')) return ''
  const text = toPlainText(cell).replaceAll('\u00a0', ' ')
  const number = /^(?:[█░]+ )?([+-]?[\d,]+(?:\.\d+)?)(?: %)?$/.exec(text)?.[1]?.replaceAll(',', '')
  const day = /\b\d{1,2} [A-Z][a-z]{2} \d{4}$/.exec(text)?.[0]
  const key = number ?? (day && Date.parse(`${day} UTC`))
  return key === undefined ? '' : ` data-sort="${key}"`
}

function renderChart({ title, unit, points }: Extract<Block, { kind: 'chart' }>, charts: PageChart[]): string {
  charts.push({
    labels: points.map(({ label }) => printable(label)),
    unit: printable(unit),
    totals: points.map(({ value }) => value),
    settled: points.map(({ value, settled }) => settled ?? value),
  })
  const hasOpen = points.some(({ value, settled = value }) => settled !== value)
  const hint = `${hasOpen ? 'Strong bars are final, pale ones can still change. ' : ''}<span class="mouse">Drag to zoom, double-click to see all.</span>`
  return `<h2>${htmlText(title)}</h2>\n<div class="chart" data-chart="${charts.length - 1}" role="img" aria-label="${htmlText(title)}"></div>\n<p class="hint">${hint}</p>`
}

const lineToHtml = (line: Line): string =>
  line
    .map((part) => {
      if (part.kind === 'data') return part.text === '' ? '<em>empty</em>' : htmlData(part.text, part.longest)
      const text = htmlText(part.text.replaceAll(' %', '\u00a0%'))
      return part.strong ? `<strong>${text}</strong>` : text
    })
    .join('')
