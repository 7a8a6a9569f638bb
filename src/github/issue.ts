import { clip, printable } from '../core/text.ts'
import { digestOfReason, type Memory, markerOf, readBody, writeBody, writeWord } from './body.ts'
import type { Issue, IssueChange } from './client.ts'
import { isFailure, isOutdated, isOwn, type News, sourceOf, type Telling } from './context.ts'
import { GitHubFailure } from './failure.ts'

// Owns the decision about the one issue of a label. Pure.

/** An open issue that is certainly ours. */
export interface OwnIssue {
  readonly number: number
  readonly memory: Memory | undefined
}

export type IssueStep =
  | { readonly kind: 'open' }
  /** `isOther`: it fails for another reason than the issue says, which is worth a word of its own. */
  | { readonly kind: 'update'; readonly number: number; readonly isOther: boolean }
  | { readonly kind: 'close'; readonly number: number }
  | { readonly kind: 'leave-newer'; readonly number: number }
  | { readonly kind: 'leave' }

/** The oldest is the one; two runs at once may have opened others. */
export function decideIssue(news: News, own: readonly OwnIssue[], nowMs: number): IssueStep {
  const [oldest] = own.toSorted((a, b) => a.number - b.number)
  if (oldest === undefined) return isFailure(news) ? { kind: 'open' } : { kind: 'leave' }
  const { number, memory } = oldest
  if (isOutdated(news, memory?.atMs, nowMs)) return { kind: 'leave-newer', number }
  // A failure that is only a warning today is no recovery either.
  if (!news.hasFailed) return { kind: 'close', number }
  return { kind: 'update', number, isOther: memory !== undefined && memory.reason !== digestOfReason(news.reason) }
}

/** All but the oldest. */
export const spareIssues = (own: readonly OwnIssue[]): readonly number[] =>
  own
    .map(({ number }) => number)
    .sort((a, b) => a - b)
    .slice(1)

// Owns keeping the one issue of a label: is it there, then open it, say what changed, or close it with a word.

/** Every issue of ours bears it. Taking it off takes the issue out of our hands. */
export const issueLabel = 'watchkeeper'

/** Throws a GitHubFailure when it cannot be kept. */
export async function tellIssue(telling: Telling): Promise<void> {
  const marked = await markedIssues(telling)
  const step = decideIssue(telling.news, marked.filter(isLabelled).map(toOwn(telling)), telling.ports.clock.now())
  const released = marked.find((issue) => !isLabelled(issue))
  if (step.kind === 'open' && released !== undefined) {
    telling.ports.note(`issue: #${released.number} is open and lost its label ${issueLabel}: it is left alone, and no second one opened`)
    return
  }
  await take(step, telling, marked)
  await closeSpares(telling, marked)
}

/** Open, ours by author and mark. */
const markedIssues = async (telling: Telling): Promise<readonly Issue[]> =>
  (await telling.github.openIssuesOf(telling.author)).filter((issue) => isOwn('issue', telling, issue))

const isLabelled = ({ labels }: Issue): boolean => labels.some((name) => name.toLowerCase() === issueLabel)

const toOwn =
  ({ label }: Telling) =>
  ({ number, body }: Issue): OwnIssue => ({ number, memory: readBody(body, markerOf('issue', label)).memory })

async function take(step: IssueStep, telling: Telling, marked: readonly Issue[]): Promise<void> {
  const { ports } = telling
  if (step.kind === 'leave') return
  if (step.kind === 'open') return open(telling)
  const { number } = step
  if (step.kind === 'leave-newer') return ports.note(`issue: a run that looked later has told #${number}, which stays`)
  const body = bodyFor(telling, marked.find((issue) => issue.number === number)?.body)
  if (step.kind === 'close') return close(telling, number, body)
  if (!(await isUpdated(telling, number, { body }))) return isFailure(telling.news) ? open(telling) : undefined
  if (step.isOther) await telling.github.createComment(number, wordFor(telling, 'It fails for another reason now.'))
  ports.note(`issue: updated #${number}`)
}

const bodyFor = (telling: Telling, old: string | undefined): string =>
  writeBody({ marker: markerOf('issue', telling.label), news: telling.news, old, source: sourceOf(telling), redact: telling.redact })

const wordFor = (telling: Telling, sentence: string): string => writeWord(sentence, telling.news.blocks, sourceOf(telling), telling.redact)

async function open(telling: Telling): Promise<void> {
  const { github, label, ports } = telling
  const title = printable(clip(`Watchkeeper: ${label.replace(uuid, '$1')}`, longestLabel))
    .slice(0, longestTitle)
    .toWellFormed()
  const issue = await github.createIssue({ title: `${title} fails`, body: bodyFor(telling, undefined), label: issueLabel })
  ports.note(`issue: opened #${issue.number}`)
  if (!isLabelled(issue))
    ports.note(`issue: #${issue.number} has no label ${issueLabel}, because the token may not set one: it will be left alone from now on`)
  // Another run may have opened one at the same moment. Both of them see both, and keep the older one.
  await closeSpares(telling, await markedIssues(telling))
}

/** In a title, its beginning says enough. */
const uuid = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi

const longestLabel = 120
const longestTitle = 200

// The state first: a word about a recovery that is then not shown would be said again by every run.
async function close(telling: Telling, number: number, body: string): Promise<void> {
  const { github, ports } = telling
  if (!(await isUpdated(telling, number, { body, close: 'completed' }))) return
  await github.createComment(number, wordFor(telling, 'It has recovered.'))
  ports.note(`issue: closed #${number}`)
}

async function closeSpares({ github, ports }: Telling, marked: readonly Issue[]): Promise<void> {
  const own = marked.filter(isLabelled).map(({ number }) => ({ number, memory: undefined }))
  for (const number of spareIssues(own)) {
    await github.updateIssue(number, { close: 'not_planned' })
    ports.note(`issue: closed #${number}, which was opened twice`)
  }
}

/** False when it was deleted, or moved to another repository, since it was found. */
async function isUpdated({ github }: Telling, number: number, change: IssueChange): Promise<boolean> {
  try {
    await github.updateIssue(number, change)
    return true
  } catch (thrown) {
    if (thrown instanceof GitHubFailure && (thrown.facts.status === 404 || thrown.facts.status === 410)) return false
    throw thrown
  }
}
