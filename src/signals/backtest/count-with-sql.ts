import { intervalMs } from '../../kinds/alert/schedule.ts'
import type { StoredObject } from '../../kinds/kind.ts'
import { countWith, type SourceTable, tableOfSource } from '../../kinds/source/source-wire.ts'
import type { SqlColumn, SqlRow } from '../../platform/api/sql-query.ts'
import { nameOfTable, refuseForm } from '../../platform/core/sql.ts'
import { kindOfType, toRefusal } from './read-windows.ts'
import type { Refusal, SeriesItem, SeriesRequest, SeriesRow, ServerAccess } from './series-api.ts'

// ClickHouse Cloud has no values of charts. `refuseWithoutCharts` leaves counts with conditions in SQL.

/** The rows that `requestSeries` gives on a self-hosted server, or why there are none. Throws an ApiError. */
export async function countWithSql(
  { api, service }: ServerAccess,
  sources: readonly StoredObject[],
  { series, granularity, fromMs, untilMs }: SeriesRequest,
): Promise<readonly SeriesRow[] | Refusal> {
  const [first] = series
  const source = sources.find(({ id }) => id === first?.sourceId)
  const table = source && tableOfSource(source)
  if (first === undefined || table === undefined) return { reason: 'the API does not show the table of its source' }
  const texts = series.flatMap(({ where, groupBy }) => [where, ...groupBy])
  const reason = texts.map((one) => refuseForm(one)).find((one) => one !== undefined)
  const refusal = reason === undefined ? refuseTable(table) : { reason }
  if (refusal !== undefined) return refusal
  const answer = await api.runSql(service, {
    sql: countsSql(table, series, intervalMs[granularity] / 1000),
    connectionId: table.connectionId,
    startMs: fromMs,
    endMs: untilMs,
  })
  if (answer.kind !== 'rows') return toRefusal(answer)
  return toSeriesRows(answer.rows, answer.columns, first)
}

export function refuseTable({ time, sampleRate = '' }: SourceTable): Refusal | undefined {
  const reason = refuseForm(time) ?? refuseForm(sampleRate)
  if (reason !== undefined) return { reason: `its source cannot be counted: ${reason}` }
  return /^\w+$/.test(time) ? undefined : { reason: 'the time of its source is not a single column' }
}

export const inRange = (time: string): string =>
  `${time} >= fromUnixTimestamp64Milli({startDateMilliseconds:Int64}) AND ${time} < fromUnixTimestamp64Milli({endDateMilliseconds:Int64})`

const [startColumn, groupColumn] = ['start__', 'group__']

function countsSql(table: SourceTable, series: readonly SeriesItem[], stepSeconds: number) {
  const count = countWith(table.sampleRate)
  const conditions = series.map(({ where }) => (where.trim() === '' ? undefined : `(${where})`))
  const [groupBy] = series[0]?.groupBy ?? []
  const columns = [
    `intDiv(toUnixTimestamp(${table.time}), ${stepSeconds}) * ${stepSeconds} AS ${startColumn}`,
    ...(groupBy === undefined ? [] : [`(${groupBy}) AS ${groupColumn}`]),
    ...conditions.map((condition, i) => `toFloat64(${count(condition)}) AS series_${i}`),
  ]
  const wanted = conditions.includes(undefined) ? [] : [`  AND (${conditions.join(' OR ')})`]
  return [
    `SELECT ${columns.join(',\n  ')}`,
    `FROM ${nameOfTable(table)}`,
    `WHERE ${inRange(table.time)}`,
    ...wanted,
    `GROUP BY ${startColumn}${groupBy === undefined ? '' : `, ${groupColumn}`}`,
  ].join('\n')
}

function toSeriesRows(
  rows: readonly SqlRow[],
  columns: readonly SqlColumn[],
  { groupBy: [groupBy] }: SeriesItem,
): readonly SeriesRow[] | Refusal {
  const type = columns.find(({ name }) => name === groupColumn)?.type ?? ''
  if (type.startsWith('Tuple')) return { reason: 'it groups by several columns' }
  return rows.map((row) => ({
    startMs: Number(row[startColumn]) * 1000,
    group: groupBy === undefined ? '' : `${groupBy}:${String(row[groupColumn])}`,
    groupValues: groupBy === undefined ? [] : [row[groupColumn]],
    hasNumericGroup: kindOfType(type) === 'number',
    numbers: new Map(
      // The answer of charts has no value for a series without rows.
      Object.entries(row).flatMap(([name, value]) => {
        const index = /^series_(\d+)$/.exec(name)?.[1]
        return index === undefined || Number(value) === 0 ? [] : [[Number(index), Number(value)] as const]
      }),
    ),
  }))
}
