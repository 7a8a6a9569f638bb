// Random SELECTs, and changed texts of others, always the same for a seed. Most are SQL; what is put into them reaches beyond the database or not.

/** A sequence of numbers from 0 to 1, the same for a seed (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Make = () => string

/** Makes SQL by a small grammar. */
export function createRandomSql(seed: number) {
  const random = sequence(seed)
  const isTrue = (share: number): boolean => random() < share
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const some = (make: Make, max: number, mark = ', '): string => Array.from({ length: 1 + Math.floor(random() * max) }, make).join(mark)
  /** The share of what should not be there. */
  const evil = 0.02
  const columns = [
    'line',
    'file',
    'url',
    'l.line',
    'n.number',
    'Timestamp',
    'ServiceName',
    '`Body`',
    '"files"',
    'where',
    'x',
    'format',
    'settings',
    'apply',
    'system',
    'into',
  ]
  const functions = [
    'count',
    'lower',
    'concat',
    'max',
    'if',
    'toString',
    'quantile(0.9)',
    'sumIf',
    'arrayMap',
    'format',
    'in',
    'tuple',
    'arrayFilter',
  ]
  const evilFunctions = [
    'file',
    'sleep',
    'getSetting',
    'aiGenerate',
    'FILE',
    '`file`',
    '"file"',
    'aFunction',
    'hasColumnInTable',
    'url',
    'logTrace',
  ]
  const tables = [
    'otel_logs',
    'default.otel_logs',
    '`otel_logs`',
    'numbers(3)',
    'system.tables',
    'system.parts',
    "merge('default', '^otel')",
    'numbers(1, 2)',
    'x',
    'zeros(1)',
    'view(SELECT 1)',
    'system',
    'where',
    'array',
  ]
  const evilTables = [
    "url('http://h/')",
    "`url`('http://h/')",
    "file('x')",
    'system.query_log',
    'system . one',
    '"system".users',
    "s3('x')",
    "remote('h', a.b)",
    "merge('system', 'x')",
    "merge(concat('sys', 'tem'), 'x')",
    "cluster('c', system.one)",
    "cluster('c', url('x'))",
    "loop(url('x'))",
    'aTable(1)',
    "executable('x')",
    '(EXPLAIN SELECT 1)',
  ]
  const blanks = [' ', ' ', ' ', ' ', '\n', '  ', ' /* a */ ', ' -- b\n', '\t', '/**/']
  const blank = (): string => pick(blanks)
  const maybe = (share: number, make: Make): string => (isTrue(share) ? make() : '')
  let depth = 0
  const deeper = (make: Make, flat: Make): string => {
    if (depth > 3) return flat()
    depth++
    const made = make()
    depth--
    return made
  }
  const literal = (): string =>
    pick([
      '1',
      '2.5',
      "'a'",
      "'it''s'",
      String.raw`'a\'b'`,
      "'FROM url(1)'",
      '[1, 2]',
      'NULL',
      '{startDateMilliseconds:Int64}',
      '1e3',
      "'system.users'",
      "'-- '",
      "'/*'",
    ])
  const call = (): string =>
    `${isTrue(evil) ? pick(evilFunctions) : pick(functions)}${maybe(0.1, () => ' ')}(${maybe(0.9, () => some(expression, 3))})`
  const lambda = (): string => `${pick(['x', 'file', '(x)', '(a, b)'])} -> ${expression()}`
  const higher = (): string =>
    `${pick(['arrayMap', 'arrayFilter', 'arrayExists', 'mapApply', 'arraySort'])}(${isTrue(0.8) ? lambda() : pick(['file', '(file)', 'lower', 'file AS f', 'line', '+file', '`file`'])}, ${expression()})`
  const makers: readonly Make[] = [
    () => pick(columns),
    () => pick(columns),
    literal,
    literal,
    call,
    call,
    higher,
    () =>
      `${expression()} ${pick(['+', '-', '*', '/', '=', '!=', '<', '>=', 'AND', 'OR', '||', 'LIKE', 'IS NOT DISTINCT FROM'])} ${expression()}`,
    () => `(${some(expression, 2)})`,
    () => `(${select()})`,
    () => `${expression()} IN (${isTrue(0.5) ? select() : some(expression, 3)})`,
    () => `${expression()} IN ${isTrue(evil) ? 'system.users' : pick(['otel_logs', 'x', 'system.parts'])}`,
    () => `CASE WHEN ${expression()} THEN ${expression()} ELSE ${expression()} END`,
    () => `CAST(${expression()} AS ${pick(['String', 'UInt8', 'Decimal(9, 2)', 'Nullable(String)', "Enum8('a' = 1)"])})`,
    () => `${pick(columns)}::${pick(['String', 'Float64', 'Array(String)', 'DateTime64(3)'])}`,
    () => `INTERVAL ${pick(['1', 'line'])} ${pick(['DAY', 'second'])}`,
    () => `NOT ${expression()}`,
    () => `count() OVER (PARTITION BY ${expression()} ORDER BY ${expression()})`,
    () => `EXISTS (${select()})`,
    () => `LogAttributes['${pick(['file', 'url', "a''b"])}']`,
    () => `EXTRACT(YEAR FROM ${expression()})`,
    () => `${pick(columns)} ? ${expression()} : ${expression()}`,
  ]
  const expression = (): string =>
    deeper(
      () => pick(makers)(),
      () => (isTrue(0.5) ? pick(columns) : literal()),
    )
  const alias = (): string =>
    maybe(0.3, () => ` AS ${pick(['a', 'b', 'where', 'group', '`c d`', '"e"', 'array', 'format', 'from1', 'lower'])}`)
  const item = (): string =>
    isTrue(0.06)
      ? `${pick(['*', 'l.*', "COLUMNS('a')"])}${maybe(0.5, () => pick([' EXCEPT (line)', ' REPLACE (lower(file) AS file)', ' APPLY(lower)', ' APPLY toString', ' APPLY(x -> lower(x))', ' APPLY(file)', ' APPLY `file`', ' APPLY(file -> 1)']))}`
      : `${expression()}${alias()}`
  const table = (): string =>
    isTrue(evil * 2)
      ? pick(evilTables)
      : deeper(
          () => (isTrue(0.25) ? `(${select()})` : pick(tables)),
          () => pick(tables),
        )
  const source = (): string =>
    `${table()}${maybe(0.6, () => ` AS ${pick(['l', 'n', 'm', 'where', 'array', 'group', 'u'])}`)}${maybe(0.05, () => ' FINAL')}`
  const join = (): string =>
    pick([
      () => `, ${source()}`,
      () =>
        ` ${pick(['', 'INNER ', 'LEFT ', 'GLOBAL ANY LEFT ', 'ASOF ', 'CROSS ', 'PASTE ', 'FULL OUTER ', 'ANTI LEFT '])}JOIN ${source()} ${pick([`ON ${expression()}`, 'USING (line)', ''])}`,
      () => ` ${pick(['', 'LEFT '])}ARRAY JOIN ${some(() => `${expression()}${alias()}`, 2)}`,
    ])()
  const clause = (share: number, words: string, make: Make): string => maybe(share, () => `${blank()}${words}${blank()}${make()}`)
  const settings = (): string =>
    pick([
      'SETTINGS max_threads = 1',
      'settings `max_threads` = 1',
      "SETTINGS\n\"a\" = {'a': 'b'}",
      'FORMAT JSON',
      'format `TSV`',
      "INTO OUTFILE 'x'",
      'SETTINGS a = 1, b = 2',
      'SETTINGS max_threads',
    ])
  const core = (): string =>
    `SELECT${blank()}${maybe(0.05, () => 'DISTINCT ')}${some(item, 3)}${clause(0.8, 'FROM', () => `${source()}${maybe(0.35, () => some(join, 2, ''))}`)}${clause(0.05, 'PREWHERE', expression)}${clause(0.4, 'WHERE', expression)}${clause(0.3, 'GROUP BY', () => some(expression, 2))}${clause(0.1, 'HAVING', expression)}${clause(0.2, 'ORDER BY', () => `${some(expression, 2)}${maybe(0.3, () => ' DESC')}`)}${clause(0.2, 'LIMIT', () => pick(['1', '1 BY line', '2, 3']))}${maybe(evil, () => `${blank()}${settings()}`)}`
  const cte = (): string =>
    pick([
      () => `${pick(['a', 'where', 'url', 'order'])} AS (${select()})`,
      () => `${expression()} AS ${pick(['a', 'lower', 'p'])}`,
      () => `(${lambda()}) AS ${pick(['f', 'lower'])}`,
    ])()
  const select = (): string =>
    deeper(
      () =>
        `${maybe(0.15, () => `WITH ${some(cte, 2)} `)}${core()}${maybe(0.08, () => `${blank()}${pick(['UNION ALL', 'UNION DISTINCT', 'EXCEPT', 'INTERSECT'])}${blank()}${core()}`)}`,
      () => 'SELECT 1',
    )
  const fragments = [
    "'",
    '"',
    '`',
    '\\',
    '--',
    '/*',
    '*/',
    '(',
    ')',
    ',',
    '.',
    ' FROM ',
    ' JOIN ',
    ' AS ',
    "url('http://h/')",
    "file('x')",
    ' SETTINGS a = 1',
    ' FORMAT x',
    'system.',
    '{a:Int64}',
    '\n',
    ' ',
    '1e',
    '.5',
    '[',
    ']',
    ' APPLY(file)',
    'SELECT ',
    ' IN ',
    ';',
    '$a$',
    '#',
    '->',
    ' UNION ALL SELECT ',
    ' INTO ',
    '“',
    '\\x66',
    '||',
    ' array ',
    ' WITH ',
  ]
  return {
    select,
    /** Puts, drops, doubles or moves pieces of a text. */
    mutate(text: string): string {
      let changed = text
      for (let i = 1 + Math.floor(random() * 3); i > 0; i--) {
        const [at, to] = [Math.floor(random() * (changed.length + 1)), Math.floor(random() * 8)]
        changed = pick([
          () => changed.slice(0, at) + pick(fragments) + changed.slice(at),
          () => changed.slice(0, at) + changed.slice(at + 1 + to),
          () => changed.slice(0, at) + changed.slice(at, at + to) + changed.slice(at),
          () => changed.replace(/\s+/, blank()),
        ])()
      }
      return changed
    },
  }
}
