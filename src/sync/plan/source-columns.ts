import * as z from 'zod'
import type { SqlQuery } from '../../api/sql.ts'
import type { SeriesItem } from '../../backtest/series-api.ts'
import { luceneColumns } from '../../backtest/terms.ts'
import { refuseExpression } from '../../backtest/window-sql.ts'
import { nameOfTable } from '../../core/sql.ts'
import type { Source } from '../../kinds/source/source-wire.ts'

// What a source names, and what queries use of it, as a query without rows: the server says which table or column does not exist.

export type LookUp = Pick<SqlQuery, 'sql' | 'connectionId'>

const sourcePart = z.object({
  connection: z.string(),
  from: z.object({ databaseName: z.string(), tableName: z.string().nullish() }),
  metricTables: z.record(z.string(), z.unknown()).nullish(),
})

/** The tables of a source and all expressions that it has for them. */
export function lookUpSource(source: Source): readonly LookUp[] {
  const expressions = Object.entries(source).flatMap(([field, value]) =>
    // An order is not an expression.
    field.endsWith('Expression') && field !== 'orderByExpression' && typeof value === 'string' && value.trim() !== '' ? [value] : [],
  )
  const { data } = sourcePart.safeParse(source)
  const kinds = source.kind === 'metric' ? Object.keys(data?.metricTables ?? {}) : [undefined]
  return kinds.flatMap((type) => lookUp(source, type, expressions))
}

/** The columns of the conditions, groups and values of series. */
export const lookUpQuery = (series: readonly SeriesItem[], sources: readonly Source[]): readonly LookUp[] =>
  [...Map.groupBy(series, ({ sourceId, metricDataType }) => `${sourceId} ${metricDataType}`).values()].flatMap((alike) => {
    const source = sources.find(({ id }) => id === alike[0]?.sourceId)
    return source === undefined ? [] : lookUp(source, alike[0]?.metricDataType, [...new Set(alike.flatMap(expressionsOf))])
  })

const expressionsOf = ({ where, whereLanguage, groupBy, field }: SeriesItem): readonly string[] => [
  ...(whereLanguage === 'lucene' ? luceneColumns(where) : where.trim() === '' ? [] : [where]),
  ...groupBy,
  ...(field === undefined ? [] : [field]),
]

/** The query of the columns; none where the API does not show the table, or an expression could change the rest of the query. */
function lookUp(source: Source, metricType: string | undefined, expressions: readonly string[]): readonly LookUp[] {
  const { data } = sourcePart.safeParse(source)
  const table = metricType === undefined ? data?.from.tableName : data?.metricTables?.[metricType]
  if (data === undefined || typeof table !== 'string' || table === '') return []
  if (expressions.some((one) => refuseExpression(one) !== undefined)) return []
  const columns = expressions.length === 0 ? '1' : expressions.map((one) => `(${one})`).join(', ')
  const sql = `SELECT ${columns}\nFROM ${nameOfTable({ database: data.from.databaseName, table })}\nLIMIT 0`
  return [{ sql, connectionId: data.connection }]
}
