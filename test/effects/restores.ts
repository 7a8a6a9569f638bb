// Makes the restores of test/support/real-restores.ts with BACKUP and RESTORE of two real servers, compares what verify-restore says of
// them, and records the answers to its queries.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { digestOfText } from '../../src/platform/core/digest.ts'
import { problemsOf, type RealRestore, type RecordedRestore, realRestores, type Side, verifyReal } from '../support/real-restores.ts'

const help = `Usage: node test/effects/restores.ts --original URL --restored URL --directory PATH [--record]

Makes each restore, runs verify-restore, and exits with 1 when it says something else than expected. The database shop of both servers is deleted.

  --original URL    HTTP interface of a ClickHouse server
  --restored URL    HTTP interface of another one
  --directory PATH  a directory of both servers, in backups.allowed_path of their configuration
  --record          writes the answers to test/integration/backups/recorded-restores.json
`

const { values } = parseArgs({
  options: {
    original: { type: 'string' },
    restored: { type: 'string' },
    directory: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
})

const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function ask(url: string, sql: string, more = ''): Promise<string> {
  // The default of servers before 25.8.
  const older = url === values.original ? '&output_format_json_quote_64bit_integers=1' : ''
  const response = await fetch(`${url}/?default_format=JSON${older}${more}`, { method: 'POST', body: sql })
  const body = await response.text()
  if (!response.ok) throw new Error(`${sql.slice(0, 200)}\n${body}`)
  return body
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function make({ original, after = [], restored = [] }: RealRestore, urls: Readonly<Record<Side, string>>, file: string) {
  for (const url of Object.values(urls)) await ask(url, 'DROP DATABASE IF EXISTS shop SYNC')
  await ask(urls.original, 'CREATE DATABASE shop')
  for (const sql of original) await ask(urls.original, sql)
  // Times without milliseconds are in the second before.
  await wait(1100)
  const backupMs = Date.now()
  await ask(urls.original, `BACKUP DATABASE shop TO File('${file}')`)
  await wait(1100)
  for (const sql of after) await ask(urls.original, sql)
  await ask(urls.restored, `RESTORE DATABASE shop FROM File('${file}')`)
  const requestedMs = Date.now()
  await wait(1100)
  for (const sql of restored) await ask(urls.restored, sql)
  await wait(1100)
  return { backupMs, requestedMs }
}

async function main(): Promise<number> {
  const { original, restored, directory } = values
  if (original === undefined || restored === undefined || directory === undefined) {
    print(help)
    return 2
  }
  const urls = { original, restored }
  const recorded: Record<string, RecordedRestore> = {}
  let differences = 0
  for (const [name, one] of Object.entries(realRestores)) {
    const times = { ...(await make(one, urls, `${directory}/${Date.now()}`)), nowMs: Date.now() }
    const answers: Record<string, Record<string, unknown>> = { original: {}, restored: {} }
    const answer = async (side: Side, sql: string, endMs: number): Promise<string> => {
      // A role of ClickHouse Cloud that only reads cannot change settings.
      const body = await ask(urls[side], sql, `&readonly=1&param_endDateMilliseconds=${endMs}`)
      Object.assign(answers[side] ?? {}, { [digestOfText(sql, 16)]: (JSON.parse(body) as { readonly data: unknown }).data })
      return body
    }
    const problems = problemsOf(await verifyReal({ ...times, bytes: one.bytes, answer }), one)
    recorded[name] = { ...times, answers }
    for (const problem of problems) print(`${name}: ${problem}`)
    differences += problems.length
  }
  for (const url of Object.values(urls)) await ask(url, 'DROP DATABASE IF EXISTS shop SYNC')
  const versions = await Promise.all(Object.values(urls).map((url) => ask(url, 'SELECT version()')))
  const numbers = versions.map((text) => /\d+\.\d+/.exec(text)?.[0]).join(' and ')
  print(`ClickHouse ${numbers}: ${Object.keys(recorded).length} restores, ${differences} differences`)
  if (values.record) {
    const path = new URL('../integration/backups/recorded-restores.json', import.meta.url)
    const lines = Object.entries(recorded).map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`)
    writeFileSync(path, `{\n${lines.join(',\n')}\n}\n`)
  }
  return differences === 0 ? 0 : 1
}

process.exitCode = await main()
