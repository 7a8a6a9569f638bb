// Files that outlive a step may not be writable. The verdict does not depend on them.
import { execFileSync } from 'node:child_process'
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toKebab } from '../../../src/core/names.ts'
import { commonFormats } from '../../../src/operation/reports.ts'
import { fillUsage, inputsFor, useEmulator } from '../../support/emulator.ts'
import { allOperations, useExampleDirectory } from '../../support/examples.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'
import { commandsOf } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-sinks-'))
})
afterAll(async () => {
  await chmod(directory, 0o700)
  await rm(directory, { recursive: true })
})

const gate = (budget: string, env: Readonly<Record<string, string>>, inputs: Readonly<Record<string, string>> = {}) =>
  runAsAction({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-7-days', budget, ...inputs }, env })

const broken: readonly (readonly [string, Record<string, string>, string])[] = [
  ['no output file', { GITHUB_OUTPUT: '' }, 'the outputs'],
  ['an output file that is a directory', { GITHUB_OUTPUT: tmpdir() }, 'the outputs'],
  ['a full disk for outputs', { GITHUB_OUTPUT: '/dev/full' }, 'the outputs'],
  ['no summary file', { GITHUB_STEP_SUMMARY: '' }, 'the summary'],
  ['a summary file that does not exist', { GITHUB_STEP_SUMMARY: '/nowhere/summary' }, 'the summary'],
  ['a full disk for the summary', { GITHUB_STEP_SUMMARY: '/dev/full' }, 'the summary'],
  ['a temporary directory that cannot be written', { RUNNER_TEMP: '/dev/null/nowhere' }, 'the result file'],
]

describe('V4: a gate that fails still fails, and says so', () => {
  it.each(broken)('a gate still fails with %s', async (_, env, what) => {
    const ran = await gate('0', env)
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toContain(`::warning::${what} could not be written: `)
    expect(ran.stdout).toContain('Budget exceeded: ')
  })
})

it('a gate that passes still passes when nothing at all can be written', async () => {
  const ran = await gate('100000', { GITHUB_OUTPUT: '/dev/full', GITHUB_STEP_SUMMARY: '/dev/full', RUNNER_TEMP: '/dev/null/nowhere' })
  expect(ran.exitCode).toBe(0)
  expect(commandsOf(ran)).toEqual(['warning', 'warning', 'warning'])
  expect(ran.stdout).toMatch(/^✔ Used [\d,.]+ of 100,000\.00 Credits/m)
})

it('a step without a temporary directory just has no result file', async () => {
  const ran = await gate('100000', { RUNNER_TEMP: '' })
  expect(ran.exitCode).toBe(0)
  expect(ran.outputs.get('result-file')).toBe('')
  expect(commandsOf(ran)).toEqual([])
})

describe('the result file', () => {
  it('the result file goes where it is wanted, complete, and holds the same as the output', async () => {
    const file = join(directory, 'deep', 'result.json')
    const ran = await gate('100000', {}, { reports: `json=${file}` })
    expect(ran.outputs.get('result-file')).toBe(file)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(ran.outputs.get('result') ?? ''))
  })

  it('the result file is not written over a link, and the verdict stays', async () => {
    const [target, link] = [join(directory, 'target'), join(directory, 'link.json')]
    await writeFile(target, 'precious')
    await symlink(target, link)
    const ran = await gate('100000', {}, { reports: `json=${link}` })
    expect([ran.exitCode, ran.outputs.get('result-file')]).toEqual([0, ''])
    expect(ran.stdout).toContain('::warning::the result file could not be written: it is a link')
    expect(await readFile(target, 'utf8')).toBe('precious')
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
  })

  it('the result file is written under a fixed name for an unknown operation', async () => {
    const ran = await runAsAction({ inputs: { ...inputsFor(emulator()), operation: '../../evil' } })
    expect(ran.outputs.get('result-file')).toMatch(/\/watchkeeper-unknown-[0-9a-f]{8}\.json$/)
    expect(ran.result).toMatchObject({ operation: '../../evil', status: 'error' })
  })
})

/** The operations with formats of their own, and one without, each with the options that write files. */
const writing = allOperations
  .filter(({ name, operation }) => operation.reports !== undefined || 'planFile' in operation.input.shape || name === 'list-sources')
  .map(({ name, operation }) => ({
    name,
    example: operation.example,
    formats: [...new Set([...commonFormats, ...Object.keys(operation.reports ?? {})])],
    hasPlanFile: name === 'plan' || name === 'drift',
  }))

describe('an output path', () => {
  const root = useExampleDirectory()

  const run = (operation: string, example: object, options: readonly string[]) => {
    const inputs = {
      ...example,
      ...(operation === 'validate' && { profile: 'clickhouse-cloud' }),
      ...(operation === 'apply' && { yes: true }),
      ...(operation === 'pull' && { only: 'drifted' }),
    }
    const flags = Object.entries(inputs).flatMap(([name, value]) =>
      [value].flat().flatMap((one) => (one === true ? [`--${toKebab(name)}`] : [`--${toKebab(name)}`, String(one)])),
    )
    const env = Object.entries(inputsFor(emulator())).map(([name, value]) => [
      `WATCHKEEPER_${name.toUpperCase().replaceAll('-', '_')}`,
      value,
    ])
    return runCliInside([operation, ...flags, ...options], { env: Object.fromEntries(env), directory: root() })
  }

  it('every format of a report belongs to an operation', () => {
    expect(writing.map(({ name, formats }) => `${name}: ${formats.slice(3).join(' ')}`.trim()).sort()).toEqual([
      'apply: sarif code-quality',
      'drift: sarif code-quality',
      'list-sources:',
      'plan: sarif code-quality',
      'pull:',
      'usage-cost: csv focus openmetrics',
      'validate: sarif code-quality',
    ])
  })

  it.each(writing)(
    'S8: keeps an output that is a pipe, and does not wait for its reader: $name',
    async ({ name, example, formats, hasPlanFile }) => {
      const pipes = formats.map((format) => join(root(), `${name}.${format}`))
      const plan = join(root(), `${name}.plan`)
      execFileSync('mkfifo', [...pipes, plan])
      const ran = await run(name, example, [
        ...formats.flatMap((format, i) => ['--reports', `${format}=${pipes[i]}`]),
        ...(hasPlanFile ? ['--plan-file', plan] : []),
      ])
      const seen = `${ran.stdout}${ran.stderr}`
      for (const [i, format] of formats.entries()) {
        const what = format === 'json' ? 'the result file' : `reports: "${pipes[i]}"`
        expect(seen).toContain(`${what} could not be written: it is a pipe, not a regular file`)
      }
      for (const pipe of [...pipes, plan]) expect((await lstat(pipe)).isFIFO()).toBe(true)
      expect(ran.exitCode).toBe(hasPlanFile ? 2 : 0)
    },
  )

  it.each(writing)('an output path is written, also over an older file: $name', async ({ name, example, formats, hasPlanFile }) => {
    const paths = [
      ...formats.map((format) => join('results', `${name}.${format}`)),
      ...(hasPlanFile ? [join('results', `${name}.plan`)] : []),
    ]
    const options = [
      ...formats.flatMap((format, i) => ['--reports', `${format}=${paths[i]}`]),
      ...(hasPlanFile ? ['--plan-file', paths.at(-1) ?? ''] : []),
    ]
    for (const _ of [1, 2])
      expect(await run(name, example, options)).toMatchObject({ exitCode: expect.toSatisfy((code) => code === 0 || name === 'drift') })
    for (const path of paths) {
      const text = await readFile(join(root(), path), 'utf8')
      // The examples have no problems. In this format, that is an empty list.
      if (path.endsWith('code-quality')) expect(text).toBe('[]\n')
      else expect(text.length).toBeGreaterThan(40)
    }
  })

  it('rejects the path -, an unknown format, a format of another operation, and a format given twice', async () => {
    for (const [reports, reason] of [
      [['csv=-'], 'reports: "csv=-" is not accepted; accepted: format=path, one per line, such as html=report.html'],
      [['pdf=a.pdf'], 'reports: "pdf=a.pdf" is not accepted'],
      [['sarif=a.sarif'], 'reports: usage-cost has no report in the format sarif; accepted: html, markdown, json, csv, focus, openmetrics'],
      [['html=a.html', 'html=b.html'], 'reports: has the format html twice'],
    ] as const) {
      const ran = await run(
        'usage-cost',
        {},
        reports.flatMap((one) => ['--reports', one]),
      )
      expect([ran.exitCode, ran.stdout]).toEqual([2, ''])
      expect(ran.stderr).toContain(reason)
    }
  })
})

it('V4: a plan file that cannot be written is an error, and no output names it', async () => {
  const file = join(directory, 'taken')
  await mkdir(file)
  const examples = await readFile(new URL('../../../examples/adopt/alerts.yml', import.meta.url), 'utf8')
  const ran = await runAsAction({
    inputs: { ...inputsFor(emulator()), operation: 'plan', 'plan-file': file, reports: 'sarif=diagnostics.sarif' },
    env: { GITHUB_REPOSITORY: 'shop/infra' },
    files: { 'observability/alerts.yml': examples },
  })
  expect([ran.exitCode, ran.outputs.get('status'), ran.outputs.get('plan-file') ?? '']).toEqual([1, 'error', ''])
  expect(ran.outputs.get('failure-reason')).toContain(`plan-file: "${file}" could not be written: it is a directory, not a regular file`)
  expect(Object.keys(ran.written)).toEqual(['diagnostics.sarif'])
})

describe('a summary stays below what GitHub keeps, whatever other commands of the step wrote into it before', () => {
  const limit = 1024 * 1024

  const summaryAfter = async (room: number) => {
    const summary = join(directory, 'summary.md')
    await writeFile(summary, 'x'.repeat(limit - room))
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-30-days' },
      env: { GITHUB_STEP_SUMMARY: summary },
    })
    return { ran, text: await readFile(summary, 'utf8') }
  }

  it('a summary says what did not fit', async () => {
    const { text } = await summaryAfter(1500)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit)
    expect(text).toMatch(/x### ⚠️/)
    expect(text).toContain('did not fit. See the result file.')
    expect(text).toMatch(/\nOrganization `c0ffee00-[^\n]+\n$/)
  })

  it.each([0, 1, 60, 120, 200, 400])('a summary fits with %i bytes left', async (room) => {
    const { ran, text } = await summaryAfter(room)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit)
    const isWritten = text.length > limit - room
    expect(commandsOf(ran).includes('warning')).toBe(true)
    expect(ran.stdout.includes('::warning::the summary could not be written: GITHUB_STEP_SUMMARY has no room left')).toBe(!isWritten)
    expect(ran.exitCode).toBe(0)
  })
})

it('a month of 2,000 services with a FOCUS file takes little memory', async () => {
  const services = Array.from({ length: 2000 }, (_, i) => ({ name: `service ${i}`, microOn: usageOf(i) }))
  fillUsage(cloud(), 31, services)
  const file = join(directory, 'focus.csv')
  const ran = await runAsAction({
    preload: {},
    inputs: { ...inputsFor(cloud(), 'clickhouse-cloud'), operation: 'usage-cost', period: 'last-30-days', reports: `focus=${file}` },
  })
  expect(ran.exitCode).toBe(0)
  expect((await readFile(file, 'utf8')).split('\r\n')).toHaveLength(1 + 30 * 2000 * 3 + 1)
  // 270 MB in most runs, and 1 GB when the file was one text. A busy machine collects garbage late.
  expect(ran.ending?.peakMegabytes).toBeLessThan(400)
}, 120_000)

const usageOf = (i: number) => (ago: number) => ({ compute: 1_000_000 + ((ago + i) % 7) * 123_457, storage: 250_000, backup: 125_000 })

describe('the result file of an error', () => {
  const broken = { 'api-key-secret': 'not-the-secret-0123456789' }

  it('an error is written to the result file that the variables name', async () => {
    const file = join(directory, 'wanted.json')
    const ran = await gate('10', { WATCHKEEPER_REPORTS: `json=${file}`, WATCHKEEPER_SUMMARY: 'false' }, broken)
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ status: 'error', error: { kind: 'authentication' } })
    expect([ran.outputs.get('result-file'), ran.summary]).toEqual([file, ''])
  })

  it('an error is written as a page and as Markdown, too', async () => {
    const ran = await gate('lots', {}, { reports: 'html=error.html\nmarkdown=error.md' })
    expect(ran.written['error.html']).toContain('did not complete')
    expect(ran.written['error.md']).toContain('`usage-cost` did not complete')
  })

  it('an error is written to the result file when every input is wrong', async () => {
    const file = join(directory, 'wrong.json')
    await gate('lots', {}, { reports: `json=${file}` })
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ status: 'error', error: { kind: 'input' } })
  })
})
