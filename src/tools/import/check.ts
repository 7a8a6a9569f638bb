// Runs a translated query and the original over the same windows, the original with its macros as the data source expands them, and with
// the reducers of Grafana. Rows that came after a window are left out of both.
import * as z from 'zod'
import { borderBefore, intervalMs } from '../../kinds/alert/schedule.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import type { SqlColumn, SqlRow } from '../../platform/api/sql-query.ts'
import { hourMs } from '../../platform/core/durations.ts'
import { namesAtMost, quote } from '../../platform/core/text.ts'
import { kindOfType, toRefusal } from '../../signals/backtest/read-windows.ts'
import { expandTemplate, refuse, renderWindow, UnusableSql, windowColumn } from '../../signals/backtest/window-sql.ts'
import type { Reduction } from './shape.ts'
import { grafanaTexts, translateTime } from './time.ts'
import type { Translated } from './translate.ts'

export const queryComparisonSchema = z.object({
  windows: z.int().describe('Compared windows.'),
  withValues: z.int().describe('Windows in which the original had a value.'),
  difference: z.string().optional().describe('The first window that differs, and its values.'),
  reason: z.string().optional().describe('Why nothing was compared.'),
  fails: z.literal(true).optional().describe('Whether Grafana cannot evaluate what the original returns.'),
})

export type Comparison = z.output<typeof queryComparisonSchema>

interface CheckAccess {
  readonly api: ReadApi
  readonly service: Target
  readonly nowMs: number
  readonly connectionId: string
}

/** Values by the labels of their group. NaN for one that is missing. */
type Values = ReadonlyMap<string, number>

type ToValues = (columns: readonly SqlColumn[], rows: readonly SqlRow[]) => Values

const windowCount = 24

export async function compareQueries(access: CheckAccess, { alert, condition, isGrouped }: Translated): Promise<Comparison> {
  const lengthMs = intervalMs[alert.interval]
  // An hour apart, or as far apart as the interval is long.
  const ends = [...new Set(Array.from({ length: windowCount }, (_, i) => borderBefore(access.nowMs - i * hourMs, lengthMs)))]
  const expanded = expandTemplate({ text: alert.query.sql, shape: isGrouped ? 'over-time' : 'number', tableOf: () => undefined })
  const { query, reduction, evaluator } = condition
  const worst = evaluator.thresholdType.startsWith('above') ? Math.max : Math.min
  try {
    // A query without time is the same in each window.
    const translated = ends.map((endMs) => ('reason' in expanded ? alert.query.sql : renderWindow(expanded, endMs - lengthMs, lengthMs)))
    const now = await readValues(access, translated, (columns, rows) => toProductValues(columns, rows, isGrouped))
    const original = ends.map((endMs) => translateTime(String(query.model?.rawSql), grafanaTexts(query, endMs)).sql)
    const read: ToValues = (columns, rows) => toGrafanaValues(columns, rows, reduction)
    const before = (await readValues(access, original, read)).map((values) => (isGrouped ? values : toOne(values, worst)))
    const different = ends.map((_, at) => differentGroups(now[at], before[at], isGrouped))
    const i = different.findIndex(({ length }) => length > 0)
    const withValues = before.filter((values) => [...values.values()].some(Number.isFinite)).length
    const difference = `at ${new Date(ends[i] ?? 0).toISOString()}: ${describe(now[i], different[i])}; Grafana had ${describe(before[i], different[i])}`
    return { windows: ends.length, withValues, ...(i >= 0 && { difference }) }
  } catch (thrown) {
    const fails = thrown instanceof FailsInGrafana && { fails: true as const }
    if (thrown instanceof UnusableSql) return { windows: 0, withValues: 0, reason: thrown.message, ...fails }
    throw thrown
  }
}

const describe = (values: Values = new Map(), labels: readonly string[] = []) =>
  namesAtMost(
    3,
    labels.map((label) => `${label === '' ? '' : `${label}: `}${values.get(label) ?? 'no value'}`),
  )

/** A classic condition about several groups fires with the worst one. */
function toOne(values: Values, worst: (...numbers: number[]) => number): Values {
  const numbers = [...values.values()].filter((value) => !Number.isNaN(value))
  return numbers.length === 0 ? new Map() : new Map([['', worst(...numbers)]])
}

/** Those that differ. A value that is missing counts as 0, and a group without one as absent. Sums of floating-point numbers depend on the order. */
function differentGroups(now: Values = new Map(), before: Values = new Map(), isGrouped: boolean) {
  const missing = isGrouped ? Number.NEGATIVE_INFINITY : 0
  const valueIn = (values: Values, label: string) =>
    Number.isNaN(values.get(label) ?? Number.NaN) ? missing : (values.get(label) ?? missing)
  return [...new Set([...now.keys(), ...before.keys()])].filter((label) => {
    const [a, b] = [valueIn(now, label), valueIn(before, label)]
    return a !== b && !(Number.isFinite(a - b) && Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)))
  })
}

/** Runs the queries of all windows as one, and of halves where an answer is too large. Throws an UnusableSql. */
async function readValues(access: CheckAccess, queries: readonly string[], toValues: ToValues): Promise<readonly Values[]> {
  const { api, service, connectionId, nowMs } = access
  const sql = queries.map((one, i) => `SELECT ${i} AS ${windowColumn}, * FROM (${one})`).join('\nUNION ALL\n')
  const answer = await api.runSql(service, { sql, connectionId, startMs: nowMs - windowCount * hourMs, endMs: nowMs })
  if ((answer.kind === 'too-large' || answer.kind === 'too-slow') && queries.length > 1) {
    const half = Math.ceil(queries.length / 2)
    return [...(await readValues(access, queries.slice(0, half), toValues)), ...(await readValues(access, queries.slice(half), toValues))]
  }
  if (answer.kind !== 'rows') return refuse(toRefusal(answer).reason)
  const columns = answer.columns.filter(({ name }) => name !== windowColumn)
  const byWindow = Map.groupBy(answer.rows, (row) => Number(row[windowColumn]))
  return queries.map((_, i) => toValues(columns, byWindow.get(i) ?? []))
}

/** Whole numbers of 64 bits are texts of digits, and NaN is null. */
const toNumber = (value: unknown) => (value === null || value === undefined ? Number.NaN : Number(value))

const hasTimeType = ({ type }: SqlColumn) => kindOfType(type) === 'time'

const hasTextType = ({ type }: SqlColumn) => /^(?:(?:Nullable|LowCardinality)\()*(?:String|FixedString|Enum|UUID|IPv)/.test(type)

const labelOf = (row: SqlRow, labels: readonly SqlColumn[]) => labels.map(({ name }) => String(row[name] ?? '')).join(', ')

/** The last number of the row for a number tile, and one number for each group for a tile over time. */
function toProductValues(columns: readonly SqlColumn[], rows: readonly SqlRow[], isGrouped: boolean): Values {
  const value = columns.findLast(({ type }) => kindOfType(type) === 'number') ?? refuse('the translated query has no number')
  if (!isGrouped && rows.length > 1) return refuse('the translated query has several rows')
  const labels = isGrouped ? columns.filter((column) => !hasTimeType(column) && column !== value) : []
  return new Map(rows.map((row) => [labelOf(row, labels), toNumber(row[value.name])]))
}

class FailsInGrafana extends UnusableSql {}

function fail(reason: string): never {
  throw new FailsInGrafana(reason)
}

/** One number for each row, or one for each series over time, as pkg/expr/converter.go of grafana/grafana reads an answer. */
function toGrafanaValues(columns: readonly SqlColumn[], rows: readonly SqlRow[], reduction: Reduction | undefined): Values {
  const isNumeric = ({ type }: SqlColumn) => kindOfType(type) === 'number' || /^(?:Nullable\()?Decimal/.test(type)
  const value = columns.find(isNumeric) ?? fail('the original query has no number')
  const time = columns.find(hasTimeType)
  const labels = columns.filter((column) => column !== value && !hasTimeType(column))
  const types = columns.map(({ name, type }) => quote(`${name}: ${type}`)).join(', ')
  if (!labels.every(hasTextType))
    (time === undefined ? fail : refuse)(`the original query has ${types}; Grafana takes one number, and texts as labels`)
  if (time !== undefined && reduction === undefined) return fail('the original query is a series over time, which needs a reduce')
  const groups = Map.groupBy(rows, (row) => labelOf(row, labels))
  if (time === undefined && groups.size < rows.length) return fail('the original query has several rows with the same labels')
  const reduce = (own: readonly SqlRow[]) => {
    const numbers = own.map((row) => toNumber(row[value.name]))
    return time === undefined || reduction === undefined ? (numbers[0] ?? Number.NaN) : reduceNumbers(numbers, reduction)
  }
  return new Map([...groups].map(([label, own]) => [label, reduce(own)]))
}

/** Reduces as pkg/expr/mathexp/reduce.go and pkg/expr/classic/reduce.go of grafana/grafana do. */
function reduceNumbers(all: readonly number[], { reducer, mode }: Reduction) {
  const isDropped = mode === 'dropNN' || (mode === 'classic' && reducer !== 'count')
  const replaced = all.map((value) => (typeof mode === 'object' && Number.isNaN(value) ? mode.replaceBy : value))
  const numbers = replaced.filter((value) => !isDropped || !Number.isNaN(value))
  const sum = numbers.reduce((total, value) => total + value, 0)
  if (reducer === 'count') return numbers.length
  if (reducer === 'last' || numbers.length === 0) return numbers.at(-1) ?? Number.NaN
  if (reducer === 'sum' || reducer === 'mean') return reducer === 'sum' ? sum : sum / numbers.length
  return reducer === 'min' ? Math.min(...numbers) : Math.max(...numbers)
}
