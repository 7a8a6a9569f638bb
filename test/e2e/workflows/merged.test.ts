// A pull request and its merge, with the steps of the workflows that apply: their conditions evaluated, their labels as they are.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { useGitHub } from '../../support/github-server.ts'
import { pullRequestEvent, runGitHubStep } from '../../support/notify.ts'
import { fillAll } from '../../support/run-workflow.ts'
import { parseWorkflow, type Step } from '../../support/workflows.ts'

const fast = { limit: 1000, windowMs: 1000 }
const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: fast })
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: fast })
const github = useGitHub()

const merge = 'b'.repeat(40)
const environment = 'production'
const examples = 'examples/workflows'
const repository = '.github/workflows'

/** The workflow and its job: of the plan of a pull request, and of the apply after its merge. */
const pairs = [
  [`${examples}/plan-and-apply.yml`, 'plan-or-apply', `${examples}/plan-and-apply.yml`, 'plan-or-apply'],
  [`${examples}/self-hosted.yml`, 'plan-or-apply', `${examples}/self-hosted.yml`, 'plan-or-apply'],
  [`${examples}/plan.yml`, 'plan', `${examples}/apply.yml`, 'apply'],
  [`${examples}/plan.yml`, 'plan', `${examples}/apply-reviewed.yml`, 'apply'],
  [`${examples}/environments.yml`, 'plan', `${examples}/environments.yml`, 'apply'],
  [`${repository}/reusable-plan-and-apply.yml`, 'plan', `${repository}/reusable-plan-and-apply.yml`, 'apply'],
] as const

const declared = 'savedSearches: { errors: { name: Errors, source: Logs, where: x } }'

function runJob(path: string, job: string, event: 'pull_request' | 'push', content: string) {
  const workflow = parseWorkflow(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')) as ReturnType<typeof parseWorkflow> & {
    readonly name: string
  }
  const step = workflow.jobs[job]?.steps?.find(({ with: given }) => /apply|plan$/.test(String(given?.operation))) as
    | (Step & { readonly id?: string })
    | undefined
  const isMain = event === 'push'
  const values = {
    github: {
      event_name: event,
      ref: isMain ? 'refs/heads/main' : 'refs/pull/12/merge',
      event: { repository: { default_branch: 'main' } },
    },
    ...{ inputs: { mode: 'auto' }, secrets: {}, vars: {}, matrix: { environment } },
  }
  const { 'plan-file': _, ...inputs } = fillAll(step?.with ?? {}, { values })
  const isSelfHosted = inputs.profile === 'hyperdx'
  return runGitHubStep(github(), {
    inputs: { ...inputs, ...(isSelfHosted ? inputsFor(selfHosted(), 'hyperdx') : inputsFor(cloud(), 'clickhouse-cloud')) },
    files: {
      'observability/a.yml': content,
      ...(inputs.env && { [`environments/${environment}.yml`]: 'variables: { A: b }' }),
    },
    // The called workflow has the name of its caller.
    env: {
      ...{ GITHUB_WORKFLOW: path.startsWith(repository) ? 'observability' : workflow.name, GITHUB_JOB: job },
      ...{ GITHUB_ACTION: step?.id ?? '__watchkeeper_watchkeeper', GITHUB_EVENT_NAME: event },
      ...(isMain && { GITHUB_SHA: merge, GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main' }),
    },
    event: isMain ? {} : pullRequestEvent(12),
  })
}

it.each(pairs)(
  '%s, %s: the comment with the plan becomes the outcome of %s, %s, and a failure opens an issue',
  async (planned, planJob, applied, applyJob) => {
    const { store } = github()
    const headings = (): readonly unknown[] => store.comments.filter(({ on }) => on === 12).map(({ body }) => /^### .*$/m.exec(body)?.[0])
    await runJob(planned, planJob, 'pull_request', declared)
    expect(headings()).toEqual([expect.stringMatching(/1 to create/)])
    store.pulls = [{ number: 12, state: 'closed', commits: ['a'.repeat(40)], mergeCommit: merge }]
    await runJob(applied, applyJob, 'push', declared.replace('source: Logs', 'source: Nothing'))
    expect(headings()).toEqual(['### ❌ Not applied in `bbbbbbb`'])
    expect(store.issues).toMatchObject([{ state: 'open' }])
    await runJob(applied, applyJob, 'push', declared)
    expect(headings()).toEqual(['### ✅ Applied in `bbbbbbb`'])
    expect(store.comments.find(({ on }) => on === 12)?.body).toMatch(/<summary>Previous report<\/summary>\n\n### ✅ .*1 to create/)
    expect(store.issues).toMatchObject([{ state: 'closed' }])
    const emulator = planned.includes('self-hosted') ? selfHosted() : cloud()
    expect(serviceOf(emulator).savedSearches.some(({ name }) => name === 'Errors')).toBe(true)
  },
)
