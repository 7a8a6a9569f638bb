import { readFile, stat } from 'node:fs/promises'
import * as z from 'zod'
import { formatLocation } from '../../platform/core/diagnostics.ts'
import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import { isRepositoryName, runPageOf } from '../../platform/core/run-page.ts'
import type { Variables } from '../../platform/core/variables.ts'
import { type ProxySettings, parseApiUrl, readProxySettings } from '../../platform/http/proxy.ts'

const repositoryOfEvent = z.looseObject({ full_name: z.string().optional() })

const pullRequest = z.looseObject({
  number: z.int().positive(),
  merged: z.boolean().optional().catch(undefined),
  head: z.looseObject({ sha: z.string().optional(), repo: repositoryOfEvent.nullish() }).optional(),
})

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads */
export const eventSchema = z.looseObject({
  pull_request: pullRequest.optional().catch(undefined),
  issue: z.looseObject({ number: z.int().positive(), pull_request: z.unknown().optional() }).optional().catch(undefined),
  workflow_run: z
    .looseObject({ head_branch: z.string().nullish(), head_repository: repositoryOfEvent.nullish() })
    .optional()
    .catch(undefined),
})

type RunEvent = z.output<typeof eventSchema>

/** Empty without a readable event. The commit then selects the pull request. */
export async function readEvent(file = ''): Promise<RunEvent> {
  // A pipe could wait for its writer forever.
  const isFile = await stat(file)
    .then((stats) => stats.isFile())
    .catch(() => false)
  const text = isFile ? await readFile(file, 'utf8').catch(() => '') : ''
  return eventSchema.safeParse(parseJsonOrUndefined(text)).data ?? {}
}

export interface GitHubRun {
  readonly apiUrl: URL
  readonly proxy: ProxySettings
  readonly owner: string
  readonly repository: string
  readonly url: string | undefined
  readonly job: string
  /** What distinguishes this job from others. */
  readonly labelParts: readonly string[]
  /** The head of an open pull request, or else the commit that is checked out. Empty when it is unknown. */
  readonly commit: string
  /** The branch whose files are checked out. Empty for a tag and an open pull request. */
  readonly branch: string
  readonly refName: string
  /** The option `--repo` of `gh`. */
  readonly ghRepository: string
  /** Undefined when variables are missing. */
  readonly rerunCommand: string | undefined
  readonly pullRequest: number | undefined
  readonly isFromFork: boolean
}

/** `checkedOut` is the commit in the workspace, if it is known. */
export async function readGitHubRun(
  env: Variables,
  checkedOut?: string,
): Promise<{ readonly run: GitHubRun } | { readonly problem: string }> {
  const { GITHUB_REPOSITORY: fullName = '' } = env
  if (!isRepositoryName(fullName)) return { problem: 'GITHUB_REPOSITORY is not owner/name' }
  const [owner = '', repository = ''] = fullName.split('/')
  const address = parseApiUrl(env.GITHUB_API_URL || 'https://api.github.com')
  if ('problem' in address) return { problem: `GITHUB_API_URL ${address.problem}` }
  const proxy = readProxySettings(env)
  const [fault] = proxy.diagnostics
  if (fault !== undefined) return { problem: `${formatLocation(fault.location)} ${fault.message}` }
  const event = await readEvent(env.GITHUB_EVENT_PATH)
  const { GITHUB_WORKFLOW: workflow = '', GITHUB_JOB: job = '', GITHUB_ACTION: step = '', GITHUB_RUN_ID: id = '' } = env
  const head = event.pull_request?.head
  const [, host = 'github.com'] = /^https?:\/\/([\w.:-]+)(?:\/|$)/.exec(env.GITHUB_SERVER_URL ?? '') ?? []
  const ghRepository = host === 'github.com' ? fullName : `${host}/${fullName}`
  const run: GitHubRun = {
    apiUrl: address.url,
    proxy: proxy.settings,
    owner,
    repository,
    url: runPageOf(env),
    job,
    // Steps of a job differ in their position only.
    labelParts: [workflow, job, stepWord(step)],
    ...commitOf(event, env, checkedOut),
    ghRepository,
    // Without --failed, so that a plan file is made again, too.
    rerunCommand: /^\d{1,20}$/.test(id) ? `gh run rerun ${id} --repo ${ghRepository}` : undefined,
    // GitHub provides a token that can only read for a pull request from a fork.
    isFromFork: head !== undefined && head.repo?.full_name?.toLowerCase() !== fullName.toLowerCase(),
  }
  return { run }
}

function commitOf({ pull_request: pull, issue, workflow_run: tested }: RunEvent, env: Variables, checkedOut: string | undefined) {
  const { GITHUB_SHA: sha = '', GITHUB_REF: ref = '', GITHUB_REF_NAME: refName = '' } = env
  const isOpen = pull !== undefined && pull.merged !== true
  // A run after another workflow has the commit and the ref of the default branch, whatever that workflow tested.
  const commit = checkedOut ?? (tested === undefined && /^[0-9a-f]{40,64}$/.test(sha) ? sha : '')
  const branch = tested?.head_branch ?? /^refs\/heads\/(.+)$/.exec(ref)?.[1] ?? ''
  const pullRequest = isOpen ? pull.number : issue?.pull_request ? issue.number : undefined
  return {
    // For an open pull request, a merge commit of GitHub is checked out.
    commit: (isOpen ? pull.head?.sha : undefined) ?? commit,
    branch: pullRequest === undefined ? branch : '',
    refName: branch || refName,
    pullRequest,
  }
}

/** True also where the event does not say it. */
export function mayConcernFork(
  { eventName, repository, ref }: { readonly eventName: string; readonly repository: string; readonly ref: string },
  event: RunEvent,
): boolean {
  const isOther = (head: z.output<typeof repositoryOfEvent> | null | undefined): boolean =>
    head?.full_name?.toLowerCase() !== repository.toLowerCase()
  if (eventName.startsWith('pull_request') || event.pull_request !== undefined) return isOther(event.pull_request?.head?.repo)
  // A merge group has the commits of pull requests, and its event does not say from where. Its branch is also pushed.
  // https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
  if (eventName === 'merge_group' || /^refs\/heads\/gh-readonly-queue\//.test(ref)) return true
  if (eventName === 'workflow_run') return isOther(event.workflow_run?.head_repository)
  // A comment on a pull request comes without its head.
  return Boolean(event.issue?.pull_request)
}

// A step without an id has the name of the action, with a number from the second step on.
function stepWord(step: string) {
  if (!step.startsWith('__')) return step
  const [, number] = /_(\d+)$/.exec(step) ?? []
  return number === undefined ? '' : `step ${number}`
}
