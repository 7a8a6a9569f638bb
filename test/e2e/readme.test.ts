// The plan that the README shows is what the command line prints.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { runCli } from '../support/run-process.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

/** The block that begins like this. */
const shown = (language: string, start: string): string =>
  new RegExp(`\`\`\`${language}\n(${RegExp.escape(start)}[\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? ''

it('shows the plan of the file that it shows', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-readme-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = shown('yaml', '# observability/checkout.yml\n')
  const [command = '', ...output] = shown('text', '$ watchkeeper plan').split('\n')
  mkdirSync(join(directory, 'observability'))
  writeFileSync(join(directory, 'observability/checkout.yml'), file)
  const env = Object.fromEntries(
    Object.entries(inputsFor(emulator(), 'clickhouse-cloud')).map(([name, value]) => [
      `WATCHKEEPER_${name.toUpperCase().replaceAll('-', '_')}`,
      value,
    ]),
  )
  const ran = await runCli(command.split(' ').slice(2), env, { directory })
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
  expect(ran.stdout.trimEnd()).toBe(output.join('\n').trimEnd())
})
