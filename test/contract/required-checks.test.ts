// The checks that a pull request needs. The ruleset of `main` is outside of the repository, so its list is in docs/releasing.md.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Job, ownWorkflows, parseWorkflow, triggersOf } from '../support/workflows.ts'

const releasing = readFileSync(new URL('../../docs/releasing.md', import.meta.url), 'utf8')
const [, section = ''] = /^## Required checks\n([\s\S]*?)^## /m.exec(releasing) ?? []
const documented = [...section.matchAll(/^\| \[([\w-]+\.yml)\]\([^)]*\) \| (.*) \|$/gm)].flatMap(([, workflow = '', checks = '']) =>
  [...checks.matchAll(/`([^`]+)`/g)].map(([, check = '']) => ({ check, workflow })),
)

const workflows = ownWorkflows.map(({ name, text }) => ({ file: name.split('/').at(-1) ?? '', text, workflow: parseWorkflow(text) }))
const onPullRequest = workflows.filter(({ workflow }) => triggersOf(workflow).includes('pull_request'))

/** The names of a job's checks as GitHub shows them: one for each combination of its matrix. */
function checkNamesOf(id: string, { name = id, strategy }: Job): readonly string[] {
  return Object.entries(strategy?.matrix ?? {}).reduce<readonly string[]>(
    (names, [key, values]) => names.flatMap((one) => values.map((value) => one.replace(`$\{{ matrix.${key} }}`, value))),
    [name],
  )
}

const byCheck = (one: { readonly check: string }, other: { readonly check: string }): number => one.check.localeCompare(other.check)

describe('the required checks in docs/releasing.md', () => {
  it('the required checks in docs/releasing.md are all jobs of the workflows that run on pull requests', () => {
    const checks = onPullRequest.flatMap(({ file, workflow: { jobs } }) =>
      Object.entries(jobs).flatMap(([id, job]) => checkNamesOf(id, job).map((check) => ({ check, workflow: file }))),
    )
    expect(documented.toSorted(byCheck)).toEqual(checks.toSorted(byCheck))
  })

  it('the required checks in docs/releasing.md have different names, so that one check cannot stand for another', () => {
    expect(new Set(documented.map(({ check }) => check)).size).toBe(documented.length)
  })
})

describe('the commit of rebuilt files', () => {
  const { text = '', workflow } = workflows.find(({ file }) => file === 'commit-rebuilt.yml') ?? {}

  // A commit with GITHUB_TOKEN updates the pull request. GitHub creates the runs for `synchronize`, and a maintainer approves them.
  it.each(onPullRequest)('restarts $file: it runs at each update, whatever files changed', ({ workflow: { on } }) => {
    const filters = typeof on === 'object' && !Array.isArray(on) ? (on as Readonly<Record<string, unknown>>).pull_request : undefined
    expect(filters ?? null).toBeNull()
  })

  it('the commit of rebuilt files is made with the token whose runs a maintainer can approve, on the branch of the pull request', () => {
    const step = Object.values(workflow?.jobs ?? {})
      .flatMap(({ steps = [] }) => steps)
      .find(({ run = '' }) => run.includes('scripts/commit-rebuilt.ts'))
    expect(step).toMatchObject({ env: { GITHUB_TOKEN: `$\{{ github.token }}`, BRANCH: `$\{{ github.event.workflow_run.head_branch }}` } })
  })

  it('dispatches no workflow, because GitHub does not count the checks of a dispatched run for a pull request', () => {
    expect(text).not.toMatch(/gh workflow run|dispatches/)
    expect(releasing).toContain('**Approve workflows to run**')
  })
})
