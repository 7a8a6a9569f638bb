import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { demo, type RunSql, startEmulator } from '../../../../src/emulator/index.ts'
import { createClient } from '../../../../src/index.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { serviceOf } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'
import { runCliInside } from '../../../support/run-cli-inside.ts'

const example = new URL('../../../../examples/grafana/checkout.yml', import.meta.url)
const corpus = new URL('../../../unit/tools/import/rules.yml', import.meta.url)

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

  it('S8: reads a file outside of the workspace that is named, and none that a pattern finds behind a link', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'watchkeeper-downloads-'))
    onTestFinished(() => rm(elsewhere, { recursive: true }))
    await writeFile(join(elsewhere, 'rules.yml'), await readFile(example))
    for (const path of [join(elsewhere, 'rules.yml'), `../${basename(elsewhere)}/rules.yml`]) {
      const { exitCode, stdout } = await importFile(path)
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2 rules of Grafana')])
    }
    await symlink(join(elsewhere, 'rules.yml'), join(directory, 'link.yml'))
    for (const path of ['link.yml', 'l*.yml']) {
      const { exitCode, stderr } = await importFile(path)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('"link.yml" is outside of the workspace')])
    }
    const validated = await runCliInside(['validate', '--files', join(elsewhere, 'rules.yml')], { directory })
    expect([validated.exitCode, validated.stderr]).toEqual([2, expect.stringContaining('is not accepted')])
  })

  it('writes a file for each folder, with a dashboard for each group', async () => {
    const { exitCode, stdout } = await importFile('rules.yml')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('2 rules of Grafana: 1 exact, 1 changed')
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

  it('writes the same again, and overwrites no other content', { tags: 'slow' }, async () => {
    await importFile('rules.yml')
    expect((await importFile('rules.yml')).exitCode).toBe(0)
    await importFile('corpus.yml', '--allow-partial')
    await writeFile(join(directory, 'observability/copy.yml'), await read('observability/shop.yml'))
    for (const file of ['checkout', 'shop']) await writeFile(join(directory, `observability/${file}.yml`), 'alerts: {}\n')
    const { exitCode, stderr } = await importFile('*.yml', '--allow-partial')
    const several =
      /already has other content in observability\/shop\.yml, other content in observability\/checkout\.yml(?:, \S+ in observability\/copy\.yml){8} and \d+ more; remove what you did not edit and run import again, or/
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(several)])
    expect(await read('observability/checkout.yml')).toBe('alerts: {}\n')
    await importFile('rules.yml', '--directory', 'a[b]')
    await writeFile(join(directory, 'a[b]/checkout.yml'), 'alerts: {}\n')
    expect((await importFile('rules.yml', '--directory', 'a[b]')).stderr).toContain('already has other content in a[b]/checkout.yml')
  })

  it('overwrites no edited file, whatever way its directory is written', { tags: 'slow' }, async () => {
    const ways = [join(directory, 'abs'), `../${basename(directory)}/back`, 'a{b,c}', 'a\\b', '!a', 'a?b(c)', '.hidden/x', './/d/../e', '.']
    for (const way of ways) {
      const importInto = () => importFile('rules.yml', '--directory', way)
      const path = join(resolve(directory, way), 'checkout.yml')
      expect([way, (await importInto()).exitCode]).toEqual([way, 0])
      expect([way, (await importInto()).exitCode]).toEqual([way, 0])
      for (const [edited, reason] of [
        ['# edited\nalerts: {}\n', 'already has other content in '],
        [Buffer.from([0xe4]), 'is not UTF-8'],
      ] as const) {
        await writeFile(path, edited)
        const { exitCode, stderr } = await importInto()
        expect([way, exitCode, stderr]).toEqual([way, 2, expect.stringContaining(reason)])
        expect(await readFile(path)).toEqual(Buffer.from(edited))
      }
      await rm(path)
      await symlink('nowhere', path)
      const unreadable = await importInto()
      expect([way, unreadable.exitCode, unreadable.stderr]).toEqual([way, 2, expect.stringContaining('does not exist or cannot be read')])
      await rm(path)
      await writeFile(join(dirname(path), 'shop.yml'), 'alerts: { ingestion-lags: {} }')
      const declared = await importInto()
      expect([way, declared.exitCode, declared.stderr]).toEqual([way, 2, expect.stringContaining('alerts.ingestion-lags in ')])
      await rm(dirname(path) === directory ? join(directory, 'shop.yml') : dirname(path), { recursive: true })
    }
  })

  it('ignores node_modules, and says when a directory has too many files to search', { tags: 'slow' }, async () => {
    const fill = async (parent: string): Promise<void> => {
      for (let i = 0; i <= 1000; i++) {
        await mkdir(join(directory, parent, String(i)), { recursive: true })
        await writeFile(join(directory, parent, String(i), 'package.json'), '{ "alerts": { "ingestion-lags": 1 } }')
      }
    }
    await fill('node_modules')
    const first = await importFile('rules.yml', '--directory', '.')
    expect([first.exitCode, first.stdout]).toEqual([0, expect.not.stringContaining('too many files')])
    await fill('many')
    const second = await importFile('rules.yml', '--directory', '.')
    expect([second.exitCode, second.stdout]).toEqual([0, expect.stringContaining('. has too many files to look for the same keys')])
    await writeFile(join(directory, 'checkout.yml'), '# edited\n')
    expect((await importFile('rules.yml', '--directory', '.')).stderr).toContain('already has other content in ./checkout.yml')
  })

  it('declares nothing twice in its directory, also after a file of an earlier import was renamed', async () => {
    await importFile('rules.yml', '--directory', './observability/grafana')
    expect((await importFile('rules.yml', '--directory', './observability/grafana')).exitCode).toBe(0)
    const [from, to] = ['checkout', 'team/shop'].map((name) => join(directory, `observability/grafana/${name}.yml`)) as [string, string]
    await mkdir(dirname(to))
    await rename(from, to)
    await writeFile(join(directory, 'observability/broken.yml'), 'alerts: [')
    await writeFile(join(directory, 'observability/latin-1.yml'), Buffer.from([0xe4]))
    await symlink('/', join(directory, 'observability/root.yml'))
    for (const path of ['observability', 'observability/grafana']) {
      const { exitCode, stderr } = await importFile('rules.yml', '--directory', path)
      const keys = ['dashboards.checkout-errors', 'alerts.ingestion-lags', 'alerts.checkout-has-errors']
      expect(exitCode).toBe(2)
      for (const key of keys) expect(stderr).toContain(`${key} in observability/grafana/team/shop.yml`)
      expect(stderr).toContain('; remove what you did not edit and run import again')
      await expect(read(`${path}/checkout.yml`)).rejects.toThrow('ENOENT')
    }
    expect((await importFile('rules.yml', '--directory', 'other')).exitCode).toBe(0)
  })

  it('fails with refused rules and writes nothing, unless a part is enough', async () => {
    const refused = await importFile('corpus.yml')
    expect([refused.exitCode, refused.stdout]).toEqual([10, expect.stringContaining('33 exact, 22 changed, 19 refused, 1 paused')])
    await expect(read('observability/shop.yml')).rejects.toThrow('ENOENT')
    const partial = await importFile('corpus.yml', '--allow-partial', '--reports', 'markdown=report.md')
    expect(partial.exitCode).toBe(0)
    expect(await read('observability/shop.yml')).toContain('  shop-errors:\n    name: Shop / errors')
    expect(await read('observability/ops-more.yml')).toContain('changed-another-pending-time:')
    const report = await read('report.md')
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
    const acceptedIn = async (isAction: boolean) => (await invokeText({ inputs: { operation: 'none' }, isAction })).reason ?? ''
    expect([await acceptedIn(true), await acceptedIn(false)]).toEqual([
      expect.not.stringContaining(' import,'),
      expect.stringContaining(' import,'),
    ])
  })

  it('needs the settings of a server only to compare values', async () => {
    const { exitCode, stderr } = await importFile('rules.yml', '--check')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('api-key-id: is missing')])
  })

  it('compares values with --check, and writes no rule whose values differ unless a part is enough', { tags: 'slow' }, async () => {
    let original: number | undefined = 3
    let type = 'UInt64'
    const runSql: RunSql = ({ sql }) => {
      if (original === undefined) return { error: 'Unknown table expression identifier' }
      const windows = sql.split('\nUNION ALL\n')
      // Only the translated query names its window in milliseconds.
      const isOriginal = sql.includes("'checkout'") && !sql.includes('toInt64')
      const rows = windows.map((_, i) => ({ window__: i, value: isOriginal ? original : 3 }))
      return { rows, types: { window__: 'UInt16', value: isOriginal ? type : 'UInt64' } }
    }
    const emulator = await startEmulator({ dialect: 'hyperdx', runSql })
    onTestFinished(() => emulator.close())
    const env = { WATCHKEEPER_PROFILE: 'hyperdx', WATCHKEEPER_API_URL: emulator.url, WATCHKEEPER_API_KEY: demo.apiKeySecret }
    const check = (...more: readonly string[]) =>
      runCliInside(['import', '--connection', 'clickhouse=Default', '--webhook', '*=oncall', '--check', ...more, 'rules.yml'], {
        directory,
        env,
      })
    const equal = await check('--directory', 'equal')
    expect([equal.exitCode, equal.stderr]).toEqual([0, 'Wrote equal/checkout.yml\n'])
    expect(equal.stdout.match(/equal in 24 windows, 24 of them with a value/g)).toHaveLength(2)
    original = 4
    const differing = await check('--json')
    expect(differing.exitCode).toBe(10)
    const differs = { key: 'checkout-has-errors', check: { difference: expect.stringMatching(/^at .*: 3; Grafana had 4$/) } }
    expect(JSON.parse(differing.stdout)).toMatchObject({ differing: 1, written: false, rules: [differs, { check: { windows: 24 } }] })
    await expect(readdir(join(directory, 'observability'))).rejects.toThrow('ENOENT')
    const partial = await check('--allow-partial')
    expect([partial.exitCode, partial.stdout]).toEqual([10, expect.stringContaining('the values of 1 rule differ')])
    expect(await read('observability/checkout.yml')).toContain('checkout-has-errors:')
    const { rules } = JSON.parse((await check('--json', '--allow-partial')).stdout)
    expect(rules[0]).toMatchObject({ result: 'changed', differences: [expect.stringMatching(/^other values at .*: 3; Grafana had 4$/)] })
    type = 'Bool'
    const refused = await check('--json', '--directory', 'refused')
    const reason = 'the rule fails in Grafana: the original query has no number'
    expect(JSON.parse(refused.stdout)).toMatchObject({
      refused: 1,
      written: false,
      rules: [{ result: 'refused', reason }, { result: 'changed' }],
    })
    expect(JSON.parse(refused.stdout).rules[0]).not.toHaveProperty('key')
    original = undefined
    const uncompared = await check('--directory', 'uncompared')
    expect([uncompared.exitCode, uncompared.stdout]).toEqual([0, expect.stringContaining('2 rules could not be compared')])
    expect(uncompared.stdout).toContain('not compared: ')
    const service = serviceOf(emulator)
    service.connections = service.connections.flatMap((one) => Array.from({ length: 11 }, (_, i) => ({ ...one, name: `c${i}` })))
    const listed = '"Default" is not a connection of the server, which has c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 1 more'
    expect((await check('--directory', 'absent')).stderr).toContain(listed)
  })

  it('writes the alerts of tiles beside their dashboard', async () => {
    const alert = { interval: '5m', threshold: 10, thresholdType: 'above', channel: { type: 'webhook', webhookName: 'oncall' } }
    const chart = { source: 'Logs', displayType: 'line', select: [{ aggFn: 'count' }], alert }
    const tiles = ['Errors', 'Latency'].map((name, i) => ({ id: name, x: 12 * i, y: 0, w: 12, h: 4, config: { name, ...chart } }))
    await writeFile(join(directory, 'one.json'), JSON.stringify({ name: 'Checkout', tiles }))
    await writeFile(join(directory, 'two.json'), JSON.stringify({ name: 'Checkout', tiles }))
    await writeFile(
      join(directory, 'three.json'),
      JSON.stringify({ name: 'Single', tiles: [{ ...tiles[0], config: { name: 'Restarts', ...chart } }] }),
    )
    const withoutAlerts = tiles.map(({ config: { alert: _, ...config }, ...tile }) => ({ ...tile, config }))
    await writeFile(join(directory, 'four.json'), JSON.stringify({ name: 'Quiet', tiles: withoutAlerts }))
    const { exitCode, stdout } = await importFile('one.json', 'two.json', 'three.json', 'four.json')
    expect([exitCode, stdout.match(/\S+: .* of its tiles, under alerts/g)]).toEqual([
      0,
      [
        'one.json: 2 alerts of its tiles, under alerts',
        'three.json: 1 alert of its tiles, under alerts',
        'two.json: 2 alerts of its tiles, under alerts',
      ],
    ])
    const second = await read('observability/checkout-2.yml')
    expect(second).toContain('alerts:\n  errors-2:\n    dashboard: checkout-2\n    tile: Errors\n')
    expect(second).toContain('  latency-2:\n')
    const validated = await runCliInside(['validate', '--json'], { directory, env: { WATCHKEEPER_PROFILE: 'hyperdx' } })
    expect(validated.exitCode).toBe(0)
  })

  it('refuses a file of another tool, and says what it is', () =>
    forEachEntry<[object, string]>(
      [
        [{ panels: [{ type: 'timeseries' }], schemaVersion: 39 }, 'is a dashboard of Grafana'],
        [{ dashboard: { panels: [{ type: 'stat' }] }, meta: {} }, 'is a dashboard of Grafana'],
        [{ groups: [{ name: 'a', rules: [{ alert: 'Errors', expr: 'up == 0', for: '5m' }] }] }, 'is a rule file of Prometheus'],
        [{ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', spec: { groups: [] } }, 'is a rule file of Prometheus'],
        [
          { name: 'CPU', type: 'metric alert', query: 'avg(last_5m):avg:system.cpu.user{*} > 90', message: '@oncall' },
          'is a monitor of Datadog',
        ],
        [{ title: 'CPU', layout_type: 'ordered', widgets: [{ id: 1 }] }, 'is a dashboard of Datadog'],
        [{ name: 'A', tiles: [{ name: 'A', config: { displayType: 'markdown' } }] }, 'is a single dashboard, which create-dashboard takes'],
        [{ alerts: { a: { name: 'A' } } }, 'is a file with declarations'],
        [{ spam: 1 }, 'has no groups of alert rules'],
      ],
      async (content, what) => {
        await writeFile(join(directory, 'other.json'), JSON.stringify(content))
        const { exitCode, stderr } = await importFile('other.json')
        const accepted = 'import reads only alert rules of Grafana, and dashboards of the web app and in the form of the API'
        expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`other.json: ${what}; ${accepted}`)])
        const validated = await runCliInside(['validate', '--files', 'other.json'], { directory })
        if (/Grafana|Prometheus|Datadog/.test(what))
          expect(validated.stdout).toMatch(new RegExp(`1 error\\n+other.json:1:1 +error +${what}; ${accepted}`))
      },
    ))
})

describe('import of a dashboard of the web app', () => {
  const chart = {
    name: 'Errors',
    source: 'Logs',
    displayType: 'line',
    select: [{ aggFn: 'count', valueExpression: '' }],
    granularity: 'auto',
  }

  const exported = (config: object = {}, more: object = { version: '0.1.0' }): string =>
    JSON.stringify({ ...more, name: 'Orders', tiles: [{ id: 't', x: 0, y: 0, w: 12, h: 6, config: { ...chart, where: '', ...config } }] })

  const write = (path: string, content: string): Promise<void> => writeFile(join(directory, path), content)

  it('writes a file for each, beside the rules of Grafana, without an option for connections and webhooks', async () => {
    await write('orders.json', exported({ where: 'ServiceName:orders' }))
    const alone = await runCliInside(['import', 'orders.json'], { directory })
    expect([alone.exitCode, alone.stderr]).toEqual([0, 'Wrote observability/orders.yml\n'])
    expect(alone.stdout).toMatch(/1 dashboard: 0 exact, 1 changed$/m)
    expect(alone.stdout).not.toContain('Wrote')
    expect(alone.stdout).toMatch(/Orders +changed +Errors +where ServiceName:orders is left out, so that rows without it count, too/)
    expect((await read('observability/orders.yml')).split('\n').slice(1).join('\n')).toBe(`dashboards:
  orders:
    name: Orders
    tiles:
      - name: Errors
        at: [0, 0, 12, 6]
        config:
          displayType: line
          source: Logs
          select: [{ aggFn: count }]
`)
    const both = await importFile('orders.json', 'rules.yml')
    expect(both.stdout).toContain('1 dashboard and 2 rules of Grafana: 1 exact, 2 changed')
    const { exitCode, stdout } = await runCliInside(['validate', '--json'], { directory, env: { WATCHKEEPER_PROFILE: 'hyperdx' } })
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { objectCount: 4, errorCount: 0 }])
  })

  it('names files and keys of names without letters and digits as a pull does', async () => {
    for (const [i, name] of ['~', '...', 'aux'].entries()) await write(`${i}.json`, exported().replace('"Orders"', JSON.stringify(name)))
    await runCliInside(['import', '*.json'], { directory })
    const files = (await readdir(join(directory, 'observability'))).toSorted()
    expect(files).toEqual([
      'aux-.yml',
      expect.stringMatching(/^dashboard-[0-9a-f]{6}\.yml$/),
      expect.stringMatching(/^dashboard-[0-9a-f]{6}\.yml$/),
    ])
    for (const file of files.slice(1)) expect(await read(`observability/${file}`)).toContain(`\n  ${file.replace('.yml', '')}:\n`)
  })

  it('says what the provisioner does with a file of its form', async () => {
    await write('orders.json', exported({}, {}))
    const { stdout } = await runCliInside(['import', 'orders.json'], { directory })
    expect(stdout).toContain('1 exact')
    expect(stdout).toContain('orders.json: has the form of a file of the provisioner; where a server has it, the provisioner overwrites')
  })

  it('fails with a refused one and writes nothing, unless a part is enough', async () => {
    await write('orders.json', exported())
    await write('promql.json', exported({ configType: 'promql', promqlExpression: 'up' }))
    const refused = await runCliInside(['import', '*.json'], { directory })
    expect([refused.exitCode, refused.stdout]).toEqual([10, expect.stringContaining('1 exact, 0 changed, 1 refused')])
    expect(refused.stdout).toContain('the API has none of its tiles')
    await expect(read('observability/orders.yml')).rejects.toThrow('ENOENT')
    expect((await runCliInside(['import', '*.json', '--allow-partial'], { directory })).exitCode).toBe(0)
    expect(await read('observability/orders.yml')).toContain('name: Orders')
  })

  it('is what a file with declarations and a document of a dashboard say that they need', async () => {
    await mkdir(join(directory, 'observability'))
    await write('observability/web.json', exported())
    const emulator = await startEmulator({ dialect: 'hyperdx' })
    try {
      const env = { WATCHKEEPER_PROFILE: 'hyperdx', WATCHKEEPER_API_URL: emulator.url, WATCHKEEPER_API_KEY: demo.apiKeySecret }
      const document = ['--dashboard', 'observability/web.json']
      for (const command of [
        ['validate'],
        ['plan', '--project', 'a/b'],
        ['create-dashboard', ...document],
        ['update-dashboard', '65f5e4a35eedc0de0000000c', ...document, '--yes'],
      ]) {
        const { exitCode, stdout, stderr } = await runCliInside(command, { directory, env })
        const said = (stdout + stderr).split('\n').filter((line) => line.includes('web app'))
        const advice = /is a dashboard of the web app; translate it with: watchkeeper import observability\/web.json/
        // The first line of a plan says its only error, which the table shows with its place.
        expect([exitCode, said]).toEqual([2, Array(command[0] === 'plan' ? 2 : 1).fill(expect.stringMatching(advice))])
      }
      expect(emulator.requests.filter(({ method }) => method !== 'GET')).toEqual([])
    } finally {
      await emulator.close()
    }
  })
})

describe('import of a dashboard in the form of the API', () => {
  /** A template with placeholders for ids, as packs have them. */
  const pack = (more: object = {}): string =>
    JSON.stringify(
      {
        name: 'Orders overview',
        tags: ['shop'],
        tiles: [
          { name: '', x: 0, y: 0, w: 24, h: 3, config: { displayType: 'markdown', markdown: '#### Rate' } },
          {
            ...{ name: 'Rejected', x: 0, y: 3, w: 6, h: 3 },
            config: {
              ...{ displayType: 'number', configType: 'sql', connectionId: '@CONNECTION_ID@' },
              sqlTemplate: 'SELECT count() FROM {{LOGS_TABLE}}',
              colorRules: [{ operator: 'gt', value: 0, color: 'chart-error' }],
            },
          },
          {
            ...{ name: 'Spread', x: 6, y: 3, w: 12, h: 6 },
            config: {
              ...{ displayType: 'heatmap', sourceId: '{{TRACES_SOURCE_ID}}', where: 'SpanKind:Server', whereLanguage: 'lucene' },
              select: [{ valueExpression: 'Duration / 1e9', countExpression: 'count()', where: '', whereLanguage: 'lucene' }],
            },
          },
        ],
        filters: [{ type: 'QUERY_EXPRESSION', name: 'Service', expression: 'ServiceName', sourceId: '{{TRACES_SOURCE_ID}}' }],
        ...more,
      },
      undefined,
      1,
    )

  const write = (content: string): Promise<void> => writeFile(join(directory, 'pack.json'), content)
  const run = (...more: readonly string[]) => runCliInside(['import', 'pack.json', ...more], { directory })
  const names = ['--source', '{{TRACES_SOURCE_ID}}=Traces', '--connection', '@CONNECTION_ID@=Default']

  it('leaves unknown fields out by name, gives sources and connections their names, and validates', async () => {
    await write(pack().replace('{{LOGS_TABLE}}', 'otel_logs'))
    const { exitCode, stdout } = await run(...names)
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('1 dashboard: 0 exact, 1 changed')])
    expect(stdout.match(/is left out/g)).toHaveLength(1)
    expect(stdout).toMatch(/Rejected +colorRules .* is left out: the API has no field for it/)
    const file = await read('observability/orders-overview.yml')
    for (const text of ['source: Traces', 'connection: Default', 'sqlTemplate: SELECT count() FROM otel_logs', 'where: SpanKind:Server'])
      expect(file).toContain(text)
    expect((await runCliInside(['validate'], { directory, env: { WATCHKEEPER_PROFILE: 'hyperdx' } })).exitCode).toBe(0)
  })

  it('names each placeholder that is left, with its line, and writes nothing', async () => {
    await write(pack())
    const { exitCode, stderr } = await run('--connection', '@CONNECTION_ID@=Default')
    const placeOf = (text: string): string => {
      const lines = pack().slice(0, pack().indexOf(text)).split('\n')
      return `pack.json:${lines.length}:${(lines.at(-1)?.lastIndexOf('"') ?? 0) + 1}`
    }
    expect(exitCode).toBe(2)
    expect(stderr).toContain(
      `${placeOf('{{TRACES_SOURCE_ID}}')}: {{TRACES_SOURCE_ID}} (and 1 more place) is a placeholder; fill it in, or give --source '{{TRACES_SOURCE_ID}}=NAME'`,
    )
    expect(stderr).toContain(`${placeOf('{{LOGS_TABLE}}')}: {{LOGS_TABLE}} is a placeholder; fill it in\n`)
    await expect(readdir(join(directory, 'observability'))).rejects.toThrow('ENOENT')
  })

  it('is stored by apply as create-dashboard stores the file, and a link keeps its own templates', async () => {
    const emulator = await startEmulator({ dialect: 'hyperdx' })
    onTestFinished(() => emulator.close())
    const env = { WATCHKEEPER_PROFILE: 'hyperdx', WATCHKEEPER_API_URL: emulator.url, WATCHKEEPER_API_KEY: demo.apiKeySecret }
    const [, traces] = ['log', 'trace'].map((kind) => serviceOf(emulator).sources.find((one) => one.kind === kind)?.id)
    const linked = {
      ...{ name: 'Linked', x: 0, y: 9, w: 12, h: 6 },
      config: {
        ...{ displayType: 'table', sourceId: traces, groupBy: 'ServiceName', select: [{ aggFn: 'count', whereLanguage: 'lucene' }] },
        onClick: { type: 'external', urlTemplate: 'https://example.com/{{SERVICE}}' },
      },
    }
    const tiles = [...JSON.parse(pack()).tiles.filter(({ name }: { name: string }) => name !== 'Rejected'), linked]
    const text = pack({ tiles })
    await write(text.replaceAll('{{TRACES_SOURCE_ID}}', String(traces)))
    const created = await runCliInside(['create-dashboard', '--dashboard', 'pack.json'], { directory, env })
    expect(created.exitCode).toBe(0)
    await write(text)
    expect([
      (await run(...names)).exitCode,
      (await runCliInside(['apply', '--project', 'a/b', '--yes'], { directory, env })).exitCode,
    ]).toEqual([0, 0])
    const [first, second] = serviceOf(emulator).dashboards.filter(({ name }) => name === 'Orders overview')
    expect(second).toBeUndefined()
    expect(first?.tiles).toHaveLength(3)
    const plan = await runCliInside(['plan', '--project', 'a/b', '--json'], { directory, env })
    expect(JSON.parse(plan.stdout)).toMatchObject({ status: 'pass', unchanged: 1, toCreate: 0, toUpdate: 0 })
  })

  it('validate says that a file with alert rules of Grafana is one, as a list, too', async () => {
    const yaml = await readFile(example, 'utf8')
    const list = JSON.stringify([{ title: 'A', condition: 'B', data: [{ refId: 'B' }] }])
    for (const content of [yaml, list]) {
      await writeFile(join(directory, 'a.yml'), content)
      const { exitCode, stdout } = await runCliInside(['validate', '--files', 'a.yml'], { directory })
      const said = 'is a file with alert rules of Grafana; translate it with: watchkeeper import a.yml'
      expect([exitCode, stdout]).toEqual([2, expect.stringContaining(said)])
    }
  })

  it('validate, plan and an import of other forms say what it is, and which command takes it', async () => {
    await mkdir(join(directory, 'observability'))
    const path = join(directory, 'observability', 'pack.json')
    for (const [content, what] of [
      [
        pack(),
        'is a dashboard in the form of the API, which create-dashboard takes; translate it with: watchkeeper import observability/pack.json',
      ],
      ['{ name: A, tiles: [{ name: B }] }', 'is a single dashboard, which create-dashboard takes; give it a key under dashboards'],
      ['{ name: A, source: tile, threshold: 1, interval: 5m }', 'is a single alert, which create-alert takes; give it a key under alerts'],
    ] as const) {
      await writeFile(path, content)
      const { exitCode, stdout } = await runCliInside(['validate'], { directory })
      expect([exitCode, stdout]).toEqual([2, expect.stringContaining(what)])
      expect(stdout).not.toContain('unknown field')
    }
    await writeFile(path, '{ name: A, threshold: 1 }')
    expect((await runCliInside(['validate'], { directory })).stdout).toContain('"threshold" is an unknown field')
  })
})
