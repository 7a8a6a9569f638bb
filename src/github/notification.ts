import type { Redact } from '../core/secrets.ts'
import type { Block, Status } from '../report/blocks.ts'
import type { Author, GitHub, GitHubDeps } from './client.ts'
import type { Run, RunEvent } from './run.ts'

/** What a run has to say on GitHub. */
export interface Notification {
  readonly operation: string
  readonly status: Status
  /** A gate failed, or the run ended with an error; also where `warn-only` makes it a warning. */
  readonly hasFailed: boolean
  /** The operation changed something, or would. */
  readonly hasChanges: boolean
  /** Why the run did not pass; empty for one that did. */
  readonly reason: string
  readonly blocks: readonly Block[]
  /** Start of the run, milliseconds since the epoch. */
  readonly atMs: number
}

/** What the sync of the comment and of the issue share. */
export interface SyncContext {
  readonly notification: Notification
  readonly run: Run
  readonly event: RunEvent
  /** Keeps the comment and the issue of one job apart from those of others. */
  readonly label: string
  readonly github: GitHub
  /** The account of the token: only its comments and issues are ours. */
  readonly author: Author
  readonly redact: Redact
  readonly deps: GitHubDeps
}

export const isFailure = ({ status }: Notification): boolean => status === 'fail' || status === 'error'

/** The clocks of two runners may differ by this much. A date further ahead is wrong and is ignored. */
const maxClockSkewMs = 5 * 60_000

/** Whether a run that started later has written already: a slow run must not overwrite it. */
export const isOutdated = ({ atMs }: Notification, writtenAtMs: number | undefined, nowMs: number): boolean =>
  writtenAtMs !== undefined && writtenAtMs > atMs && writtenAtMs <= nowMs + maxClockSkewMs
