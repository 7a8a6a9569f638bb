import { clip, printable } from '../core/text.ts'
import { digestOfReason, isOwn, isSameExceptTime, markerOf, readBody, writeBody, writeIssueComment } from './body.ts'
import { isFailure, isOutdated, type SyncContext } from './content.ts'
import { hasStatus } from './failure.ts'
import type { Issue, IssueChange } from './forge.ts'

/** On every issue of this action. Removing it releases the issue. */
const issueLabel = 'watchkeeper'

/** What a run did with the state of the issue. */
export type IssueTransition = 'opened' | 'closed' | 'none'

/** Opens, updates or closes the one issue of the label. Throws what the client throws. */
export async function syncIssue(context: SyncContext): Promise<IssueTransition> {
  const { deps, content } = context
  const found = await openIssues(context)
  const [oldest] = found.filter(isLabeled)
  if (oldest !== undefined) {
    const change = await updateOrClose(context, oldest)
    await closeDuplicates(context, found)
    return change
  }
  if (!isFailure(content)) return 'none'
  const [released] = found
  if (released === undefined) return open(context)
  deps.note(
    `issue: not opened, because #${released.number} is still open without the label ${issueLabel}. Close that issue to get a new one`,
  )
  return 'none'
}

/** Open issues with our author and marker, the oldest first. */
async function openIssues(context: SyncContext): Promise<readonly Issue[]> {
  const issues = await context.forge.openIssuesOf(context.author)
  return issues.filter((issue) => isOwn('issue', context, issue)).toSorted((a, b) => a.number - b.number)
}

const isLabeled = ({ labels }: Issue): boolean => labels.some((name) => name.toLowerCase() === issueLabel)

async function updateOrClose(context: SyncContext, { number, body: old }: Issue): Promise<IssueTransition> {
  const { content, label, deps } = context
  const { memory } = readBody(old, markerOf('issue', label))
  if (isOutdated(content, memory?.atMs, deps.clock.now())) {
    deps.note(`issue: #${number} not updated, because a run that started later wrote it`)
    return 'none'
  }
  const body = bodyFor(context, old)
  // A failure that `warn-only` makes a warning has not recovered.
  if (!content.hasFailed) return close(context, number, body)
  if (old !== undefined && isSameExceptTime(old, body, markerOf('issue', label))) {
    deps.note(`issue: #${number} unchanged`)
    return 'none'
  }
  if (!(await tryUpdate(context, number, { body }))) return isFailure(content) ? open(context) : 'none'
  if (memory !== undefined && memory.reason !== digestOfReason(content.reason))
    await comment(context, number, 'The reason for the failure has changed.')
  deps.note(`issue: updated #${number}`)
  return 'none'
}

const bodyFor = (context: SyncContext, old: string | undefined): string => writeBody('issue', context, old)

const comment = (context: SyncContext, number: number, sentence: string): Promise<void> =>
  context.forge.commentOnIssue(number, writeIssueComment(sentence, context))

async function open(context: SyncContext): Promise<'opened'> {
  const { forge, kind, deps } = context
  const issue = await forge.createIssue({
    title: kind.escapeTitle(titleOf(context)),
    body: bodyFor(context, undefined),
    label: issueLabel,
  })
  deps.note(`issue: opened #${issue.number}`)
  if (!isLabeled(issue))
    deps.note(
      `issue: #${issue.number} has no label ${issueLabel}, because the token cannot set labels. Later runs will not update or close it`,
    )
  // Another run may have opened one at the same moment. Both runs see both issues, and keep the older one.
  await closeDuplicates(context, await openIssues(context))
  return 'opened'
}

/** `Cost gate fails: Budget exceeded: 296.66 of 250.00 CHC (119%)`. */
function titleOf({ name, content, redact }: SyncContext): string {
  const [first = ''] = redact(content.reason).split('\n')
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)} fails: ${clip(first.replace(/[.:]$/, ''), maxReasonCharacters)}`
  return printable(title).slice(0, maxTitleCharacters).toWellFormed()
}

const maxReasonCharacters = 120
const maxTitleCharacters = 200

// Closed before the comment: if closing failed after it, every later run would comment again.
async function close(context: SyncContext, number: number, body: string): Promise<IssueTransition> {
  if (!(await tryUpdate(context, number, { body, close: 'completed' }))) return 'none'
  await comment(context, number, 'The check passes again.')
  context.deps.note(`issue: closed #${number}`)
  return 'closed'
}

async function closeDuplicates({ forge, deps }: SyncContext, found: readonly Issue[]): Promise<void> {
  for (const { number } of found.filter(isLabeled).slice(1)) {
    await forge.updateIssue(number, { close: 'not_planned' })
    deps.note(`issue: closed #${number} as a duplicate`)
  }
}

/** False when the issue was deleted, or moved to another repository, since it was found. */
async function tryUpdate({ forge }: SyncContext, number: number, change: IssueChange): Promise<boolean> {
  try {
    await forge.updateIssue(number, change)
    return true
  } catch (thrown) {
    if (hasStatus(thrown, 404, 410)) return false
    throw thrown
  }
}
