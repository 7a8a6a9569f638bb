import type { Redact } from '../../platform/core/secrets.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { Block, Status } from '../../platform/report/blocks.ts'
import type { LinkTo } from '../../platform/report/markdown.ts'
import type { Author, GitHubClient } from './client.ts'
import type { GitHubRun } from './run.ts'

/** The content of a comment or an issue. */
export interface SyncContent {
  readonly operation: string
  readonly status: Status
  /** A gate failed, or the run ended with an error, also where `warn-only` makes it a warning. */
  readonly hasFailed: boolean
  /** The operation changed something, or would. */
  readonly hasChanges: boolean
  /** The operation wrote to the service. */
  readonly hasWritten?: boolean
  /** Set where the content is the outcome of a merge. */
  readonly outcome?: MergeOutcome
  /** Why the run did not pass. Empty for a run that passed. */
  readonly reason: string
  /** What to do after a run that did not complete, for reasons outside of the commit. */
  readonly advice?: Advice | undefined
  /** The reason in a few words without figures, with text of servers and files. */
  readonly cause: string
  readonly blocks: readonly Block[]
  /** Start of the run, milliseconds since the epoch. */
  readonly atMs: number
}

export interface Advice {
  /** Variables of the step that have no value. */
  readonly empty?: readonly { readonly variable: string; readonly isSecret: boolean }[]
  /** Another run with the same key would fail, too. */
  readonly isKeyRejected?: boolean
}

/** What became of the changes of a pull request that was merged. */
export const mergeOutcomes = ['applied', 'not-applied'] as const

export type MergeOutcome = (typeof mergeOutcomes)[number]

/** Labels by their start and end. */
export interface LabelPattern {
  readonly start: string
  readonly end: string
}

/** Dependencies that the sync of the comment and of the issue share. */
export interface SyncContext {
  readonly content: SyncContent
  readonly run: GitHubRun
  /** Keeps the comment and the issue of one job apart from those of others. */
  readonly label: string
  /** Default labels of the plan that this run applied, the closest first. Empty for other operations, and for a label that the user gave. */
  readonly planLabels: readonly LabelPattern[]
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
