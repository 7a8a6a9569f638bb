import type { Redact } from '../core/secrets.ts'
import type { Block, Status } from '../report/blocks.ts'
import { markdownData } from '../report/escape.ts'
import { type Kind, markerOf } from './body.ts'
import type { Author, GitHub, Ports } from './client.ts'
import { commitOf, type Run, type RunEvent } from './run.ts'

// Owns what there is to tell of one run, and when it is worth telling. Pure.

export interface News {
  readonly operation: string
  readonly status: Status
  /** A gate failed, or nothing could be judged; also where that is only a warning. */
  readonly hasFailed: boolean
  /** The operation says that it changed something, or would. */
  readonly hasChanges: boolean
  /** Why it is no pass; empty for one. */
  readonly reason: string
  readonly blocks: readonly Block[]
  /** When the run began to look, milliseconds since the epoch. */
  readonly atMs: number
}

export const isFailure = ({ status }: News): boolean => status === 'fail' || status === 'error'

export const isNoteworthy = ({ status, hasChanges }: News): boolean => status !== 'pass' || hasChanges

/** The clocks of two runners may differ by this much; a note from further ahead has a wrong date, and counts for nothing. */
const mostAheadMs = 5 * 60_000

/** A slow run must not speak over one that looked later. */
export const isOutdated = ({ atMs }: News, toldAtMs: number | undefined, nowMs: number): boolean =>
  toldAtMs !== undefined && toldAtMs > atMs && toldAtMs <= nowMs + mostAheadMs

// Owns what telling a comment and telling an issue have in common: who speaks, about what, and from which run.

export interface Telling {
  readonly news: News
  readonly run: Run
  readonly event: RunEvent
  readonly label: string
  readonly github: GitHub
  /** Whose comments and issues are ours. */
  readonly author: Author
  readonly redact: Redact
  readonly ports: Ports
}

/** Written by whom the token belongs to, with our mark on top: a text that merely quotes the mark is neither. */
export const isOwn = (
  kind: Kind,
  { label, author }: Telling,
  { body, authorId }: { readonly body: string; readonly authorId: number | undefined },
) => authorId === author.id && body.startsWith(`${markerOf(kind, label)}`)

/** Which run says so; the last line of everything that is written. */
export function sourceOf({ run, event, news, redact }: Telling): string {
  const from = run.url === undefined ? 'this run' : `[this run](${run.url})`
  const job = run.job === '' ? '' : ` of job ${markdownData(redact(run.job))}`
  const commit = commitOf(run, event)
  const at = new Date(news.atMs).toISOString().slice(0, 16).replace('T', ' ')
  return `From ${from}${job}${commit === '' ? '' : `, commit ${markdownData(redact(commit).slice(0, 7))}`}, ${at} UTC.`
}
