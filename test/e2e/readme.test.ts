// The plan that docs/files.md shows is what the command line prints, and the alert in the README can be planned.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { toEnvironmentName } from '../../src/core/names.ts'
import { demo } from '../../src/emulator/index.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { runCli } from '../support/run-process.ts'

const execFileAsync = promisify(execFile)

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

/** The block that begins like this. */
const shown = (path: string, language: string, start: string): string =>
  new RegExp(`\`\`\`${language}\\n(${RegExp.escape(start)}[\\s\\S]*?)\`\`\``).exec(read(path))?.[1] ?? ''

/** Runs a command in a repository that has only this file. */
async function runWithFile(command: string, file: string) {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-readme-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'observability'))
  writeFileSync(join(directory, 'observability/checkout.yml'), file)
  const settings = Object.entries(inputsFor(emulator(), 'clickhouse-cloud')).map(([name, value]) => [toEnvironmentName(name), value])
  return runCli(command.split(' ').slice(2), Object.fromEntries(settings), { directory })
}

it('docs/files.md shows the plan of the file that it shows', async () => {
  const [command = '', ...output] = shown('docs/files.md', 'text', '$ watchkeeper plan').split('\n')
  const ran = await runWithFile(command, shown('docs/files.md', 'yaml', '# observability/checkout.yml\nalerts:'))
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
  // The document leaves out the last line, which has the time of the run.
  const report = ran.stdout.trimEnd().split('\n').slice(0, -1).join('\n')
  expect(report.trimEnd()).toBe(output.join('\n').trimEnd())
})

it('the alert in the README can be planned', async () => {
  const ran = await runWithFile('$ watchkeeper plan --project shop/infra', shown('README.md', 'yaml', 'alerts:\n'))
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
  expect(ran.stdout).toContain('+ alert checkout-errors')
})

it('the commands of docs/self-hosted.md create the alert that it shows, and then there is nothing to do', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-self-hosted-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'observability'))
  writeFileSync(join(directory, 'observability/errors.yml'), shown('docs/self-hosted.md', 'yaml', '# observability/errors.yml'))
  const [project = '', ...commands] = shown('docs/self-hosted.md', 'sh', 'echo ').trim().split('\n')
  writeFileSync(join(directory, '.watchkeeper.yml'), /'(.*)'/.exec(project)?.[1] ?? '')
  const env = { WATCHKEEPER_PROFILE: 'hyperdx', WATCHKEEPER_API_URL: selfHosted().url, WATCHKEEPER_API_KEY: demo.apiKeySecret }
  const verdicts: string[] = []
  for (const command of commands) {
    const name = /^watchkeeper (\w+)/.exec(command)?.[1] ?? ''
    // There is no terminal here, at which it would ask.
    const ran = await runCli(name === 'apply' ? [name, '--yes'] : [name], env, { directory })
    expect(ran.exitCode, command).toBe(0)
    verdicts.push(ran.stdout.split('\n')[0] ?? '')
  }
  expect(verdicts).toEqual([
    '✔ Plan for demo/first (2 to create)',
    '✔ Applied to demo/first (2 created)',
    '✔ No changes: everything matches the files',
    '✔ No drift: everything matches the files',
  ])
})

it('the commands of docs/first-alert.md create the alert that it shows, and change it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-first-alert-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const commandLine = new URL('../../npm/cli.js', import.meta.url).pathname
  const blocks = [...read('docs/first-alert.md').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
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
    '✔ No changes: everything matches the files',
    '✔ Plan for demo/first (1 to update)',
    '✔ Applied to demo/first (1 updated)',
    '✔ No drift: everything matches the files',
  ])
})
