// The judgment of a restored service, with the demo's data: the newest backup is three hours old, and logs go on.
import { describe, expect, it } from 'vitest'
import { demo, type Restore } from '../../../src/emulator/index.ts'
import { formatMoment } from '../../../src/platform/core/dates.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, storesNothing, useEmulator } from '../../support/emulator.ts'
import type { Invoked } from '../../support/invoke.ts'
import { factsIn, tablesIn } from '../../support/report-texts.ts'
import { newestBackup, restore, verifyRestore } from '../../support/restores.ts'

const clock = { current: createVirtualClock(Date.now()) }
const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => clock.current.now() })

const verify = async (how: Partial<Restore> = {}, options: Parameters<typeof verifyRestore>[2] = {}): Promise<Invoked> => {
  clock.current = createVirtualClock(Date.now())
  return verifyRestore(emulator(), restore(emulator(), how).id, { clock: clock.current, ...options })
}

const logs = { name: 'logs', sql: 'SELECT count() FROM default.otel_logs WHERE Timestamp <= {backup_time}' }

const statusOf = ({ document, outputs }: Invoked) => [document.status, outputs['restore-status']]

interface Row {
  readonly name: string
  readonly outcome: string
  readonly reason: string
}

const rowsOf = ({ document }: Invoked): Readonly<Record<string, string>> =>
  Object.fromEntries((document.tables as readonly Row[]).map(({ name, outcome, reason }) => [name, `${outcome} ${reason}`.trim()]))

describe('a restore', () => {
  it('is verified when all tables and checks have the data of the backup', async () => {
    const checks = { checks: [{ ...logs, tolerance: '0%', atLeast: 1000 }] }
    const ran = await verify({}, { checks })
    expect(statusOf(ran)).toEqual(['pass', 'verified'])
    const { startMs, id } = newestBackup(emulator())
    expect(ran.document).toMatchObject({
      backupId: id,
      originalId: demo.services.checkout,
      originalName: 'checkout',
      restoredName: 'drill',
      state: 'running',
      backupStartedAt: new Date(startMs).toISOString(),
      versions: { original: '26.6', restored: '26.6' },
      ranBy: { key: `key …${demo.apiKeyId.slice(-4)}` },
      checks: [{ name: 'logs', outcome: 'pass', reason: '' }],
    })
    expect(ran.document.dataAgeHours).toBeCloseTo(3.15, 1)
    const [{ original = '', restored = 'x' } = {}] = ran.document.checks as readonly Readonly<Record<string, string>>[]
    expect(restored).toBe(original)
    expect(Number(ran.document.rows)).toBeGreaterThan(Number(restored))
    expect(Object.entries(rowsOf(ran))).toEqual([
      ['checkout.products', 'pass'],
      ['checkout.products_view', 'pass'],
      ['default.otel_logs', 'pass'],
      ['default.otel_traces', 'pass'],
    ])
    expect(ran.document.verifiedAt).toBe(ran.document.checkedAt)
  })

  it('is verified without a file, by the rules for tables', async () => expect(statusOf(await verify())).toEqual(['pass', 'verified']))

  it('sends five requests, one query for the tables of each service, and at most one for each table and one for its times', async () => {
    await verify()
    const paths = emulator().requests.map(({ path }) => path.replace(/^.*organizations\/[^/]+\/|\?.*$/g, '').replace(/[\da-f-]{36}/g, 'ID'))
    expect(paths.toSorted()).toEqual([
      ...Array(2 + 3 * 2 + 2).fill('/service/ID/run'),
      'activities',
      ...['services/ID', 'services/ID', 'services/ID', 'services/ID/backups/ID'],
    ])
  })

  it('is verified after failures of single queries, which are sent again', async () => {
    const failures = [{ kind: 'status', status: 500 }, { kind: 'status', status: 503 }, { kind: 'reset' }] as const
    for (const [i, effect] of failures.entries()) emulator().addFault({ match: { path: '/run' }, nth: 2 * i + 1, effect })
    expect(statusOf(await verify())).toEqual(['pass', 'verified'])
  })

  it('V13: says in the first line which share of how many rows and tables is identical', async () => {
    const [verdict, facts] = (await verify()).blocks
    expect(verdict?.kind === 'verdict' && toPlainText(verdict.line)).toMatch(
      /^The backup of checkout was restored, and its data is verified: 100% of \d{5} rows from before the backup are identical \(3 of 4 tables; 1 without rows of their own\)$/,
    )
    expect(facts?.kind === 'facts' && facts.facts.map(({ label, value }) => `${label}: ${toPlainText(value)}`)).toContain(
      'Definitions compared: engines and columns, not queries of views, sources of dictionaries or TTLs',
    )
  })

  it('is verified without a database that was made after the backup with its tables', async () => {
    const { id } = restore(emulator())
    const fromMs = newestBackup(emulator()).startMs + 3_600_000
    serviceOf(emulator()).tables.push({
      database: 'later',
      name: 't',
      engine: 'SharedMergeTree',
      everyMs: 60_000,
      fromMs,
      changedMs: fromMs,
      timeColumn: 't',
    })
    const ran = await verifyRestore(emulator(), id)
    expect(rowsOf(ran)).toMatchObject({ 'later.t': 'skipped made after the backup' })
    expect(statusOf(ran)).toEqual(['pass', 'verified'])
  })

  it('V13: is not verified without a table that was changed after the backup, unless all of its rows have a time after it', async () => {
    const { id } = restore(emulator())
    const { startMs } = newestBackup(emulator())
    const table = {
      database: 'later',
      engine: 'SharedMergeTree',
      everyMs: 60_000,
      fromMs: startMs + 3_600_000,
      changedMs: startMs + 3_600_000,
    }
    serviceOf(emulator()).tables = [
      { ...table, name: 'timeless' },
      { ...table, name: 'older', timeColumn: 't', fromMs: startMs - 3_600_000 },
      { ...table, name: 'ahead', timeColumn: 't', rows: [[Date.now() + 7 * 86_400_000, 1]] },
    ]
    const missing = 'fail is missing; if it was made after the backup, list it in tables.ignore'
    expect(rowsOf(await verifyRestore(emulator(), id))).toMatchObject({
      'later.timeless': missing,
      'later.older': missing,
      'later.ahead': missing,
    })
  })

  it('is verified without a table or a database that the file ignores', async () => {
    const ran = await verify({ fault: 'missing-table' }, { checks: { tables: { ignore: ['default.otel_logs', 'checkout.*'] } } })
    expect(Object.entries(rowsOf(ran))).toEqual([
      ['checkout.products', 'skipped ignored by the file'],
      ['checkout.products_view', 'skipped ignored by the file'],
      ['default.otel_logs', 'skipped ignored by the file'],
      ['default.otel_traces', 'pass'],
    ])
    expect(statusOf(ran)).toEqual(['pass', 'verified'])
  })

  it('V13: needs each database without tables, and no column that only the restored table has, or that is computed from others', async () => {
    const { id } = restore(emulator())
    const row = { name: '', engine: 'Shared', storage: '', bytes: 0, changed: 0, columns: [] as string[][] }
    const columns = [
      // The partition key is the time of the rows.
      ['Seen', 'DateTime64(9)', '', '', '0', '1'],
      ['Timestamp', 'DateTime64(9)', '', '', '1', '1'],
      ['Computed', 'UInt64', 'ALIAS', '1', '0', '0'],
    ]
    const traces = { ...row, database: 'default', name: 'otel_traces', engine: 'MergeTree', storage: 'MergeTree', columns }
    const list = (service: string, data: readonly object[]) => {
      const effect = { kind: 'body', text: JSON.stringify({ meta: [], data, rows: data.length }) } as const
      emulator().addFault({ match: { path: `/service/${service}/run` }, nth: 1, effect })
    }
    list(demo.services.checkout, [{ ...row, database: 'archive' }, { ...row, database: 'default' }, traces])
    list(id, [{ ...traces, columns: [...columns, ['Extra', 'String', '', '', '0', '0']] }])
    expect(rowsOf(await verifyRestore(emulator(), id))).toEqual({ archive: 'fail is missing', 'default.otel_traces': 'pass' })
    const sent = JSON.stringify(emulator().requests.map(({ body }) => body))
    expect(['`Timestamp`', '`Computed`', '`Extra`'].filter((column) => sent.includes(column))).toEqual(['`Timestamp`'])
  })

  it('is not verified by another table whose database and name look the same when they are joined', async () => {
    const table = { engine: 'SharedMergeTree', everyMs: 60_000, fromMs: newestBackup(emulator()).startMs - 3_600_000 }
    const { id } = restore(emulator())
    serviceOf(emulator()).tables.push({ ...table, database: 'a', name: 'b.c' })
    emulator()
      .store.organizations[0]?.services.find((one) => one.id === id)
      ?.tables.push({ ...table, database: 'a.b', name: 'c' })
    const ran = await verifyRestore(emulator(), id)
    expect(statusOf(ran)).toEqual(['fail', 'different'])
    expect(rowsOf(ran)).toMatchObject({ 'a.`b.c`': 'fail is missing' })
  })

  it('stores nothing', async () => {
    await verify({}, { checks: { checks: [{ ...logs, tolerance: '0%' }] } })
    expect(emulator().requests.filter((request) => request.method !== 'GET' && !storesNothing(request))).toEqual([])
  })

  it('waits until the service runs, and has the time from the request', async () => {
    const ran = await verify({ minutes: 4.25 })
    expect(statusOf(ran)).toEqual(['pass', 'verified'])
    expect(ran.document.restoreMinutes).toBe(4.25)
    expect(clock.current.elapsedMs()).toBeGreaterThanOrEqual(255_000)
    expect(Number(ran.document.verifyMinutes)).toBeGreaterThanOrEqual(4.25)
  })

  it('counts the time until it saw the service run, where no activity has it', async () => {
    const organization = emulator().store.organizations[0]
    clock.current = createVirtualClock(Date.now())
    const { id } = restore(emulator(), { minutes: 4.25 })
    if (organization) organization.activities = organization.activities.filter(({ serviceId }) => serviceId !== id)
    const { document } = await verifyRestore(emulator(), id, { clock: clock.current })
    expect(document.restoreMinutes).toBeCloseTo(4.5, 1)
  })

  it('R4: is judged when an answer has more groups than a call has arguments', { tags: 'slow' }, async () => {
    const { id } = restore(emulator())
    const groups = Array.from({ length: 130_000 }, (_, i) => [i, 0, 0, 0, 0, 1].map(String))
    const text = JSON.stringify({ meta: [], data: [{ total: 0, groups }], rows: 1 })
    emulator().addFault({ match: { path: '/run' }, nth: 3, effect: { kind: 'body', text } })
    expect(rowsOf(await verifyRestore(emulator(), id))['default.otel_logs']).toMatch(/^pass/)
  })
})

describe('a restore is never verified', () => {
  it.each<[string, Partial<Restore>, string, RegExp]>([
    [
      'an empty table',
      { fault: 'empty-table' },
      'different',
      /default\.otel_logs: is empty, and the original has \d+ rows from before the/,
    ],
    [
      'older data',
      { fault: 'older-data' },
      'different',
      /default\.otel_logs: has 0 of the newest \d+ rows that are older than newestWithin, 15m;/,
    ],
    ['a missing table', { fault: 'missing-table' }, 'different', /default\.otel_logs: is missing$/],
    ['a failed service', { fault: 'failed' }, 'not-started', /: its state is failed, .* after the request$/],
    ['a degraded service', { fault: 'degraded' }, 'not-started', /: its state is degraded, 9 min after the request$/],
    ['a stopped service', { fault: 'stopped' }, 'not-started', /: its state is stopped, .* after the request$/],
    ['a service that hangs', { fault: 'stuck' }, 'not-started', /: its state is provisioning, 9 min after the request$/],
  ])('with %s', async (_, how, status, reason) => {
    const ran = await verify(how)
    expect([...statusOf(ran), ran.exitCode]).toEqual(['fail', status, 10])
    expect(ran.reason).toMatch(reason)
    expect(ran.document).not.toHaveProperty('verifiedAt')
  })

  it('when a check fails, is not compared, or returns nothing', async () => {
    const ran = await verify({}, { checks: { checks: [{ ...logs, atMost: 1 }] } })
    expect(statusOf(ran)).toEqual(['fail', 'different'])
    expect(ran.reason).toMatch(/: logs: is \d+, and atMost is 1$/)
    expect(ran.document.checks).toEqual([expect.objectContaining({ restored: expect.stringMatching(/^\d+$/) })])
    const missing = await verify({}, { checks: { checks: [{ ...logs, sql: 'SELECT count() FROM shop.nothing', atLeast: 0 }] } })
    expect(statusOf(missing)).toEqual(['fail', 'started'])
    expect(missing.reason).toMatch(/logs: the server refused the query: .*Unknown table expression identifier 'shop.nothing'/)
  })

  it('V13: when the value of a check is not a number, also where it would look like one as text', { tags: 'slow' }, () =>
    forEachEntry<[string, string, RegExp]>(
      [
        ['[1]', 'different', /: one: is \[1\], which is not a number$/],
        ['[[1]]', 'different', /: one: is \[\[1\]\], which is not a number$/],
        ['{"1":1}', 'different', /: one: is \{"1":1\}, which is not a number$/],
        ['true', 'different', /: one: is true, which is not a number$/],
        ['null', 'started', /: one: the query returns no value$/],
        ['1,"y":1', 'started', /: one: the query returns more than one row or column$/],
      ],
      async (value, status, reason) => {
        emulator().reset()
        const text = `{"meta":[],"data":[{"x":${value}}],"rows":1}`
        emulator().addFault({ match: { path: '/run' }, nth: 11, effect: { kind: 'body', text } })
        const ran = await verify({}, { checks: { checks: [{ name: 'one', sql: 'SELECT 1', equals: 1 }] } })
        expect(statusOf(ran)).toEqual(['fail', status])
        expect(ran.reason).toMatch(reason)
      },
    ),
  )

  it('V13: when an answer about rows is null or empty, or lacks its groups: none of these is a zero', { tags: 'slow' }, () =>
    forEachEntry(
      [
        '[]',
        '[{}]',
        '[{"total":null,"groups":[]}]',
        '[{"total":"","groups":[]}]',
        '[{"total":"7","groups":[]}]',
        '[{"total":"0","groups":null}]',
      ],
      async (data) => {
        for (const service of ['original', 'restored']) {
          emulator().reset()
          const { id } = restore(emulator())
          const path = `/service/${service === 'original' ? demo.services.checkout : id}/run`
          const effect = { kind: 'body', text: `{"meta":[],"data":${data},"rows":${JSON.parse(data).length}}` } as const
          emulator().addFault({ match: { path }, nth: 2, times: Number.POSITIVE_INFINITY, effect })
          const ran = await verifyRestore(emulator(), id)
          expect(statusOf(ran), service).toEqual(['fail', 'started'])
          expect(rowsOf(ran)['default.otel_logs'], service).toMatch(/^unknown not compared: .*the answer has an unexpected form$/)
        }
      },
    ),
  )

  it('V13: without a row to compare, and without a table', { tags: 'slow' }, async () => {
    const { id } = restore(emulator())
    const original = serviceOf(emulator())
    original.tables = original.tables.map((table) => ({ ...table, untilMs: table.fromMs - 1 }))
    const empty = await verifyRestore(emulator(), id)
    expect(statusOf(empty)).toEqual(['fail', 'started'])
    expect(empty.reason).toMatch(/its data is not verified: no rows from before the backup were compared$/)
    original.tables = []
    expect(statusOf(await verifyRestore(emulator(), id))).toEqual(['fail', 'started'])
  })

  it('V13: while the original sleeps, unless it may be woken', async () => {
    const original = serviceOf(emulator())
    original.state = 'idle'
    const ran = await verify()
    expect(statusOf(ran)).toEqual(['fail', 'started'])
    expect(ran.reason).toMatch(
      /tables: not compared: on the original, the service is asleep, and a query would wake it; set WATCHKEEPER_WAKE_SERVICE: true/,
    )
    expect(original.state).toBe('idle')
    expect(statusOf(await verify({}, { inputs: { 'wake-service': 'true' } }))).toEqual(['pass', 'verified'])
  })

  it('when the rows of one table could not be counted, and only that table is unknown', async () => {
    const { id } = restore(emulator())
    const restored = emulator().store.organizations[0]?.services.find((one) => one.id === id)
    const traces = restored?.tables.find(({ name }) => name === 'otel_traces')
    if (traces) traces.isTooLarge = true
    const ran = await verifyRestore(emulator(), id)
    expect(statusOf(ran)).toEqual(['fail', 'started'])
    expect(rowsOf(ran)).toMatchObject({
      'default.otel_logs': 'pass',
      'default.otel_traces': expect.stringMatching(/^unknown not compared: the server refused the query: .*Memory limit/),
    })
    expect(tablesIn(ran.blocks)[1]?.[0]).toBe('default.otel_traces')
  })

  it('when the server fails at every query of a service, and the evidence says so', async () => {
    const { id } = restore(emulator())
    const path = `/service/${id}/run`
    emulator().addFault({ match: { path }, nth: 2, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 500 } })
    const ran = await verifyRestore(emulator(), id)
    expect(statusOf(ran)).toEqual(['fail', 'started'])
    expect(rowsOf(ran)['default.otel_logs']).toMatch(/^unknown not compared: The API answered 500/)
  })
})

describe('a restore that cannot be judged is an error', () => {
  it.each<[string, () => void, RegExp]>([
    [
      'a service that disappears',
      () => emulator().addFault({ match: { path: '/services/' }, nth: 5, times: 9, effect: { kind: 'status', status: 404 } }),
      /404/,
    ],
    ['a key that may not read backups', () => forbid('control-plane:service:view-backups'), /view-backups/],
    ['a key that may not read activities', () => forbid('control-plane:organization:view-activities'), /view-activities/],
    [
      'a key of SQL that the query endpoint does not list',
      () => emulator().addFault({ match: { path: '/run' }, times: 9, effect: { kind: 'status', status: 401 } }),
      /The service needs a query endpoint that lists the key in sql-key-id/,
    ],
    [
      'a bad answer about the service',
      () => emulator().addFault({ match: { path: '/services/' }, effect: { kind: 'body', text: '{"result":{"state":"running"}}' } }),
      /unexpected form/,
    ],
    [
      'a bad list of tables',
      () => emulator().addFault({ match: { path: '/run' }, times: 9, effect: { kind: 'body', text: '{"data":[{"x":1}]}' } }),
      /unexpected form/,
    ],
  ])('for %s', async (_, prepare, reason) => {
    prepare()
    const ran = await verify({ minutes: 2 })
    expect(ran.document).toMatchObject({ status: 'error' })
    expect(ran.reason).toMatch(reason)
    expect(ran.outputs).not.toHaveProperty('restore-status')
  })

  const forbid = (permission: string): void => {
    for (const key of emulator().store.keys) key.permissions = key.permissions.filter((one) => one !== permission)
  }
})

describe('a wrong input', () => {
  it.each<[string, (id: string) => void, Readonly<Record<string, string>>, RegExp]>([
    ['the original itself', () => undefined, { original: 'RESTORED' }, /backup .* does not exist|is the service in service-id/],
    ['no key for SQL', () => undefined, { 'sql-key-id': '', 'sql-key-secret': '' }, /sql-key-id: is missing: data is compared with SQL/],
    [
      'a service of the same warehouse',
      (id) => edit(id, { dataWarehouseId: demo.warehouseId }),
      {},
      /shares the warehouse of the original/,
    ],
    [
      'a service without a warehouse, which may be that of the original',
      (id) => edit(id, { dataWarehouseId: undefined }),
      {},
      /does not say which warehouses/,
    ],
    [
      'an original without a warehouse',
      () => edit(demo.services.checkout, { dataWarehouseId: undefined }),
      {},
      /does not say which warehouses/,
    ],
    ['a service older than the backup', (id) => edit(id, { createdAt: '2020-01-01T00:00:00Z' }), {}, /is older than the backup/],
    ['a failed backup', () => Object.assign(serviceOf(emulator()).backups[0] ?? {}, { status: 'error' }), {}, /with the status error/],
    [
      'a backup without a start',
      () => Object.assign(serviceOf(emulator()).backups[0] ?? {}, { startedAt: undefined }),
      {},
      /no start of the/,
    ],
  ])('is refused: %s', async (_, prepare, inputs, reason) => {
    const { id } = restore(emulator())
    const backup = newestBackup(emulator()).id
    prepare(id)
    const given = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, value === 'RESTORED' ? id : value]))
    const ran = await verifyRestore(emulator(), id, { inputs: { id: backup, ...given } })
    expect([ran.document.status, ran.outputs['restore-status']]).toEqual(['error', undefined])
    expect(ran.reason).toMatch(reason)
    expect(emulator().requests.filter(({ method }) => method === 'POST')).toEqual([])
  })

  it('W4: sends no request for a check that could read other data than that of the database', async () => {
    const secret = "toUInt8(file(''/etc/passwd''))"
    const refused = {
      [`SELECT count() FROM default.otel_logs SETTINGS additional_table_filters = {'default.otel_logs': '${secret}'}`]:
        /has \{, and may mean/,
      [`SELECT count() FROM default.otel_logs SETTINGS "additional_result_filter" = '${secret}'`]:
        /has SETTINGS "additional_result_filter"; leave/,
      "SELECT 1 FORMAT Template SETTINGS format_template_row = '/etc/passwd'": /has FORMAT Template; leave that out/,
      "SELECT count() FROM default.otel_logs AS l, url('http://other.example/') AS u": /uses url, which does more than read/,
    }
    for (const [sql, reason] of Object.entries(refused)) {
      const ran = await verify({}, { checks: { checks: [{ ...logs, sql, atLeast: 1 }] } })
      expect([ran.document.status, ran.document.error]).toMatchObject(['error', { kind: 'input' }])
      expect(ran.reason, sql).toMatch(reason)
    }
    expect(emulator().requests).toEqual([])
  })

  const edit = (id: string, fields: object): unknown =>
    Object.assign(emulator().store.organizations[0]?.services.find((one) => one.id === id) ?? {}, fields)

  it('of a pull request from a fork runs no SQL', async () => {
    const env = { GITHUB_EVENT_NAME: 'issue_comment', GITHUB_REPOSITORY: 'shop/infra', GITHUB_EVENT_PATH: '/none', GITHUB_ACTIONS: 'true' }
    const ran = await verify({}, { checks: { checks: [{ ...logs, atLeast: 1 }] }, env: { ...env, GITHUB_EVENT_NAME: 'pull_request' } })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'refused' } })
    expect(emulator().requests).toEqual([])
  })
})

describe('the gates', () => {
  it('fail a restore that took longer, and pass at the limit', async () => {
    const run = (minutes: number) => verify({ minutes: 5 }, { checks: { tables: { maxRestoreMinutes: minutes } } })
    expect(statusOf(await run(5))).toEqual(['pass', 'verified'])
    const late = await run(4.9)
    expect(statusOf(late)).toEqual(['fail', 'not-started'])
    expect(late.reason).toMatch(/its state is provisioning, 5 min after the request$/)
    expect(clock.current.elapsedMs()).toBeLessThan(300_000)
    clock.current = createVirtualClock(Date.now())
    const { id } = restore(emulator(), { minutes: 5 })
    await clock.current.sleep(600_000)
    const checks = { tables: { maxRestoreMinutes: 4 } }
    const ran = await verifyRestore(emulator(), id, { checks, clock: clock.current })
    expect(statusOf(ran)).toEqual(['fail', 'verified'])
    expect(ran.reason).toMatch(/: it ran after 5 min, and maxRestoreMinutes is 4$/)
  })

  it('fail when the backup was too old at the request', async () => {
    const ran = await verify({}, { inputs: { 'max-age-hours': '2' } })
    expect(statusOf(ran)).toEqual(['fail', 'verified'])
    expect(ran.reason).toMatch(/: the backup was 3 h \d+ min old at the request, and max-age-hours is 2$/)
    expect(statusOf(await verify({}, { inputs: { 'max-age-hours': '4' } }))).toEqual(['pass', 'verified'])
  })
})

describe('the evidence', () => {
  it('has each fact about the restore, and each table with its rows', async () => {
    const { blocks, document } = await verify({ minutes: 5 })
    expect(factsIn(blocks)).toEqual([
      `Backup: ${document.backupName}`,
      `Data of: ${formatMoment(newestBackup(emulator()).startMs)}`,
      expect.stringMatching(/^Age of the data at the request \(RPO\): 3 h \d+ min$/),
      expect.stringMatching(/^Running after: 5 min/),
      expect.stringMatching(/^Verified after \(RTO\): 5 min/),
      `Rows compared: ${document.rows}`,
      'Definitions compared: engines and columns, not queries of views, sources of dictionaries or TTLs',
      'ClickHouse, original and restored: 26.6, 26.6',
      `Run by: key …${demo.apiKeyId.slice(-4)}`,
    ])
    const shown = tablesIn(blocks)
    expect(shown).toEqual([
      ['Table', 'Rows', 'Restored rows', 'Identical', 'Outcome'],
      ...(document.tables as readonly (Row & { rows?: number })[]).map(({ name, rows }) =>
        rows === undefined ? [name, '–', '–', '–', '✅ pass'] : [name, `${rows}`, `${rows}`, '100%', '✅ pass'],
      ),
    ])
    expect(shown.length).toBeGreaterThan(4)
  })

  it('has who ran it, every table, and the values of every check, as a page and in the result', async () => {
    const env = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'shop/infra', GITHUB_RUN_ID: '7', GITHUB_ACTOR: 'ada' }
    const checks = { checks: [{ ...logs, tolerance: '1%' }] }
    const ran = await verify({}, { checks, env, inputs: { reports: 'html=restore.html' } })
    expect(ran.document.ranBy).toMatchObject({ actor: 'ada', page: 'https://github.com/shop/infra/actions/runs/7' })
    const [page] = ran.files
    const shown = (page?.content ?? '').replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    for (const text of ['ada', 'default.otel_logs', 'checkout-20', 'Age of the data', 'Verified after', '26.6'])
      expect(shown.includes(text), text).toBe(true)
  })
})
