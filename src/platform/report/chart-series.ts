import { printable } from '../core/text.ts'
import type { BlockOf, Point } from './blocks.ts'

/** The page's script reads it as JSON. */
export interface ChartSeries {
  readonly labels: readonly string[]
  readonly unit: string
  readonly valueName: string
  /** Null for points that are only expected. */
  readonly totals: readonly (number | null)[]
  readonly finals: readonly (number | null)[]
  /** Null for points whose values are known. */
  readonly forecast: readonly (number | null)[]
  readonly spikes: readonly number[]
  /** Null for a limit far above the values, which would flatten the curve. Only the legend has it. */
  readonly limits: readonly { readonly label: string; readonly value: number | null }[]
}

export function toSeries({ unit, valueName = 'Used', points, forecast = [], limits = [] }: BlockOf<'chart'>): ChartSeries {
  const known = new Map(points.map((point) => [point.label, point]))
  const expected = new Map(forecast.map(({ label, value }) => [label, value]))
  const labels = [...new Set([...known.keys(), ...expected.keys()])]
  const ofPoints = (value: (point: Point) => number) =>
    labels.map((label) => {
      const point = known.get(label)
      return point === undefined ? null : value(point)
    })
  const highest = labels.reduce((sum, label) => sum + (expected.get(label) ?? known.get(label)?.value ?? 0), 0)
  return {
    labels: labels.map(printable),
    unit: printable(unit),
    valueName: printable(valueName).toLowerCase(),
    totals: ofPoints(({ value }) => value),
    finals: ofPoints(({ value, finalValue = value }) => finalValue),
    forecast: labels.map((label) => expected.get(label) ?? null),
    spikes: labels.flatMap((label, i) => (known.get(label)?.isSpike ? [i] : [])),
    limits: limits.map(({ label, value }) => ({ label: printable(label), value: value > 3 * highest ? null : value })),
  }
}

/** A limit and a forecast are for the sum of all points. */
export const hasRunningTotal = ({ forecast, limits }: ChartSeries): boolean => limits.length > 0 || forecast.some((value) => value !== null)

export const undrawnLimits = ({ limits }: ChartSeries): readonly string[] =>
  limits.flatMap(({ label, value }) => (value === null ? [`${label}, above the chart`] : []))
