// Why no row matches a condition. A misspelled value looks like a service without errors, because its source has data.

import type { StoredObject } from '../../kinds/kind.ts'
import { tableOfSource } from '../../kinds/source/source-sql.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import { hourMs } from '../../platform/core/durations.ts'
import { toFailure } from '../../platform/core/errors.ts'
import { nearestName } from '../../platform/core/names.ts'
import { nameOfTable } from '../../platform/core/sql.ts'
import { quote } from '../../platform/core/text.ts'
import { inRange, refuseTable } from './count-with-sql.ts'
import { sourceSeries } from './coverage.ts'
import type { Estimates } from './estimate.ts'
import type { TimeRange } from './evaluate.ts'
import type { SeriesItem } from './series-api.ts'
import { comparisonOf, splitTerms } from './terms.ts'

export interface UnmatchedContext {
  readonly api: ReadApi
  readonly service: Target
  readonly sources: readonly StoredObject[]
  readonly readRows: Estimates['readRows']
  /** The checked time. It is extended to whole hours. */
  readonly range: TimeRange
}

/** Eight terms, the source and the whole condition take two requests. The terms of a longer condition are not counted. */
const maxTerms = 8

/**
 * Why no row in the range matches a series; undefined where one does, and where that is unknown. Counts the rows that each term of its
 * condition matches by itself, and asks for values of the field in a term that matches none: at most three requests. Throws an ApiError
 * that concerns the whole run.
 */
export async function explainUnmatched(series: SeriesItem, context: UnmatchedContext): Promise<string | undefined> {
  const { where, whereLanguage, metricName } = series
  const split = splitTerms(where, whereLanguage)
  const terms = split.length > maxTerms ? [where] : split
  const source = sourceSeries(series)
  const conditions = [...new Set(['', where, ...terms])]
  const counted = conditions.map((condition) => ({ ...source, where: condition, whereLanguage }))
  const range = {
    fromMs: Math.floor(context.range.fromMs / hourMs) * hourMs,
    untilMs: Math.ceil(context.range.untilMs / hourMs) * hourMs,
  }
  const read = await context.readRows({ series: counted, step: '1h' }, range)
  if ('reason' in read) return undefined
  const isMatched = (condition: string): boolean => read.rows.some(({ numbers }) => numbers.has(conditions.indexOf(condition)))
  if (isMatched(where)) return undefined
  if (!isMatched('')) return metricName === undefined ? 'its source has no row' : `the metric ${quote(metricName, 60)} has no value`
  const unmatched = terms.find((term) => !isMatched(term))
  if (unmatched === undefined) return 'no row matches its condition, although each of its terms matches some'
  const nearest = await findNearest({ ...series, where: unmatched }, context)
  return `no row matches ${quote(unmatched, 120)}${nearest === undefined ? '' : `; did you mean "${quote(nearest, 60)}"?`}`
}

const maxValues = 200

/** A hint is not worth more time of the server. */
const maxHintSeconds = 5

/** The text that a term most likely means, of the most frequent ones of its column. */
async function findNearest(
  { sourceId, where, whereLanguage }: SeriesItem,
  { api, service, sources, range }: UnmatchedContext,
): Promise<string | undefined> {
  const table = tableOfSource(sources.find(({ id }) => id === sourceId) ?? {})
  const compared = comparisonOf(where, whereLanguage)
  if (table === undefined || refuseTable(table) !== undefined || compared === undefined || !api.hasSql) return undefined
  const sql = [
    `SELECT arrayJoin(topK(${maxValues})(substring(toString(${compared.column}), 1, 100))) AS value`,
    `FROM ${nameOfTable(table)}`,
    `WHERE ${inRange(table)}`,
  ].join('\n')
  try {
    const answer = await api.runSql(service, {
      sql,
      connectionId: table.connectionId,
      startMs: range.fromMs,
      endMs: range.untilMs,
      // A role of ClickHouse Cloud that only reads must not change settings.
      ...(api.profile.isSelfHosted && { settings: { max_execution_time: maxHintSeconds } }),
    })
    const values = answer.kind === 'rows' ? answer.rows.map(({ value }) => String(value)) : []
    return values.includes(compared.value) ? undefined : nearestName(compared.value, values)
  } catch (thrown) {
    // The reason is known without it: older servers have charts and no SQL.
    if (toFailure(thrown).kind === 'canceled') throw thrown
    return undefined
  }
}
