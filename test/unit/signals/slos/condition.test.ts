import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refuseCondition } from '../../../../src/signals/slos/condition.ts'
import { forEachEntry } from '../../../support/corpus.ts'

describe('a condition of an SLO', () => {
  it('a condition of an SLO is accepted where it is one SQL expression', () =>
    forEachEntry(
      [
        "StatusCode != 'Error'",
        '1 = 1',
        "ServiceName IN ('cart', 'checkout') AND NOT (SpanName LIKE '%health%')",
        "SpanAttributes['http.status_code'] < '500'",
        "toUInt16OrZero(SpanAttributes['http.status_code']) < 500",
        'Duration / 1e6 <= 250.5 AND Duration > -1 AND a - -1 = 2',
        "match(SpanName, '^/api/(v1|v2)/[a-z]+$')",
        "SpanName = 'it''s' OR SpanName = 'it\\'s' OR SpanName = 'a;b--c/*d*/#{x:T}'",
        'payload.code.:Int64 >= 500 AND payload.a[].b.:`String` = 1',
        'attributes.`k8s.pod.name`::String = \'x\' AND "column"[1] = 2',
        "arrayExists(x -> x = 'timeout', tags)",
        "SpanName = 'größe' || 'é'",
        'asset = 1 AND selected = 2',
        'a\n  AND b\n',
      ],
      (text) => expect(refuseCondition(text)).toBeUndefined(),
    ))

  it('a condition of an SLO is refused, with the reason, where it could change the rest of the query', () =>
    forEachEntry(
      [
        ['', 'is empty'],
        [' \n', 'is empty'],
        ['1=1) OR (1=1', 'bracket ()) that is not opened'],
        ['f(x', 'bracket (() that is not closed'],
        ['f(x]', 'bracket (]) that is not opened'],
        ['a[1', 'bracket ([) that is not closed'],
        ["a = 'x", "quotation mark (') that is not closed"],
        ["a = 'x\\'", "quotation mark (') that is not closed"],
        ["a = 'x''", "quotation mark (') that is not closed"],
        ['"a = 1', 'quotation mark (") that is not closed'],
        ['`a = 1', 'quotation mark (`) that is not closed'],
        ['a = 1; DROP TABLE t', 'must not contain ;'],
        ['a = 1 -- b', 'comments (--)'],
        ['a /* b */ = 1', 'comments (/*)'],
        ['a = 1 # b', 'must not contain #'],
        ['a, b', 'comma outside of brackets'],
        ['$__timeFilter(a)', 'must not contain $'],
        ["a = '$__filters'", '$ before a letter'],
        ['a = "$' + '{name}"', '$ before a letter'],
        ['a = {x:String}', 'must not contain {'],
        ['a = $$b$$', 'must not contain $'],
        ['StatusCode:Error', 'Lucene'],
        ['payload.code:Error', 'Lucene'],
        ['a ? b : c', 'must not contain ?'],
        ['(a = 1 AS b)', 'must not contain AS'],
        ['(a = 1 as b)', 'must not contain AS'],
        ['a IN (SELECT b FROM c)', 'subquery'],
        ['arrayJoin(tags) = 1', 'multiplies rows'],
        ['unnest(tags) = 1', 'multiplies rows'],
        ['"arrayJoin"(tags) = 1', 'name of a function in quotation marks'],
        ['`array\\x4aoin` (tags) = 1', 'name of a function in quotation marks'],
        ['slo__long_total = 1', 'names that start with slo__'],
        ['`slo__long_total` = 1', 'names that start with slo__'],
        ['a = ‘b’', 'not ASCII'],
        ['a = 1 \u2212 1', 'not ASCII'],
        ['a = 1 \u0000', 'not ASCII'],
        ["a = 'b\u0000'", 'control character'],
        ['a = 1 \\', 'must not contain \\'],
      ] as const,
      (text, reason) => expect(refuseCondition(text)).toContain(reason),
    ))
})

/**
 * An independent reading of SQL, by the states of ClickHouse's lexer: the tokens, or undefined where a text, a name or a comment is not
 * closed. Comments are tokens, so that they do not disappear.
 */
function readSql(text: string): readonly string[] | undefined {
  const tokens: string[] = []
  for (let start = 0; start < text.length && text[start] !== '\u0000'; ) {
    const end = endOfToken(text, start)
    if (end === undefined) return undefined
    const token = text.slice(start, end)
    if (token.trim() !== '') tokens.push(token)
    start = end
  }
  return tokens
}

function endOfToken(text: string, start: number): number | undefined {
  const rest = text.slice(start)
  const mark = rest[0] ?? ''
  const heredoc = /^\$\w*\$/.exec(rest)?.[0]
  if (heredoc !== undefined) return after(text, heredoc, start + heredoc.length)
  if ('\'"`'.includes(mark)) return endOfQuoted(text, mark, start + 1)
  if (mark === '‘' || mark === '“') return endOfQuoted(text, mark === '‘' ? '’' : '”', start + 1)
  if (rest.startsWith('/*')) return after(text, '*/', start + 2)
  if (rest.startsWith('--') || mark === '#') return after(text, '\n', start) ?? text.length
  return start + (/^\w+/.exec(rest)?.[0].length ?? 1)
}

function after(text: string, mark: string, from: number): number | undefined {
  const at = text.indexOf(mark, from)
  return at < 0 ? undefined : at + mark.length
}

function endOfQuoted(text: string, mark: string, from: number): number | undefined {
  for (let i = from; i < text.length; i++) {
    const isMark = text[i] === mark
    if (isMark && text[i + 1] !== mark) return i + 1
    if (isMark || text[i] === '\\') i++
  }
  return undefined
}

/** Whether all brackets of the tokens are closed by the right ones, and by no earlier one. */
function isBalanced(tokens: readonly string[]): boolean {
  const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
  const open: string[] = []
  for (const token of tokens) {
    if ('([{'.includes(token)) open.push(token)
    const before = pairs[token]
    if (before !== undefined && open.pop() !== before) return false
  }
  return open.length === 0
}

const pieces = fc.constantFrom(
  ...[
    'a',
    '1',
    "'",
    "''",
    '"',
    '`',
    '\\',
    '\\\\',
    "\\'",
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ',',
    ';',
    '-',
    '--',
    '/*',
    '*/',
    '/',
    '*',
    '#',
    '$',
    '$$',
    '$x$',
  ],
  ...[
    ':',
    '::',
    '?',
    '\n',
    '\t',
    '\u0000',
    '‘',
    '’',
    '“',
    '”',
    ' ',
    ' AS ',
    ' as b',
    'SELECT',
    'arrayJoin',
    ' OR ',
    '=',
    '<',
    '.',
    '$__filters',
    '{x:T}',
    '|',
    '\u2212',
    '--\n',
  ],
)

const texts = fc.oneof(
  fc.array(pieces, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
  // Mostly accepted, so that the property is about something.
  fc
    .array(fc.constantFrom('a', '1', "'x'", "'x''y'", '"b"', "'\\''", '(a)', '[1]', ' = ', ' AND ', 'f(a, b)', '::', '-', ' '), {
      minLength: 1,
      maxLength: 12,
    })
    .map((parts) => parts.join('')),
)

describe('an accepted condition', () => {
  it('V8: never changes the meaning of another part of the query', { tags: 'slow' }, () => {
    let accepted = 0
    const before = 'SELECT countIf('
    const after = ') AS n, \'--\' AS x FROM t WHERE "y" = 1 AND z = $1'
    fc.assert(
      fc.property(texts, (text) => {
        if (refuseCondition(text) !== undefined) return
        accepted++
        const own = readSql(text)
        expect(own).toBeDefined()
        // Read alone or inside of the query, it is the same tokens, and so is everything around it.
        expect(readSql(`${before}(${text})${after}`)).toEqual([
          ...(readSql(before) ?? []),
          '(',
          ...(own ?? []),
          ')',
          ...(readSql(after) ?? []),
        ])
        expect(isBalanced(own ?? [])).toBe(true)
        expect((own ?? []).some((token, i, all) => /^["`]/.test(token) && all[i + 1] === '(')).toBe(false)
        for (const token of own ?? []) {
          expect(token).not.toMatch(/^(?:--|\/\*|#|;|\{|\}|\$)/)
          expect(token.toLowerCase()).not.toMatch(/^(?:as|select|arrayjoin|unnest)$/)
        }
      }),
      { numRuns: 5000 },
    )
    expect(accepted).toBeGreaterThan(500)
  })
})
