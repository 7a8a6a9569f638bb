import * as z from 'zod/v3'

export const aggregateFunctions = [
  'avg',
  'count',
  'count_distinct',
  'last_value',
  'max',
  'min',
  'quantile',
  'sum',
  'any',
  'none',
  // For sums of metrics.
  'increase',
] as const

export const aggregateFunction = z.enum(aggregateFunctions)

export const metricType = z.nativeEnum({
  gauge: 'gauge',
  histogram: 'histogram',
  sum: 'sum',
  summary: 'summary',
  'exponential histogram': 'exponential histogram',
} as const)

/** `promql` belongs to tiles that this API does not show, and is accepted everywhere all the same. */
export const queryLanguage = z.enum(['sql', 'lucene', 'promql']).optional()

const hues = ['blue', 'orange', 'red', 'cyan', 'green', 'pink', 'purple', 'light-blue', 'brown', 'gray'] as const
const semanticColors = ['success', 'warning', 'error'] as const

type ChartColor = `chart-${(typeof hues)[number] | (typeof semanticColors)[number]}`

const chartColors = [...hues, ...semanticColors].map((name): ChartColor => `chart-${name}`) as [ChartColor, ...ChartColor[]]

export const color = z.enum(chartColors)

/** Numbers that tiles of older versions have in their place: `chart-1` was green. */
const numberedColors: readonly ChartColor[] = [
  'chart-green',
  'chart-blue',
  'chart-orange',
  'chart-red',
  'chart-cyan',
  'chart-pink',
  'chart-purple',
  'chart-light-blue',
  'chart-brown',
  'chart-gray',
]

/** The color under its name of today, or undefined for what is no color. */
export function toCurrentColor(stored: unknown): ChartColor | undefined {
  if (typeof stored !== 'string') return undefined
  const number = /^chart-([1-9]|10)$/.exec(stored)?.[1]
  if (number !== undefined) return numberedColors[Number(number) - 1]
  return chartColors.find((name) => name === stored)
}

const units = (
  'bytes_iec bytes_si bits_iec bits_si kibibytes kilobytes mebibytes megabytes gibibytes gigabytes tebibytes terabytes pebibytes ' +
  'petabytes packets_sec bytes_sec_iec bytes_sec_si bits_sec_iec bits_sec_si kibibytes_sec kibibits_sec kilobytes_sec kilobits_sec ' +
  'mebibytes_sec mebibits_sec megabytes_sec megabits_sec gibibytes_sec gibibits_sec gigabytes_sec gigabits_sec tebibytes_sec ' +
  'tebibits_sec terabytes_sec terabits_sec pebibytes_sec pebibits_sec petabytes_sec petabits_sec cps ops rps reads_sec wps iops cpm ' +
  'opm rpm_reads wpm'
).split(' ')

export const numberFormat = z.object({
  output: z.enum(['currency', 'percent', 'byte', 'time', 'duration', 'number', 'data_rate', 'throughput']),
  numericUnit: z.nativeEnum(Object.fromEntries(units.map((unit) => [unit, unit]))).optional(),
  mantissa: z.number().int().optional(),
  thousandSeparated: z.boolean().optional(),
  average: z.boolean().optional(),
  decimalBytes: z.boolean().optional(),
  factor: z.number().optional(),
  currencySymbol: z.string().optional(),
  unit: z.string().optional(),
})

const rule = { color, label: z.string().max(40).optional() }

/** The conditions that the editor of number tiles offers. */
export const colorRule = z.discriminatedUnion('operator', [
  z.object({ operator: z.enum(['gt', 'gte', 'lt', 'lte']), value: z.number().finite(), ...rule }),
  z.object({ operator: z.literal('between'), value: z.array(z.number().finite()).length(2), ...rule }),
  z.object({ operator: z.enum(['eq', 'neq']), value: z.union([z.number().finite(), z.string().max(200)]), ...rule }),
])

export const backgroundChart = z.object({ type: z.enum(['line', 'area']), color: color.optional() })
