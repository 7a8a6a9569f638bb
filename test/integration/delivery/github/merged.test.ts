// After a merge: what apply tells the pull request whose commit was pushed.
import { describe, expect, it } from 'vitest'
import { inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { bot, useGitHub } from '../../../support/github-server.ts'
import { contentOf, type NotifyCase, notifyGitHub, pullRequestEvent, runGitHubStep, startMs } from '../../../support/notify.ts'
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

const push = { GITHUB_SHA: merge, GITHUB_REF_TYPE: 'branch', GITHUB_REF_NAME: 'main' }

const plan = ({ env, ...options }: NotifyCase = {}) =>
  notifyGitHub(github(), {
    comment: 'changes',
    label: undefined,
    target,
    env: { GITHUB_WORKFLOW: 'observability', GITHUB_JOB: 'plan-or-apply', ...env },
    content: contentOf('pass', { operation: 'plan', hasChanges: true, text: 'Plan of one alert' }),
    ...options,
  })

const apply = ({
  content = {},
  env,
  ...options
}: Omit<NotifyCase, 'content'> & { readonly content?: Parameters<typeof contentOf>[1] } = {}) =>
  plan({
    comment: 'always',
    event: {},
    env: { ...push, ...env },
    laterMs: 60_000,
    content: contentOf(content.status ?? 'pass', {
      operation: 'apply',
      hasWritten: true,
      text: 'One alert created',
      atMs: startMs + 60_000,
      ...content,
    }),
    ...options,
  })

const failed = { status: 'error', hasFailed: true, hasWritten: false } as const

describe('apply after a merge', () => {
  it('turns the comment with the plan into the outcome, with the commit, and folds the plan below', async () => {
    await plan()
    mergeIt()
    expect((await apply()).notes).toEqual(['comment: updated on #12'])
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
    expect(own()[0]?.body).toMatch(/`bbbbbbb`\n\nOne alert created\n[\s\S]*<summary>Previous report<\/summary>\n\n### ✅ Plan of one alert/)
    // The comment is now that of apply, which a second run finds.
    await apply({ content: { text: 'Nothing to do', atMs: startMs + 90_000 }, laterMs: 90_000 })
    expect(own()).toHaveLength(1)
    expect(own()[0]?.body).toContain('Nothing to do')
  })

  it('says what was not applied, why, and how to try again', async () => {
    await plan()
    mergeIt()
    await apply({ content: failed })
    expect(headings()).toEqual(['#12 ### 🛑 Not applied in `bbbbbbb`'])
    expect(own()[0]?.body).toContain('`gh run rerun 4711 --repo github.example/acme/shop`')
    await apply({ content: { ...failed, advice: { isKeyRejected: true }, atMs: startMs + 80_000 }, laterMs: 80_000 })
    expect(own()[0]?.body).toContain('applies these changes, too. Replace the key first. Then run it again: `gh run rerun 4711 ')
    await apply({ content: { ...failed, hasWritten: true, atMs: startMs + 90_000 }, laterMs: 90_000 })
    expect(headings()).toEqual(['#12 ### 🛑 Applied in part in `bbbbbbb`'])
  })

  it('asks GitHub as often as for an open pull request, and not at all without a comment', async () => {
    mergeIt()
    await apply({ content: failed })
    expect(github().calls()).toEqual([
      `GET /repos/acme/shop/commits/${merge}/pulls?page=1&per_page=100`,
      'GET /repos/acme/shop/issues/12/comments?page=1&per_page=100',
      'POST /repos/acme/shop/issues/12/comments',
    ])
    github().received.length = 0
    await apply({ comment: 'off', issue: 'on-failure' })
    expect(github().calls()).toEqual(['GET /repos/acme/shop/issues?state=open&creator=github-actions%5Bbot%5D&page=1&per_page=100'])
  })

  it.each([
    ['was closed without a merge', { mergeCommit: undefined, commits: [merge] }],
    ['was merged into another branch', { base: 'next' }],
    ['belongs to another repository with the same commits', { repository: 'upstream/shop' }],
  ])('leaves a pull request alone that %s', async (_, more) => {
    await plan()
    mergeIt(more)
    expect((await apply()).notes).toEqual([
      'comment: not created, because no open pull request has this commit as its head, and none that was merged into main has it. To select a pull request, set pr-number',
    ])
    expect(headings()).toEqual(['#12 ### ✅ Plan of one alert'])
  })

  it('only apply reports on a merged pull request, and only after a push to a branch', async () => {
    mergeIt()
    await apply({ content: { operation: 'drift' } })
    await apply({ env: { GITHUB_REF_TYPE: 'tag' } })
    expect(own()).toEqual([])
  })

  it.each([
    ['job', { GITHUB_JOB: 'plan' }, {}],
    ['workflow', { GITHUB_WORKFLOW: 'plan alerts', GITHUB_JOB: 'plan' }, {}],
    ['workflow, with the same label', { GITHUB_WORKFLOW: 'plan alerts' }, { label: 'alerts' }],
  ])('finds the plan of another %s', async (_, env, more) => {
    await plan({ env, ...more })
    mergeIt()
    await apply(more)
    expect(headings()).toEqual(['#12 ### ✅ Applied in `bbbbbbb`'])
  })

  it('chooses the plan of its own job, then of its own workflow, and none of two that are equally close', async () => {
    const jobs = ['plan-or-apply', 'other', 'another'].map((GITHUB_JOB) => ({ GITHUB_JOB }))
    for (const env of [...jobs, { GITHUB_WORKFLOW: 'elsewhere' }]) await plan({ env })
    const [mine, ...others] = own()
    mergeIt()
    await apply()
    expect(mine?.body).toContain('Applied in')
    await apply({ env: { GITHUB_JOB: 'apply' } })
    expect(others.every(({ body }) => !body.includes('Applied in'))).toBe(true)
    await apply({ env: { GITHUB_WORKFLOW: 'elsewhere', GITHUB_JOB: 'apply' } })
    expect(others.map(({ body }) => body.includes('Applied in'))).toEqual([false, false, true])
  })

  it('each environment has its own comment, and another service keeps its plan', async () => {
    for (const one of ['staging', 'production', `production / ${target}`]) await plan({ target: one })
    mergeIt()
    await apply({ target: 'production' })
    expect(headings()).toEqual(['#12 ### ✅ Plan of one alert', '#12 ### ✅ Applied in `bbbbbbb`', '#12 ### ✅ Plan of one alert'])
  })

  describe('a pull request that was merged before', () => {
    const [next, last] = ['d'.repeat(40), 'e'.repeat(40)]
    const mergeAll = (): void => {
      github().store.pulls = [
        { number: 12, state: 'closed', commits: [head], mergeCommit: merge },
        { number: 13, state: 'closed', commits: ['1'.repeat(40)], mergeCommit: next },
        { number: 14, state: 'closed', commits: ['2'.repeat(40)], mergeCommit: last },
        { number: 15, state: 'closed', commits: ['3'.repeat(40)] },
        { number: 16, state: 'open', commits: ['4'.repeat(40)] },
      ]
    }

    it.each([
      ['canceled', undefined],
      ['canceled, and the plan has the same label', 'alerts'],
    ])('is reported by the next success when its own run was %s, and others are not', async (_, label) => {
      for (const number of [12, 13, 14, 15, 16]) github().store.pulls.push({ number, state: 'open', commits: [] })
      for (const number of [12, 13, 14, 15, 16]) await plan({ event: pullRequestEvent(number), label })
      mergeAll()
      // The pull request 14 was merged while this run was waiting.
      const { notes } = await apply({ env: { GITHUB_SHA: next }, label })
      expect(notes).toEqual(['comment: updated on #13', 'comment: updated on #12'])
      const planned = [14, 15, 16].map((on) => `#${on} ### ✅ Plan of one alert`)
      expect(headings()).toEqual(['#12 ### ✅ Applied in `ddddddd`', '#13 ### ✅ Applied in `ddddddd`', ...planned])
      // Both are done.
      await apply({ env: { GITHUB_SHA: last }, content: { atMs: startMs + 90_000 }, laterMs: 90_000, label })
      expect(
        headings()
          .slice(0, 3)
          .map((line) => line.slice(-9)),
      ).toEqual(['`ddddddd`', '`ddddddd`', '`eeeeeee`'])
    })

    it('is reported by the next success when its own run failed, with the plan still folded below', async () => {
      await plan()
      mergeAll()
      await apply({ content: failed })
      await apply({ env: { GITHUB_SHA: next }, content: { atMs: startMs + 90_000 }, laterMs: 90_000 })
      expect(headings()).toEqual(['#12 ### ✅ Applied in `ddddddd`', '#13 ### ✅ Applied in `ddddddd`'])
      expect(own()[0]?.body).toMatch(/<summary>Previous report<\/summary>\n\n### ✅ Plan of one alert/)
      expect(own()[0]?.body).not.toContain('Not applied')
    })

    it('costs one request when there is none, and its failure leaves the report of the run as it is', async () => {
      mergeIt()
      await apply()
      const [listed, ...rest] = github()
        .calls()
        .filter((call) => call.startsWith('GET /repos/acme/shop/issues/comments'))
      expect([listed, rest]).toEqual(['GET /repos/acme/shop/issues/comments?sort=updated&direction=desc&page=1&per_page=100', []])
      expect(github().calls()).toHaveLength(4)
      github().addFault({ on: 'GET /repos/acme/shop/issues/comments', effect: { kind: 'answer', status: 403, body: { message: 'no' } } })
      expect(await apply({ content: { text: 'Nothing to do' } })).toMatchObject({
        failures: [],
        notes: ['comment: updated on #12', expect.stringMatching(/^comment: earlier pull requests are not updated: GitHub answered 403/)],
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
    expect(headings()).toEqual(['#12 ### ❌ Not applied in `bbbbbbb`'])
    expect(github().store.issues).toMatchObject([{ state: 'open', labels: ['watchkeeper'] }])
    expect(await step('apply', pushed)).toMatchObject({ exitCode: 0 })
    expect(headings()[0]).toBe('#12 ### ✅ Applied in `bbbbbbb`')
    expect(github().store.issues).toMatchObject([{ state: 'closed' }])
    expect(serviceOf(cloud()).savedSearches.some(({ name }) => name === 'Errors')).toBe(true)
  })
})
