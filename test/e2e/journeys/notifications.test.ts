import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { addDays, dayOf } from '../../../src/core/dates.ts'
import { inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { fleetDocument, makeFleet } from '../../support/fleet.ts'
import { token, useGitHub } from '../../support/github-server.ts'
import { type GitHubStepOptions, runGitHubStep } from '../../support/notify.ts'
import { useReceiver, webhookPath } from '../../support/receiver.ts'
import { commandsOf, expectNoSecret, type RanAction, runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })
const github = useGitHub()
const receiver = useReceiver()

const today = dayOf(Date.now())

const notify = (inputs: Readonly<Record<string, string>>, more: Omit<GitHubStepOptions, 'inputs'> = {}): Promise<RanAction> =>
  runGitHubStep(github(), { inputs: { ...inputsFor(emulator()), 'notify-url': receiver().url, ...inputs }, secrets, ...more })

/** A gate on eleven days, which does not move with the day of the run. */
const gate = (inputs: Readonly<Record<string, string>>, more: Omit<GitHubStepOptions, 'inputs'> = {}): Promise<RanAction> =>
  notify({ operation: 'usage-cost', period: `${addDays(today, -10)}..${today}`, ...inputs }, more)

const messages = () => receiver().messages
const texts = (): readonly string[] => messages().map(({ json }) => String(json.text))

const runUrl = 'https://github.example/acme/shop/actions/runs/4711/attempts/1'

afterEach(() => {
  expectNoSecret(
    messages()
      .map(({ text }) => text)
      .join('\n'),
    [token, webhookPath, ...secrets],
  )
})

describe('a message of the action', () => {
  it('a message of the action has the status, the operation, the first line of the report and a link to the run', async () => {
    const ran = await gate({ budget: '1' })
    expect(ran.exitCode).toBe(1)
    const [title, sentence, ...rest] = texts()[0]?.split('\n') ?? []
    expect(title).toBe('❌ *usage-cost failed*')
    expect(sentence).toBe(ran.outputs.get('failure-reason'))
    expect(rest).toEqual([expect.stringMatching(/^Organization `c0ffee00-[^`]*` · .* UTC · /)])
    expect(rest[0]).toContain(` · <${runUrl}|View the run>`)
    expect(ran.stdout).toContain(`notification: sent to ${receiver().host}`)
  })

  it('a message of the action is sent for failed runs only, unless notify-on is always', async () => {
    await gate({ budget: '100000' })
    await gate({ 'warn-budget': '1' })
    await gate({ budget: '1', 'warn-only': 'true' })
    expect(messages()).toEqual([])
    await gate({ budget: '100000', 'notify-on': 'always' })
    await gate({ 'warn-budget': '1', 'notify-on': 'always' })
    expect(texts().map((text) => text.split('\n')[0])).toEqual(['✅ *usage-cost passed*', '⚠️ *usage-cost has a warning*'])
  })

  it('a message of the action gives the reason of an error, also when an input is wrong', async () => {
    emulator().addFault({ times: 9, effect: { kind: 'status', status: 503 } })
    await notify({ operation: 'list-sources', 'max-attempts': '1' })
    await notify({ operation: 'list-sources', 'max-attempts': 'many' })
    await notify({ operation: '<!here>' })
    expect(texts().map((text) => text.split('\n').slice(0, 2))).toEqual([
      ['🛑 *list-sources did not complete*', expect.stringContaining('503')],
      ['🛑 *list-sources did not complete*', expect.stringMatching(/^`WATCHKEEPER_MAX_ATTEMPTS`: /)],
      ['🛑 `&lt;!here&gt;` did not complete', expect.stringContaining('unknown operation "`&lt;!here&gt;`"')],
    ])
  })

  it('a message of the action is an Adaptive Card or plain JSON on request, and says the same', async () => {
    const ran = await gate({ budget: '1', 'notify-format': 'teams' })
    await gate({ budget: '1', 'notify-format': 'json' })
    const [teams, json] = messages()
    expect(teams?.json).toMatchObject({ type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive' }] })
    expect(teams?.text).toContain(JSON.stringify(ran.outputs.get('failure-reason')).slice(1, -1))
    expect(json?.json).toMatchObject({
      operation: 'usage-cost',
      status: 'fail',
      message: ran.outputs.get('failure-reason'),
      milestones: [],
      organizationId: inputsFor(emulator())['organization-id'],
      runUrl,
    })
  })

  it('a name in a message of the action cannot mention users', async () => {
    const name = '<!channel> @here <https://evil.example|Runbook> `x` <at>all</at> [y](https://evil.example)'
    const budgets = JSON.stringify({ budgets: [{ name, limit: 1, period: `${addDays(today, -10)}..${today}` }] })
    for (const format of ['slack', 'teams', 'json']) {
      await gate({ budgets: 'budgets.json', 'notify-format': format }, { files: { 'budgets.json': budgets } })
    }
    const [slack, teams, json] = messages()
    expect(slack?.json.text).toContain(
      "Budget `&lt;!channel&gt; @here &lt;https://evil.example|Runbook&gt; 'x' &lt;at&gt;all&lt;/at&gt; [y](https://evil.example)` exceeded: ",
    )
    expect(teams?.text).toContain(`{"type":"TextRun","text":${JSON.stringify(name)},"fontType":"Monospace"}`)
    expect(json?.json.message).toContain(`Budget ${name} exceeded: `)
  })
})

describe('notify-on: change', () => {
  const both = { issue: 'on-failure', 'comment-label': 'cost', 'notify-on': 'change' }

  it('sends one message when the gate starts to fail, and one when it passes again', async () => {
    for (const budget of ['100000', '1', '2', '1', '100000', '100000']) await gate({ ...both, budget })
    expect(texts().map((text) => text.split('\n')[0])).toEqual(['❌ *usage-cost failed*', '✅ *usage-cost passes again*'])
  })

  it('sends a message of a failed run when the issue cannot be written, so that no failure is lost', async () => {
    github().store.may.issues = false
    await gate({ ...both, budget: '1' })
    await gate({ ...both, budget: '100000' })
    expect(texts()).toHaveLength(1)
  })

  it('requires the issue', async () => {
    const ran = await gate({ 'notify-on': 'change', budget: '1' })
    expect(ran.outputs.get('failure-reason')).toContain('notify-on: `change` needs `issue: on-failure`')
  })
})

describe('a step of a budget', () => {
  /** A budget of which the usage of yesterday reached 75 percent. */
  async function budgetAtThreeQuarters(): Promise<string> {
    const { result } = await gate({ 'notify-url': '' })
    const days = (result?.byDay ?? []) as readonly { readonly date: string; readonly total: string }[]
    const used = days.filter(({ date }) => date < today).reduce((sum, { total }) => sum + Number(total), 0)
    return (used / 0.76).toFixed(2)
  }

  it('a step of a budget is reported by the run on the day after, whatever notify-on is, and by no other run', async () => {
    const budget = await budgetAtThreeQuarters()
    const ran = await gate({ budget })
    expect(ran.result).toMatchObject({ budgetStep: { percent: 75, reachedOn: addDays(today, -1) } })
    expect(texts()).toHaveLength(1)
    expect(texts()[0]).toMatch(/\n• Usage reached 75% of the budget on \d+ \w+ \d{4}: [\d,.]+ of [\d,.]+ Credits\.\n/)
    await gate({ budget: '100000' })
    expect(texts()).toHaveLength(1)
  })
})

describe('a message that is not delivered', () => {
  it('V4: warns once about a notification that was not delivered, names the host only, and changes no verdict', async () => {
    receiver().answer({ status: 404, body: 'no_service' }, { status: 302, headers: { location: 'https://elsewhere.example/' } })
    for (const reason of ['answered 404: no_service. Check notify-url and notify-format.', 'a redirect to https://elsewhere.example']) {
      const ran = await gate({ budget: '100000', 'notify-on': 'always' })
      expect([ran.exitCode, ran.outputs.get('status')]).toEqual([0, 'pass'])
      expect(commandsOf(ran)).toEqual(['warning'])
      expect(ran.stdout).toContain(`notification: not delivered: ${receiver().host} answered`)
      expect(ran.stdout).toContain(reason)
    }
  })

  it('R4: waits at most ten seconds for a receiver of notifications that does not answer', async () => {
    receiver().answer('hang')
    const startedAt = Date.now()
    const ran = await gate({ budget: '1' })
    expect(ran.stdout).toContain(': no answer within 10 s (REQUEST_TIMEOUT). The message may have been delivered.')
    expect([ran.exitCode, messages().length]).toEqual([1, 1])
    expect(Date.now() - startedAt).toBeLessThan(16_000)
  })
})

describe('a fleet', () => {
  it('sends one message from its report, with the counts and the services that failed', async () => {
    const fleet = makeFleet([3])
    const [organization] = fleet
    const legs = (organization?.services ?? []).map(({ id: serviceId }, i) => {
      const verdict = i === 0 ? { status: 'pass', failureReason: '' } : { status: 'fail', failureReason: 'no' }
      return [`results/${i}.json`, JSON.stringify({ operation: 'list-alerts', organizationId: organization?.id, serviceId, ...verdict })]
    })
    const files = { 'fleet.json': JSON.stringify(fleetDocument(fleet)), ...Object.fromEntries(legs) }
    await runGitHubStep(github(), { inputs: { operation: 'fleet-report', fleet: 'fleet.json', 'notify-url': receiver().url }, files })
    expect(texts()).toHaveLength(1)
    expect(texts()[0]?.split('\n').slice(0, 5)).toEqual([
      '❌ *fleet-report failed*',
      expect.stringMatching(/^2 results failed: /),
      '• Passed 1 · Failed 2',
      expect.stringMatching(/^• ❌ failed: `[^`]*service-\d+` \(`list-alerts`\)$/),
      expect.stringMatching(/^• ❌ failed: `[^`]*service-\d+` \(`list-alerts`\)$/),
    ])
  })
})

describe('the command line', () => {
  const environment = () =>
    Object.fromEntries(
      Object.entries(inputsFor(emulator())).map(([name, value]) => [`WATCHKEEPER_${name.toUpperCase().replaceAll('-', '_')}`, value]),
    )
  const dates = ['--period', `${addDays(today, -10)}..`]

  it('sends the message, too, with the URL from the environment', async () => {
    const ran = await runCli(['usage-cost', ...dates, '--budget', '1', '--json'], {
      ...environment(),
      WATCHKEEPER_NOTIFY_URL: receiver().url,
    })
    expect(ran.exitCode).toBe(10)
    expect(ran.stderr).toBe(`notification: sent to ${receiver().host}\n`)
    expect(texts()).toHaveLength(1)
    expect(texts()[0]).not.toContain('View the run')
  })

  it('warns on stderr when it is not delivered, with the same exit code', async () => {
    receiver().answer({ status: 500 })
    const ran = await runCli(['usage-cost', ...dates, '--budget', '100000', '--notify-on', 'always'], {
      ...environment(),
      WATCHKEEPER_NOTIFY_URL: receiver().url,
    })
    expect(ran.exitCode).toBe(0)
    expect(ran.stderr).toBe(`warning: notification: not delivered: ${receiver().host} answered 500. The message may have been delivered.\n`)
  })

  it('rejects notify-on: change on the command line, because it keeps no issue', async () => {
    const ran = await runCli(['list-sources', '--notify-on', 'change', '--issue', 'on-failure'], environment())
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain('notify-on: `change` works only in the GitHub Action and in GitLab CI')
  })

  it('reads no URL from a file of the repository', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-test-'))
    try {
      await writeFile(join(directory, '.watchkeeper.yml'), `notify-url: ${receiver().url}\n`)
      const ran = await runCli(['list-sources'], environment(), { directory })
      expect(ran.stderr).toContain('"notify-url" cannot be set in a file of the repository')
      expect(messages()).toEqual([])
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})
