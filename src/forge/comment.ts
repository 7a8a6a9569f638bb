import { isOwn, isSameExceptTime, markerOf, readBody, writeBody } from './body.ts'
import { type ForgeContent, isFailure, isOutdated, type SyncContext } from './content.ts'
import { hasStatus } from './failure.ts'
import type { PullRequest } from './forge.ts'

/** When a first comment is created. */
export type CommentMode = 'always' | 'changes' | 'on-failure'

/** Creates or updates the one comment of the label. Throws what the client throws. */
export async function syncComment(context: SyncContext, mode: CommentMode, wantedNumber: number | undefined): Promise<void> {
  const { content, forge, kind, label, deps } = context
  const number = wantedNumber ?? (await findPullRequest(context))
  if (number === undefined) return
  const shown = `${kind.words.sign}${number}`
  const marker = markerOf('comment', label)
  const found = await forge.findComment(number, (comment) => isOwn('comment', context, comment))
  if (found === undefined && !isWanted(mode, content)) return
  if (found !== undefined && isOutdated(content, readBody(found.body, marker).memory?.atMs, deps.clock.now())) {
    deps.note(`comment: not updated on ${shown}, because a run that started later wrote it`)
    return
  }
  const write = (old: string | undefined): string => writeBody('comment', context, old)
  if (found !== undefined) {
    const body = write(found.body)
    if (isSameExceptTime(found.body, body, marker)) {
      deps.note(`comment: unchanged on ${shown}`)
      return
    }
    if (await tryUpdate(context, number, found.id, body)) {
      deps.note(`comment: updated on ${shown}`)
      return
    }
  }
  await forge.createComment(number, write(undefined))
  deps.note(`comment: created on ${shown}`)
}

/** Whether a first comment is wanted. An existing comment is always kept up to date. */
function isWanted(mode: CommentMode, content: ForgeContent): boolean {
  if (mode === 'on-failure') return isFailure(content)
  return mode === 'always' || content.status !== 'pass' || content.hasChanges
}

/** The pull request of the run, or the open one whose head is its commit. */
async function findPullRequest({ run, forge, kind, deps }: SyncContext): Promise<number | undefined> {
  if (run.pullRequest !== undefined) return run.pullRequest
  const number = run.commit === '' ? undefined : pullRequestAt(await forge.pullRequestsWith(run.commit), run.commit)
  if (number === undefined)
    deps.note(
      `comment: not created, because no open ${kind.words.pullRequest} has this commit as its head. To select a ${kind.words.pullRequest}, set pr-number`,
    )
  return number
}

/** A pull request that only contains the commit has its own run for its head. */
const pullRequestAt = (all: readonly PullRequest[], commit: string): number | undefined =>
  all
    .filter(({ isOpen, headCommit }) => isOpen && headCommit === commit)
    .map(({ number }) => number)
    .sort((a, b) => a - b)[0]

/** False when the comment was deleted since it was found. */
async function tryUpdate({ forge }: SyncContext, number: number, id: number, body: string): Promise<boolean> {
  try {
    await forge.updateComment(number, id, body)
    return true
  } catch (thrown) {
    if (hasStatus(thrown, 404)) return false
    throw thrown
  }
}
