// The plans that the README and docs/files.md show are what the command line prints.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { toEnvironmentName } from '../../src/platform/core/names.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { runCli } from '../support/run-process.ts'

const execFileAsync = promisify(execFile)

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

/** The block that begins like this. */
const shown = (path: string, language: string, start: string): string =>
  new RegExp(`\`\`\`${language}\\n(${RegExp.escape(start)}[\\s\\S]*?)\`\`\``).exec(read(path))?.[1] ?? ''

/** Runs a command in a repository that has only this file. */
async function runWithFile(command: string, file: string, inputs: Readonly<Record<string, string>>) {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-readme-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'observability'))
  writeFileSync(join(directory, 'observability/checkout.yml'), file)
  const settings = Object.entries(inputs).map(([name, value]) => [toEnvironmentName(name), value])
  return runCli(command.split(' ').slice(2), Object.fromEntries(settings), { directory })
}

it('README.md shows the plan of the file that it shows', async () => {
  const [command = '', ...output] = shown('README.md', 'text', '$ watchkeeper plan').split('\n')
  const file = shown('README.md', 'yaml', '# observability/checkout.yml\nalerts:')
  const ran = await runWithFile(command, file, inputsFor(selfHosted(), 'hyperdx'))
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
  // The document leaves out the last line, which has the time of the run.
  const report = ran.stdout.trimEnd().split('\n').slice(0, -1).join('\n')
  // The values are those of the day of the run.
  const withoutValues = (text: string) => text.trimEnd().replace(/ last window (?:none|\d+); 24 h: .* windows\b.*/, ' …')
  expect(withoutValues(report)).toBe(withoutValues(output.join('\n')))
})

it('the commands of docs/start.md create the alert that it shows, and change it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-first-alert-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const commandLine = new URL('../../npm/cli.js', import.meta.url).pathname
  const tutorial = read('docs/start.md').split('\n## Your first alert\n')[1] ?? ''
  const blocks = [...tutorial.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const [start = '', ...commands] = blocks
  expect(start).toMatch(/^watchkeeper emulator --dialect hyperdx --port 8787\n$/)
  const script = [
    'set -euo pipefail',
    `watchkeeper() { '${process.execPath}' '${commandLine}' "$@"; }`,
    ...commands.map((block) => block.replace('http://127.0.0.1:8787', selfHosted().url)),
  ].join('\n')
  const { stdout } = await execFileAsync('bash', ['-c', script], { cwd: directory, env: { PATH: process.env.PATH, HOME: directory } })
  expect(stdout.split('\n').filter((line) => line.startsWith('✔'))).toEqual([
    expect.stringMatching(/^✔ /),
    '✔ Plan for demo/first (1 to create)',
    '✔ Applied to demo/first (1 created)',
    '✔ No changes for demo/first: everything matches the files',
    '✔ Plan for demo/first (1 to update)',
    '✔ Applied to demo/first (1 updated)',
    '✔ No drift for demo/first: everything matches the files',
  ])
})
