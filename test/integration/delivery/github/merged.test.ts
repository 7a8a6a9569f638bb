// After a merge: what a run that applies tells the pull request whose commit was pushed. test/exhaustive has it for whole stories.

import { describe, expect, it } from 'vitest'
import type { SyncContent } from '../../../../src/delivery/github/body.ts'
import { inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { bot, useGitHub } from '../../../support/github-server.ts'
import { contentOf, type NotifyCase, notifyGitHub, pullRequestEvent, runGitHubStep, startMs } from '../../../support/notify.ts'
import { type Pull, Repository } from '../../../support/repository.ts'
import type { RanAction } from '../../../support/run-process.ts'

const github = useGitHub()
const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

const head = 'a'.repeat(40)
const merge = 'b'.repeat(40)
const target = 'c0ffee00-0000-4000-8000-0000000000c2'

const own = () => github().store.comments.filter(({ user }) => user.id === bot.id)
const headings = () => own().map(({ on, body }) => `#${on} ${/^### .*$/m.exec(body)?.[0]}`)

/** #12 is merged into main as `merge`. */
const mergeIt = (more: object = {}): void => {
  github().store.pulls = [{ number: 12, state: 'closed', commits: [head], mergeCommit: merge, ...more }]
}

const push = { GITHUB_SHA: merge, GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main' }

type Content = Partial<SyncContent> & { readonly text?: string }
type RunCase = Omit<NotifyCase, 'content'> & { readonly content?: Content }

const plan = ({ content, env, ...options }: RunCase = {}) =>
  notifyGitHub(github(), {
    comment: 'changes',
    label: undefined,
    target,
    env: { GITHUB_WORKFLOW: 'observability', GITHUB_JOB: 'plan', ...env },
    content: contentOf('pass', { operation: 'plan', project: 'acme/shop', hasChanges: true, text: 'Plan of one alert', ...content }),
    ...options,
  })

let later = 0

const apply = ({ content, env, ...options }: RunCase = {}) => {
  later += 1000
  const { status = 'pass', ...rest } = content ?? {}
  return notifyGitHub(github(), {
    comment: 'always',
    label: undefined,
    target,
    event: {},
    env: { GITHUB_WORKFLOW: 'observability', GITHUB_JOB: 'apply', ...push, ...env },
    laterMs: later,
    content: contentOf(status, {
      ...{ operation: 'apply', project: 'acme/shop', outcome: 'applied', hasWritten: true, text: 'One alert created' },
      atMs: startMs + later,
      ...rest,
    }),
    ...options,
  })
}

const failed = { status: 'error', hasFailed: true, hasWritten: false, outcome: 'failed' } as const
const savedPlan = { operation: 'plan', hasWritten: false, text: 'Plan of main' } as const

describe('apply after a merge', () => {
  it('turns the comment with the plan into the outcome, with the commit, and folds the plan below', async () => {
    await plan()
    mergeIt()
    expect((await apply()).notes).toEqual(['comment: updated on #12'])
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
    expect(own()[0]?.body).toMatch(/`bbbbbbb`\n\nOne alert created\n[\s\S]*<summary>Previous report<\/summary>\n\n### ✅ Plan of one alert/)
  })

  it('says what was not applied, why, and how to try again', async () => {
    await plan()
    mergeIt()
    await apply({ content: { ...failed, advice: { empty: [] } } })
    expect(headings()).toEqual(['#12 ### 🛑 Not applied in `bbbbbbb`'])
    expect(own()[0]?.body).toContain('applies these changes, too. To try again before: `gh run rerun 4711 --repo github.example/acme/shop`')
    await apply({ content: failed })
    expect(own()[0]?.body).toContain('The next merge applies these changes, too.')
    expect(own()[0]?.body).not.toContain('gh run rerun')
    expect(own()[0]?.body).toMatch(/<summary>Previous report<\/summary>\n\n### ✅ Plan of one alert/)
    await apply({ content: { ...failed, hasWritten: true, outcome: 'in-part', text: 'One of two created' } })
    expect(headings()).toEqual(['#12 ### 🛑 Applied in part in `bbbbbbb`'])
  })

  it('keeps what a run wrote, also the list of it, until another run writes or does more', async () => {
    await plan()
    mergeIt()
    await apply({ content: { ...failed, hasWritten: true, outcome: 'in-part', text: 'One of two created' } })
    const { notes } = await apply({ content: failed })
    expect(notes).toEqual(['comment: not updated on #12, because it says what became of the merge'])
    await apply({ content: { hasWritten: false, text: 'Nothing to do' } })
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
    expect(own()[0]?.body).toMatch(/<summary>Previous report<\/summary>\n\n### 🛑 Applied in part in `bbbbbbb`\n\nOne of two created/)
    for (const outcome of ['applied', 'failed', 'refused', 'planned'] as const) await apply({ content: { outcome, hasWritten: false } })
    // A plan that is run again, although its pull request was merged.
    await plan({ content: { atMs: startMs + later + 1000 }, laterMs: later + 1000 })
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
    expect(own()[0]?.body).toContain('One of two created')
    await apply({ content: { text: 'One alert updated' } })
    expect(own()[0]?.body).toContain('One alert updated')
  })

  it('asks GitHub as often as for an open pull request, and for one list more after a success', async () => {
    mergeIt()
    await apply({ content: failed })
    const calls = [
      `GET /repos/acme/shop/commits/${merge}/pulls?page=1&per_page=100`,
      'GET /repos/acme/shop/issues/12/comments?page=1&per_page=100',
      'POST /repos/acme/shop/issues/12/comments',
    ]
    expect(github().calls()).toEqual(calls)
    github().received.length = 0
    await apply()
    expect(github().calls()).toEqual([
      ...calls.slice(0, 2),
      'PATCH /repos/acme/shop/issues/comments/100',
      'GET /repos/acme/shop/issues/comments?sort=updated&direction=desc&per_page=100',
    ])
    github().received.length = 0
    await apply({ comment: 'off', issue: 'on-failure' })
    expect(github().calls()).toEqual(['GET /repos/acme/shop/issues?state=open&creator=github-actions%5Bbot%5D&page=1&per_page=100'])
  })

  it.each([
    ['was closed without a merge', { mergeCommit: undefined, commits: [merge] }],
    ['was merged with another commit, and has this one', { mergeCommit: 'd'.repeat(40), commits: [merge, head] }],
    ['belongs to another repository with the same commits', { repository: 'upstream/shop' }],
  ])('leaves a pull request alone that %s', async (_, more) => {
    await plan()
    mergeIt(more)
    expect((await apply()).notes[0]).toBe(
      'comment: not created, because no open pull request has this commit as its head, and it is the merge of none. To select a pull request, set WATCHKEEPER_PR_NUMBER',
    )
    expect(headings()).toEqual(['#12 ### ✅ Plan of one alert'])
  })

  it.each([
    ['whose head was pushed', { mergeCommit: 'd'.repeat(40), commits: [merge] }],
    ['into another branch', { base: 'next' }],
  ])('reports on a pull request that was merged %s', async (_, more) => {
    mergeIt(more)
    await apply()
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
  })

  it('reports on a tag, and on the event of the merge, and no other operation does', async () => {
    mergeIt()
    await apply({ content: { operation: 'drift', outcome: undefined } })
    expect(own()).toEqual([])
    await apply({ env: { GITHUB_REF: 'refs/tags/v1', GITHUB_REF_NAME: 'v1' } })
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
    github().store.comments = []
    const { pull_request: closed } = pullRequestEvent(12)
    await apply({ event: { pull_request: { ...closed, merged: true } } })
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
  })

  it('the commit is the one that is checked out, which no event about another workflow has', async () => {
    mergeIt()
    const tested = { event: { workflow_run: { head_branch: 'main' } } }
    expect((await apply(tested)).notes).toEqual([expect.stringContaining('comment: not created')])
    await apply({ ...tested, env: { GITHUB_SHA: 'f'.repeat(40) }, checkedOut: merge })
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
  })

  it('the open pull request whose head is the pushed commit gets the report only where none was merged with it', async () => {
    github().store.pulls = [
      { number: 11, state: 'open', commits: [merge], base: 'production' },
      { number: 12, state: 'closed', commits: [head], mergeCommit: merge },
    ]
    await apply()
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
    github().store.pulls.pop()
    await apply()
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`', '#11 ### ✅ One alert created'])
  })
})

describe('the comment of plan and apply', () => {
  it.each([
    ['job', {}],
    ['workflow', { env: { GITHUB_WORKFLOW: 'plan alerts' } }],
    ['workflow, with the same label', { env: { GITHUB_WORKFLOW: 'plan alerts' }, label: 'alerts' }],
  ])('is one, also of another %s', async (_, { label, ...options }: RunCase) => {
    await plan({ label, ...options })
    mergeIt()
    await apply({ label })
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
  })

  it.each<[string, RunCase]>([
    ['project', { content: { project: 'acme/other' } }],
    ['environment', { target: `staging / ${target}` }],
    ['service', { target: 'c0ffee00-0000-4000-8000-0000000000c3' }],
    ['label', { label: 'mine' }],
  ])('is another one for another %s', async (_, other) => {
    await plan()
    await plan(other)
    mergeIt()
    await apply()
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`', '#12 ### ✅ Plan of one alert'])
  })

  it('is taken over from an earlier version on an open pull request, and not on a merged one', async () => {
    const age = (job: string): void => {
      const label = `observability / ${job} / plan / ${target}`
      for (const comment of own())
        comment.body = comment.body.replace(/^.*/, `<!-- watchkeeper comment: ${encodeURIComponent(label).replaceAll('-', '%2D')} -->`)
    }
    await plan()
    age('plan')
    await plan({ content: { text: 'Plan of two alerts' } })
    expect(headings()).toEqual(['#12 ### ✅ Plan of two alerts'])
    age('plan')
    mergeIt()
    await apply({ env: { GITHUB_JOB: 'plan' }, content: { operation: 'plan' } })
    expect(headings()).toEqual(['#12 ### ✅ Plan of two alerts', '#12 ### ✅ Nothing to do in `bbbbbbb`'])
  })
})

describe('a plan that another job applies', () => {
  const page = 'https://github.example/acme/shop/actions/runs/4711/attempts/1'

  it.each<[string, Content, string]>([
    ['needs an apply', { outcome: 'planned' }, `### ⚠️ Not applied yet: planned in [\`this run\`](${page})`],
    ['fails', { ...failed }, '### 🛑 Not applied: the plan failed'],
    ['has nothing to apply', { outcome: 'applied' }, '### ✅ Nothing to do in `bbbbbbb`'],
  ])('says so where it %s, and the apply replaces it', async (_, content, heading) => {
    await plan()
    mergeIt()
    await apply({ content: { ...content, ...savedPlan } })
    expect(headings()).toEqual([`#12 ${heading}`])
    expect(own()[0]?.body).toMatch(/\n\nPlan of main\n[\s\S]*<summary>Previous report<\/summary>\n\n### ✅ Plan of one alert/)
    await apply()
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
  })
})

it('a run whose branch has newer files says so on the pull request, and leaves the issue as it is', async () => {
  await plan()
  mergeIt()
  await apply({ issue: 'on-failure', content: failed })
  const issue = structuredClone(github().store.issues)
  const content = { status: 'warn', outcome: 'refused', hasWritten: false, text: 'Not applied: main (1234567) has newer files.' } as const
  expect(await apply({ issue: 'on-failure', content })).toMatchObject({ change: 'none', failures: [] })
  expect(headings()).toEqual(['#12 ### ⚠️ Not applied: main (1234567) has newer files.'])
  expect(github().store.issues).toEqual(issue)
})

describe('a pull request that was merged before', () => {
  it.each([
    ['a run of its own', true],
    ['a later one', false],
  ])(
    'is included in the next success if no earlier one had its merge, where the first was applied by %s',
    { tags: 'slow' },

    async (_, isAtOnce) => {
      const repository = new Repository(github())
      try {
        repository.push({ a: '1' })
        const pulls = ['b', 'c', 'd', 'e', 'f'].map((name) => repository.openPull([{ [name]: '1' }]))
        for (const { number, head: commit } of pulls)
          await plan({ event: { pull_request: { number, head: { sha: commit, repo: { full_name: 'acme/shop' } } } } })
        const at = (commit: string) => ({ env: { GITHUB_SHA: commit } })
        const included = (number: number, commit: string) =>
          `#${number} ### ✅ Included in \`${commit.slice(0, 7)}\`: \`main\` was applied with this merge`
        const appliedIn = (number: number, commit: string) => `#${number} ### ✅ Applied in \`${commit.slice(0, 7)}\``
        const [first, second, third, fourth] = pulls as [Pull, Pull, Pull, Pull]
        const firstMerge = repository.merge(first)
        await apply({ ...at(firstMerge), ...(isAtOnce ? {} : { content: failed }) })
        // No pull request has this commit. It may be the first one that a comment says was applied.
        const pushed = repository.push({ x: '1' })
        await apply(at(pushed))
        // The run of the second one is canceled, and that of the third one fails, so that neither is applied.
        repository.merge(second)
        await apply({ ...at(repository.merge(third)), content: failed })
        const last = repository.merge(fourth)
        github().received.length = 0
        const { notes } = await apply(at(last))
        expect(notes).toEqual(['comment: updated on #4', 'comment: updated on #3', 'comment: updated on #2'])
        expect(headings()).toEqual([
          isAtOnce ? appliedIn(1, firstMerge) : included(1, pushed),
          included(2, last),
          included(3, last),
          appliedIn(4, last),
          '#5 ### ✅ Plan of one alert',
        ])
        // It costs two lists more.
        expect(github().calls().slice(3, 6)).toEqual([
          'GET /repos/acme/shop/issues/comments?sort=updated&direction=desc&per_page=100',
          'GET /repos/acme/shop/pulls?sort=updated&direction=desc&per_page=100&state=closed',
          `GET /repos/acme/shop/commits?sha=${last}&per_page=100`,
        ])
      } finally {
        repository.remove()
      }
    },
  )

  it('is left alone when the lists cannot be read, and the report of the run stays', async () => {
    mergeIt()
    github().addFault({ on: 'GET /repos/acme/shop/issues/comments', effect: { kind: 'answer', status: 403, body: { message: 'no' } } })
    expect(await apply()).toMatchObject({
      failures: [],
      notes: ['comment: created on #12', expect.stringMatching(/^comment: earlier pull requests are not updated: GitHub answered 403/)],
    })
  })
})

it('the permission that is missing is in the notice', async () => {
  mergeIt()
  github().addFault({
    on: `GET /repos/acme/shop/commits/${merge}/pulls`,
    effect: { kind: 'answer', status: 403, body: { message: 'Resource not accessible by integration' } },
  })
  const { failures } = await apply()
  expect(failures).toEqual([expect.stringContaining('Give the job `permissions: pull-requests: write`')])
})

const declared = { 'observability/a.yml': 'savedSearches: { errors: { name: Errors, source: Logs, where: x } }' }

describe('a step with apply after a merge', () => {
  const step = (operation: string, more: object = {}): Promise<RanAction> =>
    runGitHubStep(github(), {
      inputs: {
        ...inputsFor(cloud(), 'clickhouse-cloud'),
        ...{ operation, project: 'shop/infra', comment: 'changes', issue: operation === 'apply' ? 'on-failure' : 'off' },
      },
      files: declared,
      ...more,
    })
  const pushed = { event: {}, env: { ...push, GITHUB_EVENT_NAME: 'push' } }

  it('a failure is in the comment and opens an issue, which the next success closes', async () => {
    await step('plan', { event: pullRequestEvent(12) })
    expect(headings()).toEqual([expect.stringMatching(/^#12 ### ✅ .*to create/)])
    mergeIt()
    const ran = await step('apply', { ...pushed, files: { 'observability/a.yml': 'alerts: { a: {} }' } })
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toContain('The files are not compared with the head of main: the commit that is checked out is unknown')
    expect(headings()).toEqual(['#12 ### ❌ Not applied in `bbbbbbb`'])
    expect(github().store.issues).toMatchObject([{ state: 'open', labels: ['watchkeeper'] }])
    expect(await step('apply', pushed)).toMatchObject({ exitCode: 0 })
    expect(headings()[0]).toBe('#12 ### ✅ Applied in `bbbbbbb`')
    expect(own()[0]?.body).toMatch(/commit `bbbbbbb`, project `shop\/infra`\.\n$/)
    expect(github().store.issues).toMatchObject([{ state: 'closed' }])
    expect(serviceOf(cloud()).savedSearches.some(({ name }) => name === 'Errors')).toBe(true)
  })
})
