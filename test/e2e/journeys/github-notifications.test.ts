import type { ChildProcess } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { addDays } from '../../../src/core/dates.ts'
import { startEmulator } from '../../../src/emulator/index.ts'
import { hostile } from '../../support/corpus.ts'
import { asOptions, fillUsage, inputsFor, secrets, serviceOf, useEmulator } from '../../support/emulator.ts'
import { otherComments, token, useGitHub } from '../../support/github-server.ts'
import { type GitHubStepOptions, pullRequestEvent, runGitHubStep } from '../../support/notify.ts'
import { kindsIn, unexpectedHtml } from '../../support/output-oracle.ts'
import { commandsOf, expectNoSecret, type RanAction, runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })
const github = useGitHub()

const gate = (inputs: Readonly<Record<string, string>>, more: Omit<GitHubStepOptions, 'inputs'> = {}): Promise<RanAction> =>
  runGitHubStep(github(), {
    inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-7-days', ...inputs },
    secrets,
    ...more,
  })

const comments = () => github().store.comments
const issues = () => github().store.issues

afterEach(() => {
  // No secret is in anything that was sent.
  expectNoSecret(JSON.stringify(github().received.map(({ call, body }) => [call, body])), [token, ...secrets])
})

/** The runs of a test may start in different minutes. */
const withoutTime = (summary: string): string => summary.replace(/ \d\d:\d\d UTC\n$/, '')

describe('a failing cost gate on a pull request', () => {
  const both = { comment: 'always', issue: 'on-failure', 'comment-label': 'cost' }

  it('leaves one comment and one issue when it runs twice, and reports recovery', async () => {
    for (const _ of [1, 2]) {
      const failed = await gate({ ...both, budget: '0' })
      expect(failed.exitCode).toBe(1)
      expect(commandsOf(failed)).toEqual(['error'])
    }
    expect(comments()).toHaveLength(1)
    expect(comments()[0]?.body).toMatch(/### ❌ Budget exceeded: /)
    expect(issues()).toMatchObject([
      { title: expect.stringMatching(/^Cost fails: [\d.]+ of 0\.00 \w+$/), state: 'open', labels: ['watchkeeper'] },
    ])

    const passed = await gate({ ...both, budget: '100000' })
    expect(passed.exitCode).toBe(0)
    expect(commandsOf(passed)).toEqual([])
    expect(comments().map(({ on }) => on)).toEqual([12, 101])
    expect(comments()[0]?.body).toMatch(/### ✅ [\s\S]*<details><summary>Previous report<\/summary>\n\n### ❌/)
    expect(comments()[1]?.body).toMatch(/^The check passes again\.\n\n### ✅/)
    expect(issues()).toMatchObject([{ state: 'closed', stateReason: 'completed' }])
  })

  it('V4: a failing cost gate on a pull request has the same verdict, outputs and summary when GitHub refuses, and a notice that names what is missing', async () => {
    const inputs = { budget: '0', period: '2026-01-01..2026-01-03' }
    const quiet = await gate(inputs)
    github().store.may = { comments: false, issues: false, labels: false }
    const refused = await gate({ ...inputs, ...both })
    expect(refused.exitCode).toBe(quiet.exitCode)
    const verdict = ({ outputs }: RanAction) => ['status', 'failure-reason', 'grand-total-credits'].map((name) => outputs.get(name))
    expect(verdict(refused)).toEqual(verdict(quiet))
    expect(withoutTime(refused.summary)).toBe(withoutTime(quiet.summary))
    expect(commandsOf(refused)).toEqual(['error', 'notice'])
    expect(refused.stdout).toContain('Give the job `permissions: pull-requests: write`.')
    expect(refused.stdout).toContain('Give the job `permissions: issues: write`.')
  })

  it('writes nothing to GitHub in a read-only run, not even about its refusal', async () => {
    const before = github().received.length
    const refused = await gate({ ...both, budget: '0' }, { env: { WATCHKEEPER_READ_ONLY: 'true' } })
    expect(refused.exitCode).toBe(1)
    expect(refused.outputs.get('failure-reason')).toContain('comment: writes comments, but read-only is set')
    expect([github().received.length, emulator().requests.length]).toEqual([before, 0])
  })

  it('a failing cost gate on a pull request on a fork, with a token that can only read or none at all, loses nothing but the comment', async () => {
    github().store.may.comments = false
    const event = pullRequestEvent(12, 'mallory/shop')
    for (const [more, words] of [
      [{}, 'The token of a pull request from a fork can only read.'],
      [{ 'github-token': '' }, 'comment: not written, because github-token is not set.'],
    ] as const) {
      const ran = await gate({ comment: 'always', budget: '100000', ...more }, { event })
      expect(ran.exitCode).toBe(0)
      expect(ran.outputs.get('status')).toBe('pass')
      expect(commandsOf(ran)).toEqual(['notice'])
      expect(ran.stdout).toContain(words)
    }
  })

  it('asks GitHub nothing when neither is wanted', async () => {
    await gate({ budget: '0' })
    expect(github().received).toEqual([])
  })

  it('finds its comment in a thread of seven pages', async () => {
    await gate({ ...both, issue: 'off', budget: '0' })
    github().store.comments = [...otherComments(640), ...comments()]
    await gate({ ...both, issue: 'off', budget: '100000' })
    expect(comments()).toHaveLength(641)
    expect(comments().at(-1)?.body).toContain('### ✅')
  })
})

describe('two jobs', () => {
  it('two jobs with labels of their own do not overwrite each other', async () => {
    await Promise.all([
      gate({ comment: 'always', 'comment-label': 'a', budget: '0' }),
      gate({ comment: 'always', 'comment-label': 'b', budget: '100000' }),
    ])
    await gate({ comment: 'always', 'comment-label': 'a', budget: '100000' })
    expect(comments()).toHaveLength(2)
  })

  it('two jobs of a matrix have labels of their own by what they look at', async () => {
    const services = ['c0ffee00-0000-4000-8000-0000000000c1', 'c0ffee00-0000-4000-8000-0000000000c2']
    for (const service of services) {
      await runGitHubStep(github(), {
        inputs: { ...inputsFor(emulator()), operation: 'list-sources', 'service-id': service, comment: 'always' },
      })
    }
    expect(comments()).toHaveLength(2)
  })

  it('two jobs on two self-hosted servers have labels of their own', async () => {
    const servers = [await startEmulator({ dialect: 'hyperdx' }), await startEmulator({ dialect: 'hyperdx' })]
    try {
      const inputs = { operation: 'list-sources', comment: 'always' }
      // A wrong input changes nothing about the label.
      for (const more of [{}, { kind: 'nonsense' }])
        for (const server of servers)
          await runGitHubStep(github(), { inputs: { ...inputsFor(server, 'hyperdx'), ...inputs, ...more }, secrets })
      expect(comments()).toHaveLength(2)
      for (const [i, comment] of comments().entries()) expect(comment.body).toContain(encodeURIComponent(servers[i]?.url ?? ''))
    } finally {
      await Promise.all(servers.map((server) => server.close()))
    }
  })

  it('two jobs are not written while a file or a variable has a wrong id, which would be part of their label', async () => {
    const { 'service-id': _, ...inputs } = inputsFor(emulator())
    const wrong = { operation: 'list-sources', comment: 'always', ...inputs }
    const ofFile = await runGitHubStep(github(), { inputs: wrong, files: { '.watchkeeper.yml': 'service-id: nope\n' }, secrets })
    const ofVariable = await runGitHubStep(github(), { inputs: wrong, env: { WATCHKEEPER_SERVICE_ID: 'nope' }, secrets })
    for (const ran of [ofFile, ofVariable])
      expect(ran.stdout).toContain('comment: not written, because the label depends on an input that is not valid')
    expect(comments()).toEqual([])
  })

  it('two jobs of a matrix of environments have labels of their own, and none under a wrong environment', async () => {
    const files = {
      'observability/a.yml': 'alerts: {}',
      'environments/staging.yml': 'variables: { A: b }',
      'environments/production.yml': 'variables: { A: c }',
      'environments/broken.yml': 'api-url: https://api.example',
    }
    const inputs = { operation: 'validate', profile: 'clickhouse-cloud', comment: 'always' }
    for (const env of ['staging', 'production', 'staging']) await runGitHubStep(github(), { inputs: { ...inputs, env }, files })
    expect(comments()).toHaveLength(2)
    for (const env of ['broken', 'unknown', '../x']) {
      const ran = await runGitHubStep(github(), { inputs: { ...inputs, env }, files })
      expect(ran.exitCode).toBe(1)
      expect(ran.stdout).toContain('comment: not written, because the label depends on an input that is not valid')
    }
    expect(comments()).toHaveLength(2)
  })
})

it('a github-token that is rejected is called not valid', async () => {
  const inputs = { ...inputsFor(emulator()), operation: 'list-sources', comment: 'always', 'github-token': 'short' }
  const ran = await runGitHubStep(github(), { inputs, secrets })
  expect(ran.stdout).toContain('comment: not written, because github-token is not valid.')
  expect(comments()).toEqual([])
})

describe('a run that did not complete', () => {
  it('a run that did not complete updates the issue, and does not close it', async () => {
    await gate({ issue: 'on-failure', budget: '0' })
    const ran = await gate({ issue: 'on-failure', budget: 'lots' })
    expect(ran.exitCode).toBe(1)
    expect(issues()).toHaveLength(1)
    expect(issues()[0]).toMatchObject({ state: 'open' })
    expect(issues()[0]?.body).toContain('### 🛑 `usage-cost` did not complete')
  })

  it('a run that did not complete writes nothing under a label that would never be updated', async () => {
    const inputs = { operation: 'list-sources', 'service-id': 'nonsense', comment: 'always', issue: 'on-failure' }
    const ran = await gate(inputs)
    expect(commandsOf(ran)).toEqual(['error', 'notice'])
    expect(github().received).toEqual([])
    await gate({ ...inputs, 'comment-label': 'sources' })
    expect(comments()).toHaveLength(1)
  })

  it('a run that did not complete writes nothing under the label of a self-hosted server whose address is wrong, nor of one with a password in it', async () => {
    const inputs = { ...inputsFor(emulator(), 'hyperdx'), operation: 'list-sources', comment: 'always', issue: 'on-failure' }
    const password = 'hunter2-hunter2'
    const url = `https://user:${password}@hyperdx.example`
    const ran = await runGitHubStep(github(), { inputs: { ...inputs, 'api-url': url }, secrets: [password] })
    expect(commandsOf(ran)).toEqual(['error', 'notice'])
    expect(github().received).toEqual([])
    // The file is checked without an address.
    const validate = { ...inputs, operation: 'validate', 'api-url': url }
    await runGitHubStep(github(), { inputs: validate, files: { 'observability/a.yml': 'alerts: {}' }, secrets: [password] })
    expect(JSON.stringify(github().received)).not.toContain('hunter2')
  })
})

describe('untrusted text stays text', () => {
  it('keeps hostile names as text in a comment that lists all of them', async () => {
    const service = emulator().store.organizations[0]?.services[0]
    const [dashboard] = service?.dashboards ?? []
    if (service === undefined || dashboard === undefined) throw new Error('the shop has changed')
    const values = hostile.filter(({ id }) => !id.startsWith('size')).map(({ value }) => value.toWellFormed())
    service.dashboards = values.map((name, i) => ({ ...dashboard, id: i.toString(16).padStart(24, '0'), name, tags: [name] }))
    const ran = await runGitHubStep(github(), { inputs: { ...inputsFor(emulator()), operation: 'list-dashboards', comment: 'always' } })
    expect(commandsOf(ran)).toEqual([])
    const body = comments()[0]?.body ?? ''
    expect(body.length).toBeLessThanOrEqual(65_536)
    expect(
      [...kindsIn(body)].filter((kind) => ['link', 'linkReference', 'image', 'imageReference', 'footnoteReference'].includes(kind)),
    ).toEqual(['link'])
    expect(unexpectedHtml(body).filter((html) => !html.startsWith('<!-- watchkeeper '))).toEqual([])
  })

  it('untrusted text from GitHub starts no command', async () => {
    const message = 'no\n::error::x ##[add-mask]e'
    for (const on of ['GET', 'POST /repos']) {
      github().addFault({ on, effect: { kind: 'answer', status: 422, headers: { deprecation: '##[error]x' }, body: { message } } })
      const ran = await gate({ comment: 'always', budget: '100000' })
      expect(commandsOf(ran)).toEqual(['notice'])
    }
  })
})

it('the token is masked before anything is printed', async () => {
  const ran = await gate({ comment: 'always', budget: '100000' })
  const lines = ran.stdout.split('\n')
  expect(lines.indexOf(`::add-mask::${token}`)).toBeLessThan(lines.findIndex((line) => !line.startsWith('::add-mask::')))
  expect(lines).toContain(`::add-mask::${token}`)
})

it('folds the notes about GitHub in the log', async () => {
  github().addFault({ on: 'GET', effect: { kind: 'answer', status: 502 } })
  const ran = await gate({ comment: 'always', budget: '100000' })
  expect(ran.stdout).toMatch(/\n::group::GitHub\nTrying again in .*\ncomment: created on #12\n::endgroup::\n/)
})

describe('a signal while GitHub hangs', () => {
  it.each([
    ['a question', 'SIGINT', 'GET /repos', 3500],
    ['a new comment', 'SIGTERM', 'POST /repos', 6000],
  ] as const)(
    'a signal while GitHub hangs over %s ends the run in time, with everything else written: %s',
    async (_, signal, on, withinMs) => {
      github().addFault({ on, times: 9, effect: { kind: 'hang' } })
      let signalled = 0
      const onStart = (child: ChildProcess): void => {
        const timer = setInterval(() => {
          if (!github().calls().at(-1)?.startsWith(on)) return
          clearInterval(timer)
          signalled = performance.now()
          child.kill(signal)
        }, 10)
      }
      const ran = await gate({ comment: 'always', budget: '0' }, { onStart })
      expect(performance.now() - signalled).toBeLessThan(withinMs)
      expect(ran.exitCode).toBe(130)
      expect(ran.outputs.get('status')).toBe('fail')
      expect(ran.summary).toContain('### ❌')
      expect(ran.result).toMatchObject({ status: 'fail' })
      expect(commandsOf(ran)).toEqual(['error'])
      expect(
        github()
          .calls()
          .filter((call) => call.startsWith(on)),
      ).toHaveLength(1)
    },
  )
})

it('writes nothing and sends no message when the run was canceled before it ended', async () => {
  emulator().addFault({ effect: { kind: 'delay', ms: 500 } })
  const ran = await gate(
    // Nothing listens there: an attempt would be a warning.
    { comment: 'always', issue: 'on-failure', budget: '0', 'notify-url': 'https://127.0.0.1:9/services/none' },
    {
      onStart: (child) => {
        const timer = setInterval(() => {
          if (emulator().requests.length === 0) return
          clearInterval(timer)
          child.kill('SIGTERM')
        }, 10)
      },
    },
  )
  expect(ran.exitCode).toBe(130)
  expect(commandsOf(ran)).toEqual(['error'])
  expect(github().received).toEqual([])
})

it('the command line says that it writes neither', async () => {
  const { flags, variables } = asOptions({ ...inputsFor(emulator()), comment: 'always' })
  const ran = await runCli(['list-sources', ...flags], {
    ...variables,
    WATCHKEEPER_ISSUE: 'on-failure',
    GITHUB_TOKEN: token,
    GITHUB_API_URL: github().url,
  })
  expect(ran.exitCode).toBe(0)
  expect(ran.stderr).toBe('warning: comment and issue: ignored, because the command line writes comments and issues only in GitLab CI\n')
  expect(github().received).toEqual([])
})

it('comments on a plan that only adopts existing objects', async () => {
  const theirs = {
    name: 'Checkout errors',
    adopt: true,
    dashboard: { name: 'Checkout overview' },
    tile: 'Error rate',
    threshold: 0.02,
    interval: '5m',
    channel: { type: 'webhook', webhookId: serviceOf(emulator()).webhooks.find(({ name }) => name === 'oncall')?.id },
    message: 'More than 2% of checkouts fail',
  }
  const planned = await runGitHubStep(github(), {
    inputs: { ...inputsFor(emulator()), operation: 'plan', project: 'shop/main', files: 'a.json', comment: 'changes' },
    secrets,
    files: { 'a.json': JSON.stringify({ alerts: { errors: theirs } }) },
  })
  expect(planned.outputs.get('changed')).toBe('false')
  expect(comments()).toHaveLength(1)
  expect(comments()[0]?.body).toContain('No changes: everything matches the files, and apply adopts 1 object')
})

describe('the deployments of the days of a spike', () => {
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

  const explain = async (inputs: Readonly<Record<string, string>> = {}): Promise<RanAction> =>
    runGitHubStep(github(), {
      inputs: {
        ...inputsFor(cloud(), 'clickhouse-cloud'),
        operation: 'usage-cost',
        period: 'last-10-days',
        budget: '500',
        ...inputs,
      },
      secrets,
    })
  const today = () => {
    const compute = (ago: number): number => (ago === 5 ? 90_000_000 : 10_000_000)
    return fillUsage(cloud(), 60, [{ name: 'checkout', microOn: (ago) => ({ compute: compute(ago) }), locked: true }])
  }
  const spikeDeployments = ({ outputs }: RanAction) => JSON.parse(outputs.get('result') ?? '{}').spikeDeployments

  it('the deployments of the days of a spike are listed, with those of the day before, and none of another day', async () => {
    const day = (ago: number, time: string): string => `${addDays(today(), -ago)}T${time}Z`
    github().store.deployments = [
      ...Array.from({ length: 150 }, (_, i) => ({
        at: day(1, `10:00:${String(i % 60).padStart(2, '0')}`),
        environment: 'test',
        ref: 'main',
      })),
      { at: day(4, '00:00:00'), environment: 'production', ref: 'late' },
      { at: day(5, '23:59:59'), environment: 'production', ref: 'v2' },
      { at: day(6, '00:00:00'), environment: '<img src=x>|prod', ref: 'v1' },
      { at: day(7, '23:59:59'), environment: 'production', ref: 'early' },
      ...Array.from({ length: 200 }, () => ({ at: day(30, '10:00:00'), environment: 'test', ref: 'old' })),
    ]
    const ran = await explain()
    expect(ran.exitCode).toBe(0)
    expect(spikeDeployments(ran)).toMatchObject([
      { spike: addDays(today(), -5), at: day(6, '00:00:00').replace('Z', '.000Z'), ref: 'v1' },
      {
        at: day(5, '23:59:59').replace('Z', '.000Z'),
        environment: 'production',
        ref: 'v2',
        commit: expect.stringMatching(/^[0-9a-f]{7}$/),
      },
    ])
    expect(ran.summary).toContain('Deployments on the day of a spike or the day before')
    expect(ran.summary).toContain('They need not be the cause.')
    expect(ran.summary).not.toContain('<img')
    // The third page would have nothing but older ones.
    expect(github().calls()).toEqual([1, 2].map((page) => `GET /repos/acme/shop/deployments?page=${page}&per_page=100`))
  })

  it('are left out without a token, or where it may not read them, and the verdict stays', async () => {
    today()
    github().store.may.deployments = false
    for (const inputs of [{}, { 'github-token': '' }]) {
      const ran = await explain(inputs)
      expect([ran.exitCode, ran.outputs.get('status'), spikeDeployments(ran)]).toEqual([0, 'pass', undefined])
    }
  })

  it('asks GitHub for no deployments without a spike', async () => {
    fillUsage(cloud(), 60, [{ name: 'checkout', microOn: () => ({ compute: 10_000_000 }), locked: true }])
    await explain()
    expect(github().received).toEqual([])
  })
})
