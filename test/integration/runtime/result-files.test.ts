import { lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'
import { commandsOf } from '../../support/run-process.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

let directory: string
beforeEach(async () => {
  const created = await mkdtemp(join(tmpdir(), 'watchkeeper-results-'))
  directory = created
  onTestFinished(() => rm(created, { recursive: true }))
})

const run = (inputs: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}) =>
  runAsAction({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'list-sources', ...inputs },
    env: { GITHUB_REPOSITORY: 'shop/infra', ...env },
  })

describe('the result file', () => {
  it('the result file is not written over a link, and the verdict stays', async () => {
    const [target, link] = [join(directory, 'target'), join(directory, 'link.json')]
    await writeFile(target, 'precious')
    await symlink(target, link)
    const ran = await run({ reports: `json=${link}` })
    expect([ran.exitCode, ran.outputs.get('result-file')]).toEqual([0, ''])
    expect(ran.stdout).toContain('::warning::the result file could not be written: it is a link')
    expect([await readFile(target, 'utf8'), (await lstat(link)).isSymbolicLink()]).toEqual(['precious', true])
  })

  it('the result file has a fixed name for an unknown operation, and none without a temporary directory', async () => {
    const unknown = await run({ operation: '../../evil' })
    expect(unknown.outputs.get('result-file')).toMatch(/\/watchkeeper-unknown-[0-9a-f]{8}\.json$/)
    expect(unknown.result).toMatchObject({ operation: '../../evil', status: 'error' })
    const without = await run({}, { RUNNER_TEMP: '' })
    expect([without.exitCode, without.outputs.get('result-file'), commandsOf(without)]).toEqual([0, '', []])
  })

  it('the result file of an error is the one that a variable names, also when every input is wrong', async () => {
    const file = join(directory, 'deep', 'wanted.json')
    const ran = await run({ operation: 'usage-cost', budget: 'lots' }, { WATCHKEEPER_REPORTS: `json=${file}\nhtml=e.html\nmarkdown=e.md` })
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ status: 'error', error: { kind: 'input' } })
    for (const text of [ran.written['e.html'], ran.written['e.md']]) expect(text).toContain('did not complete')
  })
})

it('a summary has what fits below 1 MiB, whatever the step wrote before, and says where there is no room', async () => {
  const limit = 1024 * 1024
  const summary = join(directory, 'summary.md')
  for (const [room, isFull] of [
    [600, false],
    [1, true],
  ] as const) {
    await writeFile(summary, 'x'.repeat(limit - room))
    const ran = await run({ operation: 'usage-cost', period: 'last-30-days', budget: '1000000' }, { GITHUB_STEP_SUMMARY: summary })
    expect(ran.exitCode).toBe(0)
    expect((await readFile(summary)).length).toBeLessThanOrEqual(limit)
    const line = '::warning::the summary could not be written: GITHUB_STEP_SUMMARY has no room left'
    expect(ran.stdout.includes(line)).toBe(isFull)
  }
})

it('V4: a plan file that cannot be written is an error, and no output names it', async () => {
  const taken = join(directory, 'taken')
  await mkdir(taken)
  const ran = await runAsAction({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'plan', 'plan-file': taken, reports: 'sarif=diagnostics.sarif' },
    env: { GITHUB_REPOSITORY: 'shop/infra' },
    files: { 'observability/a.yml': 'savedSearches: { mine: { name: Mine, source: Logs } }' },
  })
  expect([ran.exitCode, ran.outputs.get('status'), ran.outputs.get('plan-file') ?? '']).toEqual([1, 'error', ''])
  expect(ran.outputs.get('failure-reason')).toContain(`plan-file: "${taken}" could not be written: it is a directory, not a regular file`)
  expect(Object.keys(ran.written)).toEqual(['diagnostics.sarif'])
})

it('S8: a report replaces no file that the run read, and none that the run wrote', async () => {
  const workspace = join(directory, 'work')
  const file = join(workspace, 'observability', 'a.yml')
  await mkdir(join(workspace, 'observability'), { recursive: true })
  await symlink('observability', join(workspace, 'o'))
  const declared = 'savedSearches: { mine: { name: Mine, source: Logs } }\n'
  await writeFile(file, declared)
  await writeFile(join(workspace, '.watchkeeper.yml'), 'project: shop\n')
  const runThere = (inputs: Readonly<Record<string, string>>) =>
    run({ 'plan-file': '', ...inputs }, { GITHUB_WORKSPACE: workspace, ...(inputs.operation === 'pull' && { RUNNER_TEMP: '' }) })
  const planned = await runThere({ operation: 'plan', reports: 'html=o/a.yml\nmarkdown=.watchkeeper.yml\njson=o/../observability/a.yml' })
  expect([planned.exitCode, planned.outputs.get('status'), planned.outputs.get('result-file')]).toEqual([0, 'pass', ''])
  for (const path of ['reports: "o/a.yml"', 'reports: ".watchkeeper.yml"', 'the result file'])
    expect(planned.stdout).toContain(`::warning::${path} could not be written: this run read it`)
  expect([await readFile(file, 'utf8'), await readFile(join(workspace, '.watchkeeper.yml'), 'utf8')]).toEqual([declared, 'project: shop\n'])

  const pulled = await runThere({ operation: 'pull', reports: 'html=observability/saved-searches.yml' })
  expect(pulled.stdout).toContain(
    'reports: "observability/saved-searches.yml" could not be written: this run read it, or wrote something else to it',
  )
  expect(await readFile(join(workspace, 'observability', 'saved-searches.yml'), 'utf8')).toMatch(/^[^<]*savedSearches:/)

  const same = await runThere({ operation: 'plan', reports: `json=result\nhtml=${join(workspace, 'result')}` })
  expect(same.stdout).toContain('could not be written: this run read it, or wrote something else to it')
  expect(JSON.parse(await readFile(join(workspace, 'result'), 'utf8'))).toMatchObject({ operation: 'plan' })
})

it('S8: pull fails when it cannot write a file, and names the files that were written', async () => {
  const outside = join(directory, 'outside')
  const workspace = join(directory, 'work')
  await mkdir(outside)
  await mkdir(join(workspace, 'observability', 'saved-searches.yml'), { recursive: true })
  const pull = () => run({ operation: 'pull', select: 'kind=savedSearch,dashboard' }, { GITHUB_WORKSPACE: workspace })
  const partly = await pull()
  expect([partly.exitCode, partly.outputs.get('status')]).toEqual([1, 'error'])
  expect(partly.outputs.get('failure-reason')).toMatch(
    /"observability\/saved-searches\.yml" could not be written: it is a directory, not a regular file\n\d of \d files were written\./,
  )
  await rm(join(workspace, 'observability'), { recursive: true })
  await symlink(outside, join(workspace, 'observability'))
  const ran = await run({ operation: 'pull' }, { GITHUB_WORKSPACE: workspace })
  expect(ran.outputs.get('failure-reason')).toMatch(
    /^(?:.* could not be written: .*is a link or not a directory\n){3}… and 2 more\n0 of 5 files were written\.$/,
  )
  expect(ran.summary).toMatch(/^### 🛑 `pull` did not complete/)
  expect(serviceOf(emulator()).savedSearches.length).toBeGreaterThan(0)
})

it('rejects a format of a report that is unknown, of another operation, or given twice, two files with one path, and the path -', async () => {
  const { exitCode, stdout, stderr } = await runCliInside(['usage-cost', ...['csv=-', 'pdf=a.pdf'].flatMap((one) => ['--reports', one])], {
    directory,
  })
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toContain('reports: "csv=-" is not accepted; accepted: format=path, one per line, such as html=report.html')
  for (const [reports, reason] of [
    ['sarif=a.sarif', 'usage-cost has no report in the format sarif; accepted: html, markdown, json, csv, focus, openmetrics'],
    ['html=a.html\nhtml=b.html', 'has the format html twice'],
    ['csv=out\nhtml=./out', 'has one path for csv and html, "./out"; give each a path of its own'],
    ['csv=out\nhtml=./out\nfocus=out', 'has one path for csv and focus, "out"'],
  ] as const)
    expect((await run({ operation: 'usage-cost', reports })).outputs.get('failure-reason')).toContain(`reports: ${reason}`)
  expect((await run({ operation: 'plan', 'plan-file': 'x', reports: 'html=./x' })).outputs.get('failure-reason')).toContain(
    'reports: has one path for plan-file and html, "./x"; give each a path of its own',
  )
})
