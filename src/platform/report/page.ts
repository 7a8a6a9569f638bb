import { codeOf, htmlText, htmlUntrusted } from '../core/escape.ts'
import { type Line, toPlainText, untrustedSentence } from '../core/line.ts'
import { version } from '../core/version.ts'
import { type Block, type BlockOf, type LayoutTile, markSigns, statusStyles, tileMarks, toTable, verdictLine } from './blocks.ts'
import { type ChartSeries, hasRunningTotal, toSeries, undrawnLimits } from './chart-series.ts'
import { pageScript, pageScriptHash, pageStyle } from './page-assets.ts'

/** Loads nothing and runs only its own script. */
export function renderPage(title: string, blocks: readonly Block[]): string {
  const charts: ChartSeries[] = []
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
<script type="application/json" id="charts">${JSON.stringify(charts).replace(/[<>&\u2028\u2029]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)}</script>
<script>${pageScript}</script>
</body>
</html>
`
}

const renderBlocks = (blocks: readonly Block[], charts: ChartSeries[]) => blocks.map((block) => blockHtml(block, charts)).join('\n')

function blockHtml(block: Block, charts: ChartSeries[]): string {
  switch (block.kind) {
    case 'verdict':
      return `<h1 class="${block.status}"><span class="word">${statusStyles[block.status].word}</span>${lineToHtml(verdictLine(block))}</h1>`
    case 'paragraph':
      return `<p>${lineToHtml(block.line)}</p>`
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${lineToHtml(item)}</li>`).join('')}</ul>`
    case 'facts':
      return `<dl class="facts">${block.facts.map(({ label, value }) => `<div${toPlainText(value).length > 35 ? ' class="long"' : ''}><dt>${htmlText(label)}</dt><dd>${lineToHtml(value)}</dd></div>`).join('')}</dl>`
    case 'table':
      return tableHtml(block)
    case 'diagnostics':
      return tableHtml(toTable(block))
    case 'diff':
      return `<pre>${block.lines.map(({ sign, text }) => `<${diffTags[sign]}>${htmlText(`${sign} ${text}`)}</${diffTags[sign]}>`).join('\n')}</pre>`
    case 'chart':
      return chartHtml(block, charts)
    case 'layout':
      return renderLayout(block)
    case 'details':
      return `<details><summary>${htmlText(block.title)}</summary>\n${renderBlocks(block.blocks, charts)}</details>`
    case 'footer':
      return `<p class="about">${lineToHtml(block.line)}</p>`
    case 'message':
      return block.text
        .split(/\n+/)
        .map((line) => `<p>${lineToHtml(untrustedSentence(line))}</p>`)
        .join('')
    case 'preformatted':
      return `<pre>${block.text.split('\n').map(htmlText).join('\n')}</pre>`
  }
}

const diffTags = { '+': 'ins', '-': 'del', '~': 'mark', ' ': 'span' } as const

function tableHtml({ title, columns, rows, statuses = [] }: BlockOf<'table'>) {
  const side = (column: number, cell: Line = []): string => {
    if (columns[column]?.align === 'right') return ' class="right"'
    return isShort(cell) ? ' class="short"' : ''
  }
  const head = columns.map((column, i) => `<th scope="col"${side(i)}>${htmlText(column.title)}</th>`).join('')
  const body = rows.map(
    (cells, row) =>
      `<tr${statuses[row] === undefined || statuses[row] === 'pass' ? '' : ` class="${statuses[row]}"`}>${cells.map((cell, i) => `<td${side(i, cell)}${sortKey(cell)}>${lineToHtml(cell)}</td>`).join('')}</tr>`,
  )
  const heading = title === undefined ? '' : `<h2>${htmlText(title)}</h2>\n`
  return `${heading}<div class="scroll" tabindex="0"><table class="sortable"><thead><tr>${head}</tr></thead>\n<tbody>${body.join('\n')}</tbody></table></div><p class="hint more">Scroll sideways for more columns →</p>`
}

/** A day or a number from this project, which must not break at its dashes. */
const isShort = (cell: Line) => {
  const { length } = toPlainText(cell)
  return length > 0 && length <= 32 && cell.every(({ kind }) => kind === 'trusted')
}

// `1,234.5`, `<0.01`, `1.2 million`, `12.3%` and `█░ 12.3%` sort as numbers, `1 – 21 Nov 2026` by its last day, and untrusted text as text.
function sortKey(cell: Line) {
  if (cell.some(({ kind }) => kind === 'untrusted')) return ''
  const text = toPlainText(cell)
    .replaceAll('\u00a0', ' ')
    .replace(/ million$/, 'e6')
  const number = /^(?:[█░]+ )?[<>]?([+-]?[\d,]+(?:\.\d+)?(?:e6)?)%?$/.exec(text)?.[1]?.replaceAll(',', '')
  const day = /\b\d{1,2} [A-Z][a-z]{2} \d{4}$/.exec(text)?.[0]
  const key = number ?? (day && Date.parse(`${day} UTC`))
  return key === undefined ? '' : ` data-sort="${key}"`
}

/** The width is that of the page. */
const rowHeight = 14

const columnWidth = 20

function renderLayout({ layout: { grids, undrawn } }: BlockOf<'layout'>) {
  const used = new Set(grids.flatMap(({ before, after }) => [...before, ...after].flatMap(({ marks }) => marks)))
  const keys = tileMarks.filter((mark) => used.has(mark)).map((mark) => legendKey(`tile ${mark}`, `${markSigns[mark]} ${mark}`))
  const pictures = grids.map(
    ({ title, before, after }) =>
      `${title === '' ? '' : `<h3>${htmlText(title)}</h3>\n`}<div class="layouts">${drawTiles('Before', before)}${drawTiles('After', after)}</div>`,
  )
  const rest = undrawn === 0 ? '' : `\n<p class="hint">Not drawn: ${undrawn} tiles that stay as they are</p>`
  return `${pictures.join('\n')}\n${legend(keys)}${rest}`
}

function drawTiles(caption: string, tiles: readonly LayoutTile[]) {
  const height = Math.max(1, ...tiles.map(({ y, h }) => y + h)) * rowHeight
  const boxes = tiles.map(({ name, x, y, w, h, marks }) => {
    const [left, top, width, tall] = [x * columnWidth, y * rowHeight, w * columnWidth, h * rowHeight]
    const label = [name, ...(marks.length === 0 ? [] : [`(${marks.join(', ')})`])].join(' ')
    return `<svg x="${left}" y="${top}" width="${width}" height="${tall}"><title>${htmlText(label)}</title><rect x="1" y="1" width="${width - 2}" height="${tall - 2}" class="${['tile', ...marks].join(' ')}"/><text x="8" y="${Math.min(18, tall - 3)}">${htmlText([...marks.map((mark) => markSigns[mark]), name].join(' '))}</text></svg>`
  })
  return `<figure><figcaption>${caption}</figcaption><svg viewBox="0 0 ${24 * columnWidth} ${height}" role="img" aria-label="${htmlText(`Layout ${caption.toLowerCase()}`)}">${boxes.join('')}</svg></figure>`
}

function chartHtml(block: BlockOf<'chart'>, charts: ChartSeries[]) {
  const { title, unit, valueName = 'Used' } = block
  const chart = toSeries(block)
  charts.push(chart)
  const { forecast, spikes, limits, totals, finals } = chart
  const [hasForecast, hasProvisional] = [forecast.some((value) => value !== null), totals.some((total, i) => total !== finals[i])]
  const bars = [
    legendKey('final', hasProvisional ? 'Final' : valueName),
    ...(hasProvisional ? [legendKey('provisional', 'Provisional')] : []),
    ...(hasForecast ? [legendKey('forecast', 'Forecast')] : []),
    ...(spikes.length > 0 ? [legendKey('spike', 'Spike')] : []),
  ]
  const place = (kind: string, name: string): string =>
    `<div class="chart ${kind}" data-chart="${charts.length - 1}" role="img" aria-label="${htmlText(name)}"></div>\n<p class="hint readout">Point at the chart or tap it to see its numbers. <span class="mouse">Drag to zoom, double-click to reset.</span></p>`
  const daily = `<h2>${htmlText(title)}</h2>\n${legend(bars)}\n${place('bars', title)}`
  if (!hasRunningTotal(chart)) return daily
  const name = `${unit}, running total`
  const lines = [
    legendKey('used', valueName),
    ...(hasForecast ? [legendKey('expected', 'Forecast')] : []),
    ...limits.flatMap(({ label, value }, i) => (value === null ? [] : [legendKey(`limit ${['fail', 'warn'][i] ?? 'muted'}`, label)])),
    ...undrawnLimits(chart).map((text) => `<span>${htmlText(text)}</span>`),
  ]
  return `${daily}\n<h2>${htmlText(name)}</h2>\n${legend(lines)}\n${place('running', name)}`
}

const legendKey = (kind: string, text: string) => `<span class="key ${kind}">${htmlText(text)}</span>`

const legend = (keys: readonly string[]): string => `<p class="hint legend">${keys.join(' ')}</p>`

const lineToHtml = (line: Line) =>
  line
    .map((part) => {
      if (part.kind === 'untrusted') {
        const text = part.text === '' ? '<em>empty</em>' : htmlUntrusted(codeOf(part), part.maxLength)
        return part.href === undefined ? text : `<a href="${htmlText(new URL(part.href).href)}" rel="noreferrer">${text}</a>`
      }
      const text = part.text.split('\n').map(htmlText).join('<br>')
      return part.strong ? `<strong>${text}</strong>` : text
    })
    .join('')
