// The plan that docs/files.md shows is what the command line prints, and the alert in the README can be planned.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { toEnvironmentName } from '../../src/core/names.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { runCli } from '../support/run-process.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

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
  expect(ran.stdout).toContain('+ create alert checkout-errors')
})
