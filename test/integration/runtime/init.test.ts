import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { needsOf } from '../../../src/runtime/cli/init/init.ts'
import { kits } from '../../../src/runtime/cli/init/kits.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

let directory: string
beforeEach(() => {
  const created = mkdtempSync(join(tmpdir(), 'watchkeeper-init-'))
  directory = join(created, 'repository')
  mkdirSync(join(directory, '.git'), { recursive: true })
  onTestFinished(() => rmSync(created, { recursive: true }))
})

const init = (args: readonly string[], env = {}) => runCliInside(['init', ...args], { directory, env })

const read = (path: string): string => readFileSync(join(directory, path), 'utf8')

const example = (path: string): string => readFileSync(new URL(`../../../examples/${path}`, import.meta.url), 'utf8')

const filesThere = (): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
    .sort()

const commandsIn = (steps: string, program: string): readonly string[] =>
  [...steps.matchAll(/^ {5}(\S+) (.+)$/gm)].flatMap(([, name, rest = '']) => (name === program ? [rest] : []))

it('init without kits lists them and writes nothing', async () => {
  const { exitCode, stdout } = await init([])
  expect(exitCode).toBe(0)
  for (const { name, summary } of kits) expect(stdout).toMatch(new RegExp(`^  ${name} +${RegExp.escape(summary)}$`, 'm'))
  expect(filesThere()).toEqual([])
})

it.each(kits)('init copies the files of the kit $name from examples/', async ({ name, files, hasProject }) => {
  expect(await init([name])).toMatchObject({ exitCode: 0, stderr: '' })
  expect(filesThere()).toEqual([...files.map(({ target }) => target), ...(hasProject ? ['.watchkeeper.yml'] : [])].sort())
  for (const { example: source, target } of files) expect(read(target)).toBe(example(source))
})

const ofSelfHosted = kits.filter((kit) => kit.selfHosted !== undefined)

it('beside the kit self-hosted, init copies the files of each kit for a self-hosted server, and asks for nothing of the cloud', async () => {
  const { exitCode, stdout } = await init(ofSelfHosted.map(({ name }) => name))
  expect(exitCode).toBe(0)
  const files = ofSelfHosted.flatMap(({ selfHosted = [] }) => selfHosted)
  expect(filesThere()).toEqual([...new Set(files.map(({ target }) => target)), '.watchkeeper.yml'].sort())
  for (const { example: source, target } of files) expect(read(target)).toBe(example(source))
  const texts = files.map(({ example: source }) => example(source))
  expect([stdout, ...texts].filter((text) => /clickhouse-cloud|ORGANIZATION_ID|SERVICE_ID|KEY_ID|KEY_SECRET/.test(text))).toEqual([])
  expect(commandsIn(stdout, 'gh')).toEqual([
    'secret set WATCHKEEPER_API_KEY',
    'variable set ERRORS_PER_FIVE_MINUTES --body "$WATCHKEEPER_VAR_ERRORS_PER_FIVE_MINUTES"',
    'variable set SERVICE_NAME --body "$WATCHKEEPER_VAR_SERVICE"',
    'variable set WATCHKEEPER_API_URL --body "$WATCHKEEPER_API_URL"',
    'variable set WEBHOOK_NAME --body "$WATCHKEEPER_VAR_WEBHOOK"',
  ])
})

it('no two kits have different files with the same path', () => {
  const files = kits.flatMap(({ files, selfHosted = [] }) => [...files, ...selfHosted])
  expect(new Map(files.map(({ target, example }) => [target, example])).size).toBe(new Set(files.map(({ example }) => example)).size)
})

describe('the next steps of init', () => {
  it('have the commands that check the key, plan, and set what the workflows read', async () => {
    const { stdout } = await init(['plan-and-apply', 'drift'])
    expect(commandsIn(stdout, 'export')).toEqual([
      'WATCHKEEPER_PROFILE=clickhouse-cloud',
      'WATCHKEEPER_API_KEY_ID=…',
      'WATCHKEEPER_API_KEY_SECRET=…',
      'WATCHKEEPER_ORGANIZATION_ID=…',
      'WATCHKEEPER_SERVICE_ID=…',
      'WATCHKEEPER_VAR_ERRORS_PER_FIVE_MINUTES=…',
      'WATCHKEEPER_VAR_SERVICE=…',
      'WATCHKEEPER_VAR_WEBHOOK=…',
    ])
    expect(commandsIn(stdout, 'watchkeeper')).toEqual(['doctor', 'list-sources', 'list-webhooks', 'plan'])
    expect(commandsIn(stdout, 'gh')).toEqual([
      'secret set WATCHKEEPER_API_KEY_ID',
      'secret set WATCHKEEPER_API_KEY_SECRET',
      'variable set ERRORS_PER_FIVE_MINUTES --body "$WATCHKEEPER_VAR_ERRORS_PER_FIVE_MINUTES"',
      'variable set SERVICE_NAME --body "$WATCHKEEPER_VAR_SERVICE"',
      'variable set WATCHKEEPER_ORGANIZATION_ID --body "$WATCHKEEPER_ORGANIZATION_ID"',
      'variable set WATCHKEEPER_SERVICE_ID --body "$WATCHKEEPER_SERVICE_ID"',
      'variable set WEBHOOK_NAME --body "$WATCHKEEPER_VAR_WEBHOOK"',
    ])
    expect(stdout).toContain('The merge to main applies it.')
    expect(stdout).toContain('Scheduled workflows run once they are on the default branch.')
    expect(stdout).toContain('For another default branch than main, change the name in the workflows.')
  })

  it('are those of a self-hosted server, and of what is not set yet', async () => {
    const { stdout } = await init(['self-hosted'], { WATCHKEEPER_API_KEY: 'a-key-of-the-environment', WATCHKEEPER_VAR_SERVICE: 'checkout' })
    expect(commandsIn(stdout, 'export').slice(0, 2)).toEqual(['WATCHKEEPER_PROFILE=hyperdx', 'WATCHKEEPER_API_URL=…'])
    expect(stdout).not.toMatch(/export WATCHKEEPER_(?:API_KEY|VAR_SERVICE)=|a-key-of|Scheduled workflows/)
    expect(stdout).toContain('Register a runner with the label self-hosted')
    expect(stdout).toContain('The merge to main applies it.')
  })

  it('give the key of a restore drill to its environment only', async () => {
    const { stdout } = await init(['restore-drill'])
    expect(stdout).toMatch(/Make the environment with required reviewers, .*\n +restore-drill\n/)
    const [, ...exported] = commandsIn(stdout, 'export')
    expect(exported.at(-1)).toBe('WATCHKEEPER_SQL_KEY_SECRET=…')
    expect(exported).toEqual(exported.toSorted())
    expect(commandsIn(stdout, 'gh').filter((line) => line.includes('secret'))).toEqual([
      'secret set RESTORE_DRILL_API_KEY_ID --env restore-drill',
      'secret set RESTORE_DRILL_API_KEY_SECRET --env restore-drill',
      ...['API_KEY_ID', 'API_KEY_SECRET', 'SQL_KEY_ID', 'SQL_KEY_SECRET'].map((name) => `secret set WATCHKEEPER_${name}`),
    ])
  })

  it('take no value from a variable that they do not set', async () => {
    const { stdout } = await init(['drift'])
    expect(commandsIn(stdout, 'gh')).toContain('variable set SERVICE_NAME --body …')
  })

  it('ignore a secret in a comment', () => {
    const inBrackets = (text: string): string => `$\{{ ${text} }}`
    const workflow = `# x: ${inBrackets('secrets.WEBHOOK')}\na: ${inBrackets('secrets.KEY')}\nid: ${inBrackets('secrets.ID')}\nb: ${inBrackets('vars.PLACE')} # ids\n`
    expect(needsOf([workflow])).toEqual({
      secrets: ['ID', 'KEY'],
      variables: new Map([['PLACE', 'PLACE']]),
      environments: [],
    })
  })
})

it.each([
  ['https://github.com/shop/infra.git', 'project: shop/infra'],
  ['ssh://git@git.example:2222/group/shop/infra/', 'project: shop/infra'],
  [undefined, '# project: owner/repo'],
])('init writes the project of the remote %s into the config file', async (url, line) => {
  rmSync(join(directory, '.git'), { recursive: true })
  execFileSync('git', ['init', '--quiet', directory])
  if (url !== undefined) execFileSync('git', ['remote', 'add', 'origin', url], { cwd: directory })
  const { stdout } = await init(['plan-and-apply'])
  expect(read('.watchkeeper.yml').split('\n')).toContain(line)
  expect(stdout.includes('set the name of your project')).toBe(url === undefined)
})

describe('init keeps', () => {
  it('a file that exists, and does not ask to adapt it', async () => {
    mkdirSync(join(directory, 'cost'))
    writeFileSync(join(directory, 'cost/budgets.yml'), 'mine\n')
    const { exitCode, stdout } = await init(['cost-budgets'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^cost\/budgets\.yml +kept, because it exists$/m)
    expect(stdout).not.toMatch(/Adapt|another default branch/)
    expect(read('cost/budgets.yml')).toBe('mine\n')
  })

  it.each(['outside', 'nothing'])('a link to %s, and does not write through it', async (to) => {
    writeFileSync(join(directory, '../outside'), 'theirs')
    symlinkSync(join(directory, '..', to), join(directory, 'backups.yml'))
    expect((await init(['restore-drill'])).stdout).toMatch(/^backups\.yml +kept/m)
    expect(read('../outside')).toBe('theirs')
    expect(readdirSync(join(directory, '..')).sort()).toEqual(['outside', 'repository'])
  })
})

it('init with the profile of a self-hosted server writes the workflows for one, and none that needs the cloud', async () => {
  const env = { WATCHKEEPER_PROFILE: 'hyperdx' }
  expect(await init(['drift', 'cost-gate'], env)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      'cost-gate: this kit is for ClickHouse Cloud; for a self-hosted server, choose from self-hosted, drift,',
    ),
  })
  expect((await init(['drift'], env)).stdout).toMatch(/workflows\/.*drift.yml +written/)
  expect(read('.github/workflows/watchkeeper-self-hosted-drift.yml')).toBe(example('workflows/self-hosted-drift.yml'))
})

describe('init writes nothing', () => {
  it.each([
    [
      'for an unknown kit',
      ['cost-gate', 'cost-budgt', 'drfit'],
      /cost-budgt: unknown kit.*did you mean "cost-budgets"\?\n.*drfit: .*"drift"/,
    ],
    [
      'for a kit that needs the cloud beside self-hosted',
      ['self-hosted', 'drift', 'cost-gate'],
      /cost-gate: this kit is for ClickHouse Cloud; run init for it without self-hosted/,
    ],
    ['for an unknown flag', ['cost-gate', '--force'], /Unknown option --force/],
  ])('%s', async (_, args, message) => {
    expect(await init(args)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(filesThere()).toEqual([])
  })

  it('below the root of a repository, where GitHub reads no workflow', async () => {
    mkdirSync(join(directory, 'packages/shop'), { recursive: true })
    const ran = await runCliInside(['init', 'cost-gate'], { directory: join(directory, 'packages/shop') })
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(`run init in ${directory}`) })
    expect(filesThere()).toEqual([])
  })

  it('where a directory cannot be made, and names the file', async () => {
    writeFileSync(join(directory, 'cost'), '')
    expect(await init(['cost-budgets'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cost/budgets.yml: cannot be written'),
    })
  })
})
