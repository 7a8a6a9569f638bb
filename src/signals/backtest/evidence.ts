import type { StoredObject } from '../../kinds/kind.ts'
import { tableOfSource } from '../../kinds/source/source-wire.ts'
import { dayMs, hourMs } from '../../platform/core/durations.ts'
import { toFailure } from '../../platform/core/errors.ts'
import { getById } from '../../platform/core/keys.ts'
import { nameOfTable } from '../../platform/core/sql.ts'
import { inRange, refuseTable } from './count-with-sql.ts'
import type { Estimate, Estimates } from './estimate.ts'
import { evaluate, type TimeRange } from './evaluate.ts'
import { type Evidence, isSilent, type Judgement, judge, keyOfMap, maxListed, type Silence } from './judge.ts'
import { type BacktestQuery, tablesOf } from './query.ts'
import { type Refusal, type SeriesItem, type ServerAccess, sourceSeries } from './series-api.ts'
import { comparisonOf, splitTerms } from './terms.ts'

type Query = BacktestQuery | Refusal | undefined

function toEvidence(query: Query, estimate: Estimate | undefined, range: TimeRange): Evidence | undefined {
  if (query === undefined || 'reason' in query || estimate === undefined || estimate.verdict === 'not-estimable') return undefined
  const { condition } = query
  // The server compares 0 where there are no rows.
  const nothing = { values: new Map(), windows: evaluate(condition, new Map(), range) }
  if (estimate.verdict === 'no-data') return { condition, range, ...nothing, series: estimate.series }
  return { condition, range, ...estimate }
}

/** After a second look at all series without rows. Throws an ApiError that concerns the whole run. */
export async function judgeEstimates(
  estimated: readonly (readonly [Query, Estimate | undefined])[],
  range: TimeRange,
  context: SilenceContext,
): Promise<readonly (Judgement | undefined)[]> {
  const all = estimated.map(([query, estimate]) => ({ query, evidence: toEvidence(query, estimate, range) }))
  const silentOf = (evidence: Evidence) => evidence.series.filter((one) => isSilent(evidence, one))
  const items = all.flatMap(({ evidence }) => (evidence === undefined ? [] : silentOf(evidence).flatMap(({ item }) => item ?? [])))
  const distinct = new Map(items.map((item) => [JSON.stringify(item), item]))
  const looked = await lookAtSilences([...distinct.values()], context)
  const silences = new Map([...distinct.keys()].map((key, i) => [key, looked[i]]))
  return Promise.all(
    all.map(async ({ query, evidence }) => {
      if (evidence === undefined) return undefined
      const silent = silentOf(evidence)
      const found = evidence.series.map((one) => (silent.includes(one) && one.item ? silences.get(JSON.stringify(one.item)) : undefined))
      const isSql = query !== undefined && 'sql' in query && silent.length > 0
      return judge(evidence, isSql ? [await lookAtSql(query, context)] : found)
    }),
  )
}

async function lookAtSql(query: Extract<BacktestQuery, { readonly sql: unknown }>, { readRows, nowMs }: SilenceContext): Promise<Silence> {
  const untilMs = Math.floor(nowMs / dayMs) * dayMs
  const read = await readRows(query.sql, '1d', { fromMs: untilMs - 7 * dayMs, untilMs })
  const nothing = { rows: 0, dead: [], lists: new Map() }
  if ('reason' in read) return nothing
  const found = read.rows.filter(({ numbers }) => [...numbers.values()].some((number) => number !== null && number !== 0))
  return { ...nothing, week: { rows: found.length, lastMs: found.at(-1)?.startMs } }
}

// A second look at series without rows: on which days and with which terms their conditions match, and what is there instead.

interface SilenceContext extends ServerAccess {
  readonly sources: readonly StoredObject[]
  readonly readRows: Estimates['readRows']
  readonly nowMs: number
}

/** In the order of the list, and in requests that the series share. Throws an ApiError that concerns the whole run. */
async function lookAtSilences(silent: readonly SeriesItem[], context: SilenceContext): Promise<readonly Silence[]> {
  const count = createCounter(context)
  const counted = await Promise.all(silent.map((item) => countTerms(item, count)))
  const bySource = Map.groupBy(counted, ({ item }) => JSON.stringify([item.sourceId, item.metricDataType]))
  const found = new Map<SeriesItem, ReadonlyMap<string, unknown>>()
  await Promise.all(
    [...bySource.values()].map(async (some) => {
      const asked = await askExpressions(new Map(some.flatMap((one) => [...expressionsOf(one)])), some[0]?.item, context)
      for (const { item } of some) found.set(item, asked)
    }),
  )
  return counted.map(({ item, silence }) => {
    const answers = found.get(item) ?? new Map<string, unknown>()
    const numeric = answers.get(`numbers of ${item.field}`)
    return {
      ...silence,
      lists: new Map([...answers].flatMap(([key, value]) => (Array.isArray(value) ? [[key, value.map(String)] as const] : []))),
      numeric: numeric === undefined ? undefined : Number(numeric),
    }
  })
}

interface Counted {
  readonly item: SeriesItem
  /** Without lists. */
  readonly silence: Silence
}

type Count = (item: SeriesItem, days: 1 | 7) => Promise<{ readonly rows: number; readonly lastMs: number } | undefined>

function createCounter({ readRows, nowMs }: SilenceContext): Count {
  const known = new Map<string, ReturnType<Count>>()
  return (item, days) => {
    const key = JSON.stringify([item, days])
    const [step, lengthMs] = days === 1 ? (['1h', hourMs] as const) : (['1d', dayMs] as const)
    const untilMs = Math.ceil(nowMs / lengthMs) * lengthMs
    const range = { fromMs: untilMs - days * dayMs, untilMs }
    const count =
      known.get(key) ??
      readRows([item], step, range).then((read) =>
        'reason' in read
          ? undefined
          : {
              // The number of a metric is its value.
              rows:
                item.metricName === undefined ? read.rows.reduce((sum, { numbers }) => sum + (numbers.get(0) ?? 0), 0) : read.rows.length,
              lastMs: read.rows.map(({ startMs }) => startMs).reduce((a, b) => Math.max(a, b), 0),
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
  const silence = { rows: all?.rows, week, dead: [], lists: new Map() }
  if (week?.rows !== 0 || !silence.rows) return { item, silence }
  const terms = splitTerms(where, whereLanguage)
  // The terms of a longer condition are not counted.
  const counted = terms.length > 8 || terms.length === 1 ? [] : await Promise.all(terms.map((term) => countWhere(term, 1)))
  const dead = counted.length === 0 ? (terms.length === 1 ? terms : [where]) : terms.filter((_, i) => counted[i]?.rows === 0)
  return { item, silence: { ...silence, dead } }
}

function expressionsOf({ item, silence: { rows, dead } }: Counted): ReadonlyMap<string, string> {
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

/** Over the rows of a day. Without expressions that the server cannot compute. */
async function askExpressions(
  expressions: ReadonlyMap<string, string>,
  item: SeriesItem | undefined,
  context: SilenceContext,
): Promise<ReadonlyMap<string, unknown>> {
  const { api, service, sources, nowMs } = context
  const source = getById(sources, item?.sourceId)
  const from = source && tablesOf(source).get(item?.metricDataType)
  const table = source && tableOfSource(source)
  const time = table === undefined ? 'TimeUnix' : refuseTable(table) === undefined ? table.time : undefined
  if (expressions.size === 0 || from?.connectionId == null || time === undefined || !api.hasSql) return new Map()
  const columns = [...expressions.values()].map((one, i) => `${one} AS c${i}`)
  try {
    const answer = await api.runSql(service, {
      sql: `SELECT ${columns.join(', ')}\nFROM ${nameOfTable(from)}\nWHERE ${inRange(time)}`,
      connectionId: from.connectionId,
      startMs: nowMs - dayMs,
      endMs: nowMs,
      // A hint is not worth more time of the server. A role of ClickHouse Cloud that only reads must not change settings.
      ...(api.profile.isSelfHosted && { settings: { max_execution_time: 5 } }),
    })
    const row = answer.kind === 'rows' ? answer.rows[0] : undefined
    if (row !== undefined) return new Map([...expressions.keys()].map((key, i) => [key, row[`c${i}`]]))
  } catch (thrown) {
    // The reason is known without it: older servers have charts and no SQL.
    toFailure(thrown)
    return new Map()
  }
  if (expressions.size === 1) return new Map()
  const parts = await Promise.all([...expressions].map((one) => askExpressions(new Map([one]), item, context)))
  return new Map(parts.flatMap((one) => [...one]))
}
