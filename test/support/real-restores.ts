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
  /** What the restore loses. */
  readonly loss?: readonly string[]
  readonly status: 'verified' | 'different' | 'started'
  /** The tables that do not pass, with their outcomes and reasons. */
  readonly tables?: Readonly<Record<string, RegExp>>
  /** What the first line says was compared. */
  readonly scope?: string
}

const users = [
  'CREATE TABLE shop.users (id UInt64, name String, deleted_at Nullable(DateTime)) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO shop.users SELECT number, 'a', if(number < 10, now() - INTERVAL 30 DAY, NULL) FROM numbers(1000)",
]

const sessions = [
  'CREATE TABLE shop.sessions (id UInt64, expires_at DateTime) ENGINE = MergeTree ORDER BY id',
  'INSERT INTO shop.sessions SELECT number, now() + INTERVAL 30 DAY - toIntervalHour(number) FROM numbers(1000)',
]

const days = [
  'CREATE TABLE shop.days (day Date, value UInt64) ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY day',
  'INSERT INTO shop.days SELECT toDate(now()) - intDiv(number, 10), number FROM numbers(600)',
]

const events = [
  'CREATE TABLE shop.events (ts DateTime64(3), id UInt64) ENGINE = MergeTree PARTITION BY toDate(ts) ORDER BY ts',
  'INSERT INTO shop.events SELECT now64(3) - toIntervalMinute(number), number FROM numbers(1000)',
]

/** Rows without a time. */
const products = [
  'CREATE TABLE shop.products (id UInt64, price Decimal(9, 2), tags Array(String)) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO shop.products SELECT number, number / 100, ['new'] FROM numbers(1000)",
]

/** A time that each update changes: a fifth of the rows has one from after the backup. */
const orders = [
  'CREATE TABLE shop.orders (id UInt64, updated_at DateTime, created_at DateTime) ENGINE = ReplacingMergeTree(updated_at) ORDER BY id',
  'INSERT INTO shop.orders SELECT number, now() - INTERVAL 1 DAY, now() - INTERVAL 2 DAY FROM numbers(1000)',
]
const updatedOrders = [
  'INSERT INTO shop.orders SELECT id, now(), created_at FROM shop.orders WHERE id < 200',
  'OPTIMIZE TABLE shop.orders FINAL',
]

/** Each row is there twice, until the parts are merged. */
const sums = [
  'CREATE TABLE shop.sums (id UInt64, n UInt64) ENGINE = SummingMergeTree ORDER BY id',
  'CREATE MATERIALIZED VIEW shop.per_id (id UInt64, n SimpleAggregateFunction(sum, UInt64)) ENGINE = AggregatingMergeTree ORDER BY id AS SELECT id, n FROM shop.sums',
  'SYSTEM STOP MERGES shop.sums',
  'INSERT INTO shop.sums SELECT number, 1 FROM numbers(1000)',
  'INSERT INTO shop.sums SELECT number, 1 FROM numbers(1000)',
]

const oddNames = ['.innermost', 'a`b', 'a\\b', 'a"b.c', "it's"]
const quoted = (name: string): string => `shop.\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
const odd = oddNames.flatMap((name) => [
  `CREATE TABLE ${quoted(name)} (\`t\`\`s\\\\\` DateTime) ENGINE = MergeTree ORDER BY tuple()`,
  `INSERT INTO ${quoted(name)} SELECT now() - toIntervalMinute(number) FROM numbers(100)`,
])

const keep = (table: string, condition: string): readonly string[] => [
  `ALTER TABLE shop.${table} DELETE WHERE NOT (${condition}) SETTINGS mutations_sync = 2`,
]

export const realRestores: Readonly<Record<string, RealRestore>> = {
  'all tables, while the original goes on': {
    original: [
      ...[...users, ...sessions, ...days, ...events, ...products, ...orders],
      'CREATE TABLE shop.empty (ts DateTime) ENGINE = MergeTree ORDER BY ts',
      'CREATE VIEW shop.latest AS SELECT max(ts) AS ts FROM shop.events',
      'CREATE MATERIALIZED VIEW shop.per_hour (hour DateTime, n UInt64) ENGINE = MergeTree ORDER BY hour POPULATE AS SELECT toStartOfHour(ts) AS hour, count() AS n FROM shop.events GROUP BY hour',
    ],
    after: [
      "INSERT INTO shop.users SELECT number, 'a', NULL FROM numbers(1000, 10)",
      'INSERT INTO shop.sessions SELECT number, now() + INTERVAL 30 DAY FROM numbers(1000, 10)',
      'INSERT INTO shop.days SELECT toDate(now()), number FROM numbers(100)',
      'INSERT INTO shop.events SELECT now64(3), number FROM numbers(300)',
      ...updatedOrders,
      'CREATE TABLE shop.made_later (ts DateTime) ENGINE = MergeTree ORDER BY ts',
    ],
    status: 'verified',
    tables: {
      'shop.empty': /^skipped the original has no rows$/,
      'shop.per_hour': /^pass$|^warn has /,
      'shop.made_later': /^skipped made after the backup$/,
    },
    scope: 'rows of 7 of 10 tables, newest time of 6',
  },
  'users, of whom only the deleted ones have a time': {
    original: users,
    status: 'verified',
    scope: 'rows of 1 of 1 table, newest time of 1',
  },
  'users without 99% of them, of whom those who are left have a time': {
    original: users,
    loss: keep('users', 'id < 10'),
    status: 'different',
    tables: { 'shop.users': /^fail has 10 of 1000 rows from before the backup, and minRowRatio is 0\.9;/ },
  },
  'users without 99% of them, of whom those who are left have no time': {
    original: users,
    loss: keep('users', 'id >= 990'),
    status: 'different',
    tables: { 'shop.users': /^fail has no row with a time before the backup, and the original has 10;/ },
  },
  'sessions that end in the future': { original: sessions, status: 'verified' },
  'sessions without those that end in the future': {
    original: sessions,
    loss: keep('sessions', 'expires_at < now()'),
    status: 'different',
    tables: { 'shop.sessions': /^fail has 280 of 976 rows from before the backup, and minRowRatio is 0\.9;/ },
  },
  'sessions without a half of them': {
    original: sessions,
    loss: keep('sessions', 'id % 2 = 0'),
    status: 'started',
    tables: { 'shop.sessions': /^unknown has 500 of 1000 rows, and their times do not show which of them the backup had;/ },
  },
  'days, while the original goes on': {
    original: days,
    after: ['INSERT INTO shop.days SELECT toDate(now()), 1 FROM numbers(90)'],
    status: 'verified',
  },
  'days without the last 20 of 60': {
    original: days,
    loss: keep('days', 'day <= toDate(now()) - 20'),
    status: 'different',
    tables: { 'shop.days': /^fail its newest row is 19 d older than in the original, and newestWithin is 15m;/ },
  },
  'days without 20 in the middle': {
    original: days,
    loss: keep('days', 'day <= toDate(now()) - 40 OR day > toDate(now()) - 20'),
    status: 'different',
    tables: { 'shop.days': /^fail has 390 of 590 rows from before the backup/ },
  },
  'products without 449 of 1,000': {
    original: products,
    loss: keep('products', 'id < 551'),
    status: 'different',
    tables: { 'shop.products': /^fail has 551 of 1000 rows, and minRowRatio is 0\.9;/ },
  },
  'products without 50 of 1,000': {
    original: products,
    loss: keep('products', 'id < 950'),
    status: 'verified',
    tables: { 'shop.products': /^warn has 950 of 1000 rows;/ },
  },
  'products without a column': {
    original: products,
    loss: ['ALTER TABLE shop.products DROP COLUMN price'],
    status: 'different',
    tables: { 'shop.products': /^fail lacks the column price;/ },
  },
  'products with a column of another type': {
    original: products,
    loss: ['ALTER TABLE shop.products MODIFY COLUMN price Decimal(9, 1)'],
    status: 'different',
    tables: { 'shop.products': /^fail its column price is Decimal\(9, 1\), and Decimal\(9, 2\) in the original;/ },
  },
  'products to which a column was added after the backup': {
    original: products,
    after: ['ALTER TABLE shop.products ADD COLUMN stock UInt64'],
    status: 'started',
    tables: { 'shop.products': /^unknown lacks the column stock, and the original was changed after the backup; verify a newer backup$/ },
  },
  'orders without those that were updated after the backup': {
    original: orders,
    after: updatedOrders,
    loss: keep('orders', 'id >= 200'),
    status: 'different',
    tables: { 'shop.orders': /^fail has 800 of 1000 rows from before the backup, and minRowRatio is 0\.9;/ },
  },
  'sums that are merged only after the restore': {
    original: sums,
    loss: ['OPTIMIZE TABLE shop.sums FINAL', 'OPTIMIZE TABLE shop.per_id FINAL'],
    status: 'verified',
    scope: 'rows of 2 of 2 tables, newest time of 0',
  },
  'sums without a half of them, which are there twice': {
    original: [...sums, 'SYSTEM START MERGES shop.sums', 'OPTIMIZE TABLE shop.sums FINAL'],
    loss: [...keep('sums', 'id < 500'), 'SYSTEM STOP MERGES shop.sums', 'INSERT INTO shop.sums SELECT * FROM shop.sums'],
    status: 'different',
    tables: { 'shop.sums': /^fail has 500 of 1000 rows, and minRowRatio is 0\.9;/ },
  },
  'tables with odd names': { original: odd, status: 'verified', scope: 'rows of 5 of 5 tables, newest time of 5' },
  'tables with odd names, one of them lost, and one without its rows': {
    original: odd,
    loss: [`DROP TABLE ${quoted('.innermost')}`, `TRUNCATE TABLE ${quoted('a\\b')}`],
    status: 'different',
    tables: {
      'shop.`.innermost`': /^fail is missing;? ?/,
      'shop.a\\b': /^fail is empty, and the original has 100 rows from before the backup$/,
    },
  },
}

export type Side = 'original' | 'restored'

interface RealRun {
  readonly backupMs: number
  readonly nowMs: number
  /** Answers a query in the format JSON. */
  answer(side: Side, sql: string, endMs: number): Promise<string>
}

/** Runs verify-restore: queries go to the services, all else to an emulator. */
export async function verifyReal({ backupMs, nowMs, answer }: RealRun): Promise<Invoked> {
  const clock = createVirtualClock(nowMs)
  const emulator = await startEmulator({ dialect: 'clickhouse-cloud', data: 'empty', rateLimit: 'off', now: clock.now })
  const server = createServer(async (request, response) => {
    const { sql, queryVariables } = JSON.parse(await text(request)) as { sql: string; queryVariables: Record<string, string> }
    const side = request.url?.includes(demo.services.checkout) ? 'original' : 'restored'
    response.setHeader('content-type', 'application/json')
    try {
      response.end(await answer(side, sql, Number(queryVariables.endDateMilliseconds)))
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
