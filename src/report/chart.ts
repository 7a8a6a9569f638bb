// Owns charts in text: a sparkline for every place, and Mermaid's bars where they are drawn.
import type { Block, Point } from './blocks.ts'

const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/** One character for each point, from zero to the largest value. */
export function sparkline(points: readonly Point[]): string {
  const largest = Math.max(0, ...points.map(({ value }) => value))
  return points.map(({ value }) => levels[largest === 0 ? 0 : Math.round((Math.max(0, value) / largest) * (levels.length - 1))]).join('')
}

/** Ten steps of a share in percent; what is above 100 looks like 100. */
export function shareBar(percent: number): string {
  const full = Math.min(10, Math.max(0, Math.round(percent / 10)))
  return '█'.repeat(full) + '░'.repeat(10 - full)
}

/** GitHub's blue, readable on light and dark; lower than Mermaid's default, so that the tables below stay in sight. */
const look =
  '%%{init: {"xyChart": {"width": 900, "height": 320}, "themeVariables": {"xyChart": {"plotColorPalette": "#0969da", "backgroundColor": "transparent"}}}}%%'

/** Bars from zero; an axis that starts elsewhere would make small changes look large. */
export function barChart({ title, unit, points }: Extract<Block, { kind: 'chart' }>): string {
  const largest = Math.max(1e-6, ...points.map(({ value }) => value))
  return [
    '```mermaid',
    look,
    'xychart-beta',
    `    title "${title}"`,
    `    x-axis [${thinned(points).join(', ')}]`,
    `    y-axis "${unit}" 0 --> ${short(largest * 1.05)}`,
    `    bar [${points.map(({ value }) => short(Math.max(0, value))).join(', ')}]`,
    '```',
  ].join('\n')
}

/** More labels than this run into each other. */
const mostLabels = 12

// Mermaid draws every label, and one bar for each different one. Those that are left out are a number in zero-width digits;
// ordinary spaces would be trimmed and fall together.
function thinned(points: readonly Point[]): readonly string[] {
  const step = Math.ceil(points.length / mostLabels)
  return points.map(({ label }, i) => (i % step === 0 ? `"${label}"` : `"${invisibleNumber(i)}"`))
}

const invisibleNumber = (value: number): string => value.toString(2).replaceAll('0', '\u200b').replaceAll('1', '\u200c')

// Mermaid knows no exponents; from 1e21 on, which are all whole numbers, toFixed writes one.
const short = (value: number): string => (value < 1e21 ? value.toFixed(value < 1 ? 6 : 3).replace(/\.?0+$/, '') : String(BigInt(value)))
