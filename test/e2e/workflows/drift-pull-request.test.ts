// The reusable workflow that turns drift into a pull request: its own steps, against the emulator and a fake GitHub, and what it passes to
// the action that opens the pull request.
import { readFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { demo } from '../../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { token, useGitHub } from '../../support/github-server.ts'
import { runnerEnvironment } from '../../support/notify.ts'
import { type Called, callWorkflow } from '../../support/run-workflow.ts'
import { rememberState } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
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
  readonly isSelfHosted?: boolean
  readonly pullRequestToken?: string
}

const call = (name: string, { inputs = {}, ref = 'main', isSelfHosted = false, pullRequestToken = '' }: Options = {}) => {
  const server = isSelfHosted
    ? { 'api-url': selfHosted().url }
    : {
        'organization-id': demo.organizationId,
        'service-id': demo.services.checkout,
      }
  const keys = isSelfHosted ? { 'api-key': demo.apiKeySecret } : { 'api-key-id': demo.apiKeyId, 'api-key-secret': demo.apiKeySecret }
  return callWorkflow(name, {
    inputs: { ...server, variables, ...inputs },
    secrets: { ...keys, 'github-token': pullRequestToken },
    github: {
      event_name: 'push',
      ref: `refs/heads/${ref}`,
      repository: 'acme/shop',
      workflow: 'drift',
      token,
      event: { repository: { default_branch: 'main' } },
    },
    files,
    env: {
      ...runnerEnvironment(github().url),
      ...(!isSelfHosted && { WATCHKEEPER_API_URL: emulator().url }),
      GITHUB_REF: `refs/heads/${ref}`,
      GITHUB_REF_NAME: ref,
    },
  })
}

const apply = (options?: Options): Promise<Called> => call('plan-and-apply', options)

async function drift(options?: Options) {
  const { jobs, outputs } = await call('drift-pull-request', options)
  const { result, reasons = [], warnings = [], pullRequests = [] } = jobs.drift ?? {}
  const [passed] = pullRequests
  const body = passed?.files[passed.inputs['body-path'] ?? ''] ?? ''
  return { result, outputs, reasons, warnings, inputs: passed?.inputs, file: passed?.files[path], body }
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

/** Someone deletes an alert in the web app. */
const deleteAlert = (name: string): void => {
  const service = serviceOf(emulator())
  const { id } = alertNamed(name)
  service.alerts = service.alerts.filter((alert) => alert.id !== id)
}

const raised = starter.replace('threshold: 0.02', 'threshold: 0.05')

describe('the pull request of a drift', () => {
  it('the pull request of a drift gets the files with the changes of the service, and a text that shows them', async () => {
    raise()
    const { result, outputs, inputs, file, body } = await drift()
    expect([result, outputs]).toMatchObject(['success', { status: 'pass' }])
    expect(file).toBe(raised)
    expect(inputs).toEqual({
      token,
      branch: branch.name,
      'delete-branch': 'true',
      committer: 'github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>',
      'commit-message': branch.message,
      title: branch.message,
      'body-path': '/runner/temp/drift.md',
    })
    expect(body).toContain('threshold: file: 0.02, service: 0.05')
    expect(body).toContain('To revert them, run apply on the default branch')
    expect(body).toMatch(/GitHub starts no checks for a pull request that was made with GITHUB.?_TOKEN/)
  })

  it('the pull request of a drift gets unchanged files when there is no drift, so that it is closed', async () => {
    const { result, file, inputs } = await drift()
    expect([result, file, inputs?.branch]).toEqual(['success', starter, branch.name])
  })

  it('F3: the pull request of a drift changes no dashboard and no alert when it is merged and applied', async () => {
    raise()
    files = { [path]: (await drift()).file ?? '' }
    const before = structuredClone([serviceOf(emulator()).dashboards, serviceOf(emulator()).alerts.map(({ threshold }) => threshold)])
    const applied = await apply()
    expect([applied.outputs.status, applied.jobs.apply?.result]).toEqual(['pass', 'success'])
    expect([serviceOf(emulator()).dashboards, serviceOf(emulator()).alerts.map(({ threshold }) => threshold)]).toEqual(before)
    expect((await drift()).file).toBe(raised)
    raise(0.07)
    expect((await drift()).file).toBe(starter.replace('threshold: 0.02', 'threshold: 0.07'))
  })

  it('the pull request of a drift is opened with the token of an app', async () => {
    expect((await drift({ pullRequestToken: 'ghs_app' })).inputs?.token).toBe('ghs_app')
  })

  it('the pull request of a drift works with a self-hosted server', async () => {
    await apply({ isSelfHosted: true })
    const alert = serviceOf(selfHosted()).alerts.find(({ name }) => String(name).endsWith('requests fail'))
    Object.assign(alert ?? {}, { threshold: 0.05 })
    expect((await drift({ isSelfHosted: true })).file).toBe(raised)
  })

  it('an environment has a drift branch of its own, and never removes declarations', async () => {
    const ids = `organization-id: ${demo.organizationId}\nservice-id: ${demo.services.checkout}\n`
    files = { ...files, 'environments/staging.yml': ids }
    const inputs = { env: 'staging', 'organization-id': '', 'service-id': '' }
    raise()
    const { inputs: passed } = await drift({ inputs })
    expect(passed).toMatchObject({ branch: 'watchkeeper/drift-staging', title: 'Keep the changes made in the service in staging' })
    expect((await drift({ inputs: { ...inputs, prune: true } })).result).toBe('failure')
  })
})

describe('F3: the pull request of a drift is not looked at', () => {
  const skipped = (reason: string) => ({
    result: 'success',
    inputs: undefined,
    warnings: [expect.stringContaining(reason)],
  })

  it.each([
    ['someone else', { ...branch, message: 'Fix a typo' }],
    ['someone who amended it', { ...branch, committer: 'Ada' }],
  ])('F3: the pull request of a drift is not looked at when the last commit of its branch is of %s', async (_, other) => {
    raise()
    github().store.branch = other
    expect(await drift()).toMatchObject(skipped('the last commit of watchkeeper/drift is of someone else'))
  })

  it.each([
    ['its own', branch],
    ['on the branch of another environment', { ...branch, name: 'watchkeeper/drift-staging', message: 'Fix a typo' }],
  ])('the pull request of a drift is updated when the last commit is %s', async (_, own) => {
    raise()
    github().store.branch = own
    expect((await drift()).file).toBe(raised)
  })

  const workflow = (step: string): string => `jobs: { a: { steps: [{ ${step} }] } }`

  it.each(['queued', 'in_progress', 'waiting', 'pending', 'requested'])(
    'F3: the pull request of a drift is not looked at while an apply is %s',
    async (status) => {
      const called = 'jobs: { a: { uses: watchkeeper/watchkeeper/.github/workflows/reusable-plan-and-apply.yml@v0 } }'
      files = { ...files, '.github/workflows/observability.yml': called }
      github().store.runs.push({ id: 5, path: '.github/workflows/observability.yml', event: 'push', status })
      raise()
      expect(await drift()).toMatchObject(skipped(`run 5 may apply, and is ${status}`))
    },
  )

  it.each(['with: { operation: apply }', "with: { operation: 'apply' }", 'run: watchkeeper apply --yes'])(
    'F3: the pull request of a drift is not looked at while a called workflow runs: %s',
    async (step) => {
      files = { ...files, '.github/workflows/shared.yaml': workflow(step) }
      const calls = ['acme/shop/.github/workflows/shared.yaml@refs/heads/main']
      github().store.runs.push({ id: 5, path: '.github/workflows/release.yml', event: 'push', status: 'queued', calls })
      raise()
      expect(await drift()).toMatchObject(skipped('run 5 may apply'))
    },
  )

  it.each([
    ['a plan of a pull request', { event: 'pull_request', path: '.github/workflows/apply.yml' }],
    ['a workflow that applies nothing', { event: 'push', path: '.github/workflows/test.yml' }],
    ['itself', { id: 4711, event: 'schedule', path: '.github/workflows/apply.yml' }],
  ])('the pull request of a drift does not wait for %s', async (_, run) => {
    const own = readFileSync(new URL('../../../examples/workflows/drift-pull-request.yml', import.meta.url), 'utf8')
    files = {
      ...files,
      '.github/workflows/apply.yml': workflow('with: { operation: apply }'),
      '.github/workflows/test.yml': own,
    }
    github().store.runs.push({ id: 5, status: 'queued', ...run })
    raise()
    expect((await drift()).file).toBe(raised)
  })

  it('F3: the pull request of a drift is not looked at by a run on another branch, or without an answer of GitHub, which fails', async () => {
    raise()
    expect(await drift({ ref: 'next' })).toMatchObject({ result: 'failure', inputs: undefined })
    github().addFault({ on: 'GET /repos/acme/shop/actions/runs', effect: { kind: 'answer', status: 403 } })
    expect(await drift()).toMatchObject({ result: 'failure', inputs: undefined })
  })

  it('F3: the pull request of a drift is not looked at while the service has no declared object of a kind', async () => {
    raise()
    serviceOf(emulator()).alerts = []
    const emptied = 'the list of alerts has none of the declared objects'
    expect(await drift()).toMatchObject(skipped(emptied))
    const removing = await drift({ inputs: { prune: true } })
    expect([removing.warnings, removing.inputs]).toEqual([[expect.stringContaining(emptied)], undefined])
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

describe('the files of the pull request', () => {
  it('the pull request of a drift leaves out an object whose declaration changed since the last apply', async () => {
    raise()
    const changed = starter.replace('numConsecutiveWindows: 2', 'numConsecutiveWindows: 3')
    files = { [path]: changed }
    expect((await drift()).file).toBe(changed)
  })

  it('the pull request of a drift keeps the value of a variable', async () => {
    alertNamed('many errors').threshold = 30
    raise()
    const { file, body } = await drift()
    expect(file).toBe(raised)
    expect(body).toContain('change the variable where the workflow sets it')
    // Markdown makes one list of two that follow each other.
    expect(body).toMatch(/^- alert `errors`: .*\n\nWhat to do:\n\n- To keep the changes/m)
  })

  it('the pull request of a drift has no silence', async () => {
    const end = new Date(Math.ceil(Date.now() / 900_000) * 900_000 + 86_400_000).toISOString()
    for (const alert of serviceOf(emulator()).alerts) alert.scheduleStartAt = end
    expect((await drift()).file).toBe(starter)
    raise()
    expect((await drift()).file).toBe(raised)
  })

  it('the pull request of a drift keeps an object that was deleted in the service, and removes it with prune', async () => {
    deleteAlert('checkout: slow')
    expect((await drift()).file).toBe(starter)
    const { file = '', body } = await drift({ inputs: { prune: true } })
    const { slow, ...others } = parse(starter).alerts
    expect(slow).toBeDefined()
    expect(parse(file).alerts).toEqual(others)
    expect(body).toContain('They were deleted there, or were never applied')
  })

  it('the pull request of a drift has no secret of the run', async () => {
    alertNamed('requests fail').message = `see ${demo.apiKeySecret}`
    expect(await drift()).toMatchObject({ result: 'failure', inputs: undefined })
  })
})
