import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { demo } from '../../../src/emulator/index.ts'
import { withoutFileVariables } from '../../../src/runtime/cli/init/edit-workflow.ts'
import { kits } from '../../../src/runtime/cli/init/kits.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { token, useGitHub } from '../../support/github-server.ts'
import { runnerEnvironment } from '../../support/notify.ts'
import { hasPseudoTerminals, runCli, runInTerminal } from '../../support/run-process.ts'
import { type RunnableJob, repository, runJobs } from '../../support/run-workflow.ts'
import { complaintsOf } from '../../support/workflows.ts'

const example = (path: string): string => readFileSync(new URL(`../../../examples/${path}`, import.meta.url), 'utf8')

/** The reference to the action and to its schemas depends on what the command line was built from. */
const withoutReference = (text: string): string =>
  text.replaceAll(/(watchkeeper\/watchkeeper@).*/g, '$1').replaceAll(/(\/watchkeeper\/watchkeeper\/)[^/]+(\/schemas\/)/g, '$1$2')

let directory: string
beforeEach(() => {
  const created = mkdtempSync(join(tmpdir(), 'watchkeeper-init-'))
  directory = join(created, 'repository')
  mkdirSync(join(directory, '.git'), { recursive: true })
  onTestFinished(() => rmSync(created, { recursive: true }))
})

const init = (...args: readonly string[]) => runCli(['init', ...args], {}, { directory })

const commandsIn = (steps: string): readonly string[] => steps.split('\n').flatMap((line) => /^ {5}(gh .+)$/.exec(line)?.[1] ?? [])

const filesThere = (): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
    .sort()

describe('watchkeeper init', () => {
  it('watchkeeper init lists the kits and their files', async () => {
    const ran = await init('--list')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    for (const { name, summary, files } of kits) {
      expect(ran.stdout).toContain(`${name}: ${summary}\n${files.map(({ target }) => `  ${target}\n`).join('')}`)
    }
    expect(filesThere()).toEqual([])
  })

  it.each(kits)('writes the files of the kit $name as they are in examples/', async ({ name, files, hasProject }) => {
    const ran = await init(name)
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    const config = hasProject ? ['.watchkeeper.yml'] : []
    expect(filesThere()).toEqual([...files.map(({ target }) => target), ...config].sort())
    for (const { example: source, target } of files) {
      const text = readFileSync(join(directory, target), 'utf8')
      // The replay of the page about incidents is for a self-hosted server.
      const asInExample = withoutReference(example(source)).replace('profile: hyperdx', 'profile: clickhouse-cloud')
      // Without the starter set, files have no variables.
      expect(withoutReference(text)).toBe(name === 'plan-and-apply' ? asInExample : withoutFileVariables(asInExample))
      if (target.startsWith('.github/workflows/')) expect(await complaintsOf(text)).toEqual([])
      expect(ran.stdout).toMatch(new RegExp(`^${RegExp.escape(target)} +written$`, 'm'))
    }
  })

  it('writes workflows for a self-hosted server, and says what they need', async () => {
    const { exitCode, stdout } = await init('plan-and-apply', 'drift', '--profile', 'hyperdx')
    expect(exitCode).toBe(0)
    const workflows = filesThere().filter((path) => path.startsWith('.github/'))
    expect(workflows).toHaveLength(3)
    for (const path of workflows) {
      const text = readFileSync(join(directory, path), 'utf8')
      expect(text).toContain('profile: hyperdx')
      expect(await complaintsOf(text)).toEqual([])
    }
    const [, steps = ''] = stdout.split('Next steps:')
    expect(commandsIn(steps)).toEqual([
      'gh secret set WATCHKEEPER_API_KEY',
      'gh variable set ERRORS_PER_FIVE_MINUTES --body …',
      'gh variable set SERVICE_NAME --body …',
      'gh variable set WATCHKEEPER_API_URL --body …',
      'gh variable set WEBHOOK_NAME --body …',
    ])
    expect(steps).toContain('export WATCHKEEPER_PROFILE=hyperdx WATCHKEEPER_API_URL=… WATCHKEEPER_API_KEY=…\n')
    expect(steps).toContain('Register a runner with the label self-hosted')
  })

  it('keeps a workflow that sends no requests on the runners of GitHub, because pull requests from forks start it', async () => {
    const { exitCode, stdout } = await init('replay', '--profile', 'hyperdx')
    expect(exitCode).toBe(0)
    expect(filesThere()).toEqual(['.github/workflows/watchkeeper-replay.yml'])
    const text = readFileSync(join(directory, '.github/workflows/watchkeeper-replay.yml'), 'utf8')
    expect(withoutReference(text)).toBe(withoutFileVariables(withoutReference(example('workflows/replay.yml'))))
    expect(stdout).not.toMatch(/label self-hosted|gh secret set|watchkeeper doctor/)
    expect(stdout).toContain('declare and record an incident first')
  })

  it('asks for the variables of the starter set only where the repository has it', async () => {
    const [, alone = ''] = (await init('drift', '--profile', 'hyperdx')).stdout.split('Next steps:')
    expect(commandsIn(alone)).toEqual(['gh secret set WATCHKEEPER_API_KEY', 'gh variable set WATCHKEEPER_API_URL --body …'])
    mkdirSync(join(directory, 'observability'))
    writeFileSync(join(directory, 'observability/service.yml'), example('starter/service.yml'))
    const [, beside = ''] = (await init('drift-pull-request', '--profile', 'hyperdx')).stdout.split('Next steps:')
    expect(commandsIn(beside)).toContain('gh variable set SERVICE_NAME --body …')
  })

  it('writes a gate on error budgets for a self-hosted server, without the key for SQL', async () => {
    const { stdout } = await init('check-slos', '--profile', 'hyperdx')
    const [, steps = ''] = stdout.split('Next steps:')
    expect(commandsIn(steps)).toEqual(['gh secret set WATCHKEEPER_API_KEY', 'gh variable set WATCHKEEPER_API_URL --body …'])
    expect(steps).toContain('replace ./deploy.sh by your deployment')
    const text = readFileSync(join(directory, '.github/workflows/watchkeeper-check-slos.yml'), 'utf8')
    expect(text).not.toMatch(/sql-key|query endpoint/)
  })

  it('explains schedules only where a written workflow has one', async () => {
    expect((await init('plan-and-apply', 'replay')).stdout).not.toContain('Scheduled workflows')
    expect((await init('drift')).stdout).toContain('Scheduled workflows run once they are on the default branch')
  })

  it('takes the profile of the environment, unless an option names another', async () => {
    const initWith = (profile: string, ...args: readonly string[]) =>
      runCli(['init', ...args], { WATCHKEEPER_PROFILE: profile }, { directory })
    expect((await initWith('hyperdx', '--list')).stdout).not.toContain('cost-gate')
    await initWith(' hyperdx ', 'drift')
    expect(readFileSync(join(directory, '.github/workflows/watchkeeper-drift.yml'), 'utf8')).toContain('profile: hyperdx')
    expect((await initWith('hyperdx', 'cost-gate', '--profile', 'clickhouse-cloud')).exitCode).toBe(0)
    const ran = await initWith('hyperdex', 'backups')
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    expect(ran.stderr).toContain(
      'WATCHKEEPER_PROFILE: "hyperdex" is not accepted; accepted: clickhouse-cloud, hyperdx; did you mean "hyperdx"?',
    )
  })

  it('writes no cost gate for a self-hosted server', async () => {
    const ran = await init('cost-gate', '--profile', 'hyperdx')
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cost-gate: this kit needs ClickHouse Cloud') })
    expect(filesThere()).toEqual([])
    expect((await init('--list', '--profile', 'hyperdx')).stdout).not.toContain('cost-gate')
  })

  it.each([
    ['https://github.com/shop/infra.git', 'project: shop/infra'],
    ['git@github.com:shop/infra.git', 'project: shop/infra'],
    ['ssh://git@git.example:2222/group/shop/infra/', 'project: shop/infra'],
    [undefined, '# project: owner/repo'],
  ])('writes the project of the remote %s into the config file', async (url, line) => {
    rmSync(join(directory, '.git'), { recursive: true })
    execFileSync('git', ['init', '--quiet', directory])
    if (url !== undefined) execFileSync('git', ['remote', 'add', 'origin', url], { cwd: directory })
    await init('plan-and-apply')
    expect(readFileSync(join(directory, '.watchkeeper.yml'), 'utf8').split('\n')).toContain(line)
  })

  it('writes no workflow below the root of a repository, where GitHub does not read it', async () => {
    mkdirSync(join(directory, 'packages/shop'), { recursive: true })
    const ran = await runCli(['init', 'cost-gate'], {}, { directory: join(directory, 'packages/shop') })
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain('GitHub reads workflows only at the root; run init in ')
    expect(ran.stderr).toContain('/repository')
    expect(filesThere()).toEqual([])
  })

  it('writes files into a directory without a repository', async () => {
    rmSync(join(directory, '.git'), { recursive: true })
    expect((await init('cost-gate')).exitCode).toBe(0)
  })

  it('names the secrets and variables that the files need, and the command that checks the key', async () => {
    const { stdout } = await init('cost-gate', 'plan-and-apply')
    const [, steps = ''] = stdout.split('Next steps:')
    expect(commandsIn(steps)).toEqual([
      'gh secret set WATCHKEEPER_API_KEY_ID',
      'gh secret set WATCHKEEPER_API_KEY_SECRET',
      'gh variable set ERRORS_PER_FIVE_MINUTES --body …',
      'gh variable set SERVICE_NAME --body …',
      'gh variable set WATCHKEEPER_ORGANIZATION_ID --body …',
      'gh variable set WATCHKEEPER_SERVICE_ID --body …',
      'gh variable set WEBHOOK_NAME --body …',
    ])
    expect(steps).toContain('watchkeeper doctor')
    expect(steps).toContain('export WATCHKEEPER_VAR_ERRORS_PER_FIVE_MINUTES=… WATCHKEEPER_VAR_SERVICE=… WATCHKEEPER_VAR_WEBHOOK=…')
    expect(steps).toContain('observability/service.yml')
    expect(steps).toContain('review the plan on its pull request. Merging it to main applies it')
  })

  it('finds the secrets that a fleet file names', async () => {
    const { stdout } = await init('fleet')
    for (const name of ['SHOP_API_KEY_ID', 'SHOP_API_KEY_SECRET', 'WAREHOUSE_API_KEY_ID', 'WAREHOUSE_API_KEY_SECRET'])
      expect(stdout).toContain(`     gh secret set ${name}\n`)
  })

  it('writes a file of two kits once', async () => {
    const { stdout } = await init('cost-gate', 'cost-gate')
    expect(stdout.match(/watchkeeper-cost-gate\.yml +written/g)).toHaveLength(1)
  })
})

describe('a file that exists', () => {
  it('keeps an existing file and says so', async () => {
    mkdirSync(join(directory, 'cost'))
    writeFileSync(join(directory, 'cost/budgets.yml'), 'mine\n')
    const first = await init('cost-budgets')
    expect(first.exitCode).toBe(0)
    expect(first.stdout).toMatch(/^cost\/budgets\.yml +kept, because your file differs$/m)
    const second = await init('cost-budgets')
    expect(second.stdout).toMatch(/watchkeeper-cost-budgets\.yml +unchanged$/m)
    expect(readFileSync(join(directory, 'cost/budgets.yml'), 'utf8')).toBe('mine\n')
  })

  it.each([
    ['a link to a file outside', 'outside'],
    ['a link to nothing', 'nothing'],
    ['a link to what never ends', '/dev/zero'],
  ])('keeps %s in the place of a file', async (_, to) => {
    writeFileSync(join(directory, '../outside'), 'theirs')
    symlinkSync(to.startsWith('/') ? to : join(directory, '..', to), join(directory, 'fleet.yml'))
    const ran = await init('fleet')
    expect(ran.stdout).toMatch(/^fleet\.yml +kept, because your file differs$/m)
    expect(readFileSync(join(directory, '../outside'), 'utf8')).toBe('theirs')
    expect(readdirSync(join(directory, '..')).sort()).toEqual(['outside', 'repository'])
  })

  it('keeps a directory in the place of a file', async () => {
    mkdirSync(join(directory, 'fleet.yml'))
    expect((await init('fleet')).stdout).toMatch(/^fleet\.yml +kept, because your file differs$/m)
    expect(statSync(join(directory, 'fleet.yml')).isDirectory()).toBe(true)
  })
})

describe('init that is refused', () => {
  const outside = (): string => {
    mkdirSync(join(directory, '../outside'))
    return join(directory, '../outside')
  }

  it.each([
    ['through a link to a directory outside', () => symlinkSync(outside(), join(directory, 'cost')), 'cost is a link'],
    ['through a link that stays inside', () => symlinkSync(join(directory, '.git'), join(directory, 'cost')), 'cost is a link'],
    ['through a link to nothing', () => symlinkSync(join(directory, 'none'), join(directory, 'cost')), 'cost is a link'],
    ['below a file', () => writeFileSync(join(directory, 'cost'), ''), 'cost is not a directory'],
  ])('writes no file of a kit %s', async (_, prepare, message) => {
    prepare()
    const ran = await init('cost-budgets')
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(`cost/budgets.yml: ${message}`) })
    expect(filesThere()).toEqual(['cost'])
  })

  it('writes nothing in a directory below the root of a repository, and names the root', async () => {
    const inside = join(directory, 'service')
    mkdirSync(inside)
    const ran = await runCli(['init', 'cost-gate'], {}, { directory: inside })
    expect(ran).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(`run init in ${JSON.stringify(directory).slice(1, -1)}`),
    })
    expect(readdirSync(inside)).toEqual([])
  })

  it.each([
    [
      'for an unknown kit',
      ['cost-gate', 'cost-budgt', 'drfit'],
      /cost-budgt: unknown kit.*did you mean "cost-budgets"\?\n.*drfit: .*"drift"/,
    ],
    [
      'without a kit and without a terminal',
      [],
      /name the kits to write\. Available kits: cost-gate, cost-budgets, cost-audit, check-credits, plan-and-apply, drift, drift-pull-request, replay, check-slos, backups, fleet/,
    ],
    ['for an unknown flag', ['cost-gate', '--force'], /Unknown option --force/],
  ])('writes nothing %s', async (_, args, message) => {
    expect(await init(...args)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(filesThere()).toEqual([])
  })
})

describe('in a terminal', () => {
  const prompt = 'press Enter for none: '
  const answer = async (...typed: readonly string[]) => {
    const product = { after: 'press Enter for the cloud: ', type: '\n' }
    const ids = ['--organization-id', demo.organizationId, '--service-id', demo.services.checkout]
    return runInTerminal(['init', ...ids], { directory, answers: [product, ...typed.map((type) => ({ after: prompt, type }))] })
  }

  it('asks for kits until the answer is valid', async ({ skip }) => {
    if (!hasPseudoTerminals) skip('this system has no `script` of util-linux')
    const { exitCode, screen } = await answer('99, bakups\n', '1, backups\n')
    expect(screen).toContain('1  cost-gate')
    expect(screen).toContain('99: unknown kit')
    expect(screen).toContain('did you mean "backups"?')
    expect(exitCode).toBe(0)
    expect(filesThere()).toEqual(['.github/workflows/watchkeeper-backups.yml', '.github/workflows/watchkeeper-cost-gate.yml'])
  })

  it('asks for the product, and offers the kits of a self-hosted server', async ({ skip }) => {
    if (!hasPseudoTerminals) skip('this system has no `script` of util-linux')
    const { exitCode, screen } = await runInTerminal(['init'], {
      directory,
      answers: [
        { after: 'press Enter for the cloud: ', type: '2\n' },
        { after: prompt, type: '2\n' },
        { after: 'Address of the API, or Enter to set it later: ', type: '\n' },
        { after: 'the owner of the alerts and dashboards, or Enter to set it later: ', type: '\n' },
      ],
    })
    expect(exitCode).toBe(0)
    expect(screen).toContain('ClickHouse Cloud or self-hosted?')
    expect(screen).not.toContain('cost-gate')
    expect(filesThere()).toEqual(['.github/workflows/watchkeeper-drift.yml', '.watchkeeper.yml'])
    expect(readFileSync(join(directory, '.github/workflows/watchkeeper-drift.yml'), 'utf8')).toContain('profile: hyperdx')
  })

  it.for<[string, string, number]>([
    ['Enter', '\n', 0],
    ['the end of the input', '\u0004', 130],
    ['Ctrl-C', '\u0003', 130],
  ])('writes nothing after %s', async ([_, typed, exitCode], { skip }) => {
    if (!hasPseudoTerminals) skip('this system has no `script` of util-linux')
    expect((await answer(typed)).exitCode).toBe(exitCode)
    expect(filesThere()).toEqual([])
  })
})

const git = (...args: readonly string[]): void => void execFileSync('git', args, { cwd: directory, stdio: 'ignore' })

describe('the default branch', () => {
  beforeEach(() => {
    rmSync(join(directory, '.git'), { recursive: true })
    git('init', '--initial-branch', 'feature/x')
  })
  const readApply = (): string => readFileSync(join(directory, '.github/workflows/watchkeeper-apply.yml'), 'utf8')

  it('writes the default branch of the remote into the workflow, also on another branch', async () => {
    git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk')
    const { stdout } = await init('plan-and-apply')
    expect(readApply()).toContain("branches: ['trunk']")
    expect(readApply()).toContain("if: github.ref == 'refs/heads/trunk'")
    expect(readApply()).not.toContain('main')
    expect(await complaintsOf(readApply())).toEqual([])
    expect(stdout).toContain('Merging it to trunk applies it.')
  })

  it('writes the current branch into the workflow when the remote has no default branch', async () => {
    await init('plan-and-apply')
    expect(readApply()).toContain("branches: ['feature/x']")
  })

  it('writes the branch of --branch, and main with a hint when the name would be a pattern', async () => {
    await init('plan-and-apply', '--branch', 'trunk')
    expect(readApply()).toContain("branches: ['trunk']")
    rmSync(join(directory, '.github'), { recursive: true })
    git('symbolic-ref', 'HEAD', 'refs/heads/c++')
    const { stdout } = await init('plan-and-apply')
    expect(withoutReference(readApply())).toBe(withoutReference(example('workflows/apply.yml')))
    expect(stdout).toContain('watchkeeper-apply.yml  change the branch if your default branch is not main')
  })
})

describe('the settings', () => {
  it('writes the settings of flags into the commands and the config file', async () => {
    const ids = ['--organization-id', demo.organizationId, '--service-id', demo.services.checkout]
    const { stdout } = await init('plan-and-apply', ...ids, '--project', 'shop/alerts')
    expect(commandsIn(stdout)).toContain(`gh variable set WATCHKEEPER_ORGANIZATION_ID --body ${demo.organizationId}`)
    expect(commandsIn(stdout)).toContain(`gh variable set WATCHKEEPER_SERVICE_ID --body ${demo.services.checkout}`)
    expect(stdout).toContain(`WATCHKEEPER_ORGANIZATION_ID=${demo.organizationId} WATCHKEEPER_API_KEY_ID=…`)
    expect(readFileSync(join(directory, '.watchkeeper.yml'), 'utf8')).toContain('project: shop/alerts\n')
  })

  it('checks all settings before it writes a file', async () => {
    const ran = await init('plan-and-apply', '--organization-id', 'x', '--api-url', 'y', '--project', 'a b', '--branch', 'c*')
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    for (const name of ['organization-id', 'api-url', 'project', 'branch'])
      expect(ran.stderr).toContain(`--${name}: is not valid; accepted: `)
    expect(filesThere()).toEqual([])
  })
})

describe('with a key in the environment', () => {
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
  const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
  const cloudSettings = () => ({
    WATCHKEEPER_API_URL: cloud().url,
    WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
    WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
    WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
    WATCHKEEPER_SERVICE_ID: demo.services.checkout,
  })

  it('shows the checks of doctor, and asks nothing without a terminal', async () => {
    const ran = await runCli(['init', 'plan-and-apply', '--project', 'shop/infra'], cloudSettings(), { directory })
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toContain('checks passed')
    expect(ran.stdout).not.toContain('watchkeeper doctor\n\n')
    expect(ran.stdout).not.toContain('Run pull?')
    expect(commandsIn(ran.stdout)).toContain(`gh variable set WATCHKEEPER_ORGANIZATION_ID --body ${demo.organizationId}`)
    expect(filesThere()).toContain('observability/service.yml')
  })

  it('writes the files when a check fails, and shows how to repeat it', async () => {
    const settings = { ...cloudSettings(), WATCHKEEPER_API_KEY_SECRET: 'a-secret-that-is-not-known-here' }
    const ran = await runCli(['init', 'backups', '--organization-id', demo.organizationId], settings, { directory })
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toContain('❌ failed')
    expect(ran.stdout).toContain('Fix the check that failed above, and repeat it:')
    expect(filesThere()).toEqual(['.github/workflows/watchkeeper-backups.yml'])
  })

  it('exports the objects of a server when the user accepts, and its files match the server', async ({ skip }) => {
    if (!hasPseudoTerminals) skip('this system has no `script` of util-linux')
    const settings = { WATCHKEEPER_API_URL: selfHosted().url, WATCHKEEPER_API_KEY: demo.apiKeySecret, WATCHKEEPER_PROFILE: 'hyperdx' }
    const { exitCode, screen } = await runInTerminal(['init'], {
      directory,
      env: settings,
      answers: [
        { after: 'press Enter for your own server: ', type: '\n' },
        { after: 'press Enter for none: ', type: '1 2\n' },
        { after: `Address of the API [${selfHosted().url}]: `, type: '\n' },
        { after: 'or Enter to set it later: ', type: 'a b\n' },
        { after: 'or Enter to set it later: ', type: 'shop/infra\n' },
        { after: 'Run pull? [y/N] ', type: 'y\n' },
      ],
    })
    expect(exitCode).toBe(0)
    expect(screen).toContain('a b is not valid')
    expect(screen).toContain('The server has 3 dashboards, 6 alerts, 1 saved search.')
    expect(filesThere()).not.toContain('observability/service.yml')
    expect(commandsIn(screen.replaceAll('\r', ''))).toEqual([
      'gh secret set WATCHKEEPER_API_KEY',
      `gh variable set WATCHKEEPER_API_URL --body ${selfHosted().url}`,
    ])
    for (const path of filesThere().filter((file) => file.startsWith('.github/'))) {
      const text = readFileSync(join(directory, path), 'utf8')
      expect(text).not.toContain('SERVICE_NAME')
      expect(await complaintsOf(text)).toEqual([])
    }
    const plan = await runCli(['plan'], settings, { directory })
    expect(plan.stdout).toMatch(/No changes: .* apply adopts 10 objects/)
  })

  it('keeps a directory with files of its own, and does not offer to export into it', async ({ skip }) => {
    if (!hasPseudoTerminals) skip('this system has no `script` of util-linux')
    mkdirSync(join(directory, 'observability'))
    const { exitCode, screen } = await runInTerminal(['init', '--project', 'shop/infra', '--profile', 'hyperdx'], {
      directory,
      env: { WATCHKEEPER_API_URL: selfHosted().url, WATCHKEEPER_API_KEY: demo.apiKeySecret },
      answers: [
        { after: 'press Enter for none: ', type: 'plan-and-apply\n' },
        { after: 'Address of the API [', type: '\n' },
      ],
    })
    expect(exitCode).toBe(0)
    expect(screen).toContain('checks passed')
    expect(screen).not.toContain('Run pull?')
    expect(filesThere()).toContain('observability/service.yml')
  })
})

describe('from init to alerts that are as declared', () => {
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
  const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
  const gitHub = useGitHub()
  const variables = { SERVICE_NAME: 'checkout', WEBHOOK_NAME: 'oncall', ERRORS_PER_FIVE_MINUTES: '20' }

  it.each([
    {
      profile: 'clickhouse-cloud',
      emulator: cloud,
      settings: () => ({
        WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
        WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
        WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
        WATCHKEEPER_SERVICE_ID: demo.services.checkout,
      }),
    },
    {
      profile: 'hyperdx',
      emulator: selfHosted,
      settings: () => ({ WATCHKEEPER_API_KEY: demo.apiKeySecret, WATCHKEEPER_API_URL: selfHosted().url }),
    },
  ])('plans, applies, and opens a pull request for drift with $profile, once what it asks for is set', async (product) => {
    const { stdout } = await init('plan-and-apply', 'drift', 'drift-pull-request', '--profile', product.profile)
    expect(stdout).toContain('Allow GitHub Actions to create and approve pull requests')
    const known: Readonly<Record<string, string>> = { ...product.settings(), ...variables }
    const wanted = Object.entries(known).filter(([name]) => new RegExp(`gh (?:secret|variable) set ${name}\\b`).test(stdout))
    expect(wanted).toHaveLength(Object.keys(known).length)
    const files = Object.fromEntries(filesThere().map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
    const run = async (name: string, github: object) => {
      const { jobs } = parse(files[`.github/workflows/watchkeeper-${name}.yml`] ?? '') as { jobs: Readonly<Record<string, RunnableJob>> }
      const set = Object.fromEntries(wanted)
      const values = { github: { repository, token, ...github }, secrets: set, vars: set }
      const env = {
        ...runnerEnvironment(gitHub().url),
        GITHUB_REF_NAME: 'main',
        // In the place of the cloud's address.
        WATCHKEEPER_API_URL: product.emulator().url,
      }
      const [ran] = Object.values(await runJobs(jobs, { values, env, files }))
      return ran
    }
    const from = (fullName: string) => ({ event: { pull_request: { head: { repo: { full_name: fullName } } } } })
    const resultOf = async (name: string, github: object) => (await run(name, github))?.result
    expect(await resultOf('plan', from('eve/infra'))).toBe('skipped')
    expect(await resultOf('plan', from(repository))).toBe('success')
    expect(await resultOf('drift', {})).toBe('failure')
    expect(await resultOf('apply', { ref: 'refs/heads/next' })).toBe('skipped')
    expect(await resultOf('apply', { ref: 'refs/heads/main' })).toBe('success')
    expect(await resultOf('drift', {})).toBe('success')
    for (const alert of serviceOf(product.emulator()).alerts) if (alert.threshold === 0.02) alert.threshold = 0.05
    const drift = await run('drift-pull-request', {})
    expect(drift?.result).toBe('success')
    expect(drift?.pullRequests[0]?.files['observability/service.yml']).toBe(
      files['observability/service.yml']?.replace('threshold: 0.02', 'threshold: 0.05'),
    )
  })
})
