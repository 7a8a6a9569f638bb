import { beforeAll, describe, expect, it } from 'vitest'
import type { ChartLimit, Point } from '../../../../src/platform/report/blocks.ts'
import { renderChart } from '../../../../src/platform/report/mermaid.ts'
import { refusalsOf } from '../../../support/mermaid-oracle.ts'

const points = (values: readonly number[]): readonly Point[] =>
  values.map((value, i) => ({ label: new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(5, 10), value }))

interface More {
  readonly unit?: string
  readonly forecast?: readonly Point[]
  readonly limits?: readonly ChartLimit[]
}

/** What stands between the fences. */
const diagramOf = (values: readonly number[], { unit = 'Credits', ...more }: More = {}): string =>
  /```mermaid\n(.*)\n```$/s.exec(renderChart({ kind: 'chart', title: `${unit} per day`, unit, points: points(values), ...more }))?.[1] ??
  'no fences'

const series = (length: number) => Array.from({ length }, (_, i) => 10 + 5 * Math.sin(i))

const accepted: Readonly<Record<string, string>> = {
  'one point': diagramOf(series(1)),
  'two points': diagramOf(series(2)),
  'a month': diagramOf(series(31)),
  'as many points as a chart has': diagramOf(series(62)),
  'nothing but zeros': diagramOf([0, 0, 0]),
  'a zero among others': diagramOf([3, 0, 0.5]),
  'negative values': diagramOf([-1, 2]),
  'tiny values': diagramOf([1e-9, 1e-7, 0.000001]),
  'huge values': diagramOf([1e9, 1e15, 1e20]),
  'values beyond plain notation': diagramOf([1e21, 1e300]),
  'values far apart': diagramOf([1e-9, 1e12]),
  'values with long fractions': diagramOf([0.1 + 0.2, 1 / 3, 12_345.678_901_234]),
  'another unit': diagramOf(series(3), { unit: 'CHC' }),
  'a forecast and limits': diagramOf(series(3), {
    forecast: points(series(31)).slice(2),
    limits: [100, 200, 300].map((value) => ({ label: `Budget ${value}`, value })),
  }),
}

const month = diagramOf(series(31))

const refused: Readonly<Record<string, string>> = {
  'an unknown kind of diagram': month.replace('xychart-beta', 'xychart-gamma'),
  'an open list': month.replace(/\]$/, ''),
  'a word among the numbers': month.replace(/bar \[/, 'bar [x y, '),
  'an exponent': month.replace(/bar \[/, 'bar [1e+21, '),
  'an open quote': month.replace('y-axis "', 'y-axis '),
}

it('draws no limit far above the values, and says so in the legend', () => {
  const limits = [{ label: 'Budget 5,000.00 CHC', value: 5000 }]
  const text = renderChart({ kind: 'chart', title: 'CHC per day', unit: 'CHC', points: points([10, 20]), limits })
  expect(text.split('\n')[0]).toBe('**CHC, running total:** 🟦\u00a0Used · Budget 5,000.00 CHC, above the chart')
  expect(text).toContain('bar [10, 30]')
  expect(text).not.toContain('line [')
})

describe("Mermaid's own parser", () => {
  const cases = { ...accepted, ...refused }
  let refusals: ReadonlyMap<string, string | undefined>
  beforeAll(async () => {
    const found = await refusalsOf(Object.values(cases))
    refusals = new Map(Object.keys(cases).map((name, i) => [name, found[i]]))
  }, 60_000)

  it.each(Object.keys(accepted))('accepts the chart of %s', (name) => {
    expect(refusals.get(name)).toBeUndefined()
  })

  it.each(Object.keys(refused))('refuses %s', (name) => {
    expect(refusals.get(name)).toMatch(/error|No diagram type/i)
  })
})
