import { describe, expect, it } from 'vitest'
import { type GitHubFault, token, useGitHub } from '../../../support/github-server.ts'
import { contentOf, notifyGitHub, pullRequestEvent } from '../../../support/notify.ts'

const github = useGitHub()

const both = { comment: 'always', issue: 'on-failure' } as const

const list = 'GET /repos/acme/shop/issues/12/comments'
const create = 'POST /repos/acme/shop/issues/12/comments'
const callsTo = (start: string) =>
  github()
    .calls()
    .filter((call) => call.startsWith(start))

const answerWith = (status: number, headers: Readonly<Record<string, string>> = {}, body?: unknown): GitHubFault['effect'] => ({
  kind: 'answer',
  status,
  headers,
  ...(body !== undefined && { body }),
})

describe('a failure is reported, with the permission that is missing', () => {
  it('reports a token that may write neither', async () => {
    github().store.may = { comments: false, issues: false, labels: false }
    expect((await notifyGitHub(github(), both)).failures).toEqual([
      'comment: GitHub answered 403: Resource not accessible by integration. Give the job `permissions: pull-requests: write`. In a called workflow, the calling job needs it, too.',
      'issue: GitHub answered 403: Resource not accessible by integration. Give the job `permissions: issues: write`. In a called workflow, the calling job needs it, too.',
    ])
  })

  it('reports a pull request from a fork', async () => {
    github().store.may.comments = false
    expect((await notifyGitHub(github(), { comment: 'always', event: pullRequestEvent(12, 'mallory/shop') })).failures).toEqual([
      'comment: GitHub answered 403: Resource not accessible by integration. The token of a pull request from a fork can only read.',
    ])
  })

  it('reports a missing token', async () => {
    expect((await notifyGitHub(github(), { ...both, token: undefined })).failures).toEqual([
      'comment: not written, because github-token is not set.',
      'issue: not written, because github-token is not set.',
    ])
    expect(github().received).toEqual([])
  })

  it('reports a token that is not valid', async () => {
    const { failures } = await notifyGitHub(github(), { comment: 'always', token: 'ghs_expired0123456789' })
    expect(failures).toEqual(['comment: GitHub answered 401: Bad credentials. The token is not valid. Check github-token.'])
  })

  it('reports a pull request that does not exist', async () => {
    const { failures } = await notifyGitHub(github(), { comment: 'always', prNumber: 404 })
    expect(failures).toEqual([
      'comment: GitHub answered 404: Not Found. The pull request does not exist, or the token cannot read it. Give the job `permissions: pull-requests: write`. In a called workflow, the calling job needs it, too.',
    ])
  })

  it('reports issues that are disabled', async () => {
    github().store.hasIssues = false
    const { failures } = await notifyGitHub(github(), both)
    expect(failures).toEqual(['issue: GitHub answered 410: Issues has been disabled in this repository.'])
    expect(github().store.comments).toHaveLength(1)
  })

  it('reports a locked conversation, for which no permission helps', async () => {
    github().addFault({ on: create, effect: answerWith(403, {}, { message: 'Unable to create comment because issue is locked' }) })
    const { failures } = await notifyGitHub(github(), { comment: 'always' })
    expect(failures).toEqual(['comment: GitHub answered 403: Unable to create comment because issue is locked.'])
  })

  it('reports a 422 with the message of GitHub', async () => {
    const body = { message: 'Validation Failed', errors: [{ resource: 'IssueComment', message: 'Body is nonsense' }, 'x'] }
    github().addFault({ on: create, effect: answerWith(422, {}, body) })
    expect((await notifyGitHub(github(), { comment: 'always' })).failures).toEqual([
      'comment: GitHub answered 422: Validation Failed: Body is nonsense.',
    ])
  })

  it.each([
    ['GITHUB_REPOSITORY', 'acme', 'GITHUB_REPOSITORY is not owner/name.'],
    ['GITHUB_REPOSITORY', 'acme/..', 'GITHUB_REPOSITORY is not owner/name.'],
    ['GITHUB_API_URL', 'http://github.example', 'GITHUB_API_URL would send the key unencrypted; use https.'],
    ['GITHUB_API_URL', 'nonsense', 'GITHUB_API_URL is not a base URL'],
    ['HTTPS_PROXY', 'nonsense', 'HTTPS_PROXY is not a proxy URL'],
    ['NODE_TLS_REJECT_UNAUTHORIZED', '0', 'NODE_TLS_REJECT_UNAUTHORIZED is 0'],
  ])('sends nothing with %s=%s, and reports it', async (name, value, reason) => {
    const { failures } = await notifyGitHub(github(), { comment: 'always', env: { [name]: value } })
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain(`comment: ${reason}`)
    expect(github().received).toEqual([])
  })

  it.each<[string, GitHubFault['effect'], string]>([
    [
      'HTML',
      answerWith(200, { 'content-type': 'text/html' }, '<html>captive</html>'),
      'the answer is not from GitHub: the answer is not of type array.',
    ],
    [
      'R5: brackets of 10 MB',
      answerWith(200, {}, '['.repeat(10_000_000)),
      'the answer is not from GitHub: the answer is not of type array.',
    ],
    ['another kind of list', answerWith(200, {}, [{ nothing: 1 }]), 'the answer is not from GitHub: the answer[0].id is missing.'],
    [
      'a redirect',
      answerWith(301, { location: 'https://evil.example/x' }),
      'a redirect to https://evil.example. Redirects are not followed.',
    ],
  ])('reports %s as an answer, and writes nothing', async (_, effect, words) => {
    github().addFault({ on: list, effect })
    const { failures } = await notifyGitHub(github(), { comment: 'always' })
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain(words)
    expect(callsTo(create)).toEqual([])
  })

  it('S1: redacts a token that GitHub repeats in an answer', async () => {
    github().addFault({ on: list, effect: answerWith(400, {}, { message: `bad token ${token}` }) })
    const { failures } = await notifyGitHub(github(), { comment: 'always' })
    expect(failures).toEqual(['comment: GitHub answered 400: bad token ***.'])
  })

  it('redacts a token that GitHub repeats in an answer after which the request is sent again', async () => {
    github().addFault({ on: list, effect: answerWith(503, {}, { message: `bad token ${token}` }) })
    const { notes } = await notifyGitHub(github(), { comment: 'always' })
    expect(notes[0]).toContain('bad token ***')
  })
})

describe('reads are tried again', () => {
  it.each<[string, GitHubFault['effect']]>([
    ['500', answerWith(500)],
    ['502 with HTML', answerWith(502, { 'content-type': 'text/html' }, '<html>')],
    ['503', answerWith(503)],
    ['a connection that breaks', { kind: 'reset' }],
    ['a primary rate limit', answerWith(429)],
  ])('retries a read after %s', async (_, effect) => {
    github().addFault({ on: list, times: 2, effect })
    expect((await notifyGitHub(github(), { comment: 'always' })).failures).toEqual([])
    expect(callsTo(list)).toHaveLength(3)
    expect(github().store.comments).toHaveLength(1)
  })

  it.each([
    ['403', 403],
    ['429', 429],
  ])('retries a read after a secondary rate limit with %s, as late as GitHub asks', async (_, status) => {
    const body = { message: 'You have exceeded a secondary rate limit.' }
    github().addFault({ on: list, effect: answerWith(status, { 'retry-after': '7' }, body) })
    const { failures, waitedMs, notes } = await notifyGitHub(github(), { comment: 'always' })
    expect(failures).toEqual([])
    expect(waitedMs).toBe(7000)
    expect(notes[0]).toBe(`Trying again in 7.0 s (attempt 1 of 3): GitHub answered ${status}: You have exceeded a secondary rate limit`)
  })

  it('retries a read after the rate limit is used up, when the window that GitHub names is over', async () => {
    const reset = String(Date.parse('2026-03-31T12:00:20Z') / 1000)
    github().addFault({ on: list, effect: answerWith(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }) })
    const { failures, waitedMs } = await notifyGitHub(github(), { comment: 'always' })
    expect(failures).toEqual([])
    expect(waitedMs).toBe(20_000)
  })

  it('tries a read three times at most, with those that a rate limit refuses', async () => {
    github().addFault({ on: list, effect: answerWith(429) })
    github().addFault({ on: list, times: 9, effect: answerWith(500) })
    expect((await notifyGitHub(github(), { comment: 'always' })).failures).toEqual(['comment: GitHub answered 500: It broke.'])
    expect(callsTo(list)).toHaveLength(3)
    expect(callsTo(create)).toEqual([])
  })

  it('does not retry a read when the wait is longer than the time limit', async () => {
    github().addFault({ on: list, effect: answerWith(403, { 'retry-after': '600' }) })
    const { failures, waitedMs } = await notifyGitHub(github(), { comment: 'always' })
    expect(failures).toEqual(['comment: GitHub answered 403: It broke. This is a rate limit. GitHub asks to wait 600 s.'])
    expect(waitedMs).toBe(0)
    expect(callsTo(list)).toHaveLength(1)
  })

  it('retries the request for the owner of the token', async () => {
    github().addFault({ on: 'POST /graphql', effect: answerWith(502) })
    expect((await notifyGitHub(github(), { comment: 'always' })).failures).toEqual([])
  })
})

describe('a write that may have been carried out', () => {
  it.each<[string, GitHubFault['effect'], string]>([
    ['502', answerWith(502), 'GitHub answered 502: It broke. GitHub may have written it.'],
    ['a connection that breaks', { kind: 'reset' }, 'GitHub may have written it.'],
  ])('is sent once if it creates something, after %s', async (_, effect, words) => {
    github().addFault({ on: create, effect })
    const { failures } = await notifyGitHub(github(), { comment: 'always' })
    expect(failures[0]).toContain(words)
    expect(callsTo(create)).toHaveLength(1)
  })

  it.each<[string, GitHubFault['effect'], number]>([
    ['502', answerWith(502), 0],
    ['a connection that breaks', { kind: 'reset' }, 0],
    ['a secondary rate limit', answerWith(403, { 'retry-after': '7' }), 7000],
  ])('is sent again if it only replaces a text, after %s', async (_, effect, waitMs) => {
    await notifyGitHub(github(), { comment: 'always' })
    github().addFault({ on: 'PATCH', afterwards: true, effect })
    const { failures, waitedMs } = await notifyGitHub(github(), { comment: 'always', content: contentOf('pass') })
    expect([failures, callsTo('PATCH').length]).toEqual([[], 2])
    expect(waitedMs).toBeGreaterThanOrEqual(waitMs)
    expect(github().store.comments[0]?.body).toContain('✅')
  })

  it('that GitHub refuses by a rate limit is sent again when GitHub asks for it, within the limit of time', async () => {
    github().addFault({ on: create, effect: answerWith(403, { 'retry-after': '7' }) })
    expect(await notifyGitHub(github(), { comment: 'always' })).toMatchObject({ failures: [], waitedMs: 7000 })
    github().addFault({ on: 'PATCH', effect: answerWith(429, { 'retry-after': '60' }) })
    const { failures, waitedMs } = await notifyGitHub(github(), { comment: 'always', content: contentOf('pass') })
    expect(failures).toEqual(['comment: GitHub answered 429: It broke. This is a rate limit. GitHub asks to wait 60 s.'])
    expect([waitedMs, github().store.comments.length]).toEqual([0, 1])
  })

  it('finds what was written although the answer was lost is found by the next run', async () => {
    for (const on of [create, 'POST /repos/acme/shop/issues']) github().addFault({ on, afterwards: true, effect: answerWith(502) })
    expect((await notifyGitHub(github(), both)).failures).toHaveLength(2)
    expect((await notifyGitHub(github(), both)).failures).toEqual([])
    expect(github().store.comments).toHaveLength(1)
    expect(github().store.issues).toHaveLength(1)
  })

  it('does not repeat a lost comment about recovery', async () => {
    await notifyGitHub(github(), { issue: 'on-failure' })
    github().addFault({ on: 'POST /repos/acme/shop/issues/100/comments', effect: answerWith(502) })
    expect((await notifyGitHub(github(), { issue: 'on-failure', content: contentOf('pass') })).failures).toHaveLength(1)
    await notifyGitHub(github(), { issue: 'on-failure', content: contentOf('pass') })
    expect(github().store.issues[0]?.state).toBe('closed')
    expect(callsTo('POST /repos/acme/shop/issues/100/comments')).toHaveLength(1)
  })
})
