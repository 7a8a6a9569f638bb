// The commands of the recipes in docs/workflows.md do what the text says.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { demo } from '../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { runCli } from '../support/run-process.ts'

const execFileAsync = promisify(execFile)

const recipes = readFileSync(new URL('../../docs/workflows.md', import.meta.url), 'utf8')
const server = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const commandLine = new URL('../../npm/cli.js', import.meta.url).pathname

/** The commands under a heading. */
function commandsOf(heading: string): string {
  const [, section = ''] = new RegExp(`### ${RegExp.escape(heading)}\\n([\\s\\S]*?)(?=\\n##+ )`).exec(recipes) ?? []
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('\n')
}

const settings = () => ({ WATCHKEEPER_PROFILE: 'hyperdx', WATCHKEEPER_API_URL: server().url, WATCHKEEPER_API_KEY: demo.apiKeySecret })

/** A directory with these files, in which the commands of a recipe run. */
function useDirectory(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-recipes-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(directory, dirname(path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  // There is no terminal here, at which it would ask.
  const program = `#!/bin/sh\n[ "$1" != apply ] || set -- "$@" --yes\nexec '${process.execPath}' '${commandLine}' "$@"\n`
  mkdirSync(join(directory, 'bin'))
  writeFileSync(join(directory, 'bin/watchkeeper'), program, { mode: 0o755 })
  return directory
}

/** Runs the commands of a recipe. Resolves to the verdicts of the reports. */
async function follow(heading: string, directory: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const commands = commandsOf(heading)
  if (commands === '') throw new Error(`docs/workflows.md has no commands under "${heading}"`)
  const { stdout } = await execFileAsync('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: directory,
    env: { ...settings(), PATH: `${join(directory, 'bin')}:${process.env.PATH}`, HOME: directory, NO_COLOR: '1', ...env },
  })
  return stdout.split('\n').filter((line) => /^[✔▲✖]/.test(line))
}

const dashboard = (name: string, service: string): string =>
  `dashboards:
  ${name.toLowerCase()}:
    name: ${name}
    tiles:
      - name: Errors
        config: { displayType: line, source: Logs, select: [{ aggFn: count, where: 'ServiceName:${service}', whereLanguage: lucene }] }
alerts:
  ${name.toLowerCase()}-errors:
    name: ${name} errors
    dashboard: ${name.toLowerCase()}
    tile: Errors
    threshold: 5
    interval: 5m
    channel: { type: webhook, webhook: oncall }
`

const apply = (directory: string, project: string) =>
  runCli(['apply', '--project', project, '--yes'], { ...settings(), WEBHOOK_OLD_URL: 'https://old.example/hook' }, { directory })

const names = (emulator: typeof server) => ({
  alerts: serviceOf(emulator()).alerts.map(({ name }) => name),
  dashboards: serviceOf(emulator()).dashboards.map(({ name }) => name),
  webhooks: serviceOf(emulator()).webhooks.map(({ name }) => name),
})

it('the recipe to delete everything that a project owns deletes that, and nothing else', async () => {
  const webhook = 'webhooks:\n  old: { name: old, service: generic, urlFrom: WEBHOOK_OLD_URL }\n'
  const directory = useDirectory({ 'observability/a.yml': `${dashboard('Retired', 'retired')}${webhook}` })
  const before = names(server)
  expect((await apply(directory, 'shop/old')).exitCode).toBe(0)
  expect(names(server)).not.toEqual(before)
  expect(await follow('Delete everything that a project owns', directory)).toEqual([
    '✔ Plan for shop/old (3 to delete)',
    '✔ Applied to shop/old (3 deleted)',
  ])
  expect(names(server)).toEqual(before)
})

it('the recipe for unmanaged objects adopts them from a file that pull wrote', async () => {
  const directory = useDirectory({})
  const before = names(server)
  const verdicts = await follow('Unmanaged objects', directory)
  expect(verdicts.at(-1)).toMatch(/^✔ Applied to shop\/infra \(\d+ adopted\)$/)
  expect(names(server)).toEqual(before)
})

it('the commands about what a key may do write nothing', async () => {
  const directory = useDirectory({ 'observability/a.yml': dashboard('Planned', 'planned') })
  const before = names(server)
  expect(await follow('What a key may do', directory)).toEqual([
    expect.stringContaining('checks passed'),
    // No row of the server matches the condition of the new alert.
    '▲ warning: Plan for shop/infra (2 to create): 1 warning',
  ])
  expect(names(server)).toEqual(before)
})

it('the recipe for two repositories on one server keeps the objects of both', async () => {
  const directory = useDirectory({
    'shop/observability/a.yml': dashboard('Cart', 'cart'),
    'payments/observability/a.yml': dashboard('Refunds', 'refunds'),
  })
  expect(await follow('Two repositories and one server', directory)).toEqual([
    '✔ Applied to acme/shop (2 created)',
    '✔ Applied to acme/payments (2 created)',
    '✔ 2 alerts',
    '✔ No drift: everything matches the files',
  ])
})
