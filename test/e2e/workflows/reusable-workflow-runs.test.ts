// What somebody gets who calls a reusable workflow: every condition of it evaluated, every step of it run.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type Call, type Called, callWorkflow, profilesOf, reusable } from '../../support/run-workflow.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

const secrets = { 'api-key-id': demo.apiKeyId, 'api-key-secret': demo.apiKeySecret }

const sqlSecrets = { 'sql-key-id': demo.apiKeyId, 'sql-key-secret': demo.apiKeySecret }

const onMain = {
  event_name: 'push',
  ref: 'refs/heads/main',
  repository: 'shop/infra',
  workflow: 'observability',
  event: { repository: { default_branch: 'main' } },
}

/** An alert with an incident and its recording. */
const withIncident = (threshold = 15): Readonly<Record<string, string>> => ({
  'observability/checkout.yml': read('examples/incidents/checkout.yml').replace('threshold: 15', `threshold: ${threshold}`),
  'recordings/payments-down/checkout-errors.json': read('examples/incidents/recordings/payments-down/checkout-errors.json'),
})

const call = (name: string, { inputs = {}, ...more }: Partial<Call> = {}): Promise<Called> =>
  callWorkflow(name, {
    inputs: { 'organization-id': demo.organizationId, ...inputs },
    secrets,
    env: { WATCHKEEPER_API_URL: emulator().url },
    github: onMain,
    ...more,
  })

describe('with each profile of its operations', () => {
  const servers = {
    'clickhouse-cloud': emulator,
    hyperdx: useEmulator({ dialect: 'hyperdx', rateLimit: 'off' }),
  }
  const files = {
    'observability/a.yml':
      'dashboards: { notes: { name: Notes, tiles: [{ name: A, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: x } }] } }',
  }
  const runs: Readonly<Record<string, Partial<Call> & { readonly outputs: object }>> = {
    'cost-gate': { inputs: { period: 'last-30-days', budget: '500' }, outputs: { status: 'pass' } },
    backups: { inputs: { services: demo.services.checkout }, outputs: { status: 'pass' } },
    drift: { files, outputs: { status: 'fail' } },
    'plan-and-apply': { files, outputs: { status: 'pass', applied: 'true' } },
    replay: { files: withIncident(), outputs: { status: 'pass' } },
  }
  // The pull request of a drift needs a GitHub: see drift-pull-request.test.ts.
  const others = [...reusable.keys()].filter((name) => name !== 'drift-pull-request')
  const claims = others.flatMap((name) => profilesOf(name).map((profile) => [name, profile] as const))

  it.each(claims)('the workflow %s runs with the profile %s', async (name, profile) => {
    const { inputs, outputs, ...more } = runs[name] ?? { outputs: {} }
    const isSelfHosted = profile === 'hyperdx'
    const { url } = servers[profile]()
    const ids = { 'organization-id': demo.organizationId, 'service-id': demo.services.checkout }
    const called = await callWorkflow(name, {
      inputs: { ...(isSelfHosted ? { 'api-url': url } : ids), ...inputs },
      secrets: isSelfHosted ? { 'api-key': demo.apiKeySecret } : { ...secrets, ...sqlSecrets },
      ...(!isSelfHosted && { env: { WATCHKEEPER_API_URL: url, WATCHKEEPER_SQL_URL: url } }),
      github: onMain,
      ...more,
    })
    expect(called.outputs).toMatchObject(outputs)
    expect(servers[profile]().requests.length).toBeGreaterThan(0)
  })
})

it.each(['drift', 'plan-and-apply'])('runs of %s for two self-hosted servers do not wait for each other', async (name) => {
  const called = await Promise.all(['http://127.0.0.1:1', 'http://127.0.0.1:2'].map((url) => call(name, { inputs: { 'api-url': url } })))
  expect(new Set(called.map(({ group }) => group)).size).toBe(2)
})

describe('the cost gate', () => {
  it('the cost gate passes within the budget', async () => {
    const { jobs, outputs } = await call('cost-gate', { inputs: { period: 'last-30-days', budget: '500' } })
    expect([jobs.cost?.result, outputs]).toEqual(['success', { status: 'pass', 'failure-reason': '' }])
  })

  it('fails above it, and hands on why', async () => {
    const { jobs, outputs } = await call('cost-gate', { inputs: { period: 'last-30-days', budget: '1' } })
    expect([jobs.cost?.result, outputs]).toEqual([
      'failure',
      { status: 'fail', 'failure-reason': expect.stringContaining('Budget exceeded: ') },
    ])
  })

  it('the cost gate takes a file of budgets from the repository', async () => {
    const files = { 'cost/budgets.yml': read('examples/budgets.yml') }
    const { outputs } = await call('cost-gate', { inputs: { budgets: 'cost/budgets.yml' }, files })
    expect(outputs.status).toBe('pass')
  })

  it('the cost gate is not green without a limit', async () => {
    const { jobs, outputs } = await call('cost-gate')
    expect([jobs.cost?.result, outputs.status]).toEqual(['failure', 'fail'])
    expect(outputs['failure-reason']).toMatch(/^No budget is set: nothing was checked\./)
  })
})

describe('the backups', () => {
  it.each([
    ['the fresh one', [demo.services.checkout], 'success', 'pass'],
    ['all of them', Object.values(demo.services), 'failure', 'fail'],
    ['none, which is a mistake', [], 'failure', 'error'],
  ])('the backups are judged: %s', async (_, services, result, status) => {
    const { jobs, outputs } = await call('backups', { inputs: { services: services.join('\n') } })
    expect([jobs.backups?.result, outputs.status]).toEqual([result, status])
  })
})

const declared = { 'observability/service.yml': read('examples/starter/service.yml') }

const asCode = {
  'service-id': demo.services.checkout,
  variables: 'SERVICE=checkout\nWEBHOOK=oncall\n\nERRORS_PER_FIVE_MINUTES=20\n',
} as const

const planAndApply = ({ inputs = {}, ...more }: Partial<Call> = {}): Promise<Called> =>
  call('plan-and-apply', { inputs: { ...asCode, ...inputs }, files: declared, ...more })

const writes = (): readonly string[] =>
  emulator()
    .requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/validate'))
    .map(({ method }) => method)

describe('plan and apply', () => {
  const pullRequest = (head: string) => ({
    ...onMain,
    event_name: 'pull_request',
    ref: 'refs/pull/7/merge',
    event: { ...onMain.event, pull_request: { head: { repo: { full_name: head } } } },
  })

  it.each<[string, object, string | undefined, boolean]>([
    ['a pull request', pullRequest('shop/infra'), undefined, false],
    ['a push to the default branch', onMain, undefined, true],
    ['a push to another branch', { ...onMain, ref: 'refs/heads/next' }, undefined, false],
    ['a start by hand on the default branch', { ...onMain, event_name: 'workflow_dispatch' }, undefined, true],
    ['a start by hand elsewhere', { ...onMain, event_name: 'workflow_dispatch', ref: 'refs/heads/next' }, undefined, false],
    ['a tag called like the branch', { ...onMain, ref: 'refs/tags/main' }, undefined, false],
    ['a schedule, whose event is bare', { ...onMain, event_name: 'schedule', event: {} }, undefined, false],
    ['a merge queue', { ...onMain, event_name: 'merge_group', ref: 'refs/heads/gh-readonly-queue/main/x' }, undefined, false],
    [
      'a stranger with the rights of the repository',
      { ...pullRequest('eve/infra'), event_name: 'pull_request_target', ref: onMain.ref },
      undefined,
      false,
    ],
    ['a push, where nothing is ever applied', onMain, 'plan', false],
    ['a tag, where everything is', { ...onMain, ref: 'refs/tags/v1' }, 'apply', true],
    ['a schedule, where everything is', { ...onMain, event_name: 'schedule', event: {} }, 'apply', true],
  ])('plans, and applies only where allowed, on %s', async (_, github, mode, isApplied) => {
    const { jobs, outputs, group, cancelsInProgress } = await planAndApply({
      github: { ...github },
      inputs: mode === undefined ? {} : { mode },
    })
    expect(jobs).toMatchObject({ plan: { result: 'success', operations: ['plan'] }, apply: { result: isApplied ? 'success' : 'skipped' } })
    expect(outputs).toMatchObject({ status: 'pass', applied: String(isApplied) })
    expect(writes().length > 0).toBe(isApplied)
    expect(group.includes('-apply-apply-')).toBe(isApplied)
    if (isApplied) expect(cancelsInProgress).toBe(false)
  })

  it('asks for no approval and writes nothing without changes', async () => {
    await planAndApply()
    const before = writes().length
    const { jobs, outputs } = await planAndApply()
    expect(jobs).toMatchObject({ plan: { result: 'success' }, apply: { result: 'skipped' } })
    expect([outputs.status, outputs.applied, writes().length]).toEqual(['pass', 'false', before])
  })

  it('marks objects that are as declared and only lack the ownership marker', async () => {
    const files = { 'observability/alerts.yml': read('examples/adopt/alerts.yml') }
    const { jobs, outputs } = await planAndApply({ files })
    expect(jobs.apply?.result).toBe('success')
    expect([outputs.status, writes()]).toEqual(['pass', ['PUT']])
  })

  it('checks the files of a fork, which gets no key', async () => {
    const github = pullRequest('eve/infra')
    const { jobs, outputs } = await planAndApply({ github, secrets: { 'api-key-id': '', 'api-key-secret': '' } })
    expect(jobs).toMatchObject({ plan: { result: 'success', operations: ['validate'] }, apply: { result: 'skipped' } })
    expect(outputs.status).toBe('pass')
    expect(methodsOf(emulator())).toEqual([])
  })

  it('applies what was shown, and nothing when the service has moved meanwhile', async () => {
    await planAndApply()
    const files = {
      'observability/service.yml': (declared['observability/service.yml'] ?? '').replace('threshold: 0.02', 'threshold: 0.03'),
    }
    const somebody = (): void => {
      for (const alert of serviceOf(emulator()).alerts) alert.threshold = 0.5
    }
    const before = writes().length
    const { jobs, outputs } = await planAndApply({ files, before: { apply: somebody } })
    expect(jobs.apply?.result).toBe('failure')
    expect(outputs).toMatchObject({
      status: 'error',
      applied: 'false',
      'failure-reason': expect.stringContaining('have changed since the plan was made'),
    })
    expect(writes().length).toBe(before)
  })

  it('fails on an unknown mode', async () => {
    const { jobs } = await planAndApply({ inputs: { mode: 'aply' } })
    expect(jobs).toMatchObject({ plan: { result: 'failure', operations: [] }, apply: { result: 'skipped' } })
  })

  it('fails when the files name a variable that is not set', async () => {
    const { jobs, outputs } = await planAndApply({ inputs: { variables: 'SERVICE=checkout' } })
    expect(jobs).toMatchObject({ plan: { result: 'failure' }, apply: { result: 'skipped' } })
    expect(outputs.status).toBe('fail')
  })

  it('plans of one pull request replace each other, and those of others do not wait', async () => {
    const called = await Promise.all(
      [7, 8].map((number) => planAndApply({ github: { ...pullRequest('shop/infra'), ref: `refs/pull/${number}/merge` } })),
    )
    expect(new Set(called.map(({ group }) => group)).size).toBe(2)
    expect(called.every(({ cancelsInProgress }) => cancelsInProgress)).toBe(true)
  })
})

describe('drift', () => {
  it('fails before the files were applied, and passes after', async () => {
    const before = await call('drift', { inputs: asCode, files: declared })
    expect([before.jobs.drift?.result, before.outputs.status]).toEqual(['failure', 'fail'])
    await planAndApply()
    const after = await call('drift', { inputs: asCode, files: declared })
    expect([after.jobs.drift?.result, after.outputs.status]).toEqual(['success', 'pass'])
  })
})

describe('the replay', () => {
  const server = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
  const tests = (key: string, { fork = false, threshold = 15 } = {}): Promise<Called> =>
    callWorkflow('replay', {
      inputs: { 'api-url': server().url },
      secrets: { 'api-key': key },
      github: {
        ...onMain,
        event_name: 'pull_request',
        ref: 'refs/pull/7/merge',
        event: { pull_request: { head: { repo: { full_name: fork ? 'someone/infra' : 'shop/infra' } } } },
      },
      files: withIncident(threshold),
    })
  const ran = ({ jobs }: Called) =>
    Object.fromEntries(Object.entries(jobs).map(([id, { result, operations }]) => [id, [result, ...operations]]))

  it('the replay needs no key, and then there is no backtest', async () => {
    const called = await tests('')
    expect(ran(called)).toEqual({ replay: ['success', 'replay'], backtest: ['success'] })
    expect(called.outputs.status).toBe('pass')
    expect(server().requests).toEqual([])
  })

  it('the replay runs for a pull request from a fork, whose files are not sent to the server', async () => {
    expect(ran(await tests(demo.apiKeySecret, { fork: true }))).toEqual({ replay: ['success', 'replay'], backtest: ['skipped'] })
    expect(server().requests).toEqual([])
  })

  it('the replay is followed by a backtest where a key is, also when an incident is missed', async () => {
    const called = await tests(demo.apiKeySecret, { threshold: 60 })
    expect(ran(called)).toEqual({ replay: ['failure', 'replay'], backtest: ['success', 'backtest'] })
    expect(called.outputs.status).toBe('fail')
    expect(called.outputs['failure-reason']).toContain('alert checkout-errors does not notify')
  })
})

describe('the secrets of webhooks', () => {
  const url = 'https://hooks.example.com/pager/only-in-the-secret'
  const declaredWebhook = {
    'observability/webhooks.yml':
      'webhooks: { pager: { name: pager, service: generic, urlFrom: WEBHOOK_PAGER_URL, headersFrom: { Authorization: WEBHOOK_PAGER_TOKEN } } }',
  }
  const given = { ...secrets, 'webhook-variables': `WEBHOOK_PAGER_URL=${url}\nWEBHOOK_PAGER_TOKEN=Bearer only-in-the-secret\n` }
  const stored = () => serviceOf(emulator()).webhooks.filter(({ name }) => name === 'pager')

  it('the secrets of webhooks reach plan, apply and drift, and no output has them', async () => {
    const applied = await planAndApply({ files: declaredWebhook, secrets: given })
    expect([applied.jobs.apply?.result, applied.outputs.applied]).toEqual(['success', 'true'])
    expect(stored()).toMatchObject([{ url, headers: { Authorization: 'Bearer only-in-the-secret' } }])
    const drifted = { ...given, 'webhook-variables': given['webhook-variables'].replace('/pager/', '/moved/') }
    const [same, moved] = [
      await call('drift', { inputs: asCode, files: declaredWebhook, secrets: given }),
      await call('drift', { inputs: asCode, files: declaredWebhook, secrets: drifted }),
    ]
    expect([same.outputs.status, moved.outputs.status]).toEqual(['pass', 'fail'])
    expect(JSON.stringify([applied, same, moved])).not.toContain('only-in-the-secret')
  })

  it('the secrets of webhooks are not compared on a pull request, and nothing is created without them', async () => {
    const github = {
      ...onMain,
      event_name: 'pull_request',
      ref: 'refs/pull/7/merge',
      event: { ...onMain.event, pull_request: { head: { repo: { full_name: 'shop/infra' } } } },
    }
    const planned = await planAndApply({ files: declaredWebhook, secrets: given, github })
    expect([planned.outputs.status, planned.jobs.plan?.outputs['needs-apply']]).toEqual(['pass', 'true'])
    const { jobs, outputs } = await planAndApply({ files: declaredWebhook })
    expect([jobs.plan?.result, jobs.apply?.result, outputs.status, outputs.applied]).toEqual(['success', 'failure', 'fail', 'false'])
    expect(stored()).toEqual([])
  })
})
