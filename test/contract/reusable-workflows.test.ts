// What a caller may rely on before anything runs: inputs that the action knows, permissions that are said, calls that are shown right.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { majorTag } from '../../scripts/action-references.ts'
import { describeOperations, settings } from '../../scripts/reference/describe.ts'
import { isOperationName } from '../../src/operations.ts'
import { forEachEntry } from '../support/corpus.ts'
import { type InputDefinition, reusable } from '../support/run-workflow.ts'
import {
  allWorkflows,
  complaintsOf,
  copiedWorkflows,
  type Job,
  parseWorkflow,
  reusableWorkflows,
  stepsOf,
  triggersOf,
} from '../support/workflows.ts'

const operations = new Map((await describeOperations()).map((operation) => [operation.name, operation]))

const textOf = (name: string): string => reusableWorkflows.find((one) => one.name.endsWith(`reusable-${name}.yml`))?.text ?? ''

describe.each([...reusable])('reusable-%s.yml', (name, workflow) => {
  const { inputs, secrets, outputs } = workflow.on.workflow_call

  it('is called, and started by nothing else', () => {
    expect(triggersOf(parseWorkflow(textOf(name)))).toEqual(['workflow_call'])
  })

  it('says of every input, secret and output what it is, in a sentence', () => {
    for (const [what, { description }] of Object.entries({ ...inputs, ...secrets, ...outputs })) expect(description, what).toMatch(/\.$/)
  })

  it('has no number input that would default to 0', () => {
    expect(Object.entries(inputs).filter(([, { type, default: standard }]) => type === 'number' && standard === undefined)).toEqual([])
  })

  it('asks for the key, and for no other secret', () => {
    const required = Object.entries(secrets).map(([secret, one]) => [secret, one.required])
    // A self-hosted server has another key.
    const isForBoth = name === 'plan-and-apply'
    expect(required).toEqual([
      ['api-key-id', isForBoth ? undefined : true],
      ['api-key-secret', isForBoth ? undefined : true],
      ...(isForBoth ? [['api-key', undefined]] : []),
    ])
  })

  it('uses every input that it declares', () => {
    const [, body = ''] = textOf(name).split(/^permissions: \{\}$/m)
    expect(Object.keys(inputs).filter((input) => !new RegExp(`\\binputs\\.${input}(?![\\w-])`).test(body))).toEqual([])
  })

  // The caller's group is often its own name, and a workflow that waits for itself is cancelled.
  it('waits in a group that no caller has, and no other of these workflows', () => {
    expect(workflow.concurrency.group).toMatch(new RegExp(`^watchkeeper-${name}-\\$\\{\\{`))
  })

  it('says in the documentation what stands in it', () => {
    const document = readFileSync(new URL('../../docs/reusable-workflows.md', import.meta.url), 'utf8')
    for (const part of [...Object.keys(inputs), ...Object.keys(outputs)]) expect(document).toContain(`| \`${part}\` |`)
  })
})

it('there are four of them', () => {
  expect([...reusable.keys()]).toEqual(['backups', 'cost-gate', 'drift', 'plan-and-apply'])
})

it('what a workflow gives to the action is known to the operation that it names', () => {
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

it('the documentation shows a call of each, and of no other', () => {
  const shown = copiedWorkflows.flatMap(({ text }) => [...text.matchAll(/uses: .*\/reusable-/g)])
  expect(shown).toHaveLength(calls.length)
  expect([...new Set(calls.map(({ called }) => called))].sort()).toEqual([...reusable.keys()])
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
      'an input that nobody declared',
      (text: string) => text.replace('organization-id:', 'organisation-id:'),
      'organisation-id is not defined',
    ],
    ['a secret that is missing', (text: string) => text.replace(/ +api-key-secret: .*\n/, ''), 'api-key-secret'],
  ])('refuses %s', async (_, spoil, message) => {
    const strict = message === 'api-key-secret' ? callers.filter(({ text }) => !text.includes('/reusable-plan-and-apply')) : callers
    for (const { text } of strict) expect((await complaintsOf(spoil(text))).join('\n')).toContain(message)
  })
})

it('parses as YAML what the tests look at as text', () => {
  for (const { text } of reusableWorkflows) expect(parse(text)).toHaveProperty('permissions', {})
})
