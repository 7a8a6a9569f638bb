import { describe, expect, it } from 'vitest'
import { createRedact } from '../../../../src/platform/core/secrets.ts'
import { createScaledClock } from '../../../support/clocks.ts'
import { token, useGitHub } from '../../../support/github-server.ts'
import { contentOf, notifyGitHub } from '../../../support/notify.ts'

const github = useGitHub()

const both = { comment: 'always', issue: 'on-failure' } as const

const list = 'GET /repos/acme/shop/issues/12/comments'
const create = 'POST /repos/acme/shop/issues/12/comments'
const callsTo = (start: string) =>
  github()
    .calls()
    .filter((call) => call.startsWith(start))

describe('time limits of requests', () => {
  it('a hanging read ends with its own limit, and all of it with the common one', { tags: 'slow' }, async () => {
    github().addFault({ on: list, times: 9, effect: { kind: 'hang' } })
    const { failures } = await notifyGitHub(github(), { comment: 'always', limits: { requestMs: 100, totalMs: 60_000 } })
    expect(failures).toHaveLength(1)
    expect(failures[0]).toBe('comment: GitHub: no answer within 0.1 s (REQUEST_TIMEOUT).')
    expect(callsTo(list)).toHaveLength(3)
  })

  it('a hanging write is given up, and said to be uncertain', { tags: 'slow' }, async () => {
    github().addFault({ on: create, effect: { kind: 'hang' } })
    const { failures } = await notifyGitHub(github(), { comment: 'always', limits: { requestMs: 300, totalMs: 60_000 } })
    expect(failures[0]).toContain('GitHub may have written it.')
    expect(callsTo(create)).toHaveLength(1)
  })

  it('R4: comment and issue take at most 30 seconds together', { tags: 'slow' }, async () => {
    github().addFault({ on: 'POST /graphql', times: 9, effect: { kind: 'hang' } })
    const { failures } = await notifyGitHub(github(), { ...both, clock: createScaledClock(100) })
    expect(failures).toHaveLength(2)
    // Two reads of 15 seconds: there is no time for a third one.
    expect(github().received).toHaveLength(2)
  })

  it('sends nothing after the time limit for all requests', async () => {
    const { failures } = await notifyGitHub(github(), { ...both, limits: { requestMs: 300, totalMs: 0 } })
    expect(failures).toEqual(['comment: the time limit is reached.', 'issue: the time limit is reached.'])
    expect(github().received).toEqual([])
  })

  it('sends nothing when the run is canceled', async () => {
    await notifyGitHub(github(), { ...both, stop: AbortSignal.abort() })
    expect(github().received).toEqual([])
  })
})

it('completes the current write after a first signal, and starts no other', async () => {
  await notifyGitHub(github(), { issue: 'on-failure' })
  const stop = new AbortController()
  github().addFault({ on: 'PATCH', effect: { kind: 'meanwhile', change: () => stop.abort() } })
  const { failures } = await notifyGitHub(github(), {
    issue: 'on-failure',
    content: contentOf('pass'),
    stop: stop.signal,
    abort: new AbortController().signal,
  })
  expect(failures).toEqual(['issue: canceled before it was sent.'])
  expect(github().store.issues[0]?.state).toBe('closed')
  expect(github().store.comments).toEqual([])
})

describe('requests', () => {
  it('requests ask for the current state, not for a cached one', async () => {
    await notifyGitHub(github(), { comment: 'always' })
    await notifyGitHub(github(), { comment: 'always', content: contentOf('pass') })
    for (const { headers } of github().received) expect(headers['if-none-match']).toBeUndefined()
    expect(github().store.comments[0]?.body).toContain('✅')
  })

  it('S1: requests have a user agent, and the token in one header only', async () => {
    await notifyGitHub(github(), both)
    for (const { headers, call } of github().received) {
      const { authorization, ...others } = headers
      expect(authorization).toBe(`token ${token}`)
      expect(headers['user-agent']).toMatch(/^watchkeeper\//)
      expect(JSON.stringify([others, call])).not.toContain(token.slice(4))
    }
  })
})

it('S1: writes no secret that a label or a job holds', async () => {
  const secret = 'c0ffee00-0000-4000-8000-00000000c0de'
  const options = { ...both, redact: createRedact([secret]), env: { GITHUB_JOB: secret } }
  await notifyGitHub(github(), { ...options, label: `x ${secret}` })
  await notifyGitHub(github(), { ...options, label: undefined })
  expect(JSON.stringify(github().received.map(({ body }) => body))).not.toMatch(/c0ffee00|c0de/)
  expect(github().store.issues).toHaveLength(2)
})

describe('on GitHub Enterprise Server', () => {
  const enterprise = useGitHub('/api/v3')

  it('sends all requests to paths below GITHUB_API_URL', async () => {
    const { failures } = await notifyGitHub(enterprise(), both)
    expect(failures).toEqual([])
    expect(enterprise().store.comments).toHaveLength(1)
    expect(enterprise().store.issues).toHaveLength(1)
  })
})
