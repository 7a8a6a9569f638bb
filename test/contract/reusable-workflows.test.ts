// What a caller may rely on before anything runs: inputs that the action knows, permissions that are said, calls that are shown right.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { majorTag, releaseTag } from '../../scripts/action-references.ts'
import { describeOperations, settings } from '../../scripts/reference/describe.ts'
import { isOperationName } from '../../src/operations.ts'
import { forEachEntry } from '../support/corpus.ts'
import { concurrencyOf, type InputDefinition, isJobDue, onMain, profilesOf, type RunnableJob, reusable } from '../support/run-workflow.ts'
import {
  allWorkflows,
  copiedWorkflows,
  type Job,
  parseWorkflow,
  reusableWorkflows,
  type Step,
  stepsOf,
  triggersOf,
} from '../support/workflows.ts'

const operations = new Map((await describeOperations()).map((operation) => [operation.name, operation]))

/** Files declare webhooks, whose secrets are variables of the process. */
const readsWebhooks = (name: string): boolean => ['drift', 'plan-and-apply'].includes(name)

const hasBacktest = (name: string): boolean => name === 'plan-and-apply'

/** Others keep a pull request, or comment on one. */
const sendsMessages = (name: string): boolean => ['cost-gate', 'drift', 'backups', 'plan-and-apply'].includes(name)

/** apply runs no query. */
const readsValues: readonly string[] = ['plan']

const keysIn = (secrets: object): readonly string[] => Object.keys(secrets).filter((secret) => /^(?:api|sql)-key/.test(secret))

const operationsOf = (jobs: Readonly<Record<string, RunnableJob>>): readonly Step[] =>
  Object.values(jobs).flatMap((job) => job.steps.filter((step) => step.with?.operation !== undefined))

const textOf = (name: string): string => reusableWorkflows.find((one) => one.name.endsWith(`reusable-${name}.yml`))?.text ?? ''

const document = readFileSync(new URL('../../docs/reusable-workflows.md', import.meta.url), 'utf8')

describe('a reusable workflow', () => {
  it('a reusable workflow is started by calls only, has at most thirteen inputs, uses each, and describes inputs, secrets and outputs', () =>
    forEachEntry([...reusable], (name, { on }) => {
      const { inputs, secrets, outputs } = on.workflow_call
      expect(triggersOf(parseWorkflow(textOf(name)))).toEqual(['workflow_call'])
      expect(Object.keys(inputs).length).toBeLessThanOrEqual(13)
      const [, body = ''] = textOf(name).split(/^permissions: \{\}$/m)
      expect(Object.keys(inputs).filter((input) => !new RegExp(`\\binputs\\.${input}(?![\\w-])`).test(body))).toEqual([])
      expect(Object.keys(inputs).filter((input) => !document.includes(`| \`${input}\` |`))).toEqual([])
      const described = Object.entries({ ...inputs, ...secrets, ...outputs })
      expect(described.filter(([, { description = '' }]) => !description.endsWith('.')).map(([what]) => what)).toEqual([])
      // A number without a default would be 0.
      expect(Object.entries(inputs).filter(([, { type, default: standard }]) => type === 'number' && standard === undefined)).toEqual([])
    }))

  it('a reusable workflow asks for the key of every profile that its operations have, and for no other secret', () =>
    forEachEntry([...reusable], (name, { on }) => {
      const isForBoth = profilesOf(name).includes('hyperdx')
      const when = (isUsed: boolean, ...secrets: readonly string[]): readonly string[] => (isUsed ? secrets : [])
      const cloudKey = ['api-key-id', 'api-key-secret']
      expect(Object.keys(on.workflow_call.secrets)).toEqual([
        ...cloudKey,
        // A self-hosted server has another key.
        ...when(isForBoth, 'api-key'),
        // A backtest in the cloud counts with SQL.
        ...when(hasBacktest(name), 'sql-key-id', 'sql-key-secret'),
        ...when(readsWebhooks(name), 'webhook-variables'),
        ...when(sendsMessages(name), 'notify-url'),
        // Without it, the pull request has the token of the job.
        ...when(name === 'drift-pull-request', 'github-token'),
      ])
      const required = Object.entries(on.workflow_call.secrets).filter(([, one]) => one.required)
      expect(required.map(([secret]) => secret)).toEqual(when(!isForBoth, ...cloudKey))
    }))

  it('uses a self-hosted server if its operations can and the caller gives an address, and passes every part of a key', () =>
    forEachEntry([...reusable], (name, { on, jobs }) => {
      const { inputs, secrets } = on.workflow_call
      const isForBoth = profilesOf(name).includes('hyperdx')
      expect(Object.hasOwn(inputs, 'api-url')).toBe(isForBoth)
      const profile = isForBoth ? `\${{ inputs.api-url && 'hyperdx' || 'clickhouse-cloud' }}` : 'clickhouse-cloud'
      for (const step of operationsOf(jobs)) expect(step.with?.profile).toBe(profile)
      const sending = operationsOf(jobs).filter((step) => step.with?.operation !== 'validate')
      expect(sending.length).toBeGreaterThan(0)
      for (const step of sending) {
        const keys = keysIn(secrets).filter((secret) => !secret.startsWith('sql-key') || readsValues.includes(String(step.with?.operation)))
        expect(step.with).toMatchObject(Object.fromEntries(keys.map((secret) => [secret, `\${{ secrets.${secret} }}`])))
      }
    }))

  it('sends a message about each run of a check, and about a plan outside of a pull request, in the format of the call', () => {
    const givenTo = [...reusable].flatMap(([name, { jobs }]) =>
      operationsOf(jobs).flatMap(({ with: given = {}, env = {} }) =>
        given['notify-url'] === undefined ? [] : [[name, given.operation, given['notify-url'], env.WATCHKEEPER_NOTIFY_FORMAT]],
      ),
    )
    const [url, format] = [`\${{ secrets.notify-url }}`, `\${{ inputs.notify-format }}`]
    expect(givenTo.toSorted()).toEqual([
      ['backups', 'check-backups', url, format],
      ['cost-gate', 'usage-cost', url, format],
      ['drift', 'drift', url, format],
      ['plan-and-apply', 'apply', url, format],
      ['plan-and-apply', 'plan', `\${{ !startsWith(github.event_name, 'pull_request') && secrets.notify-url || '' }}`, format],
    ])
  })

  it('applies with the settings that the plan was made with', () => {
    const steps = operationsOf(reusable.get('plan-and-apply')?.jobs ?? {})
    const [planned, applied] = ['plan', 'apply'].map((name) => steps.find((step) => step.with?.operation === name)?.with ?? {})
    const {
      operation: _,
      comment,
      issue,
      backtest,
      'sql-key-id': id,
      'sql-key-secret': secret,
      'notify-url': __,
      ...shared
    } = planned ?? {}
    expect([comment, issue, backtest, id, secret]).not.toContain(undefined)
    const messages = { comment: 'always', issue: 'on-failure', 'notify-url': `\${{ secrets.notify-url }}` }
    expect(applied).toEqual({ ...shared, operation: 'apply', ...messages })
  })

  it('sets the secrets of webhooks right before the step that needs them, and passes them to no other step', () =>
    forEachEntry([...reusable], (name, { jobs }) => {
      const text = textOf(name)
      expect(text.match(/secrets\.webhook-variables/g)?.length ?? 0).toBe(text.match(/operation: (?:plan|apply|drift)$/gm)?.length ?? 0)
      for (const { steps } of Object.values(jobs))
        for (const [i, step] of steps.entries())
          if (step.run?.includes('::error::webhook-variables')) expect(steps[i + 1]?.with?.operation).toMatch(/^(?:plan|apply|drift)$/)
    }))

  it('sets variables and secrets with the same two scripts in every job', () => {
    const scripts = [...reusable.values()].flatMap(({ jobs }) =>
      Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = '' }) => (run.includes('GITHUB_ENV') ? [run] : []))),
    )
    expect(scripts).toHaveLength(7)
    expect(new Set(scripts).size).toBe(2)
  })

  // The caller's group is often its own name, and a workflow that waits for itself is canceled.
  it('waits in a group that no caller has, and only for runs with the same target', () => {
    for (const [name, { concurrency }] of reusable) expect(concurrency.group).toMatch(new RegExp(`^watchkeeper-${name}-\\$\\{\\{`))
    for (const name of ['drift', 'plan-and-apply']) {
      const groups = ['http://127.0.0.1:1', 'http://127.0.0.1:2'].map(
        (url) => concurrencyOf(name, { inputs: { 'api-url': url }, github: onMain }).group,
      )
      expect(new Set(groups).size).toBe(2)
    }
    const plans = [7, 8].map((number) =>
      concurrencyOf('plan-and-apply', { github: { ...pullRequest('shop/infra'), ref: `refs/pull/${number}/merge` } }),
    )
    expect(new Set(plans.map(({ group }) => group)).size).toBe(2)
    expect(plans.every(({ cancelsInProgress }) => cancelsInProgress)).toBe(true)
  })
})

const pullRequest = (head: string) => ({
  ...onMain,
  event_name: 'pull_request',
  ref: 'refs/pull/7/merge',
  event: { ...onMain.event, pull_request: { head: { repo: { full_name: head } } } },
})

it('reusable-plan-and-apply.yml applies only where allowed, in a group of its own that nothing cancels', () =>
  forEachEntry<[string, object, string, boolean]>(
    [
      ['a pull request', pullRequest('shop/infra'), 'auto', false],
      ['a push to the default branch', onMain, 'auto', true],
      ['a push to another branch', { ...onMain, ref: 'refs/heads/next' }, 'auto', false],
      ['a start by hand on the default branch', { ...onMain, event_name: 'workflow_dispatch' }, 'auto', true],
      ['a start by hand elsewhere', { ...onMain, event_name: 'workflow_dispatch', ref: 'refs/heads/next' }, 'auto', false],
      ['a tag called like the branch', { ...onMain, ref: 'refs/tags/main' }, 'auto', false],
      ['a schedule, whose event is bare', { ...onMain, event_name: 'schedule', event: {} }, 'auto', false],
      ['a merge queue', { ...onMain, event_name: 'merge_group', ref: 'refs/heads/gh-readonly-queue/main/x' }, 'auto', false],
      [
        'a stranger with the rights of the repository',
        { ...pullRequest('eve/infra'), event_name: 'pull_request_target', ref: onMain.ref },
        'auto',
        false,
      ],
      ['a push, where nothing is ever applied', onMain, 'plan', false],
      ['a tag, where everything is', { ...onMain, ref: 'refs/tags/v1' }, 'apply', true],
      ['a schedule, where everything is', { ...onMain, event_name: 'schedule', event: {} }, 'apply', true],
    ],
    (_, github, mode, isApplied) => {
      const run = { inputs: { mode }, github: { ...github } }
      const planned = (needsApply: string) => ({ plan: { result: 'success', outputs: { 'needs-apply': needsApply } } })
      expect(isJobDue('plan-and-apply', 'apply', { ...run, needs: planned('true') })).toBe(isApplied)
      expect(isJobDue('plan-and-apply', 'apply', { ...run, needs: planned('false') })).toBe(false)
      const { group, cancelsInProgress } = concurrencyOf('plan-and-apply', run)
      expect(group.includes('-apply-apply-')).toBe(isApplied)
      if (isApplied) expect(cancelsInProgress).toBe(false)
    },
  ))

it('there are five reusable workflows', () => {
  expect([...reusable.keys()].sort()).toEqual(['backups', 'cost-gate', 'drift', 'drift-pull-request', 'plan-and-apply'])
})

it('every input that a reusable workflow gives to the action is known to the operation', () => {
  const steps = allWorkflows.flatMap(({ name, text }) => stepsOf(parseWorkflow(text)).map((step) => ({ name, inputs: step.with ?? {} })))
  const named = steps.filter(({ inputs }) => isOperationName(String(inputs.operation)))
  expect(named.length).toBeGreaterThan(20)
  for (const { name, inputs } of named) {
    const { operation, ...given } = inputs
    const known = [...settings, ...(operations.get(String(operation))?.inputs ?? [])].map((field) => field.name)
    expect(
      Object.keys(given).filter((input) => !known.includes(input)),
      `${name}: ${String(operation)}`,
    ).toEqual([])
  }
})

interface CallingJob extends Job {
  readonly with?: Readonly<Record<string, unknown>>
  readonly secrets?: Readonly<Record<string, string>>
}

const calls = copiedWorkflows.flatMap(({ name, text }) =>
  Object.values(parseWorkflow(text).jobs as Readonly<Record<string, CallingJob>>).flatMap((job) => {
    const [, called, tag] = /^watchkeeper\/watchkeeper\/\.github\/workflows\/reusable-(.*)\.yml@(.*)$/.exec(job.uses ?? '') ?? []
    const workflow = reusable.get(called ?? '')
    return called === undefined || workflow === undefined || tag !== majorTag ? [] : [{ name, called, workflow, job }]
  }),
)

it('reusable workflows use the action at the tag of the release, so that a call at a tag or a commit runs one version', () => {
  const uses = reusableWorkflows.flatMap(({ text }) => [...text.matchAll(/uses: watchkeeper\/watchkeeper@(.*)/g)].map(([, tag]) => tag))
  expect(uses.length).toBeGreaterThanOrEqual(reusableWorkflows.length)
  expect(new Set(uses)).toEqual(new Set([releaseTag]))
})

it('the documentation shows a call of each, and of no other', () => {
  const shown = copiedWorkflows.flatMap(({ text }) => [...text.matchAll(/uses: .*\/reusable-/g)])
  expect(shown).toHaveLength(calls.length)
  expect([...new Set(calls.map(({ called }) => called))].sort()).toEqual([...reusable.keys()].sort())
})

/** An expression is text, and GitHub takes text for a string alone. */
const isOfType = (value: unknown, { type }: InputDefinition): boolean => typeof value === type

it('every call that the documentation shows gives declared inputs of their type, the secrets that are asked for, and the permissions', () =>
  forEachEntry(
    calls.map(({ name, called, ...call }): [string, typeof call] => [`${called} in ${name}`, call]),
    (_, { workflow: { on, jobs }, job }) => {
      const { inputs, secrets } = on.workflow_call
      const wrong = Object.entries(job.with ?? {}).filter(([input, value]) => {
        const definition = inputs[input]
        return definition === undefined || !isOfType(value, definition)
      })
      expect(wrong).toEqual([])
      const given = Object.keys(job.secrets ?? {})
      const required = Object.entries(secrets).filter(([, one]) => one.required)
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining(given))
      expect(given).toEqual(expect.arrayContaining(required.map(([secret]) => secret)))
      expect(given.length).toBeGreaterThan(0)
      expect(job.permissions).toEqual(Object.assign({}, ...Object.values(jobs).map(({ permissions }) => permissions)))
    },
  ))

it('every workflow that applies comments on the merged pull request, keeps an issue, and has the permissions for both', () => {
  const jobs = [...copiedWorkflows, ...reusableWorkflows].flatMap(({ name, text }) =>
    Object.entries(parseWorkflow(text).jobs).flatMap(([id, { steps = [], permissions }]) =>
      steps
        .filter(({ with: given }) => /\bapply\b/.test(String(given?.operation)))
        .map((step) => ({ name: `${name}: ${id}`, step, permissions })),
    ),
  )
  expect(jobs.length).toBeGreaterThan(4)
  for (const { name, step, permissions } of jobs) {
    expect(permissions, name).toMatchObject({ 'pull-requests': 'write', issues: 'write' })
    expect([step.with?.comment, step.with?.issue], name).toEqual([
      expect.stringMatching(/\balways\b/),
      expect.stringMatching(/\bon-failure\b/),
    ])
  }
})
