// Restores that a real ClickHouse made, and what verify-restore must say of them. test/effects/restores.ts makes and records them, and
// test/integration/backups/recorded-restores.test.ts judges the recorded answers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { demo, startEmulator } from '../../src/emulator/index.ts'
import { toPlainText } from '../../src/platform/core/line.ts'
import { createVirtualClock } from './clocks.ts'
import { type Invoked, invokeText } from './invoke.ts'

export interface RealRestore {
  /** Statements that make the original, in the database shop. */
  readonly original: readonly string[]
  /** What happens to the original after the backup. */
  readonly after?: readonly string[]
  /** What happens to the restored service. */
  readonly restored?: readonly string[]
  /** How many bytes the servers say that each table has. */
  readonly bytes?: number
  readonly status: 'verified' | 'different' | 'started'
  /** The tables that do not pass, or pass with a reason, with their outcomes and reasons. */
  readonly tables?: Readonly<Record<string, RegExp>>
  /** What the first line says was compared. */
  readonly scope?: string
}

const users = [
  'CREATE TABLE shop.users (id UInt64, name String, deleted_at Nullable(DateTime)) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO shop.users SELECT number, 'a', if(number < 10, now() - INTERVAL 30 DAY, NULL) FROM numbers(200)",
]

const sessions = [
  'CREATE TABLE shop.sessions (id UInt64, expires_at DateTime) ENGINE = MergeTree ORDER BY id',
  'INSERT INTO shop.sessions SELECT number, now() + INTERVAL 5 DAY - toIntervalHour(number) FROM numbers(200)',
]

const days = [
  'CREATE TABLE shop.days (day Date, value UInt64) ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY day',
  'INSERT INTO shop.days SELECT toDate(now()) - intDiv(number, 10), number FROM numbers(300)',
]

const events = [
  'CREATE TABLE shop.events (ts DateTime64(3), id UInt64, kind LowCardinality(String), price Nullable(Float64)) ENGINE = MergeTree PARTITION BY toDate(ts) ORDER BY ts',
  "INSERT INTO shop.events SELECT now64(3) - toIntervalMinute(number) - INTERVAL 1 SECOND, number, 'order', if(number % 7 = 0, NULL, number / 3) FROM numbers(100)",
]

/** So many hours that the values of only some are compared. */
const manyEvents = events.map((sql) =>
  sql.replace('toIntervalMinute(number)', 'toIntervalMinute(10 * number)').replace('numbers(100)', 'numbers(3000)'),
)

/** Rows without a time. */
const products = [
  'CREATE TABLE shop.products (id UInt64, price Decimal(9, 2), tags Array(String)) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO shop.products SELECT number, number / 100 + 1, ['new'] FROM numbers(200)",
]

/** A time that each update changes: a fifth of the rows has one from after the backup. */
const orders = [
  'CREATE TABLE shop.orders (id UInt64, updated_at DateTime, created_at DateTime) ENGINE = ReplacingMergeTree(updated_at) ORDER BY id',
  'INSERT INTO shop.orders SELECT number, now() - INTERVAL 1 DAY, now() - INTERVAL 2 DAY FROM numbers(200)',
]
const updatedOrders = [
  'INSERT INTO shop.orders SELECT id, now(), created_at FROM shop.orders WHERE id < 40',
  'OPTIMIZE TABLE shop.orders FINAL',
]

/** Each row is there twice, until the parts are merged. */
const sums = [
  'CREATE TABLE shop.sums (id UInt64, n UInt64) ENGINE = SummingMergeTree ORDER BY id',
  'CREATE MATERIALIZED VIEW shop.per_id (id UInt64, n SimpleAggregateFunction(sum, UInt64)) ENGINE = AggregatingMergeTree ORDER BY id AS SELECT id, n FROM shop.sums',
  'SYSTEM STOP MERGES shop.sums',
  'INSERT INTO shop.sums SELECT number, 1 FROM numbers(200)',
  'INSERT INTO shop.sums SELECT number, 1 FROM numbers(200)',
]

/** Rows of which many are equal. */
const votes = [
  'CREATE TABLE shop.votes (choice UInt16) ENGINE = MergeTree ORDER BY tuple()',
  'INSERT INTO shop.votes SELECT number % 50 FROM numbers(50000)',
]

const documents = [
  'CREATE TABLE shop.documents (ts DateTime, body JSON(max_dynamic_paths=2), any Dynamic(max_types=1), either Variant(UInt64, String), more Map(String, Array(Nullable(UInt8)))) ENGINE = MergeTree ORDER BY ts',
  ...[0, 1].map(
    (part) =>
      `INSERT INTO shop.documents SELECT now() - 5 - number, concat('{"a${part}":', toString(number), ',"b":{"c":[1,null]}}'), if(number % 2, number::Dynamic, NULL::Dynamic), if(number % 2, number::Variant(UInt64, String), toString(number)::Variant(UInt64, String)), map('k', [1, NULL]) FROM numbers(${part * 50}, 50)`,
  ),
]

/** One row for each month and key, that grows during the month. */
const months = [
  'CREATE TABLE shop.months (month Date, id UInt8, n SimpleAggregateFunction(sum, UInt64), visitors AggregateFunction(uniq, UInt64), slowest AggregateFunction(quantile, UInt64)) ENGINE = AggregatingMergeTree ORDER BY (month, id)',
  'INSERT INTO shop.months SELECT toStartOfMonth(now() - toIntervalDay(number)) AS month, number % 20 AS id, 1, uniqState(number), quantileState(number) FROM numbers(600) GROUP BY month, id',
]

const oddNames = ['.innermost', 'a`b', 'a\\b', 'a"b.c', "it's", 'Orders', 'orders']
const quoted = (name: string): string => `shop.\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
const odd = oddNames.flatMap((name, i) => [
  `CREATE TABLE ${quoted(name)} (\`t\`\`s\\\\\` DateTime, __t UInt8) ENGINE = MergeTree ORDER BY tuple()`,
  `INSERT INTO ${quoted(name)} SELECT now() - 1 - toIntervalMinute(number), ${i} FROM numbers(100)`,
])

const keep = (table: string, condition: string): readonly string[] => [
  `ALTER TABLE shop.${table} DELETE WHERE NOT (${condition}) SETTINGS mutations_sync = 2`,
]

const update = (table: string, values: string, condition = '1'): string =>
  `ALTER TABLE shop.${table} UPDATE ${values} WHERE ${condition} SETTINGS mutations_sync = 2`

/** Rows that the restored service takes from a queue. */
const liveEvents = "INSERT INTO shop.events SELECT now64(3), number, 'live', 1 FROM numbers(330)"

export const realRestores: Readonly<Record<string, RealRestore>> = {
  'all tables, while the original goes on': {
    original: [
      ...[...users, ...sessions, ...days, ...events, ...products, ...orders, ...votes, ...documents, ...months],
      'CREATE TABLE shop.empty (ts DateTime) ENGINE = MergeTree ORDER BY ts',
      'CREATE VIEW shop.latest AS SELECT max(ts) AS ts FROM shop.events',
      'CREATE MATERIALIZED VIEW shop.per_minute (minute DateTime, n UInt64) ENGINE = MergeTree ORDER BY minute POPULATE AS SELECT toStartOfMinute(ts) AS minute, count() AS n FROM shop.events GROUP BY minute',
      'CREATE TABLE shop.notes (text String) ENGINE = Log',
      "INSERT INTO shop.notes VALUES ('a'), ('b')",
    ],
    after: [
      "INSERT INTO shop.users SELECT number, 'a', NULL FROM numbers(1000, 2)",
      'INSERT INTO shop.sessions SELECT number, now() + INTERVAL 30 DAY FROM numbers(1000, 2)',
      'INSERT INTO shop.days SELECT toDate(now()), number FROM numbers(100)',
      "INSERT INTO shop.events SELECT now64(3), number, 'order', 1 FROM numbers(300)",
      'INSERT INTO shop.months SELECT toStartOfMonth(now()), number % 20, 1, uniqState(number), quantileState(number) FROM numbers(100) GROUP BY 2',
      ...updatedOrders,
      'CREATE TABLE shop.made_later (ts DateTime) ENGINE = MergeTree ORDER BY ts',
    ],
    restored: ['OPTIMIZE TABLE shop.documents FINAL', 'OPTIMIZE TABLE shop.months FINAL'],
    status: 'verified',
    tables: {
      'shop.empty': /^skipped the original has no rows$/,
      'shop.made_later': /^skipped made after the backup$/,
      'shop.orders': /^warn 80% of 200 rows from before the backup are identical; in its sorting key, 100% are$/,
      'shop.sessions': /^pass 98\.8% of 178 rows from before the backup are identical$/,
      'shop.users': /^pass 99% of 202 rows from before the backup are identical$/,
    },
    scope:
      ' rows from before the backup are identical (11 of 14 tables; 1 without rows of their own), below 0.1% in their keys only (1 table), without 1 column that cannot be compared',
  },
  'users, of whom only the deleted ones have a time': {
    original: users,
    status: 'verified',
    scope: '100% of 200 rows from before the backup are identical (1 of 1 table)',
  },
  'users without 95% of them, of whom those who are left have a time': {
    original: users,
    restored: keep('users', 'id < 10'),
    status: 'started',
    tables: {
      'shop.users': /^unknown lacks 190 of 200 rows from before the backup, and no time shows which rows are newer than the backup;/,
    },
  },
  'sessions that end in the future': { original: sessions, status: 'verified' },
  'sessions without those that end in the future': {
    original: sessions,
    restored: keep('sessions', 'expires_at < now()'),
    status: 'started',
    tables: { 'shop.sessions': /^unknown lacks 96 of 176 rows from before the backup, and no time shows/ },
  },
  'days, while the original goes on': {
    original: days,
    after: ['INSERT INTO shop.days SELECT toDate(now()), 1 FROM numbers(90)'],
    status: 'verified',
    scope: '100% of 290 rows from before the backup are identical (1 of 1 table)',
  },
  'days without the last 2 of 30': {
    original: days,
    restored: keep('days', 'day < toDate(now()) - 2'),
    status: 'different',
    tables: { 'shop.days': /^fail has 0 of the newest 20 rows that are older than newestWithin, 15m;/ },
  },
  'days without 10 in the middle, and with others twice': {
    original: days,
    restored: [
      ...keep('days', 'day <= toDate(now()) - 20 OR day > toDate(now()) - 10'),
      'INSERT INTO shop.days SELECT * FROM shop.days WHERE day <= toDate(now()) - 20',
    ],
    status: 'different',
    tables: { 'shop.days': /^fail lacks 80 of 290 rows from before the backup, and minRowRatio is 0\.9;/ },
  },
  'events, of which the newest are there, and newer ones from a queue': {
    original: events,
    restored: [...keep('events', 'id < 3'), liveEvents],
    status: 'different',
    tables: { 'shop.events': /^fail lacks 97 of 100 rows from before the backup, and minRowRatio is 0\.9;/ },
  },
  'events, with newer ones from a queue': { original: events, restored: [liveEvents], status: 'verified' },
  'events with other values': {
    original: events,
    restored: [update('events', "kind = 'other'", 'id % 2 = 0')],
    status: 'different',
    tables: { 'shop.events': /^fail 50% of 100 rows from before the backup are identical, and minRowRatio is 0\.9;/ },
  },
  'events with a column without values': {
    original: events,
    restored: [update('events', "kind = ''")],
    status: 'different',
    tables: { 'shop.events': /^fail its column kind has no values$/ },
  },
  'events with NULL in place of values, beside an update of another column': {
    original: events,
    after: [update('events', "kind = 'new'", 'id < 5')],
    restored: [update('events', 'price = NULL')],
    status: 'different',
    tables: { 'shop.events': /^fail its column price has no values$/ },
  },
  'events without 60% of them, and the others three times': {
    original: events,
    restored: [...keep('events', 'id % 5 < 2'), ...Array(2).fill('INSERT INTO shop.events SELECT DISTINCT * FROM shop.events')],
    status: 'different',
    tables: { 'shop.events': /^fail 40% of 100 rows from before the backup are identical, and minRowRatio is 0\.9;/ },
  },
  'events that were updated after the backup': {
    original: events,
    after: [update('events', "kind = 'sale'")],
    status: 'verified',
    tables: { 'shop.events': /^warn 0% of 100 rows from before the backup are identical; without kind, 100% are$/ },
    scope: '100% of 100 rows from before the backup are identical (1 of 1 table), without 1 column that cannot be compared',
  },
  'events that were updated after the backup, and have other values beside that': {
    original: events,
    after: [update('events', "kind = 'sale'")],
    restored: [update('events', 'price = 1', 'id % 3 = 0')],
    status: 'different',
    tables: { 'shop.events': /^fail 0% of 100 rows from before the backup are identical, and minRowRatio is 0\.9;/ },
  },
  'events with other prices than the one that an update after the backup reads': {
    original: events,
    after: [update('events', "kind = concat('price, ', toString(ifNull(price, id)))")],
    restored: [update('events', 'price = id + 1')],
    status: 'different',
    tables: { 'shop.events': /^fail 0% of 100 rows from before the backup are identical, and minRowRatio is 0\.9;/ },
  },
  'events that were deleted after the backup': {
    original: events,
    after: keep('events', 'id % 10 >= 4'),
    status: 'verified',
    tables: {
      'shop.events': /^warn 100% of 60 rows from before the backup are identical; 40 restored rows more than the original has$/,
    },
    scope: '; 40% of the restored rows are more than the original has',
  },
  'events with a column whose default changes': {
    original: [...events, 'ALTER TABLE shop.events ADD COLUMN seen DateTime64(6) DEFAULT now64(6)'],
    status: 'verified',
    tables: { 'shop.events': /^warn 0% of 100 rows from before the backup are identical; without seen, 100% are$/ },
  },
  'large events': {
    original: manyEvents,
    bytes: 3_000_000_000,
    status: 'verified',
    scope: ' of the rows and the counts of all',
  },
  'large events with other values': {
    original: manyEvents,
    bytes: 3_000_000_000,
    restored: [update('events', 'price = 7')],
    status: 'different',
    tables: { 'shop.events': /^fail 0% of 3000 rows from before the backup are identical, and minRowRatio is 0\.9;/ },
  },
  'large events without a half of them': {
    original: manyEvents,
    bytes: 3_000_000_000,
    restored: keep('events', 'id % 2 = 0'),
    status: 'different',
    tables: { 'shop.events': /^fail lacks 1500 of 3000 rows from before the backup, and minRowRatio is 0\.9;/ },
  },
  'large tables, of which few rows have a time, and one with other values in the other rows': {
    original: [...users, ...users.map((sql) => sql.replace('shop.users', 'shop.members'))],
    bytes: 3_000_000_000,
    restored: [update('users', "name = 'b'", 'deleted_at IS NULL')],
    status: 'started',
    tables: {
      'shop.members': /^pass by the column deleted_at, rows of the backup are not from before it$/,
      'shop.users': /^unknown 5% of 200 rows are identical, and no time shows/,
    },
  },
  'products without 90 of 200': {
    original: products,
    restored: keep('products', 'id < 110'),
    status: 'started',
    tables: { 'shop.products': /^unknown lacks 90 of 200 rows, and no time shows which rows are newer than the backup;/ },
  },
  'products without 10 of 200': {
    original: products,
    restored: keep('products', 'id < 190'),
    status: 'verified',
    tables: { 'shop.products': /^warn 95% of 200 rows are identical$/ },
  },
  'products that a lightweight delete hides': {
    original: products,
    restored: ['DELETE FROM shop.products WHERE 1'],
    status: 'different',
    tables: { 'shop.products': /^fail is empty, and the original has 200 rows$/ },
  },
  'products with other values': {
    original: products,
    restored: [update('products', 'price = price + 1')],
    status: 'started',
    tables: { 'shop.products': /^unknown 0% of 200 rows are identical, and no time shows/ },
  },
  'products without a column': {
    original: products,
    restored: ['ALTER TABLE shop.products DROP COLUMN price'],
    status: 'different',
    tables: { 'shop.products': /^fail lacks the column price;/ },
  },
  'products with a column of another type': {
    original: products,
    restored: ['ALTER TABLE shop.products MODIFY COLUMN price Decimal(9, 1)'],
    status: 'different',
    tables: { 'shop.products': /^fail its column price is Decimal\(9, 1\), and Decimal\(9, 2\) in the original;/ },
  },
  'products to which a column was added after the backup': {
    original: products,
    after: ['ALTER TABLE shop.products ADD COLUMN stock UInt64'],
    status: 'started',
    tables: { 'shop.products': /^unknown lacks the column stock, and the original was changed after the backup; verify a newer backup$/ },
  },
  'products as a view': {
    original: products,
    restored: ['RENAME TABLE shop.products TO shop.others', 'CREATE VIEW shop.products AS SELECT * FROM shop.others'],
    status: 'different',
    tables: { 'shop.products': /^fail its engine is View \(View\), and MergeTree \(MergeTree\) in the original;/ },
  },
  'orders without those that were updated after the backup': {
    original: orders,
    after: updatedOrders,
    restored: keep('orders', 'id >= 40'),
    status: 'different',
    tables: { 'shop.orders': /^fail lacks 40 of 200 rows from before the backup, and minRowRatio is 0\.9;/ },
  },
  'orders, of which too many were updated after the backup': {
    original: orders,
    after: ['INSERT INTO shop.orders SELECT id, now(), created_at FROM shop.orders WHERE id < 100'],
    status: 'started',
    tables: { 'shop.orders': /^warn 50% of 200 rows from before the backup are identical; in its sorting key, 100% are$/ },
  },
  'sums that are merged only after the restore': {
    original: sums,
    restored: ['OPTIMIZE TABLE shop.sums FINAL', 'OPTIMIZE TABLE shop.per_id FINAL'],
    status: 'verified',
    scope: '100% of 400 rows from before the backup are identical (2 of 2 tables)',
  },
  'sums without a half of them, which are there twice': {
    original: [...sums, 'SYSTEM START MERGES shop.sums', 'OPTIMIZE TABLE shop.sums FINAL'],
    restored: [
      'DROP TABLE shop.per_id',
      ...keep('sums', 'id < 100'),
      'SYSTEM STOP MERGES shop.sums',
      'INSERT INTO shop.sums SELECT * FROM shop.sums',
    ],
    status: 'different',
    tables: {
      'shop.per_id': /^fail is missing$/,
      'shop.sums': /^unknown lacks 100 of 200 rows, and no time shows/,
    },
  },
  'votes, of which a part is for others': {
    original: votes,
    restored: [update('votes', 'choice = choice + 100', 'choice % 5 = 0')],
    status: 'started',
    tables: { 'shop.votes': /^unknown 80% of 50000 rows are identical, and no time shows/ },
  },
  'documents without a part of their values': {
    original: documents,
    restored: [update('documents', "body = '{}'")],
    status: 'different',
    tables: { 'shop.documents': /^fail its column body has no values$/ },
  },
  'months without the visitors of one of them': {
    original: months,
    restored: [
      'CREATE TABLE shop.other AS shop.months',
      "INSERT INTO shop.other SELECT month, id, n, if(month < toStartOfMonth(now()) - INTERVAL 6 MONTH, initializeAggregation('uniqState', 1::UInt64), visitors), slowest FROM shop.months",
      'EXCHANGE TABLES shop.other AND shop.months',
    ],
    status: 'started',
    tables: { 'shop.months': /^warn \S+ of \d+ rows from before the backup are identical; in its sorting key, 100% are$/ },
  },
  'tables with odd names': {
    original: odd,
    status: 'verified',
    scope: '100% of 700 rows from before the backup are identical (7 of 7 tables)',
  },
  'tables with odd names, one of them lost, one without its rows, and two in place of each other': {
    original: odd,
    restored: [
      `DROP TABLE ${quoted('.innermost')}`,
      `TRUNCATE TABLE ${quoted('a\\b')}`,
      `EXCHANGE TABLES ${quoted('Orders')} AND ${quoted('orders')}`,
    ],
    status: 'different',
    tables: {
      'shop.`.innermost`': /^fail is missing;? ?/,
      'shop.a\\b': /^fail is empty, and the original has 100 rows from before the backup$/,
      'shop.Orders': /^fail 0% of 100 rows from before the backup are identical,/,
      'shop.orders': /^fail 0% of 100 rows from before the backup are identical,/,
    },
  },
  'a view with another query, and a table with another TTL, which are not compared': {
    original: [...events, 'CREATE VIEW shop.latest AS SELECT max(ts) AS ts FROM shop.events'],
    restored: [
      'CREATE OR REPLACE VIEW shop.latest AS SELECT min(ts) AS ts FROM shop.events',
      'ALTER TABLE shop.events MODIFY TTL toDateTime(ts) + INTERVAL 10 YEAR',
    ],
    status: 'verified',
    scope: ' (1 of 2 tables; 1 without rows of their own)',
  },
  'a table with the name of an inner table, which a backup leaves out': {
    original: [
      ...events,
      'CREATE TABLE shop.`.inner_id.c0ffee00-0000-4000-8000-000000000001` (id UInt8) ENGINE = MergeTree ORDER BY id',
      'INSERT INTO shop.`.inner_id.c0ffee00-0000-4000-8000-000000000001` VALUES (1)',
    ],
    status: 'different',
    tables: { 'shop.`.inner_id.c0ffee00-0000-4000-8000-000000000001`': /^fail is missing$/ },
  },
}

export type Side = 'original' | 'restored'

interface RealRun {
  readonly backupMs: number
  readonly requestedMs: number
  readonly nowMs: number
  readonly bytes?: number | undefined
  /** Answers a query in the format JSON. */
  answer(side: Side, sql: string, endMs: number): Promise<string>
}

/** Runs verify-restore: queries go to the services, all else to an emulator. */
export async function verifyReal({ backupMs, requestedMs, nowMs, bytes, answer }: RealRun): Promise<Invoked> {
  const clock = createVirtualClock(requestedMs)
  const emulator = await startEmulator({ dialect: 'clickhouse-cloud', data: 'empty', rateLimit: 'off', now: clock.now })
  const server = createServer(async (request, response) => {
    const { sql, queryVariables } = JSON.parse(await text(request)) as { sql: string; queryVariables: Record<string, string> }
    const side = request.url?.includes(demo.services.checkout) ? 'original' : 'restored'
    response.setHeader('content-type', 'application/json')
    try {
      const body = await answer(side, sql, Number(queryVariables.endDateMilliseconds))
      response.end(bytes === undefined ? body : body.replaceAll(/"bytes": ?"?[1-9]\d*"?/g, `"bytes":${bytes}`))
    } catch (thrown) {
      response.writeHead(400).end(JSON.stringify({ status: 400, error: String(thrown) }))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const backup = { id: 'c0ffee00-0000-4000-8000-0000000000b1', status: 'done', startedAt: new Date(backupMs).toISOString() } as const
    emulator.store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)?.backups.push(backup)
    const { id } = emulator.restoreBackup({ serviceId: demo.services.checkout, backupId: backup.id })
    await clock.sleep(nowMs - requestedMs)
    return await invokeText({
      inputs: {
        operation: 'verify-restore',
        profile: 'clickhouse-cloud',
        'api-url': emulator.url,
        'api-key-id': demo.apiKeyId,
        'api-key-secret': demo.apiKeySecret,
        'sql-url': `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // It listens on a port, not on a pipe.
        'sql-key-id': demo.apiKeyId,
        'sql-key-secret': demo.apiKeySecret,
        'organization-id': demo.organizationId,
        'service-id': id,
        original: demo.services.checkout,
        id: backup.id,
      },
      clock,
    })
  } finally {
    server.close()
    await emulator.close()
  }
}

export interface RecordedRestore {
  readonly backupMs: number
  readonly requestedMs: number
  readonly nowMs: number
  /** Rows by side and the digest of the query. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

interface Row {
  readonly name: string
  readonly outcome: string
  readonly reason: string
}

/** How a run differs from what it must say. */
export function problemsOf({ document, reason, blocks }: Invoked, { status, tables = {}, scope = '' }: RealRestore): readonly string[] {
  const rows = (document.tables ?? []) as readonly Row[]
  const outcomes = new Map(rows.map(({ name, outcome, reason }) => [name, `${outcome} ${reason}`.trim()]))
  const [first] = blocks
  const line = first?.kind === 'verdict' ? toPlainText(first.line) : ''
  return [
    ...(document.restoreStatus === status ? [] : [`is ${document.restoreStatus ?? document.status}: ${reason}`]),
    ...(line.includes(scope) ? [] : [`the first line is ${line}`]),
    ...Object.entries(tables).flatMap(([name, expected]) =>
      expected.test(outcomes.get(name) ?? '') ? [] : [`${name}: ${outcomes.get(name)}`],
    ),
    ...[...outcomes].flatMap(([name, outcome]) => (outcome === 'pass' || name in tables ? [] : [`${name}: ${outcome}`])),
  ]
}
