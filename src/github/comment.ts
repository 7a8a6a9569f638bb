import { markerOf, readBody, writeBody } from './body.ts'
import { isFailure, isNoteworthy, isOutdated, isOwn, type News, sourceOf, type Telling } from './context.ts'
import { GitHubFailure } from './failure.ts'
import { pullRequestAt, type Subject } from './run.ts'

// Owns the decision about the one comment of a label. Pure.

export type When = 'always' | 'changes' | 'on-failure'

export type CommentStep = 'create' | 'update' | 'leave' | 'leave-newer'

/** `told` is the comment that is there, with the moment that it tells of, if it remembers one. */
export function decideComment(when: When, news: News, told: { readonly atMs: number | undefined } | undefined, nowMs: number): CommentStep {
  if (told !== undefined) return isOutdated(news, told.atMs, nowMs) ? 'leave-newer' : 'update'
  return isWanted(when, news) ? 'create' : 'leave'
}

function isWanted(when: When, news: News): boolean {
  if (when === 'on-failure') return isFailure(news)
  return when === 'always' || isNoteworthy(news)
}

// Owns keeping the one comment of a label: which pull request, is it there, write it.

/** Throws a GitHubFailure when it cannot be kept. */
export async function tellComment(telling: Telling, when: When, subject: Subject): Promise<void> {
  const { news, github, label, redact, ports } = telling
  const number = await numberOf(subject, telling)
  if (number === undefined) return
  const marker = markerOf('comment', label)
  const found = await github.findComment(number, (comment) => isOwn('comment', telling, comment))
  const told = found && { atMs: readBody(found.body, marker).memory?.atMs }
  const step = decideComment(when, news, told, ports.clock.now())
  const write = (old: string | undefined): string => writeBody({ marker, news, old, source: sourceOf(telling), redact })
  if (step === 'leave') return
  if (step === 'leave-newer') {
    ports.note(`comment: #${number} has one of a run that looked later, which stays`)
    return
  }
  if (found !== undefined && (await isUpdated(telling, found.id, write(found.body)))) {
    ports.note(`comment: updated on #${number}`)
    return
  }
  await github.createComment(number, write(undefined))
  ports.note(`comment: written on #${number}`)
}

async function numberOf(subject: Subject, { github, ports }: Telling): Promise<number | undefined> {
  if (subject.kind === 'pull-request') return subject.number
  const number = subject.kind === 'none' ? undefined : pullRequestAt(await github.pullRequestsWith(subject.commit), subject.commit)
  if (number === undefined) ports.note('comment: none written, no open pull request has this commit as its newest; pr-number names one')
  return number
}

/** False when somebody deleted it since it was found. */
async function isUpdated({ github }: Telling, id: number, body: string): Promise<boolean> {
  try {
    await github.updateComment(id, body)
    return true
  } catch (thrown) {
    if (thrown instanceof GitHubFailure && thrown.facts.status === 404) return false
    throw thrown
  }
}
