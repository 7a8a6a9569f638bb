// What the half of rebuilding that may write nothing hands over to the one that may: the very script of the workflow, in a repository.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parse } from 'yaml'
import { rebuiltFiles } from '../../../scripts/commit-rebuilt.ts'

const workflow = parse(readFileSync(new URL('../../../.github/workflows/rebuild.yml', import.meta.url), 'utf8')) as {
  jobs: Record<string, { steps: { name?: string; run?: string }[] }>
}
const script = Object.values(workflow.jobs)
  .flatMap(({ steps }) => steps)
  .find(({ name }) => name === 'Gather what changed')?.run

let repository: string
let temp: string
beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'watchkeeper-rebuild-'))
  temp = mkdtempSync(join(tmpdir(), 'watchkeeper-runner-'))
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: repository })
  for (const folder of ['dist', 'src']) mkdirSync(join(repository, folder))
  for (const [path, text] of Object.entries(before)) writeFileSync(join(repository, path), text)
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'before')
})
afterEach(() => {
  for (const directory of [repository, temp]) rmSync(directory, { recursive: true })
})

const before = { 'dist/index.js': 'old\n', 'dist/380.index.js': 'chunk\n', 'README.md': 'same\n', 'src/action.ts': 'source\n' }

function gather(): Readonly<Record<string, number>> {
  execFileSync('bash', ['-e', '-c', script ?? 'exit 9'], { cwd: repository, env: { ...process.env, RUNNER_TEMP: temp } })
  const directory = join(temp, 'rebuilt')
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => relative(directory, join(parentPath, name))).sort()
  return Object.fromEntries(paths.map((path) => [path, statSync(join(directory, path)).size]))
}

it('hands over what changed, what is new, and by an empty file a chunk that is gone', () => {
  writeFileSync(join(repository, 'dist/index.js'), 'newer\n')
  renameSync(join(repository, 'dist/380.index.js'), join(repository, 'dist/381.index.js'))
  expect(gather()).toEqual({ 'dist/380.index.js': 0, 'dist/381.index.js': 6, 'dist/index.js': 6 })
  expect(rebuiltFiles(join(temp, 'rebuilt'))).toHaveLength(3)
})

it('hands over nothing when nothing changed', () => {
  expect(gather()).toEqual({})
  expect(existsSync(join(repository, 'dist/380.index.js'))).toBe(true)
})
