import { isOwn, update, writeBody } from './body.ts'
import type { Comment, PullRequest } from './client.ts'
import { isFailure, type SyncContent, type SyncContext } from './content.ts'

/** Condition for the first comment. */
export type CommentMode = 'always' | 'changes' | 'on-failure'

/** Creates or updates the one comment of the label. Throws what the client throws. */
export async function syncComment(context: SyncContext, mode: CommentMode, wantedNumber: number | undefined): Promise<void> {
  const { content, client, deps } = context
  const number = wantedNumber ?? (await findPullRequest(context))
  if (number === undefined) return
  const place = `on #${number}`
  const found = await findComment(context, number)
  if (found !== undefined) {
    const write = (body: string): Promise<void> => client.updateComment(found.id, body)
    const outcome = await update(context, { target: 'comment', place, old: found.body, write })
    if (outcome === 'updated') deps.note(`comment: updated ${place}`)
    if (outcome !== 'gone') return
  } else if (!isWanted(mode, content)) return
  await client.createComment(number, writeBody('comment', context, undefined))
  deps.note(`comment: created ${place}`)
}

async function findComment(context: SyncContext, number: number): Promise<Comment | undefined> {
  for await (const comment of context.client.comments(number)) if (isOwn('comment', context, comment)) return comment
  return undefined
}

/** Whether a first comment is wanted. An existing comment is always kept up to date. */
function isWanted(mode: CommentMode, content: SyncContent): boolean {
  if (mode === 'on-failure') return isFailure(content)
  return mode === 'always' || content.status !== 'pass' || content.hasChanges
}

/** The pull request of the run, or the open one whose head is its commit. */
async function findPullRequest({ run, client, deps }: SyncContext): Promise<number | undefined> {
  if (run.pullRequest !== undefined) return run.pullRequest
  // A pull request that only contains the commit has its own run for its head.
  const isHere = ({ isOpen, headCommit }: PullRequest): boolean => isOpen && headCommit === run.commit
  const found = run.commit === '' ? [] : (await Array.fromAsync(client.pullRequestsWith(run.commit))).filter(isHere)
  const [number] = found.map((one) => one.number).sort((a, b) => a - b)
  if (number === undefined)
    deps.note('comment: not created, because no open pull request has this commit as its head. To select a pull request, set pr-number')
  return number
}
