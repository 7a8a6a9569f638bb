// The commands of docs/workflows.md and docs/ownership.md do what the text says, in both products.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toEnvironmentName } from '../../src/platform/core/names.ts'
import { inputsFor, serviceOf, useEmulator } from '../support/emulator.ts'
import { runCli } from '../support/run-process.ts'

const execFileAsync = promisify(execFile)

const recipes = ['workflows', 'ownership'].map((page) => readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8')).join('\n')

const commandLine = new URL('../../npm/cli.js', import.meta.url).pathname

/** The commands under a heading. */
function commandsOf(heading: string): string {
  const [, section = ''] = new RegExp(`\n##+ ${RegExp.escape(heading)}\n([\\s\\S]*?)(?=\n##+ )`).exec(recipes) ?? []
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)]
    .map(([, block = '']) => block.replace(/^export WATCHKEEPER_PROFILE=.*\n/m, ''))
    .join('\n')
}

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

describe.each(['hyperdx', 'clickhouse-cloud'] as const)('with the profile %s', (dialect) => {
  const server = useEmulator({ dialect, rateLimit: { limit: 1000, windowMs: 1000 } })

  const settings = (): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(inputsFor(server(), dialect)).map(([name, value]) => [toEnvironmentName(name), value]))

  /** Runs the commands of a recipe. Resolves to the verdicts of the reports. */
  async function follow(heading: string, directory: string): Promise<readonly string[]> {
    const commands = commandsOf(heading)
    if (commands === '') throw new Error(`no commands under "${heading}"`)
    const { stdout } = await execFileAsync('bash', ['-euo', 'pipefail', '-c', commands], {
      cwd: directory,
      env: { ...settings(), PATH: `${join(directory, 'bin')}:${process.env.PATH}`, HOME: directory, NO_COLOR: '1' },
    })
    return stdout.split('\n').filter((line) => /^[✔▲✖]/.test(line))
  }

  const run = (directory: string, ...args: readonly string[]) =>
    runCli(args, { ...settings(), WEBHOOK_OLD_URL: 'https://old.example/hook' }, { directory })

  const names = () => ({
    alerts: serviceOf(server()).alerts.map(({ name }) => name),
    dashboards: serviceOf(server()).dashboards.map(({ name }) => name),
    webhooks: serviceOf(server()).webhooks.map(({ name }) => name),
  })

  it('the way in from the service shows no changes, and changes nothing but markers', async () => {
    const directory = useDirectory({})
    const without = (texts: readonly string[], marker: RegExp) => texts.map((text) => text.replace(marker, ''))
    const stored = () => {
      const { alerts, dashboards } = serviceOf(server())
      return {
        dashboards: dashboards.map(({ tags: _, ...others }) => ({ ...others, updatedAt: undefined })),
        alerts: alerts.map(({ note, message, updatedAt: _, ...others }) => ({
          ...others,
          texts: without([note ?? '', message ?? ''], /\n*\[[^\]]*\]\(watchkeeper[\s\S]*$|\n*watchkeeper[\s\S]*$/),
        })),
      }
    }
    const before = stored()
    expect(await follow('You already have alerts and dashboards', directory)).toEqual([
      expect.stringMatching(/^[✔▲] .*Pulled into \d+ files for shop\/infra: \d+ added/),
      expect.stringMatching(/^[✔▲] .*No changes for shop\/infra: everything matches the files/),
      expect.stringMatching(/^[✔▲] .*Applied to shop\/infra \(\d+ adopted/),
    ])
    expect(stored()).toEqual(before)
    expect((await run(directory, 'drift', '--project', 'shop/infra')).stdout).toContain(
      'No drift for shop/infra: everything matches the files',
    )
  })

  it('the recipe to move to another service deletes the old objects, and nothing else', async () => {
    const directory = useDirectory({
      'observability/a.yml': dashboard('Moving', 'moving'),
      'environments/old.yml': 'project: shop/moving\n',
    })
    const before = names()
    expect((await run(directory, 'apply', '--env', 'old', '--yes')).exitCode).toBe(0)
    expect(await follow('Move to another service', directory)).toEqual([
      '✔ Plan for shop/moving, environment old (2 to delete)',
      '✔ Applied to shop/moving, environment old (2 deleted)',
    ])
    expect(names()).toEqual(before)
  })

  it('the recipe to delete everything that a project owns deletes that, and nothing else', async () => {
    const webhook = dialect === 'hyperdx' ? 'webhooks:\n  old: { name: old, service: generic, urlFrom: WEBHOOK_OLD_URL }\n' : ''
    const directory = useDirectory({ 'observability/a.yml': `${dashboard('Retired', 'retired')}${webhook}` })
    const before = names()
    expect((await run(directory, 'apply', '--project', 'shop/old', '--yes')).exitCode).toBe(0)
    expect(names()).not.toEqual(before)
    const count = dialect === 'hyperdx' ? 3 : 2
    expect(await follow('Delete everything that a project owns', directory)).toEqual([
      `✔ Plan for shop/old (${count} to delete)`,
      `✔ Applied to shop/old (${count} deleted)`,
    ])
    expect(names()).toEqual(before)
  })

  it('the recipe for unmanaged objects adopts them from a file that pull wrote', async () => {
    const directory = useDirectory({})
    const before = names()
    const verdicts = await follow('Unmanaged objects', directory)
    expect(verdicts.at(-1)).toMatch(/^✔ Applied to shop\/infra \(\d+ adopted/)
    expect(names()).toEqual(before)
  })

  it('the commands about what a key may do write nothing', async () => {
    const directory = useDirectory({ 'observability/a.yml': dashboard('Planned', 'planned') })
    const before = names()
    expect(await follow('What a key may do', directory)).toEqual([
      expect.stringContaining('checks passed'),
      expect.stringMatching(/Plan for shop\/infra \(2 to create\)/),
    ])
    expect(names()).toEqual(before)
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
      expect.stringMatching(/^✔ No drift for acme\/(?:shop|payments): everything matches the files$/),
    ])
  })
})
