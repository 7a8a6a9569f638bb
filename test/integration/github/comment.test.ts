import { describe, expect, it } from 'vitest'
import { markerOf } from '../../../src/github/body.ts'
import { bot, otherComments, otherUser, useGitHub } from '../../support/github-server.ts'
import { type NotifyCase, notificationOf, notifyGitHub, pullRequestEvent, startMs } from '../../support/notify.ts'

const github = useGitHub()

const always = (options: NotifyCase = {}) => notifyGitHub(github(), { comment: 'always', ...options })

const own = () => github().store.comments.filter(({ user }) => user.id === bot.id)
const writes = () =>
  github()
    .calls()
    .filter((call) => !call.startsWith('GET'))

describe('the comment', () => {
  it('is written once, and updated in place by every later run', async () => {
    expect((await always()).notes).toEqual(['comment: written on #12'])
    expect((await always({ notification: notificationOf('pass', { atMs: startMs + 1000 }), laterMs: 1000 })).notes).toEqual([
      'comment: updated on #12',
    ])
    expect(own()).toHaveLength(1)
    expect(own()[0]?.body).toContain('### ✅ The cost')
    expect(writes()).toEqual(['POST /repos/acme/shop/issues/12/comments', 'PATCH /repos/acme/shop/issues/comments/100'])
  })

  it('says which run it is from', async () => {
    await always()
    expect(own()[0]?.body).toContain(
      'From [this run](https://github.example/acme/shop/actions/runs/4711/attempts/1) of job `cost`, commit `aaaaaaa`, 2026-03-31 12:00 UTC.',
    )
  })

  it('is found on page 7 of a long thread', async () => {
    await always()
    const [comment] = github().store.comments
    github().store.comments = [...otherComments(650), ...(comment ? [comment] : []), ...otherComments(200)]
    github().received.length = 0
    await always({ notification: notificationOf('pass') })
    expect(own()).toHaveLength(1)
    expect(writes()).toEqual(['PATCH /repos/acme/shop/issues/comments/100'])
    expect(github().calls()).toContain('GET /repos/acme/shop/issues/12/comments?page=7&per_page=100')
    expect(github().calls()).not.toContain('GET /repos/acme/shop/issues/12/comments?page=8&per_page=100')
  })

  it('is looked for to the very end of a thread that ends with a full page', async () => {
    github().store.comments = otherComments(300)
    await always()
    await always()
    expect(own()).toHaveLength(1)
  })

  it('is looked for on every page also where something between here and GitHub drops the link header', async () => {
    await always()
    const [comment] = github().store.comments
    const thread = [...otherComments(199), ...(comment ? [comment] : [])].map((one) => ({ ...one, user: one.user }))
    const pages = [thread.slice(0, 100), thread.slice(100)]
    for (const body of pages) github().addFault({ on: 'GET /repos/acme/shop/issues/12', effect: { kind: 'answer', status: 200, body } })
    await always()
    expect(writes().at(-1)).toBe('PATCH /repos/acme/shop/issues/comments/100')
  })

  it('of one label is not that of another', async () => {
    await always({ label: 'cost' })
    await always({ label: 'backups', notification: notificationOf('pass', { text: 'The backups' }) })
    await always({ label: 'cost', notification: notificationOf('warn') })
    expect(own().map(({ body }) => /### (.*)/.exec(body)?.[1])).toEqual(['⚠️ The cost', '✅ The backups'])
  })

  it('has by default a label of its own for each job, step, operation and service', async () => {
    const jobs = [
      {},
      { env: { GITHUB_JOB: 'other' } },
      { env: { GITHUB_ACTION: '__watchkeeper_watchkeeper_2' } },
      { env: { GITHUB_ACTION: 'daily' } },
      { env: { GITHUB_WORKFLOW: 'other' } },
      { target: 'c0ffee00-0000-4000-8000-0000000000c2' },
      { notification: notificationOf('fail', { operation: 'get-backup' }) },
    ]
    for (const job of jobs) await always({ label: undefined, ...job })
    for (const job of jobs) await always({ label: undefined, ...job })
    expect(own()).toHaveLength(jobs.length)
    expect(own()[0]?.body).toContain(markerOf('comment', 'cost gate / cost / usage-cost'))
  })

  it('is not confused with a comment of somebody else that bears its mark', async () => {
    const copy = { id: 7, on: 12, body: `${markerOf('comment', 'cost')}\nAll is well`, user: otherUser }
    github().store.comments = [copy]
    await always()
    await always()
    expect(copy.body).toContain('All is well')
    expect(own()).toHaveLength(1)
  })

  it('is not confused with one of the same author that merely quotes the mark', async () => {
    const quoting = { id: 7, on: 12, body: `> ${markerOf('comment', 'cost')}\n`, user: bot }
    github().store.comments = [quoting]
    await always()
    expect(quoting.body).toMatch(/^> /)
    expect(own()).toHaveLength(2)
  })

  it('that was deleted between reading and writing is written anew', async () => {
    await always()
    github().addFault({
      on: 'PATCH /repos/acme/shop/issues/comments',
      effect: { kind: 'meanwhile', change: (store) => void store.comments.splice(0) },
    })
    expect((await always()).notes).toEqual(['comment: written on #12'])
    expect(own()).toHaveLength(1)
  })

  it('of a run that started later is left alone by a slower one', async () => {
    await always({ notification: notificationOf('fail', { atMs: startMs + 60_000 }), laterMs: 60_000 })
    const { notes } = await always({ notification: notificationOf('pass'), laterMs: 90_000 })
    expect(notes).toEqual(['comment: #12 has one of a run that started later, which stays'])
    expect(own()[0]?.body).toContain('### ❌')
  })

  it('with a date far ahead, from a runner whose clock is wrong, does not stay for ever', async () => {
    await always({ notification: notificationOf('fail', { atMs: startMs + 3_600_000 }) })
    await always({ notification: notificationOf('pass') })
    expect(own()[0]?.body).toContain('### ✅')
  })
})

describe('a comment is wanted', () => {
  const statuses = ['pass', 'warn', 'fail', 'error'] as const
  it.each([
    ['always', ['pass', 'warn', 'fail', 'error']],
    ['changes', ['warn', 'fail', 'error']],
    ['on-failure', ['fail', 'error']],
  ] as const)('%s: for %s', async (comment, wanted) => {
    for (const status of statuses) {
      github().store.comments = []
      await notifyGitHub(github(), { comment, notification: notificationOf(status) })
      expect(own(), status).toHaveLength((wanted as readonly string[]).includes(status) ? 1 : 0)
    }
  })

  it('with changes, also for a pass that changes something', async () => {
    await notifyGitHub(github(), { comment: 'changes', notification: notificationOf('pass', { hasChanges: true }) })
    expect(own()).toHaveLength(1)
  })

  it.each(['changes', 'on-failure'] as const)(
    'with %s, and what it says is kept true when there is nothing to say any more',
    async (comment) => {
      await notifyGitHub(github(), { comment, notification: notificationOf('fail') })
      await notifyGitHub(github(), { comment, notification: notificationOf('pass') })
      expect(own()).toHaveLength(1)
      expect(own()[0]?.body).toContain('### ✅')
    },
  )
})

describe('the pull request', () => {
  it('is the one of pr-number, whatever the event says', async () => {
    github().store.pulls.push({ number: 13, state: 'open', commits: [] })
    await always({ prNumber: 13 })
    expect(own().map(({ on }) => on)).toEqual([13])
  })

  it('is the one of a comment event', async () => {
    await always({ event: { issue: { number: 12, pull_request: { url: 'x' } } } })
    expect(own().map(({ on }) => on)).toEqual([12])
  })

  it('of an event without one, such as a push, is the open one whose newest commit it is', async () => {
    const commit = 'b'.repeat(40)
    github().store.pulls = [
      { number: 20, state: 'closed', commits: [commit] },
      { number: 21, state: 'open', commits: [commit, 'c'.repeat(40)] },
      { number: 22, state: 'open', commits: ['d'.repeat(40), commit] },
    ]
    await always({ event: {}, env: { GITHUB_SHA: commit } })
    expect(own().map(({ on }) => on)).toEqual([22])
  })

  it('is nobody, without a notice, for a commit that no open one ends in', async () => {
    const { failures, notes } = await always({ event: {}, env: { GITHUB_SHA: 'e'.repeat(40) } })
    expect(failures).toEqual([])
    expect(notes).toEqual(['comment: none written, no open pull request has this commit as its newest; pr-number names one'])
    expect(writes()).toEqual([])
  })

  it.each([
    ['no event', undefined],
    ['an event that is no object', 'x'],
    ['a number that is none', pullRequestEvent(-1)],
  ])('is found by the commit with %s', async (_, event) => {
    await always({ event: event ?? null })
    expect(own().map(({ on }) => on)).toEqual([12])
  })
})
