import { describe, expect, it } from 'vitest'
import { comparisonOf, luceneColumns, splitTerms, sqlInLucene } from '../../../../src/signals/backtest/terms.ts'

describe('the terms of a condition', () => {
  it('the terms of a condition are split at AND, and a condition of another form stays whole', () => {
    for (const [language, condition, terms] of [
      ['lucene', '', []],
      ['lucene', 'ServiceName:cart SeverityText:error', ['ServiceName:cart', 'SeverityText:error']],
      ['lucene', 'ServiceName:cart AND Body:"a AND b" && x', ['ServiceName:cart', 'Body:"a AND b"', 'x']],
      ['lucene', 'a NOT b -c !d', ['a', 'NOT b', '-c', '!d']],
      ['lucene', '(a:1 OR a:2) b:3', ['a:1 OR a:2', 'b:3']],
      ['lucene', 'a:(1 OR 2) b:[1 TO 5]', ['a:(1 OR 2)', 'b:[1 TO 5]']],
      ['lucene', 'NOT (a OR b)', ['NOT (a OR b)']],
      ['lucene', "it's a:1", ["it's", 'a:1']],
      ['lucene', 'a OR b c', ['a OR b c']],
      ['lucene', 'a && b || c', ['a && b || c']],
      ['sql', "(a = 'x') AND (b IN ('y', 'z') and c LIKE '% and %')", ["a = 'x'", "b IN ('y', 'z')", "c LIKE '% and %'"]],
      ['sql', '(a = 1) AND (b = 2 OR c = 3)', ['a = 1', 'b = 2 OR c = 3']],
      ['sql', '(a = 1) = (b = 2)', ['(a = 1) = (b = 2)']],
      ['sql', 'a = 1 or b = 2 AND c = 3', ['a = 1 or b = 2 AND c = 3']],
      ['sql', 'a BETWEEN 1 AND 2', ['a BETWEEN 1 AND 2']],
      ['sql', 'CASE WHEN a AND b THEN 1 END = 1', ['CASE WHEN a AND b THEN 1 END = 1']],
      ['sql', 'a = 1 -- AND b', ['a = 1 -- AND b']],
    ] as const)
      expect(splitTerms(condition, language), condition).toEqual(terms)
  })

  it('the terms of a condition are comparisons where they compare a column with one text', () => {
    for (const [language, term, column, value] of [
      ['lucene', 'ServiceName:chekout', 'ServiceName', 'chekout'],
      ['lucene', 'Body:"two words"', 'Body', 'two words'],
      ['lucene', 'LogAttributes.http.route:/api', "LogAttributes['http.route']", '/api'],
      ['sql', "ServiceName = 'chekout'", 'ServiceName', 'chekout'],
      ['sql', "LogAttributes['http.route']='/api'", "LogAttributes['http.route']", '/api'],
    ] as const)
      expect(comparisonOf(term, language), term).toEqual({ column, value })
    for (const term of ['ServiceName:che*', '-ServiceName:a', 'Duration:>5', 'a:[1 TO 2]', 'text', 'a:"it\\"s"'])
      expect(comparisonOf(term, 'lucene'), term).toBeUndefined()
    for (const term of ["lower(a) = 'b'", "a != 'b'", "a LIKE 'b'", 'a = 1']) expect(comparisonOf(term, 'sql'), term).toBeUndefined()
  })

  it('the terms of a condition in Lucene name columns, without the keys of maps and quoted texts', () =>
    expect(luceneColumns('(ServiceName:a OR -LogAttributes.http.route:"Body:x") NOT Duration:[1 TO 2] text ServiceName:b')).toEqual([
      'ServiceName',
      'LogAttributes',
      'Duration',
    ]))
})

/** Forms of SQL. The server matches no row with them, all rows with NOT, or refuses them. */
const sqlForms = [
  "SeverityText = 'error'",
  "SeverityText = 'error' AND ServiceName = 'checkout'",
  "SeverityText='error'",
  "ServiceName='checkout' AND SeverityText='error'",
  "SeverityText != 'info'",
  "SeverityText <> 'info'",
  "SeverityText IN ('error','fatal')",
  "SeverityText in ('error', 'fatal') and ServiceName = 'cart'",
  "NOT (SeverityText = 'info')",
  "Body LIKE '%timeout%'",
  "Body ILIKE '%timeout%'",
  "Body NOT LIKE '%health%'",
  'SeverityNumber >= 17',
  'SeverityNumber > 16',
  'SeverityNumber BETWEEN 17 AND 24',
  "LogAttributes['http.status_code'] = '500'",
  "ResourceAttributes['k8s.namespace.name'] = 'prod' AND SeverityText = 'error'",
  "lower(SeverityText) = 'error'",
  "match(Body, 'time.*out')",
  "positionCaseInsensitive(Body, 'error') > 0",
  'SeverityText = "error"',
  "SeverityText == 'error'",
  'ServiceName = checkout',
  "severitytext = 'error'",
  'TraceId IS NOT NULL',
  'Body IS NULL',
  "(SeverityText = 'error' OR SeverityText = 'fatal')",
  "toUInt16OrZero(LogAttributes['http.status_code']) >= 500",
  "ServiceName:checkout AND SeverityText = 'error'",
  "has(LogAttributes, 'x')",
  "mapContains(LogAttributes, 'http.route')",
  "SeverityText LIKE 'err%' OR Body LIKE '%fail%'",
  "startsWith(ServiceName, 'check')",
  "`ServiceName` = 'cart'",
  "otel_logs.SeverityText = 'error'",
]

/** What people write in Lucene, with texts of logs. */
const luceneForms = [
  'error',
  'payment declined',
  '"payment failed"',
  'SeverityText:error',
  'SeverityText:"error"',
  'SeverityText:err*',
  'ServiceName:checkout SeverityText:error',
  'ServiceName:checkout AND SeverityText:error',
  'ServiceName:checkout OR ServiceName:cart',
  '(ServiceName:checkout OR ServiceName:cart) SeverityText:error',
  'NOT SeverityText:info',
  '-SeverityText:info',
  'SeverityText:error NOT ServiceName:cart',
  'ServiceName:(checkout OR cart)',
  'SeverityNumber:17',
  'SeverityNumber:>13',
  'SeverityNumber:>=13',
  'SeverityNumber:[9 TO 17]',
  'SeverityNumber:{9 TO 17}',
  'LogAttributes.http.status_code:500',
  'LogAttributes.http.status_code:"500"',
  'LogAttributes.http.status_code:>400',
  'LogAttributes.http.route:*',
  '-LogAttributes.http.route:*',
  'ResourceAttributes.k8s.namespace.name:prod',
  'Body:"card-processor timeout"',
  "it's",
  'Body:100%',
  'foo\\:bar',
  'http*',
  '*fused',
  '"quoted" AND SeverityText:error',
  'NOT (error OR warn)',
  'status=500',
  'level=error',
  'user_id=42',
  'err != nil',
  'msg="connection reset" status=503',
  '"status = 500"',
  '"SELECT * FROM users"',
  'SELECT statement timeout',
  '"ServiceName = null"',
  'Body:"a = b"',
  'timeout in payment',
  'connection is closed',
  'disk is full',
  'like button',
  'between calls',
  'duration>1000',
  'retry >= 3',
  'a==b',
  '=>',
  'GET /api/v1/users',
  'POST /login 401',
  '/api/orders?id=5',
  'java.lang.NullPointerException',
  'OutOfMemoryError',
  '"out of memory"',
  'card-processor',
  'exit code 137',
  'error: could not connect',
  'Body:error Body:timeout',
  'SpanName:"GET /cart" StatusCode:Error',
  'StatusCode:Error AND NOT SpanName:health*',
  'Duration:>1000000000',
  'ServiceName:"my service" -Body:debug',
  'ResourceAttributes.rum.sessionId:* AND StatusCode:error',
  'Body:/v1/charge',
  'trace_id=abc123 level=warn',
  'lower(',
  'function(x) failed',
  'count(*)',
  'Timestamp:>2026',
  'ServiceName timeout',
  'Body contains error',
  'the Body = null bug',
  'events Duration > limit',
  'SeverityText',
  'ServiceName:checkout "Timestamp > now"',
]

describe('SQL in a condition in Lucene', () => {
  it('is found in each form', () => expect(sqlForms.filter((one) => sqlInLucene(one) === undefined)).toEqual([]))

  it('is not seen in conditions in Lucene, but for a comparison of a column with a number or a word', () =>
    expect(luceneForms.filter((one) => sqlInLucene(one) !== undefined)).toEqual([
      'duration>1000',
      'the Body = null bug',
      'events Duration > limit',
    ]))

  it('is shown as far as it shows what is meant', () => {
    expect(sqlInLucene("ServiceName:cart AND SeverityText = 'error'")).toBe('SeverityText =')
    expect(sqlInLucene("ServiceName IN ('a')")).toBe('ServiceName IN (')
    expect(sqlInLucene('Body:"a = 1" AND "Body = 1"')).toBeUndefined()
  })
})
