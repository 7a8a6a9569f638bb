// What a step of a workflow gives to the comment, the issue and the message. The other tests of this folder begin behind that.
import { describe, expect, it } from 'vitest'
import { addDays } from '../../../../src/platform/core/dates.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { fillUsage, inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { useGitHub } from '../../../support/github-server.ts'
import { type GitHubStepOptions, runGitHubStep } from '../../../support/notify.ts'
import { useReceiver } from '../../../support/receiver.ts'
import { commandsOf, type RanAction } from '../../../support/run-process.ts'

const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
const github = useGitHub()
const receiver = useReceiver()

const step = (inputs: Readonly<Record<string, string>>, more: Omit<GitHubStepOptions, 'inputs'> = {}): Promise<RanAction> =>
  runGitHubStep(github(), { ...more, inputs: { operation: 'list-sources', comment: 'always', ...inputs } })

const place = () => inputsFor(cloud(), 'clickhouse-cloud')
const comments = () => github().store.comments

describe('the label of a comment', () => {
  it('the label of a comment differs for each service, server and environment', { tags: 'slow' }, async () => {
    await step(place())
    await step({ ...place(), 'service-id': 'c0ffee00-0000-4000-8000-0000000000c2' })
    const server = inputsFor(selfHosted(), 'hyperdx')
    // A wrong input changes nothing about the label.
    for (const more of [{}, { kind: 'nonsense' }]) await step({ ...server, ...more })
    await step({ ...server, 'api-url': server['api-url']?.replace('127.0.0.1', 'localhost') ?? '' })
    const environment = 'variables: { A: b }'
    const files = { 'observability/a.yml': 'alerts: {}', 'environments/one.yml': environment, 'environments/two.yml': environment }
    for (const env of ['one', 'two', 'one']) await step({ operation: 'validate', profile: 'clickhouse-cloud', env }, { files })
    expect(comments()).toHaveLength(6)
  })

  it('no comment is written while an input is wrong that the label has in it, unless comment-label is set', async () => {
    const { 'service-id': _, ...without } = place()
    const files = { 'environments/broken.yml': 'api-url: https://api.example', 'observability/a.yml': 'alerts: {}' }
    const validate = { operation: 'validate', profile: 'clickhouse-cloud' }
    const password = 'hunter2-hunter2'
    const server = { ...inputsFor(selfHosted(), 'hyperdx'), 'api-url': `https://user:${password}@hyperdx.example` }
    for (const ran of [
      await step({ ...place(), 'service-id': 'nope' }),
      await step(without, { files: { '.watchkeeper.yml': 'service-id: nope\n' } }),
      await step(without, { env: { WATCHKEEPER_SERVICE_ID: 'nope' } }),
      await step({ ...validate, env: 'broken' }, { files }),
      await step({ ...validate, env: '../x' }, { files }),
      await step(server, { secrets: [password] }),
    ]) {
      // A wrong line of the config file has an annotation of its own.
      expect([...new Set(commandsOf(ran))]).toEqual(['error', 'notice'])
      expect(ran.stdout).toContain('comment: not written, because the label depends on an input that is not valid')
    }
    expect(github().received).toEqual([])
    await step({ ...place(), 'service-id': 'nope', 'comment-label': 'sources' })
    expect(comments()).toHaveLength(1)
    // The files are checked without an address, which is not in the label then.
    await step({ ...server, operation: 'validate' }, { files, secrets: [password] })
    expect(JSON.stringify(github().received)).not.toContain('hunter2')
  })
})

it('a step on a pull request from a fork, or with a wrong token, passes without a comment, and its notice says why', async () => {
  github().store.may.comments = false
  const event = { pull_request: { number: 12, head: { sha: 'a'.repeat(40), repo: { full_name: 'mallory/shop' } } } }
  for (const [ran, reason] of [
    [await step(place(), { event }), 'The token of a pull request from a fork can only read.'],
    [await step({ ...place(), 'github-token': '' }, { event }), 'comment: not written, because github-token is not set.'],
  ] as const) {
    expect([ran.exitCode, commandsOf(ran)]).toEqual([0, ['notice']])
    expect(ran.stdout).toContain(reason)
  }
  expect((await step({ ...place(), 'github-token': 'short' })).stdout).toContain('comment: not written, because github-token is not valid.')
})

it('an answer of GitHub with commands starts none', async () => {
  const body = { message: 'no\n::error::x ##[add-mask]e' }
  github().addFault({ on: 'POST /repos', effect: { kind: 'answer', status: 422, headers: { deprecation: '##[error]x' }, body } })
  expect(commandsOf(await step(place()))).toEqual(['notice'])
})

it('a run that did not complete updates the issue and does not close it', async () => {
  const gate = { operation: 'usage-cost', period: 'last-7-days', comment: 'off', issue: 'on-failure' }
  await step({ ...place(), ...gate, budget: '0' })
  await step({ ...place(), ...gate, budget: 'lots' })
  expect(github().store.issues).toMatchObject([{ state: 'open', body: expect.stringContaining('### 🛑 `usage-cost` did not complete') }])
})

it('the titles of the issue and the comment name the cause, without figures, and an empty secret by its name', async () => {
  const gate = { operation: 'usage-cost', period: 'last-7-days', comment: 'always', issue: 'on-failure' }
  const titleAfter = async (inputs: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) => {
    await step({ ...place(), ...gate, ...inputs }, { env })
    return github().store.issues.at(-1)?.title
  }
  expect(await titleAfter({ budget: '0' })).toBe('Cost gate: budget exceeded')
  expect(await titleAfter({ budget: 'lots' })).toMatch(/^Cost gate: budget [^\d:]*$/)
  const noSecret = { 'api-key-secret': '', period: 'nonsense' }
  expect(await titleAfter(noSecret)).toBe('Cost gate: api-key-secret is missing or empty')
  expect(await titleAfter({ ...noSecret, period: 'today' }, { WATCHKEEPER_API_KEY_SECRET: '' })).toBe(
    'Cost gate: WATCHKEEPER_API_KEY_SECRET is empty',
  )
  expect(comments().at(-1)?.body).toContain('did not complete: `WATCHKEEPER_API_KEY_SECRET` is empty')
  expect(github().store.issues).toHaveLength(1)
})

it('a run that did not complete has the command that runs it again where time or a missing value is the cause', async () => {
  const again = '`gh run rerun 4711 --repo github.example/acme/shop`'
  const bodyAfter = async (inputs: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) => {
    await step({ ...place(), 'comment-label': 'again', ...inputs }, { env })
    return comments().at(-1)?.body.split('<details>')[0] ?? ''
  }
  const wrongKey = await bodyAfter({ 'api-key-secret': 'another-secret-123' })
  expect(wrongKey).toMatch(
    /### 🛑 `list-sources` did not complete: the API answered 401: .*\n\nThe API key is .*\n\nThe API rejects the key .*\n\nRequest: /,
  )
  expect(wrongKey).not.toContain('gh run rerun')
  const empty = await bodyAfter({ 'api-key-secret': '' }, { WATCHKEEPER_API_KEY_SECRET: '' })
  // The run cannot know the names of the secrets, only those of the variables.
  const secrets = '`gh secret list --repo github.example/acme/shop`'
  expect(empty).toContain(
    `\nThe secret that the workflow gives \`WATCHKEEPER_API_KEY_SECRET\` is not set for this run. To see those of the repository: ${secrets}. Set what is missing, then run this again: ${again}\n`,
  )
  const { 'service-id': _, 'api-key-secret': __, 'api-key-id': ___, ...without } = place()
  const noKey = { WATCHKEEPER_API_KEY_ID: '', WATCHKEEPER_API_KEY_SECRET: '' }
  const bothOf = '`WATCHKEEPER_API_KEY_ID` and `WATCHKEEPER_API_KEY_SECRET`'
  const bodyWithout = async (env: Readonly<Record<string, string>>) => {
    await step({ ...without, 'comment-label': 'again' }, { env })
    return comments().at(-1)?.body.split('<details>')[0] ?? ''
  }
  expect(await bodyWithout({ ...noKey, WATCHKEEPER_SERVICE_ID: place()['service-id'] ?? '' })).toContain(
    `\nThe secrets that the workflow gives ${bothOf} are not set for this run.`,
  )
  expect(await bodyWithout({ ...noKey, WATCHKEEPER_SERVICE_ID: '' })).toContain(
    `\nThe secrets or variables that the workflow gives ${bothOf} and \`WATCHKEEPER_SERVICE_ID\` are not set for this run. To see those of the repository: ${secrets} and \`gh variable list `,
  )
  expect(await bodyAfter({ kind: 'nonsense' })).not.toContain('gh run')
  expect(await bodyAfter({})).not.toContain('gh run')
})

it('comment: changes writes a comment for a plan that only adopts objects', async () => {
  const [stored] = serviceOf(cloud()).savedSearches
  if (stored === undefined) throw new Error('the demo has no saved search')
  const { name, select, where, orderBy, tags } = stored
  const savedSearches = { mine: { name, adopt: true, source: 'Logs', select, where, orderBy, tags } }
  const ran = await step(
    { ...place(), operation: 'plan', project: 'shop/main', files: 'a.json', comment: 'changes' },
    { files: { 'a.json': JSON.stringify({ savedSearches }) } },
  )
  expect(ran.result).toMatchObject({ toAdopt: 1 })
  expect(comments()).toHaveLength(1)
})

it('the comment about a merge keeps what an apply wrote when it is run again and has nothing to do', async () => {
  const merge = 'b'.repeat(40)
  github().store.pulls = [{ number: 12, state: 'closed', commits: ['a'.repeat(40)], mergeCommit: merge }]
  const files = { 'a.json': JSON.stringify({ savedSearches: { mine: { name: 'Mine', source: 'Logs', select: 'Body' } } }) }
  const env = { GITHUB_SHA: merge, GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main' }
  const apply = async () =>
    (await step({ ...place(), operation: 'apply', project: 'shop/main', files: 'a.json' }, { files, env, event: {} })).result
  expect([await apply(), await apply()]).toMatchObject([{ changed: true }, { changed: false }])
  expect(comments()).toMatchObject([{ body: expect.not.stringContaining('Nothing to do') }])
})

describe('deployments', () => {
  const explain = (inputs: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}) =>
    step({ ...place(), operation: 'usage-cost', comment: 'off', period: 'last-10-days', budget: '500', ...inputs }, { env })
  const fill = (onSpike: number) =>
    fillUsage(cloud(), 60, [{ name: 'checkout', microOn: (ago) => ({ compute: (ago === 5 ? onSpike : 10) * 1_000_000 }), locked: true }])
  const deploymentsIn = ({ result }: RanAction) => result?.spikeDeployments

  it('deployments of the day of a spike and the day before are listed, and older pages are not read', async () => {
    const today = fill(90)
    const day = (ago: number, time: string): string => `${addDays(today, -ago)}T${time}Z`
    const at = (ago: number, time: string, ref: string) => ({ at: day(ago, time), environment: '<img src=x>|prod', ref })
    github().store.deployments = [
      ...Array.from({ length: 150 }, (_, i) => at(1, `10:00:${String(i % 60).padStart(2, '0')}`, 'main')),
      ...[at(4, '00:00:00', 'late'), at(5, '23:59:59', 'v2'), at(6, '00:00:00', 'v1'), at(7, '23:59:59', 'early')],
      ...Array.from({ length: 200 }, () => at(30, '10:00:00', 'old')),
    ]
    const ran = await explain()
    expect(deploymentsIn(ran)).toMatchObject([
      { spike: addDays(today, -5), at: day(6, '00:00:00').replace('Z', '.000Z'), ref: 'v1' },
      { ref: 'v2', commit: expect.stringMatching(/^[0-9a-f]{7}$/) },
    ])
    expect(ran.summary).toContain('Deployments of this repository on the day of a spike or the day before')
    expect(ran.summary).not.toContain('<img')
    expect(github().calls()).toEqual([1, 2].map((page) => `GET /repos/acme/shop/deployments?page=${page}&per_page=100`))
  })

  it('R4: deployments are asked for until the deadline of the run', { tags: 'slow' }, async () => {
    fill(90)
    github().addFault({ on: 'GET /repos/acme/shop/deployments', times: 9, effect: { kind: 'hang' } })
    const ran = await explain({}, { WATCHKEEPER_TIMEOUT_SECONDS: '1' })
    expect([ran.exitCode, ran.outputs.get('status'), deploymentsIn(ran)]).toEqual([0, 'pass', undefined])
    expect([...new Set(github().calls())]).toEqual(['GET /repos/acme/shop/deployments?page=1&per_page=100'])
  })

  it('deployments are left out where the token may not read them, and not asked for without a spike', async () => {
    fill(90)
    github().store.may.deployments = false
    const reasons: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{}, 'GitHub answered 403: Resource not accessible by integration. Grant the job deployments: read'],
      [{ 'github-token': '' }, 'github-token is not set'],
    ]
    for (const [inputs, reason] of reasons) {
      const ran = await explain(inputs)
      expect([ran.exitCode, ran.outputs.get('status'), deploymentsIn(ran)]).toEqual([0, 'pass', undefined])
      expect(ran.stdout).toContain(`Deployments are not read: ${reason}\n`)
    }
    const before = github().received.length
    fill(10)
    await explain()
    expect(github().received).toHaveLength(before)
  })
})

it('a message of an unknown operation has its name as text', async () => {
  await step({ ...place(), comment: 'off', 'notify-url': receiver().url, operation: '<!here>' })
  expect(receiver().messages.map(({ json }) => String(json.text).split('\n').slice(0, 3))).toEqual([
    [
      expect.stringMatching(/^🛑 `&lt;!here&gt;`: did not complete\. .*unknown operation "`&lt;!here&gt;`"/),
      expect.any(String),
      expect.any(String),
    ],
  ])
})

it('V4: no value of a variable of the runner changes the verdict', { tags: 'slow' }, async () => {
  const names = [
    ...['ACTION', 'ACTIONS', 'ACTOR', 'EVENT_NAME', 'EVENT_PATH', 'JOB', 'OUTPUT', 'REF', 'REF_NAME', 'REF_TYPE', 'RUN_ATTEMPT', 'RUN_ID'],
    ...['SERVER_URL', 'SHA', 'STEP_SUMMARY', 'TRIGGERING_ACTOR', 'WORKFLOW', 'WORKSPACE'],
  ].map((name) => `GITHUB_${name}`)
  const all = [...names, 'RUNNER_DEBUG', 'RUNNER_TEMP']
  const values = ['', '/none', '\n::error::x', '[', '/'.repeat(50_000), 'a/'.repeat(1000)]
  const environments = [
    ...[...all, 'GITHUB_REPOSITORY', 'GITHUB_API_URL'].map((name) => ({ [name]: '[' })),
    // Without these two, GitHub is not asked.
    ...values.map((value) => Object.fromEntries(all.map((name) => [name, value]))),
  ]
  await forEachEntry(environments, async (env) => {
    const ran = await step({ ...place(), issue: 'on-failure' }, { env })
    expect([ran.exitCode, commandsOf(ran).includes('error')], JSON.stringify(env).slice(0, 200)).toEqual([0, false])
  })
})
