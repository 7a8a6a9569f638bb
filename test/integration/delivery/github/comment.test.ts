import { describe, expect, it } from 'vitest'
import { markerOf, type SyncContent } from '../../../../src/delivery/github/body.ts'
import { trusted } from '../../../../src/platform/core/line.ts'
import type { Block } from '../../../../src/platform/report/blocks.ts'
import { bot, otherComments, otherUser, useGitHub } from '../../../support/github-server.ts'
import { contentOf, type NotifyCase, notifyGitHub, pullRequestEvent, startMs } from '../../../support/notify.ts'

const github = useGitHub()

const always = (options: NotifyCase = {}) => notifyGitHub(github(), { comment: 'always', ...options })

const own = () => github().store.comments.filter(({ user }) => user.id === bot.id)
const writes = () =>
  github()
    .calls()
    .filter((call) => !call.startsWith('GET'))

describe('the comment', () => {
  it('the comment is created once, and updated in place by later runs with another report', async () => {
    expect((await always()).notes).toEqual(['comment: created on #12'])
    expect((await always({ content: contentOf('pass', { atMs: startMs + 1000 }), laterMs: 1000 })).notes).toEqual([
      'comment: updated on #12',
    ])
    expect(own()).toHaveLength(1)
    expect(own()[0]?.body).toContain('### ✅ The cost')
    expect(writes()).toEqual(['POST /repos/acme/shop/issues/12/comments', 'PATCH /repos/acme/shop/issues/comments/100'])
  })

  it('links to the run that wrote it', async () => {
    await always()
    expect(own()[0]?.body).toContain(
      'From [this run](https://github.example/acme/shop/actions/runs/4711/attempts/1) of job `cost`, commit `aaaaaaa`.',
    )
  })

  it('the comment is found on page 7 of a long thread', async () => {
    await always()
    const [comment] = github().store.comments
    github().store.comments = [...otherComments(650), ...(comment ? [comment] : []), ...otherComments(200)]
    github().received.length = 0
    await always({ content: contentOf('pass') })
    expect(own()).toHaveLength(1)
    expect(writes()).toEqual(['PATCH /repos/acme/shop/issues/comments/100'])
    expect(github().calls()).toContain('GET /repos/acme/shop/issues/12/comments?page=7&per_page=100')
    expect(github().calls()).not.toContain('GET /repos/acme/shop/issues/12/comments?page=8&per_page=100')
  })

  it('the comment is searched up to the end of a thread that ends with a full page', async () => {
    github().store.comments = otherComments(300)
    await always()
    await always()
    expect(own()).toHaveLength(1)
  })

  it('the comment is searched on every page when a proxy drops the link header', async () => {
    await always()
    const [comment] = github().store.comments
    const thread = [...otherComments(199), ...(comment ? [comment] : [])].map((one) => ({ ...one, user: one.user }))
    const pages = [thread.slice(0, 100), thread.slice(100)]
    for (const body of pages) github().addFault({ on: 'GET /repos/acme/shop/issues/12', effect: { kind: 'answer', status: 200, body } })
    await always({ content: contentOf('pass') })
    expect(writes().at(-1)).toBe('PATCH /repos/acme/shop/issues/comments/100')
  })

  it('the comment of one label is not updated by a run with another label', async () => {
    await always({ label: 'cost' })
    await always({ label: 'backups', content: contentOf('pass', { text: 'The backups' }) })
    await always({ label: 'cost', content: contentOf('warn') })
    expect(own().map(({ body }) => /### (.*)/.exec(body)?.[1])).toEqual(['⚠️ The cost', '✅ The backups'])
  })

  it('the comment has by default a label of its own for each job, step, operation and service', async () => {
    const jobs = [
      {},
      { env: { GITHUB_JOB: 'other' } },
      { env: { GITHUB_ACTION: '__watchkeeper_watchkeeper_2' } },
      { env: { GITHUB_ACTION: 'daily' } },
      { env: { GITHUB_WORKFLOW: 'other' } },
      { target: 'c0ffee00-0000-4000-8000-0000000000c2' },
      { content: contentOf('fail', { operation: 'get-backup' }) },
    ]
    for (const job of jobs) await always({ label: undefined, ...job })
    for (const job of jobs) await always({ label: undefined, ...job })
    expect(own()).toHaveLength(jobs.length)
    expect(own()[0]?.body).toContain(markerOf('comment', 'cost gate / cost / usage-cost'))
  })

  it('the comment is not confused with a comment of another account that has its marker', async () => {
    const copy = { id: 7, on: 12, body: `${markerOf('comment', 'cost')}\nAll is well`, user: otherUser }
    github().store.comments = [copy]
    await always()
    await always()
    expect(copy.body).toContain('All is well')
    expect(own()).toHaveLength(1)
  })

  it('the comment is not confused with a comment of the same account that only quotes its marker', async () => {
    const quoting = { id: 7, on: 12, body: `> ${markerOf('comment', 'cost')}\n`, user: bot }
    github().store.comments = [quoting]
    await always()
    expect(quoting.body).toMatch(/^> /)
    expect(own()).toHaveLength(2)
  })

  it('the comment is created again when it was deleted between reading and writing', async () => {
    await always()
    github().addFault({
      on: 'PATCH /repos/acme/shop/issues/comments',
      effect: { kind: 'meanwhile', change: (store) => void store.comments.splice(0) },
    })
    expect((await always({ content: contentOf('pass') })).notes).toEqual(['comment: created on #12'])
    expect(own()).toHaveLength(1)
  })

  it('the comment of a run that started later is not overwritten by a slower run', async () => {
    await always({ content: contentOf('fail', { atMs: startMs + 60_000 }), laterMs: 60_000 })
    const { notes } = await always({ content: contentOf('pass'), laterMs: 90_000 })
    expect(notes).toEqual(['comment: not updated on #12, because a run that started later wrote it'])
    expect(own()[0]?.body).toContain('### ❌')
  })

  it('the comment with a date far in the future, from a runner with a wrong clock, is overwritten', async () => {
    await always({ content: contentOf('fail', { atMs: startMs + 3_600_000 }) })
    await always({ content: contentOf('pass') })
    expect(own()[0]?.body).toContain('### ✅')
  })
})

const footerAt = (time: string): Block => ({ kind: 'footer', line: [trusted(`Organization x · ${time}`)] })

/** The same report at another time. */
const reportAt = (time: string, more: Partial<SyncContent> = {}): SyncContent => {
  const content = contentOf('fail', more)
  return { ...content, blocks: [...content.blocks, footerAt(time)] }
}

describe('a report that differs by its time only', () => {
  const morning = reportAt('31 Mar 2026 08:00 UTC')
  const evening = reportAt('31 Mar 2026 18:00 UTC', { atMs: startMs + 36_000_000 })
  const later = { laterMs: 36_000_000, env: { GITHUB_RUN_ID: '4712' } }

  it('a report that differs by its time only does not update the comment', async () => {
    await always({ content: morning })
    expect((await always({ content: evening, ...later })).notes).toEqual(['comment: unchanged on #12'])
    expect(writes()).toEqual(['POST /repos/acme/shop/issues/12/comments'])
    expect(own()[0]?.body).toContain('31 Mar 2026 08:00 UTC')
  })

  it('a report that differs by its time only does not update the issue', async () => {
    await notifyGitHub(github(), { issue: 'on-failure', content: morning })
    const { notes } = await notifyGitHub(github(), { issue: 'on-failure', content: evening, ...later })
    expect(notes).toEqual(['issue: unchanged #100'])
    expect(writes()).toEqual(['POST /repos/acme/shop/issues'])
  })

  it('updates the comment when the commit is another one', async () => {
    await always({ content: morning })
    const event = { pull_request: { number: 12, head: { sha: 'b'.repeat(40), repo: { full_name: 'acme/shop' } } } }
    expect((await always({ content: evening, ...later, event })).notes).toEqual(['comment: updated on #12'])
    expect(own()[0]?.body).toContain('commit `bbbbbbb`')
    expect(own()[0]?.body).not.toContain('Previous report')
  })

  it('updates the comment after somebody edited it', async () => {
    await always({ content: morning })
    const [comment] = own()
    if (comment !== undefined) comment.body = comment.body.replace('The cost', 'Another cost')
    expect((await always({ content: evening, ...later })).notes).toEqual(['comment: updated on #12'])
  })
})

describe('a comment is wanted', () => {
  const statuses = ['pass', 'warn', 'fail', 'error'] as const
  it.each([
    ['always', ['pass', 'warn', 'fail', 'error']],
    ['changes', ['warn', 'fail', 'error']],
    ['on-failure', ['fail', 'error']],
  ] as const)('comment: %s writes a comment for %s', async (comment, wanted) => {
    for (const status of statuses) {
      github().store.comments = []
      await notifyGitHub(github(), { comment, content: contentOf(status) })
      expect(own(), status).toHaveLength((wanted as readonly string[]).includes(status) ? 1 : 0)
    }
  })

  it('comment: changes writes a comment for a run that passes and changes something', async () => {
    await notifyGitHub(github(), { comment: 'changes', content: contentOf('pass', { hasChanges: true }) })
    expect(own()).toHaveLength(1)
  })

  it.each(['changes', 'on-failure'] as const)('with comment: %s, an existing comment is updated by a run that passes', async (comment) => {
    await notifyGitHub(github(), { comment, content: contentOf('fail') })
    await notifyGitHub(github(), { comment, content: contentOf('pass') })
    expect(own()).toHaveLength(1)
    expect(own()[0]?.body).toContain('### ✅')
  })
})

describe('the pull request', () => {
  it('the pull request is the one of pr-number for any event', async () => {
    github().store.pulls.push({ number: 13, state: 'open', commits: [] })
    await always({ prNumber: 13 })
    expect(own().map(({ on }) => on)).toEqual([13])
  })

  it('the pull request is the one of a comment event', async () => {
    await always({ event: { issue: { number: 12, pull_request: { url: 'x' } } } })
    expect(own().map(({ on }) => on)).toEqual([12])
  })

  it('the pull request of an event without one, such as a push, is the first open one with that head commit', async () => {
    const commit = 'b'.repeat(40)
    github().store.pulls = [
      { number: 23, state: 'open', commits: [commit] },
      { number: 20, state: 'closed', commits: [commit] },
      { number: 21, state: 'open', commits: [commit, 'c'.repeat(40)] },
      { number: 22, state: 'open', commits: ['d'.repeat(40), commit] },
    ]
    await always({ event: {}, env: { GITHUB_SHA: commit } })
    expect(own().map(({ on }) => on)).toEqual([22])
  })

  it('the pull request is missing, without a notice, for a commit that is the head of no open one', async () => {
    const { failures, notes } = await always({ event: {}, env: { GITHUB_SHA: 'e'.repeat(40) } })
    expect(failures).toEqual([])
    expect(notes).toEqual([
      'comment: not created, because no open pull request has this commit as its head. To select a pull request, set WATCHKEEPER_PR_NUMBER',
    ])
    expect(writes()).toEqual([])
  })

  it.each([
    ['no event', undefined],
    ['an event that is not an object', 'x'],
    ['an invalid number', pullRequestEvent(-1)],
  ])('the pull request is found by the commit with %s', async (_, event) => {
    await always({ event: event ?? null })
    expect(own().map(({ on }) => on)).toEqual([12])
  })
})
