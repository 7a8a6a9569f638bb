// Owns which pull request a run is about. Pure; where only a commit is known, GitHub has to be asked.
import type { RunEvent } from './event.ts'
import type { Run } from './run.ts'

export type Subject =
  | { readonly kind: 'pull-request'; readonly number: number }
  /** Any open pull request whose head is this commit. */
  | { readonly kind: 'commit'; readonly commit: string }
  | { readonly kind: 'none' }

export function subjectOf({ commit }: Run, event: RunEvent, wanted: number | undefined): Subject {
  const inEvent = event.pull_request?.number ?? (event.issue?.pull_request ? event.issue.number : undefined)
  const number = wanted ?? inEvent
  if (number !== undefined) return { kind: 'pull-request', number }
  return commit === '' ? { kind: 'none' } : { kind: 'commit', commit }
}

/** GitHub gives such a run a token that can only read. */
export function isFromFork({ owner, repository }: Run, { pull_request: pullRequest }: RunEvent): boolean {
  const head = pullRequest?.head
  if (head === undefined) return false
  return head.repo?.full_name?.toLowerCase() !== `${owner}/${repository}`.toLowerCase()
}

/** The commit that people know: for a pull request the runner's own is a merge that is in no branch. */
export const commitOf = ({ commit }: Run, { pull_request: pullRequest }: RunEvent): string => pullRequest?.head?.sha ?? commit

export interface PullRequest {
  readonly number: number
  readonly state: string
  readonly headCommit: string
}

/** A pull request that merely contains the commit has moved on: its newest commit has a run of its own. */
export const pullRequestAt = (all: readonly PullRequest[], commit: string): number | undefined =>
  all
    .filter(({ state, headCommit }) => state === 'open' && headCommit === commit)
    .map(({ number }) => number)
    .sort((a, b) => a - b)[0]
