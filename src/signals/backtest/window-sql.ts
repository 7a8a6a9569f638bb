import { isClosed, isComment, refuseForm, toTokens } from '../../platform/core/sql.ts'
import { quote } from '../../platform/core/text.ts'
import type { Refusal } from './series-api.ts'

// The query of a raw SQL tile, as HyperDX 2.36 expands it for an alert (its macros.ts and rawSqlParams.ts). What cannot be a subquery, or
// would give another value today than in the past, is refused, and more.

/** A number tile gives one value. A tile over time names the windows of its rows. */
export type SqlShape = 'number' | 'over-time'

interface ExpandedSql {
  /** The words and signs of the expanded query, with a blank for several. */
  readonly parts: readonly Part[]
}

export interface WindowSql extends ExpandedSql {
  readonly template: string
  readonly shape: SqlShape
  readonly connectionId: string
  /** Undefined where the source is unknown. */
  readonly sourceId: string | undefined
  /** `database.table` */
  readonly tables?: readonly string[]
}

type Part = string | { readonly parameter: Parameter; readonly type: string }

const parameters = ['startDateMilliseconds', 'endDateMilliseconds', 'intervalSeconds', 'intervalMilliseconds'] as const

type Parameter = (typeof parameters)[number]

/** For metrics by their type; undefined where there is none. */
export type TableOf = (metricType: string | undefined) => string | undefined

interface Template {
  readonly text: string
  readonly shape: SqlShape
  readonly tableOf: TableOf
}

export const windowColumn = 'window__'

export class UnusableSql extends Error {}

class BrokenSql extends UnusableSql {}

export const refuse = (reason: string): never => {
  throw new UnusableSql(reason)
}

/** The expanded query, or why its values in the past are unknown. */
export const expandTemplate = (template: Template): ExpandedSql | Refusal =>
  orRefusal(() => {
    const expanded = expandSelect(template)
    // In brackets, it must stay one part of the batch.
    const form = refuseForm(expanded.join(''))
    if (form !== undefined) return { reason: form }
    refuseUnbatchable(expanded)
    return { parts: expanded.map((token) => toPart(token, template.shape)) }
  })

/** As the alert task of the server runs it, or why it must not be sent so. */
export const renderAlone = (template: Template, lengthMs: number): { readonly sql: string } | Refusal =>
  orRefusal(() => {
    // The other parameters are sent beside the query.
    const intervals = new Map([
      ['intervalSeconds', lengthMs / 1000],
      ['intervalMilliseconds', lengthMs],
    ])
    const render = (token: string): string => {
      const { name = '', type = '' } = parameterToken.exec(token)?.groups ?? {}
      const value = template.shape === 'over-time' ? intervals.get(name) : undefined
      return value === undefined ? token : `CAST(${value}, '${type.trim()}')`
    }
    return { sql: expandSelect(template).map(render).join('') }
  })

function orRefusal<T>(expand: () => T): T | Refusal {
  try {
    return expand()
  } catch (thrown) {
    if (!(thrown instanceof UnusableSql)) throw thrown
    return { reason: thrown.message, ...(thrown instanceof BrokenSql && { queryError: thrown.message }) }
  }
}

const refuseVariable = (): never => refuse('the tile uses variables of its dashboard')

export type PrintTime = (type: 'Date' | 'DateTime' | 'DateTime64', end: 'from' | 'to') => string

interface Macro {
  /** Undefined for a macro that ignores its arguments. */
  readonly count?: number
  readonly expand: (args: readonly string[], print: PrintTime) => string
}

const between = (column: string, type: Parameters<PrintTime>[0], print: PrintTime) =>
  `${column} >= ${print(type, 'from')} AND ${column} <= ${print(type, 'to')}`

const dateTimeFilter: Macro = {
  count: 2,
  expand: ([date = '', time = ''], print) => `(${between(date, 'Date', print)}) AND (${between(time, 'DateTime', print)})`,
}

/** The macros of a time range, which Grafana's data source for ClickHouse has, too. */
export const timeMacros: Readonly<Record<string, Macro>> = {
  fromTime: { expand: (_, print) => print('DateTime', 'from') },
  toTime: { expand: (_, print) => print('DateTime', 'to') },
  fromTime_ms: { expand: (_, print) => print('DateTime64', 'from') },
  toTime_ms: { expand: (_, print) => print('DateTime64', 'to') },
  timeFilter: { count: 1, expand: ([column = ''], print) => between(column, 'DateTime', print) },
  timeFilter_ms: { count: 1, expand: ([column = ''], print) => between(column, 'DateTime64', print) },
  dateFilter: { count: 1, expand: ([column = ''], print) => between(column, 'Date', print) },
  dateTimeFilter,
  dt: dateTimeFilter,
}

const macros: Readonly<Record<string, Macro>> = {
  ...timeMacros,
  timeInterval: {
    count: 1,
    expand: ([column = '']) => `toStartOfInterval(toDateTime(${column}), INTERVAL {intervalSeconds:Int64} second)`,
  },
  timeInterval_ms: {
    count: 1,
    expand: ([column = '']) => `toStartOfInterval(toDateTime64(${column}, 3), INTERVAL {intervalMilliseconds:Int64} millisecond)`,
  },
  interval_s: { expand: () => '{intervalSeconds:Int64}' },
  // Alerts have no selected filters.
  filters: { expand: () => '(1=1)' },
}

const printWindow: PrintTime = (type, end) => {
  const at = `fromUnixTimestamp64Milli({${end === 'from' ? 'startDateMilliseconds' : 'endDateMilliseconds'}:Int64})`
  return type === 'DateTime64' ? at : `to${type}(${at})`
}

/** Macros repeat their arguments, so that each level can double the query. */
const maxDepth = 10

/** Arguments are expanded first. What a macro becomes is not expanded again. Comments become blanks. */
export function expandMacros(text: string, expand: (name: string, args: readonly string[]) => string, depth = 0): string {
  if (depth > maxDepth) return refuse(`the query has macros inside of macros at more than ${maxDepth} levels`)
  const all = toTokens(text)
  let expanded = ''
  for (let i = 0; i < all.length; i++) {
    const token = all[i] ?? ''
    if (!isClosed(token)) throw new BrokenSql(`a ${isComment(token) ? 'comment' : 'quotation mark'} of the query is not closed`)
    if (!token.startsWith('$__')) {
      expanded += isComment(token) ? ' ' : checkToken(token)
      continue
    }
    const close = all[i + 1] === '(' ? closingBracket(all, i + 1) : i
    const args = close === i ? [] : splitArguments(all.slice(i + 2, close)).map((one) => expandMacros(one, expand, depth + 1))
    expanded += expand(token.slice(3), args)
    // The API accepts no longer query.
    if (expanded.length > 100_000) return refuse('the query is too long with its macros')
    i = close
  }
  return expanded
}

function expandMacro(name: string, args: readonly string[], tableOf: TableOf) {
  if (name === 'filter' || name === 'conditionalAll') return refuseVariable()
  if (name === 'sourceTable') {
    const table = tableOf(args[0])
    if (table === undefined) throw new BrokenSql('the macro $__sourceTable needs a source of the tile with such a table')
    return table
  }
  return expandWith(macros, name, args, printWindow) ?? refuse(`the macro ${quote(`$__${name}`)} is unknown`)
}

export function expandWith(
  list: Readonly<Record<string, Macro>>,
  name: string,
  args: readonly string[],
  print: PrintTime,
): string | undefined {
  const found = Object.hasOwn(list, name) ? list[name] : undefined
  if (found?.count !== undefined && found.count !== args.length) throw new BrokenSql(`the macro $__${name} has ${args.length} arguments`)
  return found?.expand(args, print)
}

function checkToken(token: string) {
  // The server reads quotation marks and references in other places than ClickHouse.
  if (/^['"`]./s.test(token) && /\$[A-Za-z_{]/.test(token)) return refuseVariable()
  if (/^["`]/.test(token) && /['"$]/.test(token.slice(1, -1))) return refuse('a name in the query contains a quotation mark')
  if (token === '$') return refuseVariable()
  if (token === '#') return refuse('the query has a comment with #; write --')
  return token
}

function closingBracket(all: readonly string[], open: number): number {
  let depth = 0
  for (let i = open; i < all.length; i++) {
    if (all[i] === '(') depth++
    if (all[i] === ')' && --depth === 0) return i
  }
  throw new BrokenSql('the arguments of a macro are not closed')
}

/** Splits at commas outside of brackets, and drops empty arguments. */
export function splitArguments(all: readonly string[]): readonly string[] {
  const args = ['']
  let depth = 0
  for (const token of all) {
    if (token === '(' || token === '[') depth++
    if (token === ')' || token === ']') depth--
    if (token === ',' && depth === 0) args.push('')
    else args.push(`${args.pop() ?? ''}${token}`)
  }
  return args.map((one) => one.trim()).filter((one) => one !== '')
}

/** One SELECT. The client of the server drops semicolons at the end. */
function expandSelect({ text, tableOf }: Template) {
  const all = toTokens(expandMacros(text, (name, args) => expandMacro(name, args, tableOf)))
  if (!/^(?:select|with|\()$/i.test(all.find((token) => token.trim() !== '') ?? '')) refuse('the query is not a SELECT')
  return all.slice(0, all.findLastIndex((token) => token.trim() !== '' && token !== ';') + 1)
}

const unstable =
  /^(?:now|now64|nowinblock|nowinblock64|today|yesterday|curdate|current_date|current_timestamp|utc_timestamp|utctimestamp|rand\w*|generate(?:uuid|ulid|snowflake|random)\w*)$/i

function refuseUnbatchable(all: readonly string[]) {
  const words = all.filter((token) => token.trim() !== '')
  for (const [i, word] of words.entries()) {
    if (unstable.test(word) && (words[i + 1] === '(' || /^(?:utc|current)_/i.test(word)))
      refuse(`the query uses ${word}, so its value in the past is unknown; use the end of the window`)
    if (word.includes(windowColumn)) refuse(`the query uses the name ${windowColumn}`)
  }
}

const parameterToken = /^\{\s*(?<name>\w+)\s*:(?<type>[^{}]*)\}$/

function toPart(token: string, shape: SqlShape): Part {
  const { name, type = '' } = parameterToken.exec(token)?.groups ?? {}
  if (name === undefined) return /^\s+$/.test(token) ? ' ' : token
  const known = parameters.find((one) => one === name)
  if (known === undefined || (shape === 'number' && known.startsWith('interval')))
    return refuse(`the server sets no parameter ${quote(name)} for a tile of this type`)
  const stated = ['Int64', 'UInt64', 'Float64'].find((one) => one === type.trim())
  return stated === undefined ? refuse(`the parameter ${name} has the type ${quote(type.trim())}`) : { parameter: known, type: stated }
}

export function renderWindow({ parts }: ExpandedSql, startMs: number, lengthMs: number): string {
  const values: Readonly<Record<Parameter, number>> = {
    startDateMilliseconds: startMs,
    endDateMilliseconds: startMs + lengthMs,
    intervalSeconds: lengthMs / 1000,
    intervalMilliseconds: lengthMs,
  }
  return parts.map((part) => (typeof part === 'string' ? part : `to${part.type}(${values[part.parameter]})`)).join('')
}

/** Rows have the number of their window, and keep no order. */
export const renderBatch = (sql: ExpandedSql, starts: readonly number[], lengthMs: number): string =>
  starts.map((startMs, i) => `SELECT ${i} AS ${windowColumn}, * FROM (${renderWindow(sql, startMs, lengthMs)})`).join('\nUNION ALL\n')
