// What a caller may rely on before anything runs: inputs that the action knows, permissions that are said, calls that are shown right.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { majorTag, releaseTag } from '../../../scripts/action-references.ts'
import { describeOperations, settings } from '../../../scripts/reference/describe.ts'
import { isOperationName } from '../../../src/operations.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { type InputDefinition, profilesOf, type RunnableJob, reusable } from '../../support/run-workflow.ts'
import {
  allWorkflows,
  complaintsOf,
  copiedWorkflows,
  type Job,
  parseWorkflow,
  reusableWorkflows,
  type Step,
  stepsOf,
  triggersOf,
} from '../../support/workflows.ts'

const operations = new Map((await describeOperations()).map((operation) => [operation.name, operation]))

/** Files declare webhooks, whose secrets are variables of the process. */
const readsWebhooks = (name: string): boolean => ['drift', 'plan-and-apply'].includes(name)

const hasBacktest = (name: string): boolean => ['plan-and-apply', 'replay'].includes(name)

/** apply runs no query. */
const readsValues: readonly string[] = ['plan', 'backtest']

const keysIn = (secrets: object): readonly string[] => Object.keys(secrets).filter((secret) => /^(?:api|sql)-key/.test(secret))

const operationsOf = (jobs: Readonly<Record<string, RunnableJob>>): readonly Step[] =>
  Object.values(jobs).flatMap((job) => job.steps.filter((step) => step.with?.operation !== undefined))

const textOf = (name: string): string => reusableWorkflows.find((one) => one.name.endsWith(`reusable-${name}.yml`))?.text ?? ''

describe.each([...reusable])('reusable-%s.yml', (name, workflow) => {
  const { inputs, secrets, outputs } = workflow.on.workflow_call

  it('a reusable workflow is started by calls only', () => {
    expect(triggersOf(parseWorkflow(textOf(name)))).toEqual(['workflow_call'])
  })

  it('a reusable workflow describes every input, secret and output in a sentence', () => {
    for (const [what, { description }] of Object.entries({ ...inputs, ...secrets, ...outputs })) expect(description, what).toMatch(/\.$/)
  })

  it('a reusable workflow has no number input that would default to 0', () => {
    expect(Object.entries(inputs).filter(([, { type, default: standard }]) => type === 'number' && standard === undefined)).toEqual([])
  })

  it('asks for the key of every profile that its operations have, and for no other secret', () => {
    const required = Object.entries(secrets).map(([secret, one]) => [secret, one.required])
    // A self-hosted server has another key.
    const isForBoth = profilesOf(name).includes('hyperdx')
    expect(required).toEqual([
      ['api-key-id', isForBoth ? undefined : true],
      ['api-key-secret', isForBoth ? undefined : true],
      ...(isForBoth ? [['api-key', undefined]] : []),
      // A backtest in the cloud counts with SQL.
      ...(hasBacktest(name)
        ? [
            ['sql-key-id', undefined],
            ['sql-key-secret', undefined],
          ]
        : []),
      ...(readsWebhooks(name) ? [['webhook-variables', undefined]] : []),
      // Without it, the pull request has the token of the job.
      ...(name === 'drift-pull-request' ? [['github-token', undefined]] : []),
    ])
  })

  it('has at most twelve inputs', () => {
    expect(Object.keys(inputs).length).toBeLessThanOrEqual(12)
  })

  it('uses a self-hosted server if its operations can and the caller gives an address, and otherwise ClickHouse Cloud', () => {
    const isForBoth = profilesOf(name).includes('hyperdx')
    expect(Object.hasOwn(inputs, 'api-url')).toBe(isForBoth)
    const profile = isForBoth ? `\${{ inputs.api-url && 'hyperdx' || 'clickhouse-cloud' }}` : 'clickhouse-cloud'
    for (const step of operationsOf(workflow.jobs)) expect(step.with?.profile).toBe(profile)
  })

  it('passes every part of a key to each step that sends requests', () => {
    const steps = operationsOf(workflow.jobs).filter((step) => !['validate', 'replay'].includes(String(step.with?.operation)))
    expect(steps.length).toBeGreaterThan(0)
    for (const step of steps) {
      const keys = keysIn(secrets).filter((secret) => !secret.startsWith('sql-key') || readsValues.includes(String(step.with?.operation)))
      expect(step.with).toMatchObject(Object.fromEntries(keys.map((secret) => [secret, `\${{ secrets.${secret} }}`])))
    }
  })

  it('sets the secrets of webhooks right before the step that needs them, and passes them to no other step', () => {
    const text = textOf(name)
    expect(text.match(/secrets\.webhook-variables/g)?.length ?? 0).toBe(text.match(/operation: (?:plan|apply|drift)$/gm)?.length ?? 0)
    for (const { steps } of Object.values(workflow.jobs))
      for (const [i, step] of steps.entries())
        if (step.run?.includes(webhookStep)) expect(steps[i + 1]?.with?.operation).toMatch(/^(?:plan|apply|drift)$/)
  })

  it('uses every input that it declares', () => {
    const [, body = ''] = textOf(name).split(/^permissions: \{\}$/m)
    expect(Object.keys(inputs).filter((input) => !new RegExp(`\\binputs\\.${input}(?![\\w-])`).test(body))).toEqual([])
  })

  // The caller's group is often its own name, and a workflow that waits for itself is canceled.
  it('waits in a group that no caller has, and no other of these workflows', () => {
    expect(workflow.concurrency.group).toMatch(new RegExp(`^watchkeeper-${name}-\\$\\{\\{`))
  })

  it('the documentation of a reusable workflow matches its file', () => {
    const document = readFileSync(new URL('../../../docs/reusable-workflows.md', import.meta.url), 'utf8')
    for (const input of Object.keys(inputs)) expect(document).toContain(`| \`${input}\` |`)
  })
})

/** Of the step that sets the secrets of webhooks. */
const webhookStep = '::error::webhook-variables'

const scripts = [...reusable.values()].flatMap(({ jobs }) =>
  Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = '' }) => (run.includes('GITHUB_ENV') ? [run] : []))),
)

/** Runs a script as the runner does, with these variables. */
function runScript(script = '', variables: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-variables-'))
  const file = join(directory, 'env')
  try {
    writeFileSync(file, '')
    const env = { PATH: process.env.PATH, GITHUB_ENV: file, ...variables }
    const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
      env,
      encoding: 'utf8',
    })
    return { status, output: `${stdout}${stderr}`, written: readFileSync(file, 'utf8') }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('the step that sets the secrets of webhooks', () => {
  const own = scripts.filter((script) => script.includes(webhookStep))

  const runWith = (SECRETS: string) => runScript(own[0], { SECRETS })

  it('the step that sets the secrets of webhooks is the same in all three jobs that compare or send them', () => {
    expect(own).toHaveLength(3)
    expect(new Set(own).size).toBe(1)
  })

  it('S2: masks each value before it sets the variable, and writes it nowhere else', () => {
    const lines = [
      'WEBHOOK_A_URL=https://hooks.example.com/a?b=c%20d%0A',
      'WEBHOOK_TOKEN=Bearer $(id) `id` "x" é',
      'WEBHOOK_B=  padded value  ',
    ]
    const values = ['https://hooks.example.com/a?b=c%20d%0A', 'Bearer $(id) `id` "x" é', 'padded value']
    const { status, output, written } = runWith(`\n  ${lines[0]}\r\n\n${lines.slice(1).join('\n')}\n`)
    expect([status, output]).toEqual([0, values.map((value) => `::add-mask::${value.replaceAll('%', '%25')}\n`).join('')])
    expect(written).toBe(`WEBHOOK_A_URL=${values[0]}\nWEBHOOK_TOKEN=${values[1]}\nWEBHOOK_B=${values[2]}\n`)
  })

  it('does nothing without the secret', () => {
    expect(runWith('')).toEqual({ status: 0, output: '', written: '' })
  })

  it('rejects every other variable, and shows nothing of a line', () =>
    forEachEntry(
      [
        'evil-without-an-equals-sign',
        'WEBHOOK_=evil-value',
        'webhook_a=evil-value',
        'WEBHOOK_a=evil-value',
        'WEBHOOK_A B=evil-value',
        'ONCALL_URL=evil-value',
        'WATCHKEEPER_API_URL=https://evil.example',
        'NODE_OPTIONS=--require ./evil.cjs',
        'INPUT_API-URL=https://evil.example',
        'HTTPS_PROXY=http://evil.example',
        'WEBHOOK_X<<EOF\nevil-value\nEOF',
        'WEBHOOK_X=evil-value\rWATCHKEEPER_API_URL=https://evil.example',
        'WEBHOOK_X=evil\u001b[31m-value',
        'WEBHOOK_X=evil-67',
        'WEBHOOK_X=evil   ',
        'WEBHOOK_X=',
        'WEBHOOK_X=   ',
        'WEBHOOK_A=evil-value-2',
      ],
      (line) => {
        const { status, output, written } = runWith(`WEBHOOK_A=a-good-value\n${line}\nWEBHOOK_B=a-good-value`)
        expect([status, written]).toEqual([1, ''])
        const [mask, error, ...rest] = output.split('\n')
        expect([mask, rest]).toEqual(['::add-mask::a-good-value', ['']])
        expect(error).toMatch(
          /^::error::webhook-variables: (?:line 2 is not WEBHOOK_NAME=value|the value in line 2 has fewer than 8 characters, so the log could not mask it|the value in line 2 is empty; set its secret|the variable in line 2 is given twice)$/,
        )
      },
    ))
})

describe('S9: the step that sets the variables of files sets no other variable', () => {
  const own = scripts.filter((script) => !script.includes(webhookStep))

  const runWith = (VARIABLES: string) => runScript(own[0], { VARIABLES })

  it('the step that sets the variables of files is the same in all six jobs that read files', () => {
    expect(own).toHaveLength(6)
    expect(new Set(own).size).toBe(1)
  })

  it('passes each variable to the files, and to nothing else', () => {
    expect(runWith('SERVICE=checkout\r\n\n  WEBHOOK=a=b "c" $(id) `id` \\n é\nEMPTY=\nx=1')).toEqual({
      status: 0,
      output: '',
      written: [
        'WATCHKEEPER_VAR_SERVICE=checkout',
        'WATCHKEEPER_VAR_WEBHOOK=a=b "c" $(id) `id` \\n é',
        'WATCHKEEPER_VAR_EMPTY=',
        'WATCHKEEPER_VAR_x=1',
        '',
      ].join('\n'),
    })
  })

  it('rejects what would set something else, and writes nothing', () =>
    forEachEntry(
      [
        'WATCHKEEPER_API_URL=https://evil.example',
        'watchkeeper_api_url=https://evil.example',
        'WATCHKEEPER_VAR_SERVICE=x',
        'INPUT_API-URL=https://evil.example',
        'INPUT_OPERATION=apply',
        'HTTPS_PROXY=http://evil.example',
        'https_proxy=http://evil.example',
        'NO_PROXY=*',
        'NODE_OPTIONS=--require ./evil.cjs',
        'NODE_TLS_REJECT_UNAUTHORIZED=0',
        'NODE_EXTRA_CA_CERTS=evil.pem',
        'GITHUB_API_URL=https://evil.example',
        'GITHUB_TOKEN=x',
        'ACTIONS_RUNTIME_URL=https://evil.example',
        'RUNNER_TEMP=/',
        'X<<EOF\nWATCHKEEPER_API_URL=https://evil.example\nEOF',
        'X<<EOF=\nNODE_OPTIONS=x\nEOF=',
        'X=1\rWATCHKEEPER_API_URL=https://evil.example',
        'X=\u001b[31m',
        'X=1\nX=2',
        'no equals sign',
        '=x',
        '1X=x',
        'A B=x',
        '# comment',
        "X'=x",
      ],
      (line) => {
        const { status, output, written } = runWith(`SERVICE=checkout\n${line}\nWEBHOOK=oncall`)
        expect([status, written]).toEqual([1, ''])
        expect(output).toMatch(/^::error::variables: (?:line 2 is not NAME=value|[A-Za-z0-9_]+ cannot be set|X is given twice)[^\n]*\n$/)
        expect(output).not.toContain('evil')
      },
    ))
})

it('there are six reusable workflows', () => {
  expect([...reusable.keys()].sort()).toEqual(['backups', 'cost-gate', 'drift', 'drift-pull-request', 'plan-and-apply', 'replay'])
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

describe.each(calls)('the call of $called in $name', ({ workflow: { on, jobs }, job }) => {
  it('gives inputs that are declared, with values of their type', () => {
    const { inputs } = on.workflow_call
    const wrong = Object.entries(job.with ?? {}).filter(([input, value]) => {
      const definition = inputs[input]
      return definition === undefined || !isOfType(value, definition)
    })
    expect(wrong).toEqual([])
  })

  it('hands over the secrets that are asked for', () => {
    const given = Object.keys(job.secrets ?? {})
    const required = Object.entries(on.workflow_call.secrets).filter(([, one]) => one.required)
    expect(Object.keys(on.workflow_call.secrets)).toEqual(expect.arrayContaining(given))
    expect(given).toEqual(expect.arrayContaining(required.map(([secret]) => secret)))
    expect(given.length).toBeGreaterThan(0)
  })

  it('grants what the jobs ask for, and nothing else', () => {
    expect(job.permissions).toEqual(Object.assign({}, ...Object.values(jobs).map(({ permissions }) => permissions)))
  })
})

describe("GitHub's own parser, with the called workflow at hand", () => {
  const callers = copiedWorkflows.filter(({ text }) => text.includes('/reusable-'))

  it('accepts every workflow that calls them', () =>
    forEachEntry(callers, async ({ text }) => {
      expect(await complaintsOf(text)).toEqual([])
    }))

  it.each([
    [
      'an input that is not declared',
      (text: string) => text.replace('organization-id:', 'organisation-id:'),
      'organisation-id is not defined',
    ],
    ['a secret that is missing', (text: string) => text.replace(/ +api-key-secret: .*\n/, ''), 'api-key-secret'],
  ])('refuses %s', async (_, spoil, message) => {
    const hasOneKey = ({ text }: (typeof callers)[number]): boolean =>
      [...reusable.keys()].every((name) => !text.includes(`/reusable-${name}.yml`) || !profilesOf(name).includes('hyperdx'))
    const strict = callers.filter((caller) => (message === 'api-key-secret' ? hasOneKey(caller) : spoil(caller.text) !== caller.text))
    expect(strict.length).toBeGreaterThan(0)
    for (const { text } of strict) expect((await complaintsOf(spoil(text))).join('\n')).toContain(message)
  })
})

it('parses as YAML what the tests look at as text', () => {
  for (const { text } of reusableWorkflows) expect(parse(text)).toHaveProperty('permissions', {})
})
