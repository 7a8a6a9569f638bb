import { dayMs } from '../../platform/core/durations.ts'
import type { Estimate, Estimates } from './estimate.ts'
import { evaluate, type TimeRange } from './evaluate.ts'
import { type Evidence, isSilent, type Judgement, judge, type Silence } from './judge.ts'
import type { BacktestQuery } from './query.ts'
import type { Refusal } from './read-rows.ts'
import { lookAtSilences, type SilenceContext } from './silence.ts'

type Query = BacktestQuery | Refusal | undefined

/** Undefined where the values of an alert are unknown. */
function toEvidence(query: Query, estimate: Estimate | undefined, range: TimeRange): Evidence | undefined {
  if (query === undefined || 'reason' in query || estimate === undefined || estimate.verdict === 'not-estimable') return undefined
  const { condition } = query
  // The server compares 0 where there are no rows.
  const nothing = { values: new Map(), windows: evaluate(condition, new Map(), range) }
  if (estimate.verdict === 'no-data') return { condition, range, ...nothing, series: estimate.series }
  return { condition, range, ...estimate }
}

/** What each estimate says about its alert, after a second look at all series without rows. Throws an ApiError that concerns the whole run. */
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

/** The values of raw SQL in windows of a day. */
async function lookAtSql(
  query: Extract<BacktestQuery, { readonly sql: unknown }>,
  { readRows, nowMs }: Pick<SilenceContext, 'nowMs'> & Pick<Estimates, 'readRows'>,
): Promise<Silence> {
  const untilMs = Math.floor(nowMs / dayMs) * dayMs
  const read = await readRows({ sql: query.sql, step: '1d' }, { fromMs: untilMs - 7 * dayMs, untilMs })
  const nothing = { rows: 0, dead: [], lists: new Map() }
  if ('reason' in read) return nothing
  const found = read.rows.filter(({ numbers }) => [...numbers.values()].some((number) => number !== null && number !== 0))
  return { ...nothing, week: { rows: found.length, lastMs: found.at(-1)?.startMs } }
}
