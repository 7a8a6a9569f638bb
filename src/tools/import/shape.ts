// What a query returns, as its SELECT list says, and a query of an alert with the same values. Grafana reads one number, or one for each
// combination of labels, or series over time, which a reducer turns into numbers.

import { isComment, toTokens } from '../../platform/core/sql.ts'
import { quote } from '../../platform/core/text.ts'
import { refuse, splitArguments } from '../../signals/backtest/window-sql.ts'

export interface Reduction {
  readonly reducer: 'last' | 'mean' | 'min' | 'max' | 'sum' | 'count'
  /** `classic` skips NULL and NaN; `strict` makes them the result. */
  readonly mode: 'classic' | 'strict' | 'dropNN' | { readonly replaceBy: number }
}

export interface AlertSql {
  readonly sql: string
  readonly isGrouped: boolean
  /** `never`: always one number. `number`: one row, maybe without a number. `rows`: maybe no row. */
  readonly missing: 'never' | 'number' | 'rows'
  /** Whether several rows are possible, of which the server compares the first. Grafana fails. */
  readonly mayHaveRows?: boolean
  readonly isWhole: boolean
  /** What depends on the order of the rows, where the query does not sort them by time. */
  readonly unsorted?: string
  /** The types that Grafana needs and the text of the query does not tell, such as `service is a text`. */
  readonly untold: readonly string[]
}

interface Column {
  readonly expression: string
  /** The name as the query spells it; undefined for an expression without alias. */
  readonly name: string | undefined
}

const advice = 'select one number, with a time and labels where they are needed, and group by the labels'

/** Throws an UnusableSql for a query whose result is unclear. `worst` combines groups to one value. `isTable`: Grafana converts no rows. */
export function toAlertSql(sql: string, reduction: Reduction | undefined, worst: 'max' | 'min' | undefined, isTable = false): AlertSql {
  const select = readSelect(sql)
  const { has } = select
  const roles = rolesOf(select)
  const { value, time, labels } = roles
  const shape = {
    isWhole: isCount(value.expression) && reduction?.reducer !== 'mean',
    untold: select.columns.flatMap((one) => {
      const type = one === value ? 'Number' : one === time ? 'Time' : 'Text'
      const { expression, name = expression } = one
      return typeOf(expression).replace('Count', 'Number') === type ? [] : [`${quote(name)} is a ${type.toLowerCase()}`]
    }),
  }
  if (time !== undefined && reduction === undefined) return refuse('the threshold is for a series over time; add a reduce expression')
  if (typeOf(value.expression) === 'Bool') return refuse('the rule always fails in Grafana, which takes no Bool for a number')
  if (time === undefined && typeof reduction?.mode === 'object') return refuse('replaceNN is about a number; write it in the SQL')
  if (time !== undefined && labels.length > 0 && isTable)
    return refuse('the rule always fails in Grafana, because a table with times and labels is not a series; set its format to Time series')
  if (labels.length > 0 || time !== undefined) {
    const { isDescending, unsorted } = readOrder(select, roles, reduction)
    const combined = combineRows(select, { ...roles, isDescending }, reduction, worst)
    return { ...combined, ...shape, missing: 'rows', ...(unsorted !== undefined && { unsorted }) }
  }
  if (has('GROUP')) return refuse(`the query has several rows without labels; ${advice}`)
  const isRow = has('FROM') && !isAggregate(value)
  const missing = isRow || ['HAVING', 'LIMIT', 'OFFSET'].some(has) ? 'rows' : isCount(value.expression) ? 'never' : 'number'
  const row = { isGrouped: false, missing, mayHaveRows: isRow && !has('LIMIT 1') } as const
  return { ...shape, ...row, sql: isNumber(value.expression) ? sql : withFloat(select, value) }
}

function rolesOf({ columns, has }: Select) {
  const [time, second] = columns.length === 1 ? [] : columns.filter((one) => isTime(one, columns))
  const labels = has('GROUP') ? columns.filter((one) => one !== time && !isAggregate(one)) : []
  const [value, ...others] = columns.filter((one) => one !== time && !labels.includes(one))
  if (value === undefined || others.length > 0 || second !== undefined) return refuse(`the columns of the query are unclear; ${advice}`)
  return { value, time, labels }
}

type Roles = ReturnType<typeof rolesOf>

/**
 * The order of the rows in time. Grafana takes the last row as it comes, and converts rows with labels only where their times ascend:
 * LongToWide of grafana/grafana-plugin-sdk-go.
 */
function readOrder({ columns, order, has }: Select, { time, labels }: Roles, reduction: Reduction | undefined) {
  const [, key = '', direction = 'ASC'] =
    /^(.*?)(?: (asc|desc)(?:ending)?)?(?: (?:nulls|with|collate) .*)?$/i.exec(order.trim().replace(/\s+/g, ' ')) ?? []
  const bare = (text: string | undefined) => text?.replace(/["`]/g, '')
  const isSorted = time === undefined || [bare(time.name), bare(time.expression)].includes(bare(key)) || columns[Number(key) - 1] === time
  // Without times, each row is an alert instance, in whatever order.
  const isDescending = time !== undefined && isSorted && /^desc/i.test(direction)
  if (isDescending && labels.length > 0 && !has('LIMIT 1'))
    return refuse('the rule always fails in Grafana, because rows with labels must have ascending times; correct its ORDER BY')
  const unsorted =
    labels.length > 0
      ? 'the query does not sort by time first, and Grafana failed where its rows came in another order'
      : 'the row with the latest time is the last one; the query does not sort by time, and Grafana took its last row'
  const isAffected = !isSorted && (labels.length > 0 || reduction?.reducer === 'last')
  return { isDescending, unsorted: isAffected ? unsorted : undefined }
}

const withFloat = ({ head, tail }: Select, { expression, name: alias }: Column) =>
  `${head} toFloat64(${expression})${alias === undefined ? '' : ` AS ${alias}`}${tail}`

/** Reduces a series, and gives each group the time that a tile over time needs. */
function combineRows(
  { head, columns, tail }: Select,
  { value, time, labels, isDescending }: Roles & { readonly isDescending: boolean },
  reduction: Reduction | undefined,
  worst: 'max' | 'min' | undefined,
) {
  const nameOf = (one: Column) => one.name ?? `column${columns.indexOf(one) + 1}__`
  const inner = `(\n${head} ${columns.map((one) => `${one.expression}${one.name === one.expression ? '' : ` AS ${nameOf(one)}`}`).join(', ')}${tail}\n)`
  const plain = isCount(value.expression) ? nameOf(value) : `toFloat64(${nameOf(value)})`
  const reduced =
    time === undefined || reduction === undefined
      ? plain
      : reduceSql(reduction, nameOf(value), nameOf(time), isDescending ? 'argMin' : 'argMax')
  const names = labels.map(nameOf)
  const from = `${inner}${time === undefined || names.length === 0 ? '' : `\nGROUP BY ${names.join(', ')}`}`
  if (names.length === 0) return { sql: `SELECT ${reduced} AS "Value"\nFROM ${from}`, isGrouped: false }
  if (worst !== undefined)
    return { sql: `SELECT ${worst}(value__) AS "Value"\nFROM (SELECT ${reduced} AS value__ FROM ${from})`, isGrouped: false }
  const selected = [
    `${windowStart} AS "Window start"`,
    ...names.map((label) => `ifNull(toString(${label}), '') AS ${label}`),
    `${reduced} AS "Value"`,
  ]
  return { sql: `SELECT\n  ${selected.join(',\n  ')}\nFROM ${from}`, isGrouped: true }
}

/** The server compares the rows that have the start of the evaluated window. */
const windowStart = 'toStartOfInterval(fromUnixTimestamp64Milli({endDateMilliseconds:Int64} - 1), INTERVAL {intervalSeconds:Int64} second)'

/** Reduces a series as Grafana does in pkg/expr/mathexp/reduce.go and pkg/expr/classic/reduce.go. */
function reduceSql({ reducer, mode }: Reduction, value: string, time: string, last: 'argMin' | 'argMax') {
  const number = `toFloat64(${value})`
  const orNan = `ifNull(${number}, nan)`
  if (reducer === 'count') return mode === 'dropNN' ? `countIf(isFinite(${orNan}))` : 'count()'
  const name = reducer === 'mean' ? 'avg' : reducer === 'last' ? last : reducer
  const order = reducer === 'last' ? `, ${time}` : ''
  if (typeof mode === 'object') return `${name}(if(isFinite(${orNan}), ${number}, ${mode.replaceBy})${order})`
  if (mode !== 'strict') return `${name}If(${number}${order}, ${mode === 'dropNN' ? `isFinite(${orNan})` : `NOT isNaN(${orNan})`})`
  return reducer === 'last' ? `${last}(${orNan}${order})` : `if(countIf(isNaN(${orNan})) = 0, ${name}(${number}), nan)`
}

type Select = ReturnType<typeof readSelect>

/** The text up to SELECT, its columns, the text after them, what it sorts by first, and whether the query has a clause. */
function readSelect(sql: string) {
  const tokens = toTokens(sql)
  let depth = 0
  const outside = tokens.flatMap((token, i) => {
    if (/^[)\]]$/.test(token)) depth--
    const isWord = depth === 0 && /^\w+$/.test(token)
    if (/^[([]$/.test(token)) depth++
    return isWord ? [{ word: token.toUpperCase(), i }] : []
  })
  const start = outside.find(({ word }) => word === 'SELECT')?.i
  if (start === undefined || !/^\s*(?:select|with)\b/i.test(sql)) return refuse('the query is not a SELECT')
  const after = outside.filter(({ i }) => i > start)
  const refused = after.find(({ word }) => /^(?:UNION|EXCEPT|INTERSECT|DISTINCT|TOTALS|ROLLUP|CUBE|SELECT)$/.test(word))
  if (refused !== undefined) return refuse(`the query has ${refused.word}, so that its rows are unclear; ${advice}`)
  const end = after.find(({ word }) => /^(?:FROM|WHERE|GROUP|HAVING|ORDER|LIMIT|SETTINGS|FORMAT)$/.test(word))?.i ?? tokens.length
  const columns = splitArguments(tokens.slice(start + 1, end)).map(toColumn)
  if (columns.some(({ expression }) => /(?:^|\.)\*$/.test(expression))) return refuse(`the query selects all columns; ${advice}`)
  const present = new Set(after.map(({ word }) => word))
  const byOrder = after.find(({ word }, i) => word === 'BY' && after[i - 1]?.word === 'ORDER')?.i
  const untilOrder = after.find(({ word, i }) => i > (byOrder ?? end) && /^(?:LIMIT|OFFSET|SETTINGS|FORMAT)$/.test(word))?.i
  const [order = ''] = byOrder === undefined ? [] : splitArguments(tokens.slice(byOrder + 1, untilOrder))
  const rest = tokens.slice(end).join('')
  if (/\blimit\s+1\s*(?:$|settings\b)/i.test(rest) && present.delete('LIMIT')) present.add('LIMIT 1')
  const tail = rest === '' ? '' : `${/\n[^\S\n]*$/.test(tokens[end - 1] ?? '') ? '\n' : ' '}${rest}`
  return { head: tokens.slice(0, start + 1).join(''), columns, tail, order, has: (clause: string) => present.has(clause) }
}

const name = /^(?:[A-Za-z_]\w*|`.*`|".*")$/s

function toColumn(text: string): Column {
  const words = toTokens(text).filter((token) => token.trim() !== '')
  const [last = '', before = ''] = [words.at(-1), words.at(-2)]
  if (!name.test(last) || /^end$/i.test(last)) return { expression: text, name: undefined }
  if (words.length === 1 || before === '.') return { expression: text, name: last }
  const isWord =
    /^(?:and|or|not|is|i?like|in|between|interval|case|then|else|div|mod)$/i.test(before) || /^(?:null|true|false)$/i.test(last)
  const isAlias = /^as$/i.test(before) || (!isWord && /^(?:\)|[A-Za-z_]\w*|['`"].*['`"])$/s.test(before))
  const expression = text.slice(0, text.lastIndexOf(last)).trim()
  return isAlias ? { expression: expression.replace(/(?<!\s)\s+as$/i, ''), name: last } : { expression: text, name: undefined }
}

const timeName =
  /^(?:t|ts|dt|(?:\w*_)?(?:time|timestamp|date|datetime|bucket|minute|hour|day|at)|\w*[a-z](?:Time|Timestamp|Date|Bucket|At))$/

/** Decides by the function or the name of a column, because its type is not known. */
function isTime(column: Column, all: readonly Column[]) {
  const hasTimeName = timeName.test((column.name ?? '').replace(/["`]/g, ''))
  if (isAggregate(column)) return hasTimeName && /^(?:min|max)\b/i.test(column.expression) && all.filter(isAggregate).length > 1
  return hasTimeName || callTypes.Time.test(column.expression.replace(/\s*\(.*/s, '(x)'))
}

const isAggregate = ({ expression }: Column) =>
  /\b(?:count|sum|avg|min|max|any|uniq|quantile|median|arg(?:min|max)|stddev|var(?:pop|samp)|corr|group(?:array|uniq)|topk|first_value|last_value)\w*\s*\(/i.test(
    expression,
  ) && !/\b(?:over|select)\b/i.test(expression)

/** Always a whole number, also without rows. */
const isCount = (expression: string) => typeOf(expression) === 'Count'

/** Whether the server takes the result for a number. It does not take a decimal for one. */
const isNumber = (expression: string) => /Count|Number/.test(typeOf(expression)) && !/sum|decimal|quantile|median/i.test(expression)

/** Calls, with the types of their arguments, by their own type. A quantity is a number or a time. */
const callTypes = {
  Count: /^(?:count|uniq(?:Exact|Combined(?:64)?)?)(?:If|Array|Distinct|Merge|OrDefault)*\(/i,
  Number:
    /^(?:(?:count|uniq|sum)(?:If|OrNull)*|to(?:Float|U?Int|Decimal)\d+|date_?diff|length)\(|^(?:round|floor|ceil|abs|min|max|avg|ifNull)\((?:(?:Count|Number),?)+\)/i,
  Quantity: /^(?:avg|median|quantile(?:Exact|TDigest|Timing)?)(?:If|OrNull)*\(/i,
  Bool: /^toBool\(/i,
  Text: /^(?:toString|lower|upper)\(|^concat\(.*Text/i,
  Time: /^(?:toStartOf\w+|toDateTime(?:64)?|toDate|timeSlot|date_?trunc|fromUnixTimestamp64\w+|parseDateTime\w*)\(|^fromUnixTimestamp\(\w+\)/i,
}

const toTerm = (token: string) =>
  /^\d/.test(token)
    ? 'Number'
    : token.startsWith("'")
      ? 'Text'
      : /^["`]/.test(token)
        ? 'other'
        : isComment(token)
          ? ' '
          : token.toLowerCase()

/** The type of an expression whatever its columns are, but for Dynamic and NULL; `other` where its text does not tell one. */
function typeOf(expression: string): string {
  let terms = toTokens(expression).map(toTerm).join('').replace(/\s+/g, ' ')
  // Inside out. Parameters are before arguments: quantile(0.9)(Duration).
  for (let depth = 0; depth < 50; depth++)
    terms = terms.replace(/\[[^()[\]]*\]|(?<!\w)(\w*)(?:\([^()[\]]*\))?\(([^()[\]]*)\)(?!\()/g, (_, name, args = '') => {
      const call = `${name}(${args.split(',').map(typeOfTerms)})`
      return Object.entries(callTypes).find(([, calls]) => calls.test(call))?.[0] ?? /^\((\w+)\)$/.exec(call)?.[1] ?? 'other'
    })
  return typeOfTerms(terms)
}

function typeOfTerms(terms: string) {
  const whole = terms
    .trim()
    // A subquery may be NULL.
    .replace(/^select (.*?) (?:as \w+ )?from (?!.*\b(?:union|except|intersect)\b).*/, (_, one) => one.replace('Count', 'Number'))
    .replace(/Quantity(?= ?[*/])|(?<=[*/] ?)Quantity/g, 'Number')
  if (Object.hasOwn(callTypes, whole)) return whole
  const isOther = /[^\w .<>=!+*/%-]|\b(?:case|select|null)\b/.test(whole)
  // A comparison with AND and a Bool is a Bool.
  const isNumeric = (one: string) => /[<>=]|^(?:[-+*/%. ]*(?:Count|Number))+$/.test(one)
  return !isOther && whole.split(/ (?:and|or) /).every(isNumeric) ? 'Number' : 'other'
}
