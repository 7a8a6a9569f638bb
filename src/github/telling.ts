// Owns what telling a comment and telling an issue have in common: who speaks, about what, and from which run.
import type { Redact } from '../kernel/secrets.ts'
import { markdownData } from '../report/escape.ts'
import type { Author, GitHub } from './client.ts'
import type { RunEvent } from './event.ts'
import { type Kind, markerOf } from './marker.ts'
import type { News } from './news.ts'
import type { Ports } from './octokit.ts'
import type { Run } from './run.ts'
import { commitOf } from './subject.ts'

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
