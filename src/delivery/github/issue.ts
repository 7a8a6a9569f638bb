import { capitalize, quote } from '../../platform/core/text.ts'
import type { StateChange } from '../notifications/message.ts'
import { digestOfReason, isOwn, markerOf, readBody, update, writeBody, writeIssueComment } from './body.ts'
import type { Issue } from './client.ts'
import { isFailure, type SyncContext } from './content.ts'

/** Label of every issue of this action. Removing it releases the issue. */
const issueLabel = 'watchkeeper'

export interface SyncedIssue {
  readonly change: StateChange
  readonly number?: number
}

/** Throws what the client throws. */
export async function syncIssue(context: SyncContext): Promise<SyncedIssue> {
  const { deps, content } = context
  const found = await openIssues(context)
  const [oldest] = found.filter(isLabeled)
  if (oldest !== undefined) {
    const synced = await updateOrClose(context, oldest)
    await closeDuplicates(context, found)
    return synced
  }
  if (!isFailure(content)) return { change: 'none' }
  const [released] = found
  if (released === undefined) return open(context)
  deps.note(
    `issue: not opened, because #${released.number} is still open without the label ${issueLabel}. Close that issue to get a new one`,
  )
  return { change: 'none', number: released.number }
}

async function openIssues(context: SyncContext): Promise<readonly Issue[]> {
  const issues = await Array.fromAsync(context.client.openIssuesOf(context.author))
  return issues.filter((issue) => isOwn('issue', context, issue)).toSorted((a, b) => a.number - b.number)
}

const isLabeled = ({ labels }: Issue) => labels.some((name) => name.toLowerCase() === issueLabel)

async function updateOrClose(context: SyncContext, { number, body: old }: Issue): Promise<SyncedIssue> {
  const { content, label, client, deps } = context
  // A failure that `warn-only` makes a warning has not recovered.
  const isOver = !content.hasFailed
  const outcome = await update(context, {
    target: 'issue',
    place: `#${number}`,
    old,
    isDue: isOver,
    // Closed before the comment: if closing failed after it, every later run would comment again.
    write: (body) => client.updateIssue(number, { body, ...(isOver ? { close: 'completed' } : { title: issueTitle(context) }) }),
  })
  if (outcome === 'gone' && isFailure(content)) return open(context)
  if (outcome !== 'updated') return { change: 'none', ...(outcome !== 'gone' && { number }) }
  const reason = readBody(old, markerOf('issue', label)).memory?.reason
  if (isOver) await commentOn(context, number, 'The check passes again.')
  else if (reason !== undefined && reason !== digestOfReason(content.reason))
    await commentOn(context, number, 'The reason for the failure has changed.')
  deps.note(`issue: ${isOver ? 'closed' : 'updated'} #${number}`)
  return { change: isOver ? 'passing' : 'none', number }
}

const commentOn = (context: SyncContext, number: number, sentence: string) =>
  context.client.createComment(number, writeIssueComment(sentence, context))

async function open(context: SyncContext): Promise<SyncedIssue> {
  const { client, deps } = context
  const issue = await client.createIssue({
    title: issueTitle(context),
    body: writeBody('issue', context, undefined),
    label: issueLabel,
  })
  deps.note(`issue: opened #${issue.number}`)
  if (!isLabeled(issue))
    deps.note(
      `issue: #${issue.number} has no label ${issueLabel}, because the token cannot set labels. Later runs will not update or close it`,
    )
  // Another run may have opened one at the same moment. Both runs see both issues, and keep the older one.
  const all = await openIssues(context)
  await closeDuplicates(context, all)
  return { change: 'failing', number: all.find(isLabeled)?.number ?? issue.number }
}

/** `Cost gate: budget exceeded`, and `Apply, environment staging: the API is down`. */
function issueTitle({ name, content: { cause, environment }, redact }: SyncContext) {
  const where = environment === undefined ? '' : `, environment ${redact(environment)}`
  return `${quote(redact(capitalize(name)), maxNameCharacters)}${where}: ${quote(redact(cause), maxCauseCharacters)}`
}

// GitHub accepts 256 characters. A cut adds up to 30, and an environment up to 77.
const [maxNameCharacters, maxCauseCharacters] = [60, 120]

async function closeDuplicates({ client, deps }: SyncContext, found: readonly Issue[]) {
  for (const { number } of found.filter(isLabeled).slice(1)) {
    await client.updateIssue(number, { close: 'not_planned' })
    deps.note(`issue: closed #${number} as a duplicate`)
  }
}
