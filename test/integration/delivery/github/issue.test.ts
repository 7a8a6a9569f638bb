import { describe, expect, it } from 'vitest'
import { markerOf } from '../../../../src/delivery/github/body.ts'
import { bot, otherComments, otherUser, type StoredIssue, useGitHub } from '../../../support/github-server.ts'
import { contentOf, type NotifyCase, notifyGitHub, startMs } from '../../../support/notify.ts'

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
  it('the issue is opened on failure, once', async () => {
    expect((await onFailure()).notes).toEqual(['issue: opened #100'])
    expect((await onFailure({ content: contentOf('error') })).notes).toEqual(['issue: updated #100'])
    expect(issues()).toHaveLength(1)
    expect(issues()[0]).toMatchObject({ title: 'Cost: The cost', labels: ['watchkeeper'], state: 'open' })
    expect(issues()[0]?.body).toContain('### 🛑 The cost')
  })

  it.each(['pass', 'warn'] as const)('the issue is not opened for a %s', async (status) => {
    expect((await onFailure({ content: contentOf(status) })).notes).toEqual([])
    expect(writes()).toEqual([])
    expect(issues()).toEqual([])
  })

  it('the issue is neither opened nor closed by a failure that warn-only makes a warning', async () => {
    const tolerated = contentOf('warn', { hasFailed: true })
    await onFailure({ content: tolerated })
    expect(issues()).toEqual([])
    await onFailure()
    await onFailure({ content: tolerated })
    expect(issues().map(({ state }) => state)).toEqual(['open'])
    expect(issues()[0]?.body).toContain('### ⚠️')
  })

  it('the issue is updated without a comment for other figures, and with a comment for another reason', async () => {
    const cause = 'budget exceeded'
    await onFailure({ content: contentOf('fail', { text: 'above the budget by 3.5', cause }) })
    await onFailure({ content: contentOf('fail', { text: 'above the budget by 12.25', cause }) })
    expect(issues()[0]?.body).toContain('### ❌ above the budget by 12.25')
    expect(issues()[0]?.title).toBe('Cost: budget exceeded')
    expect(words()).toEqual([])
    await onFailure({ content: contentOf('error', { text: 'the API answered 503' }) })
    expect(words()).toHaveLength(1)
    expect(words()[0]).toMatch(/^The reason for the failure has changed\.\n\n### 🛑 the API answered 503\n/)
    await onFailure({ content: contentOf('pass') })
    expect(issues()[0]).toMatchObject({ title: 'Cost: the API answered 503', state: 'closed' })
  })

  it.each(['pass', 'warn'] as const)('the issue is closed with a comment after recovery with the status %s', async (status) => {
    await onFailure()
    expect((await onFailure({ content: contentOf(status) })).notes).toEqual(['issue: closed #100'])
    expect(issues()).toMatchObject([{ state: 'closed', stateReason: 'completed' }])
    expect(words()).toHaveLength(1)
    expect(words()[0]).toMatch(/^The check passes again\.\n\n### (?:✅|⚠️) The cost\n/)
    expect((await onFailure({ content: contentOf('pass') })).notes).toEqual([])
    expect(words()).toHaveLength(1)
  })

  it('the issue that somebody opens again is closed by the next success, whose report only has another time', async () => {
    await onFailure()
    await onFailure({ content: contentOf('pass') })
    for (const issue of issues()) issue.state = 'open'
    expect((await onFailure({ content: contentOf('pass') })).notes).toEqual(['issue: closed #100'])
  })

  it('the issue is a new one for a failure after recovery', async () => {
    await onFailure()
    await onFailure({ content: contentOf('pass') })
    await onFailure()
    expect(issues().map(({ state }) => state)).toEqual(['closed', 'open'])
  })

  it('the issue of one label is not updated by a run with another label', async () => {
    await onFailure({ label: 'cost' })
    await onFailure({ label: 'backups' })
    await onFailure({ label: 'backups', content: contentOf('pass') })
    expect(issues().map(({ title, state }) => [title, state])).toEqual([
      ['Cost: The cost', 'open'],
      ['Backups: The cost', 'closed'],
    ])
  })

  it('the issue has a title of one line: the check, and why it fails', async () => {
    const text = 'Budget exceeded: 296.66 of 250.00 CHC (119%).'
    const cause = 'budget exceeded'
    await onFailure({ label: undefined, target: 'c0ffee00-0000-4000-8000-0000000000c2', content: contentOf('fail', { text, cause }) })
    await onFailure({
      content: contentOf('fail', { cause: `${'é'.repeat(300)}\n\u202e@everyone` }),
      label: `a\n::error::x ${'é'.repeat(90)}\ud83d`,
    })
    expect(issues().map(({ title }) => title)).toEqual([
      'Cost gate: budget exceeded',
      expect.stringMatching(/^A\\n::error::x é+… \(\d+ more characters\): é+… \(\d+ more characters\)$/),
    ])
    for (const { title } of issues()) expect(title.length).toBeLessThanOrEqual(256)
  })

  it('the command that runs it again has the host of an own GitHub server, without which gh asks github.com', async () => {
    for (const [server, repository] of [
      ['https://git.example.com', 'git.example.com/acme/shop'],
      ['https://github.com', 'acme/shop'],
    ] as const) {
      await onFailure({ content: contentOf('error', { advice: { empty: [] } }), env: { GITHUB_SERVER_URL: server } })
      expect(issues()[0]?.body).toContain(`To run it again: \`gh run rerun 4711 --repo ${repository}\`\n`)
    }
  })

  it('the issue of a run that failed as before is not written again, although it could be run again by another command', async () => {
    const run = (id: string) => onFailure({ content: contentOf('error', { advice: { empty: [] } }), env: { GITHUB_RUN_ID: id } })
    await run('4711')
    expect(issues()[0]?.body).toContain('To run it again: `gh run rerun 4711 --repo github.example/acme/shop`')
    expect((await run('4712')).notes).toEqual(['issue: unchanged #100'])
  })

  it('the issue is found by its marker, whatever its title is', async () => {
    await onFailure()
    const [issue] = issues()
    if (issue === undefined) throw new Error('no issue was opened')
    issue.title = 'Known, see #7'
    github().store.issues.push(stored({ number: 500, title: 'Cost: The cost', body: 'A title that somebody copied' }))
    expect((await onFailure({ content: contentOf('pass') })).notes).toEqual(['issue: closed #100'])
    expect(issues().map(({ title, state }) => [title, state])).toEqual([
      ['Known, see #7', 'closed'],
      ['Cost: The cost', 'open'],
    ])
  })

  it('the issue is found among many, on a later page', async () => {
    const others = Array.from({ length: 250 }, (_, i) => stored({ number: 1000 + i, body: 'of another action' }))
    github().store.issues = [stored({}), ...others]
    await onFailure()
    expect(issues()).toHaveLength(251)
    expect(writes().at(-1)).toBe('PATCH /repos/acme/shop/issues/5')
  })

  it('the issue of a run that started later is not overwritten by a slower run', async () => {
    await onFailure({ content: contentOf('fail', { atMs: startMs + 60_000 }), laterMs: 60_000 })
    expect((await onFailure({ content: contentOf('pass'), laterMs: 90_000 })).notes).toEqual([
      'issue: not updated #100, because a run that started later wrote it',
    ])
    expect(issues()[0]?.state).toBe('open')
  })

  it('the issue is opened again when it was deleted between reading and writing', async () => {
    await onFailure()
    github().addFault({ on: 'PATCH', effect: { kind: 'meanwhile', change: (store) => void store.issues.splice(0) } })
    await onFailure({ content: contentOf('error') })
    expect(issues()).toHaveLength(1)
    github().addFault({ on: 'PATCH', effect: { kind: 'meanwhile', change: (store) => void store.issues.splice(0) } })
    expect(await onFailure({ content: contentOf('pass') })).toMatchObject({ failures: [] })
    expect(words()).toEqual([])
  })
})

describe('an issue of others is never touched:', () => {
  it.each([
    ['of another account, with the marker and the label', stored({ user: otherUser })],
    ['that quotes the marker', stored({ body: `As in ${markerOf('issue', 'cost')}` })],
    ['of another label', stored({ body: markerOf('issue', 'cost gate') })],
    ['with the marker of a comment', stored({ body: markerOf('comment', 'cost') })],
    ['that is closed', stored({ state: 'closed' })],
  ])('does not change an issue %s', async (_, issue) => {
    const before = { ...issue }
    github().store.issues = [issue]
    await onFailure({ content: contentOf('pass') })
    expect(github().store.issues).toEqual([before])
    await onFailure()
    expect(github().store.issues[0]).toEqual(before)
    expect(github().store.issues).toHaveLength(2)
  })

  it('does not change an issue that lost its label, and no second one is opened', async () => {
    const issue = stored({ labels: ['keep'] })
    github().store.issues = [issue]
    const { notes } = await onFailure()
    expect(notes).toEqual(['issue: not opened, because #5 is still open without the label watchkeeper. Close that issue to get a new one'])
    await onFailure({ content: contentOf('pass') })
    expect(github().store.issues).toEqual([issue])
    expect(issue.state).toBe('open')
  })
})

describe('two issues for one label', () => {
  it('two issues for one label from two runs at once are reduced to the older one', async () => {
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

  it('two issues for one label are both closed after recovery', async () => {
    github().store.issues = [stored({ number: 5 }), stored({ number: 9 })]
    await onFailure({ content: contentOf('pass') })
    expect(issues().map(({ state, stateReason }) => [state, stateReason])).toEqual([
      ['closed', 'completed'],
      ['closed', 'not_planned'],
    ])
  })

  it('two issues for one label stay open where the newer one lost the label of the tool', async () => {
    github().store.issues = [stored({ number: 5 }), stored({ number: 9, labels: ['keep'] })]
    await onFailure()
    expect(issues().map(({ state }) => state)).toEqual(['open', 'open'])
  })
})

it('opens one issue and no second one with a token that cannot set labels', async () => {
  github().store.may.labels = false
  const { notes } = await onFailure()
  expect(notes.at(-1)).toContain('has no label watchkeeper, because the token cannot set labels.')
  await onFailure()
  expect(issues()).toHaveLength(1)
})

it('writes a comment and an issue in one run', async () => {
  github().store.comments = otherComments(1)
  const { failures } = await onFailure({ comment: 'always' })
  expect(failures).toEqual([])
  expect(github().store.comments).toHaveLength(2)
  expect(issues()).toHaveLength(1)
  expect(github().received.filter(({ call }) => call.endsWith('/graphql'))).toHaveLength(1)
})

describe('the transition that a message reports', () => {
  const transitionOf = async (options: NotifyCase = {}) => (await onFailure(options)).change
  const passed = { content: contentOf('pass') }

  it('the transition that a message reports is that the issue was opened, then none while it is open, then that it was closed, then none', async () => {
    expect(await transitionOf()).toBe('failing')
    expect(await transitionOf()).toBe('none')
    expect(await transitionOf({ content: contentOf('error', { text: 'the API answered 503' }) })).toBe('none')
    expect(await transitionOf(passed)).toBe('passing')
    expect(await transitionOf(passed)).toBe('none')
  })

  it('the transition that a message reports is none for a failure that warn-only makes a warning', async () => {
    const tolerated = { content: contentOf('warn', { hasFailed: true }) }
    expect(await transitionOf(tolerated)).toBe('none')
    await onFailure()
    expect(await transitionOf(tolerated)).toBe('none')
  })

  it('the transition that a message reports is none for a slow run, when a run that started later has written', async () => {
    await onFailure({ content: contentOf('fail', { atMs: startMs + 1000 }) })
    expect(await transitionOf(passed)).toBe('none')
  })

  it('the transition that a message reports is that of the issue, also when the comment about it cannot be written', async () => {
    await onFailure()
    github().addFault({ on: 'POST /repos/acme/shop/issues/100/comments', effect: { kind: 'answer', status: 403 } })
    expect(await onFailure(passed)).toMatchObject({ change: 'passing', issueNumber: 100, failures: [expect.stringContaining('403')] })
  })

  it('the transition that a message reports is unknown when the issue cannot be read or written', async () => {
    github().store.may.issues = false
    expect(await transitionOf()).toBe('unknown')
    expect(await transitionOf({ token: undefined })).toBe('unknown')
    github().store.hasIssues = false
    expect(await transitionOf()).toBe('unknown')
  })
})
