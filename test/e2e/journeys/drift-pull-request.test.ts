// The reusable workflow that turns drift into a pull request, against the emulator and a fake GitHub.
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { demo } from '../../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { bot, commitTo, filesAt, type GitHubServer, otherUser, token, useGitHub } from '../../support/github-server.ts'
import { runnerEnvironment } from '../../support/notify.ts'
import { type Called, callWorkflow } from '../../support/run-workflow.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
const github = useGitHub()

const path = 'observability/service.yml'
const starter = readFileSync(new URL('../../../examples/starter/service.yml', import.meta.url), 'utf8')
const variables = 'SERVICE=checkout\nWEBHOOK=oncall\nERRORS_PER_FIVE_MINUTES=20\n'
const branch = 'watchkeeper/drift'

interface Options {
  readonly inputs?: Readonly<Record<string, string | boolean>>
  readonly ref?: string
  readonly isSelfHosted?: boolean
  readonly pullRequestToken?: string
}

const call = (name: string, { inputs = {}, ref = 'refs/heads/main', isSelfHosted = false, pullRequestToken = '' }: Options = {}) => {
  const server = isSelfHosted
    ? { profile: 'hyperdx', 'api-url': selfHosted().url }
    : {
        profile: 'clickhouse-cloud',
        'api-url': emulator().url,
        'organization-id': demo.organizationId,
        'service-id': demo.services.checkout,
      }
  const keys = isSelfHosted ? { 'api-key': demo.apiKeySecret } : { 'api-key-id': demo.apiKeyId, 'api-key-secret': demo.apiKeySecret }
  const { store } = github()
  return callWorkflow(name, {
    inputs: { ...server, variables, ...inputs },
    secrets: { ...keys, 'github-token': pullRequestToken },
    github: {
      event_name: 'push',
      ref,
      repository: 'acme/shop',
      workflow: 'drift',
      token,
      event: { repository: { default_branch: 'main' } },
    },
    files: filesAt(store, 'main'),
    env: { ...runnerEnvironment(github().url), GITHUB_REF: ref, GITHUB_SHA: store.refs.get('main') ?? '' },
  })
}

const apply = (options?: Options): Promise<Called> => call('plan-and-apply', options)
const drift = (options?: Options): Promise<Called> => call('drift-pull-request', options)

const alertNamed = (name: string) => {
  const found = serviceOf(emulator()).alerts.find((alert) => String(alert.name).endsWith(name))
  if (found === undefined) throw new Error(`the service has no alert ${name}`)
  return found
}

/** Requests that change something on GitHub. */
const writes = (): readonly string[] =>
  github()
    .received.filter(({ call, body }) => !call.startsWith('GET') && !String(body.query).startsWith('query'))
    .map(({ call }) => call)

const openPulls = () => github().store.pulls.filter((pull) => pull.branch !== undefined && pull.state === 'open')

beforeEach(async () => {
  commitTo(github().store, { branch: 'main', files: { [path]: starter } })
  await apply()
  github().received.length = 0
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

const thresholdIn = (text: string | undefined): unknown => parse(text ?? '').alerts.failing.threshold

describe('the pull request of a drift', () => {
  it('the pull request of a drift is opened once, is not pushed again, keeps the commit of a person, and is closed when the drift ends', async () => {
    expect((await drift()).outputs.state).toBe('none')
    expect(writes()).toEqual([])

    raise()
    const opened = await drift()
    expect(opened.jobs.drift?.result).toBe('success')
    expect(opened.outputs).toMatchObject({ state: 'opened', updated: '1', number: String(openPulls()[0]?.number) })
    expect(openPulls()).toHaveLength(1)
    expect(filesAt(github().store, branch)[path]).toBe(starter.replace('threshold: 0.02', 'threshold: 0.05'))

    github().received.length = 0
    expect((await drift()).outputs).toMatchObject({ state: 'unchanged', number: opened.outputs.number })
    expect(writes()).toEqual([])

    const mine = commitTo(github().store, { branch, files: { 'README.md': 'Mine' } })
    raise(0.07)
    expect((await drift()).outputs.state).toBe('kept')
    expect(github().store.refs.get(branch)).toBe(mine)
    expect(github().store.comments.map(({ body }) => body)).toEqual([expect.stringContaining('service: 0.07')])
    expect(github().store.comments[0]?.body).not.toMatch(/This pull request updates|To keep the changes/)
    github().received.length = 0
    expect((await drift()).outputs.state).toBe('kept')
    expect(writes()).toEqual([])

    await apply()
    expect((await drift()).outputs).toMatchObject({ state: 'closed', number: opened.outputs.number })
    expect(openPulls()).toEqual([])
    expect(github().store.refs.get(branch)).toBe(mine)
    github().received.length = 0
    expect((await drift()).outputs.state).toBe('none')
    expect(writes()).toEqual([])
  })

  it('the pull request of a drift is opened for the next change of the same object, too, after the first one was merged and applied', async () => {
    raise()
    const first = await drift()
    const { store } = github()
    commitTo(store, { branch: 'main', files: { [path]: filesAt(store, branch)[path] ?? '' } })
    for (const pull of openPulls()) Object.assign(pull, { state: 'closed', mergedAt: '2026-11-23T06:00:00Z' })
    const applied = await apply()
    expect([applied.outputs.changed, applied.jobs.apply?.result]).toEqual(['false', 'success'])
    expect((await drift()).outputs.state).toBe('none')
    raise(0.07)
    const second = await drift()
    expect(second.outputs.state).toBe('opened')
    expect(second.outputs.number).not.toBe(first.outputs.number)
    expect(thresholdIn(filesAt(store, branch)[path])).toBe(0.07)
  })

  it('the pull request of a drift is updated in place on the newest commit of the default branch, when every commit of the branch is its own', async () => {
    raise()
    const { outputs } = await drift()
    const newest = commitTo(github().store, { branch: 'main', files: { 'README.md': 'Shop' } })
    raise(0.07)
    expect((await drift()).outputs).toMatchObject({ state: 'updated', number: outputs.number })
    const { refs, commits } = github().store
    expect(commits.get(refs.get(branch) ?? '')?.parents).toEqual([newest])
    expect(thresholdIn(filesAt(github().store, branch)[path])).toBe(0.07)
    expect(openPulls()).toHaveLength(1)
  })

  it('the pull request of a drift is not pushed again when only other files of the default branch changed', async () => {
    raise()
    await drift()
    commitTo(github().store, { branch: 'main', files: { 'README.md': 'Shop' } })
    github().received.length = 0
    expect((await drift()).outputs.state).toBe('unchanged')
    expect(writes()).toEqual([])
  })

  it('the pull request of a drift shows the fields, how to revert, and why checks may not start', async () => {
    raise()
    await drift()
    const [pull] = openPulls()
    expect(pull?.title).toBe('Keep 1 change made in the service')
    expect(pull?.body).toContain('threshold: file: 0.02, service: 0.05')
    expect(pull?.body).toContain('To revert them, run apply on the default branch')
    expect(pull?.body).toContain('GitHub starts no workflows for such a pull request')
  })

  it('the pull request of a drift says nothing about checks with the token of an app', async () => {
    github().store.viewer = { login: 'shop-bot[bot]', id: 77 }
    raise()
    expect((await drift({ pullRequestToken: token })).outputs.state).toBe('opened')
    expect(openPulls()[0]?.body).not.toContain('GITHUB_TOKEN')
  })

  it('the pull request of a drift stays as it is while the service has no declared object of a kind', async () => {
    raise()
    const { outputs } = await drift()
    const { alerts } = serviceOf(emulator())
    serviceOf(emulator()).alerts = []
    github().received.length = 0
    const emptied = await drift()
    expect([emptied.jobs.drift?.result, emptied.outputs.state]).toEqual(['success', 'skipped'])
    expect(emptied.jobs.drift?.warnings).toContainEqual(expect.stringContaining('the service has none of the declared alerts'))
    expect(writes()).toEqual([])
    serviceOf(emulator()).alerts = alerts
    expect((await drift()).outputs).toMatchObject({ state: 'unchanged', number: outputs.number })
  })

  it('the pull request of a drift removes no declarations of a kind that the service suddenly lacks', async () => {
    const inputs = { 'remove-deleted': true }
    raise()
    expect((await drift({ inputs })).outputs.state).toBe('opened')
    const before = filesAt(github().store, branch)[path]
    serviceOf(emulator()).alerts = []
    github().received.length = 0
    expect((await drift({ inputs })).outputs.state).toBe('skipped')
    expect(writes()).toEqual([])
    expect(filesAt(github().store, branch)[path]).toBe(before)
  })

  it('the pull request of a drift deletes its branch when it closes', async () => {
    raise()
    await drift()
    await apply()
    expect((await drift()).outputs.state).toBe('closed')
    expect(github().store.refs.has(branch)).toBe(false)
  })

  it('the pull request of a drift is not opened again for the same changes after a person closed it', async () => {
    raise()
    const first = await drift()
    for (const pull of openPulls()) pull.state = 'closed'
    github().received.length = 0
    expect((await drift()).outputs.state).toBe('declined')
    expect(writes()).toEqual([])
    raise(0.09)
    const second = await drift()
    expect(second.outputs.state).toBe('opened')
    expect(second.outputs.number).not.toBe(first.outputs.number)
  })

  it('the pull request of a drift is opened again after it was closed because the drift had ended', async () => {
    raise()
    await drift()
    await apply()
    await drift()
    raise()
    expect((await drift()).outputs.state).toBe('opened')
  })

  it('the pull request of a drift leaves a pull request of another account with the same marker alone', async () => {
    raise()
    await drift()
    for (const pull of openPulls()) Object.assign(pull, { user: otherUser, state: 'closed' })
    expect((await drift()).outputs.state).toBe('opened')
  })

  it('the pull request of a drift does not overwrite a push that happens at the same time', async () => {
    raise()
    await drift()
    raise(0.07)
    let theirs = ''
    const push = (store: GitHubServer['store']): void => {
      theirs = commitTo(store, { branch, files: { a: 'b' } })
    }
    github().addFault({ on: 'POST /repos/acme/shop/git/commits', effect: { kind: 'meanwhile', change: push } })
    const { jobs } = await drift()
    expect(jobs.drift?.result).toBe('failure')
    expect(github().store.refs.get(branch)).toBe(theirs)
  })
})

describe('nothing is written', () => {
  it.each(['queued', 'in_progress', 'waiting', 'pending', 'requested'])(
    'the pull request of a drift writes nothing while an apply is %s',
    async (status) => {
      const workflow = 'jobs: { a: { uses: watchkeeper/watchkeeper/.github/workflows/reusable-plan-and-apply.yml@v0 } }'
      commitTo(github().store, { branch: 'main', files: { '.github/workflows/observability.yml': workflow } })
      github().store.runs.push({ id: 5, path: '.github/workflows/observability.yml', event: 'push', status })
      raise()
      expect((await drift()).outputs).toMatchObject({ state: 'skipped', updated: '1' })
      expect(writes()).toEqual([])
    },
  )

  it('the pull request of a drift writes nothing while a called workflow may apply', async () => {
    commitTo(github().store, { branch: 'main', files: { '.github/workflows/shared.yml': 'steps: [{ with: { operation: apply } }]' } })
    const calls = ['acme/shop/.github/workflows/shared.yml@refs/heads/main']
    github().store.runs.push({ id: 5, path: '.github/workflows/release.yml', event: 'push', status: 'queued', calls })
    raise()
    expect((await drift()).outputs.state).toBe('skipped')
  })

  it.each([
    ['a plan of a pull request', { event: 'pull_request', path: '.github/workflows/apply.yml' }],
    ['an apply of another environment', { event: 'push', path: '.github/workflows/apply-staging.yml' }],
    ['a workflow that applies nothing', { event: 'push', path: '.github/workflows/test.yml' }],
  ])('the pull request of a drift does not wait for %s', async (_, run) => {
    github().store.runs.push({ id: 5, status: 'queued', ...run })
    raise()
    expect((await drift({ inputs: { 'apply-workflows': 'apply.yml' } })).outputs.state).toBe('opened')
  })

  it('the pull request of a drift is not touched by a run whose commit is not the newest of the default branch', async () => {
    raise()
    github().addFault({
      on: 'GET /repos/acme/shop/git/ref/',
      effect: { kind: 'meanwhile', change: (store) => void commitTo(store, { branch: 'main', files: { a: 'b' } }) },
    })
    expect((await drift()).outputs.state).toBe('skipped')
  })

  it('the pull request of a drift is not touched by a run on another branch, which fails', async () => {
    raise()
    const { jobs, outputs } = await drift({ ref: 'refs/heads/next' })
    expect(jobs.drift?.result).toBe('failure')
    expect(outputs.state).toBe('')
    expect(writes()).toEqual([])
  })

  it('the pull request of a drift writes nothing to a branch that has commits of others and no pull request', async () => {
    const theirs = commitTo(github().store, { branch, files: { a: 'b' } })
    raise()
    expect((await drift()).outputs.state).toBe('kept')
    expect(github().store.refs.get(branch)).toBe(theirs)
  })

  it('the pull request of a drift writes nothing to a branch with a commit that a person made with the account of the token', async () => {
    const theirs = commitTo(github().store, { branch, files: { a: 'b' }, author: bot })
    raise()
    expect((await drift()).outputs.state).toBe('kept')
    expect(github().store.refs.get(branch)).toBe(theirs)
  })

  it('the pull request of a drift writes nothing without the permission, and the run fails', async () => {
    github().store.may.contents = false
    raise()
    const { jobs } = await drift()
    expect(jobs.drift?.result).toBe('failure')
    expect(openPulls()).toEqual([])
  })
})

describe('the files of the pull request', () => {
  it('the pull request of a drift leaves out an object whose declaration changed since the last apply', async () => {
    raise()
    commitTo(github().store, { branch: 'main', files: { [path]: starter.replace('numConsecutiveWindows: 2', 'numConsecutiveWindows: 3') } })
    expect((await drift()).outputs).toMatchObject({ state: 'none', updated: '0' })
  })

  it('the pull request of a drift keeps the value of a variable', async () => {
    alertNamed('many errors').threshold = 30
    raise()
    expect((await drift()).outputs).toMatchObject({ state: 'opened', updated: '1', 'left-out': '1' })
    expect(filesAt(github().store, branch)[path]).toBe(starter.replace('threshold: 0.02', 'threshold: 0.05'))
    const body = openPulls()[0]?.body ?? ''
    expect(body).toContain('change the variable where the workflow sets it')
    // Markdown makes one list of two that follow each other.
    expect(body).toMatch(/^- alert `errors`: .*\n\nWhat to do:\n\n- To keep the changes/m)
  })

  it('the pull request of a drift has no silence', async () => {
    const end = new Date(Math.ceil(Date.now() / 900_000) * 900_000 + 86_400_000).toISOString()
    for (const alert of serviceOf(emulator()).alerts) alert.scheduleStartAt = end
    expect((await drift()).outputs.state).toBe('none')
    raise()
    await drift()
    expect(filesAt(github().store, branch)[path]).toBe(starter.replace('threshold: 0.02', 'threshold: 0.05'))
  })

  it('the pull request of a drift keeps an object that was deleted in the service', async () => {
    deleteAlert('checkout: slow')
    const { outputs } = await drift()
    expect([outputs.state, outputs.updated]).toEqual(['none', '0'])
  })

  it('the pull request of a drift removes an object that was deleted in the service, with remove-deleted', async () => {
    deleteAlert('checkout: slow')
    expect((await drift({ inputs: { 'remove-deleted': true } })).outputs.state).toBe('opened')
    const { slow, ...others } = parse(starter).alerts
    expect(slow).toBeDefined()
    expect(parse(filesAt(github().store, branch)[path] ?? '').alerts).toEqual(others)
    expect(openPulls()[0]?.body).toContain('They were deleted there, or were never applied')
  })

  it('the pull request of a drift has no secret of the run', async () => {
    alertNamed('requests fail').message = `see ${demo.apiKeySecret}`
    const { jobs } = await drift()
    expect(jobs.drift?.result).toBe('failure')
    expect(JSON.stringify([...github().store.commits.values(), ...openPulls()])).not.toContain(demo.apiKeySecret)
  })
})

describe('for an environment', () => {
  const environment = 'environments/staging.yml'

  it('an environment has a drift branch of its own, and never removes declarations', async () => {
    const ids = `organization-id: ${demo.organizationId}\nservice-id: ${demo.services.checkout}\n`
    commitTo(github().store, { branch: 'main', files: { [environment]: ids } })
    const inputs = { env: 'staging', 'organization-id': '', 'service-id': '' }
    raise()
    expect((await drift({ inputs })).outputs.state).toBe('opened')
    expect(openPulls()[0]).toMatchObject({ branch: 'watchkeeper/drift-staging', title: 'Keep 1 change made in the service in staging' })
    const { jobs } = await drift({ inputs: { ...inputs, 'remove-deleted': true } })
    expect(jobs.drift?.result).toBe('failure')
  })

  it('two services without an environment do not share a pull request', async () => {
    raise()
    await drift()
    const { jobs } = await drift({ inputs: { 'service-id': demo.services.catalog } })
    expect(jobs.drift?.result).toBe('failure')
    expect(jobs.drift?.reasons).toEqual([expect.stringContaining('is about another service')])
    expect(openPulls()).toHaveLength(1)
  })
})

it('the pull request of a drift works with a self-hosted server', async () => {
  await apply({ isSelfHosted: true })
  const alert = [...serviceOf(selfHosted()).alerts].find(({ name }) => String(name).endsWith('requests fail'))
  Object.assign(alert ?? {}, { threshold: 0.05 })
  expect((await drift({ isSelfHosted: true })).outputs.state).toBe('opened')
  expect(thresholdIn(filesAt(github().store, branch)[path])).toBe(0.05)
})
