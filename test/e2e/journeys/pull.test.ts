// What exists becomes files, as a runner meets it: two commands, and clicks are code.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostile } from '../../support/corpus.ts'
import { asOptions, inputsFor, secrets, serviceOf, useEmulator } from '../../support/emulator.ts'
import { unexpectedHtml } from '../../support/output-oracle.ts'
import { commandsOf, type RanAction, runAction, runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
let workspace: string
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'watchkeeper-pull-'))
})
afterEach(() => rm(workspace, { recursive: true }))

const run = (operation: string, more: Record<string, string> = {}): Promise<RanAction> =>
  runAction({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, ...more },
    env: { GITHUB_WORKSPACE: workspace, GITHUB_REPOSITORY: 'shop/infra' },
    secrets,
  })

/** Webhooks and sources have tests of their own: a pull leaves out some of them. */
const pull = (): Promise<RanAction> => run('pull', { select: 'kind=dashboard,savedSearch,alert' })

async function snapshot(): Promise<Record<string, string>> {
  const names = (await readdir(workspace, { recursive: true })).filter((name) => /\.\w+$/.test(name)).sort()
  const entries = names.map(async (name) => [
    name,
    `${await readFile(join(workspace, name), 'utf8')} ${(await stat(join(workspace, name))).mtimeMs}`,
  ])
  return Object.fromEntries(await Promise.all(entries))
}

/** Lets the declared dashboards accept that an adoption writes their tiles again. */
async function acceptWrites(): Promise<void> {
  const directory = join(workspace, 'observability')
  for (const name of await readdir(directory)) {
    const text = await readFile(join(directory, name), 'utf8')
    await writeFile(
      join(directory, name),
      text.replace(/^dashboards:\n(?: {2}.*\n|\n)*? {4}adopt: true$/m, (found) => found.replace(/true$/, 'rewrite')),
    )
  }
}

describe('pull, as a step', () => {
  it('manages an existing installation after pull and apply', async () => {
    const pulled = await pull()
    // An adoption writes the tiles of the dashboards again, two of which have alerts.
    expect([pulled.exitCode, pulled.outputs.get('status'), pulled.outputs.get('changed')]).toEqual([0, 'warn', 'true'])
    expect(pulled.result).toMatchObject({ filesWritten: 5, added: 10, updated: 0, missing: 0, leftOut: 0 })
    const writes = emulator().requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/dashboards/validate'))
    expect(writes).toEqual([])
    expect(await readdir(join(workspace, 'observability'))).toEqual([
      'alerts.yml',
      'checkout-logs.yml',
      'checkout-overview.yml',
      'payments.yml',
      'saved-searches.yml',
    ])
    expect((await run('validate')).result).toMatchObject({ errorCount: 0 })
    expect((await run('plan')).outputs.get('status')).toBe('fail')
    await acceptWrites()
    const planned = await run('plan')
    expect(planned.result).toMatchObject({ toUpdate: 3, toCreate: 0, toReplace: 0 })
    expect((await run('apply')).exitCode).toBe(0)
    expect((await run('plan')).outputs.get('changed')).toBe('false')
    const before = await snapshot()
    const again = await pull()
    expect([again.outputs.get('changed'), again.result?.unchanged]).toEqual(['false', 10])
    expect(await snapshot()).toEqual(before)
    expect((await run('drift')).exitCode).toBe(0)
  }, 120_000)

  it('shows the outcome of each object, and the changes of each file', async () => {
    await pull()
    const [alert] = serviceOf(emulator()).alerts
    if (alert !== undefined) alert.threshold = 0.5
    const { summary, stdout } = await pull()
    expect(summary).toMatch(/^### ⚠️ Pulled into 1 file: 1 updated/)
    expect(summary).toContain('| updated | alert | `checkout-errors` | `Checkout errors` | `observability/checkout-overview.yml` |')
    expect(summary).toContain('-     threshold: 0.02\n+     threshold: 0.5\n')
    expect(unexpectedHtml(summary)).toEqual([])
    expect(stdout).toContain('updated  alert  checkout-errors')
  })

  it('writes nothing while a file is not valid, and names the place', async () => {
    await mkdir(join(workspace, 'observability'))
    await writeFile(join(workspace, 'observability/a.yml'), 'alerts:\n  a:\n    name: A\n    treshold: 1\n')
    const ran = await pull()
    expect([ran.exitCode, ran.outputs.get('status'), ran.outputs.get('changed')]).toEqual([1, 'fail', 'false'])
    expect(commandsOf(ran)).toContain('error')
    expect(await readdir(join(workspace, 'observability'))).toEqual(['a.yml'])
    expect(emulator().requests).toEqual([])
  })

  it('exits with 2 on the command line while a file is not valid', async () => {
    await mkdir(join(workspace, 'observability'))
    await writeFile(join(workspace, 'observability/a.yml'), 'alerts: 5\n')
    const { flags, variables } = asOptions(inputsFor(emulator(), 'clickhouse-cloud'))
    expect((await runCli(['pull', ...flags, '--project', 'a'], variables, { directory: workspace })).exitCode).toBe(2)
  })
})

describe('S8: pull fails when it cannot write a file, and names the files that were written', () => {
  const outside = (): string => `${workspace}-outside`
  beforeEach(() => mkdir(outside()))
  afterEach(() => rm(outside(), { recursive: true }))

  it.each([
    ['a directory that leads elsewhere', () => symlink(outside(), join(workspace, 'observability'))],
    ['a file in place of the directory', () => writeFile(join(workspace, 'observability'), '')],
  ])('fails when a file of pull cannot be written: %s', async (_, prepare) => {
    await prepare()
    const ran = await pull()
    expect([ran.exitCode, ran.outputs.get('status')]).toEqual([1, 'error'])
    expect(ran.outputs.get('failure-reason')).toMatch(
      /"observability\/alerts\.yml" could not be written: .*is a link or not a directory[\s\S]*0 of 5 files were written/,
    )
    expect(ran.summary).toMatch(/^### 🛑 `pull` did not complete/)
    expect(await readdir(outside())).toEqual([])
  })

  it('names the files that were written when another could not be', async () => {
    await mkdir(join(workspace, 'observability/payments.yml'), { recursive: true })
    const ran = await pull()
    expect(ran.outputs.get('failure-reason')).toMatch(
      /"observability\/payments\.yml" could not be written: it is a directory, not a regular file\n4 of 5 files were written\./,
    )
    expect(await readdir(join(workspace, 'observability'))).toHaveLength(5)
  })

  it('does not write a secret of the run into a file', async () => {
    const [alert] = serviceOf(emulator()).alerts
    if (alert !== undefined) alert.message = `Call with ${secrets[0]}`
    const ran = await pull()
    expect([ran.exitCode, ran.outputs.get('status')]).toEqual([1, 'error'])
    expect(ran.outputs.get('failure-reason')).toContain('would contain a secret')
    await expect(readdir(join(workspace, 'observability'))).rejects.toThrow('ENOENT')
  })
})

it('turns names of any kind into file names that every system accepts', async () => {
  const store = serviceOf(emulator())
  const [dashboard] = store.dashboards
  const [alert] = store.alerts
  if (dashboard === undefined || alert === undefined) throw new Error('the shop has changed')
  const values = hostile.map(({ value }) => value.toWellFormed()).filter((value) => value.length < 500 && value !== '')
  const tiles = dashboard.tiles.filter(({ id }) => id === alert.tileId)
  store.dashboards = values.map((name, i) => ({ ...dashboard, id: i.toString(16).padStart(24, '0'), name, tags: ['shop'], tiles }))
  store.alerts = values.map((name, i) => {
    const id = i.toString(16).padStart(24, '0')
    return { ...alert, id: i.toString(16).padStart(24, 'f0000000'), name, message: name, dashboardId: id }
  })
  const ran = await pull()
  expect([ran.exitCode, commandsOf(ran).filter((command) => command !== 'warning')]).toEqual([0, []])
  expect(unexpectedHtml(ran.summary)).toEqual([])
  expect(ran.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  const names = await readdir(join(workspace, 'observability'))
  expect(names.filter((name) => !/^[a-z0-9-]{1,70}\.yml$/.test(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
  expect(values.filter((value) => value.includes('${{'))).not.toEqual([])
  expect(ran.result).toMatchObject({ leftOut: 0 })
  const texts = await Promise.all(names.map((name) => readFile(join(workspace, 'observability', name), 'utf8')))
  expect(
    texts.filter((text) => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/.test(text)),
  ).toEqual([])
  await acceptWrites()
  const planned = await run('plan')
  expect(planned.result).toMatchObject({ toUpdate: values.length, toCreate: 0, toReplace: 0 })
  expect((await run('validate')).result).toMatchObject({ errorCount: 0 })
}, 120_000)
