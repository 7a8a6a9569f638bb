// The expansion of macros is that of HyperDX 2.36 (packages/common-utils/src/macros.ts). recorded-runs.test.ts has the product's evaluations.
import { describe, expect, it } from 'vitest'
import { expandTemplate, renderAlone, renderBatch, renderWindow, type SqlShape } from '../../../../src/signals/backtest/window-sql.ts'

const tableOf = (metricType: string | undefined): string | undefined => (metricType === undefined ? '`default`.`otel_logs`' : undefined)

const expand = (text: string, shape: SqlShape = 'over-time') => expandTemplate({ text, shape, tableOf })

/** The query for the first five minutes after `startMs`. */
function render(text: string, shape?: SqlShape): string {
  const expanded = expand(text, shape)
  return 'reason' in expanded ? expanded.reason : renderWindow(expanded, 1000, 300_000)
}

const start = 'fromUnixTimestamp64Milli(toInt64(1000))'
const end = 'fromUnixTimestamp64Milli(toInt64(301000))'

describe('a query of a raw SQL tile', () => {
  it('has the start and the end of its window in place of its parameters', () => {
    expect(render('SELECT 1 WHERE t >= { startDateMilliseconds : UInt64 } AND t < {endDateMilliseconds:Int64} - 300000')).toBe(
      'SELECT 1 WHERE t >= toUInt64(1000) AND t < toInt64(301000) - 300000',
    )
    expect(render('SELECT {intervalSeconds:Int64}, {intervalMilliseconds:Int64}, {endDateMilliseconds:Float64}')).toBe(
      'SELECT toInt64(300), toInt64(300000), toFloat64(301000)',
    )
  })

  it.each([
    ['$__timeFilter(t)', `t >= toDateTime(${start}) AND t <= toDateTime(${end})`],
    ['$__timeFilter_ms(t)', `t >= ${start} AND t <= ${end}`],
    ['$__dateFilter(d)', `d >= toDate(${start}) AND d <= toDate(${end})`],
    [
      '$__dt( toDate(t), t )',
      `(toDate(t) >= toDate(${start}) AND toDate(t) <= toDate(${end})) AND (t >= toDateTime(${start}) AND t <= toDateTime(${end}))`,
    ],
    ['t < $__toTime', `t < toDateTime(${end})`],
    ['t < $__toTime_ms AND t >= $__fromTime_ms()', `t < ${end} AND t >= ${start}`],
    ["$__timeFilter(if(a, t, toDateTime('2026-01-01, ()')))", `if(a, t, toDateTime('2026-01-01, ()')) >= toDateTime(${start})`],
    ['$__timeFilter_ms($__fromTime_ms)', `${start} >= ${start} AND ${start} <= ${end}`],
    ['($__timeFilter_ms(t))', `(t >= ${start} AND t <= ${end})`],
    ['$__filters AND t < $__toTime', `(1=1) AND t < toDateTime(${end})`],
  ])('expands the macros of %s as the server does', (written, expanded) => {
    expect(render(`SELECT 1 WHERE ${written}`)).toContain(`SELECT 1 WHERE ${expanded}`)
  })

  it('has the table of the source, and windows of the interval', () => {
    expect(render('SELECT $__timeInterval(t), $__timeInterval_ms(t), $__interval_s FROM $__sourceTable WHERE t < $__toTime')).toBe(
      `SELECT toStartOfInterval(toDateTime(t), INTERVAL toInt64(300) second), toStartOfInterval(toDateTime64(t, 3), INTERVAL toInt64(300000) millisecond), toInt64(300) FROM \`default\`.\`otel_logs\` WHERE t < toDateTime(${end})`,
    )
  })

  it('loses comments, which could hide the rest of a batch, and semicolons at the end', () => {
    expect(render("SELECT '-- a /* b' -- $__nope\n/* ; */ , {endDateMilliseconds:Int64} -- end\n;\n ;")).toBe(
      "SELECT '-- a /* b' , toInt64(301000)",
    )
  })

  it.each([
    ['SELECT 1; SELECT {endDateMilliseconds:Int64}', 'its SQL has a semicolon; write one SELECT without it'],
    ['SHOW TABLES', 'the query is not a SELECT'],
    ['SELECT {endDateMilliseconds:Int64})', 'its SQL has a bracket that is not opened'],
    ['SELECT ({endDateMilliseconds:Int64}', 'its SQL has a bracket that is not closed'],
    ['SELECT {endDateMilliseconds:Int64}) UNION ALL (SELECT 2', 'its SQL has a bracket that is not opened'],
    ['SELECT {endDateMilliseconds:Int64} /* open', 'a comment of the query is not closed'],
    ["SELECT {endDateMilliseconds:Int64}, 'open", 'a quotation mark of the query is not closed'],
    ['SELECT {endDateMilliseconds:Int64} # comment', 'the query has a comment with #; write --'],
    ["SELECT {endDateMilliseconds:Int64}, 'of $env'", 'the tile uses variables of its dashboard'],
    ['SELECT {endDateMilliseconds:Int64} WHERE a = $env', 'the tile uses variables of its dashboard'],
    ['SELECT {endDateMilliseconds:Int64} WHERE $__filter(a, b)', 'the tile uses variables of its dashboard'],
    ['SELECT {endDateMilliseconds:Int64} WHERE $__conditionalAll(a, b)', 'the tile uses variables of its dashboard'],
    ['SELECT {endDateMilliseconds:Int64} WHERE $__nope(a)', 'the macro $__nope is unknown'],
    ['SELECT 1 WHERE $__timeFilter()', 'the macro $__timeFilter has 0 arguments'],
    ['SELECT 1 FROM $__sourceTable(gauge)', 'the macro $__sourceTable needs a source of the tile with such a table'],
    [
      'SELECT 1 WHERE t > now() - 300 AND t < $__toTime',
      'the query uses now, so its value in the past is unknown; use the end of the window',
    ],
    ['SELECT rand() WHERE t < $__toTime', 'the query uses rand, so its value in the past is unknown; use the end of the window'],
    ['SELECT {other:Int64}', 'the server sets no parameter other for a tile of this type'],
    ['SELECT {endDateMilliseconds:DateTime64(3)}', 'the parameter endDateMilliseconds has the type DateTime64(3)'],
    ['SELECT {endDateMilliseconds:Int64} AS window__', 'the query uses the name window__'],
    ["SELECT {endDateMilliseconds:Int64} AS `it's`", 'a name in the query contains a quotation mark'],
    ["SELECT {endDateMilliseconds:Int64} AS `'s`", 'a name in the query contains a quotation mark'],
    ['SELECT {endDateMilliseconds:Int64} AS "s$"', 'a name in the query contains a quotation mark'],
  ])('is refused as part of a batch: %s', (text, reason) => {
    expect(expand(text)).toMatchObject({ reason })
  })

  it('the SQL of a number tile has no interval, because the server sets none', () => {
    expect(expand('SELECT {intervalSeconds:Int64}, {endDateMilliseconds:Int64}', 'number')).toEqual({
      reason: 'the server sets no parameter intervalSeconds for a tile of this type',
    })
  })

  it('may use words of clauses as names and functions', () => {
    const text = "SELECT format('{}', a), settings['x'], t.format, a AS today WHERE t < $__toTime"
    expect(render(text)).toBe(text.replace('$__toTime', `toDateTime(${end})`))
  })

  it('is one of many in a batch, with the number of its window', () => {
    const expanded = expand('SELECT {endDateMilliseconds:Int64} AS a')
    if ('reason' in expanded) throw new Error(expanded.reason)
    expect(renderBatch(expanded, [0, 60_000], 60_000)).toBe(
      'SELECT 0 AS window__, * FROM (SELECT toInt64(60000) AS a)\nUNION ALL\nSELECT 1 AS window__, * FROM (SELECT toInt64(120000) AS a)',
    )
  })
})

describe('a query that is run by itself', () => {
  const alone = (text: string, shape: SqlShape = 'over-time') => renderAlone({ text, shape, tableOf }, 300_000)

  it.each([
    ['SELECT count( FROM t WHERE $__timeFilter(a)', /^SELECT count\( FROM t WHERE a >= .* AND a <= /],
    ['SELECT count()) FROM t', /^SELECT count\(\)\) FROM t$/],
    ['SELECT count() FROM t WHERE a > now() -- b\n;', /^SELECT count\(\) FROM t WHERE a > now\(\)$/],
    ['SELECT 1 FORMAT CSV', /^SELECT 1 FORMAT CSV$/],
    ['SELECT {other:Int64}, {startDateMilliseconds:DateTime64(3)}', /^SELECT \{other:Int64\}, \{startDateMilliseconds:DateTime64\(3\)\}$/],
  ])('is sent with what is wrong in it: %s', (text, sent) => {
    expect(alone(text)).toEqual({ sql: expect.stringMatching(sent) })
  })

  it('W4: is not sent with a macro that was not replaced, which may begin a text for ClickHouse', () => {
    expect(alone('SELECT 1 WHERE $__nope(a, 1)')).toEqual({ reason: 'the macro $__nope is unknown' })
    const [count, table] = [
      'the macro $__timeFilter has 0 arguments',
      'the macro $__sourceTable needs a source of the tile with such a table',
    ]
    expect(alone('SELECT 1 WHERE $__timeFilter()')).toEqual({ reason: count, queryError: count })
    expect(alone('SELECT 1 FROM $__sourceTable(gauge)')).toEqual({ reason: table, queryError: table })
  })

  it('has the interval of a tile over time in its type, and the parameters that are sent beside it', () => {
    expect(alone("SELECT {intervalSeconds:UInt32}, $__timeInterval(a), '{intervalSeconds:Int64}', {endDateMilliseconds:Int64}")).toEqual({
      sql: "SELECT CAST(300, 'UInt32'), toStartOfInterval(toDateTime(a), INTERVAL CAST(300, 'Int64') second), '{intervalSeconds:Int64}', {endDateMilliseconds:Int64}",
    })
    expect(alone('SELECT {intervalSeconds:Int64}', 'number')).toEqual({ sql: 'SELECT {intervalSeconds:Int64}' })
  })

  it.each([
    ['DROP TABLE t', 'the query is not a SELECT'],
    ['SELECT 1 # a', 'the query has a comment with #; write --'],
    ['SELECT 1 WHERE a = $env', 'the tile uses variables of its dashboard'],
  ])('is not sent in a form that could do more than read: %s', (text, reason) => {
    expect(alone(text)).toEqual({ reason })
  })

  it.each([
    ["SELECT 1 WHERE a = 'open", 'a quotation mark of the query is not closed'],
    ['SELECT 1 /* open', 'a comment of the query is not closed'],
    ['SELECT 1 WHERE $__timeFilter(a', 'the arguments of a macro are not closed'],
  ])('is known to fail without a request: %s', (text, reason) => {
    expect(alone(text)).toEqual({ reason, queryError: reason })
  })
})

it('macros that repeat their arguments without end are refused at once', () => {
  const nested = (levels: number): string => `${'$__timeFilter('.repeat(levels)}t${')'.repeat(levels)}`
  expect(expand(`SELECT ${nested(5000)}`)).toEqual({ reason: 'the query has macros inside of macros at more than 10 levels' })
  // A macro that does not repeat its argument.
  const atLevels = (levels: number): string => `SELECT ${'$__timeInterval('.repeat(levels)}t${')'.repeat(levels)}, $__toTime`
  expect([expand(atLevels(10)), expand(atLevels(11))]).toEqual([
    expect.not.objectContaining({ reason: expect.anything() }),
    { reason: 'the query has macros inside of macros at more than 10 levels' },
  ])
  expect(expand(`SELECT ${nested(10)}${`, ${nested(1)}`.repeat(3000)}`)).toEqual({ reason: 'the query is too long with its macros' })
})
