import { describe, expect, it } from 'vitest'
import { markerOf } from '../../../src/github/body.ts'
import { bot, otherComments, otherUser, type StoredIssue, useGitHub } from '../../support/github-server.ts'
import { type NotifyCase, notificationOf, notifyGitHub, startMs } from '../../support/notify.ts'

const github = useGitHub()

const onFailure = (options: NotifyCase = {}) => notifyGitHub(github(), { issue: 'on-failure', ...options })

const issues = () => github().store.issues
const words = () => github().store.comments.map(({ body }) => body)
const writes = () =>
  github()
    .calls()
    .filter((call) => !call.startsWith('GET'))

const stored = (more: Partial<StoredIssue>): StoredIssue => ({
  number: 5,
  title: 'x',
  body: `${markerOf('issue', 'cost')}\n`,
  user: bot,
  labels: ['watchkeeper'],
  state: 'open',
  stateReason: null,
  ...more,
})

describe('the issue', () => {
  it('is opened on failure, once', async () => {
    expect((await onFailure()).notes).toEqual(['issue: opened #100'])
    expect((await onFailure()).notes).toEqual(['issue: updated #100'])
    expect(issues()).toHaveLength(1)
    expect(issues()[0]).toMatchObject({ title: 'Watchkeeper: cost fails', labels: ['watchkeeper'], state: 'open' })
    expect(issues()[0]?.body).toContain('### ❌ The cost')
  })

  it.each(['pass', 'warn'] as const)('is not opened for a %s', async (status) => {
    expect((await onFailure({ notification: notificationOf(status) })).notes).toEqual([])
    expect(writes()).toEqual([])
    expect(issues()).toEqual([])
  })

  it('is not opened for a failure that is only a warning, nor closed by one', async () => {
    const tolerated = notificationOf('warn', { hasFailed: true })
    await onFailure({ notification: tolerated })
    expect(issues()).toEqual([])
    await onFailure()
    await onFailure({ notification: tolerated })
    expect(issues().map(({ state }) => state)).toEqual(['open'])
    expect(issues()[0]?.body).toContain('### ⚠️')
  })

  it('keeps up with the figures without a word, and says so when it fails for another reason', async () => {
    await onFailure({ notification: notificationOf('fail', { text: 'above the budget by 3.5' }) })
    await onFailure({ notification: notificationOf('fail', { text: 'above the budget by 12.25' }) })
    expect(issues()[0]?.body).toContain('### ❌ above the budget by 12.25')
    expect(words()).toEqual([])
    await onFailure({ notification: notificationOf('error', { text: 'the API answered 503' }) })
    expect(words()).toHaveLength(1)
    expect(words()[0]).toMatch(/^It fails for another reason now\.\n\n### 🛑 the API answered 503\n/)
  })

  it.each(['pass', 'warn'] as const)('is closed on recovery, with a word: %s', async (status) => {
    await onFailure()
    expect((await onFailure({ notification: notificationOf(status) })).notes).toEqual(['issue: closed #100'])
    expect(issues()).toMatchObject([{ state: 'closed', stateReason: 'completed' }])
    expect(words()).toHaveLength(1)
    expect(words()[0]).toMatch(/^It has recovered\.\n\n### (?:✅|⚠️) The cost\n/)
    expect((await onFailure({ notification: notificationOf('pass') })).notes).toEqual([])
    expect(words()).toHaveLength(1)
  })

  it('is a new one for a failure after a recovery', async () => {
    await onFailure()
    await onFailure({ notification: notificationOf('pass') })
    await onFailure()
    expect(issues().map(({ state }) => state)).toEqual(['closed', 'open'])
  })

  it('of one label is not that of another', async () => {
    await onFailure({ label: 'cost' })
    await onFailure({ label: 'backups' })
    await onFailure({ label: 'backups', notification: notificationOf('pass') })
    expect(issues().map(({ title, state }) => [title, state])).toEqual([
      ['Watchkeeper: cost fails', 'open'],
      ['Watchkeeper: backups fails', 'closed'],
    ])
  })

  it('has a title of one line, in which ids are short', async () => {
    await onFailure({ label: undefined, target: 'c0ffee00-0000-4000-8000-0000000000c2' })
    await onFailure({ label: `a\n::error::x ${'é'.repeat(90)}\ud83d` })
    expect(issues().map(({ title }) => title)).toEqual([
      'Watchkeeper: cost gate / cost / usage-cost / c0ffee00 fails',
      expect.stringMatching(/^Watchkeeper: a\\n::error::x é+.? fails$/),
    ])
    for (const { title } of issues()) expect(title.length).toBeLessThanOrEqual(256)
  })

  it('is found among many, on a later page', async () => {
    const others = Array.from({ length: 250 }, (_, i) => stored({ number: 1000 + i, body: 'of another action' }))
    github().store.issues = [stored({}), ...others]
    await onFailure()
    expect(issues()).toHaveLength(251)
    expect(writes().at(-1)).toBe('PATCH /repos/acme/shop/issues/5')
  })

  it('that a slower run knows less of is left alone', async () => {
    await onFailure({ notification: notificationOf('fail', { atMs: startMs + 60_000 }), laterMs: 60_000 })
    expect((await onFailure({ notification: notificationOf('pass'), laterMs: 90_000 })).notes).toEqual([
      'issue: a run that started later has updated #100, which stays',
    ])
    expect(issues()[0]?.state).toBe('open')
  })

  it('that vanished between reading and writing is opened anew', async () => {
    await onFailure()
    github().addFault({ on: 'PATCH', effect: { kind: 'meanwhile', change: (store) => void store.issues.splice(0) } })
    await onFailure()
    expect(issues()).toHaveLength(1)
    github().addFault({ on: 'PATCH', effect: { kind: 'meanwhile', change: (store) => void store.issues.splice(0) } })
    expect(await onFailure({ notification: notificationOf('pass') })).toMatchObject({ failures: [] })
    expect(words()).toEqual([])
  })
})

describe('an issue that is not ours is never touched', () => {
  it.each([
    ['of somebody else, with our mark and label', stored({ user: otherUser })],
    ['that quotes the mark', stored({ body: `As in ${markerOf('issue', 'cost')}` })],
    ['of another label', stored({ body: markerOf('issue', 'cost gate') })],
    ['with the mark of a comment', stored({ body: markerOf('comment', 'cost') })],
    ['that is closed', stored({ state: 'closed' })],
  ])('%s', async (_, issue) => {
    const before = { ...issue }
    github().store.issues = [issue]
    await onFailure({ notification: notificationOf('pass') })
    expect(github().store.issues).toEqual([before])
    await onFailure()
    expect(github().store.issues[0]).toEqual(before)
    expect(github().store.issues).toHaveLength(2)
  })

  it('that lost its label, but then no second one is opened either', async () => {
    const issue = stored({ labels: ['keep'] })
    github().store.issues = [issue]
    const { notes } = await onFailure()
    expect(notes).toEqual(['issue: #5 is open and lost its label watchkeeper: it is left alone, and no second one opened'])
    await onFailure({ notification: notificationOf('pass') })
    expect(github().store.issues).toEqual([issue])
    expect(issue.state).toBe('open')
  })

  it('a pull request by the same author, with our mark and label', async () => {
    github().store.pulls = [{ number: 12, state: 'open', commits: [], body: markerOf('issue', 'cost') }]
    await onFailure()
    await onFailure({ notification: notificationOf('pass') })
    expect(writes().filter((call) => call.includes('/issues/12'))).toEqual([])
    expect(issues()).toHaveLength(1)
  })
})

describe('two issues for one label', () => {
  it('that two runs opened at once become one: the older one stays', async () => {
    github().addFault({
      on: 'POST /repos/acme/shop/issues',
      effect: { kind: 'meanwhile', change: (store) => void store.issues.push(stored({ number: 5 })) },
    })
    await onFailure()
    expect(issues().map(({ number, state }) => [number, state])).toEqual([
      [5, 'open'],
      [100, 'closed'],
    ])
    expect(issues()[1]?.stateReason).toBe('not_planned')
  })

  it('are both closed on recovery', async () => {
    github().store.issues = [stored({ number: 5 }), stored({ number: 9 })]
    await onFailure({ notification: notificationOf('pass') })
    expect(issues().map(({ state, stateReason }) => [state, stateReason])).toEqual([
      ['closed', 'completed'],
      ['closed', 'not_planned'],
    ])
  })
})

it('a token that may not set labels opens one issue, says so, and opens no second one', async () => {
  github().store.may.labels = false
  const { notes } = await onFailure()
  expect(notes.at(-1)).toContain('has no label watchkeeper, because the token may not set one')
  await onFailure()
  expect(issues()).toHaveLength(1)
})

it('comment and issue of one run share nothing but the label', async () => {
  github().store.comments = otherComments(1)
  const { failures } = await onFailure({ comment: 'always' })
  expect(failures).toEqual([])
  expect(github().store.comments).toHaveLength(2)
  expect(issues()).toHaveLength(1)
  expect(github().received.filter(({ call }) => call.endsWith('/graphql'))).toHaveLength(1)
})
