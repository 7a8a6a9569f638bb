import { markdownTrusted } from '../core/escape.ts'
import type { BlockOf } from './blocks.ts'
import { hasRunningTotal, toSeries, undrawnLimits } from './chart-series.ts'

interface Plot {
  readonly kind: 'bar' | 'line'
  readonly name: string
  readonly values: readonly number[]
}

/** Readable in light and dark mode. Mermaid has no legend, so these squares are one. */
const chartColors = [
  { square: '🟦', color: '#0969da' },
  { square: '🟧', color: '#e16f24' },
  { square: '🟥', color: '#d1242f' },
  { square: '🟨', color: '#d4a72c' },
  { square: '🟪', color: '#8250df' },
] as const

/** The running total where a limit or a forecast is for the sum. */
export function renderChart(block: BlockOf<'chart'>): string {
  const { unit, valueName = 'Used' } = block
  const series = toSeries(block)
  const { labels, forecast, limits } = series
  const known = series.totals.flatMap((value) => value ?? [])
  if (!hasRunningTotal(series))
    return `**${markdownTrusted(block.title)}**\n\n${xyChart(labels, unit, [{ kind: 'bar', name: valueName, values: known }])}`
  const plots: readonly Plot[] = [
    { kind: 'bar', name: valueName, values: stackUp(known) },
    // A line begins at the first label.
    {
      kind: 'line',
      name: 'Forecast',
      values: forecast.every((value) => value === null) ? [] : stackUp(labels.map((_, i) => forecast[i] ?? known[i] ?? 0)),
    },
    ...limits.map(({ label, value }): Plot => ({ kind: 'line', name: label, values: value === null ? [] : labels.map(() => value) })),
  ]
  const legend = [
    ...plots.flatMap(({ name, values }, i) => (values.length === 0 ? [] : `${chartColors[i]?.square}\u00a0${markdownTrusted(name)}`)),
    ...undrawnLimits(series).map((text) => `· ${markdownTrusted(text)}`),
  ]
  return `**${markdownTrusted(unit)}, running total:** ${legend.join(' ')}\n\n${xyChart(labels, unit, plots)}`
}

function stackUp(values: readonly number[]) {
  let sum = 0
  return values.map((value) => {
    sum += value
    return sum
  })
}

/** From zero, because another start of the axis would make small changes look large. */
function xyChart(labels: readonly string[], unit: string, plots: readonly Plot[]): string {
  const drawn = plots.flatMap((plot, i) => (plot.values.length === 0 ? [] : { ...plot, color: chartColors[i]?.color }))
  const largest = Math.max(1e-6, ...drawn.flatMap(({ values }) => values))
  // Lower than Mermaid's default, so that the tables stay visible.
  const settings = {
    xyChart: { width: 900, height: 300 },
    themeVariables: { xyChart: { plotColorPalette: drawn.map(({ color }) => color).join(', '), backgroundColor: 'transparent' } },
  }
  return [
    '```mermaid',
    `%%{init: ${JSON.stringify(settings)}}%%`,
    'xychart-beta',
    `    x-axis [${axisLabels(labels).join(', ')}]`,
    `    y-axis "${unit}" 0 --> ${shortNumber(largest * 1.05)}`,
    ...drawn.map(({ kind, values }) => `    ${kind} [${values.map((value) => shortNumber(Math.max(0, value))).join(', ')}]`),
    '```',
  ].join('\n')
}

// Mermaid draws one bar for each different label. Omitted labels are numbers in zero-width digits, because Mermaid trims ordinary spaces.
function axisLabels(labels: readonly string[]) {
  // More labels than this overlap. The axis is 820 pixels wide, a character about 8, and a gap is 16.
  const shown = Math.min(12, Math.floor(820 / (8 * Math.max(...labels.map((label) => label.length)) + 16)))
  const step = Math.ceil(labels.length / Math.max(1, shown))
  return labels.map((label, i) =>
    i % step === 0 ? `"${label}"` : `"${i.toString(2).replaceAll('0', '\u200b').replaceAll('1', '\u200c')}"`,
  )
}

// Mermaid does not support exponents, and toFixed writes one from 1e21 on. All numbers of that size are whole.
const shortNumber = (value: number) => (value < 1e21 ? value.toFixed(value < 1 ? 6 : 3).replace(/\.?0+$/, '') : String(BigInt(value)))
