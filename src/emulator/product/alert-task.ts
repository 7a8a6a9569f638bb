import { minuteMs } from '../../platform/core/durations.ts'
import { type Alert, isJsonObject, type Service } from '../store.ts'
import { minutesOf } from './alerts.ts'
import { ChartError, type ChartRequest, checkConditions, computeSeries } from './charts.ts'
import { findById } from './request.ts'

// The part of the product's alert task that reads stored tiles and saved searches. A condition is evaluated twice: inside of each aggregate,
// where an absent language means Lucene, and, if every series has one, in WHERE, where an absent language means SQL.

/** Evaluates each started alert for its last whole window before this time, and sets its time. An error of the query leaves the state as it is. */
export function runAlertTask(service: Service, nowMs: number): void {
  for (const alert of service.alerts) {
    if (Date.parse(alert.scheduleStartAt ?? '') > nowMs) continue
    alert.updatedAt = new Date(nowMs).toISOString()
    try {
      const values = valuesOfAlert(alert, service, nowMs)
      alert.state = values.some((value) => isBreached(alert, value)) ? 'ALERT' : 'OK'
      alert.executionErrors = []
    } catch (cause) {
      if (!(cause instanceof ChartError)) throw cause
      alert.executionErrors = [{ timestamp: alert.updatedAt, type: 'QUERY_ERROR', message: cause.message }]
    }
  }
}

function valuesOfAlert(alert: Alert, service: Service, nowMs: number) {
  const series = alert.source === 'tile' ? seriesOfTile(alert, service) : seriesOfSavedSearch(alert, service)
  const [first] = series
  if (first === undefined) return []
  const minutes: number = minutesOf[alert.interval as keyof typeof minutesOf] // A stored alert was validated.
  const endTime = Math.floor(nowMs / (minutes * minuteMs)) * minutes * minuteMs
  const request: ChartRequest = {
    series: series.map(({ storedLanguage, ...one }) => ({ ...one, whereLanguage: storedLanguage ?? 'lucene' })),
    startTime: endTime - minutes * minuteMs,
    endTime: endTime - 1,
    granularity: alert.interval as ChartRequest['granularity'], // Each interval is a granularity.
  }
  if (series.every(({ where }) => where.trim() !== ''))
    checkConditions(
      series.map(({ storedLanguage, ...one }) => ({ ...one, whereLanguage: storedLanguage ?? 'sql' })),
      findById(service.sources, first.sourceId)?.kind,
    )
  const rows = computeSeries(request, service.sources, { oldestMs: 0, newestMs: nowMs })
  const values = rows.map((row) => Number(row[`series_${series.length - 1}.data`] ?? 0))
  return values.length === 0 ? [0] : values
}

type TaskSeries = ChartRequest['series'][number]

type StoredSeries = Omit<TaskSeries, 'whereLanguage'> & { readonly storedLanguage: TaskSeries['whereLanguage'] | null }

/** Empty for a tile that the task does not evaluate, or that this emulator cannot. */
function seriesOfTile({ dashboardId, tileId }: Alert, { dashboards }: Service): readonly StoredSeries[] {
  const config = findById(dashboards, dashboardId ?? '')?.tiles.find(({ id }) => id === tileId)?.config
  const select = config?.configType === undefined && Array.isArray(config?.select) ? config.select.filter(isJsonObject) : []
  return select.map((item) => ({
    sourceId: String(config?.sourceId),
    // The web app stores only these values.
    aggFn: item.aggFn as TaskSeries['aggFn'],
    where: String(item.where ?? ''),
    storedLanguage: item.whereLanguage as StoredSeries['storedLanguage'], // As for aggFn.
    groupBy: config?.groupBy ? [String(config.groupBy)] : [],
    ...(item.valueExpression ? { field: String(item.valueExpression) } : {}),
    ...(typeof item.level === 'number' && { level: item.level }),
    ...(typeof item.metricName === 'string' && {
      metricName: item.metricName,
      metricDataType: item.metricType as TaskSeries['metricDataType'], // As for aggFn.
    }),
  }))
}

function seriesOfSavedSearch({ savedSearchId, groupBy }: Alert, { savedSearches }: Service): readonly StoredSeries[] {
  const search = findById(savedSearches, savedSearchId ?? '')
  if (search === undefined) return []
  const { sourceId, where = '', whereLanguage } = search
  const storedLanguage = whereLanguage === 'lucene' ? 'lucene' : 'sql'
  return [{ sourceId, aggFn: 'count', where, storedLanguage, groupBy: groupBy ? [groupBy] : [] }]
}

function isBreached({ threshold, thresholdMax, thresholdType }: Alert, value: number) {
  const isInRange = value >= threshold && value <= (thresholdMax ?? threshold)
  const breaches: Readonly<Record<string, boolean>> = {
    above: value >= threshold,
    above_exclusive: value > threshold,
    below: value < threshold,
    below_or_equal: value <= threshold,
    equal: value === threshold,
    not_equal: value !== threshold,
    between: isInRange,
    not_between: !isInRange,
  }
  return breaches[thresholdType] === true
}
