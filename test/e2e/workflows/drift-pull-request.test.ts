// The reusable workflow that turns drift into a pull request: its own steps, against the emulator and a fake GitHub, and what it passes to
// the action that opens the pull request.
import { readFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { demo } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { type StoredBranch, token, useGitHub } from '../../support/github-server.ts'
import { runnerEnvironment } from '../../support/notify.ts'
import { type Called, callWorkflow, reusable, runJobs } from '../../support/run-workflow.ts'
import { rememberState } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
const github = useGitHub()

const path = 'observability/service.yml'
const starter = readFileSync(new URL('../../../examples/starter/service.yml', import.meta.url), 'utf8')
const variables = 'SERVICE=checkout\nWEBHOOK=oncall\nERRORS_PER_FIVE_MINUTES=20\n'

const branch = { name: 'watchkeeper/drift', committer: 'github-actions[bot]', message: 'Keep the changes made in the service' }

/** The repository at the newest commit, by path. */
let files: Readonly<Record<string, string>>

interface Options {
  readonly inputs?: Readonly<Record<string, string | boolean>>
  readonly ref?: string
  readonly pullRequestToken?: string
}

const contextOf = ({ ref = 'main' }: Options) => ({
  github: {
    event_name: 'push',
    ref: `refs/heads/${ref}`,
    repository: 'acme/shop',
    workflow: 'drift',
    token,
    event: { repository: { default_branch: 'main' } },
  },
  env: { ...runnerEnvironment(github().url), WATCHKEEPER_API_URL: emulator().url, GITHUB_REF: `refs/heads/${ref}`, GITHUB_REF_NAME: ref },
  files,
})

const call = (name: string, options: Options = {}) =>
  callWorkflow(name, {
    inputs: { 'organization-id': demo.organizationId, 'service-id': demo.services.checkout, variables, ...options.inputs },
    secrets: { 'api-key-id': demo.apiKeyId, 'api-key-secret': demo.apiKeySecret, 'github-token': options.pullRequestToken ?? '' },
    ...contextOf(options),
  })

const apply = (): Promise<Called> => call('plan-and-apply')

async function drift(options?: Options) {
  const { jobs, outputs } = await call('drift-pull-request', options)
  const { result, reasons = [], warnings = [], pullRequests = [] } = jobs.drift ?? {}
  const [passed] = pullRequests
  const body = passed?.files[passed.inputs['body-path'] ?? ''] ?? ''
  return { result, outputs, reasons, warnings, inputs: passed?.inputs, file: passed?.files[path], body }
}

/** The step that decides whether the service is looked at: its result, and why it stopped; `continues` where it did not. */
async function check(options: Options = {}): Promise<string> {
  const { steps = [], ...job } = reusable.get('drift-pull-request')?.jobs.drift ?? {}
  const deciding = {
    ...job,
    steps: steps.filter(({ id }) => id === 'check'),
    outputs: { continues: `\${{ steps.check.outputs.continues }}` },
  }
  const { github: context, ...rest } = contextOf(options)
  const { drift: ran } = await runJobs({ drift: deciding }, { values: { inputs: { env: '' }, github: context }, ...rest })
  if (ran?.result !== 'success') return 'failure'
  return ran.outputs.continues === 'true' ? 'continues' : ran.warnings.join()
}

const alertNamed = (name: string) => {
  const found = serviceOf(emulator()).alerts.find((alert) => String(alert.name).endsWith(name))
  if (found === undefined) throw new Error(`the service has no alert ${name}`)
  return found
}

let restoreApplied: () => void

beforeAll(async () => {
  files = { [path]: starter }
  await apply()
  restoreApplied = rememberState(emulator())
})

beforeEach(() => {
  files = { [path]: starter }
  restoreApplied()
})

/** Someone raises a threshold in the web app. */
const raise = (threshold = 0.05): void => {
  alertNamed('requests fail').threshold = threshold
}

const raised = starter.replace('threshold: 0.02', 'threshold: 0.05')

const withoutEntry = (file = ''): string => file.replace(/^ +adopt: .*\n/m, '')

it('F3: the pull request of a drift has the changes of the service and a text that shows them, and applied, it changes nothing', async () => {
  // Without a drift, the action closes the pull request.
  const none = await drift()
  expect([none.result, none.file, none.inputs?.branch]).toEqual(['success', starter, branch.name])
  raise()
  const { result, outputs, inputs, file = '', body } = await drift()
  expect([result, outputs]).toMatchObject(['success', { status: 'pass' }])
  // What the object was like stands in the file, so that the merge overwrites no later change.
  expect(file).toMatch(/^ +adopt: [0-9a-f]{24}@2\.[0-9a-f]{10}\.[0-9a-f]{6}$/m)
  expect(withoutEntry(file)).toBe(raised)
  expect(inputs).toEqual({
    token,
    branch: branch.name,
    'delete-branch': 'true',
    committer: 'github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>',
    author: 'github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>',
    'commit-message': branch.message,
    title: branch.message,
    'body-path': '/runner/temp/drift.md',
  })
  expect(body).toContain('threshold: file: 0.02, service: 0.05')
  expect(body).toContain('To revert them, run apply on the default branch')
  // Markdown makes one list of two that follow each other.
  expect(body).toMatch(/\n\nWhat to do:\n\n- To keep the changes/)
  expect(body).toMatch(/GitHub starts no checks for a pull request that was made with GITHUB.?_TOKEN/)
  files = { [path]: file }
  const stored = () => [serviceOf(emulator()).dashboards, serviceOf(emulator()).alerts.map(({ threshold }) => threshold)]
  const before = structuredClone(stored())
  const applied = await apply()
  expect([applied.outputs.status, applied.jobs.apply?.result]).toEqual(['pass', 'success'])
  expect(stored()).toEqual(before)
  raise(0.07)
  const next = await drift({ pullRequestToken: 'ghs_app' })
  expect([withoutEntry(next.file), next.inputs?.token]).toEqual([starter.replace('threshold: 0.02', 'threshold: 0.07'), 'ghs_app'])
})

it('the pull request of a drift has a branch for each environment, and none where pull fails or may be incomplete', async () => {
  const ids = `organization-id: ${demo.organizationId}\nservice-id: ${demo.services.checkout}\n`
  files = { ...files, 'environments/staging.yml': ids }
  const inputs = { env: 'staging', 'organization-id': '', 'service-id': '' }
  raise()
  // The value of a variable is kept, which is a warning and no reason to show nothing.
  alertNamed('many errors').threshold = 30
  const { inputs: passed, outputs, file } = await drift({ inputs })
  expect([outputs.status, file]).toEqual(['warn', raised])
  expect(passed).toMatchObject({ branch: 'watchkeeper/drift-staging', title: 'Keep the changes made in the service in staging' })
  // An environment never removes declarations.
  expect(await drift({ inputs: { ...inputs, only: 'drifted-or-deleted' } })).toMatchObject({ result: 'failure', inputs: undefined })
  serviceOf(emulator()).alerts = []
  const emptied = expect.stringContaining('the list of alerts has none of the declared objects')
  expect(await drift()).toMatchObject({ result: 'success', inputs: undefined, warnings: [emptied] })
})

describe('F3: the pull request of a drift is not looked at', () => {
  const workflow = (step: string): string => `jobs: { a: { steps: [{ ${step} }] } }`
  const applyFile = '.github/workflows/apply.yml'

  it('F3: the pull request of a drift is not looked at when the last commit of its branch is of someone else, or on another branch', () =>
    forEachEntry<[string, StoredBranch | undefined, RegExp]>(
      [
        ['no branch', undefined, /^continues$/],
        ['its own commit', branch, /^continues$/],
        [
          'a commit on the branch of another environment',
          { ...branch, name: 'watchkeeper/drift-staging', message: 'Fix a typo' },
          /^continues$/,
        ],
        ['someone else', { ...branch, message: 'Fix a typo' }, /the last commit of watchkeeper\/drift is of someone else/],
        ['someone who amended it', { ...branch, committer: 'Ada' }, /the last commit of watchkeeper\/drift is of someone else/],
      ],
      async (_, other, expected) => {
        if (other !== undefined) github().store.branch = other
        expect(await check()).toMatch(expected)
      },
    ))

  it('F3: the pull request of a drift is not looked at while a workflow that applies is queued or running', () =>
    forEachEntry<[string, string]>(
      [
        ['queued', 'with: { operation: apply }'],
        ['in_progress', "with: { operation: 'apply' }"],
        ['waiting', 'run: watchkeeper apply --yes'],
        ['pending', 'uses: watchkeeper/watchkeeper/.github/workflows/reusable-plan-and-apply.yml@v0'],
        // A workflow that another one calls.
        ['requested', 'with: { operation: "apply" }'],
      ],
      async (status, step) => {
        files = { [applyFile]: workflow(step) }
        const calls = status === 'requested' ? ['acme/shop/.github/workflows/apply.yml@refs/heads/main'] : []
        const run = { id: 5, path: calls.length > 0 ? '.github/workflows/release.yml' : applyFile, event: 'push', status, calls }
        github().store.runs = [run]
        expect(await check()).toContain(`run 5 may apply, and is ${status}`)
      },
    ))

  it('F3: the pull request of a drift waits for no other run, and fails on another branch or without an answer of GitHub', async () => {
    const own = readFileSync(new URL('../../../examples/workflows/drift-pull-request.yml', import.meta.url), 'utf8')
    files = { [applyFile]: workflow('with: { operation: apply }'), '.github/workflows/test.yml': own }
    github().store.runs = [
      { id: 5, path: applyFile, event: 'pull_request', status: 'queued' },
      { id: 6, path: applyFile, event: 'merge_group', status: 'queued' },
      { id: 7, path: '.github/workflows/test.yml', event: 'push', status: 'queued' },
      // Itself.
      { id: 4711, path: applyFile, event: 'schedule', status: 'queued' },
    ]
    expect(await check()).toBe('continues')
    expect(await check({ ref: 'next' })).toBe('failure')
    github().addFault({ on: 'GET /repos/acme/shop/actions/runs', effect: { kind: 'answer', status: 403 } })
    expect(await check()).toBe('failure')
  })
})

it('the example without a call has the same script', () => {
  const [called, copied] = ['.github/workflows/reusable-drift-pull-request.yml', 'examples/workflows/drift-pull-request.yml'].map(
    (name) => {
      const { jobs } = parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8'))
      return jobs.drift.steps.find(({ id }: { id?: string }) => id === 'check')
    },
  )
  expect(copied).toEqual(called)
})
