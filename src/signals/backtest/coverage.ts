import { intervalMs } from '../../kinds/alert/schedule.ts'
import { type AlertCondition, evaluatedPart, type TimeRange, windowStarts } from './evaluate.ts'
import type { SeriesItem, SeriesRow } from './series-api.ts'

// How much of a backtest has data: rows of the source, whatever the alert's own condition is. An alert that is quiet where its source is
// empty proves nothing.

export interface Coverage {
  readonly windows: number
  /** Windows in which the source has rows. */
  readonly windowsWithData: number
  /** Start of the first window with data. */
  readonly firstMs?: number
  /** End of the last one. */
  readonly lastMs?: number
}

/** The part of the windows, in percent, that needs data. */
export const minCoverage = 90

/** `100%`, `4.2%`. Never rounds to 100%. */
export const formatCoverage = (share: number): string => `${Math.floor(share * 1000) / 10}%`

/** Counts all rows of a source of logs or traces. */
export const rowsOf = (sourceId: string): SeriesItem => ({ sourceId, aggFn: 'count', where: '', whereLanguage: 'sql', groupBy: [] })

/** Counts all rows of the source, or the values of the metric, of a series. */
export function sourceSeries({ sourceId, metricName, metricDataType }: SeriesItem): SeriesItem {
  const counted = rowsOf(sourceId)
  if (metricName === undefined || metricDataType === undefined) return counted
  const measured = metricDataType === 'histogram' ? { aggFn: 'quantile', level: 0.5 } : { aggFn: 'max' }
  return { ...counted, ...measured, metricName, metricDataType }
}

/** `rows` are those of the source, in windows that divide those of the alert. */
export function toCoverage(rows: readonly Pick<SeriesRow, 'startMs'>[], condition: AlertCondition, range: TimeRange): Coverage {
  const lengthMs = intervalMs[condition.interval]
  const filled = new Set(rows.map(({ startMs }) => Math.floor(startMs / lengthMs) * lengthMs))
  const windows = windowStarts(evaluatedPart(condition, range), lengthMs)
  const withData = windows.filter((startMs) => filled.has(startMs))
  const [first, last] = [withData[0], withData.at(-1)]
  return {
    windows: windows.length,
    windowsWithData: withData.length,
    ...(first !== undefined && { firstMs: first }),
    ...(last !== undefined && { lastMs: last + lengthMs }),
  }
}
