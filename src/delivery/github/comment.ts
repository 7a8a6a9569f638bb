import { say, trusted } from '../../platform/core/line.ts'
import { type Block, paragraph } from '../../platform/report/blocks.ts'
import { adviseRerun, hasLabelLike, isOwn, markerOf, readBody, update, withMarker, writeBody } from './body.ts'
import type { Comment, PullRequest } from './client.ts'
import { isFailure, type SyncContent, type SyncContext } from './content.ts'
import { describeAnswer, toGitHubError } from './failure.ts'
import type { GitHubRun } from './run.ts'

/** Condition for the first comment. */
export type CommentMode = 'always' | 'changes' | 'on-failure'

/** Creates or updates the one comment of the label. Throws what the client throws. */
export async function syncComment(context: SyncContext, mode: CommentMode, wantedNumber: number | undefined): Promise<void> {
  const known = wantedNumber ?? context.run.pullRequest
  if (known !== undefined) return syncOn(known, context, mode)
  const { open, merged } = await findPullRequests(context)
  const [number] = open
  if (number !== undefined) return syncOn(number, context, mode)
  const outcome = { ...context, content: afterMerge(context) }
  for (const one of merged) await syncOn(one, outcome, mode, findPlan)
  if (isApplyOfBranch(context) && !context.content.hasFailed) await syncEarlier(outcome, merged)
}

type FindOther = (context: SyncContext, comments: readonly Comment[]) => Comment | undefined

/** Without a comment of the label, updates the other one. */
async function syncOn(number: number, context: SyncContext, mode: CommentMode, findOther?: FindOther): Promise<void> {
  const { content, client, deps } = context
  const found = await findComment(context, number, findOther)
  if (found === undefined ? !isWanted(mode, content) : await updateComment(context, number, found)) return
  await client.createComment(number, writeBody('comment', context, undefined))
  deps.note(`comment: created on #${number}`)
}

/** Whether the comment was still there. */
async function updateComment(context: SyncContext, number: number, { id, body: current }: Comment): Promise<boolean> {
  const { label, client, deps } = context
  const place = `on #${number}`
  const write = (body: string): Promise<void> => client.updateComment(id, body)
  const outcome = await update(context, { target: 'comment', place, old: withMarker('comment', label, current), write })
  if (outcome === 'updated') deps.note(`comment: updated ${place}`)
  return outcome !== 'gone'
}

/**
 * Pull requests that were merged before, and whose run was canceled or failed: this run applied their changes, too. A few requests find
 * those that were merged with the last hundred commits, and whose comment is among the last hundred of the repository.
 */
async function syncEarlier(context: SyncContext, done: readonly number[]): Promise<void> {
  const { author, label, run, client, deps } = context
  try {
    const comments = (await client.latestComments()).filter(({ on, authorId }) => authorId === author.id && !done.includes(on))
    const waiting = [...Map.groupBy(comments, ({ on }) => on)].flatMap(([number, here]) => {
      const found = here.find((comment) => isOwn('comment', context, comment)) ?? findPlan(context, here)
      const isDone = found === undefined || readBody(found.body, markerOf('comment', label)).memory?.outcome === 'applied'
      return isDone ? [] : [{ number, found }]
    })
    if (waiting.length === 0) return
    const merged = new Map((await client.latestClosed(run.branch)).filter(({ isMerged }) => isMerged).map((one) => [one.number, one]))
    const candidates = waiting.filter(({ number }) => merged.has(number))
    // A pull request may have been merged since this run started.
    const commits = candidates.length === 0 ? [] : await client.commitsUntil(run.commit)
    for (const { number, found } of candidates)
      if (commits.includes(merged.get(number)?.mergeCommit ?? '')) await updateComment(context, number, found)
  } catch (thrown) {
    deps.note(`comment: earlier pull requests are not updated: ${describeAnswer(toGitHubError(thrown).failure)}`)
  }
}

async function findComment(context: SyncContext, number: number, findOther?: FindOther): Promise<Comment | undefined> {
  const others: Comment[] = []
  for await (const comment of context.client.comments(number)) {
    if (isOwn('comment', context, comment)) return comment
    if (comment.authorId === context.author.id) others.push(comment)
  }
  return findOther?.(context, others)
}

/** The plan that this run applied. Undefined when two plans are equally close. */
function findPlan({ planLabels }: SyncContext, comments: readonly Comment[]): Comment | undefined {
  const [plans = []] = planLabels
    .map((pattern) => comments.filter(({ body }) => hasLabelLike('comment', pattern, body)))
    .filter((matching) => matching.length > 0)
  return plans.length === 1 ? plans[0] : undefined
}

/** Whether a first comment is wanted. An existing comment is always kept up to date. */
function isWanted(mode: CommentMode, content: SyncContent): boolean {
  if (mode === 'on-failure') return isFailure(content)
  return mode === 'always' || content.status !== 'pass' || content.hasChanges
}

interface PullRequests {
  /** Numbers of the open ones whose head is the commit of the run, the oldest first. */
  readonly open: readonly number[]
  /** Numbers of those that brought the commit to the branch that was pushed. Empty for a run that applied nothing. */
  readonly merged: readonly number[]
}

async function findPullRequests({ content, run, client, deps }: SyncContext): Promise<PullRequests> {
  const { commit, branch } = run
  const isHere = ({ base }: PullRequest): boolean => base.repository.toLowerCase() === `${run.owner}/${run.repository}`.toLowerCase()
  const found = commit === '' ? [] : (await Array.fromAsync(client.pullRequestsWith(commit))).filter(isHere)
  const numbersOf = (wanted: (one: PullRequest) => boolean): readonly number[] =>
    found
      .filter(wanted)
      .map(({ number }) => number)
      .sort((a, b) => a - b)
  // A pull request that only contains the commit has its own run for its head.
  const open = numbersOf(({ isOpen, headCommit }) => isOpen && headCommit === commit)
  const isApply = isApplyOfBranch({ content, run })
  const merged = isApply ? numbersOf(({ isMerged, base }) => isMerged && base.branch === branch) : []
  if (open.length + merged.length === 0) {
    const andMerged = isApply ? `, and none that was merged into ${branch} has it` : ''
    deps.note(
      `comment: not created, because no open pull request has this commit as its head${andMerged}. To select a pull request, set pr-number`,
    )
  }
  return { open, merged }
}

const isApplyOfBranch = ({ content, run }: Pick<SyncContext, 'content' | 'run'>): boolean =>
  content.operation === 'apply' && run.branch !== ''

/** The report of a run that applied what was merged: it begins with the outcome and the commit. */
function afterMerge({ content, run }: Pick<SyncContext, 'content' | 'run'>): SyncContent {
  const [first, ...rest] = content.blocks
  if (first?.kind !== 'verdict') return content
  const word = !content.hasFailed ? 'Applied' : content.hasWritten ? 'Applied in part' : 'Not applied'
  const line = say`${trusted(word)} in ${run.commit.slice(0, 7)}`
  return {
    ...content,
    outcome: content.hasFailed ? 'not-applied' : 'applied',
    blocks: [{ ...first, line }, paragraph(first.line), ...(content.hasFailed ? nextStep(content, run) : []), ...rest],
  }
}

function nextStep({ advice = {} }: SyncContent, run: GitHubRun): readonly Block[] {
  const again = adviseRerun(advice, run, 'To try again before')
  return again === undefined ? [] : [paragraph(say`The next merge applies these changes, too. ${again}`)]
}
