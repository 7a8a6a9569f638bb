// Owns charts in text: a sparkline for every place, and Mermaid's bars where they are drawn.
import type { Block, Point } from './blocks.ts'

const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/** One character for each point, from zero to the largest value. */
export function sparkline(points: readonly Point[]): string {
  const largest = Math.max(0, ...points.map(({ value }) => value))
  return points.map(({ value }) => levels[largest === 0 ? 0 : Math.round((Math.max(0, value) / largest) * (levels.length - 1))]).join('')
}

/** Bars from zero; an axis that starts elsewhere would make small changes look large. */
export function dayChart({ title, unit, points }: Extract<Block, { kind: 'chart' }>): string {
  const largest = Math.max(1e-6, ...points.map(({ value }) => value))
  return [
    '```mermaid',
    'xychart-beta',
    `    title "${title}"`,
    `    x-axis [${points.map(({ label }) => `"${label}"`).join(', ')}]`,
    `    y-axis "${unit}" 0 --> ${short(largest * 1.05)}`,
    `    bar [${points.map(({ value }) => short(Math.max(0, value))).join(', ')}]`,
    '```',
  ].join('\n')
}

// Mermaid knows no exponents.
const short = (value: number): string => value.toFixed(value < 1 ? 6 : 3).replace(/\.?0+$/, '')
