// A second look at series without rows: whether their conditions matched on other days, which of their terms match, and what is there instead.

import * as z from 'zod'
import type { StoredObject } from '../../kinds/kind.ts'
import { tableOfSource } from '../../kinds/source/source-wire.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import { dayMs, hourMs } from '../../platform/core/durations.ts'
import { toFailure } from '../../platform/core/errors.ts'
import { getById } from '../../platform/core/keys.ts'
import { inRange, refuseTable } from './count-with-sql.ts'
import type { Estimates } from './estimate.ts'
import { keyOfMap, maxListed, type Silence } from './judge.ts'
import { tableNameOf } from './query.ts'
import { type SeriesItem, sourceSeries } from './series-api.ts'
import { comparisonOf, splitTerms } from './terms.ts'

export interface SilenceContext {
  readonly api: ReadApi
  readonly service: Target
  readonly sources: readonly StoredObject[]
  readonly readRows: Estimates['readRows']
  readonly nowMs: number
}

/** The terms of a longer condition are not counted. */
const maxTerms = 8

/** Looks at the series in the order of the list, in requests that they share. Throws an ApiError that concerns the whole run. */
export async function lookAtSilences(silent: readonly SeriesItem[], context: SilenceContext): Promise<readonly Silence[]> {
  const count = createCounter(context)
  const counted = await Promise.all(silent.map((item) => countTerms(item, count)))
  const bySource = Map.groupBy(counted, ({ item }) => JSON.stringify([item.sourceId, item.metricDataType]))
  const found = new Map<string, ReadonlyMap<string, unknown>>()
  await Promise.all(
    [...bySource].map(async ([key, some]) => {
      const expressions = new Map(some.flatMap((one) => [...expressionsOf(one)]))
      found.set(key, await askExpressions(expressions, some[0]?.item, context))
    }),
  )
  return counted.map(({ item, ...rest }) => {
    const answers = found.get(JSON.stringify([item.sourceId, item.metricDataType])) ?? new Map<string, unknown>()
    const numeric = answers.get(`numbers of ${item.field}`)
    return {
      ...rest,
      lists: new Map([...answers].flatMap(([key, value]) => (Array.isArray(value) ? [[key, value.map(String)] as const] : []))),
      numeric: numeric === undefined ? undefined : Number(numeric),
    }
  })
}

type Counted = Pick<Silence, 'rows' | 'week' | 'dead'> & { readonly item: SeriesItem }

type Count = (item: SeriesItem, days: 1 | 7) => Promise<{ readonly rows: number; readonly lastMs: number | undefined } | undefined>

/** Counts each condition once. */
function createCounter({ readRows, nowMs }: SilenceContext): Count {
  const known = new Map<string, ReturnType<Count>>()
  return (item, days) => {
    const key = JSON.stringify([item, days])
    const [step, lengthMs] = days === 1 ? (['1h', hourMs] as const) : (['1d', dayMs] as const)
    const untilMs = Math.ceil(nowMs / lengthMs) * lengthMs
    const range = { fromMs: untilMs - days * dayMs, untilMs }
    const count =
      known.get(key) ??
      readRows({ series: [item], step }, range).then((read) =>
        'reason' in read
          ? undefined
          : {
              // The number of a metric is its value.
              rows:
                item.metricName === undefined ? read.rows.reduce((sum, { numbers }) => sum + (numbers.get(0) ?? 0), 0) : read.rows.length,
              lastMs: read.rows.reduce<number | undefined>((last, { startMs }) => Math.max(last ?? 0, startMs), undefined),
            },
      )
    known.set(key, count)
    return count
  }
}

async function countTerms(item: SeriesItem, count: Count): Promise<Counted> {
  const { where, whereLanguage } = item
  const source = sourceSeries(item)
  const countWhere = (condition: string, days: 1 | 7) => count({ ...source, where: condition, whereLanguage }, days)
  const [all, week] = await Promise.all([countWhere('', 1), where.trim() === '' ? undefined : countWhere(where, 7)])
  const rows = all?.rows
  if (week?.rows !== 0 || !rows) return { item, rows, week, dead: [] }
  const terms = splitTerms(where, whereLanguage)
  const counted = terms.length > maxTerms || terms.length === 1 ? [] : await Promise.all(terms.map((term) => countWhere(term, 1)))
  const dead = counted.length === 0 ? (terms.length === 1 ? terms : [where]) : terms.filter((_, i) => counted[i]?.rows === 0)
  return { item, rows, week, dead }
}

/** What to ask of the table of a source, by what it is about. */
function expressionsOf({ item, rows, dead }: Counted): ReadonlyMap<string, string> {
  const { field, metricName, whereLanguage, aggFn } = item
  if (metricName !== undefined) return new Map(rows === 0 ? [['MetricName', 'groupUniqArray(1000)(MetricName)']] : [])
  const columns = dead.flatMap((term) => comparisonOf(term, whereLanguage)?.column ?? [])
  const isMeasured = field !== undefined && !aggFn.startsWith('count')
  const maps = [...columns, ...(isMeasured ? [field] : [])].flatMap((column) => keyOfMap.exec(column)?.[1] ?? [])
  return new Map([
    ...columns.map((column) => [column, `topK(${maxListed})(substring(toString(${column}), 1, 100))`] as const),
    ...maps.map((map) => [map, `groupUniqArrayArray(300)(mapKeys(${map}))`] as const),
    ...(isMeasured ? [[`numbers of ${field}`, `countIf(isNotNull(toFloat64OrNull(toString(${field}))))`] as const] : []),
  ])
}

/** A hint is not worth more time of the server. */
const maxHintSeconds = 5

const sourcePart = z.object({ connection: z.string() })

/** The values of expressions over the rows of a day. Without those that the server cannot compute. */
async function askExpressions(
  expressions: ReadonlyMap<string, string>,
  item: SeriesItem | undefined,
  context: SilenceContext,
): Promise<ReadonlyMap<string, unknown>> {
  const { api, service, sources, nowMs } = context
  const source = getById(sources, item?.sourceId)
  const from = source && tableNameOf(source, item?.metricDataType)
  const { data } = sourcePart.safeParse(source)
  const table = source && tableOfSource(source)
  const time = table === undefined ? 'TimeUnix' : refuseTable(table) === undefined ? table.time : undefined
  if (expressions.size === 0 || from === undefined || data === undefined || time === undefined || !api.hasSql) return new Map()
  const columns = [...expressions.values()].map((one, i) => `${one} AS c${i}`)
  try {
    const answer = await api.runSql(service, {
      sql: `SELECT ${columns.join(', ')}\nFROM ${from}\nWHERE ${inRange({ time })}`,
      connectionId: data.connection,
      startMs: nowMs - dayMs,
      endMs: nowMs,
      // A role of ClickHouse Cloud that only reads must not change settings.
      ...(api.profile.isSelfHosted && { settings: { max_execution_time: maxHintSeconds } }),
    })
    const row = answer.kind === 'rows' ? answer.rows[0] : undefined
    if (row !== undefined) return new Map([...expressions.keys()].map((key, i) => [key, row[`c${i}`]]))
  } catch (thrown) {
    // The reason is known without it: older servers have charts and no SQL.
    if (toFailure(thrown).kind === 'canceled') throw thrown
    return new Map()
  }
  if (expressions.size === 1) return new Map()
  const parts = await Promise.all([...expressions].map((one) => askExpressions(new Map([one]), item, context)))
  return new Map(parts.flatMap((one) => [...one]))
}
