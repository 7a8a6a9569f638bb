import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { fillUsage, inputsFor, useEmulator } from '../../support/emulator.ts'
import { problemsWithRun } from '../../support/output-oracle.ts'
import { commandsOf, type RanAction, runAction } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })
const cloud = useEmulator({ dialect: 'clickhouse-cloud' })

let directory: string
beforeEach(async () => {
  const created = await mkdtemp(join(tmpdir(), 'watchkeeper-sinks-'))
  directory = created
  onTestFinished(() => rm(created, { recursive: true }))
})

const gate = (budget: string, env: Readonly<Record<string, string>> = {}, reports = ''): Promise<RanAction> =>
  runAction({
    inputs: {
      ...inputsFor(emulator()),
      operation: 'usage-cost',
      period: 'last-7-days',
      budget,
      reports,
    },
    env,
  })

it('a gate that fails writes outputs, summary, result file and every report', async () => {
  const file = join(directory, 'deep', 'result.json')
  const ran = await gate('0', {}, `json=${file}\ncsv=a.csv\nfocus=b.csv\nopenmetrics=c.txt\nhtml=d.html\nmarkdown=e.md`)
  const result: unknown = JSON.parse(ran.outputs.get('result') ?? '')
  expect([ran.exitCode, ran.outputs.get('result-file')]).toEqual([1, file])
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(result)
  expect(problemsWithRun(ran)).toEqual([])
  expect(ran.summary).toMatch(/^### ❌ Budget exceeded: /)
  expect(Object.keys(ran.written).toSorted()).toEqual(['a.csv', 'b.csv', 'c.txt', 'd.html', 'e.md'])
})

it('V4: a gate has the same verdict when no output, summary or result file can be written, and warns', async () => {
  const broken = { GITHUB_OUTPUT: '/dev/full', GITHUB_STEP_SUMMARY: '/dev/full', RUNNER_TEMP: '/dev/null/nowhere' }
  const failed = await gate('0', broken)
  expect([failed.exitCode, commandsOf(failed)]).toEqual([1, ['warning', 'warning', 'warning', 'error']])
  for (const what of ['the outputs', 'the summary', 'the result file'])
    expect(failed.stdout).toContain(`::warning::${what} could not be written: `)
  expect(failed.stdout).toContain('Budget exceeded: ')
  const summary = join(directory, 'summary.md')
  const limit = 1024 * 1024
  await writeFile(summary, 'x'.repeat(limit - 1500))
  expect((await gate('100000', { GITHUB_STEP_SUMMARY: summary })).exitCode).toBe(0)
  expect((await readFile(summary)).length).toBeLessThanOrEqual(limit)
})

it('a month of 2,000 services with a FOCUS file takes little memory', async () => {
  const microOn = () => ({ compute: 1_000_000, storage: 250_000, backup: 125_000 })
  fillUsage(
    cloud(),
    31,
    Array.from({ length: 2000 }, (_, i) => ({ name: `service ${i}`, microOn })),
  )
  const file = join(directory, 'focus.csv')
  const inputs = { ...inputsFor(cloud(), 'clickhouse-cloud'), operation: 'usage-cost', period: 'last-30-days', reports: `focus=${file}` }
  const { exitCode, ending } = await runAction({ preload: {}, inputs })
  expect([exitCode, (await readFile(file, 'utf8')).split('\r\n').length]).toEqual([0, 1 + 30 * 2000 * 3 + 1])
  // About 170 MB, and 400 MB when the file is one text.
  expect(ending?.peakMegabytes).toBeLessThan(280)
}, 120_000)
