import { execFile, spawn } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { demo } from '../../src/emulator/index.ts'
import { forEachEntry } from '../support/corpus.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { token, useGitLab } from '../support/gitlab-server.ts'
import { gitLabEnvironment } from '../support/notify.ts'

// The components in templates/, run by gitlab-ci-local, which expands and runs pipelines of GitLab CI without GitLab. The jobs run in a
// shell; with GITLAB_IMAGES=1 in their images, which needs Docker and rsync.

const root = new URL('../../', import.meta.url).pathname
const names = ['cost-gate', 'plan-and-apply', 'backups'] as const

const { GITLAB_IMAGES: withImages = '' } = process.env

const executor = [
  '--no-evaluate-rule-changes',
  ...(withImages === '1' ? ['--network=host', `--volume=${root}:${root}:ro`] : ['--force-shell-executor', '--no-shell-isolation']),
]

const cli = `${withImages === '1' ? 'node' : process.execPath} ${join(root, 'npm/cli.js')}`

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
const gitlab = useGitLab()

let tools: string

beforeAll(async () => {
  tools = await mkdtemp(join(tmpdir(), 'watchkeeper-tools-'))
  // It copies the project to each job, and jobs in a shell run in the project itself.
  if (withImages !== '1') await writeFile(join(tools, 'rsync'), '#!/bin/sh\nexit 0\n')
  if (withImages !== '1') await chmod(join(tools, 'rsync'), 0o755)
})
afterAll(() => rm(tools, { recursive: true }))

type Texts = Readonly<Record<string, string>>

interface Pipeline {
  readonly component: (typeof names)[number]
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly files?: Texts
  readonly variables?: Texts
}

interface Ran {
  readonly exitCode: number | null
  readonly output: string
  /** Files that the job wrote. */
  readonly written: Texts
}

async function runIn(directory: string, command: string, args: readonly string[]): Promise<Omit<Ran, 'written'>> {
  const env = { PATH: [tools, dirname(process.execPath), process.env.PATH].join(':'), HOME: tools, GIT_CONFIG_NOSYSTEM: '1' }
  const child = spawn(command, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exitCode = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { exitCode, output }
}

/** Calls gitlab-ci-local in a project that includes the component. */
async function callLocal({ component, inputs = {}, files = {}, variables = {} }: Pipeline, args: readonly string[]): Promise<Ran> {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-gitlab-'))
  try {
    const include = [{ local: `templates/${component}.yml`, inputs: { command: cli, ...inputs } }]
    await cp(join(root, 'templates'), join(directory, 'templates'), { recursive: true })
    for (const [name, text] of Object.entries({ '.gitlab-ci.yml': JSON.stringify({ include }), ...files })) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    await runIn(directory, 'git', ['init', '--quiet', '--initial-branch=main'])
    await runIn(directory, 'git', ['remote', 'add', 'origin', 'git@gitlab.example:acme/platform/shop.git'])
    await runIn(directory, 'git', ['add', '.'])
    await runIn(directory, 'git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--message=a'])
    const flags = Object.entries({ CI_DEFAULT_BRANCH: 'main', ...variables }).flatMap(([name, value]) => ['--variable', `${name}=${value}`])
    const script = join(root, 'node_modules/gitlab-ci-local/dist/index.js')
    const ran = await runIn(directory, process.execPath, [script, ...executor, ...flags, ...args])
    const texts = await Promise.all(
      ['watchkeeper-cost.html', 'gl-code-quality-report.json', 'injected'].map(async (name) => {
        const text = await readFile(join(directory, name), 'utf8').catch(() => undefined)
        return text === undefined ? [] : [[name, text] as const]
      }),
    )
    return { ...ran, written: Object.fromEntries(texts.flat()) }
  } finally {
    await rm(directory, { recursive: true })
  }
}

const scheduled = { CI_PIPELINE_SOURCE: 'schedule', CI_COMMIT_BRANCH: 'main' }
const pushed = { CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BRANCH: 'main' }
const mergeRequest = {
  CI_PIPELINE_SOURCE: 'merge_request_event',
  CI_COMMIT_BRANCH: '',
  CI_MERGE_REQUEST_PROJECT_ID: '77',
  CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '77',
}
const inProjectOfFork = { ...mergeRequest, CI_PROJECT_ID: '88', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '88' }
const ofForkInProject = { ...mergeRequest, CI_PROJECT_ID: '77', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '88' }

const services = { services: demo.services.checkout }

async function jobsIn(pipeline: Pipeline): Promise<readonly string[]> {
  const { output } = await callLocal(pipeline, ['--list-json', '--no-json-schema-validation'])
  const jobs = JSON.parse(output.slice(output.indexOf('[\n'), output.lastIndexOf(']') + 1)) as readonly { name: string; when: string }[]
  return jobs.filter(({ when }) => when !== 'never').map(({ name }) => name)
}

it('a pipeline has the jobs that its event calls for, and a fork gets none with a key', () =>
  forEachEntry<[string, Pipeline['component'], Texts, readonly string[]]>(
    [
      ['a schedule', 'cost-gate', scheduled, ['watchkeeper-cost-gate']],
      ['a schedule', 'backups', scheduled, ['watchkeeper-backups']],
      ['a merge request', 'plan-and-apply', mergeRequest, ['watchkeeper-plan']],
      ['a push to the default branch', 'plan-and-apply', pushed, ['watchkeeper-apply']],
      ['a push to another branch', 'plan-and-apply', { ...pushed, CI_COMMIT_BRANCH: 'topic' }, []],
      ['a merge request from a fork, in the project of the fork', 'plan-and-apply', inProjectOfFork, ['watchkeeper-validate']],
      ['a merge request from a fork, started by a member', 'plan-and-apply', ofForkInProject, ['watchkeeper-validate']],
    ],
    async (_, component, variables, jobs) => {
      expect(await jobsIn({ component, variables, inputs: component === 'backups' ? services : {} })).toEqual(jobs)
    },
  ))

it.each(names)('%s is valid for the schema of GitLab', async (component) => {
  const variables = component === 'plan-and-apply' ? pushed : scheduled
  const { exitCode, output } = await callLocal({ component, variables, inputs: component === 'backups' ? services : {} }, ['--preview'])
  expect(output).toContain('json schema validated')
  expect(exitCode).toBe(0)
})

it('a component has at most twelve inputs, each with a description, and none for a secret', async () => {
  for (const name of names) {
    const [header = ''] = (await readFile(join(root, `templates/${name}.yml`), 'utf8')).split('\n---\n')
    const { inputs } = (parse(header) as { spec: { inputs: Readonly<Record<string, { description?: string }>> } }).spec
    expect(Object.entries(inputs).filter(([, { description = '' }]) => description === '')).toEqual([])
    expect(Object.keys(inputs).length, name).toBeLessThanOrEqual(12)
    expect(Object.keys(inputs).filter((input) => /key|token|secret/.test(input))).toEqual([])
  }
})

/** What a project has in its settings, and what GitLab sets. */
const projectVariables = (): Texts => {
  const settings = Object.entries(inputsFor(emulator(), 'clickhouse-cloud')).map(([name, value]) => [
    `WATCHKEEPER_${name.toUpperCase().replaceAll('-', '_')}`,
    value,
  ])
  return { ...gitLabEnvironment(gitlab().url), WATCHKEEPER_GITLAB_TOKEN: token, ...Object.fromEntries(settings) }
}

const run = (pipeline: Pipeline, job: string): Promise<Ran> =>
  callLocal({ ...pipeline, variables: { ...projectVariables(), ...pipeline.variables } }, ['--no-json-schema-validation', job])

const declared = `
dashboards:
  checkout:
    name: Checkout overview of the team
    tiles:
      - { name: Notes, x: 0, y: 0, w: 6, h: 4, config: { displayType: markdown, markdown: Hello } }
`

describe('the script of a job', () => {
  const given = 'a "b" $(c) `d`'

  it.each([
    ['cost-gate', 'watchkeeper-cost-gate', { WK_PERIOD: given, WK_BUDGET: '1 000', WK_ISSUE: 'off' }, ['usage-cost', given, '1 000']],
    ['backups', 'watchkeeper-backups', { WK_SERVICES: given, WK_ISSUE: 'off' }, ['check-backups', given]],
    ['plan-and-apply', 'watchkeeper-apply', { WK_FILES: given, WK_ENV: 'x y' }, ['apply', '--yes', given, 'x y']],
  ] as const)(
    'the script of a job of %s passes each value on as one argument in a POSIX shell',
    async (component, job, variables, expected) => {
      const [, body = ''] = (await readFile(join(root, `templates/${component}.yml`), 'utf8')).split('\n---\n')
      const jobs = parse(body) as Readonly<Record<string, { readonly script: readonly [string] }>>
      const script = jobs[job]?.script[0].replace('$[[ inputs.command ]]', "printf '%s\\n'") ?? ''
      const { stdout } = await promisify(execFile)('sh', ['-c', script], { env: { PATH: process.env.PATH, ...variables } })
      const lines = stdout.split('\n')
      expect(lines).toEqual(expect.arrayContaining([...expected]))
      // An input without a value is left out.
      expect(lines).not.toContain('--organization-id')
    },
  )
})

describe('a job of a component', () => {
  it('fails above the budget, keeps the page, and opens an issue', async () => {
    const inputs = { period: 'last-7-days', budget: '1', issue: 'on-failure' }
    const ran = await run({ component: 'cost-gate', inputs, variables: scheduled }, 'watchkeeper-cost-gate')
    expect(ran.output).toContain('Budget exceeded: ')
    expect(ran.exitCode).not.toBe(0)
    expect(ran.written['watchkeeper-cost.html']).toContain('Budget exceeded')
    expect(gitlab().store.issues).toHaveLength(1)
    expect(ran.output).not.toContain(token)
  })

  it('fails without a budget, because the gate is required', async () => {
    const ran = await run({ component: 'cost-gate', variables: scheduled }, 'watchkeeper-cost-gate')
    expect(ran.output).toContain('No budget is set')
    expect(ran.exitCode).not.toBe(0)
  })

  it('plans with a note on the merge request, and applies on the default branch', async () => {
    const files = { 'observability/checkout.yml': declared }
    const planned = await run({ component: 'plan-and-apply', files, variables: mergeRequest }, 'watchkeeper-plan')
    expect(planned.exitCode, planned.output).toBe(0)
    expect(gitlab().store.notes).toHaveLength(1)
    expect(gitlab().store.notes[0]?.body).toContain('Checkout overview of the team')
    expect(JSON.parse(planned.written['gl-code-quality-report.json'] ?? '')).toEqual([])
    const variables = { ...pushed, CI_MERGE_REQUEST_IID: '', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '' }
    const applied = await run({ component: 'plan-and-apply', files, variables }, 'watchkeeper-apply')
    expect(applied.exitCode, applied.output).toBe(0)
    const again = await run({ component: 'plan-and-apply', files, variables }, 'watchkeeper-apply')
    expect(again.output).toContain('Nothing to do: everything matches the files')
  })

  it('reports a mistake in a file of a fork, without a key and without a note', async () => {
    const files = { 'observability/checkout.yml': declared.replace('tiles:', 'tils:') }
    const { exitCode, written } = await callLocal({ component: 'plan-and-apply', files, variables: ofForkInProject }, [
      '--no-json-schema-validation',
      'watchkeeper-validate',
    ])
    expect(exitCode).not.toBe(0)
    expect(JSON.parse(written['gl-code-quality-report.json'] ?? '')).toContainEqual(
      expect.objectContaining({ severity: 'major', location: { path: 'observability/checkout.yml', lines: { begin: 5 } } }),
    )
    expect(gitlab().received).toEqual([])
  })

  it('a job of a component does not run the value of an input as a command', async () => {
    const inputs = { period: '$(touch injected)"; touch injected; "', budget: '1' }
    const ran = await run({ component: 'cost-gate', inputs, variables: scheduled }, 'watchkeeper-cost-gate')
    expect(ran.output).toContain('is not accepted')
    expect(Object.keys(ran.written)).not.toContain('injected')
  })

  it('checks backups', async () => {
    const ran = await run({ component: 'backups', inputs: services, variables: scheduled }, 'watchkeeper-backups')
    expect(ran.output).toContain(`Service ${demo.services.checkout} has a fresh backup`)
    expect(ran.exitCode).toBe(0)
  })
})
