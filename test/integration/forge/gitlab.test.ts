import { describe, expect, it } from 'vitest'
import { say } from '../../../src/core/line.ts'
import { createRedact } from '../../../src/core/secrets.ts'
import { markerOf } from '../../../src/forge/body.ts'
import { bot, type GitLabFault, otherNotes, otherUser, token, useGitLab } from '../../support/gitlab-server.ts'
import { contentOf, type NotifyCase, notifyGitLab, startMs } from '../../support/notify.ts'

const gitlab = useGitLab()

const both = { comment: 'always', issue: 'on-failure' } as const

const always = (options: Omit<NotifyCase, 'event'> = {}) => notifyGitLab(gitlab(), { comment: 'always', ...options })
const onFailure = (options: Omit<NotifyCase, 'event'> = {}) => notifyGitLab(gitlab(), { issue: 'on-failure', ...options })

const own = () => gitlab().store.notes.filter(({ author }) => author.id === bot.id)
const writes = () =>
  gitlab()
    .calls()
    .filter((call) => !call.startsWith('GET'))

const list = 'GET /projects/77/merge_requests/12/notes'
const create = 'POST /projects/77/merge_requests/12/notes'
const callsTo = (start: string) =>
  gitlab()
    .calls()
    .filter((call) => call.startsWith(start))

const answerWith = (status: number, headers: Readonly<Record<string, string>> = {}, body?: unknown): GitLabFault['effect'] => ({
  kind: 'answer',
  status,
  headers,
  ...(body !== undefined && { body }),
})

describe('the note', () => {
  it('the note is created once, and updated in place by later runs with another report', async () => {
    expect((await always()).notes).toEqual(['comment: created on !12'])
    const later = await always({ content: contentOf('pass', { atMs: startMs + 1000 }), laterMs: 1000 })
    expect(later.notes).toEqual(['comment: updated on !12'])
    expect(own()).toHaveLength(1)
    expect(own()[0]?.body).toContain('### ✅ The cost')
    expect(own()[0]?.body).toMatch(/<details><summary>Previous report<\/summary>\n\n### ❌/)
    expect(writes()).toEqual([create, 'PUT /projects/77/merge_requests/12/notes/100'])
  })

  it('links to the job that wrote it', async () => {
    await always()
    expect(own()[0]?.body).toMatch(
      /From \[this run\]\(https:\/\/gitlab\.example\/acme\/platform\/shop\/-\/jobs\/4711\) of job `cost`, commit `aaaaaaa`\.$/,
    )
  })

  it('the note is found on page 7 of a long thread with notes of GitLab itself', async () => {
    await always()
    const [note] = gitlab().store.notes
    gitlab().store.notes = [...otherNotes(650), ...(note ? [note] : []), ...otherNotes(200)]
    gitlab().received.length = 0
    await always({ content: contentOf('pass') })
    expect(own()).toHaveLength(1)
    expect(gitlab().calls()).toContain(`${list}?sort=asc&order_by=created_at&page=7&per_page=100`)
    expect(gitlab().calls()).not.toContain(`${list}?sort=asc&order_by=created_at&page=8&per_page=100`)
  })

  it('the note is not confused with a note of another account that has its marker', async () => {
    const body = `${markerOf('comment', 'cost')}\nAll is well`
    gitlab().store.notes = [{ id: 7, place: 'merge_requests', on: 12, body, author: otherUser, system: false }]
    await always()
    expect(gitlab().store.notes[0]?.body).toBe(body)
    expect(own()).toHaveLength(1)
  })

  it('the note has by default a label of its own for each job, operation and service', async () => {
    const jobs = [{}, { env: { CI_JOB_NAME: 'other' } }, { target: 'staging' }, { content: contentOf('fail', { operation: 'plan' }) }]
    for (const job of [...jobs, ...jobs]) await always({ label: undefined, ...job })
    expect(own()).toHaveLength(jobs.length)
    expect(own()[0]?.body).toContain(markerOf('comment', 'cost / usage-cost'))
  })
})

describe('the merge request', () => {
  const withoutMergeRequest = { CI_MERGE_REQUEST_IID: '', CI_MERGE_REQUEST_PROJECT_ID: '', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '' }

  it('the merge request of a branch pipeline is the open one with that head commit', async () => {
    gitlab().store.mergeRequests = [
      { iid: 20, state: 'merged', sha: 'b'.repeat(40) },
      { iid: 21, state: 'opened', sha: 'b'.repeat(40) },
    ]
    await always({ env: { ...withoutMergeRequest, CI_COMMIT_SHA: 'b'.repeat(40) } })
    expect(own().map(({ on }) => on)).toEqual([21])
  })

  it('the merge request is missing, without a warning, for a commit that is the head of no open one', async () => {
    const { failures, notes } = await always({ env: { ...withoutMergeRequest, CI_COMMIT_SHA: 'e'.repeat(40) } })
    expect(failures).toEqual([])
    expect(notes).toEqual([
      'comment: not created, because no open merge request has this commit as its head. To select a merge request, set pr-number',
    ])
  })

  it('shows its own head commit in a merged results pipeline', async () => {
    await always({ env: { CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: 'c'.repeat(40) } })
    expect(own()[0]?.body).toContain('commit `ccccccc`')
  })

  it.each([
    ['in the project of the fork', { CI_PROJECT_ID: '88', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '88' }],
    ['that a member starts in this project', { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '88' }],
  ])('the merge request from a fork gets no note and no issue, and the token is not sent, in a pipeline %s', async (_, env) => {
    const { failures } = await notifyGitLab(gitlab(), { ...both, env })
    expect(failures).toEqual([
      'comment: not written, because the merge request is from a fork.',
      'issue: not written, because the merge request is from a fork.',
    ])
    expect(gitlab().received).toEqual([])
  })
})

describe('the issue', () => {
  it('the issue is opened by a failure, updated, and closed with a note when the check passes again', async () => {
    expect(await onFailure()).toMatchObject({ notes: ['issue: opened #100'], issueTransition: 'opened' })
    expect((await onFailure({ content: contentOf('fail', { text: 'The forecast' }) })).notes).toEqual(['issue: updated #100'])
    expect(await onFailure({ content: contentOf('pass') })).toMatchObject({ issueTransition: 'closed' })
    expect(gitlab().store.issues).toMatchObject([{ title: 'Cost fails: The forecast', state: 'closed', labels: ['watchkeeper'] }])
    expect(own().map(({ place, on, body }) => [place, on, body.split('\n')[0]])).toEqual([
      ['issues', 100, 'The reason for the failure has changed.'],
      ['issues', 100, 'The check passes again.'],
    ])
  })

  it('the issue of another account is not touched', async () => {
    const description = `${markerOf('issue', 'cost')}\nMine`
    gitlab().store.issues = [{ iid: 5, title: 'x', description, author: otherUser, labels: ['watchkeeper'], state: 'opened' }]
    await onFailure()
    await onFailure({ content: contentOf('pass') })
    expect(gitlab().store.issues.map(({ iid, state }) => [iid, state])).toEqual([
      [5, 'opened'],
      [100, 'closed'],
    ])
  })

  it('the issue has a title without a mention or a reference', async () => {
    await onFailure({ label: 'budget of @all, #1', content: contentOf('fail', { text: '!2, ~label and :tada: are over' }) })
    expect(gitlab().store.issues[0]?.title).toBe('Budget of @\u200ball, #\u200b1 fails: !\u200b2, ~\u200blabel and :\u200btada: are over')
  })
})

describe('untrusted text', () => {
  const hostile = '```\n/close\n/merge\n<b>\n/approve\n</b>\n  /assign @all\n@all #1 :tada:'

  it('S6: causes no quick action of GitLab in any part of a report', async () => {
    const report = contentOf('fail', {
      blocks: [
        { kind: 'verdict', status: 'fail', line: say`${'/close'}` },
        { kind: 'message', text: hostile },
        { kind: 'preformatted', text: hostile },
        { kind: 'diff', lines: hostile.split('\n').map((text) => ({ sign: ' ', text })) },
        { kind: 'details', title: 'of @all', blocks: [{ kind: 'preformatted', text: hostile }] },
      ],
    })
    await notifyGitLab(gitlab(), { ...both, content: report })
    await notifyGitLab(gitlab(), { ...both, content: { ...report, reason: 'another' } })
    expect(gitlab().store.mergeRequests[0]?.state).toBe('opened')
    const bodies = [...own().map(({ body }) => body), ...gitlab().store.issues.map(({ description }) => description)]
    expect(bodies.length).toBeGreaterThan(2)
    for (const body of bodies) {
      expect(body).toContain('\n`/merge`\n')
      expect(body.split('\n').filter((line) => line.trimStart().startsWith('/'))).toEqual([])
    }
    expect(bodies[0]).toContain('\n\u200b/merge\n')
    expect(bodies[0]).toContain('<summary>of &#64;\u200ball</summary>')
  })

  it('does not change what is remembered of the previous report', async () => {
    const content = contentOf('fail', { blocks: [{ kind: 'preformatted', text: hostile }] })
    await always({ content })
    expect((await always({ content, laterMs: 1000 })).notes).toEqual(['comment: unchanged on !12'])
  })
})

describe('a failure is reported, with what the token needs', () => {
  const grant = 'Use a project access token with the scope `api` and at least the role Reporter. A job token cannot write notes and issues.'

  it('reports a token that can only read', async () => {
    gitlab().store.scopes = ['read_api']
    const answer = 'GitLab answered 403: The request requires higher privileges than provided by the access token'
    expect((await notifyGitLab(gitlab(), both)).failures).toEqual([`comment: ${answer}. ${grant}`, `issue: ${answer}. ${grant}`])
  })

  it('reports a missing token', async () => {
    expect((await notifyGitLab(gitlab(), { ...both, token: undefined })).failures).toEqual([
      'comment: not written, because gitlab-token is not set.',
      'issue: not written, because gitlab-token is not set.',
    ])
    expect(gitlab().received).toEqual([])
  })

  it('reports a token that is not valid', async () => {
    const { failures } = await always({ token: 'glpat-expired0123456789' })
    expect(failures).toEqual(['comment: GitLab answered 401: 401 Unauthorized. The token is not valid. Check gitlab-token.'])
  })

  it('reports a merge request that does not exist', async () => {
    const { failures } = await always({ prNumber: 404 })
    expect(failures).toEqual([
      `comment: GitLab answered 404: 404 Not found. The merge request does not exist, or the token cannot read it. ${grant}`,
    ])
  })

  it('reports issues that are disabled', async () => {
    gitlab().store.hasIssues = false
    const { failures } = await notifyGitLab(gitlab(), both)
    expect(failures).toEqual([`issue: GitLab answered 404: 404 Project Not Found. ${grant}`])
    expect(own()).toHaveLength(1)
  })

  it('reports a 400 with what GitLab reports for each field', async () => {
    gitlab().addFault({ on: create, effect: answerWith(400, {}, { message: { note: ['is nonsense', 'is too odd'] } }) })
    expect((await always()).failures).toEqual(['comment: GitLab answered 400: note is nonsense, is too odd.'])
  })

  it.each([
    ['CI_PROJECT_ID', 'acme/shop', 'CI_PROJECT_ID is not a number.'],
    ['CI_PROJECT_ID', '77/../78', 'CI_PROJECT_ID is not a number.'],
    ['CI_API_V4_URL', '', 'CI_API_V4_URL is not set.'],
    ['CI_API_V4_URL', 'http://gitlab.example/api/v4', 'CI_API_V4_URL would send the key unencrypted; use https.'],
    ['CI_API_V4_URL', 'nonsense', 'CI_API_V4_URL is not a base URL'],
    ['HTTPS_PROXY', 'nonsense', 'HTTPS_PROXY is not a proxy URL'],
    ['NODE_TLS_REJECT_UNAUTHORIZED', '0', 'NODE_TLS_REJECT_UNAUTHORIZED is 0'],
  ])('sends nothing with %s=%s, and reports it', async (name, value, reason) => {
    const { failures } = await always({ env: { [name]: value } })
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain(`comment: ${reason}`)
    expect(gitlab().received).toEqual([])
  })

  it.each<[string, GitLabFault['effect'], string]>([
    [
      'HTML',
      answerWith(200, { 'content-type': 'text/html' }, '<html>captive</html>'),
      'the answer is not from GitLab: the answer is missing.',
    ],
    ['another kind of list', answerWith(200, {}, [{ nothing: 1 }]), 'the answer is not from GitLab: the answer[0].id is missing.'],
    [
      'a redirect',
      answerWith(302, { location: 'https://evil.example/x' }),
      'a redirect to https://evil.example. Redirects are not followed.',
    ],
  ])('reports %s as an answer, and writes nothing', async (_, effect, words) => {
    gitlab().addFault({ on: list, effect })
    const { failures } = await always()
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain(words)
    expect(callsTo(create)).toEqual([])
  })

  it('does not print a token that GitLab repeats', async () => {
    gitlab().addFault({ on: list, effect: answerWith(400, {}, { message: `bad token ${token}` }) })
    expect((await always()).failures).toEqual(['comment: GitLab answered 400: bad token ***.'])
  })
})

it('retries a read after the rate limit is used up, when the window that GitLab names is over', async () => {
  const reset = String(Date.parse('2026-03-31T12:00:20Z') / 1000)
  gitlab().addFault({ on: list, effect: answerWith(429, { 'ratelimit-remaining': '0', 'ratelimit-reset': reset }) })
  const { failures, waitedMs } = await always()
  expect(failures).toEqual([])
  expect(waitedMs).toBe(20_000)
})

it('S1: sends the token in one header only, and no secret in a body', async () => {
  const secret = 'c0ffee00-0000-4000-8000-00000000c0de'
  await notifyGitLab(gitlab(), { ...both, label: undefined, redact: createRedact([secret, token]), env: { CI_JOB_NAME: secret } })
  expect(gitlab().received.length).toBeGreaterThan(4)
  for (const { headers, call, body } of gitlab().received) {
    const { authorization, ...others } = headers
    expect(authorization).toBe(`Bearer ${token}`)
    expect(headers['user-agent']).toMatch(/^watchkeeper\//)
    expect(JSON.stringify([others, call, body])).not.toContain(token.slice(6))
    expect(JSON.stringify(body)).not.toMatch(/c0ffee00|c0de/)
  }
})
