import type { Redact } from '../../platform/core/secrets.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { Block, Status } from '../../platform/report/blocks.ts'
import type { LinkTo } from '../../platform/report/markdown.ts'
import type { Author, GitHubClient } from './client.ts'
import type { GitHubRun } from './run.ts'

export interface SyncContent {
  readonly operation: string
  readonly project?: string | undefined
  readonly environment?: string | undefined
  readonly status: Status
  /** True also where `warn-only` makes it a warning. */
  readonly hasFailed: boolean
  readonly hasChanges: boolean
  /** Absent for a run that applies nothing. */
  readonly outcome?: Outcome | undefined
  readonly hasWritten?: boolean
  /** Empty for a run that passed. */
  readonly reason: string
  /** Only where the run may complete if it is run again. */
  readonly advice?: Advice | undefined
  /** A few words without figures, with text of servers and files. */
  readonly cause: string
  readonly blocks: readonly Block[]
  readonly atMs: number
}

export interface Advice {
  /** Variables of the step. */
  readonly empty: readonly { readonly variable: string; readonly isSecret: boolean }[]
}

/**
 * The least first. `refused`: the branch has newer files. `planned`: another job applies the plan. `included`: a later commit, which
 * contains it, was applied.
 */
export const outcomes = ['refused', 'planned', 'failed', 'in-part', 'included', 'applied'] as const

export type Outcome = (typeof outcomes)[number]

/** Whether a comment keeps what it says: a run that wrote nothing replaces it only by more, and a plan of the pull request never does. */
export function isKept(before: Outcome | undefined, { outcome, hasWritten = false }: SyncContent): boolean {
  if (before === undefined || outcome === undefined) return before !== undefined
  const [old, next] = [outcomes.indexOf(before), outcomes.indexOf(outcome)]
  return !hasWritten && old >= outcomes.indexOf('in-part') && next <= old
}

/** Plan and apply are often different jobs, and say one thing about a project, an environment and a service. */
export const isShared = ({ operation }: Pick<SyncContent, 'operation'>): boolean => operation === 'plan' || operation === 'apply'

export interface SyncContext {
  readonly content: SyncContent
  readonly run: GitHubRun
  /** Keeps the comment or the issue of this run apart from those of others. */
  readonly label: string
  /** The label that the comment had in an earlier version. */
  readonly oldLabel?: string | undefined
  /** The workflow, or the label that the user gave. */
  readonly name: string
  readonly client: GitHubClient
  /** Comments and issues of other accounts are never touched. */
  readonly author: Author
  readonly redact: Redact
  readonly linkTo?: LinkTo | undefined
  readonly deps: SendDeps
}

export const isFailure = ({ status }: SyncContent): boolean => status === 'fail' || status === 'error'
