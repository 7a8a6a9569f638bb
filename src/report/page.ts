import { htmlText, htmlUntrusted } from '../core/escape.ts'
import { type Line, toPlainText } from '../core/line.ts'
import { printable } from '../core/text.ts'
import { version } from '../core/version.ts'
import { type Block, type BlockOf, type Status, toTable } from './blocks.ts'
import { pageScript, pageScriptHash, pageStyle } from './page-assets.ts'

/** Renders a report as one self-contained page. The page loads nothing and runs only its own script. */
export function renderPage(title: string, blocks: readonly Block[]): string {
  const charts: PageChart[] = []
  const html = renderBlocks(blocks, charts)
  // Even with a bug, the page cannot load or send anything. uPlot sets styles on its elements, which needs 'unsafe-inline'.
  const policy = `default-src 'none'; script-src 'sha256-${pageScriptHash}'; style-src 'unsafe-inline'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${htmlText(title)} · Watchkeeper</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
${html}
</main>
<footer>Watchkeeper ${version}. All days are UTC days.</footer>
<script type="application/json" id="charts">${scriptJson(charts)}</script>
<script>${pageScript}</script>
</body>
</html>
`
}

/** JSON without characters that end an HTML element. */
const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A chart as the page's script draws it. */
interface PageChart {
  readonly labels: readonly string[]
  readonly unit: string
  readonly totals: readonly number[]
  readonly finals: readonly number[]
}

const renderBlocks = (blocks: readonly Block[], charts: PageChart[]): string => blocks.map((block) => renderBlock(block, charts)).join('\n')

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
    case 'footer':
      return `<p class="about">${lineToHtml(block.line)}</p>`
    case 'preformatted':
      return `<pre>${block.text.split('\n').map(htmlText).join('\n')}</pre>`
  }
}

/** Tags that show without color which lines are added and removed. */
const diffTags = { '+': 'ins', '-': 'del', '~': 'mark', ' ': 'span' } as const

const wrapped = (tag: string, html: string): string => `<${tag}>${html}</${tag}>`

const words: Readonly<Record<Status, string>> = { pass: 'Passed', warn: 'Warning', fail: 'Failed', error: 'Error' }

function renderTable({ title, columns, rows }: BlockOf<'table'>): string {
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

/** A day or a number from this project, which must not break at its dashes. */
const isShort = (cell: Line): boolean => {
  const { length } = toPlainText(cell)
  return length > 0 && length <= 32 && cell.every(({ kind }) => kind === 'trusted')
}

// `1,234.5`, `<0.01`, `12.3%` and `█░ 12.3%` sort as numbers, `1 – 21 Nov 2026` by its last day, and untrusted text as text.
function sortKey(cell: Line): string {
  if (cell.some(({ kind }) => kind === 'untrusted')) return ''
  const text = toPlainText(cell).replaceAll('\u00a0', ' ')
  const number = /^(?:[█░]+ )?[<>]?([+-]?[\d,]+(?:\.\d+)?)%?$/.exec(text)?.[1]?.replaceAll(',', '')
  const day = /\b\d{1,2} [A-Z][a-z]{2} \d{4}$/.exec(text)?.[0]
  const key = number ?? (day && Date.parse(`${day} UTC`))
  return key === undefined ? '' : ` data-sort="${key}"`
}

function renderChart({ title, unit, points }: BlockOf<'chart'>, charts: PageChart[]): string {
  charts.push({
    labels: points.map(({ label }) => printable(label)),
    unit: printable(unit),
    totals: points.map(({ value }) => value),
    finals: points.map(({ value, finalValue }) => finalValue ?? value),
  })
  const hasOpen = points.some(({ value, finalValue = value }) => finalValue !== value)
  const hint = `${hasOpen ? 'Dark bars are final. Light bars are provisional. ' : ''}<span class="mouse">Drag to zoom, double-click to reset.</span>`
  return `<h2>${htmlText(title)}</h2>\n<div class="chart" data-chart="${charts.length - 1}" role="img" aria-label="${htmlText(title)}"></div>\n<p class="hint">${hint}</p>`
}

const lineToHtml = (line: Line): string =>
  line
    .map((part) => {
      if (part.kind === 'untrusted') return part.text === '' ? '<em>empty</em>' : htmlUntrusted(part.text, part.maxLength)
      const text = htmlText(part.text)
      return part.strong ? `<strong>${text}</strong>` : text
    })
    .join('')
