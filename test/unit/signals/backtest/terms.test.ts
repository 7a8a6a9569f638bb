import { describe, expect, it } from 'vitest'
import { comparisonOf, luceneColumns, splitTerms } from '../../../../src/signals/backtest/terms.ts'

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
