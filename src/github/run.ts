import { readFile, stat } from 'node:fs/promises'
import * as z from 'zod'
import { formatLocation } from '../core/diagnostics.ts'
import { runPageOf } from '../core/run-page.ts'
import { type ProxySettings, parseApiUrl, readProxySettings } from '../http/proxy.ts'

const pullRequest = z.looseObject({
  number: z.int().positive(),
  head: z.looseObject({ sha: z.string().optional(), repo: z.looseObject({ full_name: z.string().optional() }).nullish() }).optional(),
})

const eventSchema = z.looseObject({
  pull_request: pullRequest.optional().catch(undefined),
  issue: z.looseObject({ number: z.int().positive(), pull_request: z.unknown().optional() }).optional().catch(undefined),
})

export type RunEvent = z.output<typeof eventSchema>

/** GitHub's largest event is smaller. */
const largestBytes = 32 * 1024 * 1024

/** Empty without a readable event. The commit then selects the pull request. */
export async function readEvent(file: string | undefined): Promise<RunEvent> {
  if (file === undefined) return {}
  try {
    const { size } = await stat(file)
    if (size > largestBytes) return {}
    return eventSchema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data ?? {}
  } catch {
    return {}
  }
}

type Environment = Readonly<Record<string, string | undefined>>

export interface Run {
  readonly owner: string
  readonly repository: string
  /** Base URL of the API, of github.com or of GitHub Enterprise Server. */
  readonly apiUrl: URL
  readonly proxy: ProxySettings
  /** Page of this run. Undefined when variables are missing. */
  readonly url: string | undefined
  readonly workflow: string
  readonly job: string
  readonly step: string
  readonly eventFile: string | undefined
  readonly commit: string
}

const repositoryGrammar = /^([\w-][\w.-]{0,99})\/([\w.-]{1,100})$/
const commitGrammar = /^[0-9a-f]{40,64}$/

/** Reads the variables of the runner. */
export function readRun(env: Environment): { readonly run: Run } | { readonly problem: string } {
  const [, owner, repository] = repositoryGrammar.exec(env.GITHUB_REPOSITORY ?? '') ?? []
  if (owner === undefined || repository === undefined || /^\.\.?$/.test(repository))
    return { problem: 'GITHUB_REPOSITORY is not owner/name' }
  const address = parseApiUrl(env.GITHUB_API_URL || 'https://api.github.com')
  if ('problem' in address) return { problem: `GITHUB_API_URL ${address.problem}` }
  const proxy = readProxySettings(env)
  const [fault] = proxy.diagnostics
  if (fault !== undefined) return { problem: `${formatLocation(fault.location)} ${fault.message}` }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    return { problem: 'NODE_TLS_REJECT_UNAUTHORIZED is 0, which disables certificate checks and exposes the token' }
  return { run: { owner, repository, apiUrl: address.url, proxy: proxy.settings, ...factsOf(env) } }
}

function factsOf(env: Environment): Omit<Run, 'owner' | 'repository' | 'apiUrl' | 'proxy'> {
  const { GITHUB_WORKFLOW: workflow = '', GITHUB_JOB: job = '', GITHUB_ACTION: step = '', GITHUB_SHA: commit = '' } = env
  return {
    url: runPageOf(env),
    workflow,
    job,
    step,
    eventFile: env.GITHUB_EVENT_PATH || undefined,
    commit: commitGrammar.test(commit) ? commit : '',
  }
}

/**
 * The default label of comment and issue. Jobs of a matrix differ in their target only, and steps of a job in their position only.
 */
export const defaultLabel = ({ workflow, job, step }: Run, operation: string, target: string | undefined): string =>
  [workflow, job, stepWord(step), operation, target].filter((part) => part !== undefined && part !== '').join(' / ')

// The runner uses the id of a step. Without an id, it uses the name of the action, with a number from the second step on.
function stepWord(step: string): string | undefined {
  if (!step.startsWith('__')) return step
  const [, number] = /_(\d+)$/.exec(step) ?? []
  return number === undefined ? undefined : `step ${number}`
}

/** The pull request that the run is about. */
export type PullRequestTarget =
  | { readonly kind: 'pull-request'; readonly number: number }
  /** Any open pull request whose head is this commit. */
  | { readonly kind: 'commit'; readonly commit: string }
  | { readonly kind: 'none' }

export function pullRequestTarget({ commit }: Run, event: RunEvent, wanted: number | undefined): PullRequestTarget {
  const inEvent = event.pull_request?.number ?? (event.issue?.pull_request ? event.issue.number : undefined)
  const number = wanted ?? inEvent
  if (number !== undefined) return { kind: 'pull-request', number }
  return commit === '' ? { kind: 'none' } : { kind: 'commit', commit }
}

/** For a pull request from a fork, GitHub provides a token that can only read. */
export function isFromFork({ owner, repository }: Run, { pull_request: pullRequest }: RunEvent): boolean {
  const head = pullRequest?.head
  if (head === undefined) return false
  return head.repo?.full_name?.toLowerCase() !== `${owner}/${repository}`.toLowerCase()
}

/** The head commit of a pull request, because `GITHUB_SHA` is a merge commit there. */
export const commitOf = ({ commit }: Run, { pull_request: pullRequest }: RunEvent): string => pullRequest?.head?.sha ?? commit

export interface PullRequest {
  readonly number: number
  readonly state: string
  readonly headCommit: string
}

/** The open pull request whose head is the commit. A pull request that only contains the commit has its own run for its head. */
export const pullRequestAt = (all: readonly PullRequest[], commit: string): number | undefined =>
  all
    .filter(({ state, headCommit }) => state === 'open' && headCommit === commit)
    .map(({ number }) => number)
    .sort((a, b) => a - b)[0]
