import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { hostileForms, legalForms, unseenForms } from './cases/sql-forms.ts'

const help = `Usage: node test/conformance/sql-forms.ts --target URL

Runs every form of SQL in cases/sql-forms.ts on a ClickHouse server that you throw away, and adds what each one did to
recorded/clickhouse-sql-forms.json: whether it connected to a receiver, read or wrote a file, or waited. The server must reach this
machine and all of its files.

  --target URL         HTTP interface of the server, such as http://127.0.0.1:8123
`

const recordedFormsPath = new URL('recorded/clickhouse-sql-forms.json', import.meta.url).pathname

/** What a form did on a server, or the code of the error it ended with: `answers`, `connects`, `reads`, `writes`, `waits`, `error 62`. */
type Effects = Readonly<Record<string, string>>

/** The functions and effects of a server, by its version. */
export type RecordedForms = Readonly<
  Record<
    string,
    {
      readonly tableFunctions: readonly string[]
      /** Functions that take other functions. Older servers do not say which. */
      readonly higherOrder: readonly string[]
      /** Functions that call a model. */
      readonly ai: readonly string[]
      readonly effects: Effects
    }
  >
>

export const readRecordedForms = (): RecordedForms => JSON.parse(readFileSync(recordedFormsPath, 'utf8')) as RecordedForms

const database = 'watchkeeper_sql_forms'

const table = `CREATE TABLE otel_logs (Timestamp DateTime64(9), ServiceName String, Body String, LogAttributes Map(String, String), file String,
  url String, ai_model String, line UInt32, files Array(String)) ENGINE = MergeTree ORDER BY ()`

const waitsMs = 1500

/** The receiver does not speak the protocols of databases. */
const settings = { max_execution_time: '10', connect_timeout: '1', receive_timeout: '1', http_max_tries: '1', http_receive_timeout: '1' }

async function record(target: string): Promise<{ readonly version: string; readonly found: RecordedForms[string] }> {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-sql-forms-'))
  const secret = `secret-${randomUUID()}`
  const [file, out] = [join(directory, 'secret.txt'), join(directory, 'out')]
  writeFileSync(file, secret)
  let connections = 0
  // A request on a connection that is kept open counts, too.
  const receiver = createServer((_, response) => {
    connections++
    response.end('1\n')
  }).on('connection', () => connections++)
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const send = async (sql: string, inDatabase = database): Promise<{ readonly text: string; readonly code: string | null }> => {
    const query = new URLSearchParams({ database: inDatabase, default_format: 'TSV', param_startDateMilliseconds: '0', ...settings })
    const response = await fetch(`${target}/?${query}`, { method: 'POST', body: sql })
    return { text: await response.text(), code: response.headers.get('x-clickhouse-exception-code') }
  }
  const run = async (form: string): Promise<string> => {
    connections = 0
    const startedAtMs = performance.now()
    const { text, code } = await send(form.replaceAll('THEHOST', host).replaceAll('THEFILE', file).replaceAll('THEOUT', out))
    const elapsedMs = performance.now() - startedAtMs
    await wait(20)
    if (connections > 0) return 'connects'
    if (text.includes(secret)) return 'reads'
    if (existsSync(out)) {
      rmSync(out)
      return 'writes'
    }
    if (elapsedMs > waitsMs) return 'waits'
    return code === null ? 'answers' : `error ${code}`
  }
  const ask = async (sql: string): Promise<readonly string[]> => {
    const { text, code } = await send(sql)
    return code === null ? text.split('\n').filter((line) => line !== '') : []
  }
  try {
    await send(`DROP DATABASE IF EXISTS ${database} SYNC`, 'default')
    await send(`CREATE DATABASE ${database} ENGINE = Atomic`, 'default')
    await send(`${table} AS SELECT now(), 'cart', 'a', map('a', 'b'), 'main.c', 'http://x/y', 'small', 1, ['a', 'b']`)
    await send('CREATE DICTIONARY names (id UInt64, name String) PRIMARY KEY id SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)')
    const effects: Record<string, string> = {}
    for (const form of [...hostileForms, ...unseenForms, ...legalForms]) effects[form] = await run(form)
    const [version] = await ask('SELECT version() FROM otel_logs')
    if (version === undefined) throw new Error('The server did not create the table.')
    const found = {
      tableFunctions: await ask('SELECT name FROM system.table_functions ORDER BY name'),
      higherOrder: await ask('SELECT name FROM system.functions WHERE higher_order ORDER BY name'),
      ai: await ask("SELECT name FROM system.functions WHERE categories = 'AI' OR alias_to LIKE 'ai%' ORDER BY name"),
      effects,
    }
    return { version, found }
  } finally {
    await send(`DROP DATABASE IF EXISTS ${database} SYNC`, 'default')
    receiver.close()
    rmSync(directory, { recursive: true })
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { target: { type: 'string' }, help: { type: 'boolean', default: false } } })
  if (values.help || values.target === undefined) {
    process.stdout.write(help)
    process.exitCode = values.help ? 0 : 2
  } else {
    const { version, found } = await record(values.target)
    writeFileSync(recordedFormsPath, `${JSON.stringify({ ...readRecordedForms(), [version]: found }, undefined, 1)}\n`)
    process.stdout.write(`ClickHouse ${version}: ${Object.keys(found.effects).length} forms; recorded.\n`)
  }
}
