import type { Redact } from '../../platform/core/secrets.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { Block, Status } from '../../platform/report/blocks.ts'
import type { LinkTo } from '../../platform/report/markdown.ts'
import type { Author, GitHubClient } from './client.ts'
import type { GitHubRun } from './run.ts'

/** The content of a comment or an issue. */
export interface SyncContent {
  readonly operation: string
  readonly project?: string | undefined
  readonly environment?: string | undefined
  readonly status: Status
  /** A gate failed, or the run ended with an error, also where `warn-only` makes it a warning. */
  readonly hasFailed: boolean
  readonly hasChanges: boolean
  /** What became of the commit that is checked out. Absent for a run that applies nothing. */
  readonly outcome?: Outcome | undefined
  readonly hasWritten?: boolean
  /** Why the run did not pass. Empty for a run that passed. */
  readonly reason: string
  /** For a run that did not complete, and may complete if it is run again. */
  readonly advice?: Advice | undefined
  /** The reason in a few words without figures, with text of servers and files. */
  readonly cause: string
  readonly blocks: readonly Block[]
  readonly atMs: number
}

export interface Advice {
  /** Variables of the step that have no value. */
  readonly empty: readonly { readonly variable: string; readonly isSecret: boolean }[]
}

/**
 * What became of a commit, the least first. `refused`: its branch has newer files. `planned`: another job applies the plan. `included`: a
 * later commit, which contains it, was applied.
 */
export const outcomes = ['refused', 'planned', 'failed', 'in-part', 'included', 'applied'] as const

export type Outcome = (typeof outcomes)[number]

/** Whether a comment keeps what it says: a run that wrote nothing replaces it only by more, and a plan of the pull request never does. */
export function isKept(before: Outcome | undefined, { outcome, hasWritten = false }: SyncContent): boolean {
  if (before === undefined || outcome === undefined) return before !== undefined
  const [old, next] = [outcomes.indexOf(before), outcomes.indexOf(outcome)]
  return !hasWritten && old >= outcomes.indexOf('in-part') && next <= old
}

/** Whether the comment is that of a project, an environment and a service: plan and apply are often different jobs, and say one thing. */
export const isShared = ({ operation }: Pick<SyncContent, 'operation'>): boolean => operation === 'plan' || operation === 'apply'

/** Dependencies that the sync of the comment and of the issue share. */
export interface SyncContext {
  readonly content: SyncContent
  readonly run: GitHubRun
  /** Keeps the comment or the issue of this run apart from those of others. */
  readonly label: string
  /** The label that the comment had in an earlier version. */
  readonly oldLabel?: string | undefined
  /** What people call the check: the workflow, or the label that the user gave. */
  readonly name: string
  readonly client: GitHubClient
  /** The account of the token. Comments and issues of other accounts are never touched. */
  readonly author: Author
  readonly redact: Redact
  readonly linkTo?: LinkTo | undefined
  readonly deps: SendDeps
}

/** Whether the run failed or did not complete. */
export const isFailure = ({ status }: SyncContent): boolean => status === 'fail' || status === 'error'
