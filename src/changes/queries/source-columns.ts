import * as z from 'zod'
import type { Source } from '../../kinds/source/source-wire.ts'
import type { SqlQuery } from '../../platform/api/sql.ts'
import { getById } from '../../platform/core/keys.ts'
import { nameOfTable, refuseForm } from '../../platform/core/sql.ts'
import type { Columns } from '../../signals/backtest/probe.ts'
import type { Refusal, SeriesItem } from '../../signals/backtest/series-api.ts'
import { luceneColumns } from '../../signals/backtest/terms.ts'

// What a source names, and what queries use of it, as a query without rows: the server says which table or column does not exist.

export type LookUp = Pick<SqlQuery, 'sql' | 'connectionId'>

const sourcePart = z.object({
  connection: z.string(),
  from: z.object({ databaseName: z.string(), tableName: z.string().nullish() }),
  metricTables: z.record(z.string(), z.unknown()).nullish(),
})

/** The tables of a source and all expressions that it has for them. */
export function lookUpSource(source: Source): readonly (LookUp | Refusal)[] {
  const expressions = Object.entries(source).flatMap(([field, value]) =>
    // An order is not an expression.
    field.endsWith('Expression') && field !== 'orderByExpression' && typeof value === 'string' && value.trim() !== '' ? [value] : [],
  )
  const { data } = sourcePart.safeParse(source)
  const kinds = source.kind === 'metric' ? Object.keys(data?.metricTables ?? {}) : [undefined]
  return kinds.map((type) => lookUp(source, { expressions }, type))
}

/** The columns of the conditions, groups and values of series. */
export const lookUpSeries = (series: readonly SeriesItem[], sources: readonly Source[]): readonly (LookUp | Refusal)[] =>
  [...Map.groupBy(series, ({ sourceId, metricDataType }) => `${sourceId} ${metricDataType}`).values()].map((alike) => {
    const source = getById(sources, alike[0]?.sourceId)
    return lookUp(source, { expressions: [...new Set(alike.flatMap(expressionsOf))] }, alike[0]?.metricDataType)
  })

export const lookUpColumns = ({ sourceId, ...columns }: Columns, sources: readonly Source[]): LookUp | Refusal =>
  lookUp(getById(sources, sourceId), columns)

const expressionsOf = ({ where, whereLanguage, groupBy, field }: SeriesItem): readonly string[] => [
  ...(whereLanguage === 'lucene' ? luceneColumns(where) : where.trim() === '' ? [] : [where]),
  ...groupBy,
  ...(field === undefined ? [] : [field]),
]

const unknownTable = { reason: 'the API does not show the table of its source' }

/** The query of the columns. Refused where an expression could change the rest of the query. */
function lookUp(
  source: Source | undefined,
  { expressions, groupBy, orderBy }: Omit<Columns, 'sourceId'>,
  metricType?: string,
): LookUp | Refusal {
  const { data } = sourcePart.safeParse(source)
  const table = metricType === undefined ? data?.from.tableName : data?.metricTables?.[metricType]
  if (data === undefined || typeof table !== 'string' || table === '') return unknownTable
  const clauses = [groupBy, orderBy].filter((one) => one !== undefined)
  const reason = [...expressions, ...clauses].map((one) => refuseForm(one)).find((one) => one !== undefined)
  if (reason !== undefined) return { reason }
  const lines = [
    `SELECT ${expressions.length === 0 ? '1' : expressions.map((one) => `(${one})`).join(', ')}`,
    `FROM ${nameOfTable({ database: data.from.databaseName, table })}`,
    ...(groupBy === undefined ? [] : [`GROUP BY ${groupBy}`]),
    ...(orderBy === undefined ? [] : [`ORDER BY ${orderBy}`]),
    'LIMIT 0',
  ]
  return { sql: lines.join('\n'), connectionId: data.connection }
}
