import type { Case } from '../case.ts'
import type { Json } from './bodies.ts'

// The fixtures have no tables, so no case gets as far as ClickHouse. test/unit/backtest compares values with recorded ones.

const only = { dialects: ['hyperdx'] } as const

const oneSeries = (more: Json = {}): Json => ({ sourceId: '$Logs', aggFn: 'count', where: '', groupBy: [], ...more })

const chart = (more: Json = {}): Json => ({
  series: [oneSeries()],
  startTime: 1_794_304_800_000,
  endTime: 1_794_305_400_000,
  granularity: '5m',
  ...more,
})

const { groupBy: _, ...withoutGroups } = oneSeries() as { groupBy: unknown }

const refused: Readonly<Record<string, Json>> = {
  'no fields': {},
  'no series': chart({ series: [] }),
  'six series': chart({ series: Array.from({ length: 6 }, () => oneSeries()) }),
  'different groups': chart({ series: [oneSeries(), oneSeries({ groupBy: ['ServiceName'] })] }),
  'no groups': chart({ series: [withoutGroups] }),
  'eleven groups': chart({ series: [oneSeries({ groupBy: Array.from({ length: 11 }, () => 'a') })] }),
  'a malformed source': chart({ series: [oneSeries({ sourceId: 'nope' })] }),
  'an unknown source': chart({ series: [oneSeries({ sourceId: '$gone' })] }),
  'an unknown source as the second one': chart({ series: [oneSeries({ where: 'x' }), oneSeries({ sourceId: '$gone' })] }),
  'an unknown aggregation': chart({ series: [oneSeries({ aggFn: 'count_if' })] }),
  'an unknown language': chart({ series: [oneSeries({ whereLanguage: 'kql' })] }),
  'an unknown type of metric': chart({ series: [oneSeries({ metricDataType: 'counter' })] }),
  'an unknown granularity': chart({ granularity: '3m' }),
  'an unknown form of the answer': chart({ seriesReturnType: 'rows' }),
  'times in seconds': chart({ startTime: 1_794_304_800, endTime: 1_794_305_400 }),
  'times that are no whole numbers': chart({ startTime: 1_794_304_800_000.5 }),
  'times below zero': chart({ startTime: -1_794_304_800_000 }),
  'times that are texts': chart({ startTime: '2026-11-10T10:00:00Z' }),
  'bare text': chart({ series: [oneSeries({ where: 'payment' })] }),
}

export const chartCases: readonly Case[] = [
  ...Object.entries(refused).map(([what, body]): Case => ({ name: `charts: ${what}`, request: 'POST charts/series', body, ...only })),
  { name: 'charts: no list of series', request: 'GET charts/series', ...only },
]
