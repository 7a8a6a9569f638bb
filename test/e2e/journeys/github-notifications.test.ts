import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { addDays, dayOf } from '../../../src/platform/core/dates.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { token, useGitHub } from '../../support/github-server.ts'
import { runGitHubStep } from '../../support/notify.ts'
import { useReceiver, webhookPath } from '../../support/receiver.ts'
import { commandsOf, expectNoSecret, type RanAction } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })
const github = useGitHub()
const receiver = useReceiver()

/** Eleven days, which do not move with the day of the run. */
const period = `${addDays(dayOf(Date.now()), -10)}..${dayOf(Date.now())}`

const gate = (inputs: Readonly<Record<string, string>>, env = {}): Promise<RanAction> =>
  runGitHubStep(github(), {
    preload: {},
    env,
    inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period, ...inputs },
    secrets,
  })

const everywhere = () => ({
  ...{ comment: 'always', issue: 'on-failure', 'comment-label': 'cost' },
  ...{ 'notify-url': receiver().url, 'notify-on': 'change' },
})

const firstLines = (): readonly unknown[] => receiver().messages.map(({ json }) => String(json.text).split('\n')[0])

it('a failing cost gate on a pull request leaves one comment, one issue and one message when it runs twice, and reports recovery', async () => {
  for (const _ of [1, 2]) {
    const failed = await gate({ ...everywhere(), budget: '1' })
    expect([failed.exitCode, commandsOf(failed)]).toEqual([1, ['error']])
  }
  const { store } = github()
  expect(store.comments).toHaveLength(1)
  expect(store.comments[0]?.body).toMatch(/### ❌ Budget exceeded: /)
  expect(store.issues).toMatchObject([{ title: 'Cost: budget exceeded', state: 'open', labels: ['watchkeeper'] }])

  const passed = await gate({ ...everywhere(), budget: '100000' })
  expect([passed.exitCode, commandsOf(passed)]).toEqual([0, []])
  expect(passed.stdout).toMatch(/\n::group::GitHub\ncomment: updated on #12\n[\s\S]*\n::endgroup::\n/)
  expect(store.comments.map(({ on }) => on)).toEqual([12, 101])
  expect(store.comments[0]?.body).toMatch(/### ✅ [\s\S]*<details><summary>Previous report<\/summary>\n\n### ❌/)
  expect(store.comments[1]?.body).toMatch(/^The check passes again\.\n\n### ✅/)
  expect(store.issues).toMatchObject([{ state: 'closed', stateReason: 'completed' }])
  expect(firstLines()).toEqual([
    expect.stringMatching(/^❌ \*Cost gate:\* Budget exceeded: /),
    expect.stringMatching(/^✅ \*Cost gate:\* passes again\. Used /),
  ])
  const run = 'https://github.example/acme/shop/actions/runs/4711/attempts/1'
  expect(receiver().messages[0]?.json.text).toContain(
    ` · <${run}|View the run> · <https://github.example/acme/shop/issues/101|View the issue>`,
  )
  const sent = [github().received.map(({ call, body }) => [call, body]), receiver().messages.map(({ text }) => text)]
  expectNoSecret(JSON.stringify(sent), [token, webhookPath, ...secrets])
})

it('V4: a failing cost gate on a pull request has the same verdict, outputs and summary when GitHub and the webhook refuse, and the log names what is missing', async () => {
  const quiet = await gate({ budget: '1' })
  expect(github().received).toEqual([])
  github().store.may = { comments: false, issues: false, labels: false }
  receiver().answer({ status: 404, body: 'no_service' })
  const refused = await gate({ ...everywhere(), budget: '1' })
  const withoutTime = (text: string): string => text.replace(/ \d\d:\d\d UTC\n$/, '')
  const verdictOf = ({ exitCode, outputs, summary }: RanAction) => [
    exitCode,
    ...['status', 'failure-reason', 'grand-total-credits'].map((name) => outputs.get(name)),
    withoutTime(summary),
  ]
  expect(verdictOf(refused)).toEqual(verdictOf(quiet))
  expect(commandsOf(refused)).toEqual(['error', 'notice', 'warning'])
  for (const line of [
    'Give the job `permissions: pull-requests: write`.',
    'Give the job `permissions: issues: write`.',
    `notification: not delivered: ${receiver().host} answered 404: no_service. Check notify-url and notify-format.`,
  ])
    expect(refused.stdout).toContain(line)
})

it('V4: an event that the run cannot read changes no verdict, and the comment is written', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-events-'))
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  const texts = ['', '{', 'null', '{"pull_request":{"number":"12"}}', '['.repeat(2 ** 21)]
  const files = texts.map((text, i) => {
    const file = join(directory, `${i}.json`)
    writeFileSync(file, text)
    return [text.slice(0, 40), file] satisfies [string, string]
  })
  const events: readonly [string, string][] = [...files, ['a pipe', pipe], ['a directory', directory], ['nothing', join(directory, 'none')]]
  await forEachEntry(events, async (_, file) => {
    github().store.comments = []
    const passed = await gate({ comment: 'always', 'pr-number': '12', budget: '100000' }, { GITHUB_EVENT_PATH: file })
    expect([passed.exitCode, passed.outputs.get('status'), commandsOf(passed)]).toEqual([0, 'pass', []])
    expect(github().store.comments).toHaveLength(1)
  })
  rmSync(directory, { recursive: true })
})
