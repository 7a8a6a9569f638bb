import { isOwn, isSameExceptTime, markerOf, readBody, sourceLine, writeBody } from './body.ts'
import { hasStatus } from './failure.ts'
import { isFailure, isOutdated, type Notification, type SyncContext } from './notification.ts'
import { type PullRequestTarget, pullRequestAt } from './run.ts'

export type CommentMode = 'always' | 'changes' | 'on-failure'

/** Creates or updates the one comment of the label. Throws what the client throws. */
export async function syncComment(context: SyncContext, mode: CommentMode, target: PullRequestTarget): Promise<void> {
  const { notification, github, label, redact, deps } = context
  const number = await pullRequestNumber(target, context)
  if (number === undefined) return
  const marker = markerOf('comment', label)
  const found = await github.findComment(number, (comment) => isOwn('comment', context, comment))
  if (found === undefined && !isWanted(mode, notification)) return
  if (found !== undefined && isOutdated(notification, readBody(found.body, marker).memory?.atMs, deps.clock.now())) {
    deps.note(`comment: not updated on #${number}, because a run that started later wrote it`)
    return
  }
  const write = (old: string | undefined): string => writeBody({ marker, notification, old, source: sourceLine(context), redact })
  if (found !== undefined) {
    const body = write(found.body)
    if (isSameExceptTime(found.body, body, marker)) {
      deps.note(`comment: unchanged on #${number}`)
      return
    }
    if (await tryUpdate(context, found.id, body)) {
      deps.note(`comment: updated on #${number}`)
      return
    }
  }
  await github.createComment(number, write(undefined))
  deps.note(`comment: created on #${number}`)
}

/** Whether a first comment is wanted. An existing comment is always kept up to date. */
function isWanted(mode: CommentMode, notification: Notification): boolean {
  if (mode === 'on-failure') return isFailure(notification)
  return mode === 'always' || notification.status !== 'pass' || notification.hasChanges
}

async function pullRequestNumber(target: PullRequestTarget, { github, deps }: SyncContext): Promise<number | undefined> {
  if (target.kind === 'pull-request') return target.number
  const number = target.kind === 'none' ? undefined : pullRequestAt(await github.pullRequestsWith(target.commit), target.commit)
  if (number === undefined)
    deps.note('comment: not created, because no open pull request has this commit as its head. To select a pull request, set pr-number')
  return number
}

/** False when the comment was deleted since it was found. */
async function tryUpdate({ github }: SyncContext, id: number, body: string): Promise<boolean> {
  try {
    await github.updateComment(id, body)
    return true
  } catch (thrown) {
    if (hasStatus(thrown, 404)) return false
    throw thrown
  }
}
