import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../../../src/index.ts'
import { invokeText } from '../../support/invoke.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const example = new URL('../../../examples/grafana/checkout.yml', import.meta.url)
const corpus = new URL('../../unit/import/rules.yml', import.meta.url)

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-import-'))
  await writeFile(join(directory, 'rules.yml'), await readFile(example))
  await writeFile(join(directory, 'corpus.yml'), await readFile(corpus))
})

afterEach(() => rm(directory, { recursive: true }))

const options = ['--connection', 'clickhouse=Local ClickHouse', '--webhook', '*=oncall', '--webhook', 'slack=chat']

const importFile = (file: string, ...more: readonly string[]) => runCliInside(['import', ...options, ...more, file], { directory })

const read = (path: string): Promise<string> => readFile(join(directory, path), 'utf8')

describe('import', () => {
  it('takes several files after the command, also after a flag, and no option for them', async () => {
    const both = await runCliInside(['import', '--allow-partial', 'rules.yml', ...options, 'corpus.yml', '--json'], { directory })
    const { rules }: { rules: { location: string }[] } = JSON.parse(both.stdout)
    expect(new Set(rules.map(({ location }) => location.split(':')[0]))).toEqual(new Set(['rules.yml', 'corpus.yml']))
    const { exitCode, stderr } = await runCliInside(['import', '--files', 'rules.yml'], { directory })
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Write the files after the command: watchkeeper import <files>.')])
    expect((await runCliInside(['import', '--help'], { directory })).stdout).toContain('Usage: watchkeeper import <files> [options]')
  })

  it('writes a file for each folder, with a dashboard for each group', async () => {
    const { exitCode, stdout } = await importFile('rules.yml')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('2 rules of Grafana: 1 exact, 1 changed, 0 refused, 0 paused')
    expect((await read('observability/checkout.yml')).split('\n').slice(1).join('\n')).toBe(`dashboards:
  checkout-errors:
    name: Checkout / errors

alerts:
  checkout-has-errors:
    name: Checkout has errors
    query:
      sql: |-
        SELECT count() AS errors
        FROM otel_logs
        WHERE $__timeFilter(Timestamp) AND ServiceName = 'checkout' AND SeverityText = 'error'
      connection: Local ClickHouse
    dashboard: checkout-errors
    thresholdType: above_exclusive
    threshold: 10
    interval: 5m
    numConsecutiveWindows: 3
    channel: { type: webhook, webhook: oncall }
    message: Checkout fails for customers
    note: |-
      runbook_url: https://wiki.example.com/checkout
      Labels: severity: critical
      Grafana rule: Checkout / errors / checkout-errors

  ingestion-lags:
    name: Ingestion lags
    query:
      sql: SELECT dateDiff('second', maxIf(Timestamp, Timestamp <= toDateTime(fromUnixTimestamp64Milli({endDateMilliseconds:Int64}))), toDateTime(fromUnixTimestamp64Milli({endDateMilliseconds:Int64}))) AS lag FROM otel_logs
      connection: Local ClickHouse
    dashboard: checkout-errors
    thresholdType: above_exclusive
    threshold: 120
    interval: 5m
    channel: { type: webhook, webhook: oncall }
    note: 'Grafana rule: Checkout / errors / ingestion-lag'
`)
  })

  it('writes the same again, and overwrites no other content', async () => {
    await importFile('rules.yml')
    expect((await importFile('rules.yml')).exitCode).toBe(0)
    await writeFile(join(directory, 'observability/checkout.yml'), 'alerts: {}\n')
    const { exitCode, stderr } = await importFile('rules.yml')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('has observability/checkout.yml already, with other content')])
    expect(await read('observability/checkout.yml')).toBe('alerts: {}\n')
  })

  it('fails with refused rules and writes nothing, unless a part is enough', async () => {
    const refused = await importFile('corpus.yml')
    expect([refused.exitCode, refused.stdout]).toEqual([10, expect.stringContaining('32 exact, 15 changed, 17 refused, 1 paused')])
    await expect(read('observability/shop.yml')).rejects.toThrow('ENOENT')
    const partial = await importFile('corpus.yml', '--allow-partial', '--reports', 'markdown=report.md')
    expect(partial.exitCode).toBe(0)
    expect(await read('observability/shop.yml')).toContain('  shop-errors:\n    name: Shop / errors')
    expect(await read('observability/ops-more.yml')).toContain('changed-another-pending-time:')
    const report = await read('report.md')
    expect(report).toMatch(/Without effect on an alert: .*editorType.*maxDataPoints/)
    for (const word of ['refused', 'changed', 'exact', 'paused']) expect(report).toContain(word)
  })

  it('writes declarations that validate accepts', async () => {
    await importFile('corpus.yml', '--allow-partial')
    const { exitCode, stdout } = await runCliInside(['validate', '--json'], { directory, env: { WATCHKEEPER_PROFILE: 'hyperdx' } })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, errorCount: 0, warningCount: 0 })
  })

  it('writes no text that is too long for validate', async () => {
    const long = 'x'.repeat(3000)
    const rules = (await read('rules.yml')).replace('name: errors', `name: ${long}`).replace('folder: Checkout', `folder: ${long}`)
    await writeFile(join(directory, 'long.yml'), rules)
    expect((await importFile('long.yml')).exitCode).toBe(0)
    const { exitCode, stdout } = await runCliInside(['validate', '--json'], { directory, env: { WATCHKEEPER_PROFILE: 'hyperdx' } })
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { valid: true, objectCount: 3 }])
    const times = `SELECT count() FROM otel_logs WHERE ${Array(2900).fill('now()').join('+')}`
    await writeFile(join(directory, 'long.yml'), (await read('rules.yml')).replace(/SELECT dateDiff.*/, times))
    expect((await importFile('long.yml')).stdout).toContain('the query has more than 100,000 characters after its translation')
  })

  it('shows refused rules first', async () => {
    const { stdout } = await importFile('corpus.yml')
    expect(stdout.indexOf('refused: math')).toBeLessThan(stdout.indexOf('changed: time range'))
    expect(stdout.indexOf('refused: too rare')).toBeGreaterThan(0)
  })

  it('is an operation of the library, and none of the action', async () => {
    const inputs = { files: ['rules.yml'], connection: ['clickhouse=x'], webhook: ['*=y'], directory: 'elsewhere' }
    const result = await createClient({ directory }).import(inputs)
    expect(result).toMatchObject({ status: 'pass', exact: 1, changed: 1, written: true, rules: [{ key: 'checkout-has-errors' }, {}] })
    expect(await read('elsewhere/checkout.yml')).toContain('connection: x')
    const { reason } = await invokeText({ inputs: { operation: 'import', files: 'rules.yml' }, isAction: true })
    expect(reason).toContain('import is not an operation of the action; run it on the command line')
  })

  it('needs the settings of a server only to compare values', async () => {
    const { exitCode, stderr } = await importFile('rules.yml', '--check')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('profile: is missing')])
  })

  it('refuses a file without rules', async () => {
    await writeFile(join(directory, 'other.yml'), 'panels: []\n')
    const { exitCode, stderr } = await importFile('other.yml')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('other.yml: has no groups of alert rules')])
  })
})
