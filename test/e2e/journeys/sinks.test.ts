// What outlives a step can fail to be written; the verdict stands all the same.
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { commandsOf, runAction } from '../../support/run-process.ts'

const emulator = useEmulator()
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-sinks-'))
})
afterAll(async () => {
  await chmod(directory, 0o700)
  await rm(directory, { recursive: true })
})

const gate = (budget: string, env: Readonly<Record<string, string>>, inputs: Readonly<Record<string, string>> = {}) =>
  runAction({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-7-days', budget, ...inputs }, env })

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
  it.each(broken)('with %s', async (_, env, what) => {
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
  it('goes where it is wanted, complete, and holds the same as the output', async () => {
    const file = join(directory, 'deep', 'result.json')
    const ran = await gate('100000', {}, { 'result-file': file })
    expect(ran.outputs.get('result-file')).toBe(file)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(ran.outputs.get('result') ?? ''))
  })

  it('replaces a link instead of writing through it', async () => {
    const [target, link] = [join(directory, 'target'), join(directory, 'link.json')]
    await writeFile(target, 'precious')
    await symlink(target, link)
    await gate('100000', {}, { 'result-file': link })
    expect(await readFile(target, 'utf8')).toBe('precious')
    expect(JSON.parse(await readFile(link, 'utf8'))).toMatchObject({ operation: 'usage-cost' })
  })

  it('is written under a fixed name for an unknown operation', async () => {
    const ran = await runAction({ inputs: { ...inputsFor(emulator()), operation: '../../evil' } })
    expect(ran.outputs.get('result-file')).toMatch(/\/watchkeeper-unknown-[0-9a-f]{8}\.json$/)
    expect(ran.result).toMatchObject({ operation: '../../evil', status: 'error' })
  })
})

it('a summary stays below what GitHub keeps, whatever other steps wrote into it before', async () => {
  const summary = join(directory, 'summary.md')
  await mkdir(directory, { recursive: true })
  await writeFile(summary, 'x'.repeat(1024 * 1024 - 1500))
  await runAction({
    inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-30-days' },
    env: { GITHUB_STEP_SUMMARY: summary },
  })
  const text = await readFile(summary)
  expect(text.length).toBeLessThanOrEqual(1024 * 1024)
  expect(text.toString()).toMatch(/x### ⚠️/)
  expect(text.toString()).toContain('did not fit. See the result file.')
})

describe('an error is kept where a result would be', () => {
  const broken = { 'api-key-secret': 'not-the-secret-0123456789' }

  it('by the variables that say so', async () => {
    const file = join(directory, 'wanted.json')
    const ran = await gate('10', { WATCHKEEPER_RESULT_FILE: file, WATCHKEEPER_SUMMARY: 'false' }, broken)
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ status: 'error', error: { kind: 'authentication' } })
    expect([ran.outputs.get('result-file'), ran.summary]).toEqual([file, ''])
  })

  it('also when nothing of the input is right', async () => {
    const file = join(directory, 'wrong.json')
    await gate('lots', {}, { 'result-file': file })
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ status: 'error', error: { kind: 'input' } })
  })
})
